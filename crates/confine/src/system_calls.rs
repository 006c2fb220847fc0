//! seccomp: the system calls that a confined child is refused.

use std::collections::BTreeMap;
use std::io;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

/// What a layer of filters refuses beside what every layer refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FurtherRefusals {
    /// Changes of modes, owners and times, which Landlock does not refuse and only a read-only mount
    /// does.
    pub(crate) metadata: bool,
    /// The network, which only a namespace closes otherwise.
    pub(crate) network: bool,
}

/// Calls that are refused whatever their arguments are.
const REFUSED: [i64; 44] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_userfaultfd,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_open_by_handle_at,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
];

/// `open_tree_attr` has this number on every machine; the crate does not name it.
const OPEN_TREE_ATTR: i64 = 467;

/// Calls that change what a file says of itself.
const METADATA: [i64; 13] = [
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
];

const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;

/// Older calls of the same kind, which newer machines do not have.
#[cfg(target_arch = "x86_64")]
const OLD_METADATA: [i64; 6] = [
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_METADATA: [i64; 0] = [];

/// The flags with which `clone` makes a namespace.
const NAMESPACE_FLAGS: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// `TIOCSTI`, which has this number on the machines that we build for.
const TYPE_INTO_TERMINAL: i32 = 0x5412;

/// `TIOCLINUX`.
const CONSOLE_CONTROL: i32 = 0x541c;

/// The bits of a socket's type that say its kind; the others are flags.
const SOCKET_KINDS: i32 = 0xf;

/// `TCP_FASTOPEN_CONNECT`.
const FAST_OPEN_CONNECT: i32 = 30;

/// Puts the filters in force for this process and everything it starts.
pub(crate) fn restrict(further: FurtherRefusals) -> io::Result<()> {
    // The C library falls back to `clone`, whose flags can be looked at, if the call is not there.
    let clone3 = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let no_clone3 = program(with_twins(&clone3), libc::ENOSYS)?;
    let refused = program(with_twins(&rules(further)?), libc::EPERM)?;
    apply_filter(&no_clone3).map_err(io::Error::other)?;
    apply_filter(&refused).map_err(io::Error::other)
}

fn program(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32) -> io::Result<BpfProgram> {
    let machine = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, machine);
    let filter = filter.map_err(io::Error::other)?;
    BpfProgram::try_from(filter).map_err(io::Error::other)
}

fn rules(further: FurtherRefusals) -> io::Result<BTreeMap<i64, Vec<SeccompRule>>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    rules.extend(REFUSED.map(|call| (call, Vec::new())));
    if further.metadata {
        let calls = METADATA.into_iter().chain(OLD_METADATA);
        rules.extend(calls.map(|call| (call, Vec::new())));
    }
    let mut namespaces = Vec::new();
    for flag in NAMESPACE_FLAGS {
        namespaces.push(rule(&[has(0, flag)])?);
    }
    rules.insert(libc::SYS_clone, namespaces);
    let controls = [TYPE_INTO_TERMINAL, CONSOLE_CONTROL];
    let control = controls.map(|control| rule(&[Argument::is(1, control)]));
    rules.insert(
        libc::SYS_ioctl,
        control.into_iter().collect::<io::Result<_>>()?,
    );
    rules.insert(libc::SYS_socket, socket_rules(further)?);
    rules.insert(libc::SYS_socketpair, pair_rules()?);
    rules.insert(libc::SYS_sendto, vec![rule(&[has(3, libc::MSG_FASTOPEN)])?]);
    rules.insert(
        libc::SYS_sendmsg,
        vec![rule(&[has(2, libc::MSG_FASTOPEN)])?],
    );
    rules.insert(
        libc::SYS_sendmmsg,
        vec![rule(&[has(3, libc::MSG_FASTOPEN)])?],
    );
    let fast_open = [
        Argument::is(1, libc::IPPROTO_TCP),
        Argument::is(2, FAST_OPEN_CONNECT),
    ];
    rules.insert(libc::SYS_setsockopt, vec![rule(&fast_open)?]);
    Ok(rules)
}

/// Sockets of other families, among them unix sockets with a name; of other protocols than TCP and
/// UDP; and netlink, except for what programs ask to learn their addresses.
fn socket_rules(further: FurtherRefusals) -> io::Result<Vec<SeccompRule>> {
    let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let mut rules = vec![rule(&families.map(|family| Argument::is_not(0, family)))?];
    for family in [libc::AF_INET, libc::AF_INET6] {
        if further.network {
            rules.push(rule(&[Argument::is(0, family)])?);
        }
        rules.push(rule(&[
            Argument::is(0, family),
            Argument::is_not(2, 0),
            Argument::is_not(2, libc::IPPROTO_TCP),
            Argument::is_not(2, libc::IPPROTO_UDP),
        ])?);
    }
    rules.push(rule(&[
        Argument::is(0, libc::AF_NETLINK),
        Argument::is_not(2, libc::NETLINK_ROUTE),
    ])?);
    Ok(rules)
}

/// Pairs of sockets that are not connected for good: with one of datagrams, a process sends to every
/// unix socket whose path it knows. The kernel takes a raw pair for one of datagrams.
fn pair_rules() -> io::Result<Vec<SeccompRule>> {
    let mut rules = vec![rule(&[Argument::is_not(0, libc::AF_UNIX)])?];
    let others =
        (0..=SOCKET_KINDS).filter(|kind| ![libc::SOCK_STREAM, libc::SOCK_SEQPACKET].contains(kind));
    for kind in others {
        rules.push(rule(&[Argument::is_of_kind(1, kind)])?);
    }
    Ok(rules)
}

/// A condition on the lower half of an argument, which is all that the kernel reads of these.
#[derive(Clone, Copy)]
struct Argument {
    index: u8,
    comparison: Comparison,
    value: i32,
}

#[derive(Clone, Copy)]
enum Comparison {
    Is,
    IsNot,
    Has,
    IsKind,
}

impl Argument {
    fn is(index: u8, value: i32) -> Self {
        Self {
            index,
            comparison: Comparison::Is,
            value,
        }
    }

    fn is_not(index: u8, value: i32) -> Self {
        Self {
            index,
            comparison: Comparison::IsNot,
            value,
        }
    }

    /// The kind of a socket, without the flags beside it.
    fn is_of_kind(index: u8, kind: i32) -> Self {
        Self {
            index,
            comparison: Comparison::IsKind,
            value: kind,
        }
    }
}

fn has(index: u8, flag: i32) -> Argument {
    Argument {
        index,
        comparison: Comparison::Has,
        value: flag,
    }
}

fn rule(arguments: &[Argument]) -> io::Result<SeccompRule> {
    let conditions = arguments.iter().map(|argument| {
        let value = u64::from(argument.value.cast_unsigned());
        let operator = match argument.comparison {
            Comparison::Is => SeccompCmpOp::Eq,
            Comparison::IsNot => SeccompCmpOp::Ne,
            Comparison::Has => SeccompCmpOp::MaskedEq(value),
            Comparison::IsKind => SeccompCmpOp::MaskedEq(u64::from(SOCKET_KINDS.cast_unsigned())),
        };
        SeccompCondition::new(argument.index, SeccompCmpArgLen::Dword, operator, value)
    });
    let conditions: Result<Vec<_>, _> = conditions.collect();
    SeccompRule::new(conditions.map_err(io::Error::other)?).map_err(io::Error::other)
}

/// Adds the numbers under which the same calls are made by programs with short pointers (x32). Some
/// calls have a number of their own there.
#[cfg(target_arch = "x86_64")]
fn with_twins(rules: &BTreeMap<i64, Vec<SeccompRule>>) -> BTreeMap<i64, Vec<SeccompRule>> {
    const SHORT_POINTERS: i64 = 0x4000_0000;
    const OWN_NUMBERS: [(i64, i64); 8] = [
        (libc::SYS_ioctl, 514),
        (libc::SYS_sendmsg, 518),
        (libc::SYS_ptrace, 521),
        (libc::SYS_kexec_load, 528),
        (libc::SYS_sendmmsg, 538),
        (libc::SYS_process_vm_readv, 539),
        (libc::SYS_process_vm_writev, 540),
        (libc::SYS_setsockopt, 541),
    ];
    let mut all = rules.clone();
    for (number, rule) in rules {
        all.insert(number | SHORT_POINTERS, rule.clone());
    }
    for (number, own) in OWN_NUMBERS {
        if let Some(rule) = rules.get(&number) {
            all.insert(own | SHORT_POINTERS, rule.clone());
        }
    }
    all
}

#[cfg(not(target_arch = "x86_64"))]
fn with_twins(rules: &BTreeMap<i64, Vec<SeccompRule>>) -> BTreeMap<i64, Vec<SeccompRule>> {
    rules.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_can_be_compiled_for_this_machine() {
        for further in [false, true] {
            let further = FurtherRefusals {
                metadata: further,
                network: further,
            };
            let rules = with_twins(&rules(further).unwrap());
            assert!(program(rules, libc::EPERM).is_ok());
        }
    }
}
