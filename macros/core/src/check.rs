//! The list of all rules, alphabetical. A rule is one file here, named for what it forbids; the file's header is what users read about it.
//! Rules read the model and report; they never change it.

mod acquire_before_record;
mod broad_edge;
mod broken_always;
mod broken_never;
mod broken_order;
mod call_without_outcome;
pub(crate) mod circular_fact;
mod clause_never_applies;
mod condition_without_value;
mod dead_end;
mod decided_unasked;
pub(crate) mod declared_twice;
mod effect_never_chosen;
mod effect_repeats_itself;
mod effects_against_each_other;
mod empty_call;
mod endless_call;
mod endless_deletion;
mod endless_round;
mod error_without_reason;
mod forbidden_effect;
mod half_capability;
mod idle_promise;
mod idle_tick;
mod independent_never;
pub(crate) mod infinite_fact;
pub(crate) mod misfit_clause;
pub(crate) mod misfit_count;
pub(crate) mod misfit_fragment;
pub(crate) mod misfit_kstatus;
pub(crate) mod misplaced_ignored;
pub(crate) mod misplaced_suspended;
mod missing_key;
mod missing_undo;
pub(crate) mod needless_allow;
pub(crate) mod no_phase;
mod phase_against_conditions;
mod read_only_target;
mod record_overwritten;
mod refusal_never_applies;
mod repeated_key;
mod sets_out_of_reach;
mod setup_without_teardown;
mod state_without_world;
mod suspended_by_poll;
pub(crate) mod syntax;
mod time_outside_facts;
pub(crate) mod too_many_values;
pub(crate) mod too_many_worlds;
mod unbounded_wait;
mod uncaused_edge;
mod undeclared_edge;
mod undo_of_nothing;
pub(crate) mod unknown_fragment;
pub(crate) mod unknown_name;
mod unlisted_code;
pub(crate) mod unmet_need;
mod unnamed_tick;
pub(crate) mod unobserved_source;
pub(crate) mod unplaced_item;
mod unreached_state;
mod unread_input;
mod unseen_by_call;
mod unseen_is_free;
mod useless_wakes;
mod vacuous_property;
mod work_in_goal;
mod world_without_state;

use crate::rule::Rule;

/// The codes of the rules that warn, which `allow` may silence.
pub const WARNINGS: [&str; 5] = [
    decided_unasked::RULE.code,
    clause_never_applies::RULE.code,
    unread_input::RULE.code,
    refusal_never_applies::RULE.code,
    idle_promise::RULE.code,
];

/// All rules, by name.
pub const RULES: &[Rule] = &[
    acquire_before_record::RULE,
    broad_edge::RULE,
    broken_always::RULE,
    broken_never::RULE,
    broken_order::RULE,
    call_without_outcome::RULE,
    circular_fact::RULE,
    clause_never_applies::RULE,
    condition_without_value::RULE,
    dead_end::RULE,
    decided_unasked::RULE,
    declared_twice::RULE,
    effect_never_chosen::RULE,
    effect_repeats_itself::RULE,
    effects_against_each_other::RULE,
    empty_call::RULE,
    endless_call::RULE,
    endless_deletion::RULE,
    endless_round::RULE,
    error_without_reason::RULE,
    forbidden_effect::RULE,
    half_capability::RULE,
    idle_promise::RULE,
    idle_tick::RULE,
    independent_never::RULE,
    infinite_fact::RULE,
    misfit_clause::RULE,
    misfit_count::RULE,
    misfit_fragment::RULE,
    misfit_kstatus::RULE,
    misplaced_ignored::RULE,
    misplaced_suspended::RULE,
    missing_key::RULE,
    missing_undo::RULE,
    needless_allow::RULE,
    no_phase::RULE,
    phase_against_conditions::RULE,
    read_only_target::RULE,
    record_overwritten::RULE,
    refusal_never_applies::RULE,
    repeated_key::RULE,
    sets_out_of_reach::RULE,
    setup_without_teardown::RULE,
    state_without_world::RULE,
    suspended_by_poll::RULE,
    syntax::RULE,
    time_outside_facts::RULE,
    too_many_values::RULE,
    too_many_worlds::RULE,
    unbounded_wait::RULE,
    uncaused_edge::RULE,
    undeclared_edge::RULE,
    undo_of_nothing::RULE,
    unknown_fragment::RULE,
    unknown_name::RULE,
    unlisted_code::RULE,
    unmet_need::RULE,
    unnamed_tick::RULE,
    unobserved_source::RULE,
    unplaced_item::RULE,
    unreached_state::RULE,
    unread_input::RULE,
    unseen_by_call::RULE,
    unseen_is_free::RULE,
    useless_wakes::RULE,
    vacuous_property::RULE,
    work_in_goal::RULE,
    world_without_state::RULE,
];
