//! Whether answers that are made from the clock hold as long as they say.

use jiff::{SignedDuration, Timestamp};

use lifecycle_runtime::lifecycle::observation::Slot;
use lifecycle_runtime::lifecycle::{Machine, Observation};
use lifecycle_runtime::machine::ir::Mode;

/// What is another answer before the time until which it was to hold.
pub(crate) fn early(machine: &dyn Machine, seen: &Observation) -> Vec<String> {
    let ir = machine.ir();
    let clock = ir.inputs.iter().position(|input| input.mode == Mode::Clock);
    let Some(Slot::Plain(Some(now))) = clock.map(|clock| seen.slot(clock)) else {
        return Vec::new();
    };
    let Some(&now) = now.downcast_ref::<Timestamp>() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (number, var) in ir.vars.iter().enumerate().filter(|(_, var)| var.timed) {
        let Some(until) = seen.until[number].filter(|until| *until > now) else {
            continue;
        };
        let left = until.duration_since(now);
        for at in [now + left / 2, until - SignedDuration::from_nanos(1)] {
            let Some(again) = machine.timed(&seen.at(clock, at), number) else {
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
