//! The node side of a Listener volume: how a Pod gets traffic and learns its addresses.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, PersistentVolume, PersistentVolumeClaim, Pod};
use lifecycle_runtime::lifecycle;

use crate::listener::{Listener, ListenerIngress, ListenerPort};
use crate::listener_class::ListenerClass;
use crate::pod_listeners::{PodListenerScope, PodListeners};

lifecycle! {
    /// Reserves the node for the Listener, labels the Pod so that it gets traffic, and writes the addresses into files.
    volume ListenerMount;

    observe {
        volume: PersistentVolume             by name request.volume_id given asked == Mount;
        claim:  PersistentVolumeClaim        by ref from volume        given volume;
        mounted: Pod                         by ref from request       given volume;
        chosen: Listener                     by ref from request, claim given source == Name && claim;
        known:  Listener                     by ref from claim         given source == Class && claim;
        own:    owned Listener of volume without controller by ref from claim given source == Class && claim;   // as the replaced operator made it
        class:  ListenerClass                by ref from chosen, own   given source == Name && chosen || own in { Stale, Current };
        node:   Node                         by ref                    given exposed == Yes;   // our own: a NodePort mount takes its address
        pv:     part PersistentVolume        by name request.volume_id given exposed == Yes;
        pod:    part Pod                     by ref from request       given exposed == Yes && mounts == Yes;
        listed: shared PodListeners of mounted by ref from mounted     given pod == Current;
        tree:   probe Tree                   by request.target_path;
    }
    facts {
        /// How the volume is to be used.
        asked:   { Mount, Block, Inline }   from request;
        /// What the claim named when the volume was made.
        source:  { Class, Name, Bad }       from request given volume;
        /// Whether it is the Pod that is named, and not another one that bears its name by now.
        meant:   bool                       from request, mounted given mounted else false;
        /// Whether the Pod mounts this claim.
        mounts:  { No, Yes }                from mounted, claim given meant && claim;
        /// Whether the Listener says where it can be reached, by its class as it is now.
        exposed: { No, NoClass, Yes }       from chosen, own, class given source == Name && chosen || own in { Stale, Current } else No;
        /// Whose the Listener of the claim's name is.
        namesake: { Other, Earlier }        from volume, claim, known given own == Foreign;
        /// What all Pods that have mounted the claim listen on.
        let ports: ClaimPorts               from known, mounted given mounted;
        /// Which Listener it is.
        let aim: Option<Aim>                from chosen, own;
        let told: Told                      from chosen, own, class, node;
        /// Whether the Pod can be told an address.
        address: bool                       from told, chosen, own given exposed == Yes else false;
        /// Whether there are files at the target.
        held files: bool                    from tree;
        /// Whether they say what is true now.
        fresh:   bool                       from tree, told given files && address else false;
    }
    states {
        /// Nothing is at the target.
        Free      when !files;
        /// The Pod gets its traffic and finds what is true, or what was true when it was last known.
        Published when fresh && pv == Current && listed == Current
                    || !address && meant && (exposed != Yes || pv == Current && pod == Current);
        /// The files, or what is written about the Pod, say what is true no more; or the Pod is gone.
        Outdated  when files;
    }
    effects {
        apply own    from request, volume, claim, mounted, ports when mounts == Yes;
        apply pv     from aim                            when exposed == Yes;
        apply pod    from aim                            when mounts == Yes;
        apply listed from told, claim, mounted           when address;
        write_tree:  call tree from told       when address && listed == Current && !fresh sets { files = true, fresh = true } undo remove_tree key request.target_path;
        remove_tree: call tree                      sets { files = false } key request.target_path;
    }
    promises {
        made:     source == Name && !chosen   sets { chosen = Present };
        exposes claimed by Listener in Stranded | Idle | Provisioning | Ready: exposed == No && (chosen || own == Current) sets { exposed = Yes } or { exposed = NoClass };
        answered: exposed == Yes && !address sets { address = true };
    }
    properties {
        // A Pod finds files only once the node is reserved for it, it gets traffic, and its addresses are listed.
        never write_tree while pod != Current || listed != Current;
        apply_pv before apply_pod;
        apply_pod before write_tree;
    }
    rpc {
        unknown   when volume == Absent;
        unfit     when asked != Mount;
        differs   never "only the files are kept, and they are rewritten in place";
        elsewhere never "many Pods may mount one Listener";
        unstaged  never "what staging does is read off the PersistentVolume";

        NodeStageVolume -> pv == Current || source == Class by apply_pv within 90s else UNAVAILABLE {
            source == Bad                => INVALID_ARGUMENT;
            source == Name && !claim     => UNAVAILABLE         "the PersistentVolumeClaim of the volume is gone";
            exposed == NoClass           => FAILED_PRECONDITION;
            exposed == Yes && pv == Absent => UNAVAILABLE       "the PersistentVolume is gone";
            refused(apply_pv)            => UNAVAILABLE;
        }
        NodeUnstageVolume;                          // the reservation lives as long as the PersistentVolume
        NodePublishVolume -> Published by apply_own, apply_pv, apply_pod, apply_listed, write_tree within 90s else UNAVAILABLE {
            source == Bad      => INVALID_ARGUMENT;
            !meant             => FAILED_PRECONDITION "the Pod is gone";
            !claim             => UNAVAILABLE         "the PersistentVolumeClaim of the volume is gone";
            exposed == Yes && pv == Absent => UNAVAILABLE "the PersistentVolume is gone";
            exposed == Yes && mounts == Yes && pod == Absent => FAILED_PRECONDITION "the Pod is gone";
            mounts == No       => FAILED_PRECONDITION;
            namesake == Other && own == Foreign   => FAILED_PRECONDITION;
            namesake == Earlier && own == Foreign => UNAVAILABLE;
            exposed == NoClass => FAILED_PRECONDITION;
            refused(apply_own) => FAILED_PRECONDITION;
            refused(apply_pv) || refused(apply_pod) || refused(apply_listed) || refused(write_tree) => UNAVAILABLE;
        }
        NodeUnpublishVolume -> Free by remove_tree {
            refused(remove_tree) => UNAVAILABLE;
        }
    }
}

/// The ports of the Listener of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimPorts {
    /// Those of all Pods that have mounted the claim.
    pub ports: Vec<ListenerPort>,
    /// The newest of the Pods that name a port differently, which decides; `None` while none do.
    pub named_by: Option<String>,
}

/// Which Listener a volume leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aim {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The hexadecimal digits of its uid, without dashes: part of the label by which its Service finds Pods.
    pub uid: String,
}

/// What a Pod is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Where it can be reached; the first is its default address.
    pub addresses: Vec<ListenerIngress>,
    /// Which Pods these reach.
    pub scope: PodListenerScope,
}

/// What lies at the target of a mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// Nothing.
    Absent,
    /// The files that tell addresses, and nothing else.
    Files(Files),
    /// Something else, or not all of it.
    Other,
}

/// The files that tell addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// By name of the folder, which is the address.
    pub addresses: BTreeMap<String, Folder>,
    /// The folder to which `default-address` leads.
    pub default: Option<String>,
}

/// The files of one address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// What the file `address` holds.
    pub address: String,
    /// What the files of ports hold, by name of the port.
    pub ports: BTreeMap<String, String>,
}
