//! The weight of the program: figures that do not depend on how busy the machine is, compared with
//! those in the repository, so that the program does not grow unnoticed.

mod agent;
mod archive;
mod yardstick;

use crate::Outcome;
use crate::machine::target;
use crate::packages;
use agent::Agent;
use yardstick::{Figure, Known};

/// A kind of build whose figures are known.
#[derive(Clone, Copy)]
enum Build {
    /// The one that the test command makes.
    Debug,
    /// The one that is shipped.
    Dist,
}

impl Build {
    fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Dist => "dist",
        }
    }
}

/// Compares the weight of the program that the arguments choose, or writes it down.
pub(crate) fn weigh(arguments: &[String]) -> Outcome<()> {
    let (mut build, mut is_written) = (Build::Debug, false);
    for argument in arguments {
        match argument.as_str() {
            "--dist" => build = Build::Dist,
            "--write" => is_written = true,
            other => return Err(format!("weight takes --dist and --write, not {other}").into()),
        }
    }
    let figures = figures(build)?;
    if is_written {
        return yardstick::write(build.name(), &figures);
    }
    compare(build, &figures)
}

/// Compares the program that the test command has built.
pub(crate) fn compare_built() -> Outcome<()> {
    compare(Build::Debug, &figures(Build::Debug)?)
}

fn figures(build: Build) -> Outcome<Vec<Figure>> {
    packages::install_valgrind()?;
    let program = target()?.join(build.name()).join("pi-subagents");
    let agent = Agent::new(program.clone())?;
    let mut figures = vec![
        Figure::new("agent-instructions", agent.instructions()?),
        Figure::new("agent-page-faults", agent.page_faults()?),
    ];
    if let Build::Dist = build {
        figures.push(Figure::new("program-bytes", program.metadata()?.len()));
        figures.push(Figure::new("packed-bytes", archive::size(&program)?));
        // Memory depends on how much of the file the kernel maps at once, so it is compared where
        // somebody looks at the result.
        let memory = agent.memory()?;
        figures.push(Figure::new("agent-resident-kb", memory.resident));
        figures.push(Figure::new("agent-private-kb", memory.private));
    }
    Ok(figures)
}

fn compare(build: Build, figures: &[Figure]) -> Outcome<()> {
    let known = Known::read(build.name())?;
    if let Some(other) = known.other_compiler()? {
        let line = "*".repeat(80);
        println!(
            "{line}\nxtask weight: NOTHING WAS COMPARED. The known figures are those of\n  {}\nand this is\n  {other}\nNobody notices here that the program grows.\n{line}",
            known.compiler
        );
        return Ok(());
    }
    let heavier: Vec<String> = figures
        .iter()
        .filter_map(|figure| known.judge(figure))
        .collect();
    if heavier.is_empty() {
        return Ok(());
    }
    let name = match build {
        Build::Debug => "",
        Build::Dist => " --dist",
    };
    Err(format!(
        "the program has another weight:\n  {}\nIf that is meant, run cargo xtask weight{name} --write and say why in the commit",
        heavier.join("\n  ")
    )
    .into())
}
