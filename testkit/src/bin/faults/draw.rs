//! Drawing a round from its seed: how likely each owner, child, tree and fault is.

use pi_subagents_testkit::Chance;

use crate::arguments::Scope;
use crate::round::{
    Blow, BrokenLine, ChildKind, ChildPlan, Damage, Farewell, Fault, FaultKind, Manners, OwnerKind,
    Role, Round, Tree,
};

impl Round {
    /// Draws a round.
    pub(crate) fn draw(seed: u64, number: u64, scope: Scope) -> Self {
        let mut chance = Chance::of_round(seed, number);
        let owner = OwnerKind::draw(&mut chance, scope);
        let mut children: Vec<ChildPlan> = (0..owner.children(&mut chance))
            .map(|_| ChildPlan::draw(&mut chance, owner, scope))
            .collect();
        // Only one program plays pi in a round.
        if children.iter().any(|child| child.kind == ChildKind::Pi) {
            for child in &mut children {
                if child.kind == ChildKind::Misbehave {
                    child.kind = ChildKind::Pi;
                }
            }
        }
        let count = if chance.percent(45) { 2 } else { 1 };
        let faults: Vec<Fault> = (0..count)
            .map(|_| Fault::draw(&mut chance, owner))
            .collect();
        if faults.iter().any(|fault| fault.kind == FaultKind::AllOfUs) {
            // After such a fault nobody knows of these processes; see the limits in the document.
            for child in &mut children {
                child.tree.retain(|tree| *tree != Tree::Forgetful);
            }
        }
        let needs_git = |fault: &Fault| {
            let kind = fault.kind;
            matches!(kind, FaultKind::Git { .. } | FaultKind::FullDiskAtCapture)
        };
        let is_isolated = faults.iter().any(needs_git) || chance.percent(12);
        Self {
            number,
            owner,
            children,
            is_isolated,
            faults,
            at_once: chance.percent(50),
            farewell: if chance.percent(35) {
                Farewell::HangsUp
            } else {
                Farewell::Patient
            },
        }
    }
}

impl OwnerKind {
    fn draw(chance: &mut Chance, scope: Scope) -> Self {
        let slow = match scope {
            Scope::Quick => 0,
            Scope::WithPi => 4,
        };
        chance.weighted(&[
            (22, Self::Delegate),
            (18, Self::Terminal),
            (20, Self::Host),
            (20, Self::Mcp),
            (14, Self::Detached),
            (6, Self::Watched),
            (slow, Self::Pi),
        ])
    }

    /// Draws how many children it gets.
    fn children(self, chance: &mut Chance) -> u64 {
        match self {
            Self::Detached | Self::Watched => 1,
            Self::Delegate | Self::Terminal | Self::Host | Self::Mcp | Self::Pi => {
                chance.between(1, 3)
            }
        }
    }
}

impl ChildPlan {
    fn draw(chance: &mut Chance, owner: OwnerKind, scope: Scope) -> Self {
        let slow = match (scope, owner) {
            (Scope::Quick, _) | (_, OwnerKind::Pi) => 0,
            (Scope::WithPi, _) => 4,
        };
        // Under a real pi the parent's own program would be the child.
        let misbehave = if owner == OwnerKind::Pi { 0 } else { 48 };
        let kind = chance.weighted(&[
            (48, ChildKind::Embedded),
            (misbehave, ChildKind::Misbehave),
            (slow, ChildKind::Pi),
        ]);
        let trees = chance.between(0, 2);
        Self {
            kind,
            words: chance.between(2, 24),
            gap: chance.between(0, 100),
            tree: (0..trees).map(|_| Tree::draw(chance)).collect(),
            manners: chance.weighted(&[
                (55, Manners::Good),
                (20, Manners::Hangs),
                (15, Manners::Deaf),
                (10, Manners::Exits),
            ]),
        }
    }
}

impl Tree {
    fn draw(chance: &mut Chance) -> Self {
        chance.weighted(&[
            (2, Self::Plain),
            (2, Self::OwnSession),
            (2, Self::DoubleFork),
            (2, Self::Daemon),
            (2, Self::Deaf),
            (2, Self::Forgetful),
            (2, Self::Relay),
            (1, Self::Crowd),
            (2, Self::Flood),
        ])
    }
}

impl Fault {
    fn draw(chance: &mut Chance, owner: OwnerKind) -> Self {
        let after = chance.moment(1500);
        let kind = match chance.between(1, 100) {
            1..=52 => FaultKind::Signal(Blow::draw(chance), Role::draw(chance, owner)),
            53..=56 => FaultKind::AllOfUs,
            57..=65 => FaultKind::HangUp,
            66..=74 => FaultKind::Record(chance.weighted(&[
                (1, Damage::DirectoryRemoved),
                (1, Damage::DirectoryReplaced),
                (1, Damage::EventsRemoved),
                (1, Damage::MetaBroken),
                (1, Damage::ResultTaken),
            ])),
            75..=79 => FaultKind::FullDisk,
            80..=84 => FaultKind::IndexCut {
                hundredths: u8::try_from(chance.between(0, 99)).unwrap_or_default(),
            },
            85..=91 => FaultKind::Git {
                number: u8::try_from(chance.between(0, 44)).unwrap_or_default(),
            },
            92..=94 => FaultKind::FullDiskAtCapture,
            95..=96 if owner == OwnerKind::Mcp => FaultKind::ClientReturns,
            _ => FaultKind::Index(chance.weighted(&[
                (1, BrokenLine::Torn),
                (1, BrokenLine::Bytes),
                (1, BrokenLine::Long),
            ])),
        };
        Self { after, kind }
    }
}

impl Blow {
    fn draw(chance: &mut Chance) -> Self {
        chance.weighted(&[
            (40, Self::Kill),
            (15, Self::Term),
            (8, Self::Interrupt),
            (8, Self::HangUp),
            (14, Self::Stop),
            (9, Self::StopAndGoOn),
            (6, Self::Pause),
        ])
    }
}

impl Role {
    fn draw(chance: &mut Chance, owner: OwnerKind) -> Self {
        let watcher = u64::from(owner == OwnerKind::Watched) * 25;
        chance.weighted(&[
            (35, Self::Owner),
            (20, Self::Keeper),
            (15, Self::Warden),
            (20, Self::Child),
            (10, Self::Grandchild),
            (watcher, Self::Watcher),
        ])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_seed_gives_the_same_rounds_again_and_another_one_gives_others() {
        let rounds = |seed: u64| -> Vec<String> {
            let draw = |number| Round::draw(seed, number, Scope::WithPi).to_string();
            (1..50).map(draw).collect()
        };
        assert_eq!(rounds(7), rounds(7));
        assert_ne!(rounds(7), rounds(8));
    }

    #[test]
    fn many_rounds_have_every_kind_of_everything() {
        let mut owners = BTreeSet::new();
        let mut faults = BTreeSet::new();
        let mut trees = BTreeSet::new();
        for number in 1..=20_000 {
            let round = Round::draw(1, number, Scope::WithPi);
            owners.insert(round.owner);
            faults.extend(round.faults.iter().map(|fault| fault.kind.to_string()));
            trees.extend(round.children.into_iter().flat_map(|child| child.tree));
        }
        // Seven signals for six roles; five kinds of damage, four of the index, and six others.
        assert_eq!((owners.len(), faults.len(), trees.len()), (7, 57, 9));
    }
}
