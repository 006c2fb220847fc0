//! The image for workers of a fleet, in the layout of OCI, packed into one file and made without a
//! daemon: a layer with a small Debian that has git, and a layer with the program.

use std::fs;

use super::checksum::digest;
use super::contents::{Contents, own_file};
use super::gzip::gzip;
use super::packed_file::PackedFile;
use super::release::{NAME, Release};
use super::roots::Root;
use super::tar::tar;
use super::template::filled;
use crate::Outcome;

/// A part of the image: its bytes, and the digest that names it.
struct Blob {
    digest: String,
    bytes: Vec<u8>,
}

/// A layer, compressed, with the digest of what it is before.
struct Layer {
    blob: Blob,
    plain_digest: String,
}

/// Returns the image, or nothing if there is no root to begin with.
pub(super) fn image(release: &Release, contents: &Contents) -> Outcome<Option<Vec<u8>>> {
    let system = Root::Worker.archive()?;
    if !system.exists() {
        println!("xtask: dist: no image: cargo xtask roots fetches the system of workers");
        return Ok(None);
    }
    let own = tar(&[
        PackedFile::program(format!("usr/local/bin/{NAME}"), contents.program.clone()),
        PackedFile::text(
            format!("usr/share/doc/{NAME}/copyright"),
            own_file("LICENSE")?,
        ),
    ])?;
    let layers = [Layer::new(&fs::read(system)?)?, Layer::new(&own)?];
    let config = Blob::new(config(release, &layers)?)?;
    let manifest = Blob::new(manifest(&config, &layers))?;
    let index = index(release, &manifest);
    let [system, own] = layers;
    let mut files = vec![
        PackedFile::text("oci-layout", r#"{"imageLayoutVersion": "1.0.0"}"#),
        PackedFile::text("index.json", index),
    ];
    for blob in [system.blob, own.blob, config, manifest] {
        let path = format!("blobs/sha256/{}", blob.digest);
        files.push(PackedFile::text(path, blob.bytes));
    }
    Ok(Some(tar(&files)?))
}

impl Blob {
    fn new(bytes: impl Into<Vec<u8>>) -> Outcome<Self> {
        let bytes = bytes.into();
        Ok(Self {
            digest: digest(&bytes)?,
            bytes,
        })
    }

    /// Describes the blob for whoever refers to it.
    fn descriptor(&self, kind: &str) -> String {
        format!(
            r#"{{"mediaType": "application/vnd.oci.image.{kind}", "digest": "sha256:{}", "size": {}}}"#,
            self.digest,
            self.bytes.len()
        )
    }
}

impl Layer {
    fn new(archive: &[u8]) -> Outcome<Self> {
        Ok(Self {
            blob: Blob::new(gzip(archive)?)?,
            plain_digest: digest(archive)?,
        })
    }
}

fn config(release: &Release, layers: &[Layer]) -> Outcome<String> {
    let digests: Vec<String> = layers
        .iter()
        .map(|layer| format!("\"sha256:{}\"", layer.plain_digest))
        .collect();
    let mut values = release.values();
    values.push(("layers", digests.join(", ")));
    filled("image/config.json", &values)
}

fn manifest(config: &Blob, layers: &[Layer]) -> String {
    let layers: Vec<String> = layers
        .iter()
        .map(|layer| layer.blob.descriptor("layer.v1.tar+gzip"))
        .collect();
    format!(
        r#"{{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": {}, "layers": [{}]}}"#,
        config.descriptor("config.v1+json"),
        layers.join(", ")
    )
}

/// The name of the image is an annotation, as `podman load` and `skopeo` read it.
fn index(release: &Release, manifest: &Blob) -> String {
    let descriptor = manifest.descriptor("manifest.v1+json");
    let descriptor = descriptor.trim_end_matches('}');
    format!(
        r#"{{"schemaVersion": 2, "manifests": [{descriptor}, "annotations": {{"org.opencontainers.image.ref.name": "{}"}}}}]}}"#,
        release.version
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_refers_to_the_next_by_its_digest() {
        let release = Release::read().unwrap();
        let layers = [Layer::new(b"system").unwrap(), Layer::new(b"own").unwrap()];
        let config = Blob::new(config(&release, &layers).unwrap()).unwrap();
        let text = String::from_utf8(config.bytes.clone()).unwrap();
        for layer in &layers {
            assert!(text.contains(&format!("sha256:{}", layer.plain_digest)));
        }
        let manifest = Blob::new(manifest(&config, &layers)).unwrap();
        let text = String::from_utf8(manifest.bytes.clone()).unwrap();
        for blob in [&config, &layers[0].blob, &layers[1].blob] {
            assert!(text.contains(&format!("sha256:{}", blob.digest)));
        }
        let index = index(&release, &manifest);
        assert!(index.contains(&manifest.digest));
        assert!(index.contains(&format!("\"size\": {}, ", manifest.bytes.len())));
    }
}
