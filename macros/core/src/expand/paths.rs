//! Generated code for a path of the declaration: a text of the object, of the request or of an
//! input.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::subject;
use crate::hygiene::private;
use crate::model::{Kind, Lifecycle, Path};

/// Paths by their place, each once, in order of their first use.
pub(super) struct Paths<'a>(Vec<(String, &'a Path)>);

impl<'a> Paths<'a> {
    pub(super) fn new(paths: impl Iterator<Item = &'a Path>) -> Self {
        let mut each: Vec<(String, &Path)> = Vec::new();
        for path in paths {
            let text = path.to_string();
            if each.iter().all(|(other, _)| *other != text) {
                each.push((text, path));
            }
        }
        Self(each)
    }

    /// The place of a path that is one of them.
    pub(super) fn index_of(&self, path: &Path) -> usize {
        let text = path.to_string();
        let at = self.0.iter().position(|(other, _)| *other == text);
        at.expect("every path was collected")
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order of their places.
    pub(super) fn each(&self) -> impl Iterator<Item = &'a Path> {
        self.0.iter().map(|(_, path)| *path)
    }
}

/// The text at a path of the object, of the request or of an input.
pub(super) fn text(model: &Lifecycle, path: &Path) -> TokenStream {
    let (private, subject) = (private(), subject::of_board(model));
    if let (Kind::Volume, [root, field]) = (model.kind, path.parts.as_slice())
        && root == "request"
    {
        let field = field.to_string();
        return quote!(#private::Text::text(&#subject.text(#field)));
    }
    let Some((first, rest)) = path.parts.split_first() else {
        return quote!(::std::option::Option::None);
    };
    match model.inputs.iter().position(|i| i.name == *first) {
        Some(input) => {
            let (ty, rest) = (
                &model.inputs[input].ty,
                object_path(&Path {
                    parts: rest.to_vec(),
                }),
            );
            quote!(observation.one::<#ty>(#input).and_then(|object| #private::Text::text(&object #rest)))
        }
        None => quote!(#private::Text::text(&#subject .#first #(.#rest)*)),
    }
}

/// `.spec.host`; `meta` is spelled `metadata` in objects.
pub(super) fn object_path(path: &Path) -> TokenStream {
    let parts = path.parts.iter().enumerate();
    let parts = parts.map(|(n, part)| object_part(n, part));
    quote!(#(.#parts)*)
}

/// One part of it, by its position.
pub(super) fn object_part(n: usize, part: &Ident) -> Ident {
    match n == 0 && part == "meta" {
        true => Ident::new("metadata", part.span()),
        false => part.clone(),
    }
}
