//! It waits for a while and then says so.

use lifecycle_runtime::lifecycle;
use lifecycle_ui::*;

lifecycle! {
    volume Scratch;

    observe {
        backing: probe Info by request.volume_id;
        mounts: probe Info by request.target_path;
        class: ConfigMap by name request.volume_id;
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
        publish: call mounts from class when found sets { published = true } key request.target_path;
        unpublish: call mounts sets { published = false } key request.target_path;
    }
    promises {
        made: class == Absent sets { class = Present };
    }
    rpc {
        unfit never "any capability will do";
        unknown when !found;
        elsewhere never "a directory may be published at many targets";
        differs never "there is nothing to tell apart";
        NodePublishVolume -> Published by publish within 90s else UNAVAILABLE { refused(publish) => INTERNAL; }
        NodeUnpublishVolume -> Free by unpublish { refused(unpublish) => INTERNAL; }
    }
}

fn main() {}
