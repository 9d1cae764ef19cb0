//! Writes an image as an OCI archive: one layer of files, a configuration, a manifest, all in one tar.
//! Pure but for the file it writes; knows neither Docker nor a registry.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tar::{Builder, EntryType, Header};

/// An image `FROM scratch`.
#[derive(Clone, Debug)]
pub struct Image {
    /// As Pods name it, registry and tag included, such as `localhost/workload:1`.
    pub name: String,
    /// Absolute paths in the image, and their content. All files are executable by every user.
    pub files: Vec<(String, Vec<u8>)>,
    /// Command that the image runs.
    pub entrypoint: Vec<String>,
    /// User that runs the command, as a numeric id; root if empty.
    pub user: String,
}

impl Image {
    /// Writes the archive.
    ///
    /// # Guarantees
    /// The same image gives the same bytes.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let what = || format!("cannot write {}", path.display());
        let file = File::create(path).with_context(what)?;
        let file = self.archive(BufWriter::new(file)).with_context(what)?;
        file.into_inner().map(drop).with_context(what)
    }

    fn archive<W: Write>(&self, to: W) -> std::io::Result<W> {
        let layer = self.layer()?;
        let config = json!({
            "architecture": architecture(),
            "os": "linux",
            "config": { "Entrypoint": self.entrypoint, "User": self.user, "WorkingDir": "/" },
            "rootfs": { "type": "layers", "diff_ids": [sha256(&layer)] },
        });
        let config = config.to_string().into_bytes();
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": blob("application/vnd.oci.image.config.v1+json", &config),
            "layers": [blob("application/vnd.oci.image.layer.v1.tar", &layer)],
        });
        let manifest = manifest.to_string().into_bytes();
        let mut described = blob("application/vnd.oci.image.manifest.v1+json", &manifest);
        let tag = self.name.rsplit_once(':').map_or("latest", |(_, tag)| tag);
        described["annotations"] = json!({
            "io.containerd.image.name": self.name,
            "org.opencontainers.image.ref.name": tag,
        });
        let index = json!({ "schemaVersion": 2, "manifests": [described] });
        let mut tar = Builder::new(to);
        append(&mut tar, "oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#)?;
        append(&mut tar, "index.json", index.to_string().as_bytes())?;
        for content in [&config, &manifest, &layer] {
            let name = sha256(content).replace(':', "/");
            append(&mut tar, &format!("blobs/{name}"), content)?;
        }
        tar.into_inner()
    }

    fn layer(&self) -> std::io::Result<Vec<u8>> {
        let mut tar = Builder::new(Vec::new());
        // The folder is writable by every user, as usual, for programs that run as an arbitrary
        // user.
        let mut folder = Header::new_gnu();
        folder.set_entry_type(EntryType::Directory);
        folder.set_mode(0o1777);
        folder.set_size(0);
        tar.append_data(&mut folder, "tmp/", std::io::empty())?;
        for (path, content) in &self.files {
            append(&mut tar, path.trim_start_matches('/'), content)?;
        }
        tar.into_inner()
    }
}

fn append<W: Write>(tar: &mut Builder<W>, path: &str, content: &[u8]) -> std::io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o755);
    tar.append_data(&mut header, path, content)
}

fn blob(media_type: &str, content: &[u8]) -> Value {
    json!({ "mediaType": media_type, "digest": sha256(content), "size": content.len() })
}

fn sha256(content: &[u8]) -> String {
    let mut text = String::from("sha256:");
    for byte in digest(&SHA256, content).as_ref() {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::io::Read;

    fn contents(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
        let mut archive = tar::Archive::new(archive);
        let entries = archive.entries().unwrap();
        entries
            .map(|entry| {
                let mut entry = entry.unwrap();
                let mut content = Vec::new();
                entry.read_to_end(&mut content).unwrap();
                (entry.path().unwrap().display().to_string(), content)
            })
            .collect()
    }

    #[test]
    fn every_digest_in_the_archive_leads_to_its_blob() {
        let image = Image {
            name: "localhost/x:7".to_owned(),
            files: vec![("/bin/x".to_owned(), b"program".to_vec())],
            entrypoint: vec!["/bin/x".to_owned()],
            user: String::new(),
        };
        let archive = image.archive(Vec::new()).unwrap();
        assert_eq!(archive, image.archive(Vec::new()).unwrap());
        let files = contents(&archive);
        let read = |descriptor: &Value| {
            let digest = descriptor["digest"].as_str().unwrap();
            let content = &files[&format!("blobs/{}", digest.replace(':', "/"))];
            assert_eq!(descriptor["size"], content.len());
            assert_eq!(digest, sha256(content));
            content.clone()
        };
        let index: Value = serde_json::from_slice(&files["index.json"]).unwrap();
        let found = &index["manifests"][0];
        assert_eq!(
            found["annotations"]["org.opencontainers.image.ref.name"],
            "7"
        );
        let manifest: Value = serde_json::from_slice(&read(found)).unwrap();
        let layer = read(&manifest["layers"][0]);
        assert_eq!(contents(&layer)["bin/x"], b"program");
        let config: Value = serde_json::from_slice(&read(&manifest["config"])).unwrap();
        assert_eq!(config["rootfs"]["diff_ids"][0], sha256(&layer));
    }

    #[test]
    fn the_digest_is_the_published_sha256() {
        assert_eq!(
            sha256(b"abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
