//! The `lifecycle!` macro.
