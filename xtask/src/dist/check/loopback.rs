//! A registry of npm on this machine, which has our packages and no other.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use super::Shipment;
use super::home::{Home, output};
use crate::Outcome;
use crate::machine::program;

/// The packages by the paths at which npm asks for them.
struct Shelf {
    pages: Vec<(String, Vec<u8>)>,
}

/// Starts the registry, makes it that of a home, and returns the settings of npm that it wrote there.
/// The registry serves until this program ends.
pub(super) fn serve(shipment: &Shipment, home: &Home) -> Outcome<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    let packages = shipment.packages;
    let mut shelf = Shelf { pages: Vec::new() };
    for archive in [&packages.extension, &packages.platform] {
        shelf.add(&packages.path(archive), archive, &address)?;
    }
    let npmrc = format!("registry={address}/\nfund=false\naudit=false\nupdate-notifier=false\n");
    home.write("home/.npmrc", &npmrc)?;
    let shelf = Arc::new(shelf);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let shelf = Arc::clone(&shelf);
            // A client that leaves before its answer is its own affair.
            thread::spawn(move || _ = shelf.answer(stream));
        }
    });
    Ok(npmrc)
}

impl Shelf {
    /// Adds an archive, and the page that describes its only version.
    fn add(&mut self, path: &Path, archive: &str, address: &str) -> Outcome<()> {
        let manifest = output(
            program("tar")
                .arg("-xzOf")
                .arg(path)
                .arg("package/package.json"),
        )?;
        let (name, version) = (field(&manifest, "name")?, field(&manifest, "version")?);
        let body = manifest.trim().trim_end_matches('}');
        let page = format!(
            r#"{{"name": "{name}", "dist-tags": {{"latest": "{version}"}}, "versions": {{"{version}": {body}, "dist": {{"tarball": "{address}/{archive}"}}}}}}}}"#
        );
        // A client writes the slash of a name in its own way.
        self.pages
            .push((format!("/{}", name.replace('/', "%2f")), page.into_bytes()));
        self.pages.push((format!("/{archive}"), fs::read(path)?));
        Ok(())
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let request = lines.next().transpose()?.unwrap_or_default();
        while lines
            .next()
            .transpose()?
            .is_some_and(|line| !line.is_empty())
        {}
        let path = request.split(' ').nth(1).unwrap_or_default();
        let page = self
            .pages
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(path));
        let (status, body) = match page {
            Some((_, body)) => ("200 OK", body.as_slice()),
            None => ("404 Not Found", b"{}".as_slice()),
        };
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        )?;
        stream.write_all(body)
    }
}

/// Returns a text of our own manifests, which have one field on a line.
fn field(manifest: &str, key: &str) -> Outcome<String> {
    let start = format!("  \"{key}\": \"");
    let mut lines = manifest.lines();
    let value = lines.find_map(|line| line.strip_prefix(&start)?.strip_suffix("\","));
    Ok(value.ok_or_else(|| format!("no {key}"))?.to_owned())
}
