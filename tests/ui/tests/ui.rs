//! Messages of rustc to a person who breaks a rule. `rules/<rule>/fails.rs` has the pinned text `fails.stderr` if rustc itself adds something to the finding. For the others, `lifecycle-operator check` pins the finding as `fails.txt`. Beside each stands a `passes.rs` that nearly fails. `TRYBUILD=overwrite cargo test --workspace --test ui` rewrites the pinned texts; review the difference like code.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

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
    abandoned_unasked = "../rules/abandoned_unasked/passes.rs",
    acquire_before_record = "../rules/acquire_before_record/passes.rs",
    broad_edge = "../rules/broad_edge/passes.rs",
    broken_always = "../rules/broken_always/passes.rs",
    broken_never = "../rules/broken_never/passes.rs",
    broken_order = "../rules/broken_order/passes.rs",
    call_without_outcome = "../rules/call_without_outcome/passes.rs",
    circular_fact = "../rules/circular_fact/passes.rs",
    circular_policy = "../rules/circular_policy/passes.rs",
    circular_regions = "../rules/circular_regions/passes.rs",
    claim_without_state = "../rules/claim_without_state/passes.rs",
    clause_never_applies = "../rules/clause_never_applies/passes.rs",
    condition_without_value = "../rules/condition_without_value/passes.rs",
    dead_end = "../rules/dead_end/passes.rs",
    decided_unasked = "../rules/decided_unasked/passes.rs",
    declared_twice = "../rules/declared_twice/passes.rs",
    editable_key = "../rules/editable_key/passes.rs",
    effect_never_chosen = "../rules/effect_never_chosen/passes.rs",
    effect_repeats_itself = "../rules/effect_repeats_itself/passes.rs",
    effects_against_each_other = "../rules/effects_against_each_other/passes.rs",
    empty_call = "../rules/empty_call/passes.rs",
    endless_call = "../rules/endless_call/passes.rs",
    endless_deletion = "../rules/endless_deletion/passes.rs",
    endless_rotation = "../rules/endless_rotation/passes.rs",
    endless_round = "../rules/endless_round/passes.rs",
    error_without_reason = "../rules/error_without_reason/passes.rs",
    forbidden_effect = "../rules/forbidden_effect/passes.rs",
    half_capability = "../rules/half_capability/passes.rs",
    idle_abandonment = "../rules/idle_abandonment/passes.rs",
    idle_promise = "../rules/idle_promise/passes.rs",
    idle_step = "../rules/idle_step/passes.rs",
    idle_tick = "../rules/idle_tick/passes.rs",
    independent_never = "../rules/independent_never/passes.rs",
    infinite_fact = "../rules/infinite_fact/passes.rs",
    kept_and_deleted = "../rules/kept_and_deleted/passes.rs",
    kept_and_torn_down = "../rules/kept_and_torn_down/passes.rs",
    list_missing = "../rules/list_missing/passes.rs",
    method_missing = "../rules/method_missing/passes.rs",
    minted_in_circle = "../rules/minted_in_circle/passes.rs",
    misfit_clause = "../rules/misfit_clause/passes.rs",
    misfit_count = "../rules/misfit_count/passes.rs",
    misfit_fragment = "../rules/misfit_fragment/passes.rs",
    misfit_group = "../rules/misfit_group/passes.rs",
    misfit_kstatus = "../rules/misfit_kstatus/passes.rs",
    misfit_region = "../rules/misfit_region/passes.rs",
    misfit_retired = "../rules/misfit_retired/passes.rs",
    misfit_step = "../rules/misfit_step/passes.rs",
    misnamed_provider = "../rules/misnamed_provider/passes.rs",
    misplaced_create = "../rules/misplaced_create/passes.rs",
    misplaced_ignored = "../rules/misplaced_ignored/passes.rs",
    misplaced_lock = "../rules/misplaced_lock/passes.rs",
    misplaced_mint = "../rules/misplaced_mint/passes.rs",
    misplaced_retain = "../rules/misplaced_retain/passes.rs",
    misplaced_suspended = "../rules/misplaced_suspended/passes.rs",
    misplaced_teardown = "../rules/misplaced_teardown/passes.rs",
    missing_key = "../rules/missing_key/passes.rs",
    missing_undo = "../rules/missing_undo/passes.rs",
    misspelt_reason = "../rules/misspelt_reason/passes.rs",
    needless_allow = "../rules/needless_allow/passes.rs",
    never_taken_back = "../rules/never_taken_back/passes.rs",
    no_goal = "../rules/no_goal/passes.rs",
    no_phase = "../rules/no_phase/passes.rs",
    noted_by_hand = "../rules/noted_by_hand/passes.rs",
    other_key_of_undo = "../rules/other_key_of_undo/passes.rs",
    overdue_before_poll = "../rules/overdue_before_poll/passes.rs",
    phase_against_conditions = "../rules/phase_against_conditions/passes.rs",
    policy_of_adopted = "../rules/policy_of_adopted/passes.rs",
    promised_own_work = "../rules/promised_own_work/passes.rs",
    read_only_target = "../rules/read_only_target/passes.rs",
    ready_too_early = "../rules/ready_too_early/passes.rs",
    record_overwritten = "../rules/record_overwritten/passes.rs",
    refusal_never_applies = "../rules/refusal_never_applies/passes.rs",
    renamed_object = "../rules/renamed_object/passes.rs",
    repeated_claim = "../rules/repeated_claim/passes.rs",
    repeated_field = "../rules/repeated_field/passes.rs",
    repeated_key = "../rules/repeated_key/passes.rs",
    retired_and_declared = "../rules/retired_and_declared/passes.rs",
    scope_mismatch = "../rules/scope_mismatch/passes.rs",
    second_mutation = "../rules/second_mutation/passes.rs",
    sets_out_of_reach = "../rules/sets_out_of_reach/passes.rs",
    setup_without_teardown = "../rules/setup_without_teardown/passes.rs",
    silent_region = "../rules/silent_region/passes.rs",
    stale_lock = "../rules/stale_lock/passes.rs",
    state_without_world = "../rules/state_without_world/passes.rs",
    status_read = "../rules/status_read/passes.rs",
    steps_against_each_other = "../rules/steps_against_each_other/passes.rs",
    suspended_by_poll = "../rules/suspended_by_poll/passes.rs",
    syntax = "../rules/syntax/passes.rs",
    text_missing = "../rules/text_missing/passes.rs",
    time_outside_facts = "../rules/time_outside_facts/passes.rs",
    too_many_values = "../rules/too_many_values/passes.rs",
    too_many_worlds = "../rules/too_many_worlds/passes.rs",
    two_writers = "../rules/two_writers/passes.rs",
    unasked_adoption = "../rules/unasked_adoption/passes.rs",
    unasked_fact = "../rules/unasked_fact/passes.rs",
    unbounded_poll = "../rules/unbounded_poll/passes.rs",
    unbounded_wait = "../rules/unbounded_wait/passes.rs",
    uncarried_field = "../rules/uncarried_field/passes.rs",
    uncaused_edge = "../rules/uncaused_edge/passes.rs",
    undeclared_edge = "../rules/undeclared_edge/passes.rs",
    undo_of_nothing = "../rules/undo_of_nothing/passes.rs",
    unheard_promise = "../rules/unheard_promise/passes.rs",
    unkept_mint = "../rules/unkept_mint/passes.rs",
    unknown_column = "../rules/unknown_column/passes.rs",
    unknown_fragment = "../rules/unknown_fragment/passes.rs",
    unknown_name = "../rules/unknown_name/passes.rs",
    unlisted_code = "../rules/unlisted_code/passes.rs",
    unmet_need = "../rules/unmet_need/passes.rs",
    unnamed_tick = "../rules/unnamed_tick/passes.rs",
    unnamed_way_out = "../rules/unnamed_way_out/passes.rs",
    unnoted_create = "../rules/unnoted_create/passes.rs",
    unobserved_source = "../rules/unobserved_source/passes.rs",
    unplaced_item = "../rules/unplaced_item/passes.rs",
    unreached_state = "../rules/unreached_state/passes.rs",
    unread_input = "../rules/unread_input/passes.rs",
    unread_keeper = "../rules/unread_keeper/passes.rs",
    unreadable_lock = "../rules/unreadable_lock/passes.rs",
    unseen_by_call = "../rules/unseen_by_call/passes.rs",
    unseen_is_free = "../rules/unseen_is_free/passes.rs",
    until_out_of_reach = "../rules/until_out_of_reach/passes.rs",
    untimed_mint = "../rules/untimed_mint/passes.rs",
    useless_wakes = "../rules/useless_wakes/passes.rs",
    vacuous_property = "../rules/vacuous_property/passes.rs",
    waiting_circle = "../rules/waiting_circle/passes.rs",
    work_in_error = "../rules/work_in_error/passes.rs",
    work_in_goal = "../rules/work_in_goal/passes.rs",
    world_without_state = "../rules/world_without_state/passes.rs",
}

#[test]
fn failing_fixtures_fail_with_the_pinned_text() {
    let cases = trybuild::TestCases::new();
    let pinned = rules().filter(|rule| rule.join("fails.stderr").exists());
    let mut count = 0;
    for rule in pinned {
        cases.compile_fail(rule.join("fails.rs"));
        count += 1;
    }
    assert!(count > 5, "only {count} fixtures were found");
    // Beside the logic that implements it, a finding has no echo.
    let beside: Vec<PathBuf> = rules()
        .map(|rule| rule.join("beside_logic.rs"))
        .filter(|fixture| fixture.exists())
        .collect();
    for fixture in &beside {
        cases.compile_fail(fixture);
    }
    assert!(beside.len() > 1, "only {beside:?} were found");
}

#[test]
fn a_finding_beside_its_logic_is_the_only_error() {
    for rule in rules() {
        let pinned = rule.join("beside_logic.stderr");
        if let Ok(said) = fs::read_to_string(&pinned) {
            assert_eq!(
                said.matches("error").count(),
                1,
                "{}:\n{said}",
                pinned.display()
            );
            assert!(said.starts_with("error: LC"), "{said}");
        }
    }
}

#[test]
fn every_failing_fixture_has_one_pinned_text() {
    let odd: Vec<PathBuf> = rules()
        .filter(|rule| rule.join("fails.stderr").exists() == rule.join("fails.txt").exists())
        .collect();
    assert!(
        odd.is_empty(),
        "both or neither of fails.stderr and fails.txt: {odd:?}"
    );
}

#[test]
fn every_passing_fixture_is_compiled() {
    let passing: BTreeSet<String> = rules()
        .filter(|rule| rule.join("passes.rs").exists())
        .filter_map(|rule| Some(rule.file_name()?.to_str()?.to_owned()))
        .collect();
    let compiled: BTreeSet<String> = PASSING.iter().map(ToString::to_string).collect();
    assert_eq!(passing, compiled);
}

/// The folder of each rule, from the root of this package.
fn rules() -> impl Iterator<Item = PathBuf> {
    let rules = fs::read_dir("rules").expect("the fixtures are there");
    let mut rules: Vec<PathBuf> = rules
        .map(|rule| rule.expect("a folder of fixtures").path())
        .collect();
    rules.sort();
    rules.into_iter()
}
