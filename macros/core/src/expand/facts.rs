//! The types of declared facts, and `Facts`: one world, typed.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::hygiene::{camel, ident, join, private};
use crate::model::{FieldOf, Input, Lifecycle, Mode, Origin, Var};

/// ```text
/// pub enum Validity { Fine, NoPorts, .. }
/// pub struct Facts { pub class: Named, pub validity: Validity, .. }
/// impl Facts { pub fn from_world(world: &World) -> Self { .. } }
/// ```
pub(crate) fn expand(model: &Lifecycle) -> TokenStream {
    let private = private();
    let enums = model.vars.iter().filter_map(|v| {
        let shared = shared_type(model, v);
        shared.or_else(|| declared_enum(model, v))
    });
    let names: Vec<_> = model.vars.iter().map(field_name).collect();
    let types: Vec<_> = model.vars.iter().map(|v| field_type(model, v)).collect();
    let docs = model.vars.iter().map(field_doc);
    let reads = model.vars.iter().enumerate().map(|(i, var)| {
        let ty = field_type(model, var);
        match is_bool(var) {
            true => quote!(world.get(#i) == 1),
            false => quote!(#ty::VALUES[world.get(#i) as usize]),
        }
    });
    quote! {
        #(#enums)*

        /// One world: the answer to every finite question, those that inputs bring included.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Facts { #(#[doc = #docs] pub #names: #types,)* }

        impl Facts {
            /// A world of the runtime, typed.
            pub fn from_world(world: &#private::World) -> Self {
                Self { #(#names: #reads,)* }
            }
        }
    }
}

/// The type of a fact of a fragment, under the name that it would have here.
fn shared_type(model: &Lifecycle, var: &Var) -> Option<TokenStream> {
    if !matches!(var.origin, Origin::Fact { boolean: false, .. }) {
        return None;
    }
    let fragment = model.home_of(&var.name)?;
    let part = &fragment.alone;
    let theirs = part.vars.iter().find(|other| other.name == var.name)?;
    let (used, theirs) = (&fragment.used, type_name(part, theirs));
    let ours = type_name(model, var);
    Some(quote!(pub use #used::#theirs as #ours;))
}

pub(super) fn declared_enum(model: &Lifecycle, var: &Var) -> Option<TokenStream> {
    if !matches!(var.origin, Origin::Fact { boolean: false, .. }) {
        return None;
    }
    let (name, values) = (type_name(model, var), values(var));
    let doc = if var.doc.is_empty() {
        format!("Values of the fact `{}`.", var.name)
    } else {
        var.doc.clone()
    };
    let docs = var.values.iter().map(|v| format!("`{} == {v}`.", var.name));
    Some(quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
        pub enum #name { #(#[doc = #docs] #values),* }

        impl #name {
            /// All values in the order of worlds.
            pub const VALUES: &'static [Self] = &[#(Self::#values),*];
        }
    })
}

/// `validity` has type `Validity`; where the resource or a type that is mentioned beside it has that name, `ValidityValue`.
pub(super) fn type_name(model: &Lifecycle, var: &Var) -> Ident {
    let name = camel(&var.name);
    let inputs = model.inputs.iter().map(|i| &i.ty);
    let values = model.values.iter().map(|v| &v.ty);
    let fields = model.fields.iter().filter_map(|field| match &field.what {
        FieldOf::Method { ty, .. } => Some(&**ty),
        FieldOf::Phase | FieldOf::Reason | FieldOf::Message => None,
    });
    let mut mentioned = inputs.chain(values).chain(fields);
    if name == model.name || mentioned.any(|ty| mentions(ty, &name)) {
        format_ident!("{name}Value", span = var.name.span())
    } else {
        name
    }
}

/// Returns true if a type is, or contains, a type of this name without a path. Such a name is in
/// scope at the place of the lifecycle.
fn mentions(ty: &syn::Type, name: &Ident) -> bool {
    use syn::Type::{Array, Group, Paren, Reference, Slice, Tuple};
    let within = |ty: &syn::Type| mentions(ty, name);
    if let syn::Type::Path(of) = ty {
        let alone = of.path.segments.len() == 1 && of.qself.is_none();
        let mut segments = of.path.segments.iter();
        return segments.any(|segment| {
            let is_it = alone && segment.ident == *name;
            is_it || arguments(segment).into_iter().any(within)
        });
    }
    if let Tuple(of) = ty {
        return of.elems.iter().any(within);
    }
    let inner = if let Array(of) = ty {
        &of.elem
    } else if let Slice(of) = ty {
        &of.elem
    } else if let Reference(of) = ty {
        &of.elem
    } else if let Paren(of) = ty {
        &of.elem
    } else if let Group(of) = ty {
        &of.elem
    } else {
        return false;
    };
    within(inner)
}

/// The types in angle brackets.
fn arguments(segment: &syn::PathSegment) -> Vec<&syn::Type> {
    let syn::PathArguments::AngleBracketed(of) = &segment.arguments else {
        return Vec::new();
    };
    let mut types = Vec::new();
    for one in &of.args {
        if let syn::GenericArgument::Type(ty) = one {
            types.push(ty);
        }
    }
    types
}

/// The values of a variable as identifiers.
pub(crate) fn values(var: &Var) -> Vec<Ident> {
    let spans = var.spans.iter().copied();
    let spans = spans.chain(std::iter::repeat(var.name.span()));
    let values = var.values.iter().zip(spans);
    values.map(|(value, span)| ident(value, span)).collect()
}

pub(crate) fn is_bool(var: &Var) -> bool {
    match var.origin {
        Origin::Fact { boolean, .. } => boolean,
        Origin::Refused(_) | Origin::Deleting | Origin::Claimed => true,
        Origin::Input(_) => false,
    }
}

/// The field of `Facts`.
pub(crate) fn field_name(var: &Var) -> Ident {
    match var.origin {
        Origin::Refused(_) => join("refused", &var.name),
        Origin::Input(_) | Origin::Fact { .. } | Origin::Deleting | Origin::Claimed => {
            var.name.clone()
        }
    }
}

/// The type of a variable.
pub(crate) fn field_type(model: &Lifecycle, var: &Var) -> TokenStream {
    let private = private();
    match &var.origin {
        Origin::Input(input) => {
            let name = builtin_type(&model.inputs[input.0], var);
            quote!(#private::#name)
        }
        Origin::Fact { boolean: false, .. } => {
            let name = type_name(model, var);
            quote!(#name)
        }
        Origin::Fact { .. } | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => {
            quote!(bool)
        }
    }
}

fn builtin_type(input: &Input, var: &Var) -> Ident {
    let name = match input.mode {
        Mode::Owned if input.noted.is_some() && input.many => "CreatedSet",
        Mode::Owned if input.noted.is_some() => "Created",
        Mode::Owned | Mode::Shared if input.many => "OwnedSet",
        Mode::Group => "OwnedSet",
        Mode::Owned if var.values.len() == 6 => "Adopted",
        Mode::Owned => "Owned",
        Mode::Shared => "Shared",
        Mode::Part | Mode::Record => "Part",
        Mode::Poll | Mode::Probe => "Polled",
        Mode::Watched if var.values.len() == 3 => "Named",
        Mode::Watched | Mode::Noted | Mode::Clock => "Watched",
    };
    format_ident!("{name}")
}

fn field_doc(var: &Var) -> String {
    match &var.origin {
        Origin::Input(_) => format!("Whether and how `{}` is there.", var.name),
        Origin::Fact { .. } if var.doc.is_empty() => format!("The fact `{}`.", var.name),
        Origin::Fact { .. } => var.doc.clone(),
        Origin::Refused(_) => format!(
            "The last answer to this very write of `{}` was a refusal.",
            var.name
        ),
        Origin::Deleting => "The object has a deletion timestamp.".to_owned(),
        Origin::Claimed => "Our finalizer is on the object.".to_owned(),
    }
}
