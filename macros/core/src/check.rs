//! The list of all rules in alphabetical order. Each rule is one file here, named after the mistake
//! that it forbids. Users read the header of the file. Rules read the model and report findings;
//! they never change it.

mod abandoned_unasked;
mod acquire_before_record;
mod broad_edge;
mod broken_always;
mod broken_never;
mod broken_order;
mod call_without_outcome;
pub(crate) mod circular_fact;
pub(crate) mod circular_policy;
pub(crate) mod circular_regions;
mod clause_never_applies;
mod condition_without_value;
mod dead_end;
mod decided_unasked;
pub(crate) mod declared_twice;
mod editable_key;
mod effect_never_chosen;
mod effect_repeats_itself;
mod effects_against_each_other;
mod empty_call;
mod endless_call;
mod endless_deletion;
mod endless_rotation;
mod endless_round;
mod error_without_reason;
mod forbidden_effect;
mod half_capability;
mod idle_abandonment;
mod idle_promise;
mod idle_step;
mod idle_tick;
mod independent_never;
pub(crate) mod infinite_fact;
mod kept_and_deleted;
mod kept_and_torn_down;
mod minted_in_circle;
pub(crate) mod misfit_clause;
pub(crate) mod misfit_count;
pub(crate) mod misfit_fragment;
pub(crate) mod misfit_group;
pub(crate) mod misfit_kstatus;
pub(crate) mod misfit_region;
pub(crate) mod misfit_retired;
mod misfit_step;
mod misnamed_provider;
pub(crate) mod misplaced_create;
pub(crate) mod misplaced_ignored;
pub(crate) mod misplaced_lock;
pub(crate) mod misplaced_mint;
pub(crate) mod misplaced_retain;
pub(crate) mod misplaced_suspended;
pub(crate) mod misplaced_teardown;
mod missing_key;
mod missing_undo;
mod misspelt_reason;
pub(crate) mod needless_allow;
mod never_taken_back;
mod no_goal;
pub(crate) mod no_phase;
pub(crate) mod noted_by_hand;
mod other_key_of_undo;
mod overdue_before_poll;
mod phase_against_conditions;
mod policy_of_adopted;
mod promised_own_work;
mod read_only_target;
mod ready_too_early;
mod record_overwritten;
mod refusal_never_applies;
mod renamed_object;
mod repeated_claim;
mod repeated_field;
mod repeated_key;
pub(crate) mod retired_and_declared;
mod sets_out_of_reach;
mod setup_without_teardown;
mod silent_region;
pub(crate) mod stale_lock;
mod state_without_world;
mod steps_against_each_other;
mod suspended_by_poll;
pub(crate) mod syntax;
mod time_outside_facts;
pub(crate) mod too_many_values;
pub(crate) mod too_many_worlds;
mod two_writers;
mod unasked_adoption;
mod unasked_fact;
mod unbounded_poll;
mod unbounded_wait;
mod uncarried_field;
mod uncaused_edge;
mod undeclared_edge;
mod undo_of_nothing;
mod unheard_promise;
mod unkept_mint;
mod unknown_column;
pub(crate) mod unknown_fragment;
pub(crate) mod unknown_name;
mod unlisted_code;
pub(crate) mod unmet_need;
mod unnamed_tick;
mod unnamed_way_out;
pub(crate) mod unnoted_create;
pub(crate) mod unobserved_source;
pub(crate) mod unplaced_item;
mod unreached_state;
mod unread_input;
mod unread_keeper;
mod unreadable_lock;
mod unseen_by_call;
mod unseen_is_free;
mod until_out_of_reach;
mod untimed_mint;
mod useless_wakes;
mod vacuous_property;
mod work_in_error;
mod work_in_goal;
mod world_without_state;

use crate::rule::{Rule, Severity};

/// Returns the codes that `allow` may silence, in order: every warning except the warning about an
/// `allow` itself.
pub fn allowable() -> Vec<&'static str> {
    let warn = RULES
        .iter()
        .filter(|rule| rule.severity == Severity::Warning);
    let codes = warn.map(|rule| rule.code);
    let mut can: Vec<_> = codes
        .filter(|code| *code != needless_allow::RULE.code)
        .collect();
    can.sort_unstable();
    can
}

/// All rules, by name.
pub const RULES: &[Rule] = &[
    abandoned_unasked::RULE,
    acquire_before_record::RULE,
    broad_edge::RULE,
    broken_always::RULE,
    broken_never::RULE,
    broken_order::RULE,
    call_without_outcome::RULE,
    circular_fact::RULE,
    circular_policy::RULE,
    circular_regions::RULE,
    clause_never_applies::RULE,
    condition_without_value::RULE,
    dead_end::RULE,
    decided_unasked::RULE,
    declared_twice::RULE,
    editable_key::RULE,
    effect_never_chosen::RULE,
    effect_repeats_itself::RULE,
    effects_against_each_other::RULE,
    empty_call::RULE,
    endless_call::RULE,
    endless_deletion::RULE,
    endless_rotation::RULE,
    endless_round::RULE,
    error_without_reason::RULE,
    forbidden_effect::RULE,
    half_capability::RULE,
    idle_abandonment::RULE,
    idle_promise::RULE,
    idle_step::RULE,
    idle_tick::RULE,
    independent_never::RULE,
    infinite_fact::RULE,
    kept_and_deleted::RULE,
    kept_and_torn_down::RULE,
    minted_in_circle::RULE,
    misfit_clause::RULE,
    misfit_count::RULE,
    misfit_fragment::RULE,
    misfit_group::RULE,
    misfit_kstatus::RULE,
    misfit_region::RULE,
    misfit_retired::RULE,
    misfit_step::RULE,
    misnamed_provider::RULE,
    misplaced_create::RULE,
    misplaced_ignored::RULE,
    misplaced_lock::RULE,
    misplaced_mint::RULE,
    misplaced_retain::RULE,
    misplaced_suspended::RULE,
    misplaced_teardown::RULE,
    missing_key::RULE,
    missing_undo::RULE,
    misspelt_reason::RULE,
    needless_allow::RULE,
    never_taken_back::RULE,
    no_goal::RULE,
    no_phase::RULE,
    noted_by_hand::RULE,
    other_key_of_undo::RULE,
    overdue_before_poll::RULE,
    phase_against_conditions::RULE,
    policy_of_adopted::RULE,
    promised_own_work::RULE,
    read_only_target::RULE,
    ready_too_early::RULE,
    record_overwritten::RULE,
    refusal_never_applies::RULE,
    renamed_object::RULE,
    repeated_claim::RULE,
    repeated_field::RULE,
    repeated_key::RULE,
    retired_and_declared::RULE,
    sets_out_of_reach::RULE,
    setup_without_teardown::RULE,
    silent_region::RULE,
    stale_lock::RULE,
    state_without_world::RULE,
    steps_against_each_other::RULE,
    suspended_by_poll::RULE,
    syntax::RULE,
    time_outside_facts::RULE,
    too_many_values::RULE,
    too_many_worlds::RULE,
    two_writers::RULE,
    unasked_adoption::RULE,
    unasked_fact::RULE,
    unbounded_poll::RULE,
    unbounded_wait::RULE,
    uncarried_field::RULE,
    uncaused_edge::RULE,
    undeclared_edge::RULE,
    undo_of_nothing::RULE,
    unkept_mint::RULE,
    unheard_promise::RULE,
    unknown_column::RULE,
    unknown_fragment::RULE,
    unknown_name::RULE,
    unlisted_code::RULE,
    unmet_need::RULE,
    unnamed_tick::RULE,
    unnamed_way_out::RULE,
    unnoted_create::RULE,
    unobserved_source::RULE,
    unplaced_item::RULE,
    unreached_state::RULE,
    unread_input::RULE,
    unread_keeper::RULE,
    unreadable_lock::RULE,
    unseen_by_call::RULE,
    unseen_is_free::RULE,
    until_out_of_reach::RULE,
    untimed_mint::RULE,
    useless_wakes::RULE,
    vacuous_property::RULE,
    work_in_error::RULE,
    work_in_goal::RULE,
    world_without_state::RULE,
];
