//! The escape corpus: every line must fail at every level, for every user. A line is a script; if it
//! exits with 0, it has escaped.

use std::fmt::Write as _;

use pi_subagents_vocabulary::{NetworkReach, SandboxLevel};
use pretty_assertions::assert_eq;

use crate::stage::{Stage, User};

/// Attempts on files, at every level.
const FILES: [(&str, &str); 36] = [
    ("write in home", "echo x > $HOME/new"),
    ("append in home", "echo x >> $HOME/notes"),
    ("truncate in home", ": > $HOME/notes"),
    ("write in etc", "echo x > /etc/pi-subagents-test"),
    ("write in usr", "echo x > /usr/pi-subagents-test"),
    ("read a key", "grep -q secret $HOME/.ssh/id"),
    ("read a hidden file", "grep -q secret $HOME/.netrc"),
    (
        "read keys of the agent",
        "grep -q secret $HOME/.pi/agent/auth.json",
    ),
    (
        "read another run",
        "grep -q other $HOME/.pi/agent/subagents/runs/other/events.jsonl",
    ),
    (
        "list other runs",
        "ls $HOME/.pi/agent/subagents/runs | grep -q other",
    ),
    (
        "fill a hidden directory",
        "echo x > $HOME/.ssh/authorized_keys",
    ),
    (
        "forge the own record",
        "echo x >> $HOME/.pi/agent/subagents/runs/own/events.jsonl",
    ),
    (
        "forge a result",
        "echo x > $HOME/.pi/agent/subagents/runs/own/result.json",
    ),
    ("a hook", "echo x > .git/hooks/pre-commit"),
    (
        "a hook in place of another",
        "ln -sf /bin/true .git/hooks/pre-push",
    ),
    ("the configuration", "echo x >> .git/config"),
    ("git config", "git config core.fsmonitor ./evil"),
    ("move git away", "mv .git .git2"),
    ("remove the hooks", "rm -rf .git/hooks"),
    ("move the hooks away", "mv .git/hooks .git/hooks2"),
    ("move the configuration away", "mv .git/config .git/c2"),
    ("settings of pi", "echo x > .pi/settings.json"),
    (
        "an extension of pi",
        "mkdir -p .pi/extensions && echo x > .pi/extensions/x.ts",
    ),
    ("move pi away", "mv .pi .pi2"),
    ("through a link", "ln -s $ROOT/outside l; echo x > l/new"),
    (
        "through a second name",
        "ln $ROOT/outside/file h && echo x >> h",
    ),
    ("a second name outside", "ln code $ROOT/outside/code"),
    (
        "rename outwards",
        "cp code c2 && mv -n c2 $ROOT/outside/c2 && test -e $ROOT/outside/c2",
    ),
    ("mode outside", "chmod 777 $ROOT/outside/file"),
    ("time outside", "touch $ROOT/outside/file"),
    ("owner outside", "chown $(id -u) $ROOT/outside/file"),
    (
        "by a descriptor of a path",
        "perl -e 'sysopen(F,\"$ENV{ROOT}/outside/file\",0x200000) or exit 1; open(G,\">>\",\"/proc/self/fd/\".fileno(F)) or exit 1; print G \"x\" or exit 1; close(G) or exit 1'",
    ),
    (
        "by the root of another process",
        "echo x > /proc/$OUTSIDER/root$ROOT/outside/new",
    ),
    (
        "by the directory of another process",
        "ls /proc/$OUTSIDER/cwd/ >/dev/null",
    ),
    (
        "the environment of another process",
        "tr '\\0' '\\n' < /proc/$OUTSIDER/environ | grep -q .",
    ),
    (
        "the descriptors of another process",
        "readlink /proc/$OUTSIDER/fd/0",
    ),
];

/// Attempts on the kernel and on other processes.
const KERNEL: [(&str, &str); 15] = [
    (
        "type into a terminal",
        "perl -e 'open(F,\"+<\",\"/dev/ptmx\") or exit 1; $x=\"x\"; ioctl(F,0x5412,$x) or exit 1'",
    ),
    ("a signal to the outside", "kill -0 $OUTSIDER"),
    ("kill the outside", "kill -9 $OUTSIDER"),
    (
        "capabilities",
        "grep -Eq 'Cap(Eff|Prm|Bnd|Amb|Inh):.*[1-9a-f]' /proc/self/status",
    ),
    (
        "new privileges",
        "grep -Eq 'NoNewPrivs:.*0' /proc/self/status",
    ),
    ("a namespace", "unshare -Ur true"),
    ("a mount namespace", "unshare -m true"),
    ("a mount", "mount -t tmpfs x $ROOT/project/sub"),
    (
        "take a mount away",
        "umount $HOME/.ssh || umount -l /tmp || umount .git/hooks",
    ),
    ("a writable mount", "mount -o remount,rw /"),
    ("another user", "setpriv --reuid 12345 true"),
    ("setuid", "test -u /bin/su && su -c true </dev/null"),
    ("the name of the machine", "hostname evil"),
    ("the clock", "date -s 2001-01-01"),
    (
        "a terminal of somebody else",
        "ls /dev/pts | grep -q '^[0-9]'",
    ),
];

/// System calls, by their numbers on x86-64. An answer without an error is an escape.
#[cfg(target_arch = "x86_64")]
const CALLS: [(&str, &str); 20] = [
    ("io_uring_setup", "425, 4, $b"),
    ("io_uring_enter", "426, 0, 0, 0, 0, 0, 0"),
    ("keyctl", "250, 0, 0xfffffffd, 1"),
    ("add_key", "248, q(user), q(a), q(b), 1, 0xfffffffe"),
    ("userfaultfd", "323, 1"),
    ("bpf", "321, 0, $b, 64"),
    ("perf_event_open", "298, $b, 0, 0xffffffff, 0xffffffff, 0"),
    ("ptrace", "101, 16, $ENV{OUTSIDER}+0, 0, 0"),
    ("ptrace of oneself", "101, 0, 0, 0, 0"),
    ("process_vm_readv", "310, $ENV{OUTSIDER}+0, $b, 1, $b, 1, 0"),
    ("unshare", "272, 0x10000000"),
    ("setns", "308, 0, 0"),
    ("clone with a namespace", "56, 0x10000011, 0, 0, 0, 0"),
    ("clone3", "435, $b, 88"),
    ("fsopen", "430, q(tmpfs), 0"),
    ("open_tree", "428, -100, q(/), 1"),
    ("open_by_handle_at", "304, -100, $b, 0"),
    ("chroot", "161, q(/tmp)"),
    ("unshare of short pointers", "0x40000110, 0x10000000"),
    ("io_uring_setup of short pointers", "0x400001a9, 4, $b"),
];

/// Sockets, as family, kind and protocol. A socket that is made is an escape.
const SOCKETS: [(&str, &str); 10] = [
    ("unix stream", "1, 1, 0"),
    ("unix datagrams", "1, 2, 0"),
    ("MPTCP", "2, 1, 262"),
    ("SCTP", "2, 1, 132"),
    ("ping", "2, 2, 1"),
    ("raw", "2, 3, 255"),
    ("packets", "17, 3, 0"),
    ("vsock", "40, 1, 0"),
    ("ciphers of the kernel", "38, 5, 0"),
    ("netlink of the audit", "16, 3, 9"),
];

/// Attempts to reach servers of this machine by the paths and names of their sockets.
const SERVERS: [(&str, &str); 7] = [
    (
        "a unix socket by its path",
        "perl -MSocket -e 'socket(S,1,1,0) or exit 1; connect(S,pack_sockaddr_un(\"$ENV{ROOT}/outside/socket\")) or exit 1'",
    ),
    (
        "a unix socket in the project",
        "perl -MSocket -e 'socket(S,1,1,0) or exit 1; connect(S,pack_sockaddr_un(\"$ENV{ROOT}/project/socket\")) or exit 1'",
    ),
    (
        "an abstract unix socket",
        "perl -MSocket -e 'socket(S,1,1,0) or exit 1; connect(S,pack_sockaddr_un(\"\\0pi-subagents-test-$ENV{ROOT}\")) or exit 1'",
    ),
    (
        "the other end of a pair of streams",
        "perl -MSocket -e 'socketpair(A,B,1,1,0) or exit 1; close B; connect(A,pack_sockaddr_un(\"$ENV{ROOT}/outside/socket\")) or exit 1'",
    ),
    (
        "a datagram by its path",
        "perl -MSocket -e 'socketpair(A,B,1,2,0) or exit 1; defined send(A,\"x\",0,pack_sockaddr_un(\"$ENV{ROOT}/outside/datagrams\")) or exit 1'",
    ),
    (
        "a datagram of a raw pair",
        "perl -MSocket -e 'socketpair(A,B,1,3|02004000,0) or exit 1; defined send(A,\"x\",0,pack_sockaddr_un(\"$ENV{ROOT}/outside/datagrams\")) or exit 1'",
    ),
    (
        "a connected datagram",
        "perl -MSocket -e 'socketpair(A,B,1,2,0) or exit 1; connect(A,pack_sockaddr_un(\"$ENV{ROOT}/outside/datagrams\")) or exit 1; defined send(A,\"x\",0) or exit 1'",
    ),
];

/// A program for x86-64 that ends itself with 0 by a call of 32-bit programs (`int 0x80`), which have
/// numbers of their own.
#[cfg(target_arch = "x86_64")]
const OLD_CALL: &str = concat!(
    "perl -e 'print pack(q(A4C5x7S2LQQQLS6LLQQQQQQ),qq(\\x7fELF),2,1,1,0,0,2,62,1,0x400078,64,0,0,64,56,1,0,0,0,",
    "1,5,0,0x400000,0x400000,132,132,4096), pack(q(H*),q(b80100000031dbcd80cc0000))' > $TMPDIR/old && ",
    "chmod 700 $TMPDIR/old && $TMPDIR/old || exit 1",
);

/// Attempts on the network, when it is closed.
const NETWORK: [(&str, &str); 7] = [
    (
        "a server of this machine",
        "perl -MSocket -e 'socket(S,2,1,0) or exit 1; connect(S,sockaddr_in($ENV{PORT},inet_aton(\"127.0.0.1\"))) or exit 1'",
    ),
    (
        "the world by TCP",
        "perl -MSocket -e 'socket(S,2,1,0) or exit 1; connect(S,sockaddr_in(80,inet_aton(\"192.0.2.1\"))) or exit 1'",
    ),
    (
        "the world by UDP",
        "perl -MSocket -e 'socket(S,2,2,0) or exit 1; connect(S,sockaddr_in(53,inet_aton(\"192.0.2.1\"))) or exit 1'",
    ),
    (
        "fast open",
        "perl -MSocket -e 'socket(S,2,1,0) or exit 1; defined send(S,\"x\",0x20000000,sockaddr_in($ENV{PORT},inet_aton(\"127.0.0.1\"))) or exit 1'",
    ),
    (
        "fast open of a connection",
        "perl -MSocket -e 'socket(S,2,1,0) or exit 1; setsockopt(S,6,30,1) or exit 1; connect(S,sockaddr_in($ENV{PORT},inet_aton(\"127.0.0.1\"))) or exit 1; defined send(S,\"x\",0) or exit 1'",
    ),
    (
        "a connection over several paths",
        "perl -MSocket -e 'socket(S,2,1,262) or exit 1; connect(S,sockaddr_in($ENV{PORT},inet_aton(\"127.0.0.1\"))) or exit 1'",
    ),
    (
        "another interface",
        "tail -n +3 /proc/net/dev | grep -vq ' lo:'",
    ),
];

/// Attempts that are refused at `read-only` beside all others.
const READ_ONLY: [(&str, &str); 6] = [
    ("write in the project", "echo x > new"),
    ("change the project", "echo x >> code"),
    ("remove from the project", "rm code"),
    ("commit", "git commit -q --allow-empty -m x"),
    ("mode in the project", "chmod 777 code"),
    ("time in the project", "touch code"),
];

/// Runs every script in one process per script, and returns the names of those that escaped.
fn escaped(
    stage: &Stage,
    level: SandboxLevel,
    network: &NetworkReach,
    attempts: &[(&str, String)],
) -> Vec<String> {
    // One sandbox for all of them: a script that succeeds names itself.
    let mut script = String::from("exec 3>&1\n");
    for (name, attempt) in attempts {
        _ = writeln!(
            script,
            "( {attempt} ) </dev/null >/dev/null 2>&1 && echo '{name}' >&3"
        );
    }
    script.push_str("echo done >&3; exit 0\n");
    let ended = stage.run(level, network.clone(), &script);
    let mut lines: Vec<String> = ended.output.lines().map(str::to_owned).collect();
    assert_eq!(lines.pop().as_deref(), Some("done"), "{ended:?}");
    lines
}

fn owned(attempts: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let attempts = attempts.iter();
    attempts
        .map(|(name, script)| (*name, (*script).to_owned()))
        .collect()
}

fn sockets() -> Vec<(&'static str, String)> {
    let made = |(name, socket): &(&'static str, &str)| {
        (*name, format!("perl -e 'socket(S,{socket}) or exit 1'"))
    };
    SOCKETS.iter().map(made).collect()
}

#[cfg(target_arch = "x86_64")]
fn calls() -> Vec<(&'static str, String)> {
    let made = |(name, call): &(&'static str, &str)| {
        let script = format!(
            "perl -e 'my $b = \"\\0\" x 256; my $r = syscall({call}); exit($r == -1 ? 1 : 0)'"
        );
        (*name, script)
    };
    let old = [("a call of 32-bit programs", OLD_CALL.to_owned())];
    CALLS.iter().map(made).chain(old).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn calls() -> Vec<(&'static str, String)> {
    eprintln!("NOT TRIED: system calls by their numbers, which are those of x86-64");
    Vec::new()
}

fn try_all(level: SandboxLevel, network: &NetworkReach) {
    for user in User::all() {
        let stage = Stage::of(user);
        let mut attempts = owned(&FILES);
        attempts.extend(owned(&KERNEL));
        attempts.extend(owned(&SERVERS));
        attempts.extend(sockets());
        attempts.extend(calls());
        if !network.is_full() {
            attempts.extend(owned(&NETWORK));
        }
        if level == SandboxLevel::ReadOnly {
            attempts.extend(owned(&READ_ONLY));
        }
        let none: [String; 0] = [];
        assert_eq!(
            escaped(&stage, level, network, &attempts),
            none,
            "{user:?} {level}"
        );
        stage.outside("test \"$(cat $ROOT/outside/file)\" = outside && test \"$(cat $HOME/notes)\" = mine && test \"$(cat .pi/settings.json)\" = '{}' && test ! -e $ROOT/outside/new && git status >/dev/null");
    }
}

#[test]
fn nothing_leaves_workspace_write() {
    try_all(SandboxLevel::WorkspaceWrite, &NetworkReach::None);
}

#[test]
fn nothing_leaves_read_only() {
    try_all(SandboxLevel::ReadOnly, &NetworkReach::None);
}

#[test]
fn the_network_of_the_machine_opens_no_files() {
    try_all(SandboxLevel::WorkspaceWrite, &NetworkReach::Full);
}

#[test]
fn nothing_leaves_with_the_network_of_the_model() {
    try_all(SandboxLevel::WorkspaceWrite, &NetworkReach::Model);
}

#[test]
fn the_attempts_work_without_a_sandbox() {
    // An attempt that fails anywhere would prove nothing.
    let stage = Stage::of(User::Tester);
    let mut attempts = vec![
        FILES[0], FILES[5], FILES[13], FILES[17], FILES[24], FILES[28], KERNEL[0], NETWORK[0],
        SERVERS[0], SERVERS[1], SERVERS[2], SERVERS[4], SERVERS[5], SERVERS[6],
    ];
    #[cfg(target_arch = "x86_64")]
    attempts.push(("a call of 32-bit programs", OLD_CALL));
    for (name, script) in attempts {
        let undone = format!("({script}) >/dev/null 2>&1 || {{ echo '{name}' >&2; exit 1; }}");
        stage.outside(&undone);
        stage.outside("test ! -e .git2 || mv .git2 .git");
    }
}

#[test]
fn the_shell_of_a_child_reaches_neither_the_child_nor_its_gateway() {
    const ATTEMPTS: &str = "cat /proc/$PPID/environ && echo environment; \
        head -c1 /proc/$PPID/mem && echo memory; kill -0 $PPID && echo signal; \
        env | grep -qi proxy && echo gateway; echo x > $HOME/new && echo home; \
        echo x > inside && echo done";
    for user in User::all() {
        let stage = Stage::of(user);
        let script =
            format!("$CONFINE confine --inner /bin/sh -c '{ATTEMPTS}' 2>/dev/null; exit 0");
        let mut order = stage.order(SandboxLevel::WorkspaceWrite, NetworkReach::None, &script);
        order.token = Some("word".to_owned());
        let ended = stage.confine(&order, None).unwrap();
        assert_eq!(ended.output, "done\n", "{user:?}");
    }
}

#[test]
fn nothing_is_inherited_by_accident() {
    let stage = Stage::of(User::Tester);
    let order = stage.order(
        SandboxLevel::WorkspaceWrite,
        NetworkReach::None,
        "test ! -e /proc/self/fd/7 && echo done",
    );
    let ended = stage.confine_with_descriptor(&order).unwrap();
    assert_eq!(ended.output, "done\n");
}

#[test]
fn a_linked_worktree_does_not_reach_the_main_one() {
    const ATTEMPTS: [(&str, &str); 7] = [
        ("the file .git", "echo gitdir: /tmp > .git"),
        ("move the file .git", "mv .git x"),
        (
            "the way to the common directory",
            "echo /tmp > $(git rev-parse --git-dir)/commondir",
        ),
        (
            "the head of the main worktree",
            "echo x > $ROOT/project/.git/HEAD",
        ),
        (
            "the index of the main worktree",
            "echo x > $ROOT/project/.git/index",
        ),
        ("a hook", "echo x > $ROOT/project/.git/hooks/pre-commit"),
        (
            "another worktree",
            "mkdir $ROOT/project/.git/worktrees/evil",
        ),
    ];
    for user in User::all() {
        let stage = Stage::of(user);
        stage.outside("git worktree add -q ../linked");
        let mut script = String::from("exec 3>&1\n");
        for (name, attempt) in ATTEMPTS {
            _ = writeln!(script, "( {attempt} ) >/dev/null 2>&1 && echo '{name}' >&3");
        }
        script.push_str(
            "echo y > new && git add new && git commit -qm work && git log --oneline | wc -l\n",
        );
        let mut order = stage.order(SandboxLevel::WorkspaceWrite, NetworkReach::None, &script);
        order.cwd = stage.root().join("linked");
        let ended = stage.confine(&order, None).unwrap();
        assert_eq!((ended.code, ended.output.as_str()), (Some(0), "2\n"));
    }
}
