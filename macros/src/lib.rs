//! The `lifecycle!` macro: a shell around `lifecycle_macros_core`, nothing else.

use proc_macro::TokenStream;

/// Declares the lifecycle of a resource or of a volume.
#[proc_macro]
pub fn lifecycle(declaration: TokenStream) -> TokenStream {
    lifecycle_macros_core::expand(declaration.into()).into()
}
