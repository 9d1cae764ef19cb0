//! One object is created and not remembered, one is remembered twice, and one that nothing creates is remembered as well.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        job: owned Job by name meta.name;
        other: owned Secret by name meta.name;
        others: record of other;
        again: record of other;
        class: owned ConfigMap by name meta.name;
        classes: record of class;
    }
    states {
        Taken when job == Foreign => Error wakes job, self;
        goal Ready when job != Foreign => Ready;
    }
    effects {
        create job;
        create other;
        apply class;
    }
}

fn main() {}
