//! A proxy between a client and a server, which delays the traffic, swallows it, or cuts the
//! connections.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// A proxy; it takes no new connections once it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The delay in each direction, in milliseconds.
    delay: AtomicU64,
    is_black_hole: AtomicBool,
    is_closed: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Starts a proxy to a port of this machine.
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("its address");
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if shared.is_closed.load(Ordering::SeqCst) {
                    return;
                }
                if let Ok(server) = TcpStream::connect(("127.0.0.1", port)) {
                    shared.join(client, server);
                }
            }
        });
        Self { address, state }
    }

    /// Returns the address that clients use.
    pub fn url(&self) -> String {
        format!("nats://{}", self.address)
    }

    /// Delays everything by this time in each direction.
    pub fn delay(&self, delay: Duration) {
        let milliseconds = u64::try_from(delay.as_millis()).expect("a short delay");
        self.state.delay.store(milliseconds, Ordering::SeqCst);
    }

    /// Swallows everything from now on, or no longer: the two sides stay connected.
    pub fn black_hole(&self, is_on: bool) {
        self.state.is_black_hole.store(is_on, Ordering::SeqCst);
    }

    /// Closes all connections. New connections are taken.
    pub fn cut(&self) {
        let mut open = self
            .state
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for connection in open.drain(..) {
            // It may be closed already.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.is_closed.store(true, Ordering::SeqCst);
        self.cut();
        // The thread waits for a connection, and leaves when this connection comes.
        let _ = TcpStream::connect(self.address);
    }
}

impl State {
    fn join(self: &Arc<Self>, client: TcpStream, server: TcpStream) {
        for connection in [&client, &server] {
            connection
                .set_nodelay(true)
                .expect("a connection without delay");
            let copy = connection.try_clone().expect("a second handle");
            self.open
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(copy);
        }
        let pairs = [
            (client.try_clone(), server.try_clone()),
            (Ok(server), Ok(client)),
        ];
        for (from, to) in pairs {
            let (from, to) = (from.expect("a handle"), to.expect("a handle"));
            self.pass(from, to);
        }
    }

    /// Passes the bytes on in their order; each piece waits for its time.
    fn pass(self: &Arc<Self>, mut from: TcpStream, mut to: TcpStream) {
        let (sender, pieces) = mpsc::channel::<(Instant, Vec<u8>)>();
        let reading = Arc::clone(self);
        thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(length @ 1..) = from.read(&mut buffer) {
                if reading.is_black_hole.load(Ordering::SeqCst) {
                    continue;
                }
                let delay = Duration::from_millis(reading.delay.load(Ordering::SeqCst));
                if sender
                    .send((Instant::now() + delay, buffer[..length].to_vec()))
                    .is_err()
                {
                    return;
                }
            }
        });
        thread::spawn(move || {
            for (due, piece) in pieces {
                thread::sleep(due.saturating_duration_since(Instant::now()));
                if to.write_all(&piece).is_err() {
                    break;
                }
            }
            // The other side learns by this that the connection is closed.
            let _ = to.shutdown(Shutdown::Both);
        });
    }
}
