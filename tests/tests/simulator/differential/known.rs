//! Differences that are explained, each with its reason. Any other difference is a bug.

use serde_json::Value;

use super::normal::Difference;

type Fits = fn(&Difference) -> bool;

/// Reasons, and which differences they explain.
const REASONS: [(&str, Fits); 5] = [
    (
        "of a Service of type ExternalName the real server shows no internalTrafficPolicy but keeps the one that it stored, \
         and whose it is later follows from that",
        |difference| {
            difference.is_about("Service") && difference.path.ends_with("nternalTrafficPolicy")
        },
    ),
    (
        "node ports are given before a Service is validated: of two ports that clash anyway the real server also says that \
         their node ports do, or only that and as an error of its own",
        |difference| {
            let message = text(&difference.real, "/message");
            let clash = message.starts_with("duplicate nodePort: ")
                || message.contains(".nodePort: Duplicate value: ");
            difference.is_about("Service") && clash && difference.simulated["code"] == 422
        },
    ),
    (
        "an empty list of finalizers that was applied to a custom resource stays in the store of the real server, unseen, \
         until the next write, which therefore changes something",
        |difference| {
            let is_custom = difference.is_about("Widget") || difference.is_about("Gadget");
            is_custom
                && difference.path.ends_with("/resourceVersion")
                && difference.sequence.contains("\"finalizers\":[]")
        },
    ),
    (
        "a PUT that names no version and changes nothing is written by the real server if a second has passed since, for then \
         the time of its entry differs",
        |difference| {
            let is_put = difference.place.starts_with("put ")
                && difference.place.ends_with("version Nothing");
            is_put && difference.path == "/metadata/resourceVersion"
        },
    ),
    (
        "a deletion that takes the garbage collector's finalizer away is two writes in the real server, and the version \
         that it names is not met by the second",
        |difference| text(&difference.real, "/message").contains("StorageError: invalid object"),
    ),
];

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Why a difference is none to be mended, if so.
pub(crate) fn reason(difference: &Difference) -> Option<&'static str> {
    let found = REASONS.iter().find(|(_, fits)| fits(difference));
    found.map(|(reason, _)| *reason)
}
