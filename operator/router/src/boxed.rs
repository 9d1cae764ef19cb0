//! Boxed futures at boundaries off the hot path: their code is generated here once, and not again
//! in every crate that awaits them.

use std::pin::Pin;

/// A future of some type.
pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
