//! The process that confines a child: it reads its order, takes the steps one after another, says
//! that it is sealed, and becomes the child. It has one thread and no runtime.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use pi_subagents_os::{Descriptors as _, System, is_superuser, leave_terminal};
use pi_subagents_vocabulary::{NetworkReach, SandboxLevel};

use crate::access_rules::{self, AccessRules};
use crate::environment::{self, GatewayAddress, PROXY_VARIABLES};
use crate::inner_policy::{INNER_VARIABLE, InnerPolicy};
use crate::namespaces::{self, Identity, NetworkNamespace};
use crate::order::{ConfineAnswer, ConfineOrder, Seal};
use crate::plan::{self, FilePlan};
use crate::step::{ConfineFailure, ConfineStep};
use crate::system_calls::{self, FurtherRefusals};
use crate::{descriptors, loopback_link, mounts, rights};

/// The variable that makes a step fail, so that every failure can be tried: the word of a step, or
/// `exit:` and the word of a step at which the process ends without an answer.
pub const FAULT_VARIABLE: &str = "PI_SUBAGENTS_CONFINE_FAULT";

/// The byte that comes with the listener of the gateway.
pub(crate) const LISTENER: u8 = b'L';

/// The byte that comes when there is no gateway.
pub(crate) const NO_LISTENER: u8 = b'N';

/// Confines this process, whose stdin is the socket of its keeper, and becomes the child. Returns
/// only if that fails; then nothing was run.
pub fn confine() -> ExitCode {
    let Ok(control) = io::stdin().as_fd().try_clone_to_owned() else {
        return ExitCode::FAILURE;
    };
    let control = UnixStream::from(control);
    let Err(failure) = Confining::begin(&control).and_then(Confining::finish);
    // A keeper that is gone needs no answer.
    _ = answer(&control, &ConfineAnswer::Failed(failure));
    ExitCode::FAILURE
}

/// The value that a function never returns.
enum Never {}

struct Confining<'a> {
    control: &'a UnixStream,
    order: ConfineOrder,
    stdin: OwnedFd,
}

/// Which of the layers hold for the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layers {
    /// Namespaces, Landlock and seccomp.
    All,
    /// Landlock and seccomp: this machine refuses namespaces.
    WithoutNamespaces,
}

impl<'a> Confining<'a> {
    fn begin(control: &'a UnixStream) -> Result<Self, ConfineFailure> {
        step(ConfineStep::Order, || {
            let (_, descriptors) = System::receive(control)?;
            let stdin = descriptors.into_iter().next();
            Ok(Self {
                control,
                order: ConfineOrder::receive(control)?,
                stdin: stdin.ok_or(io::ErrorKind::UnexpectedEof)?,
            })
        })
    }

    /// Takes all steps after the first one.
    fn finish(self) -> Result<Never, ConfineFailure> {
        let files = self.plan()?;
        step(ConfineStep::Session, || {
            // A process that leads no group can always leave its session.
            leave_terminal();
            Ok(())
        })?;
        let (layers, gateway) = self.separate(&files)?;
        step(ConfineStep::Directory, || {
            std::env::set_current_dir(&files.cwd)
        })?;
        step(ConfineStep::Capabilities, || match layers {
            Layers::All => rights::drop_all(),
            // Only the superuser has any there.
            Layers::WithoutNamespaces if is_superuser() => rights::drop_all(),
            Layers::WithoutNamespaces => Ok(()),
        })?;
        step(ConfineStep::NoNewPrivileges, rights::refuse_new)?;
        let rules = access_rules_of(&files, layers);
        let landlock = step(ConfineStep::Landlock, || access_rules::restrict(&rules?))?;
        let further = FurtherRefusals {
            metadata: layers == Layers::WithoutNamespaces,
            network: false,
        };
        step(ConfineStep::SystemCalls, || system_calls::restrict(further))?;
        step(ConfineStep::Descriptors, || {
            descriptors::close_others(&self.order.kept)
        })?;
        let seal = Seal {
            landlock,
            namespaces: layers == Layers::All,
            missing: files.missing.clone(),
        };
        step(ConfineStep::Seal, || {
            answer(self.control, &ConfineAnswer::Sealed(seal))
        })?;
        self.execute(layers, gateway.as_ref())
    }

    fn plan(&self) -> Result<FilePlan, ConfineFailure> {
        step(ConfineStep::Plan, || Ok(()))?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
        plan::make(&self.order, &directories)
    }

    /// Separates this process from the files and the network of the machine.
    fn separate(
        &self,
        files: &FilePlan,
    ) -> Result<(Layers, Option<GatewayAddress>), ConfineFailure> {
        let identity = Identity::of_this_process();
        let network = self.network();
        let entered = step(ConfineStep::Namespaces, || namespaces::enter(network));
        if let Err(failure) = entered {
            self.check_without_namespaces(failure)?;
            self.send_listener(None)?;
            return Ok((Layers::WithoutNamespaces, None));
        }
        step(ConfineStep::Identity, || identity.keep())?;
        let gateway = self.open_gateway(network)?;
        step(ConfineStep::PrivateMounts, || Ok(()))?;
        mounts::make_private()?;
        step(ConfineStep::Clone, || Ok(()))?;
        let prepared = mounts::prepare(&files.covers)?;
        step(ConfineStep::Place, || Ok(()))?;
        mounts::place(&prepared)?;
        drop(prepared);
        step(ConfineStep::ReadOnly, || Ok(()))?;
        mounts::make_read_only(&files.covers)?;
        Ok((Layers::All, gateway))
    }

    fn network(&self) -> NetworkNamespace {
        if plan::has_own_network(&self.order.sandbox.network) {
            NetworkNamespace::Own
        } else {
            NetworkNamespace::Shared
        }
    }

    /// Without namespaces only reading can be promised, and only for tools that need no network.
    fn check_without_namespaces(&self, failure: ConfineFailure) -> Result<(), ConfineFailure> {
        let sandbox = &self.order.sandbox;
        let is_promised = match (&sandbox.level, &sandbox.network) {
            (SandboxLevel::ReadOnly, NetworkReach::None | NetworkReach::Full) => true,
            (SandboxLevel::ReadOnly, NetworkReach::Model | NetworkReach::Hosts(_))
            | (SandboxLevel::WorkspaceWrite | SandboxLevel::Off, _) => false,
        };
        if is_promised { Ok(()) } else { Err(failure) }
    }

    /// Makes the listener of the gateway in the network of the child, and sends it to the keeper.
    fn open_gateway(
        &self,
        network: NetworkNamespace,
    ) -> Result<Option<GatewayAddress>, ConfineFailure> {
        if network == NetworkNamespace::Shared {
            self.send_listener(None)?;
            return Ok(None);
        }
        step(ConfineStep::Loopback, loopback_link::switch_on)?;
        let (listener, address) = step(ConfineStep::Listener, || {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        })?;
        self.send_listener(Some(&listener))?;
        Ok(self.order.token.clone().map(|token| GatewayAddress {
            address,
            token,
            leads_to_loopback: self.order.confinement.is_model_local(),
        }))
    }

    fn send_listener(&self, listener: Option<&TcpListener>) -> Result<(), ConfineFailure> {
        step(ConfineStep::Listener, || match listener {
            Some(listener) => System::send(self.control, LISTENER, &[listener.as_fd()]),
            None => System::send(self.control, NO_LISTENER, &[]),
        })
    }

    fn execute(
        self,
        layers: Layers,
        gateway: Option<&GatewayAddress>,
    ) -> Result<Never, ConfineFailure> {
        step(ConfineStep::Execute, || Ok(()))?;
        let words = self.order.words();
        let (program, arguments) = words.split_first().ok_or_else(no_program)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::from(self.stdin));
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(environment::is_left_out) {
                command.env_remove(name);
            }
        }
        if !environment::keeps_proxies(&self.order.sandbox.network) {
            for name in PROXY_VARIABLES {
                command.env_remove(name);
            }
        }
        let temporary = temporary_directory(&self.order, layers);
        command.envs(environment::added(&self.order.sandbox, &temporary, gateway));
        command.env(INNER_VARIABLE, inner_policy(&self.order, layers)?);
        command.env_remove(FAULT_VARIABLE);
        let error = command.exec();
        Err(ConfineFailure::new(ConfineStep::Execute, &error).at(Path::new(program)))
    }
}

/// Returns where the child keeps temporary files.
fn temporary_directory(order: &ConfineOrder, layers: Layers) -> OsString {
    let own = order.confinement.writable.first();
    match (layers, own) {
        (Layers::WithoutNamespaces, Some(own)) => own.clone().into_os_string(),
        (Layers::All | Layers::WithoutNamespaces, _) => "/tmp".into(),
    }
}

fn inner_policy(order: &ConfineOrder, layers: Layers) -> Result<String, ConfineFailure> {
    let sandbox = &order.sandbox;
    let policy = InnerPolicy {
        shown: sandbox.to_string(),
        closes_gateway: !sandbox.network.is_full() && !sandbox.network.tools_may_use_gateway(),
        closes_network: layers == Layers::WithoutNamespaces && !sandbox.network.is_full(),
    };
    serde_json::to_string(&policy)
        .map_err(|error| ConfineFailure::new(ConfineStep::Execute, &error.into()))
}

/// Returns the rules for the files. With namespaces the mounts hide what is hidden.
fn access_rules_of(files: &FilePlan, layers: Layers) -> io::Result<AccessRules> {
    match layers {
        Layers::All => Ok(AccessRules {
            readable: vec![PathBuf::from("/")],
            listable: Vec::new(),
            writable: files.writable.clone(),
        }),
        Layers::WithoutNamespaces => {
            let rules = access_rules::all_but(&files.hidden)?;
            Ok(AccessRules {
                writable: files.writable_without_covers(),
                ..rules
            })
        }
    }
}

fn no_program() -> ConfineFailure {
    ConfineFailure::new(ConfineStep::Execute, &io::ErrorKind::NotFound.into())
}

fn answer(mut control: &UnixStream, answer: &ConfineAnswer) -> io::Result<()> {
    let mut line = serde_json::to_string(answer)?;
    line.push('\n');
    control.write_all(line.as_bytes())
}

/// Takes a step, unless it was asked for that it fails.
fn step<T>(step: ConfineStep, take: impl FnOnce() -> io::Result<T>) -> Result<T, ConfineFailure> {
    match std::env::var(FAULT_VARIABLE) {
        Ok(fault) if fault == step.as_str() => {
            let refused = io::Error::from_raw_os_error(nix::libc::EPERM);
            return Err(ConfineFailure::new(step, &refused));
        }
        Ok(fault) if fault.strip_prefix("exit:") == Some(step.as_str()) => {
            // As if the process had been killed.
            #[expect(
                clippy::exit,
                reason = "the keeper must cope with an end without an answer"
            )]
            std::process::exit(1);
        }
        Ok(_) | Err(_) => {}
    }
    take().map_err(|error| ConfineFailure::new(step, &error))
}
