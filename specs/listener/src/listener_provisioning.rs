//! The controller side of a Listener volume. What it answers with is read off the claim, its class and its Listener.

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use lifecycle_runtime::lifecycle;

use crate::listener::Listener;
use crate::listener_class::ListenerClass;

lifecycle! {
    /// Promises a volume for a claim and creates nothing: what a Pod needs is made when it mounts the volume.
    volume ListenerProvisioning;

    observe {
        pv:     PersistentVolume      by name request.volume_id;
        claim:  PersistentVolumeClaim by ref from request         given names_claim == Yes;
        chosen: Listener              by ref from claim         given source == Name;
        class:  ListenerClass         by ref from claim, chosen given source == Class || source == Name && chosen;
    }
    facts {
        /// How the volume is to be used.
        asked:  { Mount, Unfit }      from request.capabilities;
        /// Whether the request says which claim it is for.
        names_claim: { No, Yes }      from request.parameters;
        /// What the annotations of the claim name.
        source: { Class, Name, Bad }  from claim given claim;
        /// Whether the Listener that the claim names has a class.
        named:  { Yes, No }           from chosen given source == Name && chosen else Yes;
        /// Whether the class is for Listeners of the namespace of the claim.
        allowed: { Yes, No }          from claim, class given class else Yes;
    }
    states {
        /// Nothing can be promised, for it is not said what, or the class does not allow it.
        Unplanned when !claim || source == Bad || named == No || allowed == No;
        /// What the claim names is not there yet.
        Waiting   when source == Name && !chosen || !class;
        /// It can be promised.
        Planned   when class;
    }
    rpc {
        unknown  when pv == Absent;
        unfit    when asked == Unfit;
        differs  never "nothing is stored, and no capacity is promised";
        in_use   never "a claim in use is protected by its finalizer";

        CreateVolume -> Planned {
            names_claim == No              => INVALID_ARGUMENT "the request names no PersistentVolumeClaim; run external-provisioner with --extra-create-metadata";
            claim == Absent                => UNAVAILABLE      "the PersistentVolumeClaim is not known yet";
            source == Bad                  => INVALID_ARGUMENT;
            source == Name && !chosen      => UNAVAILABLE      "the Listener that the PersistentVolumeClaim names does not exist; create it";
            named == No                    => INVALID_ARGUMENT "the Listener that the PersistentVolumeClaim names has no class; give it a className";
            allowed == No                  => INVALID_ARGUMENT;
            !class                         => UNAVAILABLE      "the ListenerClass does not exist; create it or name another one";
        }
        DeleteVolume;                      // the Listener of a claim is owned by the PersistentVolume and goes with it
        ValidateVolumeCapabilities;
    }
}
