//! The lock of a lifecycle beside what it would say now. Knows no rule.

use proc_macro2::Span;

use super::LockText;
use crate::lock::Lines;

/// The lock, and what would stand in it now.
#[derive(Clone, Debug)]
pub struct Locked {
    pub path: String,
    pub span: Span,
    pub text: LockText,
    pub lines: Lines,
}
