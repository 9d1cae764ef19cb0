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
        /// Requested use of the volume.
        asked:   { Mount, Block, Inline }   from request;
        /// Kind of object that the claim named when the volume was created.
        source:  { Class, Name, Bad }       from request given volume;
        /// True if this is the named Pod, and not another Pod that has its name by now.
        meant:   bool                       from request, mounted given mounted else false;
        /// `Yes` if the Pod mounts this claim.
        mounts:  { No, Yes }                from mounted, claim given meant && claim;
        /// `Yes` if the Listener reports its addresses, based on its class as it is now.
        exposed: { No, NoClass, Yes }       from chosen, own, class given source == Name && chosen || own in { Stale, Current } else No;
        /// Owner of the Listener that has the claim's name.
        namesake: { Other, Earlier }        from volume, claim, known given own == Foreign;
        /// Ports of all Pods that have mounted the claim.
        let ports: ClaimPorts               from known, mounted given mounted;
        /// Listener that the volume leads to.
        let aim: Option<Aim>                from chosen, own;
        let told: PodAddresses                      from chosen, own, class, node;
        /// True if an address for the Pod is available.
        address: bool                       from told, chosen, own given exposed == Yes else false;
        /// True if there are files at the target.
        held files: bool                    from tree;
        /// True if the files are up to date.
        fresh:   bool                       from tree, told given files && address else false;
    }
    states {
        /// Nothing is at the target.
        Free      when !files;
        /// The Pod gets its traffic and finds the current data, or the last known data.
        Published when fresh && pv == Current && listed == Current
                    || !address && meant && (exposed != Yes || pv == Current && pod == Current);
        /// The files or the objects about the Pod are outdated, or the Pod is gone.
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
        unstaged  never "the PersistentVolume shows what staging has done";

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

/// Listener that a volume leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aim {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Hexadecimal digits of the Pod's uid, without dashes. Part of the label by which its Service
    /// selects Pods.
    pub uid: String,
}

/// Addresses that are reported to a Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodAddresses {
    /// Addresses at which it can be reached; the first is its default address.
    pub addresses: Vec<ListenerIngress>,
    /// Pods that these addresses reach.
    pub scope: PodListenerScope,
}

/// Content of the target of a mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// Nothing.
    Absent,
    /// Exactly the files that list the addresses.
    Files(Files),
    /// Something else, or not all of it.
    Other,
}

/// Files that list the addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// By name of the folder, which is the address.
    pub addresses: BTreeMap<String, Folder>,
    /// Folder to which `default-address` links.
    pub default: Option<String>,
}

/// The files of one address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// Content of the file `address`.
    pub address: String,
    /// Content of the files of ports, by name of the port.
    pub ports: BTreeMap<String, String>,
}
