//! The publish call declares no outcome for a refusal.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    volume Scratch;

    observe {
        backing: probe Info by request.volume_id;
        mounts: probe Info by request.target_path;
    }
    facts {
        found: bool from backing;
        published: bool from mounts;
    }
    states {
        Free when !published;
        Published when published;
    }
    effects {
        publish: call mounts when found sets { published = true } key request.target_path;
        unpublish: call mounts sets { published = false } key request.target_path;
    }
    rpc {
        unfit never "any capability will do";
        unknown when !found;
        elsewhere never "a directory may be published at many targets";
        differs never "there is nothing to tell apart";
        NodePublishVolume -> Published by publish;
        NodeUnpublishVolume -> Free by unpublish { refused(unpublish) => INTERNAL; }
    }
}

fn main() {}
