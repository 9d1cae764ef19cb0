//! External names of a Listener: which of them its class allows, and how they join other addresses.

use std::net::IpAddr;

use lifecycle_runtime::{Because, ObjectRef, This};
use lifecycle_specs_listener::listener::{ExternalNames, Listener, ListenerSpec};
use lifecycle_specs_listener::listener_class::ListenerClass;

use super::addresses::{Typed, hostname};

/// The answer to the fact `external_names`.
pub(super) fn verdict(this: This<'_, Listener>, class: &ListenerClass) -> Because<ExternalNames> {
    let names = this.spec.external_names.iter().flatten();
    let mut wrong = names.filter(|name| !is_allowed(name, class));
    let Some(first) = wrong.next() else {
        return Because::plain(ExternalNames::Allowed);
    };
    let more = match wrong.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let sentence = format!(
        "ListenerClass `{}` does not allow `{first}`{more} of `spec.externalNames`; leave it out, or change `spec.allowedExternalNameSuffixes`",
        class.metadata.name.as_deref().unwrap_or_default()
    );
    Because::new(ExternalNames::NotAllowed, sentence).with_object(ObjectRef::to(class))
}

/// Adds the names that the class allows, after all others. They lead nowhere as long as no other
/// address exists.
pub(crate) fn joined(
    addresses: Vec<Typed>,
    listener: &ListenerSpec,
    class: &ListenerClass,
) -> Vec<Typed> {
    let mut joined = addresses;
    if !joined.is_empty() {
        let names = listener.external_names.iter().flatten();
        let allowed = names.filter(|name| is_allowed(name, class));
        joined.extend(allowed.filter_map(|name| hostname(name)));
    }
    joined
}

/// Returns true if a suffix allows the name. A suffix allows itself and the names below it, and
/// only whole labels count.
fn is_allowed(name: &str, class: &ListenerClass) -> bool {
    let suffixes = class.spec.allowed_external_name_suffixes.iter().flatten();
    let holds = |suffix: &String| match name.strip_suffix(suffix.as_str()) {
        Some(before) => before.is_empty() || before.ends_with('.'),
        None => false,
    };
    // Under a definition of before, an object may be stored with anything.
    let is_name = hostname(name).is_some() && name.parse::<IpAddr>().is_err();
    is_name
        && suffixes
            .into_iter()
            .any(|suffix| !suffix.is_empty() && holds(suffix))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::listener::addresses::published;

    fn class(suffixes: Value) -> ListenerClass {
        let spec =
            json!({ "serviceType": "LoadBalancer", "allowedExternalNameSuffixes": suffixes });
        ListenerClass::new("c", serde_json::from_value(spec).unwrap())
    }

    fn listener(names: Value) -> Listener {
        let spec = json!({ "externalNames": names });
        Listener::new("web", serde_json::from_value(spec).unwrap())
    }

    fn found(names: Value, suffixes: Value) -> (ExternalNames, String) {
        let found = verdict(This::new(&listener(names)), &class(suffixes));
        (found.value, found.sentence)
    }

    #[test]
    fn b54_a_suffix_allows_itself_and_what_is_below_it() {
        for name in ["example.org", "web.example.org", "a.b.example.org"] {
            let found = found(json!([name]), json!(["example.net", "example.org"]));
            assert_eq!(found, (ExternalNames::Allowed, String::new()), "{name}");
        }
        for name in [
            "badexample.org",
            "example.org.evil.net",
            "org",
            "",
            ".example.org",
            "a..example.org",
            "../x.example.org",
        ] {
            let (value, _) = found(json!([name]), json!(["example.org"]));
            assert_eq!(value, ExternalNames::NotAllowed, "{name}");
        }
        let (address, _) = found(json!(["10.0.0.1"]), json!(["0.1", "10.0.0.1"]));
        assert_eq!(address, ExternalNames::NotAllowed);
    }

    #[test]
    fn a_class_that_says_nothing_allows_no_name_and_the_first_of_them_is_named() {
        let expected = "ListenerClass `c` does not allow `b.example.net` (and 1 more) of `spec.externalNames`; \
             leave it out, or change `spec.allowedExternalNameSuffixes`";
        let names = json!(["a.example.org", "b.example.net", "c.example.net"]);
        assert_eq!(
            found(names, json!(["example.org"])),
            (ExternalNames::NotAllowed, expected.to_owned())
        );
        for suffixes in [Value::Null, json!([]), json!([""])] {
            let (value, _) = found(json!(["a.example.org"]), suffixes);
            assert_eq!(value, ExternalNames::NotAllowed);
        }
        let (value, _) = found(Value::Null, Value::Null);
        assert_eq!(value, ExternalNames::Allowed);
    }

    #[test]
    fn allowed_names_stand_behind_other_addresses_and_never_alone() {
        let class = class(json!(["example.org"]));
        let names = json!([
            "b.example.org",
            "a.example.net",
            "a.example.org",
            "lb.example.org"
        ]);
        let listener = listener(names);
        let joined = |addresses: &[&str]| -> Vec<String> {
            let typed = addresses.iter().filter_map(|address| hostname(address));
            let all = joined(typed.collect(), &listener.spec, &class);
            let all = published(all, &std::collections::BTreeMap::new());
            all.into_iter().map(|one| one.address).collect()
        };
        assert_eq!(
            joined(&["lb.example.org"]),
            ["lb.example.org", "b.example.org", "a.example.org"]
        );
        assert_eq!(joined(&[]), [""; 0]);
    }
}
