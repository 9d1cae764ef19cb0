//! The table of `docs/gallery.md`: the size of real resources in the language. `BLESS=1 cargo test
//! --workspace --test language gallery` writes it.

use std::fmt::Write as _;
use std::path::Path;

use lifecycle_macros_core::check;
use lifecycle_macros_core::errors::Severity;
use lifecycle_macros_core::model::{Kind, Lifecycle, Lookup, Mode, Phase, Verb};
use lifecycle_macros_core::space::summary::Summary;

use super::pages::between;
use super::shipped::body_of;

const SAID: &str = "–";

/// The id of the resource, its description, the place of its lifecycle, and its parts that are not
/// covered.
type Row = (&'static str, &'static str, &'static str, &'static str);

const TEXTS: &str = "macros/core/tests/lifecycles";

const ROWS: [Row; 29] = [
    (
        "01",
        "a certificate that an issuer signs",
        "certificate.txt",
        SAID,
    ),
    ("02", "a name at a DNS provider", "dns.txt", SAID),
    (
        "03",
        "a bucket of a provider",
        "bucket.txt",
        "what the next line says",
    ),
    (
        "03",
        "a bucket as its policies have it: looked at, taken over, left behind, paused",
        "managed-bucket.txt",
        "that a bucket stays is told as given up (`Abandoned`): `retain` is for objects of the cluster",
    ),
    (
        "04",
        "a Postgres cluster",
        "postgres.txt",
        "instances that are exchanged one after the other: the checker knows no number that only falls",
    ),
    (
        "05",
        "a canary that gets traffic step by step",
        "canary.txt",
        SAID,
    ),
    (
        "06",
        "a machine that is taken down in order",
        "machine.txt",
        "infrastructure of any kind: an input has one Rust type",
    ),
    (
        "07",
        "a topic of a broker",
        "tests/src/lifecycles/topic.rs",
        SAID,
    ),
    (
        "08",
        "a schedule that runs jobs",
        "schedule.txt",
        "see [time](time.md)",
    ),
    ("09", "a Git repository", "git.txt", SAID),
    (
        "10",
        "a workload whose versions share its traffic",
        "workload.txt",
        "a member of a set that is made once and never compared: its builder returns it as it was found",
    ),
    ("11", "a team and its namespaces", "tenant.txt", SAID),
    (
        "12",
        "a route of the Gateway API",
        "httproute.txt",
        "`status.parents`: a list with an entry of each controller ([counts](counts.md))",
    ),
    (
        "13",
        "an issuer without a namespace",
        "issuer.txt",
        "closing the account while its Secret is being deleted: no call is built from what is `Terminating`",
    ),
    ("14", "a count of what a namespace has", "quota.txt", SAID),
    (
        "15",
        "a disk: its controller",
        "tests/src/volumes/provisioning.rs",
        "attaching, growing, snapshots: calls that the language does not have; and `held`, for making is told a name and deleting an id",
    ),
    (
        "16",
        "a disk: its node",
        "tests/src/volumes/mount.rs",
        "growing; how it is published at another target: `differs` is one predicate for all calls. Of a directory, so without a filesystem to make and without raw blocks",
    ),
    (
        "16",
        "a directory on a node",
        "scratch.txt",
        "the same; its calls are tried by csi-sanity",
    ),
    (
        "17",
        "a password that is made and copied",
        "login.txt",
        SAID,
    ),
    (
        "18",
        "replicas by load",
        "autoscaler.txt",
        "any kind that has a `scale`: an input has one Rust type",
    ),
    ("ours", "a login whose Secret may stay", "account.txt", SAID),
    (
        "ours",
        "a database with a last backup",
        "database.txt",
        SAID,
    ),
    (
        "ours",
        "a certificate that is made here and renewed",
        "leaf.txt",
        SAID,
    ),
    ("ours", "a preview with opening hours", "preview.txt", SAID),
    (
        "ours",
        "an application whose database is migrated",
        "rollout.txt",
        SAID,
    ),
    (
        "ours",
        "a program whose database is migrated once a version, by a Job that cleans itself up",
        "app.txt",
        SAID,
    ),
    (
        "ours",
        "a web server and everything around it, judged as one",
        "front.txt",
        SAID,
    ),
    ("ours", "a listener of a network", "skupper.txt", SAID),
    ("ours", "a Listener of a site", "skupper-listener.txt", SAID),
];

fn text_of(file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = match file.contains('/') {
        true => root.join(file),
        false => root.join(TEXTS).join(file),
    };
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let begin = text.find("lifecycle! {").expect("there is a lifecycle");
    let end = text[begin..].find("\n}").expect("it ends") + begin + 2;
    text[begin..end].to_owned()
}

/// The constructs beyond watches, applies and facts, as far as it has them.
fn constructs(text: &str, of: &Lifecycle) -> Vec<&'static str> {
    let mode = |mode| of.inputs.iter().any(|input| input.mode == mode);
    let verb = |verb| of.effects.iter().any(|effect| effect.verb == verb);
    let phase = |phase| of.states.iter().any(|state| state.phase == Some(phase));
    let keys = |input: &Lookup| matches!(input, Lookup::Keys(keys) if keys.len() > 1);
    let lookup = |which: fn(&Lookup) -> bool| of.inputs.iter().any(|one| which(&one.lookup));
    let is_set =
        |input: &lifecycle_macros_core::model::Input| input.many && input.mode == Mode::Owned;
    let all = [
        ("clock", mode(Mode::Clock)),
        ("poll", mode(Mode::Poll)),
        (
            "several keys",
            of.inputs.iter().any(|input| keys(&input.lookup)),
        ),
        (
            "provider",
            of.inputs.iter().any(|input| input.provider.is_some()),
        ),
        ("probe", mode(Mode::Probe)),
        ("record", mode(Mode::Record)),
        ("part", mode(Mode::Part)),
        ("shared", mode(Mode::Shared)),
        ("set", of.inputs.iter().any(is_set)),
        ("group", mode(Mode::Group)),
        (
            "refs",
            lookup(|lookup| matches!(lookup, Lookup::Refs { .. })),
        ),
        (
            "retain",
            of.inputs.iter().any(|input| input.retain.is_some()),
        ),
        ("adopt", verb(Verb::Adopt)),
        ("once", verb(Verb::Create)),
        ("call", verb(Verb::Call)),
        ("held", of.vars.iter().any(|var| var.held.is_some())),
        ("mint", of.values.iter().any(|value| value.mint.is_some())),
        ("count", text.contains(": count {")),
        ("let", text.contains("let ")),
        ("names for predicates", !of.names.is_empty()),
        ("teardown", !of.steps.is_empty()),
        ("abandoned", !of.abandoned.is_empty()),
        ("suspended", phase(Phase::Suspended)),
        ("ignored", phase(Phase::Ignored)),
        ("properties", !of.properties.is_empty()),
        ("kstatus", of.kstatus),
    ];
    let has = all.into_iter().filter(|(_, has)| *has);
    has.map(|(name, _)| name).collect()
}

fn table() -> String {
    let mut table = "| | resource | lifecycle | lines | states | worlds | transitions | says it with | not said |\n".to_owned();
    table += "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for (number, what, file, left) in ROWS {
        let text = text_of(file);
        let checked = check(body_of(&text));
        let errors = checked.diagnostics.iter();
        let said: Vec<_> = errors
            .map(|d| (d.severity == Severity::Error, &d.message))
            .collect();
        assert!(said.is_empty(), "{file}: {said:?}");
        let model = checked.model.expect("it resolves");
        let summary = Summary::explore(&model).expect("it has not too many worlds");
        let edges = match model.kind {
            Kind::Resource => summary.edges.len().to_string(),
            Kind::Volume => SAID.to_owned(),
        };
        let (lines, states) = (text.lines().count(), model.states.len());
        let (worlds, with) = (summary.worlds, constructs(&text, &model).join(", "));
        let stem = file.rsplit('/').next().unwrap_or(file);
        let name = stem.split('.').next().unwrap_or(stem);
        writeln!(
            table,
            "| {number} | {what} | `{name}` | {lines} | {states} | {worlds} | {edges} | {with} | {left} |"
        )
        .expect("a text takes everything");
    }
    table
}

#[test]
fn the_table_of_the_gallery_is_current() {
    between("gallery.md", "the gallery", &table());
}
