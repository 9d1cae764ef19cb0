//! What a certificate is made of and kept as. Plain data that nobody prints; how it is made and read, the operator decides.

/// A private key, PEM.
pub struct PrivateKey(pub String);

/// A certificate that was issued, PEM.
pub struct Issued(pub String);

/// Who signs a certificate.
pub enum Signer {
    /// The certificate's own key: it is an authority.
    Itself,
    /// An authority of the namespace, by the PEM of its certificate and of its key.
    Authority {
        /// Its certificate, and whatever stands beside it.
        certificate: String,
        /// Its key.
        key: String,
    },
}
