//! Three servers that keep everything three times.

use std::net::TcpListener;

use super::server::NatsServer;

/// A cluster of three servers.
#[derive(Debug)]
pub struct NatsCluster {
    servers: Vec<NatsServer>,
}

impl NatsCluster {
    /// Starts three servers that know each other.
    pub fn start() -> Self {
        let ports = free_ports();
        let (clients, routes) = ports.split_at(3);
        let urls: Vec<String> = routes
            .iter()
            .map(|port| format!("nats://127.0.0.1:{port}"))
            .collect();
        let urls = urls.join(", ");
        let mut servers: Vec<NatsServer> = Vec::new();
        for (number, (&client, &route)) in clients.iter().zip(routes).enumerate() {
            let settings = format!(
                "server_name: n{number}\ncluster {{ name: c, listen: \"127.0.0.1:{route}\", \
                 routes: [{urls}] }}"
            );
            servers.push(NatsServer::on_port(client, &settings));
        }
        Self { servers }
    }

    /// Returns the addresses of all servers.
    pub fn urls(&self) -> Vec<String> {
        self.servers.iter().map(NatsServer::url).collect()
    }

    /// Kills the server with a name: `n0`, `n1` or `n2`.
    pub fn kill(&mut self, name: &str) {
        let number: usize = name
            .trim_start_matches('n')
            .parse()
            .expect("a name of a server");
        self.servers[number].kill();
    }

    /// Kills all servers.
    pub fn kill_all(&mut self) {
        self.servers.iter_mut().for_each(NatsServer::kill);
    }

    /// Starts the servers again that were killed.
    pub fn restart_dead(&mut self) {
        let dead = self
            .servers
            .iter_mut()
            .filter(|server| !server.is_started());
        dead.for_each(NatsServer::restart);
    }

    /// Starts all servers again, also those that run.
    pub fn restart_all(&mut self) {
        self.servers.iter_mut().for_each(NatsServer::start_process);
        self.servers.iter_mut().for_each(NatsServer::wait_until_up);
    }
}

/// Returns six ports that were free a moment ago. The servers have to know each other's before
/// they start.
fn free_ports() -> Vec<u16> {
    let bind = |_| TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let listeners: Vec<TcpListener> = (0..6).map(bind).collect();
    let port = |listener: &TcpListener| listener.local_addr().expect("its address").port();
    listeners.iter().map(port).collect()
}
