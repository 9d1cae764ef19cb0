//! Providers that bear only so much, and now and then want to be left alone. Drawn with dice of their own, so that all else in a run is drawn as before.

use std::collections::BTreeSet;

use lifecycle_runtime::machine::ir::Lifecycle;
use lifecycle_runtime::provider::Limit;

use crate::dice::Dice;
use crate::outside::PutOff;

/// Returns the limit of each provider that a lifecycle names, and the refusals of its providers.
/// Returns nothing if the lifecycle names none.
pub(super) fn limits(ir: &Lifecycle, seed: u64) -> (Vec<(&'static str, Limit)>, Option<PutOff>) {
    let named: BTreeSet<&'static str> = ir.inputs.iter().filter_map(|i| i.provider).collect();
    if named.is_empty() {
        return (Vec::new(), None);
    }
    let mut dice = Dice::new(seed ^ 0x4c49_4d49);
    let limits = named.into_iter().map(|name| (name, limit(&mut dice)));
    let limits = limits.collect();
    (limits, Some(PutOff::new(dice)))
}

/// So little that questions and calls wait for each other, and enough that no answer is lost by it: that one object is served in time.
fn limit(dice: &mut Dice) -> Limit {
    let limit = Limit::new();
    match dice.roll(5) {
        0 => limit.in_flight(1),
        1 => limit.per_second(1),
        2 => limit.in_flight(1).per_second(2),
        3 => limit.in_flight(2).per_second(1).burst(2),
        _ => limit.per_minute(120).burst(3),
    }
}
