//! X.509 keys and certificates: issues and parses them, and compares them with the request. Pure
//! except for [`credentials`]: an issued certificate depends only on random bytes, a time, and the
//! request. Independent of Kubernetes objects.

pub mod credentials;
mod encoded;
pub mod issue;
pub mod key;
pub mod read;
pub mod wanted;
