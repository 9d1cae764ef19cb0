//! The call that takes it back gives it back.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    volume Scratch;

    observe {
        backing: probe Info by request.volume_id;
        mounts: probe Info by request.volume_id;
    }
    facts {
        found: bool from backing;
        held published: bool from mounts;
    }
    states {
        Free when !published;
        Published when published;
    }
    effects {
        publish: call mounts when found sets { published = true } undo unpublish key request.volume_id;
        unpublish: call mounts sets { published = false } key request.volume_id;
    }
    rpc {
        unfit never "any capability will do";
        unknown when !found;
        elsewhere never "a directory may be published at many targets";
        differs never "there is nothing to tell apart";
        unstaged never "staging makes nothing";
        NodeStageVolume;
        NodeUnstageVolume;
        NodePublishVolume -> Published by publish { refused(publish) => INTERNAL; }
        NodeUnpublishVolume -> Free by unpublish { refused(unpublish) => INTERNAL; }
    }
}

fn main() {}
