//! The commands of a code block, each as somebody types it.

use std::error::Error;
use std::process::Command;

use crate::blocks::Block;

/// A command of one line or of several.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Typed {
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// Returns the commands of a block: all lines of a script, and the lines behind `$ ` where the
/// block shows what is printed too.
pub(crate) fn commands(block: &Block) -> Result<Vec<Typed>, Box<dyn Error>> {
    let shows_output = ["console", "text"].contains(&block.language.as_str());
    let mut found = Vec::new();
    let mut open: Option<Typed> = None;
    for (line, number) in block.text.lines().zip(block.line..) {
        if let Some(command) = &mut open {
            command.text.push('\n');
            command.text.push_str(line);
        } else {
            let typed = if shows_output {
                line.strip_prefix("$ ")
            } else {
                Some(line).filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
            };
            open = typed.map(|text| Typed {
                line: number,
                text: text.to_owned(),
            });
        }
        if let Some(command) = &open
            && is_whole(&command.text)?
        {
            found.extend(open.take());
        }
    }
    found.extend(open);
    Ok(found)
}

/// Asks the shell whether a command is whole: no quote, group or here-document is open.
fn is_whole(text: &str) -> Result<bool, Box<dyn Error>> {
    if text.ends_with('\\') {
        return Ok(false);
    }
    let looked = Command::new("bash").args(["-n", "-c", text]).output()?;
    let words = String::from_utf8_lossy(&looked.stderr);
    Ok(looked.status.success() && !words.contains("here-document"))
}

#[test]
fn a_command_may_have_several_lines() -> Result<(), Box<dyn Error>> {
    let block = |language: &str, text: &str| Block {
        line: 1,
        language: language.to_owned(),
        text: text.to_owned(),
        remark: crate::blocks::Remark::None,
    };
    let texts = |block: &Block| -> Result<Vec<String>, Box<dyn Error>> {
        Ok(commands(block)?.into_iter().map(|one| one.text).collect())
    };
    let script = block(
        "sh",
        "# first\na \\\n  b\n\necho '{\n}' | c\ncat <<E\nx\nE\n",
    );
    let expected = ["a \\\n  b", "echo '{\n}' | c", "cat <<E\nx\nE"];
    assert_eq!(texts(&script)?, expected);
    assert_eq!(texts(&block("text", "$ a\nprinted\n$ b\n"))?, ["a", "b"]);
    Ok(())
}
