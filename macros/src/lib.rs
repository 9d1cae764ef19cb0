//! The `lifecycle!` and `fragment!` macros: a shell around `lifecycle_macros_core`, nothing else.

use proc_macro::TokenStream;

/// Declares the lifecycle of a resource or of a volume.
#[proc_macro]
pub fn lifecycle(declaration: TokenStream) -> TokenStream {
    lifecycle_macros_core::expand(declaration.into()).into()
}

/// Declares what several lifecycles share.
#[proc_macro]
pub fn fragment(declaration: TokenStream) -> TokenStream {
    lifecycle_macros_core::expand_fragment(declaration.into()).into()
}
