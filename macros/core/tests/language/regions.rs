//! Regions: their grammar, their findings, their code, and the comparison of the check of each
//! region by itself with the flat product of all.

use lifecycle_macros_core::errors::Severity;
use lifecycle_macros_core::model::frames::Frames;
use lifecycle_macros_core::model::{Lifecycle, RegionId, State};
use lifecycle_macros_core::space::components::loops;
use lifecycle_macros_core::space::graph::Graph;
use lifecycle_macros_core::space::permission::Permissions;
use lifecycle_macros_core::space::policy::Choice;
use lifecycle_macros_core::space::{Class, Space};
use lifecycle_macros_core::{Checked, LockText, check, check_locked, expand, find_in, lock};

use super::shipped::body_of;

const WIKI: &str = include_str!("../../../../tests/tests/examples/wiki.rs");

fn wiki(edits: &[(&str, &str)]) -> Checked {
    let text = edits.iter().fold(WIKI.to_owned(), |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "`{from}` occurs once");
        text.replace(from, to)
    });
    let mut bodies = find_in(&text).expect("it consists of Rust tokens");
    check(bodies.lifecycles.remove(0))
}

/// Checks the findings after some edits of the wiki: the code, and the beginning of the message.
#[track_caller]
fn expect(edits: &[(&str, &str)], expected: &[(&str, &str)]) {
    let found = wiki(edits).diagnostics;
    let said: Vec<String> = found
        .iter()
        .map(|one| format!("{}: {}", one.code, one.message))
        .collect();
    let is_as_expected = |(one, (code, start)): (&String, &(&str, &str))| {
        one.strip_prefix(code)
            .and_then(|rest| rest.strip_prefix(": "))
            .is_some_and(|rest| rest.starts_with(start))
    };
    let is_complete = said.len() == expected.len();
    assert!(
        is_complete && said.iter().zip(expected).all(is_as_expected),
        "{said:#?}"
    );
}

#[test]
fn an_operator_of_ordinary_size_has_no_finding() {
    expect(&[], &[]);
    let model = wiki(&[]).model.expect("it is understood");
    let names: Vec<String> = model
        .regions
        .iter()
        .map(|one| one.name.to_string())
        .collect();
    assert_eq!(names, ["migrate", "serve", "expose", "backup"]);
    let counting: Vec<bool> = model.regions.iter().map(|one| one.counts).collect();
    assert_eq!(counting, [true, true, false, false]);
}

#[test]
fn what_is_forgotten_in_a_region_is_found_by_its_own_facts() {
    expect(
        &[(
            "            Waiting   when migrate != Migrated => Pending wakes migrate;\n",
            "",
        )],
        &[
            (
                "LC021",
                "dead end: in state `Deploying` with `server == Absent && migrate == Occupying`",
            ),
            (
                "LC051",
                "phase Ready in `Up` but condition `Available` is Unknown in `migrate == Occupying`",
            ),
        ],
    );
    expect(
        &[(
            "            Blocked     when nightly == Foreign => Error wakes nightly, self;\n",
            "",
        )],
        &[(
            "LC021",
            "dead end: in state `Scheduling` with `nightly == Foreign`",
        )],
    );
}

#[test]
fn a_region_that_is_asked_wrongly_is_told_its_states() {
    expect(
        &[(
            "when migrate != Migrated => Pending wakes migrate",
            "when migrate != Migratd => Pending wakes migrate",
        )],
        &[(
            "LC001",
            "region `migrate`: `Migratd` is not a value of `migrate`; did you mean `Migrated`?",
        )],
    );
    expect(
        &[(
            "when migrate != Migrated => Pending wakes migrate",
            "when !migrate => Pending wakes migrate",
        )],
        &[("LC001", "region `migrate`: `migrate` needs a value: ")],
    );
}

#[test]
fn a_lock_has_the_items_of_all_regions() {
    let text = WIKI.replace(
        "    resource Wiki;\n",
        "    resource Wiki;\n    lock \"wiki.lock\";\n",
    );
    let body = || {
        let mut bodies = find_in(&text).expect("it consists of Rust tokens");
        bodies.lifecycles.remove(0)
    };
    let ast = check(body()).ast.expect("it is parsed");
    let written = lock::text(&ast);
    assert!(written.contains("state Scheduled"), "{written}");
    let found = |lock: &str| {
        let found = check_locked(body(), &[], LockText::Read(lock.to_owned())).diagnostics;
        let found = found
            .iter()
            .map(|one| format!("{}: {}", one.code, one.message));
        found.collect::<Vec<_>>()
    };
    assert_eq!(found(&written), [""; 0]);
    let older = written.replace("condition BackedUp", "condition Saved");
    assert_eq!(found(&older).len(), 2, "{:#?}", found(&older));
}

#[test]
fn a_region_rules_out_no_world_of_the_root() {
    expect(
        &[(
            "            /// No Pod is left.\n",
            "            never password == Stale;\n            /// No Pod is left.\n",
        )],
        &[(
            "LC176",
            "region `serve` rules out worlds of the root: `password == Stale`",
        )],
    );
    expect(
        &[("    region backup {", "    region deleting {")],
        &[("LC003", "`deleting` is always there")],
    );
}

#[test]
fn a_stage_of_the_teardown_is_about_one_region() {
    let stage = "serve until drained || server in { Absent, Foreign };";
    expect(
        &[(stage, "serve until drained || ingress == Current;")],
        &[(
            "LC176",
            "a line of the teardown is about region `serve` and mentions `ingress`, which belongs to region `expose`",
        )],
    );
    expect(
        &[(stage, "serve until drained || refused(apply_nightly);")],
        &[(
            "LC176",
            "a line of the teardown is about region `serve` and mentions `apply_nightly`, which belongs to region `backup`",
        )],
    );
    expect(
        &[(stage, "serve until backup == Scheduled;")],
        &[("LC176", "the teardown asks the state of region `backup`")],
    );
}

#[test]
fn one_object_belongs_to_one_region() {
    expect(
        &[(
            "observe { ingress: owned Ingress by name meta.name if spec.host; }",
            "observe { ingress: owned Ingress by name meta.name if spec.host; seen: Service by name meta.name; }",
        )],
        &[(
            "LC176",
            "`seen` of region `expose` is the object that region `serve` observes as `service`: its writes would disturb the other",
        )],
    );
}

#[test]
fn the_conditions_of_a_region_that_does_not_count_agree_with_its_states() {
    expect(
        &[(
            "                False \"Refused\" when refused(apply_nightly);\n",
            "",
        )],
        &[(
            "LC053",
            "state `Unscheduled` is Error but the first unmet condition there is `BackedUp` = Unknown",
        )],
    );
}

#[test]
fn a_misspelt_condition_hides_no_region() {
    expect(
        &[(
            "ready from Prepared, Migrated, Available;",
            "ready from Prepared, Migrated, Availible;",
        )],
        &[(
            "LC001",
            "`ready`: unknown condition `Availible`; did you mean `Available`?",
        )],
    );
}

#[test]
fn a_misspelt_region_is_told() {
    expect(
        &[("    region backup {", "    regoin backup {")],
        &[(
            "LC000",
            "expected a section or `region`, found `regoin`; did you mean `region`?",
        )],
    );
}

#[test]
fn neither_a_region_nor_a_fragment_nor_a_volume_has_regions() {
    let codes = |text: &str| -> Vec<String> {
        let found = check(body_of(text)).diagnostics;
        found
            .iter()
            .map(|one| format!("{}: {}", one.code, one.message))
            .collect()
    };
    let nested = "lifecycle! { resource Thing; region outer { region inner { } states { goal Up when o == Current => Ready; } } }";
    assert!(codes(nested).contains(&"LC176: a region has no region: `inner`".to_owned()));
    let volume =
        "lifecycle! { volume Thing; region outer { states { goal Up when o == Current; } } }";
    assert!(codes(volume).contains(&"LC176: a volume has no regions".to_owned()));
}

#[test]
fn a_state_stands_for_all_regions() {
    let model = wiki(&[]).model.expect("it is understood");
    let report = wiki(&[]).shown.expect("it was explored");
    let code = expand::expand(&model, &report).to_string();
    for part in [
        "pub const fn classify_backup",
        "let state = Self :: classify_migrate (facts) ;",
        "let state = state . further (Self :: classify_serve (facts)) ;",
        "ir :: Region { name : \"backup\"",
    ] {
        assert!(code.contains(part), "{part}");
    }
    assert!(
        !code.contains("further (Self :: classify_backup"),
        "it does not count"
    );
}

#[test]
fn a_wait_for_a_region_ends_before_its_goal() {
    expect(
        &[
            (
                "when migrate != Migrated => Pending wakes migrate",
                "when migrate == Migrated => Pending wakes migrate",
            ),
            (
                "serve: apply server when migrate == Migrated;",
                "serve: apply server when migrate != Migrated;",
            ),
            (
                "service == Current && migrate == Migrated;",
                "service == Current && migrate != Migrated;",
            ),
        ],
        &[(
            "LC021",
            "dead end: in state `Waiting` with `server == Absent && migrate == Migrated` no effect is enabled and nothing is promised, and region `migrate` stays in its goal",
        )],
    );
}

#[test]
fn a_state_that_waits_for_a_region_names_it() {
    expect(
        &[(
            "when migrate != Migrated => Pending wakes migrate",
            "when migrate != Migrated => Pending wakes self",
        )],
        &[(
            "LC175",
            "state `Waiting` declares `wakes self`, but with `migrate == Occupying` a change of `migrate` also leads out of it",
        )],
    );
}

#[test]
fn what_is_asked_and_misspelt_is_compared_with_the_names_of_regions() {
    expect(
        &[(
            "when migrate != Migrated => Pending wakes migrate",
            "when migrat != Migrated => Pending wakes migrat",
        )],
        &[
            (
                "LC001",
                "state `Waiting`: unknown fact `migrat`; did you mean `migrate`?",
            ),
            (
                "LC060",
                "state `Waiting` reads `migrat`, which is not observed: nothing would wake the object when it changes; did you mean `migrate`?",
            ),
        ],
    );
}

#[test]
fn an_object_that_one_region_writes_is_in_no_set_of_another() {
    let observed = "observe { ingress: owned Ingress by name meta.name if spec.host; }";
    for lookup in ["by owner", "by namespace"] {
        let more = observed.replace("; }", &format!("; seen: [Service] {lookup}; }}"));
        expect(
            &[(observed, &more)],
            &[(
                "LC176",
                "`seen` of region `expose` may be one of the objects that region `serve` observes as `service`: its writes would disturb the other",
            )],
        );
    }
    let more = observed.replace("; }", "; seen: [Service] by labels { APP = meta.name }; }");
    expect(
        &[(observed, &more)],
        &[("LC064", "`seen` is watched but nothing reads it")],
    );
}

/// How many kinds of regions there are below.
const KINDS: usize = 9;

/// A region of a kind, beside the one before it.
fn region(number: usize, kind: usize) -> String {
    let (n, before) = (number, number.saturating_sub(1));
    let asks = |text: &str| match number {
        0 => String::new(),
        _ => text.replace("BEFORE", &before.to_string()),
    };
    let (mut facts, mut states, mut promises) = (String::new(), String::new(), String::new());
    let mut effects = format!("apply o{n};");
    let mut goal = format!("o{n} == Current");
    match kind {
        // It waits for the one before.
        1 => {
            states = asks(&format!(
                "Waiting{n} when o{n} == Absent && rBEFORE != UpBEFORE => Pending wakes rBEFORE;"
            ));
            effects = format!(
                "apply o{n}{};",
                asks(&format!(" when o{n} == Stale || rBEFORE == UpBEFORE"))
            );
        }
        // It does so without a state that waits.
        2 => effects = format!("apply o{n}{};", asks(" when rBEFORE == UpBEFORE")),
        // It deletes what it applies.
        3 => effects = format!("apply o{n}; drop{n}: delete o{n} when o{n} == Current;"),
        // It waits for a promise, for one that nobody makes, and for one that another way takes back.
        4..=6 => {
            facts = format!(
                "/// Whether it works.\n f{n}: bool from o{n} given o{n} == Current else false;"
            );
            states = format!("Starting{n} when o{n} == Current && !f{n} => Pending;");
            goal = format!("f{n}");
            if kind != 5 {
                promises = format!("starts{n}: o{n} == Current && !f{n} sets {{ f{n} = true }};");
            }
            if kind == 6 {
                promises += &format!("breaks{n}: f{n} sets {{ f{n} = false }};");
            }
        }
        // It waits for the one before, whatever there is.
        7 => {
            states = asks(&format!(
                "Held{n} when o{n} == Current && rBEFORE != UpBEFORE => Pending wakes rBEFORE;"
            ))
        }
        // It waits until the one before is in no goal any more.
        8 => {
            states = asks(&format!(
                "Late{n} when o{n} == Absent && rBEFORE == UpBEFORE => Pending wakes rBEFORE;"
            ));
            effects = format!(
                "apply o{n}{};",
                asks(&format!(" when o{n} == Stale || rBEFORE != UpBEFORE"))
            );
        }
        _ => {}
    }
    let promises = match promises.is_empty() {
        true => promises,
        false => format!("promises {{ {promises} }}"),
    };
    let facts = match facts.is_empty() {
        true => facts,
        false => format!("facts {{ {facts} }}"),
    };
    format!(
        "region r{n} {{
            observe {{ o{n}: owned ConfigMap by name spec.name{n}; }}
            {facts}
            states {{
                Taken{n} when o{n} == Foreign => Error wakes o{n}, self;
                Refused{n} when refused(apply_o{n}) => Error wakes self;
                Going{n} when o{n} == Terminating => Pending;
                {states}
                Making{n} when o{n} in {{ Absent, Stale }} => Pending;
                goal Up{n} when {goal} => Ready;
            }}
            effects {{ {effects} }}
            {promises}
            status {{ condition Is{n} {{ False \"NameTaken\" when o{n} == Foreign; False \"Refused\" when refused(apply_o{n}); True when {goal}; Unknown \"Working\" otherwise; }} }}
        }}"
    )
}

fn lifecycle(kinds: &[usize]) -> String {
    let regions: Vec<String> = kinds
        .iter()
        .enumerate()
        .map(|(at, kind)| region(at, *kind))
        .collect();
    format!(
        "lifecycle! {{
            resource Thing;
            observe {{ s: owned Secret by name meta.name; }}
            states {{
                Taken when s == Foreign => Error wakes s, self;
                Making when s in {{ Absent, Terminating, Stale }} => Pending;
            }}
            effects {{ apply s; }}
            {}
        }}",
        regions.concat()
    )
}

/// Returns true if a state waits for the region before.
fn waits_for_a_region(state: &State) -> bool {
    let name = state.name.to_string();
    ["Waiting", "Held", "Late"]
        .iter()
        .any(|word| name.starts_with(word))
}

/// Returns true if every run of the product of all regions comes to rest.
fn settles(model: &Lifecycle) -> bool {
    let (frames, permissions) = (Frames::new(model), Permissions::new(model));
    let space = Space::build(model, &frames, &permissions).expect("it is small");
    let at_rest = |index: usize| {
        let is_of_root =
            |class| matches!(class, Class::State(state) if model.states[state.0].region.is_none());
        let class = space.classes[index];
        if class == Class::Refused || is_of_root(class) {
            return space.is_at_rest(index);
        }
        let world = space.worlds.get(index);
        let regions = (0..model.regions.len()).map(RegionId);
        let current = regions.map(|region| {
            let mut states = model.states.iter();
            states.find(|state| state.region == Some(region) && world.holds(&state.when))
        });
        let current: Vec<Option<&State>> = current.collect();
        // A region that waits for the one before waits in vain if that is in its goal.
        let is_done = |state: &Option<&State>| state.is_some_and(|one| one.goal);
        let before = std::iter::once(false).chain(current.iter().map(is_done));
        let rests = |(state, is_done): (&Option<&State>, bool)| {
            let waits = |one: &State| one.wakes.is_some() && !(is_done && waits_for_a_region(one));
            state.is_some_and(|one| one.goal || waits(one))
        };
        space.choices[index] == Choice::Nothing && current.iter().zip(before).all(rests)
    };
    let graph = Graph::with_choices(&space, &space.choices, at_rest);
    let mut worlds = space.worlds.indexes();
    let is_stuck = worlds.any(|world| !graph.is_at_rest(world) && graph.moves(world).is_empty());
    !is_stuck && loops(&graph, space.worlds.len()).is_empty()
}

/// The regions that promises alone move to and fro: those that another region asks, and others.
fn flapping(kinds: &[usize]) -> (usize, usize) {
    let is_asked = |at: usize| matches!(kinds.get(at + 1), Some(1 | 2 | 7 | 8));
    let flapping = kinds.iter().enumerate().filter(|(_, kind)| **kind == 6);
    let (asked, others): (Vec<usize>, Vec<usize>) =
        flapping.map(|(at, _)| at).partition(|at| is_asked(*at));
    (asked.len(), others.len())
}

#[test]
fn each_region_by_itself_settles_exactly_if_the_product_of_all_does() {
    let pairs = (0..KINDS).flat_map(|one| (0..KINDS).map(move |other| vec![one, other]));
    // Of the triples every seventh, which meets each pair of neighbours.
    let triples = (0..KINDS * KINDS * KINDS).step_by(7);
    let triples = triples.map(|n| vec![n % KINDS, n / KINDS % KINDS, n / KINDS / KINDS]);
    let (mut sound, mut unsound) = (0, 0);
    for kinds in pairs.chain(triples) {
        let checked = check(body_of(&lifecycle(&kinds)));
        let found = checked.diagnostics.iter();
        let errors: Vec<&str> = found
            .filter(|one| one.severity == Severity::Error)
            .map(|one| one.code)
            .collect();
        let is_unsettled = |code: &&&str| ["LC021", "LC022", "LC023", "LC024"].contains(*code);
        let by_itself = errors.iter().filter(is_unsettled).count() == 0;
        let model = checked.model.expect("it is understood");
        match flapping(&kinds) {
            // Never all rest at once, but each does by itself, and nothing is written.
            (0, 2..) => continue,
            (0, _) => assert_eq!(by_itself, settles(&model), "{kinds:?}: {errors:?}"),
            // It is refused, although the region that asks might settle meanwhile.
            (1.., _) => assert!(!by_itself, "{kinds:?}"),
        }
        match by_itself {
            true => sound += 1,
            false => unsound += 1,
        }
    }
    assert!(
        sound > 20 && unsound > 50,
        "{sound} settle, {unsound} do not"
    );
}
