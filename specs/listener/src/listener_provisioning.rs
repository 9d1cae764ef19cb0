//! Controller side of a Listener volume. Its answers follow from the claim, its class and its
//! Listener.

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use lifecycle_runtime::lifecycle;

use crate::listener::Listener;
use crate::listener_class::ListenerClass;

lifecycle! {
    /// Promises a volume for a claim and creates nothing. The objects that a Pod needs are created
    /// when it mounts the volume.
    volume ListenerProvisioning;

    observe {
        pv:     PersistentVolume      by name request.volume_id;
        claim:  PersistentVolumeClaim by ref from request         given names_claim == Yes;
        chosen: Listener              by ref from claim         given source == Name;
        class:  ListenerClass         by ref from claim, chosen given source == Class || source == Name && chosen;
    }
    facts {
        /// Requested use of the volume.
        asked:  { Mount, Unfit }      from request.capabilities;
        /// `Yes` if the request names the claim that it is for.
        names_claim: { No, Yes }      from request.parameters;
        /// Kind of object that the annotations of the claim name.
        source: { Class, Name, Bad }  from claim given claim;
        /// `Yes` if the Listener that the claim names has a class.
        named:  { Yes, No }           from chosen given source == Name && chosen else Yes;
        /// `Yes` if the class allows Listeners in the namespace of the claim.
        allowed: { Yes, No }          from claim, class given class else Yes;
    }
    states {
        /// No volume can be promised, because the claim does not name an object or the class does
        /// not allow it.
        Unplanned when !claim || source == Bad || named == No || allowed == No;
        /// The object that the claim names does not exist yet.
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
