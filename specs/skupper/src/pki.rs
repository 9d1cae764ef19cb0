//! Contents of a certificate, and the form in which it is stored. This is plain data that is never
//! printed. The operator decides how it is created and read.

/// A private key, PEM.
pub struct PrivateKey(pub String);

/// A certificate that was issued, PEM.
pub struct Issued(pub String);

/// Signer of a certificate.
pub enum Signer {
    /// The certificate's own key: it is an authority.
    Itself,
    /// An authority of the namespace, by the PEM of its certificate and of its key.
    Authority {
        /// Certificate, and the text beside it.
        certificate: String,
        /// Its key.
        key: String,
    },
}
