//! The table "By symptom" of `docs/checks.md`: what an author sees or wants, and the codes that are
//! about it.

/// A symptom, as Markdown, and the codes of its checks.
pub(crate) const SYMPTOMS: [(&str, &[&str]); 20] = [
    (
        "The object stays in one state for ever, and nothing happens.",
        &["LC016", "LC021", "LC065", "LC101"],
    ),
    (
        "The object never settles: effects or calls run again and again.",
        &["LC022", "LC023", "LC024", "LC025", "LC085", "LC168"],
    ),
    (
        "Users read that the object is done, and then something still changes.",
        &["LC025", "LC051", "LC163"],
    ),
    (
        "The deletion hangs; the finalizer is never removed.",
        &["LC040", "LC041", "LC141", "LC143", "LC145"],
    ),
    (
        "Something is left behind after the deletion, or after a crash.",
        &[
            "LC047", "LC048", "LC049", "LC084", "LC144", "LC160", "LC161",
        ],
    ),
    (
        "A wait has no end, or is reported as overdue too early.",
        &["LC088", "LC104", "LC158"],
    ),
    (
        "`wakes` names the wrong thing, or too little.",
        &["LC065", "LC101", "LC102", "LC175"],
    ),
    (
        "The operator decides although it does not know: an API is silent, a value is not read.",
        &["LC014", "LC086", "LC144"],
    ),
    (
        "Some combination of facts belongs to no state, or a state is never entered.",
        &["LC011", "LC012"],
    ),
    (
        "A condition or a reason is missing in the status.",
        &["LC052", "LC053", "LC054"],
    ),
    (
        "The API server rejects the status or an event, or `kubectl get` shows an empty column.",
        &["LC164", "LC165"],
    ),
    (
        "`helm --wait` or `kubectl wait` must see the right end.",
        &["LC122", "LC163"],
    ),
    (
        "An object of another owner is taken, or an object that should stay is deleted.",
        &["LC132", "LC133", "LC134", "LC135", "LC136"],
    ),
    (
        "A user edits a name or a key, and the old object stays.",
        &["LC160", "LC161", "LC162"],
    ),
    (
        "A password or certificate is lost, never renewed, or renewed again and again.",
        &["LC147", "LC150", "LC151", "LC154"],
    ),
    (
        "A Job or a backup must be made once, and not again after its deletion.",
        &["LC155", "LC156", "LC157", "LC158"],
    ),
    (
        "An object is to be left alone: it is paused, or another controller manages it.",
        &["LC055", "LC120", "LC121"],
    ),
    (
        "The check says that there are too many worlds or values.",
        &["LC002", "LC006", "LC091"],
    ),
    (
        "A new version of the declaration runs where an older one ran.",
        &["LC090", "LC171", "LC172", "LC173"],
    ),
    (
        "rustc reports E0046, E0382 or E0609 in your methods.",
        &["LC063", "LC071", "LC072"],
    ),
];
