//! Named formats of texts in rules: `format.named`, `format.dns1123Label` and the like, and
//! `validate` with the messages of the real server.

use std::sync::Arc;

use kube_cel::cel::extractors::This;
use kube_cel::cel::objects::{Opaque, OptionalValue};
use kube_cel::cel::{Context, ExecutionError, Value};

use crate::schema::formats;
use crate::server::names;

/// All formats, by the names of their functions.
const ALL: [&str; 13] = [
    "byte",
    "date",
    "datetime",
    "dns1035Label",
    "dns1035LabelPrefix",
    "dns1123Label",
    "dns1123LabelPrefix",
    "dns1123Subdomain",
    "dns1123SubdomainPrefix",
    "labelValue",
    "qualifiedName",
    "uri",
    "uuid",
];

/// A format as a value of the language.
#[derive(Debug, PartialEq, Eq)]
struct Format(&'static str);

impl Opaque for Format {
    fn runtime_type_name(&self) -> &'static str {
        "kubernetes.NamedFormat"
    }
}

/// Adds the functions of formats.
pub(super) fn register(context: &mut Context<'_>) {
    for name in ALL {
        let function =
            move || -> Result<Value, ExecutionError> { Ok(Value::Opaque(Arc::new(Format(name)))) };
        context.add_function(&format!("format.{name}"), function);
    }
    context.add_function("format.named", named);
    context.add_function("validate", validate);
}

fn optional(value: Option<Value>) -> Value {
    let value = value.map_or_else(OptionalValue::none, OptionalValue::of);
    Value::Opaque(Arc::new(value))
}

#[expect(
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "functions of the language may fail and own their arguments"
)]
fn named(name: Arc<String>) -> Result<Value, ExecutionError> {
    let known = ALL.iter().find(|known| **known == name.as_str());
    let format = known.map(|known| Value::Opaque(Arc::new(Format(known))));
    Ok(optional(format))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "functions of the language own their arguments"
)]
fn validate(This(format): This<Value>, text: Arc<String>) -> Result<Value, ExecutionError> {
    let Value::Opaque(format) = &format else {
        return Err(ExecutionError::NoSuchOverload);
    };
    let format = format.downcast_ref::<Format>();
    let Format(name) = format.ok_or(ExecutionError::NoSuchOverload)?;
    let errors = errors(name, &text).into_iter();
    let errors: Vec<Value> = errors.map(|error| Value::String(Arc::new(error))).collect();
    let found = (!errors.is_empty()).then(|| Value::List(Arc::new(errors)));
    Ok(optional(found))
}

/// Returns what is wrong with a text of a format.
fn errors(format: &str, text: &str) -> Vec<String> {
    if let Some(label) = format.strip_suffix("Prefix") {
        // A name that something is appended to may end with a dash.
        return match text.strip_suffix('-') {
            Some(stem) if !stem.is_empty() => errors(label, &format!("{stem}a")),
            Some(_) | None => errors(label, text),
        };
    }
    let message = match format {
        "dns1035Label" => return names::old_label(text),
        "dns1123Label" => return names::label(text),
        "dns1123Subdomain" => return names::subdomain(text),
        "labelValue" => return names::label_value(text),
        "qualifiedName" => return names::qualified(text),
        "byte" => "invalid base64".to_owned(),
        "date" => "invalid date".to_owned(),
        "datetime" => "invalid datetime".to_owned(),
        "uri" => format!("parse {text:?}: invalid URI for request"),
        _ => "does not match the UUID format".to_owned(),
    };
    match formats::fits(format, text) {
        Some(false) => vec![message],
        Some(true) | None => Vec::new(),
    }
}
