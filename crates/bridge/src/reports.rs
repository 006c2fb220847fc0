//! The report of a run: an MCP server with one tool, which its agent starts, and the file through
//! which the server hands reports to the bridge.

use std::io::{self, BufRead as _, Read as _, Write};
use std::path::{Path, PathBuf};

use pi_subagents_files::{append_own, open_own, read_own_text};
use pi_subagents_vocabulary::{FINALIZE_TOOL, LARGEST_SCHEMA, OutputSchema};
use serde_json::{Value, json};

/// The name of the server, which is a part of the tool's name in most agents.
pub(crate) const SERVER: &str = "pi-subagents";

/// The name of the file in the directory of a run.
const FILE: &str = "acp-reports.jsonl";

/// A longer request is refused.
const LONGEST_LINE: u64 = 8 << 20;

/// The reports of a run, as its bridge reads them.
pub(crate) struct Reports {
    path: PathBuf,
    /// The number of bytes that were read.
    read: usize,
    /// The number of reports that were read.
    pub(crate) count: usize,
}

/// A report that the server got.
#[derive(Debug)]
pub(crate) struct SentReport {
    pub(crate) report: Value,
    /// The mistakes in it, if it was refused.
    pub(crate) correction: Option<String>,
}

impl Reports {
    pub(crate) fn new(run_directory: &Path) -> Self {
        Self {
            path: run_directory.join(FILE),
            read: 0,
            count: 0,
        }
    }

    /// Returns the server as the agent is to start it.
    pub(crate) fn server(&self, program: &Path, schema: Option<&Path>) -> Value {
        let mut arguments = vec![
            "bridge".to_owned(),
            "report".to_owned(),
            self.path.display().to_string(),
        ];
        arguments.extend(schema.map(|schema| schema.display().to_string()));
        json!({"name": SERVER, "command": program, "args": arguments, "env": []})
    }

    /// Returns the reports that came since the last time.
    pub(crate) fn new_ones(&mut self) -> Vec<SentReport> {
        let mut text = String::new();
        let limit = LONGEST_LINE * 4;
        let read = open_own(&self.path).map(|file| file.take(limit).read_to_string(&mut text));
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if !matches!(read, Ok(Ok(_))) || whole <= self.read {
            return Vec::new();
        }
        // A program that changed the file in between gets no report.
        let new = text.get(self.read..whole).unwrap_or_default().lines();
        let new: Vec<SentReport> = new
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .map(|mut line| SentReport {
                report: line["report"].take(),
                correction: line["correction"].as_str().map(str::to_owned),
            })
            .collect();
        self.read = whole;
        self.count += new.len();
        new
    }
}

/// Serves the tool over stdin and stdout until stdin closes: `bridge report FILE [SCHEMA]`.
pub(crate) fn serve(arguments: &[String]) -> Result<(), String> {
    let [file, schema @ ..] = arguments else {
        return Err("bridge report FILE [SCHEMA]".to_owned());
    };
    let schema = schema.first().map(|path| read_schema(path)).transpose()?;
    let mut file = append_own(Path::new(file)).map_err(|error| format!("{file}: {error}"))?;
    let mut stdin = io::stdin().lock();
    let mut stdout = io::stdout().lock();
    loop {
        let mut line = Vec::new();
        let read = stdin
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            return Ok(());
        }
        let request: Value = serde_json::from_slice(&line).unwrap_or_default();
        let Some(answer) = answer(&request, schema.as_ref(), &mut file) else {
            continue;
        };
        let written = writeln!(stdout, "{answer}").and_then(|()| stdout.flush());
        if written.is_err() {
            return Ok(());
        }
    }
}

fn read_schema(path: &str) -> Result<OutputSchema, String> {
    let limit = u64::try_from(LARGEST_SCHEMA).unwrap_or(u64::MAX);
    let text = read_own_text(Path::new(path), limit).map_err(|error| format!("{path}: {error}"))?;
    OutputSchema::read(&text).map_err(|error| format!("{path}: {error}"))
}

/// Answers a request; a notification gets no answer.
fn answer(request: &Value, schema: Option<&OutputSchema>, file: &mut impl Write) -> Option<Value> {
    let id = request.get("id").filter(|id| !id.is_null())?;
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": request["params"]["protocolVersion"].as_str().unwrap_or("2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": SERVER, "version": env!("CARGO_PKG_VERSION")},
        }),
        "ping" => json!({}),
        "tools/list" => json!({"tools": [tool(schema)]}),
        "tools/call" => take(&request["params"]["arguments"], schema, file),
        _ => {
            let error = json!({"code": -32601, "message": "method not found"});
            return Some(json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn tool(schema: Option<&OutputSchema>) -> Value {
    let mut description = "Report the result of your task as your last action: status SUCCESS with a result, or ERROR with an error. Text outside of this call is not seen by anybody.".to_owned();
    if let Some(remark) = schema.and_then(OutputSchema::remark) {
        description.push(' ');
        description.push_str(&remark);
    }
    let result = schema.map_or(json!({"type": "string"}), OutputSchema::offered);
    json!({
        "name": FINALIZE_TOOL,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": {
                "status": {"type": "string", "enum": ["SUCCESS", "ERROR"]},
                "result": result,
                "error": {"type": "string"},
            },
            "required": ["status"],
        },
    })
}

fn take(report: &Value, schema: Option<&OutputSchema>, file: &mut impl Write) -> Value {
    let correction = correction(report, schema);
    let line = json!({"report": report, "correction": correction});
    let correction = match writeln!(file, "{line}").and_then(|()| file.flush()) {
        Ok(()) => correction,
        Err(error) => Some(format!("the report could not be kept: {error}")),
    };
    let is_error = correction.is_some();
    let text = correction.unwrap_or_else(|| "finalized".to_owned());
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

/// Returns what is wrong with a report, if anything is.
fn correction(report: &Value, schema: Option<&OutputSchema>) -> Option<String> {
    let is_filled = |name: &str| {
        let text = report[name].as_str();
        text.is_some_and(|text| !text.trim().is_empty())
    };
    match (report["status"].as_str(), schema) {
        (Some("ERROR"), _) if is_filled("error") => None,
        (Some("ERROR"), _) => Some("ERROR needs a non-empty error".to_owned()),
        (Some("SUCCESS"), None) if is_filled("result") => None,
        (Some("SUCCESS"), None) => Some("SUCCESS needs a non-empty result".to_owned()),
        (Some("SUCCESS"), Some(schema)) => match report.get("result") {
            None => Some("SUCCESS needs a result".to_owned()),
            Some(result) => schema.check(result).err().map(|misfit| misfit.correction()),
        },
        _ => Some("status must be \"SUCCESS\" or \"ERROR\"".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_offers_one_tool_and_checks_what_it_gets() {
        let schema =
            json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
        let schema = OutputSchema::new(schema).unwrap();
        let mut file = Vec::new();
        let mut lines = Vec::new();
        for (method, params) in [
            ("initialize", json!({"protocolVersion": "2025-06-18"})),
            ("tools/list", json!({})),
            (
                "tools/call",
                json!({"name": FINALIZE_TOOL, "arguments": {"status": "SUCCESS", "result": {"n": "x"}}}),
            ),
            (
                "tools/call",
                json!({"name": FINALIZE_TOOL, "arguments": {"status": "SUCCESS", "result": {"n": 1}}}),
            ),
            ("resources/list", json!({})),
        ] {
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let answer = answer(&request, Some(&schema), &mut file).unwrap();
            lines.push(
                answer
                    .to_string()
                    .replace(env!("CARGO_PKG_VERSION"), "VERSION"),
            );
        }
        lines.push(String::from_utf8(file).unwrap());
        insta::assert_snapshot!(lines.join("\n"));
    }
}
