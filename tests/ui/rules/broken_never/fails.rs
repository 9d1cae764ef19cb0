//! An effect declares that a published volume need not be staged.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        mounts: poll Info by meta.uid every 30s;
    }
    facts {
        staged: bool from mounts given mounts;
        published: bool from mounts given mounts;
        never published && !staged;
    }
    states {
        Unseen when !mounts => Pending;
        Bare when !staged => Pending;
        Staged when !published => Pending;
        goal Ready when published => Ready;
    }
    effects {
        stage: call mounts when !staged sets { staged = true } key meta.uid;
        publish: call mounts sets { published = true } key meta.uid;
    }
}

fn main() {}
