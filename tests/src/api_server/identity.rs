//! Identities of a test API server: its certificates, the service account key, and kubeconfig
//! files. This module does not handle processes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use serde_json::json;

/// Names and addresses that a client may call the API server by.
const SERVER_NAMES: [&str; 8] = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
    "127.0.0.1",
    "10.96.0.1",
    // Of the first node of a test cluster.
    "10.86.0.1",
];

/// The certificate authority of one test API server or test cluster, and the folder of its files.
pub(crate) struct Identity {
    folder: PathBuf,
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Identity {
    /// Writes everything that the server programs need into the folder.
    pub(crate) fn create(folder: PathBuf) -> Result<Self> {
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(DnType::CommonName, "lifecycle test authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)
            .context("cannot sign the certificate authority")?;
        let identity = Self { folder, authority };
        identity.write("ca.crt", &identity.authority.pem())?;
        identity.write("ca.key", &identity.authority.key().serialize_pem())?;
        identity.api_server()?;
        let accounts = KeyPair::generate()?;
        identity.write("accounts.pub", &accounts.public_key_pem())?;
        identity.write("accounts.key", &accounts.serialize_pem())?;
        Ok(identity)
    }

    /// Writes `apiserver.crt` and `apiserver.key`, in the place of those of before.
    pub(crate) fn api_server(&self) -> Result<()> {
        self.server("apiserver", "kube-apiserver", &SERVER_NAMES)
    }

    /// The path of a file of this identity.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a client certificate and a kubeconfig file with it, and returns the latter's path.
    ///
    /// # Errors
    /// More than two groups: a certificate made here has room for no more.
    pub(crate) fn kubeconfig(&self, url: &str, user: &str, groups: &[&str]) -> Result<PathBuf> {
        let stem = file_stem(user, groups);
        let path = self.file(&format!("{stem}.kubeconfig"));
        if path.exists() {
            return Ok(path);
        }
        self.client(&stem, user, groups)?;
        let [certificate, key] = ["crt", "key"].map(|end| self.file(&format!("{stem}.{end}")));
        let text = kubeconfig(url, &self.file("ca.crt"), user, &certificate, &key);
        self.write(&format!("{stem}.kubeconfig"), &text)
    }

    /// Writes `<stem>.crt` and `<stem>.key` for a client.
    ///
    /// # Errors
    /// As `kubeconfig`.
    pub(crate) fn client(&self, stem: &str, user: &str, groups: &[&str]) -> Result<()> {
        let mut params = CertificateParams::default();
        let name = &mut params.distinguished_name;
        name.push(DnType::CommonName, user);
        ensure!(
            groups.len() <= 2,
            "user {user} has {} groups; a client certificate made here carries at most two",
            groups.len()
        );
        // rcgen keeps one value per kind of name, and a spelled-out OID counts as another kind.
        let kinds = [
            DnType::OrganizationName,
            DnType::CustomDnType(vec![2, 5, 4, 10]),
        ];
        for (kind, group) in kinds.into_iter().zip(groups) {
            name.push(kind, *group);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(stem, params)
    }

    /// Writes `<stem>.crt` and `<stem>.key` for a server that is called by these names and addresses.
    pub(crate) fn server(&self, stem: &str, common_name: &str, names: &[&str]) -> Result<()> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names)?;
        params
            .distinguished_name
            .push(DnType::CommonName, common_name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(stem, params)
    }

    fn sign(&self, stem: &str, params: CertificateParams) -> Result<()> {
        let key = KeyPair::generate()?;
        let certificate = params
            .signed_by(&key, &self.authority)
            .with_context(|| format!("cannot sign the certificate of {stem}"))?;
        self.write(&format!("{stem}.crt"), &certificate.pem())?;
        self.write(&format!("{stem}.key"), &key.serialize_pem())?;
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.file(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

/// A file name of its own for every user and groups; user names hold colons and slashes.
fn file_stem(user: &str, groups: &[&str]) -> String {
    let mut stem = String::from("user");
    for part in std::iter::once(&user).chain(groups) {
        stem.push('-');
        for byte in part.bytes() {
            if byte.is_ascii_alphanumeric() {
                stem.push(char::from(byte));
            } else {
                stem.push_str(&format!("_{byte:02x}"));
            }
        }
    }
    stem
}

/// Returns a kubeconfig file. The format is YAML, which includes JSON.
fn kubeconfig(url: &str, authority: &Path, user: &str, certificate: &Path, key: &Path) -> String {
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "test", "cluster": { "server": url, "certificate-authority": authority } }],
        "users": [{ "name": user, "user": { "client-certificate": certificate, "client-key": key } }],
        "contexts": [{ "name": "test", "context": { "cluster": "test", "user": user } }],
        "current-context": "test",
    });
    format!("{config:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_users_never_share_a_file() {
        let stems = [
            file_stem("a:b", &[]),
            file_stem("a_b", &[]),
            file_stem("a", &["b"]),
            file_stem("a-b", &[]),
        ];
        for (index, stem) in stems.iter().enumerate() {
            assert!(!stems[..index].contains(stem), "{stem}");
            assert!(!stem.contains(['/', ':']), "{stem}");
        }
    }

    #[test]
    fn a_third_group_is_refused_instead_of_lost() {
        let folder = tempfile::tempdir().unwrap();
        let identity = Identity::create(folder.path().to_owned()).unwrap();
        let refused = identity
            .kubeconfig("https://127.0.0.1:1", "u", &["a", "b", "c"])
            .unwrap_err();
        assert!(refused.to_string().contains("at most two"), "{refused}");
    }
}
