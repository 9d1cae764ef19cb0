//! Names under which a status is written. They are serde names, which no declaration sees, so the
//! Rust type itself is queried. Knows types and names. Other modules decide the content of the
//! fields.

use std::cell::Cell;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use thiserror::Error;

use crate::machine::ir::Field;

/// The names of fields as serde spells them.
type Names = &'static [&'static str];

/// A declared field that the status of its type does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "status field `{field}` is not in the type of the status, which has {}: declare it by one of these names, or add it to the type",
    listed(known)
)]
pub struct UnknownField {
    /// As it is declared, camelCase.
    pub field: &'static str,
    /// Fields that the type has.
    pub known: Names,
}

fn listed(known: &[&str]) -> String {
    let quoted: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Returns the field names of `K`'s status. Returns `None` if the type has no status, or does not
/// name its fields (a flattened or a free one).
pub(super) fn fields_of<K: DeserializeOwned>() -> Option<Names> {
    let found = Cell::new(None);
    // A query cannot be deserialized. Only the type's requests to the deserializer count.
    let _ = K::deserialize(FieldProbe {
        of: Part::Object,
        found: &found,
    });
    found.get()
}

/// The name of each declared field as its type spells it: camelCase, or else the one that differs in case and underscores alone.
///
/// # Errors
/// If the type has no such field: an API server would drop it, and the report would be written again and again.
pub(super) fn names(
    declared: &[Field],
    known: Option<Names>,
) -> Result<Vec<&'static str>, UnknownField> {
    let one = |field: &Field| {
        let Some(known) = known else {
            return Ok(field.name);
        };
        let exact = known.iter().find(|name| **name == field.name);
        let alike = || known.iter().find(|name| bare(name) == bare(field.name));
        let found = exact.or_else(alike).copied();
        found.ok_or(UnknownField {
            field: field.name,
            known,
        })
    };
    declared.iter().map(one).collect()
}

fn bare(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// Part of the object that is queried for its fields.
#[derive(Clone, Copy)]
enum Part {
    Object,
    Status,
}

/// Deserializer that acts as a query in place of a document. A type that is decoded from it reveals
/// the names of its fields.
struct FieldProbe<'a> {
    of: Part,
    found: &'a Cell<Option<Names>>,
}

/// Nothing is ever decoded.
#[derive(Debug)]
struct Unanswered;

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no document")
    }
}

impl std::error::Error for Unanswered {}

impl de::Error for Unanswered {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl<'de> Deserializer<'de> for FieldProbe<'_> {
    type Error = Unanswered;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unanswered> {
        Err(Unanswered)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: Names,
        visitor: V,
    ) -> Result<V::Value, Unanswered> {
        match self.of {
            Part::Object => visitor.visit_map(OnlyStatus { found: self.found }),
            Part::Status => {
                self.found.set(Some(fields));
                Err(Unanswered)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unanswered> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unanswered> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

/// Deserializer of an object with only a status.
struct OnlyStatus<'a> {
    found: &'a Cell<Option<Names>>,
}

impl<'de> MapAccess<'de> for OnlyStatus<'_> {
    type Error = Unanswered;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unanswered> {
        seed.deserialize(StrDeserializer::new("status")).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Unanswered> {
        seed.deserialize(FieldProbe {
            of: Part::Status,
            found: self.found,
        })
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Service};
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::lifecycle::Kind;
    use crate::machine::ir::FieldOf;

    #[derive(CustomResource, Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "tests",
        version = "v1",
        kind = "Plain",
        status = "PlainStatus"
    )]
    struct PlainSpec {}

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    struct PlainStatus {
        schema_version: Option<String>,
        #[serde(rename = "ready-since")]
        since: Option<String>,
    }

    #[derive(CustomResource, Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[kube(
        group = "tests",
        version = "v1",
        kind = "Usual",
        status = "UsualStatus"
    )]
    struct UsualSpec {}

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[serde(rename_all = "camelCase")]
    struct UsualStatus {
        schema_version: Option<String>,
    }

    #[derive(CustomResource, Clone, Debug, Deserialize, JsonSchema, Serialize)]
    #[kube(group = "tests", version = "v1", kind = "Free", status = "FreeStatus")]
    struct FreeSpec {}

    #[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
    struct FreeStatus {
        #[serde(flatten)]
        all: std::collections::BTreeMap<String, String>,
    }

    const fn field(name: &'static str) -> Field {
        let what = FieldOf::Phase;
        Field { name, what }
    }

    #[test]
    fn a_type_tells_the_fields_of_its_status() {
        assert_eq!(
            fields_of::<Plain>(),
            Some(&["schema_version", "ready-since"][..])
        );
        assert_eq!(fields_of::<Usual>(), Some(&["schemaVersion"][..]));
        assert_eq!(
            fields_of::<Service>(),
            Some(&["conditions", "loadBalancer"][..])
        );
        assert_eq!(fields_of::<Free>(), None);
        assert_eq!(fields_of::<ConfigMap>(), None);
    }

    #[test]
    fn a_field_is_written_as_its_type_spells_it() {
        let declared = &[field("schemaVersion")];
        let names = |kind: Kind| kind.status_names(declared);
        assert_eq!(names(Kind::for_type::<Plain>()), Ok(vec!["schema_version"]));
        assert_eq!(names(Kind::for_type::<Usual>()), Ok(vec!["schemaVersion"]));
        assert_eq!(names(Kind::for_type::<Free>()), Ok(vec!["schemaVersion"]));
        assert_eq!(
            names(Kind::for_type::<ConfigMap>()),
            Ok(vec!["schemaVersion"])
        );
    }

    #[test]
    fn a_field_that_its_type_does_not_have_is_told_with_those_that_it_has() {
        let wrong = Kind::for_type::<Plain>().status_names(&[field("since")]);
        assert_eq!(
            wrong.map_err(|error| error.to_string()),
            Err("status field `since` is not in the type of the status, which has `schema_version`, `ready-since`: declare it by one of these names, or add it to the type".to_owned())
        );
    }
}
