//! The `lifecycle!` and `fragment!` macros: a shell around `lifecycle_macros_core`, and who reads the file of a lock for it.

use std::path::{Path, PathBuf};

use lifecycle_macros_core::{LockText, lock};
use proc_macro::TokenStream;
use quote::quote;

/// Declares the lifecycle of a resource or of a volume.
#[proc_macro]
pub fn lifecycle(declaration: TokenStream) -> TokenStream {
    let declaration = proc_macro2::TokenStream::from(declaration);
    // Whoever expands for an editor has no file, and checks no lock.
    let Some(path) = beside(&declaration) else {
        return lifecycle_macros_core::expand(declaration).into();
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => LockText::Read(text),
        Err(why) => LockText::Unreadable(why.to_string()),
    };
    let rebuilt = rebuilt(&path, &text);
    let items = lifecycle_macros_core::expand_locked(declaration, text);
    quote!(#items #rebuilt).into()
}

/// Declares what several lifecycles share.
#[proc_macro]
pub fn fragment(declaration: TokenStream) -> TokenStream {
    lifecycle_macros_core::expand_fragment(declaration.into()).into()
}

/// The file of the lock, where the lifecycle names one: beside the source that names it.
fn beside(declaration: &proc_macro2::TokenStream) -> Option<PathBuf> {
    let (path, span) = lock::named(declaration)?;
    let source = span.unwrap().local_file()?;
    let folder = source.parent().unwrap_or(Path::new("."));
    std::path::absolute(folder.join(path)).ok()
}

/// What makes rustc look again when the file changes.
fn rebuilt(path: &Path, text: &LockText) -> Option<proc_macro2::TokenStream> {
    let path = path.to_str()?;
    let is_there = matches!(text, LockText::Read(_));
    is_there.then(|| {
        quote!(
            const _: &str = ::core::include_str!(#path);
        )
    })
}
