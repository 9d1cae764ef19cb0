//! Check that answers computed from the clock hold as long as they promise.

use jiff::{SignedDuration, Timestamp};

use lifecycle_runtime::lifecycle::observation::Slot;
use lifecycle_runtime::lifecycle::{Machine, Observation};
use lifecycle_runtime::machine::ir::{Lifecycle, Mode};

/// Reports answers that change before the time until which they should hold.
pub(crate) fn early(machine: &dyn Machine, seen: &Observation) -> Vec<String> {
    let ir = machine.ir();
    let Some((clock, now)) = now(ir, seen) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (number, var) in ir.vars.iter().enumerate().filter(|(_, var)| var.timed) {
        let Some(until) = seen.until[number].filter(|until| *until > now) else {
            continue;
        };
        let left = until.duration_since(now);
        for at in [now + left / 2, until - SignedDuration::from_nanos(1)] {
            let Some(again) = machine.timed(&seen.at_time(Some(clock), at), number) else {
                continue;
            };
            let (said, says) = (seen.world.get(number), again.because.value);
            if said != says {
                let name = |value: u8| var.values[usize::from(value)];
                found.push(format!(
                    "`{}` is {} until {until}, and already {} at {at}",
                    var.name,
                    name(said),
                    name(says)
                ));
            }
        }
    }
    found
}

/// Returns true if an answer changed because its validity expired. In this case only the clock
/// moved, and no user acted.
pub(crate) fn time_was_over(ir: &Lifecycle, before: &Observation, seen: &Observation) -> bool {
    let Some((_, now)) = now(ir, seen) else {
        return false;
    };
    let timed = (0..ir.vars.len()).filter(|&var| ir.vars[var].timed);
    let mut over = timed.filter(|&var| before.until[var].is_some_and(|until| until <= now));
    over.any(|var| before.world.get(var) != seen.world.get(var))
}

/// Returns the clock input and its value.
fn now(ir: &Lifecycle, seen: &Observation) -> Option<(usize, Timestamp)> {
    let clock = ir
        .inputs
        .iter()
        .position(|input| input.mode == Mode::Clock)?;
    let Slot::Plain(Some(now)) = seen.slot(clock) else {
        return None;
    };
    Some((clock, *now.downcast_ref()?))
}
