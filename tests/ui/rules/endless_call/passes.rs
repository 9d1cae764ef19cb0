//! It fills once, and says what it found.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    volume Scratch;

    observe {
        tank: probe Info by request.volume_id;
    }
    facts {
        full: bool from tank;
        ready: bool from tank;
    }
    states {
        Ready when ready;
        Waiting when !ready;
    }
    effects {
        fill: call tank when !full sets { full = true } key request.volume_id;
        drain: call tank when full sets { full = false } key request.volume_id;
    }
    rpc {
        unfit never "any capability will do";
        unknown never "a tank is made where it is needed";
        elsewhere never "a directory may be published at many targets";
        differs never "there is nothing to tell apart";
        NodePublishVolume -> Ready by fill {
            refused(fill) => INTERNAL;
            full => FAILED_PRECONDITION "it is full and not ready";
        }
        NodeUnpublishVolume -> !full by drain { refused(drain) => INTERNAL; }
    }
}

fn main() {}
