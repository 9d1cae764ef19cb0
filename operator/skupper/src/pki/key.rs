//! Private keys: keys of this operator are ECDSA over P-256, and their signatures are deterministic
//! (RFC 6979). Other keys are read in the form in which they are found.

use std::fmt::{self, Debug, Formatter};

use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{DerSignature, SigningKey};
use rcgen::{KeyPair, PublicKeyData, SignatureAlgorithm};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use thiserror::Error;

use super::encoded;

/// Bytes before the number in a key of this operator (PKCS#8 around RFC 5915), and between the
/// number and its point.
const HEAD: [u8; 36] = [
    0x30, 0x81, 0x87, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02,
    0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x6d, 0x30, 0x6b, 0x02,
    0x01, 0x01, 0x04, 0x20,
];
const BETWEEN: [u8; 5] = [0xa1, 0x44, 0x03, 0x42, 0x00];
const NUMBER: usize = 32;
/// Algorithms of PKCS#8: RSA, and ECDSA over P-256 and P-384.
const RSA: &[u8] = &[
    0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
];
const P256: &[u8] = &[
    0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
    0xce, 0x3d, 0x03, 0x01, 0x07,
];
const P384: &[u8] = &[
    0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b, 0x81, 0x04,
    0x00, 0x22,
];

/// Why a key cannot be used.
#[derive(Debug, Error)]
pub enum Wrong {
    /// It is no PEM of a private key.
    #[error("it is no PEM of a private key")]
    Pem(#[source] pem::Error),
    /// It is of a kind that is not known here, or damaged.
    #[error("it is no private key of RSA, ECDSA over P-256 or P-384, or Ed25519")]
    Kind,
}

/// A private key.
pub struct Key(Kind);

enum Kind {
    /// As we make them: the number of the key, and the pair that reads it.
    Own { number: [u8; NUMBER], pair: KeyPair },
    /// Of the replaced implementation, or of a user.
    Other(KeyPair),
}

impl Debug for Key {
    /// Shows no key.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

impl Key {
    /// A new one, from the first seed that is one: all but one of some thousand million million.
    pub fn generate(mut seed: impl FnMut() -> [u8; NUMBER]) -> Self {
        loop {
            if let Some(key) = Self::of_number(&seed()) {
                return key;
            }
        }
    }

    fn of_number(number: &[u8; NUMBER]) -> Option<Self> {
        let key = SigningKey::from_slice(number).ok()?;
        let point = key.verifying_key().to_sec1_point(false);
        let der = [&HEAD[..], number, &BETWEEN, point.as_bytes()].concat();
        Self::of_pkcs8(der).ok()
    }

    fn of_pkcs8(der: Vec<u8>) -> Result<Self, Wrong> {
        let number = own_number(&der);
        let pair = KeyPair::try_from(&PrivatePkcs8KeyDer::from(der)).map_err(|_| Wrong::Kind)?;
        Ok(Self(match number {
            Some(number) => Kind::Own { number, pair },
            None => Kind::Other(pair),
        }))
    }

    /// Reads a key: PKCS#8, or the older forms of RSA (PKCS#1) and ECDSA (SEC 1).
    ///
    /// # Errors
    /// Returns an error if the text contains no key, or an unusable one.
    pub fn read(pem: &[u8]) -> Result<Self, Wrong> {
        let der = PrivateKeyDer::from_pem_slice(pem).map_err(Wrong::Pem)?;
        let forms = match &der {
            PrivateKeyDer::Pkcs8(key) => vec![key.secret_pkcs8_der().to_vec()],
            PrivateKeyDer::Pkcs1(key) => vec![pkcs8(RSA, key.secret_pkcs1_der())],
            PrivateKeyDer::Sec1(key) => {
                let key = key.secret_sec1_der();
                vec![pkcs8(P256, key), pkcs8(P384, key)]
            }
            _ => Vec::new(),
        };
        let mut keys = forms.into_iter().map(Self::of_pkcs8);
        keys.find_map(Result::ok).ok_or(Wrong::Kind)
    }

    /// As PKCS#8, PEM.
    pub fn pem(&self) -> String {
        encoded::pem("PRIVATE KEY", self.pair().serialized_der())
    }

    fn pair(&self) -> &KeyPair {
        match &self.0 {
            Kind::Own { pair, .. } | Kind::Other(pair) => pair,
        }
    }
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        self.pair().der_bytes()
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        self.pair().algorithm()
    }
}

impl rcgen::SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        match &self.0 {
            Kind::Own { number, .. } => {
                let key = SigningKey::from_slice(number);
                let key = key.map_err(|_| rcgen::Error::CouldNotParseKeyPair)?;
                let signature: DerSignature = key.sign(message);
                Ok(signature.as_bytes().to_vec())
            }
            Kind::Other(pair) => pair.sign(message),
        }
    }
}

/// Returns the number of a key that has exactly the form of this operator's keys.
fn own_number(der: &[u8]) -> Option<[u8; NUMBER]> {
    let (number, rest) = der.strip_prefix(&HEAD)?.split_first_chunk()?;
    rest.starts_with(&BETWEEN).then_some(*number)
}

/// A key of an older form in PKCS#8.
fn pkcs8(algorithm: &[u8], key: &[u8]) -> Vec<u8> {
    let inside = [&[0x02, 0x01, 0x00], algorithm, &encoded::value(0x04, key)].concat();
    encoded::value(0x30, &inside)
}

#[cfg(test)]
mod tests {
    use rcgen::SigningKey as _;

    use super::*;

    fn seeded(byte: u8) -> Key {
        Key::generate(|| [byte; NUMBER])
    }

    #[test]
    fn a_key_follows_from_its_seed_and_is_read_back() {
        let key = seeded(7);
        let again = Key::read(key.pem().as_bytes()).expect("it is a key");
        assert_eq!(again.pem(), key.pem());
        assert_eq!(again.der_bytes(), key.der_bytes());
        assert_eq!(again.sign(b"text").ok(), key.sign(b"text").ok());
        assert_ne!(seeded(8).pem(), key.pem());
        // Others read it as well, and see the same public key.
        let other = KeyPair::from_pem(&key.pem()).expect("it is PKCS#8");
        assert_eq!(other.public_key_raw(), key.der_bytes());
    }

    #[test]
    fn a_seed_that_is_no_key_is_left_out() {
        let mut seeds = [[0; NUMBER], [0xff; NUMBER], [1; NUMBER]].into_iter();
        let key = Key::generate(|| seeds.next().expect("the third is one"));
        assert_eq!(key.pem(), seeded(1).pem());
    }

    #[test]
    fn what_is_no_key_is_told() {
        let said = |pem: &str| {
            Key::read(pem.as_bytes())
                .map(drop)
                .map_err(|e| e.to_string())
        };
        assert_eq!(said(""), Err("it is no PEM of a private key".to_owned()));
        let empty = encoded::pem("PRIVATE KEY", b"key");
        let kind = "it is no private key of RSA, ECDSA over P-256 or P-384, or Ed25519";
        assert_eq!(said(&empty), Err(kind.to_owned()));
        let cut = encoded::pem("EC PRIVATE KEY", &[0x30, 0x03, 0x02, 0x01]);
        assert_eq!(said(&cut), Err(kind.to_owned()));
    }

    /// As Go writes them: of the replaced implementation, and of cert-manager.
    #[test]
    fn older_forms_are_read() {
        for pem in [
            include_str!("testdata/rsa-pkcs1.key"),
            include_str!("testdata/p256-sec1.key"),
            include_str!("testdata/p384-sec1.key"),
        ] {
            let key = Key::read(pem.as_bytes()).expect("it is a key");
            let again = Key::read(key.pem().as_bytes()).expect("it is a key");
            assert_eq!(again.der_bytes(), key.der_bytes());
        }
    }
}
