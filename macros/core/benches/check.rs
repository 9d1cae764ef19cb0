//! How long the macro takes to check a lifecycle: parse, resolve, explore all worlds, all rules. Tokens are given, as rustc gives them.
//! The budget is 30 ms for 25 states and 200 worlds, and 300 ms for 10,000 worlds.

use std::path::Path;

use divan::Bencher;
use lifecycle_macros_core::{check, space::summary::Summary};
use proc_macro2::{TokenStream, TokenTree};

fn main() {
    divan::main();
}

#[divan::bench(args = ["listener", "bucket", "rollout", "skupper-listener", "skupper"])]
fn reference(bencher: Bencher<'_, '_>, name: &str) {
    measure(bencher, &read(name));
}

/// The whole macro: everything above, the samples of the assertions, and the tokens that are emitted.
#[divan::bench(args = ["listener", "skupper"])]
fn expanded(bencher: Bencher<'_, '_>, name: &str) {
    let tokens = body(&read(name));
    bencher.bench_local(|| lifecycle_macros_core::expand(tokens.clone()));
}

/// Benchmarks a lifecycle that is still being written: it has findings, and their witnesses take
/// time too.
#[divan::bench(args = ["transitions", "promises", "states"])]
fn with_findings(bencher: Bencher<'_, '_>, emptied: &str) {
    let text = read("skupper");
    let text = match emptied {
        "states" => text.replace(" wakes ", " overdue 1min; // "),
        section => without(&text, section),
    };
    let tokens = body(&text);
    assert!(!check(tokens.clone()).is_accepted());
    bencher.bench_local(|| check(tokens.clone()));
}

#[divan::bench]
fn of_25_states_and_201_worlds(bencher: Bencher<'_, '_>) {
    let text = line_of_stages(20, 28);
    assert_eq!(worlds(&text), (25, 201));
    measure(bencher, &text);
}

#[divan::bench]
fn of_24577_worlds_and_a_call_that_may_change_everything(bencher: Bencher<'_, '_>) {
    let text = wide_call(14);
    assert_eq!(worlds(&text), (3, 24577));
    measure(bencher, &text);
}

/// Benchmarks a chain of stages that uses teardowns, minted values, `retain`, clocks and counts.
#[divan::bench(args = [1, 12])]
fn of_this_edition(bencher: Bencher<'_, '_>, loads: usize) {
    let text = edition(20, loads);
    let (states, worlds) = worlds(&text);
    eprintln!("{states} states, {worlds} worlds");
    measure(bencher, &text);
}

/// Benchmarks regions of two owned objects each, of which every third waits for the one before.
#[divan::bench(args = [1, 2, 6, 12])]
fn of_regions(bencher: Bencher<'_, '_>, regions: usize) {
    let each: Vec<String> = (0..regions).map(region).collect();
    let text = format!(
        "lifecycle! {{
            resource Wide;
            facts {{ paused: bool from self; }}
            states {{ Paused when paused => Suspended wakes self; }}
            status {{ ready from Is0; }}
            {}
        }}",
        each.concat()
    );
    measure(bencher, &text);
}

fn region(n: usize) -> String {
    let before = n.saturating_sub(1);
    let asks = n % 3 == 2;
    let held = match asks {
        true => format!(
            "Held{n} when a{n} == Absent && r{before} != Up{before} => Pending wakes r{before};"
        ),
        false => String::new(),
    };
    let when = match asks {
        true => format!("when a{n} == Stale || r{before} == Up{before}"),
        false => String::new(),
    };
    format!(
        "region r{n} {{
            observe {{ a{n}: owned A{n} by name meta.name; b{n}: owned B{n} by name meta.name if spec.b{n}; }}
            facts {{ t{n}: bool from a{n} given a{n} == Current else false; }}
            states {{
                Taken{n} when any(a{n}, b{n}) == Foreign => Error wakes a{n}, b{n}, self;
                Rejected{n} when refused(apply_a{n}) || refused(apply_b{n}) => Error wakes self;
                Going{n} when any(a{n}, b{n}) == Terminating => Pending;
                {held}
                Making{n} when any(a{n}, b{n}) in {{ Absent, Stale }} => Pending;
                Starting{n} when !t{n} => Pending;
                goal Up{n} when t{n} && b{n} == Current => Ready;
            }}
            effects {{ apply a{n} {when}; apply b{n}; }}
            promises {{ starts{n}: a{n} == Current && !t{n} sets {{ t{n} = true }}; }}
            status {{
                condition Is{n} {{
                    False \"NameTaken\" when any(a{n}, b{n}) == Foreign;
                    False \"Refused\" when refused(apply_a{n}) || refused(apply_b{n});
                    True when t{n} && b{n} == Current;
                    Unknown \"Working\" otherwise;
                }}
            }}
        }}"
    )
}

fn edition(stages: usize, loads: usize) -> String {
    let values: Vec<String> = (0..stages).map(|stage| format!("S{stage}")).collect();
    let (mut states, mut promises) = (String::new(), String::new());
    for stage in 0..stages - 1 {
        states += &format!("Stage{stage} when stage == S{stage} => Pending;");
        promises += &format!(
            "p{stage}: stage == S{stage} && secret == Current sets {{ stage = S{} }};",
            stage + 1
        );
    }
    let of_loads: Vec<String> = (0..=loads).map(|load| format!("L{load}")).collect();
    let last = stages - 1;
    format!(
        "lifecycle! {{
            resource Line;
            allow LC132 secret \"none of the same name comes again\";
            observe {{
                now: clock;
                pods: [Pod] by namespace;
                secret: owned Secret by name meta.name retain when keeps;
            }}
            facts {{
                keeps: bool from self;
                load: {{ {} }} from self;
                due: bool from secret, now;
                up: count {{ Empty, None, Some, All }} of pods;
                stage: {{ {} }} from secret given secret == Current;
                mint password: Password in secret from now until due;
            }}
            states {{
                Taken when secret == Foreign => Error wakes secret, self;
                Leaving when secret == Terminating => Pending;
                Making when secret != Current => Pending;
                Idle when up in {{ Empty, None }} => Error wakes pods, self, now;
                {states}
                goal Ready when stage == S{last} || load == L0 => Ready;
            }}
            effects {{ apply secret from password; unmake: delete secret; }}
            promises {{ {promises} }}
            teardown {{ unmake until secret in {{ Absent, Foreign }} || keeps; }}
        }}",
        of_loads.join(", "),
        values.join(", "),
    )
}

/// Returns a lifecycle with a chain of stages that promises advance, starting from an owned object.
/// From `waiting` on, all stages are ready.
fn line_of_stages(waiting: usize, stages: usize) -> String {
    let values: Vec<String> = (0..stages).map(|stage| format!("S{stage}")).collect();
    let mut states = String::new();
    let mut promises = String::new();
    let mut transitions = String::new();
    for stage in 0..waiting {
        let next = if stage + 1 == waiting {
            "Ready".to_owned()
        } else {
            format!("Stage{}", stage + 1)
        };
        states += &format!("Stage{stage} when stage == S{stage} => Pending;");
        promises += &format!(
            "p{stage}: stage == S{stage} && config && service == Current sets {{ stage = S{} }};",
            stage + 1
        );
        transitions += &format!("Stage{stage} -> {next};");
    }
    let targets: Vec<String> = (0..waiting).map(|stage| format!("Stage{stage}")).collect();
    format!(
        "lifecycle! {{
            resource Line;
            observe {{ config: ConfigMap by name spec.config; service: owned Service by name meta.name; }}
            facts {{ stage: {{ {values} }} from config given config; }}
            states {{
                NoConfig when !config => Error wakes config;
                Conflict when service == Foreign => Error wakes service;
                Draining when service == Terminating => Pending;
                Applying when service in {{ Absent, Stale }} => Pending;
                {states}
                goal Ready when stage in {{ {ready} }} => Ready;
            }}
            effects {{ apply service from config; }}
            promises {{ {promises} }}
            transitions {{ Draining -> Applying; Applying -> {targets} | Ready; {transitions} }}
        }}",
        values = values.join(", "),
        ready = values[waiting..].join(", "),
        targets = targets.join(" | "),
    )
}

/// One call that makes the first of its facts true and may change all the others.
fn wide_call(facts: usize) -> String {
    let declared: Vec<String> = (0..facts)
        .map(|fact| format!("f{fact}: bool from answer given answer;"))
        .collect();
    format!(
        "lifecycle! {{
            resource Wide;
            observe {{ answer: poll Answer by meta.name every 30s; }}
            facts {{ {} }}
            states {{
                Unseen when !answer => Pending;
                Working when !f0 => Pending;
                goal Ready when f0 => Ready;
            }}
            effects {{ put: call answer when !f0 sets {{ f0 = true }} key meta.uid; }}
            transitions {{ Unseen -> Working | Ready; Working -> Ready; }}
        }}",
        declared.join(" ")
    )
}

/// How many states and worlds a lifecycle has.
fn worlds(text: &str) -> (usize, usize) {
    let checked = check(body(text));
    let model = checked.model.expect("it resolves");
    let summary = Summary::explore(&model).expect("it is small enough");
    (model.states.len(), summary.worlds)
}

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/lifecycles/{name}.txt"));
    std::fs::read_to_string(path).expect("the lifecycle can be read")
}

/// A lifecycle with one section emptied.
fn without(text: &str, section: &str) -> String {
    let begin = text
        .find(&format!("    {section} {{"))
        .expect("it has the section");
    let end = begin + text[begin..].find("\n    }").expect("the section ends");
    let keep = if section == "transitions" {
        "transitions {"
    } else {
        "promises {"
    };
    format!("{}    {keep}{}", &text[..begin], &text[end..])
}

fn measure(bencher: Bencher<'_, '_>, text: &str) {
    let tokens = body(text);
    let checked = check(tokens.clone());
    assert!(checked.is_accepted(), "{:?}", checked.diagnostics);
    bencher.bench_local(|| check(tokens.clone()));
}

fn body(text: &str) -> TokenStream {
    let tokens: TokenStream = text.parse().expect("it consists of Rust tokens");
    let body = tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) => Some(group.stream()),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    });
    body.expect("it has a body in braces")
}
