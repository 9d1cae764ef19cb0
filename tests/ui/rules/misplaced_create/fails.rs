//! A created object is also applied, is shared with others, is only read, is compared in a list, or evaluates its retention each time.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        job: owned Job by name meta.name;
        jobs: record of job;
        port: shared Service by name spec.class;
        ports: record of port;
        class: ConfigMap by name spec.class;
        classes: record of class;
        whole: owned Service by name meta.name exclusive spec.ports;
        wholes: record of whole;
        kept: owned Secret by name meta.name retain when precious;
        keeps: record of kept;
    }
    facts {
        precious: bool from self;
    }
    states {
        Taken when job == Foreign => Error wakes job, self;
        goal Ready when job != Foreign => Ready;
    }
    effects {
        create job;
        apply job;
        create port;
        create class;
        create whole;
        create kept;
    }
}

fn main() {}
