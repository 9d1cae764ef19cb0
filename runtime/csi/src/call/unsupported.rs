//! Declarations of a volume lifecycle that calls do not support, with their alternatives.

use lifecycle_runtime::lifecycle::Kind;
use lifecycle_runtime::machine::ir::{Input, Lookup, Mode};

/// Why calls cannot read an input, if they cannot.
pub(super) fn unsupported(input: &Input, kind: Option<&Kind>, has_cluster: bool) -> Option<String> {
    let name = input.name;
    match (input.mode, kind) {
        (Mode::Probe | Mode::Poll, _) => None,
        (Mode::Clock, _) => Some(format!(
            "`{name}` is a clock, and a call happens when it is made"
        )),
        (Mode::Group, _) => Some(format!(
            "`{}` is a group, and a volume has no object that owns one: declare its members by themselves",
            input.name
        )),
        (Mode::Record | Mode::Noted, _) => Some(format!(
            "`{name}` is a record, but a volume has no object to keep it in: poll or probe it"
        )),
        (Mode::Watched | Mode::Owned | Mode::Shared | Mode::Part, None) => {
            Some(format!("`{name}` has no kind"))
        }
        (_, Some(_)) if !has_cluster => Some(format!(
            "`{name}` is in a cluster, and this driver was started without one"
        )),
        (_, Some(_)) if input.many => {
            Some(format!("`{name}` is a set: a call fetches single objects"))
        }
        (Mode::Owned | Mode::Shared, Some(_)) if input.owner.is_none() => Some(format!(
            "`{name}` has no owner, because a volume is not an object: add `of` and an input"
        )),
        (_, Some(kind)) => match input.lookup {
            Lookup::Name(_) if kind.namespaced => Some(format!(
                "`{name}` is found by a name alone and lives in a namespace: find it by ref"
            )),
            Lookup::Name(_) | Lookup::Ref => None,
            Lookup::Names
            | Lookup::Refs
            | Lookup::Labels(_)
            | Lookup::Owner
            | Lookup::Namespace
            | Lookup::Equal
            | Lookup::Key => Some(format!(
                "`{name}` would have to be listed: find it by name or by ref"
            )),
        },
    }
}
