//! The lock of a lifecycle, compared with its current content. Knows no rule.

use proc_macro2::Span;

use super::LockText;
use crate::lock::Lines;

/// The lock, and its current content.
#[derive(Clone, Debug)]
pub struct Locked {
    pub path: String,
    pub span: Span,
    pub text: LockText,
    pub lines: Lines,
}
