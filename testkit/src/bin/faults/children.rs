//! The deeds of a round's children, written as a script for each kind of child.

use std::path::Path;
use std::time::Duration;

use pi_subagents_testkit::llm::{Rule, Script, Turn};
use serde_json::{Value, json};

use crate::repository::file;
use crate::round::{ChildKind, ChildPlan, Manners, Round, Tree};
use crate::words::word;

/// The time for which a model thinks that never answers.
const FOR_EVER: u64 = 60_000;

/// The seconds each task may take.
pub(crate) const TIMEOUT: u64 = 3;

/// One thing a child does.
#[derive(Debug, Clone, Copy)]
enum Beat {
    Word(u64),
    /// Starts a tree, which is its so-manieth.
    Start(Tree, usize),
}

/// Returns the words by which the model knows which child asks it.
pub(crate) fn request(child: usize) -> String {
    format!("You are child number {child} of this round.")
}

/// Returns the prompt of a child.
pub(crate) fn prompt(round: &Round, child: usize, root: &Path) -> String {
    let plan = &round.children[child];
    match plan.kind {
        ChildKind::Misbehave => hidden(&misbehaving(plan, child, root)),
        ChildKind::Embedded | ChildKind::Pi => request(child),
    }
}

/// Returns a script as text. Its words are written so that they are not found before the child
/// prints them: a transcript may hold the prompt.
fn hidden(script: &Value) -> String {
    script.to_string().replace("word-", "w\\u006frd-")
}

/// Returns the definition that a child of this kind uses.
pub(crate) fn definition(kind: ChildKind) -> &'static str {
    match kind {
        ChildKind::Embedded => "talker",
        ChildKind::Misbehave | ChildKind::Pi => "stranger",
    }
}

fn beats(plan: &ChildPlan) -> Vec<Beat> {
    let mut beats: Vec<Beat> = (1..=plan.words).map(Beat::Word).collect();
    for (number, tree) in plan.tree.iter().enumerate() {
        let place = (1 + 2 * number).min(beats.len());
        beats.insert(place, Beat::Start(*tree, number));
    }
    beats
}

/// Returns the file in which a process of a tree writes its number. The path also identifies the
/// process.
fn pid_file(root: &Path, child: usize, tree: usize) -> String {
    root.join(format!("tree-{child}-{tree}.pid"))
        .display()
        .to_string()
}

/// Returns the script for `misbehave`.
fn misbehaving(plan: &ChildPlan, child: usize, root: &Path) -> Value {
    let mut steps = vec![json!({"keepSession": true})];
    if plan.manners == Manners::Deaf {
        steps.push(json!({"ignoreTerm": true}));
        steps.push(json!({"ignoreEof": true}));
        steps.push(json!({"ignoreAbort": true}));
    }
    for beat in beats(plan) {
        match beat {
            Beat::Word(number) => {
                steps.push(json!({"sleepMs": plan.gap}));
                steps.push(json!({"say": word(child, number)}));
            }
            Beat::Start(Tree::Flood, _) => {
                steps.push(json!({"flood": {"megabytes": 2, "type": "text"}}));
                steps.push(json!({"flood": {"megabytes": 2, "type": "message_update"}}));
            }
            Beat::Start(tree, number) => {
                let file = pid_file(root, child, number);
                steps.push(json!({"fork": {"kind": fork_kind(tree), "pidFile": file}}));
            }
        }
    }
    steps.push(match plan.manners {
        Manners::Good => json!({"reply": word(child, 0)}),
        Manners::Hangs | Manners::Deaf => json!({"hang": true}),
        Manners::Exits => json!({"exit": 3}),
    });
    Value::Array(steps)
}

fn fork_kind(tree: Tree) -> &'static str {
    match tree {
        Tree::Plain | Tree::Flood => "sameGroup",
        Tree::OwnSession => "ownSession",
        Tree::DoubleFork => "doubleFork",
        Tree::Daemon => "daemon",
        Tree::Deaf => "ignoresTerm",
        Tree::Forgetful => "forgetful",
        Tree::Relay => "relay",
        Tree::Crowd => "crowd",
    }
}

/// Returns the script of the scripted model, with a rule for each embedded child.
pub(crate) fn scripted_model(round: &Round, root: &Path, misbehave: &Path) -> Value {
    let children = round.children.iter().enumerate();
    let rules: Vec<Value> = children
        .filter(|(_, plan)| plan.kind == ChildKind::Embedded)
        .map(|(child, _)| {
            let turns = scripted_turns(round, child, root, misbehave);
            json!({"when": request(child), "turns": turns})
        })
        .collect();
    json!({"rules": rules})
}

fn scripted_turns(round: &Round, child: usize, root: &Path, misbehave: &Path) -> Vec<Value> {
    let plan = &round.children[child];
    let mut turns: Vec<Value> = shell_turns(round, child, root, misbehave)
        .into_iter()
        .map(|(text, command)| {
            let call = json!({"name": "bash", "arguments": {"command": command}});
            json!({"text": text, "delayMs": plan.gap, "toolCalls": [call]})
        })
        .collect();
    turns.push(match plan.manners {
        Manners::Good => json!({"text": word(child, 0)}),
        Manners::Hangs => json!({"text": "too late", "delayMs": FOR_EVER}),
        Manners::Deaf => json!({"text": "Deaf now.", "toolCalls": [
            {"name": "bash", "arguments": {"command": "trap '' TERM INT HUP; sleep 50; sleep 50"}},
        ]}),
        Manners::Exits => json!({"error": "the model is broken"}),
    });
    turns
}

/// Returns the words and the commands of a child with a shell, turn by turn.
fn shell_turns(
    round: &Round,
    child: usize,
    root: &Path,
    misbehave: &Path,
) -> Vec<(String, String)> {
    beats(&round.children[child])
        .into_iter()
        .map(|beat| match beat {
            Beat::Word(number) if round.is_isolated => {
                let file = file(child, number);
                (word(child, number), format!("echo {number} > {file}"))
            }
            Beat::Word(number) => (word(child, number), format!(": {number}")),
            Beat::Start(tree, number) => {
                let file = pid_file(root, child, number);
                (
                    "I start something.".to_owned(),
                    command(tree, &file, misbehave),
                )
            }
        })
        .collect()
}

/// Returns a shell command that leaves such a tree behind.
fn command(tree: Tree, file: &str, misbehave: &Path) -> String {
    let start = |kind: &str| {
        let program = misbehave.display();
        format!("'{program}' --grandchild {kind} '{file}' >/dev/null 2>&1 </dev/null &")
    };
    match tree {
        Tree::Plain => start("plain"),
        Tree::OwnSession => start("session"),
        Tree::DoubleFork => start("fork-plain"),
        Tree::Daemon => start("fork-session"),
        Tree::Deaf => start("deaf"),
        Tree::Forgetful => format!("env -i {}", start("session")),
        Tree::Relay => start("relay-200"),
        Tree::Crowd => start("crowd"),
        Tree::Flood => "head -c 3000000 /dev/zero | tr '\\0' x | fold -w 200".to_owned(),
    }
}

/// Returns the scripted model of real pi children; the owner adds the rule for the parent.
pub(crate) fn served_model(round: &Round, root: &Path, misbehave: &Path) -> Script {
    let mut script = Script::new();
    for (child, plan) in round.children.iter().enumerate() {
        let mut turns: Vec<Turn> = shell_turns(round, child, root, misbehave)
            .into_iter()
            .map(|(text, command)| {
                let delay = Duration::from_millis(plan.gap);
                let turn = Turn::text(text).delay(delay);
                turn.and_tool_call("bash", json!({"command": command}))
            })
            .collect();
        turns.push(match plan.manners {
            Manners::Good => Turn::text(word(child, 0)),
            Manners::Hangs | Manners::Deaf => Turn::text("too late").gate("never"),
            Manners::Exits => Turn::status(400, "the model is broken"),
        });
        script = script.rule(Rule {
            user: Some(request(child)),
            turns,
            ..Rule::default()
        });
    }
    script
}
