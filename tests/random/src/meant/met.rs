//! Items of an expansion that an author's code meets: types and the trait, without documentation.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Item, TraitItem, Variant};

pub(super) fn met(items: TokenStream) -> BTreeSet<String> {
    let file: syn::File = syn::parse2(items).expect("the macro prints items");
    let mut items = file.items;
    items.retain_mut(undocumented);
    let texts = items.iter().map(|item| item.to_token_stream().to_string());
    texts.collect()
}

/// Returns true if authors meet it. Removes its documentation.
fn undocumented(item: &mut Item) -> bool {
    let strip = |attributes: &mut Vec<Attribute>| {
        attributes.retain(|attribute| !attribute.path().is_ident("doc"));
    };
    if let Item::Trait(logic) = item {
        strip(&mut logic.attrs);
        for item in &mut logic.items {
            if let TraitItem::Fn(method) = item {
                strip(&mut method.attrs);
            }
        }
        // No code depends on their order.
        logic
            .items
            .sort_by_key(|item| item.to_token_stream().to_string());
    } else if let Item::Struct(one) = item {
        strip(&mut one.attrs);
        let fields = one.fields.iter_mut();
        fields.for_each(|field| strip(&mut field.attrs));
    } else if let Item::Enum(one) = item {
        strip(&mut one.attrs);
        let mut variants: Vec<Variant> = std::mem::take(&mut one.variants).into_iter().collect();
        variants
            .iter_mut()
            .for_each(|variant| strip(&mut variant.attrs));
        variants.sort_by_key(|variant| variant.ident.to_string());
        one.variants = variants.into_iter().collect();
    } else {
        return false;
    }
    true
}
