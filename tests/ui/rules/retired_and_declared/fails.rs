//! A condition that is still told, and objects that are still made under another name.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        service: owned Service by name meta.name;
    }
    states {
        Taken when service == Foreign => Error wakes service;
        Busy when service != Current => Pending;
        goal Ready when service == Current => Ready;
    }
    effects {
        apply service;
    }
    status {
        condition Served {
            True when service == Current;
            False "Taken" when service == Foreign;
            Unknown "Making" otherwise;
        }
    }
    retired {
        condition Served;
        old: owned Service by name meta.name deleted;
    }
}

fn main() {}
