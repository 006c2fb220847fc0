//! Connecting, and what is said when it fails.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;

use pi_subagents_fleet_queue::{Address, Fleet, FleetError};
use pi_subagents_testkit::fleet::NatsServer;
use pretty_assertions::assert_eq;

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    // Nobody listens on a port that was bound and given back.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let url = format!("nats://127.0.0.1:{port}");
    let error = Fleet::connect(&Address::new(&url, "ada"))
        .await
        .unwrap_err();
    let text = error.to_string();
    let begin = format!("no server of the fleet can be reached ({url}): ");
    assert!(text.starts_with(&begin), "{text}");
    assert!(error.is_passing());
}

#[tokio::test]
async fn a_server_that_is_too_old_is_refused_in_words() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("nats://{}", listener.local_addr().unwrap());
    // It says who it is, and answers the first ping.
    thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let info = r#"{"server_id":"A","server_name":"attic","version":"2.9.0","headers":true,"max_payload":1048576,"jetstream":true}"#;
        write!(connection, "INFO {info}\r\n").unwrap();
        let mut lines = BufReader::new(connection.try_clone().unwrap());
        let mut line = String::new();
        while lines.read_line(&mut line).unwrap_or(0) > 0 {
            if line.starts_with("PING") && connection.write_all(b"PONG\r\n").is_err() {
                return;
            }
            line.clear();
        }
    });
    let error = Fleet::connect(&Address::new(&url, "ada"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the fleet's server attic has version 2.9.0, and a fleet needs 2.12 or newer; update \
         nats-server"
    );
}

#[tokio::test]
async fn a_key_that_the_server_does_not_know_is_refused_in_words() {
    let server = NatsServer::with_settings("authorization { users: [{ user: a, password: b }] }");
    let error = Fleet::connect(&Address::new(&server.url(), "ada"))
        .await
        .unwrap_err();
    let expected = FleetError::NotLetIn {
        server: server.url(),
    };
    assert_eq!(error, expected);
}
