//! What a person reads who breaks a rule: each `ui/<rule>/fails.rs` with its pinned text, beside a `passes.rs` that nearly fails.
//! `TRYBUILD=overwrite cargo test -p lifecycle-tests --test ui` rewrites the pinned texts; review the difference like code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Passing fixtures are modules here: they are compiled with everything else, and trybuild only has to check and never to build.
macro_rules! passing {
    ($($rule:ident = $path:literal),* $(,)?) => {
        $(
            #[path = $path]
            #[allow(dead_code, reason = "a fixture only has to compile")]
            mod $rule;
        )*

        const PASSING: &[&str] = &[$(stringify!($rule)),*];
    };
}

passing! {
    acquire_before_record = "../ui/acquire_before_record/passes.rs",
    broken_never = "../ui/broken_never/passes.rs",
    call_without_outcome = "../ui/call_without_outcome/passes.rs",
    circular_fact = "../ui/circular_fact/passes.rs",
    clause_never_applies = "../ui/clause_never_applies/passes.rs",
    condition_without_value = "../ui/condition_without_value/passes.rs",
    dead_end = "../ui/dead_end/passes.rs",
    declared_twice = "../ui/declared_twice/passes.rs",
    effect_never_chosen = "../ui/effect_never_chosen/passes.rs",
    effect_repeats_itself = "../ui/effect_repeats_itself/passes.rs",
    effects_against_each_other = "../ui/effects_against_each_other/passes.rs",
    empty_call = "../ui/empty_call/passes.rs",
    endless_call = "../ui/endless_call/passes.rs",
    endless_deletion = "../ui/endless_deletion/passes.rs",
    endless_round = "../ui/endless_round/passes.rs",
    error_without_reason = "../ui/error_without_reason/passes.rs",
    half_capability = "../ui/half_capability/passes.rs",
    independent_never = "../ui/independent_never/passes.rs",
    infinite_fact = "../ui/infinite_fact/passes.rs",
    list_missing = "../ui/list_missing/passes.rs",
    method_missing = "../ui/method_missing/passes.rs",
    misfit_clause = "../ui/misfit_clause/passes.rs",
    misplaced_ignored = "../ui/misplaced_ignored/passes.rs",
    missing_key = "../ui/missing_key/passes.rs",
    missing_undo = "../ui/missing_undo/passes.rs",
    no_phase = "../ui/no_phase/passes.rs",
    phase_against_conditions = "../ui/phase_against_conditions/passes.rs",
    read_only_target = "../ui/read_only_target/passes.rs",
    record_overwritten = "../ui/record_overwritten/passes.rs",
    refusal_never_applies = "../ui/refusal_never_applies/passes.rs",
    second_mutation = "../ui/second_mutation/passes.rs",
    sets_out_of_reach = "../ui/sets_out_of_reach/passes.rs",
    setup_without_teardown = "../ui/setup_without_teardown/passes.rs",
    state_without_world = "../ui/state_without_world/passes.rs",
    status_read = "../ui/status_read/passes.rs",
    syntax = "../ui/syntax/passes.rs",
    text_missing = "../ui/text_missing/passes.rs",
    too_many_values = "../ui/too_many_values/passes.rs",
    too_many_worlds = "../ui/too_many_worlds/passes.rs",
    unbounded_wait = "../ui/unbounded_wait/passes.rs",
    uncaused_edge = "../ui/uncaused_edge/passes.rs",
    undeclared_edge = "../ui/undeclared_edge/passes.rs",
    undo_of_nothing = "../ui/undo_of_nothing/passes.rs",
    unknown_name = "../ui/unknown_name/passes.rs",
    unlisted_code = "../ui/unlisted_code/passes.rs",
    unobserved_source = "../ui/unobserved_source/passes.rs",
    unread_input = "../ui/unread_input/passes.rs",
    unseen_by_call = "../ui/unseen_by_call/passes.rs",
    unseen_is_free = "../ui/unseen_is_free/passes.rs",
    useless_wakes = "../ui/useless_wakes/passes.rs",
    work_in_goal = "../ui/work_in_goal/passes.rs",
    world_without_state = "../ui/world_without_state/passes.rs",
}

#[test]
fn failing_fixtures_fail_with_the_pinned_text() {
    trybuild::TestCases::new().compile_fail("ui/*/fails.rs");
}

#[test]
fn every_passing_fixture_is_compiled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let rules = fs::read_dir(folder).expect("the fixtures are there");
    let rules = rules.map(|rule| rule.expect("a folder of fixtures").path());
    let passing: BTreeSet<String> = rules
        .filter(|rule| rule.join("passes.rs").exists())
        .filter_map(|rule| Some(rule.file_name()?.to_str()?.to_owned()))
        .collect();
    let compiled: BTreeSet<String> = PASSING.iter().map(ToString::to_string).collect();
    assert_eq!(passing, compiled);
}
