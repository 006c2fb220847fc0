//! HTTPS in front of a server: certificates of its own, TLS, and the bytes passed on.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// A server on `https://localhost` in front of another one; dropping it closes every connection.
#[derive(Debug)]
pub struct TlsFront {
    address: SocketAddr,
    root: String,
    accepted: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TlsFront {
    /// Starts a server that passes on what it decrypts to `behind`.
    pub fn before(behind: SocketAddr) -> Self {
        let (config, root) = chain();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the address of the server");
        let accepted = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&accepted);
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || serve(listener, behind, config, &counted, stopped));
        Self {
            address,
            root,
            accepted,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Returns the base URL as `models.json` wants it, `https://localhost:<port>/v1`.
    pub fn base_url(&self) -> String {
        format!("https://localhost:{}/v1", self.address.port())
    }

    /// Returns the certificate that vouches for the server, in the format PEM.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Returns how many connections were encrypted so far.
    pub fn connections(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Makes a root, an authority below it and a certificate of `localhost`, as real servers have them.
fn chain() -> (ServerConfig, String) {
    let root_key = KeyPair::generate().expect("a key");
    let root = CertifiedIssuer::self_signed(authority("Test Root"), root_key).expect("a root");
    let between_key = KeyPair::generate().expect("a key");
    let between = CertifiedIssuer::signed_by(authority("Test Authority"), between_key, &root)
        .expect("an authority");
    let mut params =
        CertificateParams::new(["localhost".to_owned()]).expect("a name that is a name");
    params
        .extended_key_usages
        .push(ExtendedKeyUsagePurpose::ServerAuth);
    let key = KeyPair::generate().expect("a key");
    let own = params.signed_by(&key, &between).expect("a certificate");
    let certificates = vec![own.der().clone(), between.der().clone()];
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions of TLS")
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .expect("a certificate with its key");
    (config, root.pem())
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
        .distinguished_name
        .push(rcgen::DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn serve(
    listener: TcpListener,
    behind: SocketAddr,
    config: ServerConfig,
    accepted: &Arc<AtomicUsize>,
    stopped: oneshot::Receiver<()>,
) {
    listener
        .set_nonblocking(true)
        .expect("a listener that waits");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        tokio::select! {
            () = accept_all(&listener, behind, &acceptor, accepted) => {}
            _ = stopped => {}
        }
    });
}

async fn accept_all(
    listener: &tokio::net::TcpListener,
    behind: SocketAddr,
    acceptor: &TlsAcceptor,
    accepted: &Arc<AtomicUsize>,
) {
    while let Ok((client, _)) = listener.accept().await {
        let (acceptor, accepted) = (acceptor.clone(), Arc::clone(accepted));
        tokio::spawn(async move {
            // A client that goes away takes its connection along; a test sees what it asked for.
            let _ = pass_on(client, behind, &acceptor, &accepted).await;
        });
    }
}

async fn pass_on(
    client: TcpStream,
    behind: SocketAddr,
    acceptor: &TlsAcceptor,
    accepted: &AtomicUsize,
) -> std::io::Result<()> {
    let mut encrypted = acceptor.accept(client).await?;
    accepted.fetch_add(1, Ordering::SeqCst);
    let mut plain = TcpStream::connect(behind).await?;
    copy_bidirectional(&mut encrypted, &mut plain).await?;
    Ok(())
}
