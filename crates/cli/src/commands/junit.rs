//! `--junit`: the runs of a call as a file of test results, which CI systems show.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use pi_subagents_calls::Answer;
use pi_subagents_files::{self as files, Audience};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_vocabulary::text::cut_characters;
use pi_subagents_vocabulary::{Ending, RunReport, Status};

/// The longest answer of a failed run in the file.
const SHOWN: usize = 4000;

/// The file for test results.
#[derive(Args, Clone, Default)]
pub(super) struct JunitArgs {
    /// File for the results in the form of `JUnit`, which CI systems show: a test case for each run
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    junit: Option<PathBuf>,
}

impl JunitArgs {
    /// Fails if the file cannot be written, before anything is paid for.
    pub(super) fn check(&self, places: &Places) -> Result<(), CommandError> {
        match &self.junit {
            None => Ok(()),
            Some(file) => write(&places.cwd.join(file), &document(&[])),
        }
    }

    /// Writes the file, if one is wanted.
    pub(super) fn write(&self, answer: &Answer, places: &Places) -> Result<(), CommandError> {
        let Some(file) = &self.junit else {
            return Ok(());
        };
        let reports = answer.rows().into_iter().map(|row| row.report);
        let reports: Vec<RunReport> = reports.collect();
        write(&places.cwd.join(file), &document(&reports))
    }
}

fn write(file: &Path, content: &str) -> Result<(), CommandError> {
    files::replace(file, content.as_bytes(), Audience::Ordinary).map_err(|error| {
        CommandError::failed(format!("could not write {}", file.display()))
            .because(&error)
            .hint("Name a file in a directory that exists: --junit results.xml")
    })
}

/// Returns the document about these runs.
fn document(runs: &[RunReport]) -> String {
    let failures = runs
        .iter()
        .filter(|run| verdict(run) == Verdict::Failed)
        .count();
    let skipped = runs
        .iter()
        .filter(|run| verdict(run) == Verdict::Skipped)
        .count();
    let seconds: f64 = runs.iter().map(seconds).sum();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let figures = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"{seconds:.3}\"",
        runs.len()
    );
    // Writing to a string cannot fail.
    _ = writeln!(text, "<testsuites {figures}>");
    _ = writeln!(text, "  <testsuite name=\"pi-subagents\" {figures}>");
    for run in runs {
        text.push_str(&case(run));
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

/// The verdict about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed,
    /// It never began, because of other runs or because a budget was used up.
    Skipped,
}

fn verdict(run: &RunReport) -> Verdict {
    let is_unbegun = matches!(run.ending.as_deref(), Some(Ending::NotStarted { .. }));
    match run.status {
        Status::Completed => Verdict::Passed,
        _ if is_unbegun => Verdict::Skipped,
        _ => Verdict::Failed,
    }
}

fn case(run: &RunReport) -> String {
    let class = run.agent.as_deref().unwrap_or("default");
    let open = format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
        escaped(class),
        escaped(&run.name),
        seconds(run)
    );
    let message = escaped(run.error_message.as_deref().unwrap_or_default());
    match verdict(run) {
        Verdict::Passed => format!("{open}/>\n"),
        Verdict::Skipped => {
            format!("{open}>\n      <skipped message=\"{message}\"/>\n    </testcase>\n")
        }
        Verdict::Failed => {
            let output = cut_characters(run.output.as_deref().unwrap_or_default(), SHOWN);
            let id = &run.run_id;
            format!(
                "{open}>\n      <failure message=\"{message}\">run {id}\n{}</failure>\n    </testcase>\n",
                escaped(&output)
            )
        }
    }
}

fn seconds(run: &RunReport) -> f64 {
    let lasted = run.started_at.zip(run.ended_at);
    let lasted = lasted.map(|(began, ended)| ended.duration_since(began).as_secs_f64());
    // The clock may have been set back.
    lasted.unwrap_or_default().max(0.0)
}

/// Writes a text so that XML takes it. Characters that XML cannot have are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push('\t'),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            letter if letter.is_control() => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::{RunId, SessionId, Timestamp};

    use super::*;

    fn run(name: &str, ending: Ending) -> RunReport {
        let (run, session) = (RunId::parse("r1").unwrap(), SessionId::parse("s1").unwrap());
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let mut report = RunReport::new(run, session, name.to_owned(), at(0));
        report.started_at = Some(at(1));
        report.ended_at = Some(at(3));
        report.take_ending(ending);
        report
    }

    #[test]
    fn runs_are_test_cases() {
        let mut cut = run("b <&> \"c\"\u{1b}[1m", Ending::CutOff);
        cut.output = Some("half ]]> an\nanswer".to_owned());
        cut.agent = Some("scout".to_owned());
        let mut skipped = run(
            "d",
            Ending::NotStarted {
                reason: "It needs b, which did not complete.".to_owned(),
            },
        );
        skipped.started_at = None;
        let runs = [run("a[1]", Ending::Completed), cut, skipped];
        insta::assert_snapshot!(document(&runs), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites tests="3" failures="1" errors="0" skipped="1" time="4.000">
          <testsuite name="pi-subagents" tests="3" failures="1" errors="0" skipped="1" time="4.000">
            <testcase classname="default" name="a[1]" time="2.000"/>
            <testcase classname="scout" name="b &lt;&amp;&gt; &quot;c&quot;�[1m" time="2.000">
              <failure message="Its answer was cut off at the number of tokens that its model may write.">run r1
        half ]]&gt; an&#10;answer</failure>
            </testcase>
            <testcase classname="default" name="d" time="0.000">
              <skipped message="Not started. It needs b, which did not complete."/>
            </testcase>
          </testsuite>
        </testsuites>
        "#);
    }
}
