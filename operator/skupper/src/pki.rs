//! Keys and certificates of X.509: made, read, and held against what is asked for. Pure but for [`credentials`]: what is made follows from random bytes, a time,
//! and what is asked for alone. Knows no object of Kubernetes.

pub mod credentials;
mod encoded;
pub mod issue;
pub mod key;
pub mod read;
pub mod wanted;
