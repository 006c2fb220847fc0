//! Model servers that send too much, too slowly, or something else: the agent stays small, ends the
//! call, and gives the reason.

use std::thread;
use std::time::Duration;

use pi_subagents_testkit::process::peak_rss_kb;
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::agent_stage::{AgentStage, FORMATS, answers};
use crate::bad_server::{BadServer, STREAM, ends, text_answer};
use crate::stage::{Stage, files_below, outcomes};

const COMPLETIONS: &str = FORMATS[0];
/// The memory by which an agent may grow for a server, whatever the server sends.
const GROWTH_KB: u64 = 64 << 10;
/// The number of bytes of an endless body that may leave the server: the part that is taken, and
/// the buffers between.
const TAKEN_BYTES: u64 = 32 << 20;

/// Returns the last answer of an agent, after a look at its memory.
fn last_answer(stage: &AgentStage) -> Value {
    let mut agent = stage.agent(&[]);
    agent.ask(&json!({"type": "get_state"}));
    let before = peak_rss_kb(agent.running().pid()).unwrap();
    agent.prompt("Hi.");
    agent.wait_for(|event| event["type"] == "agent_settled");
    let after = peak_rss_kb(agent.running().pid()).unwrap();
    let grown = after - before;
    assert!(grown < GROWTH_KB, "it grew by {grown} kB to {after} kB");
    let events = agent.finish();
    answers(&events).last().map(|last| (*last).clone()).unwrap()
}

/// The error that the agent reports; the server must not get rid of more than it takes.
fn error(server: &BadServer, settings: &Value) -> String {
    let answer = last_answer(&server.stage(COMPLETIONS, settings));
    assert_eq!(answer["stopReason"], "error", "{answer}");
    let written = server.written();
    assert!(
        written < TAKEN_BYTES,
        "the server got rid of {written} bytes"
    );
    answer["errorMessage"].as_str().unwrap().to_owned()
}

#[test]
fn an_error_without_an_end_is_cut() {
    let server = BadServer::start(|connection| {
        connection.write("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\nNo! ");
        connection.write_for_ever([b'x'; 1 << 14], Duration::ZERO);
    });
    let error = error(&server, &json!({}));
    assert!(error.starts_with("400: No! xxxx"), "{error}");
    assert_eq!(error.len(), 505);
}

#[test]
fn an_error_that_drips_is_not_waited_for() {
    let server = BadServer::start(|connection| {
        connection.write("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\nSlow");
        connection.hold();
    });
    assert_eq!(error(&server, &json!({})), "400: Slow");
}

#[test]
fn an_error_page_is_shown_as_text() {
    let server = BadServer::start(|connection| {
        connection
            .write("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n<html><h1>No</h1></html>\n");
    });
    assert_eq!(error(&server, &json!({})), "403: <html><h1>No</h1></html>");
}

#[test]
fn an_event_without_an_end_is_refused_in_every_format() {
    for api in FORMATS {
        let server = BadServer::start(|connection| {
            connection.write(STREAM);
            connection.write("data: ");
            connection.write_for_ever([b'x'; 1 << 14], Duration::ZERO);
        });
        let answer = last_answer(&server.stage(api, &json!({})));
        assert_eq!(
            answer["errorMessage"], "The server sent an event of more than 8388608 bytes.",
            "{api}"
        );
        assert!(server.written() < TAKEN_BYTES, "{api}");
    }
}

#[test]
fn an_answer_without_an_end_is_refused() {
    let server = BadServer::start(|connection| {
        connection.write(STREAM);
        connection.write_for_ever(text_answer(&"word ".repeat(2000)), Duration::ZERO);
    });
    assert_eq!(
        error(&server, &json!({})),
        "The answer was ended: the server sent more than 4194304 bytes."
    );
}

#[test]
fn calls_without_an_end_and_calls_of_huge_numbers_are_refused() {
    let call = |index: u64| {
        let call =
            json!({"index": index, "id": "same", "function": {"name": "ls", "arguments": "{}"}});
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
    };
    let server = BadServer::start(move |connection| {
        connection.write(STREAM);
        let mut index = u64::from(u32::MAX);
        while connection.write(format!("data: {}\n\n", call(index))) {
            index += 1;
        }
    });
    assert_eq!(
        error(&server, &json!({})),
        "The answer was ended: the server sent more than 256 tool calls."
    );
}

#[test]
fn blocks_without_an_end_are_refused() {
    let thinks = json!({"choices": [{"index": 0, "delta": {"reasoning": "t"}}]});
    let blocks = format!("data: {thinks}\n\n{}", text_answer("x")).repeat(100);
    let server = BadServer::start(move |connection| {
        connection.write(STREAM);
        connection.write_for_ever(&blocks, Duration::ZERO);
    });
    let error = error(&server, &json!({}));
    assert!(error.starts_with("The answer was ended"), "{error}");
}

#[test]
fn heartbeats_are_no_answer() {
    thread::scope(|scope| {
        for beat in [": still here\n\n", "data: {\"choices\": []}\n\n", "\n"] {
            scope.spawn(move || {
                let server = BadServer::start(move |connection| {
                    connection.write(STREAM);
                    connection.write_for_ever(beat, Duration::from_millis(10));
                });
                // A hundred beats fit into it, so that a busy machine does not miss them all.
                let error = error(&server, &json!({"httpIdleTimeoutMs": 1000}));
                assert!(error.contains("heartbeats, but nothing"), "{error}");
            });
        }
    });
}

#[test]
fn headers_that_drip_are_given_up() {
    let server = BadServer::start(|connection| {
        connection.write("HTTP/1.1 200 OK\r\nx-slow: ");
        connection.write_for_ever("x", Duration::from_millis(10));
    });
    let error = error(&server, &json!({"httpIdleTimeoutMs": 300}));
    assert!(error.starts_with("Request timed out"), "{error}");
}

#[test]
fn headers_without_an_end_are_refused() {
    let server = BadServer::start(|connection| {
        connection.write("HTTP/1.1 200 OK\r\n");
        let line = format!("x-long: {}\r\n", "x".repeat(1 << 14));
        connection.write_for_ever(line, Duration::ZERO);
    });
    let error = error(&server, &json!({}));
    assert!(
        error.starts_with("Connection error to http://127.0.0.1:"),
        "{error}"
    );
}

#[test]
fn a_server_that_asks_for_more_patience_than_the_setting_has_is_not_asked_again() {
    for asked in ["100000000", "1e300", "61"] {
        let server = BadServer::start(move |connection| {
            connection.write(format!(
                "HTTP/1.1 429 Slow\r\nretry-after: {asked}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            ));
        });
        let error = error(&server, &json!({}));
        assert!(
            error.contains("(the server asks to wait "),
            "{asked}: {error}"
        );
    }
}

#[test]
fn a_wait_that_makes_no_sense_is_not_asked_for() {
    for asked in ["-1", "NaN"] {
        let server = BadServer::start(move |connection| {
            connection.write(format!(
                "HTTP/1.1 429 Slow\r\nretry-after: {asked}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            ));
        });
        let stage = server.stage(COMPLETIONS, &json!({"retry": {"baseDelayMs": 60_000}}));
        let mut agent = stage.agent(&[]);
        agent.prompt("Hi.");
        let retry = agent.wait_for(|event| event["type"] == "auto_retry_start");
        assert_eq!(retry["delayMs"], 60_000, "{asked}");
        agent.send(&json!({"type": "abort"}));
        agent.wait_for(|event| event["type"] == "agent_settled");
        agent.finish();
    }
}

#[test]
fn lengths_that_are_lies_and_bodies_that_break_are_errors() {
    for head in [
        "content-length: 100000",
        "content-length: 99999999999999999999999",
        "transfer-encoding: chunked\r\n\r\nffffffffffffffff",
        "transfer-encoding: chunked\r\n\r\nzz",
    ] {
        let server = BadServer::start(move |connection| {
            connection.write(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n"));
            connection.write(text_answer("Half"));
        });
        let error = error(&server, &json!({}));
        let is_known = error.starts_with("Connection error") || error.contains("stream");
        assert!(is_known, "{head}: {error}");
    }
}

#[test]
fn nothing_is_unpacked() {
    let server = BadServer::start(|connection| {
        let head = STREAM.replace("connection", "content-encoding: gzip\r\nconnection");
        connection.write(head);
        connection.write_for_ever([0x1f; 1 << 14], Duration::ZERO);
    });
    let error = error(&server, &json!({}));
    assert!(
        error.starts_with("The server compressed its answer"),
        "{error}"
    );
}

#[test]
fn broken_text_is_mended_and_answered() {
    let server = BadServer::start(|connection| {
        connection.write(STREAM);
        let broken: Vec<u8> = text_answer("a?b")
            .bytes()
            .map(|byte| if byte == b'?' { 0xff } else { byte })
            .collect();
        connection.write(broken);
        connection.write(ends());
    });
    let answer = last_answer(&server.stage(COMPLETIONS, &json!({})));
    assert_eq!(answer["content"][0]["text"], "a\u{fffd}b");
}

#[test]
fn a_request_does_not_follow_to_another_origin() {
    for api in FORMATS {
        let stranger = BadServer::start(|connection| {
            connection.write(STREAM);
            connection.write(text_answer("Thanks for the key."));
            connection.write(ends());
        });
        let target = stranger.address;
        for status in ["301", "302", "303", "307", "308"] {
            let server = BadServer::start(move |connection| {
                connection.write(format!(
                    "HTTP/1.1 {status} Elsewhere\r\nlocation: http://{target}/v1/x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                ));
            });
            let answer = last_answer(&server.stage(api, &json!({})));
            let expected = format!(
                "{status}: http://{} redirects to http://{target}, which is not followed",
                server.address
            );
            let error = answer["errorMessage"].as_str().unwrap();
            assert!(error.starts_with(&expected), "{api}: {error}");
            assert_eq!(server.calls(), 1);
        }
        assert_eq!(stranger.calls(), 0, "{api}");
    }
}

#[test]
fn a_request_follows_within_its_origin_but_not_in_a_circle() {
    let move_on = |number: usize| {
        format!(
            "HTTP/1.1 308 There\r\nlocation: /v2/{number}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
    };
    let server = BadServer::start(move |connection| {
        if connection.number < 2 {
            connection.write(move_on(connection.number));
        } else {
            connection.write(STREAM);
            connection.write(text_answer("Found."));
            connection.write(ends());
        }
    });
    let answer = last_answer(&server.stage(COMPLETIONS, &json!({})));
    assert_eq!(answer["content"][0]["text"], "Found.");
    let server = BadServer::start(move |connection| {
        connection.write(move_on(connection.number));
    });
    let error = error(&server, &json!({}));
    assert!(error.contains("redirects in a circle"), "{error}");
    assert_eq!(server.calls(), 4, "the first one and three more");
}

/// Returns the outcome of a run on this server, and the memory of the owner at the end of the run.
fn owned(server: &BadServer) -> (crate::stage::Outcome, u64) {
    let agent = server.stage(COMPLETIONS, &json!({}));
    let stage = Stage {
        sandbox: agent.sandbox,
    };
    // The second task keeps the owner until its memory was looked at.
    let gate = stage.path("gate");
    let waits = format!("while ! [ -e {gate} ]; do sleep 0.05; done");
    let script = json!({"rules": [{"turns": [
        {"toolCalls": [{"name": "bash", "arguments": {"command": waits}}]}, {"text": "ok"}]}]});
    stage.sandbox.write("script.json", &script.to_string());
    stage.profile(
        "waits",
        &format!("model: scripted/{}", stage.path("script.json")),
        "Wait.",
    );
    let call = json!({"tasks": [
        {"name": "bad", "prompt": "Hi."},
        {"name": "waits", "prompt": "Wait.", "profile": "waits"}]});
    let running = stage.delegate_to("embedded", &call).spawn();
    let runs = stage.sandbox.root().join("project/.pi/subagents/runs");
    let has_result = || {
        let files = files_below(&runs);
        files
            .iter()
            .any(|file| file.ends_with("result.json"))
            .then_some(())
    };
    assert!(wait_until(Duration::from_mins(2), has_result).is_some());
    let peak = peak_rss_kb(running.pid()).unwrap();
    std::fs::write(gate, "").unwrap();
    let mut found = outcomes(&running.wait());
    (found.remove(0), peak)
}

#[test]
fn the_owner_stays_small_whatever_the_server_of_its_child_sends() {
    let floods: [fn() -> BadServer; 3] = [
        || {
            BadServer::start(|connection| {
                connection.write(STREAM);
                connection
                    .write_for_ever(text_answer(&"\u{1}\"word\\ ".repeat(2000)), Duration::ZERO);
            })
        },
        || {
            BadServer::start(|connection| {
                connection.write(STREAM);
                let long = text_answer(&"x".repeat(4_000_000));
                for piece in long.as_bytes().chunks(1000) {
                    connection.write(piece);
                }
                connection.write(ends());
            })
        },
        || {
            BadServer::start(|connection| {
                connection.write("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
                connection.write_for_ever([b'x'; 1 << 14], Duration::ZERO);
            })
        },
    ];
    let calm = BadServer::start(|connection| {
        connection.write(STREAM);
        connection.write(text_answer("Hello."));
        connection.write(ends());
    });
    // A program with all its names takes most of it, so the flood is compared with a calm server.
    let (_, usual) = owned(&calm);
    let mut said = Vec::new();
    for flood in floods {
        let (outcome, peak) = owned(&flood());
        let more = peak.saturating_sub(usual);
        assert!(
            more < 24 << 10,
            "the owner took {more} kB more than {usual} kB"
        );
        said.push(outcome.status);
    }
    assert_eq!(said, ["failed", "completed", "failed"]);
}

#[test]
fn a_long_answer_that_is_still_one_is_taken_whole() {
    let server = BadServer::start(|connection| {
        connection.write(STREAM);
        let long = text_answer(&"x".repeat(4_000_000));
        // Small pieces, as a slow network brings them.
        for piece in long.as_bytes().chunks(500) {
            connection.write(piece);
        }
        connection.write(ends());
    });
    let answer = last_answer(&server.stage(COMPLETIONS, &json!({})));
    assert_eq!(
        answer["content"][0]["text"].as_str().unwrap().len(),
        4_000_000
    );
}
