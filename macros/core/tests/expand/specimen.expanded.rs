//! Expansion of `specimen.txt`; written by the test `expand`.

///Values of the fact `keeper`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum Keeper {
    ///`keeper == Ours`.
    Ours,
    ///`keeper == Other`.
    Other,
}
impl Keeper {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Ours, Self::Other];
}
///Values of the fact `validity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum Validity {
    ///`validity == Fine`.
    Fine,
    ///`validity == Bad`.
    Bad,
}
impl Validity {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Fine, Self::Bad];
}
///Values of the fact `bucket`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum BucketValue {
    ///`bucket == No`.
    No,
    ///`bucket == Taken`.
    Taken,
    ///`bucket == Stale`.
    Stale,
    ///`bucket == Current`.
    Current,
    ///`bucket == Unknown`.
    Unknown,
}
impl BucketValue {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[
        Self::No,
        Self::Taken,
        Self::Stale,
        Self::Current,
        Self::Unknown,
    ];
}
///Values of the fact `warm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum Warm {
    ///`warm == NoPods`.
    NoPods,
    ///`warm == Cold`.
    Cold,
    ///`warm == Warming`.
    Warming,
    ///`warm == Warm`.
    Warm,
}
impl Warm {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[
        Self::NoPods,
        Self::Cold,
        Self::Warming,
        Self::Warm,
    ];
}
///Values of the fact `fit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum Fit {
    ///`fit == Loose`.
    Loose,
    ///`fit == Tight`.
    Tight,
}
impl Fit {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Loose, Self::Tight];
}
/// One world: the answer to every finite question, those that inputs bring included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    ///The object has a deletion timestamp.
    pub deleting: bool,
    ///Our finalizer is on the object.
    pub claimed: bool,
    ///Whether and how `class` is there.
    pub class: ::lifecycle_runtime::__private::Named,
    ///Whether and how `handle` is there.
    pub handle: ::lifecycle_runtime::__private::Part,
    ///Whether and how `store` is there.
    pub store: ::lifecycle_runtime::__private::Polled,
    ///Whether and how `usage` is there.
    pub usage: ::lifecycle_runtime::__private::Polled,
    ///Whether and how `secret` is there.
    pub secret: ::lifecycle_runtime::__private::Owned,
    ///Whether and how `badge` is there.
    pub badge: ::lifecycle_runtime::__private::Adopted,
    ///Whether and how `chore` is there.
    pub chore: ::lifecycle_runtime::__private::Created,
    ///Whether and how `gate` is there.
    pub gate: ::lifecycle_runtime::__private::Owned,
    ///Whether and how `logs` is there.
    pub logs: ::lifecycle_runtime::__private::CreatedSet,
    ///Whether and how `pods` is there.
    pub pods: ::lifecycle_runtime::__private::OwnedSet,
    ///Whether and how `kit` is there.
    pub kit: ::lifecycle_runtime::__private::OwnedSet,
    ///The fact `keeper`.
    pub keeper: Keeper,
    ///The fact `paused`.
    pub paused: bool,
    ///The fact `validity`.
    pub validity: Validity,
    ///The fact `bucket`.
    pub bucket: BucketValue,
    ///The fact `full`.
    pub full: bool,
    ///The fact `warm`.
    pub warm: Warm,
    ///The fact `fit`.
    pub fit: Fit,
    ///The fact `rush`.
    pub rush: bool,
    ///The fact `worn`.
    pub worn: bool,
    ///The last answer to this very write of `note_chore` was a refusal.
    pub refused_note_chore: bool,
    ///The last answer to this very write of `note_logs` was a refusal.
    pub refused_note_logs: bool,
    ///The last answer to this very write of `drop_bucket` was a refusal.
    pub refused_drop_bucket: bool,
    ///The last answer to this very write of `apply_handle` was a refusal.
    pub refused_apply_handle: bool,
    ///The last answer to this very write of `put_bucket` was a refusal.
    pub refused_put_bucket: bool,
    ///The last answer to this very write of `apply_secret` was a refusal.
    pub refused_apply_secret: bool,
    ///The last answer to this very write of `apply_pods` was a refusal.
    pub refused_apply_pods: bool,
    ///The last answer to this very write of `delete_pods` was a refusal.
    pub refused_delete_pods: bool,
    ///The last answer to this very write of `apply_kit` was a refusal.
    pub refused_apply_kit: bool,
    ///The last answer to this very write of `delete_kit` was a refusal.
    pub refused_delete_kit: bool,
    ///The last answer to this very write of `remove` was a refusal.
    pub refused_remove: bool,
    ///The last answer to this very write of `adopt_badge` was a refusal.
    pub refused_adopt_badge: bool,
    ///The last answer to this very write of `apply_badge` was a refusal.
    pub refused_apply_badge: bool,
    ///The last answer to this very write of `create_chore` was a refusal.
    pub refused_create_chore: bool,
    ///The last answer to this very write of `apply_gate` was a refusal.
    pub refused_apply_gate: bool,
    ///The last answer to this very write of `create_logs` was a refusal.
    pub refused_create_logs: bool,
}
impl Facts {
    /// A world of the runtime, typed.
    pub fn from_world(world: &::lifecycle_runtime::__private::World) -> Self {
        Self {
            deleting: world.get(0usize) == 1,
            claimed: world.get(1usize) == 1,
            class: ::lifecycle_runtime::__private::Named::VALUES[world.get(2usize)
                as usize],
            handle: ::lifecycle_runtime::__private::Part::VALUES[world.get(3usize)
                as usize],
            store: ::lifecycle_runtime::__private::Polled::VALUES[world.get(4usize)
                as usize],
            usage: ::lifecycle_runtime::__private::Polled::VALUES[world.get(5usize)
                as usize],
            secret: ::lifecycle_runtime::__private::Owned::VALUES[world.get(6usize)
                as usize],
            badge: ::lifecycle_runtime::__private::Adopted::VALUES[world.get(7usize)
                as usize],
            chore: ::lifecycle_runtime::__private::Created::VALUES[world.get(8usize)
                as usize],
            gate: ::lifecycle_runtime::__private::Owned::VALUES[world.get(9usize)
                as usize],
            logs: ::lifecycle_runtime::__private::CreatedSet::VALUES[world.get(10usize)
                as usize],
            pods: ::lifecycle_runtime::__private::OwnedSet::VALUES[world.get(11usize)
                as usize],
            kit: ::lifecycle_runtime::__private::OwnedSet::VALUES[world.get(12usize)
                as usize],
            keeper: Keeper::VALUES[world.get(13usize) as usize],
            paused: world.get(14usize) == 1,
            validity: Validity::VALUES[world.get(15usize) as usize],
            bucket: BucketValue::VALUES[world.get(16usize) as usize],
            full: world.get(17usize) == 1,
            warm: Warm::VALUES[world.get(18usize) as usize],
            fit: Fit::VALUES[world.get(19usize) as usize],
            rush: world.get(20usize) == 1,
            worn: world.get(21usize) == 1,
            refused_note_chore: world.get(22usize) == 1,
            refused_note_logs: world.get(23usize) == 1,
            refused_drop_bucket: world.get(24usize) == 1,
            refused_apply_handle: world.get(25usize) == 1,
            refused_put_bucket: world.get(26usize) == 1,
            refused_apply_secret: world.get(27usize) == 1,
            refused_apply_pods: world.get(28usize) == 1,
            refused_delete_pods: world.get(29usize) == 1,
            refused_apply_kit: world.get(30usize) == 1,
            refused_delete_kit: world.get(31usize) == 1,
            refused_remove: world.get(32usize) == 1,
            refused_adopt_badge: world.get(33usize) == 1,
            refused_apply_badge: world.get(34usize) == 1,
            refused_create_chore: world.get(35usize) == 1,
            refused_apply_gate: world.get(36usize) == 1,
            refused_create_logs: world.get(37usize) == 1,
        }
    }
}
/// State of an object in its lifecycle. The first state that matches counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum State {
    ///The object is being deleted: what is held is given back.
    Deleting,
    ///A write was refused that no state mentions.
    Refused,
    ///The state `Elsewhere`.
    Elsewhere,
    ///The state `Paused`.
    Paused,
    ///The state `NoName`.
    NoName,
    ///The state `NoClass`.
    NoClass,
    ///The state `Invalid`.
    Invalid,
    ///The state `Unrecorded`.
    Unrecorded,
    ///The state `Unreachable`.
    Unreachable,
    ///The state `Moving`.
    Moving,
    ///The state `Taken`.
    Taken,
    ///The state `Rejected`.
    Rejected,
    ///The state `Making`.
    Making,
    ///The state `Conflict`.
    Conflict,
    ///The state `Draining`.
    Draining,
    ///The state `Publishing`.
    Publishing,
    ///The state `Scaling`.
    Scaling,
    ///The state `Pruning`.
    Pruning,
    ///The state `Kitless`.
    Kitless,
    ///The state `Kitting`.
    Kitting,
    ///The state `Unbadged`.
    Unbadged,
    ///The state `Badging`.
    Badging,
    ///The state `Clashing`.
    Clashing,
    ///The state `Choring`.
    Choring,
    ///The state `Shown`.
    Shown,
    ///The state `Ready`.
    Ready,
}
impl State {
    /// The one state of a world.
    pub const fn classify(facts: &Facts) -> Self {
        if facts.deleting {
            return Self::Deleting;
        }
        if facts.refused_note_chore || facts.refused_note_logs
            || facts.refused_drop_bucket || facts.refused_apply_handle
            || facts.refused_apply_secret || facts.refused_apply_pods
            || facts.refused_delete_pods || facts.refused_apply_kit
            || facts.refused_delete_kit || facts.refused_remove
            || facts.refused_adopt_badge || facts.refused_apply_badge
            || facts.refused_create_chore || facts.refused_apply_gate
            || facts.refused_create_logs
        {
            return Self::Refused;
        }
        if matches!(facts.keeper, Keeper::Other) {
            return Self::Elsewhere;
        }
        if facts.paused {
            return Self::Paused;
        }
        if matches!(facts.class, ::lifecycle_runtime::__private::Named::Unnamed) {
            return Self::NoName;
        }
        if !matches!(facts.class, ::lifecycle_runtime::__private::Named::Present) {
            return Self::NoClass;
        }
        if matches!(facts.validity, Validity::Bad) {
            return Self::Invalid;
        }
        if matches!(facts.handle, ::lifecycle_runtime::__private::Part::Absent) {
            return Self::Unrecorded;
        }
        if matches!(facts.bucket, BucketValue::Unknown) {
            return Self::Unreachable;
        }
        if matches!(facts.handle, ::lifecycle_runtime::__private::Part::Stale) {
            return Self::Moving;
        }
        if matches!(facts.bucket, BucketValue::Taken) {
            return Self::Taken;
        }
        if facts.refused_put_bucket {
            return Self::Rejected;
        }
        if matches!(facts.bucket, BucketValue::No | BucketValue::Stale) {
            return Self::Making;
        }
        if (false
            || matches!(facts.secret, ::lifecycle_runtime::__private::Owned::Foreign)
            || matches!(facts.pods, ::lifecycle_runtime::__private::OwnedSet::Foreign))
        {
            return Self::Conflict;
        }
        if matches!(facts.secret, ::lifecycle_runtime::__private::Owned::Terminating) {
            return Self::Draining;
        }
        if matches!(
            facts.secret, ::lifecycle_runtime::__private::Owned::Absent |
            ::lifecycle_runtime::__private::Owned::Stale
        ) {
            return Self::Publishing;
        }
        if matches!(facts.pods, ::lifecycle_runtime::__private::OwnedSet::Behind) {
            return Self::Scaling;
        }
        if matches!(
            facts.pods, ::lifecycle_runtime::__private::OwnedSet::Surplus |
            ::lifecycle_runtime::__private::OwnedSet::Draining
        ) {
            return Self::Pruning;
        }
        if matches!(facts.kit, ::lifecycle_runtime::__private::OwnedSet::Foreign) {
            return Self::Kitless;
        }
        if (false
            || matches!(
                facts.kit, ::lifecycle_runtime::__private::OwnedSet::Behind |
                ::lifecycle_runtime::__private::OwnedSet::Surplus |
                ::lifecycle_runtime::__private::OwnedSet::Draining
            ) || matches!(facts.fit, Fit::Loose))
        {
            return Self::Kitting;
        }
        if matches!(facts.badge, ::lifecycle_runtime::__private::Adopted::Foreign) {
            return Self::Unbadged;
        }
        if (true && matches!(facts.warm, Warm::Warm)
            && matches!(
                facts.badge, ::lifecycle_runtime::__private::Adopted::Absent |
                ::lifecycle_runtime::__private::Adopted::Adoptable |
                ::lifecycle_runtime::__private::Adopted::Terminating |
                ::lifecycle_runtime::__private::Adopted::Stale
            ))
        {
            return Self::Badging;
        }
        if (false
            || matches!(facts.chore, ::lifecycle_runtime::__private::Created::Foreign)
            || matches!(facts.logs, ::lifecycle_runtime::__private::CreatedSet::Foreign)
            || matches!(facts.gate, ::lifecycle_runtime::__private::Owned::Foreign))
        {
            return Self::Clashing;
        }
        if (true
            && matches!(facts.badge, ::lifecycle_runtime::__private::Adopted::Current)
            && (false
                || matches!(
                    facts.chore, ::lifecycle_runtime::__private::Created::Absent |
                    ::lifecycle_runtime::__private::Created::New
                )
                || (true
                    && matches!(
                        facts.chore, ::lifecycle_runtime::__private::Created::Made
                    )
                    && matches!(
                        facts.logs, ::lifecycle_runtime::__private::CreatedSet::New |
                        ::lifecycle_runtime::__private::CreatedSet::Behind
                    ))
                || (true
                    && matches!(
                        facts.chore, ::lifecycle_runtime::__private::Created::Gone
                    )
                    && matches!(
                        facts.gate, ::lifecycle_runtime::__private::Owned::Absent |
                        ::lifecycle_runtime::__private::Owned::Terminating |
                        ::lifecycle_runtime::__private::Owned::Stale
                    ))))
        {
            return Self::Choring;
        }
        if (false
            || matches!(facts.badge, ::lifecycle_runtime::__private::Adopted::Current)
            || matches!(facts.chore, ::lifecycle_runtime::__private::Created::Gone))
        {
            return Self::Shown;
        }
        Self::Ready
    }
}
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, class :
    ::lifecycle_runtime::__private::Named::Unnamed, handle :
    ::lifecycle_runtime::__private::Part::Absent, store :
    ::lifecycle_runtime::__private::Polled::Unknown, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Other, paused :
    false, validity : Validity::Fine, bucket : BucketValue::No, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Elsewhere),
    "the emitted classification takes a world of `Elsewhere` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, class :
    ::lifecycle_runtime::__private::Named::Unnamed, handle :
    ::lifecycle_runtime::__private::Part::Absent, store :
    ::lifecycle_runtime::__private::Polled::Unknown, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    true, validity : Validity::Fine, bucket : BucketValue::No, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Paused),
    "the emitted classification takes a world of `Paused` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, class :
    ::lifecycle_runtime::__private::Named::Unnamed, handle :
    ::lifecycle_runtime::__private::Part::Absent, store :
    ::lifecycle_runtime::__private::Polled::Unknown, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::No, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::NoName),
    "the emitted classification takes a world of `NoName` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, class :
    ::lifecycle_runtime::__private::Named::Absent, handle :
    ::lifecycle_runtime::__private::Part::Absent, store :
    ::lifecycle_runtime::__private::Polled::Unknown, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::No, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::NoClass),
    "the emitted classification takes a world of `NoClass` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Absent, store :
    ::lifecycle_runtime::__private::Polled::Unknown, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Bad, bucket : BucketValue::No, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Invalid),
    "the emitted classification takes a world of `Invalid` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Absent, store :
    ::lifecycle_runtime::__private::Polled::Unknown, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::No, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Unrecorded),
    "the emitted classification takes a world of `Unrecorded` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Stale, store :
    ::lifecycle_runtime::__private::Polled::Unknown, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Unknown, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Unreachable),
    "the emitted classification takes a world of `Unreachable` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Stale, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::No, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Moving),
    "the emitted classification takes a world of `Moving` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Taken, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Taken),
    "the emitted classification takes a world of `Taken` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::No, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : true, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Rejected),
    "the emitted classification takes a world of `Rejected` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::No, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Making),
    "the emitted classification takes a world of `Making` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Foreign, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Current, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Conflict),
    "the emitted classification takes a world of `Conflict` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Terminating, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Current, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Draining),
    "the emitted classification takes a world of `Draining` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Current, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Publishing),
    "the emitted classification takes a world of `Publishing` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Current, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Current, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Scaling),
    "the emitted classification takes a world of `Scaling` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Current, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Surplus, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Current, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Pruning),
    "the emitted classification takes a world of `Pruning` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Current, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Current, kit :
    ::lifecycle_runtime::__private::OwnedSet::Foreign, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Current, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Kitless),
    "the emitted classification takes a world of `Kitless` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Current, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Current, kit :
    ::lifecycle_runtime::__private::OwnedSet::Behind, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Current, full : false, warm :
    Warm::NoPods, fit : Fit::Loose, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Kitting),
    "the emitted classification takes a world of `Kitting` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Known, secret :
    ::lifecycle_runtime::__private::Owned::Current, badge :
    ::lifecycle_runtime::__private::Adopted::Foreign, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Current, kit :
    ::lifecycle_runtime::__private::OwnedSet::Current, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Current, full : true, warm :
    Warm::Warm, fit : Fit::Tight, rush : false, worn : false, refused_note_chore : false,
    refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle : false,
    refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods : false,
    refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit : false,
    refused_remove : false, refused_adopt_badge : false, refused_apply_badge : false,
    refused_create_chore : false, refused_apply_gate : false, refused_create_logs : false
    }), State::Unbadged),
    "the emitted classification takes a world of `Unbadged` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Known, secret :
    ::lifecycle_runtime::__private::Owned::Current, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Current, kit :
    ::lifecycle_runtime::__private::OwnedSet::Current, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Current, full : true, warm :
    Warm::Warm, fit : Fit::Tight, rush : false, worn : false, refused_note_chore : false,
    refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle : false,
    refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods : false,
    refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit : false,
    refused_remove : false, refused_adopt_badge : false, refused_apply_badge : false,
    refused_create_chore : false, refused_apply_gate : false, refused_create_logs : false
    }), State::Badging),
    "the emitted classification takes a world of `Badging` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Known, secret :
    ::lifecycle_runtime::__private::Owned::Current, badge :
    ::lifecycle_runtime::__private::Adopted::Current, chore :
    ::lifecycle_runtime::__private::Created::Foreign, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Current, kit :
    ::lifecycle_runtime::__private::OwnedSet::Current, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Current, full : true, warm :
    Warm::Warm, fit : Fit::Tight, rush : false, worn : false, refused_note_chore : false,
    refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle : false,
    refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods : false,
    refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit : false,
    refused_remove : false, refused_adopt_badge : false, refused_apply_badge : false,
    refused_create_chore : false, refused_apply_gate : false, refused_create_logs : false
    }), State::Clashing),
    "the emitted classification takes a world of `Clashing` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Known, secret :
    ::lifecycle_runtime::__private::Owned::Current, badge :
    ::lifecycle_runtime::__private::Adopted::Current, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Current, kit :
    ::lifecycle_runtime::__private::OwnedSet::Current, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Current, full : true, warm :
    Warm::Warm, fit : Fit::Tight, rush : false, worn : false, refused_note_chore : false,
    refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle : false,
    refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods : false,
    refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit : false,
    refused_remove : false, refused_adopt_badge : false, refused_apply_badge : false,
    refused_create_chore : false, refused_apply_gate : false, refused_create_logs : false
    }), State::Choring),
    "the emitted classification takes a world of `Choring` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Known, secret :
    ::lifecycle_runtime::__private::Owned::Current, badge :
    ::lifecycle_runtime::__private::Adopted::Current, chore :
    ::lifecycle_runtime::__private::Created::Terminating, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Current, kit :
    ::lifecycle_runtime::__private::OwnedSet::Current, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Current, full : true, warm :
    Warm::Warm, fit : Fit::Tight, rush : false, worn : false, refused_note_chore : false,
    refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle : false,
    refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods : false,
    refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit : false,
    refused_remove : false, refused_adopt_badge : false, refused_apply_badge : false,
    refused_create_chore : false, refused_apply_gate : false, refused_create_logs : false
    }), State::Shown),
    "the emitted classification takes a world of `Shown` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, class :
    ::lifecycle_runtime::__private::Named::Present, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, usage :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Current, badge :
    ::lifecycle_runtime::__private::Adopted::Absent, chore :
    ::lifecycle_runtime::__private::Created::Absent, gate :
    ::lifecycle_runtime::__private::Owned::Absent, logs :
    ::lifecycle_runtime::__private::CreatedSet::New, pods :
    ::lifecycle_runtime::__private::OwnedSet::Current, kit :
    ::lifecycle_runtime::__private::OwnedSet::Current, keeper : Keeper::Ours, paused :
    false, validity : Validity::Fine, bucket : BucketValue::Current, full : false, warm :
    Warm::NoPods, fit : Fit::Tight, rush : false, worn : false, refused_note_chore :
    false, refused_note_logs : false, refused_drop_bucket : false, refused_apply_handle :
    false, refused_put_bucket : false, refused_apply_secret : false, refused_apply_pods :
    false, refused_delete_pods : false, refused_apply_kit : false, refused_delete_kit :
    false, refused_remove : false, refused_adopt_badge : false, refused_apply_badge :
    false, refused_create_chore : false, refused_apply_gate : false, refused_create_logs
    : false }), State::Ready),
    "the emitted classification takes a world of `Ready` for another state"
);
const _: () = ::lifecycle_runtime::__private::owned_by::<Secret, Bucket>();
const _: () = ::lifecycle_runtime::__private::owned_by::<ConfigMap, Bucket>();
const _: () = ::lifecycle_runtime::__private::owned_by::<Job, Bucket>();
const _: () = ::lifecycle_runtime::__private::owned_by::<Ingress, Bucket>();
const _: () = ::lifecycle_runtime::__private::owned_by::<Log, Bucket>();
const _: () = ::lifecycle_runtime::__private::owned_by::<Pod, Secret>();
const _: () = ::lifecycle_runtime::__private::owned_by::<ConfigMap, Bucket>();
const _: () = ::lifecycle_runtime::__private::owned_by::<Service, Bucket>();
const _: () = ::lifecycle_runtime::__private::owned_by::<Secret, Bucket>();
const _: () = ::lifecycle_runtime::__private::owned_by::<ConfigMap, Bucket>();
const _: () = ::lifecycle_runtime::__private::named_by::<BucketClass, Bucket>();
const _: () = ::lifecycle_runtime::__private::named_by::<Node, Bucket>();
const _: () = ::lifecycle_runtime::__private::named_by::<Secret, Bucket>();
const _: () = ::lifecycle_runtime::__private::named_by::<ConfigMap, Bucket>();
const _: () = ::lifecycle_runtime::__private::named_by::<Job, Bucket>();
const _: () = ::lifecycle_runtime::__private::named_by::<Ingress, Bucket>();
const _: () = ::lifecycle_runtime::__private::named_by::<Service, Bucket>();
const _: () = ::lifecycle_runtime::__private::named_by::<Secret, Bucket>();
const _: () = ::lifecycle_runtime::__private::named_by::<ConfigMap, Bucket>();
const _: fn(&Pod) = |object| {
    #[allow(unused_imports, reason = "every part of a path may be optional")]
    use ::lifecycle_runtime::__private::Inside as _;
    let _ = ::lifecycle_runtime::__private::Along::from(object)
        .field(|object| &object.spec)
        .inside()
        .field(|object| &object.containers)
        .inside()
        .list();
};
const _: fn(&Service) = |object| {
    #[allow(unused_imports, reason = "every part of a path may be optional")]
    use ::lifecycle_runtime::__private::Inside as _;
    let _ = ::lifecycle_runtime::__private::Along::from(object)
        .field(|object| &object.spec)
        .inside()
        .field(|object| &object.ports)
        .inside()
        .list();
};
/// Observations of one reconcile.
#[derive(Clone)]
pub struct Seen<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Bucket>,
    ///The input `class`.
    pub class: ::std::option::Option<&'a BucketClass>,
    ///The input `zones`.
    pub zones: ::std::vec::Vec<&'a Zone>,
    ///The input `peers`.
    pub peers: ::std::vec::Vec<&'a Bucket>,
    ///The input `nodes`.
    pub nodes: ::std::vec::Vec<&'a Node>,
    ///The input `grants`.
    pub grants: ::std::vec::Vec<&'a Grant>,
    ///The input `owners`.
    pub owners: ::std::vec::Vec<&'a Owner>,
    ///The input `handle`.
    pub handle: ::std::option::Option<&'a String>,
    ///The input `store`.
    pub store: ::std::option::Option<&'a BucketInfo>,
    ///The input `usage`.
    pub usage: ::std::option::Option<&'a Usage>,
    ///The input `secret`.
    pub secret: ::std::option::Option<&'a Secret>,
    ///The input `badge`.
    pub badge: ::std::option::Option<&'a ConfigMap>,
    ///The input `chore`.
    pub chore: ::std::option::Option<&'a Job>,
    ///The input `chores`.
    pub chores: ::std::option::Option<&'a ::lifecycle_runtime::__private::Noted>,
    ///The input `gate`.
    pub gate: ::std::option::Option<&'a Ingress>,
    ///The input `logs`.
    pub logs: ::std::vec::Vec<&'a Log>,
    ///The input `logged`.
    pub logged: ::std::option::Option<&'a ::lifecycle_runtime::__private::Noted>,
    ///The input `pods`.
    pub pods: ::std::vec::Vec<&'a Pod>,
    ///The input `cover`.
    pub cover: ::std::option::Option<&'a ConfigMap>,
    ///The input `lid`.
    pub lid: ::std::option::Option<&'a Service>,
    ///The shared value `reach`.
    pub reach: ::std::option::Option<&'a Reach>,
    ///The shared value `access`.
    pub access: ::std::option::Option<&'a Access>,
}
impl<'a> Seen<'a> {
    /// An observation of the runtime, typed.
    pub fn from_observation(
        observation: &'a ::lifecycle_runtime::__private::Observation,
    ) -> ::std::option::Option<Self> {
        ::std::option::Option::Some(Self {
            this: observation.this::<Bucket>()?,
            class: observation.one::<BucketClass>(0usize),
            zones: observation.many::<Zone>(1usize),
            peers: observation.many::<Bucket>(2usize),
            nodes: observation.many::<Node>(3usize),
            grants: observation.many::<Grant>(4usize),
            owners: observation.many::<Owner>(5usize),
            handle: observation.one::<String>(6usize),
            store: observation.one::<BucketInfo>(7usize),
            usage: observation.one::<Usage>(8usize),
            secret: observation.one::<Secret>(9usize),
            badge: observation.one::<ConfigMap>(11usize),
            chore: observation.one::<Job>(12usize),
            chores: observation.one::<::lifecycle_runtime::__private::Noted>(13usize),
            gate: observation.one::<Ingress>(14usize),
            logs: observation.many::<Log>(15usize),
            logged: observation.one::<::lifecycle_runtime::__private::Noted>(16usize),
            pods: observation.many::<Pod>(17usize),
            cover: observation.one::<ConfigMap>(19usize),
            lid: observation.one::<Service>(20usize),
            reach: observation.value::<Reach>(0usize),
            access: observation.value::<Access>(1usize),
        })
    }
}
///Proof that everything is there that `drop_bucket` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct DropBucket<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Bucket>,
    _proved: (),
}
impl<'a> DropBucket<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true) {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            _proved: (),
        })
    }
}
///What `drop_bucket` may end with, in order of its `sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum DropBucketResult {
    ///`bucket = No`.
    No,
}
impl DropBucketResult {
    fn alternative(&self) -> usize {
        *self as usize
    }
}
///Proof that everything is there that `apply_handle` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyHandle<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Bucket>,
    _proved: (),
}
impl<'a> ApplyHandle<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true) {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            _proved: (),
        })
    }
}
///Proof that everything is there that `put_bucket` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct PutBucket<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Bucket>,
    ///`class`, certainly there.
    pub class: &'a BucketClass,
    ///`reach`, certainly there.
    pub reach: &'a Reach,
    _proved: (),
}
impl<'a> PutBucket<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true
            && matches!(facts.class, ::lifecycle_runtime::__private::Named::Present))
        {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            class: seen.class?,
            reach: seen.reach?,
            _proved: (),
        })
    }
}
///What `put_bucket` may end with, in order of its `sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum PutBucketResult {
    ///`bucket = Current`.
    Current,
    ///`bucket = Taken`.
    Taken,
}
impl PutBucketResult {
    fn alternative(&self) -> usize {
        *self as usize
    }
}
///Proof that everything is there that `apply_secret` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplySecret<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Bucket>,
    ///`store`, certainly there.
    pub store: &'a BucketInfo,
    ///`reach`, certainly there.
    pub reach: &'a Reach,
    ///`access`, certainly there.
    pub access: &'a Access,
    ///`class`, certainly there.
    pub class: &'a BucketClass,
    _proved: (),
}
impl<'a> ApplySecret<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true && matches!(facts.store, ::lifecycle_runtime::__private::Polled::Known)
            && matches!(facts.class, ::lifecycle_runtime::__private::Named::Present))
        {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            store: seen.store?,
            reach: seen.reach?,
            access: seen.access?,
            class: seen.class?,
            _proved: (),
        })
    }
}
///Proof that everything is there that `apply_pods` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyPods<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Bucket>,
    ///`class`, certainly there.
    pub class: &'a BucketClass,
    ///`zones`, certainly there.
    pub zones: ::std::vec::Vec<&'a Zone>,
    ///`secret`, certainly there.
    pub secret: &'a Secret,
    _proved: (),
}
impl<'a> ApplyPods<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true
            && matches!(facts.class, ::lifecycle_runtime::__private::Named::Present)
            && matches!(
                facts.secret, ::lifecycle_runtime::__private::Owned::Stale |
                ::lifecycle_runtime::__private::Owned::Current
            ))
        {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            class: seen.class?,
            zones: seen.zones.clone(),
            secret: seen.secret?,
            _proved: (),
        })
    }
}
///Proof that everything is there that `apply_kit` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyKit<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Bucket>,
    ///`class`, certainly there.
    pub class: &'a BucketClass,
    _proved: (),
}
impl<'a> ApplyKit<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true
            && matches!(facts.class, ::lifecycle_runtime::__private::Named::Present))
        {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            class: seen.class?,
            _proved: (),
        })
    }
}
///Proof that everything is there that `apply_badge` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyBadge<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Bucket>,
    _proved: (),
}
impl<'a> ApplyBadge<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true) {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            _proved: (),
        })
    }
}
///Proof that everything is there that `create_chore` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct CreateChore<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Bucket>,
    _proved: (),
}
impl<'a> CreateChore<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true) {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            _proved: (),
        })
    }
}
///Proof that everything is there that `apply_gate` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyGate<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Bucket>,
    _proved: (),
}
impl<'a> ApplyGate<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true) {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            _proved: (),
        })
    }
}
///Proof that everything is there that `create_logs` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct CreateLogs<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Bucket>,
    ///`class`, certainly there.
    pub class: &'a BucketClass,
    _proved: (),
}
impl<'a> CreateLogs<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true
            && matches!(facts.class, ::lifecycle_runtime::__private::Named::Present))
        {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            class: seen.class?,
            _proved: (),
        })
    }
}
///What the author of `Bucket` decides: pure but for calls and polls, each method with exactly its declared inputs.
#[allow(clippy::ptr_arg, reason = "a method gets its input as it was declared")]
pub trait BucketLogic: ::std::marker::Send + ::std::marker::Sync + 'static {
    ///The names of `nodes`.
    fn nodes(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        zones: &[&Zone],
        peers: &[&Bucket],
    ) -> ::std::collections::BTreeSet<::std::string::String>;
    ///Which objects `grants` are, in any namespace.
    fn grants(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        class: ::std::option::Option<&BucketClass>,
    ) -> ::std::collections::BTreeSet<::lifecycle_runtime::__private::ObjectRef>;
    ///Which object `cover` is.
    fn cover(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::ObjectRef>;
    ///Asks for `store`; objects with equal keys share the answer.
    fn poll_store(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        handle: &String,
    ) -> impl ::std::future::Future<
        Output = ::std::result::Result<
            BucketInfo,
            ::lifecycle_runtime::__private::CallError,
        >,
    > + ::std::marker::Send;
    ///Asks for `usage`; objects with equal keys share the answer.
    fn poll_usage(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        zones: ::std::vec::Vec<&Zone>,
        handle: ::std::option::Option<&String>,
        class: &BucketClass,
    ) -> impl ::std::future::Future<
        Output = ::std::result::Result<Usage, ::lifecycle_runtime::__private::CallError>,
    > + ::std::marker::Send;
    ///Computes the shared value `reach`.
    fn reach(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        zones: &[&Zone],
        nodes: &[&Node],
        grants: &[&Grant],
        owners: &[&Owner],
    ) -> Reach;
    ///Reads `access` back; `None` if it is not there, so that it is made.
    fn read_access(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        secret: &Secret,
    ) -> ::std::option::Option<Access>;
    ///Makes `access`: from its declared inputs and these random bytes alone.
    fn make_access(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        class: &BucketClass,
        now: &::lifecycle_runtime::__private::Timestamp,
        random: &mut ::lifecycle_runtime::__private::Random,
    ) -> Access;
    ///Answers the fact `keeper`.
    fn keeper(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
    ) -> ::lifecycle_runtime::__private::Because<Keeper>;
    ///Answers the fact `paused`.
    fn paused(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
    ) -> ::lifecycle_runtime::__private::Because<bool>;
    ///Answers the fact `validity`.
    fn validity(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        class: &BucketClass,
        reach: ::std::option::Option<&Reach>,
        peers: &[&Bucket],
    ) -> ::lifecycle_runtime::__private::Because<Validity>;
    ///Answers the fact `bucket`.
    fn bucket(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        store: &BucketInfo,
    ) -> ::lifecycle_runtime::__private::Because<BucketValue>;
    ///Answers the fact `full`.
    fn full(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        usage: &Usage,
    ) -> ::lifecycle_runtime::__private::Because<bool>;
    ///Whether `warm` counts this member.
    fn warm(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        member: &Pod,
    ) -> ::lifecycle_runtime::__private::Because<bool>;
    ///Answers the fact `fit`.
    fn fit(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        cover: ::std::option::Option<&ConfigMap>,
    ) -> ::lifecycle_runtime::__private::Because<Fit>;
    ///Answers the fact `rush`, and says until when that holds.
    fn rush(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        zones: &[&Zone],
        now: &::lifecycle_runtime::__private::Timestamp,
    ) -> ::lifecycle_runtime::__private::Timed<bool>;
    ///Answers the fact `worn`.
    fn worn(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        secret: ::std::option::Option<&Secret>,
    ) -> ::lifecycle_runtime::__private::Because<bool>;
    ///Runs `drop_bucket`: one mutation, which consumes `once`.
    fn drop_bucket(
        &self,
        at: DropBucket<'_>,
        once: ::lifecycle_runtime::__private::Once<'_>,
    ) -> impl ::std::future::Future<
        Output = ::lifecycle_runtime::__private::Outcome<DropBucketResult>,
    > + ::std::marker::Send;
    ///What `handle` should be: only the fields that we want to own.
    fn apply_handle(&self, at: ApplyHandle<'_>) -> String;
    ///Runs `put_bucket`: one mutation, which consumes `once`.
    fn put_bucket(
        &self,
        at: PutBucket<'_>,
        once: ::lifecycle_runtime::__private::Once<'_>,
    ) -> impl ::std::future::Future<
        Output = ::lifecycle_runtime::__private::Outcome<PutBucketResult>,
    > + ::std::marker::Send;
    ///What `secret` should be: only the fields that we want to own.
    fn apply_secret(
        &self,
        at: ApplySecret<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<Secret>;
    ///What `pods` should be: only the fields that we want to own.
    fn apply_pods(
        &self,
        at: ApplyPods<'_>,
    ) -> ::std::vec::Vec<::lifecycle_runtime::__private::Desired<Pod>>;
    ///What `cover` should be: only the fields that we want to own.
    fn apply_kit_cover(
        &self,
        at: ApplyKit<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<ConfigMap>;
    ///What `lid` should be: only the fields that we want to own; `None` if there is to be none.
    fn apply_kit_lid(
        &self,
        at: ApplyKit<'_>,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Desired<Service>>;
    ///What `badge` should be: only the fields that we want to own.
    fn apply_badge(
        &self,
        at: ApplyBadge<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<ConfigMap>;
    ///What is created of `chore`, once.
    fn create_chore(
        &self,
        at: CreateChore<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<Job>;
    ///What `gate` should be: only the fields that we want to own.
    fn apply_gate(
        &self,
        at: ApplyGate<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<Ingress>;
    ///What is created of `logs`, once.
    fn create_logs(
        &self,
        at: CreateLogs<'_>,
    ) -> ::std::vec::Vec<::lifecycle_runtime::__private::Desired<Log>>;
    ///The status field `size`; asked only where all its inputs are there.
    fn size(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        usage: &Usage,
    ) -> Option<u64>;
    ///The status field `is_full`; asked only where all its inputs are there.
    fn is_full(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        full: bool,
    ) -> bool;
    ///The status field `is_warm`; asked only where all its inputs are there.
    fn is_warm(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        warm: Warm,
    ) -> bool;
    ///The status field `is_rush`; asked only where all its inputs are there.
    fn is_rush(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        rush: bool,
    ) -> bool;
    ///The status field `gate_name`; asked only where all its inputs are there.
    fn gate_name(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        gate: &Ingress,
    ) -> String;
    ///The status field `zone_names`; asked only where all its inputs are there.
    fn zone_names(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        zones: &[&Zone],
        reach: &Reach,
    ) -> Vec<String>;
}
///The lifecycle of `Bucket` with the logic of its author.
#[derive(Clone, Debug)]
pub struct BucketMachine<L>(L);
/// Ties the logic to the lifecycle.
pub fn machine<L: BucketLogic>(logic: L) -> BucketMachine<L> {
    BucketMachine(logic)
}
#[allow(unused_variables, reason = "a lifecycle need not use every argument")]
impl<L: BucketLogic> ::lifecycle_runtime::__private::Machine for BucketMachine<L> {
    fn ir(&self) -> &'static ::lifecycle_runtime::__private::ir::Lifecycle {
        IR
    }
    fn subject(&self) -> ::std::option::Option<::lifecycle_runtime::__private::Kind> {
        ::std::option::Option::Some(
            ::lifecycle_runtime::__private::Kind::for_type::<Bucket>(),
        )
    }
    fn kind(
        &self,
        input: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Kind> {
        match input {
            0usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<BucketClass>(),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Zone>(),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Bucket>(),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Node>(),
                )
            }
            4usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Grant>(),
                )
            }
            5usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Owner>(),
                )
            }
            9usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Secret>(),
                )
            }
            11usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<ConfigMap>(),
                )
            }
            12usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Job>(),
                )
            }
            14usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Ingress>(),
                )
            }
            15usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Log>(),
                )
            }
            17usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Pod>(),
                )
            }
            19usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<ConfigMap>(),
                )
            }
            20usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Service>(),
                )
            }
            21usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Secret>(),
                )
            }
            22usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<ConfigMap>(),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn recall(
        &self,
        input: usize,
        recorded: &::lifecycle_runtime::__private::Json,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Any> {
        match input {
            6usize => ::lifecycle_runtime::__private::recalled::<String>(recorded),
            _ => ::std::option::Option::None,
        }
    }
    fn wants(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        input: usize,
    ) -> ::std::option::Option<bool> {
        match input {
            14usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Wanted::is_wanted(
                        &observation.this::<Bucket>()?.spec.tls.host,
                    ),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn lookup(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        input: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::LookupKey> {
        match input {
            0usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Bucket>()?.spec.class_name,
                        ),
                    ),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::LookupKey::All,
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_equal(
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Bucket>()?.spec.region,
                        ),
                    ),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::LookupKey::Names(
                        self
                            .0
                            .nodes(
                                observation.this::<Bucket>()?,
                                &observation.many::<Zone>(1usize),
                                &observation.many::<Bucket>(2usize),
                            ),
                    ),
                )
            }
            4usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::LookupKey::Refs(
                        self
                            .0
                            .grants(
                                observation.this::<Bucket>()?,
                                observation.one::<BucketClass>(0usize),
                            ),
                    ),
                )
            }
            5usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::LookupKey::All,
                )
            }
            6usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::LookupKey::All,
                )
            }
            7usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_about(
                        observation.identity(6usize),
                    ),
                )
            }
            8usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_keys([
                        observation.identity(1usize),
                        observation.identity(6usize),
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Bucket>()?.spec.region,
                        ),
                        observation
                            .one::<BucketClass>(0usize)
                            .and_then(|object| ::lifecycle_runtime::__private::Text::text(
                                &object.spec.tier,
                            )),
                    ]),
                )
            }
            9usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Bucket>()?.meta.name,
                        ),
                    ),
                )
            }
            10usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::LookupKey::All,
                )
            }
            11usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Bucket>()?.meta.name,
                        ),
                    ),
                )
            }
            12usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Bucket>()?.meta.name,
                        ),
                    ),
                )
            }
            13usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::LookupKey::All,
                )
            }
            14usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Bucket>()?.meta.name,
                        ),
                    ),
                )
            }
            15usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_labels([
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Bucket>()?.meta.name,
                        ),
                    ]),
                )
            }
            16usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::LookupKey::All,
                )
            }
            17usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_labels([
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Bucket>()?.meta.name,
                        ),
                    ]),
                )
            }
            18usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::LookupKey::All,
                )
            }
            19usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_ref(
                        self.0.cover(observation.this::<Bucket>()?),
                    ),
                )
            }
            20usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Bucket>()?.meta.name,
                        ),
                    ),
                )
            }
            21usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Bucket>()?.spec.token,
                        ),
                    ),
                )
            }
            22usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Bucket>()?.spec.token,
                        ),
                    ),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn theirs(
        &self,
        input: usize,
        object: &::lifecycle_runtime::__private::Stored,
    ) -> ::std::option::Option<::std::string::String> {
        match input {
            2usize => {
                ::lifecycle_runtime::__private::Text::text(
                    &object.get::<Bucket>()?.spec.region,
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn value(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        value: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Any> {
        match value {
            0usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::shared(
                        self
                            .0
                            .reach(
                                observation.this::<Bucket>()?,
                                &observation.many::<Zone>(1usize),
                                &observation.many::<Node>(3usize),
                                &observation.many::<Grant>(4usize),
                                &observation.many::<Owner>(5usize),
                            ),
                    ),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::shared(
                        self
                            .0
                            .read_access(
                                observation.this::<Bucket>()?,
                                observation.one::<Secret>(9usize)?,
                            )?,
                    ),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn make(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        value: usize,
        random: &mut ::lifecycle_runtime::__private::Random,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Any> {
        match value {
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::shared(
                        self
                            .0
                            .make_access(
                                observation.this::<Bucket>()?,
                                observation.one::<BucketClass>(0usize)?,
                                observation
                                    .one::<::lifecycle_runtime::__private::Timestamp>(10usize)?,
                                random,
                            ),
                    ),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn fact(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        var: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Answer> {
        match var {
            13usize => {
                ::std::option::Option::Some(
                    self.0.keeper(observation.this::<Bucket>()?).map(|value| value as u8),
                )
            }
            14usize => {
                ::std::option::Option::Some(
                    self.0.paused(observation.this::<Bucket>()?).map(|value| value as u8),
                )
            }
            15usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .validity(
                            observation.this::<Bucket>()?,
                            observation.one::<BucketClass>(0usize)?,
                            observation.value::<Reach>(0usize),
                            &observation.many::<Bucket>(2usize),
                        )
                        .map(|value| value as u8),
                )
            }
            16usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .bucket(
                            observation.this::<Bucket>()?,
                            observation.one::<BucketInfo>(7usize)?,
                        )
                        .map(|value| value as u8),
                )
            }
            17usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .full(
                            observation.this::<Bucket>()?,
                            observation.one::<Usage>(8usize)?,
                        )
                        .map(|value| value as u8),
                )
            }
            18usize => {
                ::std::option::Option::Some({
                    let about = observation.this::<Bucket>()?;
                    ::lifecycle_runtime::__private::count(
                        &observation.many::<Pod>(17usize),
                        |member| self.0.warm(about, member),
                    )
                })
            }
            19usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .fit(
                            observation.this::<Bucket>()?,
                            observation.one::<ConfigMap>(19usize),
                        )
                        .map(|value| value as u8),
                )
            }
            21usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .worn(
                            observation.this::<Bucket>()?,
                            observation.one::<Secret>(9usize),
                        )
                        .map(|value| value as u8),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn timed(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        var: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Timed<u8>> {
        match var {
            20usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .rush(
                            observation.this::<Bucket>()?,
                            &observation.many::<Zone>(1usize),
                            observation
                                .one::<::lifecycle_runtime::__private::Timestamp>(10usize)?,
                        )
                        .map(|value| value as u8),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn build(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        effect: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Built> {
        let (seen, facts) = (
            Seen::from_observation(observation)?,
            Facts::from_world(&observation.world),
        );
        match effect {
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::recorded(
                        &self.0.apply_handle(ApplyHandle::at(&seen, &facts)?),
                    )?,
                )
            }
            5usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        Secret,
                    >::into_built(self.0.apply_secret(ApplySecret::at(&seen, &facts)?)),
                )
            }
            6usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        Pod,
                    >::into_built_each(self.0.apply_pods(ApplyPods::at(&seen, &facts)?)),
                )
            }
            8usize => {
                ::std::option::Option::Some({
                    let at = ApplyKit::at(&seen, &facts)?;
                    ::lifecycle_runtime::__private::Built::Group(
                        ::std::vec![
                            ::std::option::Option::Some(::lifecycle_runtime::__private::Desired::
                            < ConfigMap > ::into_member(self.0.
                            apply_kit_cover(::std::clone::Clone::clone(& at)))), self.0.
                            apply_kit_lid(::std::clone::Clone::clone(& at))
                            .map(::lifecycle_runtime::__private::Desired:: < Service >
                            ::into_member)
                        ],
                    )
                })
            }
            12usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        ConfigMap,
                    >::into_built(self.0.apply_badge(ApplyBadge::at(&seen, &facts)?)),
                )
            }
            13usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        Job,
                    >::into_built(self.0.create_chore(CreateChore::at(&seen, &facts)?)),
                )
            }
            14usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        Ingress,
                    >::into_built(self.0.apply_gate(ApplyGate::at(&seen, &facts)?)),
                )
            }
            15usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        Log,
                    >::into_built_each(
                        self.0.create_logs(CreateLogs::at(&seen, &facts)?),
                    ),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn field(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        field: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Json> {
        match field {
            3usize => {
                ::lifecycle_runtime::__private::json(
                    &self
                        .0
                        .size(
                            observation.this::<Bucket>()?,
                            observation.one::<Usage>(8usize)?,
                        ),
                )
            }
            4usize => {
                ::lifecycle_runtime::__private::json(
                    &self
                        .0
                        .is_full(
                            observation.this::<Bucket>()?,
                            Facts::from_world(&observation.world).full,
                        ),
                )
            }
            5usize => {
                ::lifecycle_runtime::__private::json(
                    &self
                        .0
                        .is_warm(
                            observation.this::<Bucket>()?,
                            Facts::from_world(&observation.world).warm,
                        ),
                )
            }
            6usize => {
                ::lifecycle_runtime::__private::json(
                    &self
                        .0
                        .is_rush(
                            observation.this::<Bucket>()?,
                            Facts::from_world(&observation.world).rush,
                        ),
                )
            }
            7usize => {
                ::lifecycle_runtime::__private::json(
                    &self
                        .0
                        .gate_name(
                            observation.this::<Bucket>()?,
                            observation.one::<Ingress>(14usize)?,
                        ),
                )
            }
            8usize => {
                ::lifecycle_runtime::__private::json(
                    &self
                        .0
                        .zone_names(
                            observation.this::<Bucket>()?,
                            &observation.many::<Zone>(1usize),
                            observation.value::<Reach>(0usize)?,
                        ),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn text(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        text: usize,
    ) -> ::std::option::Option<::std::string::String> {
        match text {
            0usize => {
                ::lifecycle_runtime::__private::Text::text(
                    &observation.this::<Bucket>()?.meta.name,
                )
            }
            1usize => {
                ::lifecycle_runtime::__private::Text::text(
                    &observation.this::<Bucket>()?.spec.region,
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn time(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        time: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Said> {
        match time {
            0usize => {
                ::lifecycle_runtime::__private::Lasts::lasts(
                    &observation.this::<Bucket>()?.spec.interval,
                )
            }
            1usize => {
                ::lifecycle_runtime::__private::Lasts::lasts(
                    &observation.this::<Bucket>()?.spec.timeout,
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn poll<'a>(
        &'a self,
        observation: &'a ::lifecycle_runtime::__private::Observation,
        input: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Polling<'a>> {
        match input {
            7usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::polling(
                        self
                            .0
                            .poll_store(
                                observation.this::<Bucket>()?,
                                observation.one::<String>(6usize)?,
                            ),
                    ),
                )
            }
            8usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::polling(
                        self
                            .0
                            .poll_usage(
                                observation.this::<Bucket>()?,
                                observation.many::<Zone>(1usize),
                                observation.one::<String>(6usize),
                                observation.one::<BucketClass>(0usize)?,
                            ),
                    ),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn key(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        effect: usize,
    ) -> ::std::option::Option<::std::string::String> {
        match effect {
            2usize => observation.identity(6usize),
            4usize => observation.identity(6usize),
            _ => ::std::option::Option::None,
        }
    }
    fn call<'a>(
        &'a self,
        observation: &'a ::lifecycle_runtime::__private::Observation,
        effect: usize,
        once: ::lifecycle_runtime::__private::Once<'a>,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Calling<'a>> {
        let (seen, facts) = (
            Seen::from_observation(observation)?,
            Facts::from_world(&observation.world),
        );
        match effect {
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::calling(
                        self.0.drop_bucket(DropBucket::at(&seen, &facts)?, once),
                        DropBucketResult::alternative,
                    ),
                )
            }
            4usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::calling(
                        self.0.put_bucket(PutBucket::at(&seen, &facts)?, once),
                        PutBucketResult::alternative,
                    ),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
}
/// Declaration of the lifecycle, as data.
pub const IR: &::lifecycle_runtime::__private::ir::Lifecycle = {
    use ::lifecycle_runtime::__private::ir;
    &ir::Lifecycle {
        name: "Bucket",
        path: ::std::concat!(::std::module_path!(), "::Bucket"),
        doc: "A bucket in an object store outside the cluster, with one of everything.",
        inputs: &[
            ir::Input {
                name: "class",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "BucketClass",
                lookup: ir::Lookup::Name("spec.className"),
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(2usize),
                owner: ::std::option::Option::None,
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "zones",
                doc: "",
                mode: ir::Mode::Watched,
                many: true,
                kind: "Zone",
                lookup: ir::Lookup::Namespace,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "peers",
                doc: "",
                mode: ir::Mode::Watched,
                many: true,
                kind: "Bucket",
                lookup: ir::Lookup::Equal,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "nodes",
                doc: "",
                mode: ir::Mode::Watched,
                many: true,
                kind: "Node",
                lookup: ir::Lookup::Names,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "grants",
                doc: "",
                mode: ir::Mode::Watched,
                many: true,
                kind: "Grant",
                lookup: ir::Lookup::Refs,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "owners",
                doc: "",
                mode: ir::Mode::Watched,
                many: true,
                kind: "Owner",
                lookup: ir::Lookup::Owner,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "handle",
                doc: "",
                mode: ir::Mode::Record,
                many: false,
                kind: "String",
                lookup: ir::Lookup::Key,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(3usize),
                owner: ::std::option::Option::None,
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "store",
                doc: "",
                mode: ir::Mode::Poll,
                many: false,
                kind: "BucketInfo",
                lookup: ir::Lookup::Key,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::Some(ir::Length {
                    said: ::std::option::Option::None,
                    otherwise: 30000u64,
                    least: 30000u64,
                }),
                provider: ::std::option::Option::Some("cloud"),
                given: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[
                            ir::Pred::Not(&ir::Pred::Is(3usize, 1u64)),
                            ir::Pred::Not(&ir::Pred::Is(14usize, 2u64)),
                        ],
                    ),
                ),
                var: ::std::option::Option::Some(4usize),
                owner: ::std::option::Option::None,
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "usage",
                doc: "",
                mode: ir::Mode::Poll,
                many: false,
                kind: "Usage",
                lookup: ir::Lookup::Key,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::Some(ir::Length {
                    said: ::std::option::Option::Some(0usize),
                    otherwise: 2000u64,
                    least: 1000u64,
                }),
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[
                            ir::Pred::Is(2usize, 4u64),
                            ir::Pred::Not(&ir::Pred::Is(14usize, 2u64)),
                        ],
                    ),
                ),
                var: ::std::option::Option::Some(5usize),
                owner: ::std::option::Option::None,
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "secret",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "Secret",
                lookup: ir::Lookup::Name("metadata.name"),
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(6usize),
                owner: ::std::option::Option::None,
                controller: true,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "now",
                doc: "",
                mode: ir::Mode::Clock,
                many: false,
                kind: "clock",
                lookup: ir::Lookup::Key,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "badge",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "ConfigMap",
                lookup: ir::Lookup::Name("metadata.name"),
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(18usize, 8u64)),
                var: ::std::option::Option::Some(7usize),
                owner: ::std::option::Option::None,
                controller: true,
                exclusive: &[],
                retain: ::std::option::Option::Some(ir::Pred::Is(13usize, 1u64)),
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "chore",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "Job",
                lookup: ir::Lookup::Name("metadata.name"),
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(7usize, 32u64)),
                var: ::std::option::Option::Some(8usize),
                owner: ::std::option::Option::None,
                controller: true,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::Some(13usize),
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "chores",
                doc: "",
                mode: ir::Mode::Noted,
                many: false,
                kind: "Noted",
                lookup: ir::Lookup::Key,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "gate",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "Ingress",
                lookup: ir::Lookup::Name("metadata.name"),
                only_if: ::std::option::Option::Some("spec.tls.host"),
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(8usize, 32u64)),
                var: ::std::option::Option::Some(9usize),
                owner: ::std::option::Option::None,
                controller: true,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "logs",
                doc: "",
                mode: ir::Mode::Owned,
                many: true,
                kind: "Log",
                lookup: ir::Lookup::Labels(&[LOG]),
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(8usize, 16u64)),
                var: ::std::option::Option::Some(10usize),
                owner: ::std::option::Option::None,
                controller: true,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::Some(16usize),
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "logged",
                doc: "",
                mode: ir::Mode::Noted,
                many: false,
                kind: "Noted",
                lookup: ir::Lookup::Key,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "pods",
                doc: "",
                mode: ir::Mode::Owned,
                many: true,
                kind: "Pod",
                lookup: ir::Lookup::Labels(&[BUCKET]),
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(6usize, 16u64)),
                var: ::std::option::Option::Some(11usize),
                owner: ::std::option::Option::Some(9usize),
                controller: false,
                exclusive: &["spec.containers"],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "kit",
                doc: "",
                mode: ir::Mode::Group,
                many: true,
                kind: "group",
                lookup: ir::Lookup::Key,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(11usize, 16u64)),
                var: ::std::option::Option::Some(12usize),
                owner: ::std::option::Option::None,
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "cover",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "ConfigMap",
                lookup: ir::Lookup::Ref,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(11usize, 16u64)),
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                controller: true,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::Some(18usize),
                optional: false,
            },
            ir::Input {
                name: "lid",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "Service",
                lookup: ir::Lookup::Name("metadata.name"),
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(11usize, 16u64)),
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                controller: true,
                exclusive: &["spec.ports"],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::Some(18usize),
                optional: true,
            },
            ir::Input {
                name: "token",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "Secret",
                lookup: ir::Lookup::Name("spec.token"),
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                controller: true,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::Some(ir::Leaves::Deleted),
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "label",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "ConfigMap",
                lookup: ir::Lookup::Name("spec.token"),
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                controller: true,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::Some(ir::Leaves::Released),
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
        ],
        values: &[
            ir::Value {
                name: "reach",
                given: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[ir::Pred::Is(2usize, 4u64), ir::Pred::Is(13usize, 1u64)],
                    ),
                ),
                mint: ::std::option::Option::None,
            },
            ir::Value {
                name: "access",
                given: ::std::option::Option::None,
                mint: ::std::option::Option::Some(ir::Mint {
                    keeper: 9usize,
                    until: ::std::option::Option::Some(ir::Pred::Is(21usize, 2u64)),
                }),
            },
        ],
        vars: &[
            ir::Var {
                name: "deleting",
                doc: "",
                origin: ir::Origin::Deleting,
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "claimed",
                doc: "",
                origin: ir::Origin::Claimed,
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "class",
                doc: "",
                origin: ir::Origin::Input(0usize),
                values: &["Unnamed", "Absent", "Present"],
                answers: 3u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize],
            },
            ir::Var {
                name: "handle",
                doc: "",
                origin: ir::Origin::Input(6usize),
                values: &["Absent", "Stale", "Current"],
                answers: 3u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[6usize],
            },
            ir::Var {
                name: "store",
                doc: "",
                origin: ir::Origin::Input(7usize),
                values: &["Unknown", "Known"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Not(&ir::Pred::Is(3usize, 1u64)),
                        otherwise: 0u8,
                    },
                    ir::Guard {
                        pred: ir::Pred::Not(&ir::Pred::Is(14usize, 2u64)),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[6usize, 7usize],
            },
            ir::Var {
                name: "usage",
                doc: "",
                origin: ir::Origin::Input(8usize),
                values: &["Unknown", "Known"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(2usize, 4u64),
                        otherwise: 0u8,
                    },
                    ir::Guard {
                        pred: ir::Pred::Not(&ir::Pred::Is(14usize, 2u64)),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 1usize, 6usize, 8usize],
            },
            ir::Var {
                name: "secret",
                doc: "",
                origin: ir::Origin::Input(9usize),
                values: &["Absent", "Foreign", "Terminating", "Stale", "Current"],
                answers: 5u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[
                    0usize, 1usize, 2usize, 3usize, 4usize, 5usize, 6usize, 7usize,
                    8usize, 9usize, 10usize,
                ],
            },
            ir::Var {
                name: "badge",
                doc: "",
                origin: ir::Origin::Input(11usize),
                values: &[
                    "Absent",
                    "Foreign",
                    "Adoptable",
                    "Terminating",
                    "Stale",
                    "Current",
                ],
                answers: 6u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(18usize, 8u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[
                    0usize, 1usize, 2usize, 3usize, 4usize, 5usize, 6usize, 7usize,
                    8usize, 9usize, 10usize, 11usize, 17usize,
                ],
            },
            ir::Var {
                name: "chore",
                doc: "",
                origin: ir::Origin::Input(12usize),
                values: &["Absent", "Foreign", "Terminating", "New", "Made", "Gone"],
                answers: 6u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(7usize, 32u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[
                    0usize, 1usize, 2usize, 3usize, 4usize, 5usize, 6usize, 7usize,
                    8usize, 9usize, 10usize, 11usize, 12usize, 13usize, 17usize,
                ],
            },
            ir::Var {
                name: "gate",
                doc: "",
                origin: ir::Origin::Input(14usize),
                values: &["Absent", "Foreign", "Terminating", "Stale", "Current"],
                answers: 5u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(8usize, 32u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[
                    0usize, 1usize, 2usize, 3usize, 4usize, 5usize, 6usize, 7usize,
                    8usize, 9usize, 10usize, 11usize, 12usize, 13usize, 14usize, 17usize,
                ],
            },
            ir::Var {
                name: "logs",
                doc: "",
                origin: ir::Origin::Input(15usize),
                values: &["New", "Behind", "Surplus", "Draining", "Foreign", "Current"],
                answers: 6u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(8usize, 16u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[
                    0usize, 1usize, 2usize, 3usize, 4usize, 5usize, 6usize, 7usize,
                    8usize, 9usize, 10usize, 11usize, 12usize, 13usize, 15usize, 16usize,
                    17usize,
                ],
            },
            ir::Var {
                name: "pods",
                doc: "",
                origin: ir::Origin::Input(17usize),
                values: &["Behind", "Surplus", "Draining", "Foreign", "Current"],
                answers: 5u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(6usize, 16u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[
                    0usize, 1usize, 2usize, 3usize, 4usize, 5usize, 6usize, 7usize,
                    8usize, 9usize, 10usize, 17usize,
                ],
            },
            ir::Var {
                name: "kit",
                doc: "",
                origin: ir::Origin::Input(18usize),
                values: &["Behind", "Surplus", "Draining", "Foreign", "Current"],
                answers: 5u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(11usize, 16u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[
                    0usize, 1usize, 2usize, 3usize, 4usize, 5usize, 6usize, 7usize,
                    8usize, 9usize, 10usize, 17usize, 18usize, 19usize, 20usize,
                ],
            },
            ir::Var {
                name: "keeper",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Ours", "Other"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "paused",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "validity",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Fine", "Bad"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(2usize, 4u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 1usize, 2usize, 3usize, 4usize, 5usize],
            },
            ir::Var {
                name: "bucket",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["No", "Taken", "Stale", "Current", "Unknown"],
                answers: 4u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Not(&ir::Pred::Is(3usize, 1u64)),
                        otherwise: 0u8,
                    },
                    ir::Guard {
                        pred: ir::Pred::Is(4usize, 2u64),
                        otherwise: 4u8,
                    },
                ],
                free: ::std::option::Option::Some(3u64),
                timed: false,
                reads: &[6usize, 7usize],
            },
            ir::Var {
                name: "full",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["false", "true"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::All(
                            &[ir::Pred::Is(5usize, 2u64), ir::Pred::Is(16usize, 8u64)],
                        ),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 1usize, 6usize, 7usize, 8usize],
            },
            ir::Var {
                name: "warm",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["NoPods", "Cold", "Warming", "Warm"],
                answers: 4u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(17usize, 2u64),
                        otherwise: 0u8,
                    },
                    ir::Guard {
                        pred: ir::Pred::Is(11usize, 16u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[
                    0usize, 1usize, 2usize, 3usize, 4usize, 5usize, 6usize, 7usize,
                    8usize, 9usize, 10usize, 17usize,
                ],
            },
            ir::Var {
                name: "fit",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Loose", "Tight"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(12usize, 16u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[
                    0usize, 1usize, 2usize, 3usize, 4usize, 5usize, 6usize, 7usize,
                    8usize, 9usize, 10usize, 17usize, 18usize, 19usize, 20usize,
                ],
            },
            ir::Var {
                name: "rush",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["false", "true"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(17usize, 2u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: true,
                reads: &[0usize, 1usize, 6usize, 7usize, 8usize, 10usize],
            },
            ir::Var {
                name: "worn",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["false", "true"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(20usize, 2u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 1usize, 6usize, 7usize, 8usize, 9usize, 10usize],
            },
            ir::Var {
                name: "note_chore",
                doc: "",
                origin: ir::Origin::Refused(0usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "note_logs",
                doc: "",
                origin: ir::Origin::Refused(1usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "drop_bucket",
                doc: "",
                origin: ir::Origin::Refused(2usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "apply_handle",
                doc: "",
                origin: ir::Origin::Refused(3usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "put_bucket",
                doc: "",
                origin: ir::Origin::Refused(4usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "apply_secret",
                doc: "",
                origin: ir::Origin::Refused(5usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "apply_pods",
                doc: "",
                origin: ir::Origin::Refused(6usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "delete_pods",
                doc: "",
                origin: ir::Origin::Refused(7usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "apply_kit",
                doc: "",
                origin: ir::Origin::Refused(8usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "delete_kit",
                doc: "",
                origin: ir::Origin::Refused(9usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "remove",
                doc: "",
                origin: ir::Origin::Refused(10usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "adopt_badge",
                doc: "",
                origin: ir::Origin::Refused(11usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "apply_badge",
                doc: "",
                origin: ir::Origin::Refused(12usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "create_chore",
                doc: "",
                origin: ir::Origin::Refused(13usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "apply_gate",
                doc: "",
                origin: ir::Origin::Refused(14usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "create_logs",
                doc: "",
                origin: ir::Origin::Refused(15usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
        ],
        order: &[
            ir::Node::Var(13usize),
            ir::Node::Var(14usize),
            ir::Node::Input(0usize),
            ir::Node::Var(2usize),
            ir::Node::Input(1usize),
            ir::Node::Input(2usize),
            ir::Node::Input(3usize),
            ir::Node::Input(4usize),
            ir::Node::Input(5usize),
            ir::Node::Input(6usize),
            ir::Node::Var(3usize),
            ir::Node::Input(7usize),
            ir::Node::Var(4usize),
            ir::Node::Input(8usize),
            ir::Node::Var(5usize),
            ir::Node::Input(9usize),
            ir::Node::Value(0usize),
            ir::Node::Var(16usize),
            ir::Node::Var(17usize),
            ir::Node::Input(10usize),
            ir::Node::Var(20usize),
            ir::Node::Var(21usize),
            ir::Node::Value(1usize),
            ir::Node::Var(6usize),
            ir::Node::Input(17usize),
            ir::Node::Var(11usize),
            ir::Node::Var(18usize),
            ir::Node::Input(11usize),
            ir::Node::Var(7usize),
            ir::Node::Input(13usize),
            ir::Node::Input(12usize),
            ir::Node::Var(8usize),
            ir::Node::Input(14usize),
            ir::Node::Var(9usize),
            ir::Node::Input(16usize),
            ir::Node::Input(15usize),
            ir::Node::Var(10usize),
            ir::Node::Input(18usize),
            ir::Node::Input(19usize),
            ir::Node::Input(20usize),
            ir::Node::Var(12usize),
            ir::Node::Input(21usize),
            ir::Node::Input(22usize),
            ir::Node::Var(0usize),
            ir::Node::Var(1usize),
            ir::Node::Var(15usize),
            ir::Node::Var(19usize),
            ir::Node::Var(22usize),
            ir::Node::Var(23usize),
            ir::Node::Var(24usize),
            ir::Node::Var(25usize),
            ir::Node::Var(26usize),
            ir::Node::Var(27usize),
            ir::Node::Var(28usize),
            ir::Node::Var(29usize),
            ir::Node::Var(30usize),
            ir::Node::Var(31usize),
            ir::Node::Var(32usize),
            ir::Node::Var(33usize),
            ir::Node::Var(34usize),
            ir::Node::Var(35usize),
            ir::Node::Var(36usize),
            ir::Node::Var(37usize),
        ],
        nevers: &[
            ir::Pred::All(&[ir::Pred::Is(17usize, 2u64), ir::Pred::Is(16usize, 1u64)]),
            ir::Pred::All(&[ir::Pred::Is(21usize, 2u64), ir::Pred::Is(6usize, 16u64)]),
        ],
        states: ir::Table::new(
            &[
                ir::State {
                    name: "Elsewhere",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(13usize, 2u64),
                    phase: ir::Phase::Ignored,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Paused",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(14usize, 2u64),
                    phase: ir::Phase::Suspended,
                    even_deleting: true,
                    wakes: ::std::option::Option::Some(&[ir::Source::This]),
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "NoName",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(2usize, 1u64),
                    phase: ir::Phase::Error,
                    even_deleting: false,
                    wakes: ::std::option::Option::Some(&[ir::Source::This]),
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "NoClass",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Not(&ir::Pred::Is(2usize, 4u64)),
                    phase: ir::Phase::Error,
                    even_deleting: false,
                    wakes: ::std::option::Option::Some(&[ir::Source::Input(0usize)]),
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Invalid",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(15usize, 2u64),
                    phase: ir::Phase::Error,
                    even_deleting: false,
                    wakes: ::std::option::Option::Some(
                        &[ir::Source::This, ir::Source::Input(2usize)],
                    ),
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Unrecorded",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(3usize, 1u64),
                    phase: ir::Phase::Pending,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Unreachable",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(16usize, 16u64),
                    phase: ir::Phase::Pending,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::Some(1usize),
                        otherwise: 300000u64,
                        least: 0u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Moving",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(3usize, 2u64),
                    phase: ir::Phase::Pending,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Taken",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(16usize, 2u64),
                    phase: ir::Phase::Error,
                    even_deleting: false,
                    wakes: ::std::option::Option::Some(
                        &[ir::Source::This, ir::Source::Input(7usize)],
                    ),
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Rejected",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(26usize, 2u64),
                    phase: ir::Phase::Error,
                    even_deleting: false,
                    wakes: ::std::option::Option::Some(&[ir::Source::This]),
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Making",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(16usize, 5u64),
                    phase: ir::Phase::Pending,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Conflict",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Any(
                        &[ir::Pred::Is(6usize, 2u64), ir::Pred::Is(11usize, 8u64)],
                    ),
                    phase: ir::Phase::Error,
                    even_deleting: false,
                    wakes: ::std::option::Option::Some(
                        &[
                            ir::Source::Input(9usize),
                            ir::Source::Input(17usize),
                            ir::Source::Input(10usize),
                        ],
                    ),
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Draining",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(6usize, 4u64),
                    phase: ir::Phase::Pending,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Publishing",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(6usize, 9u64),
                    phase: ir::Phase::Pending,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Scaling",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(11usize, 1u64),
                    phase: ir::Phase::Pending,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Pruning",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(11usize, 6u64),
                    phase: ir::Phase::Pending,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Kitless",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(12usize, 8u64),
                    phase: ir::Phase::Error,
                    even_deleting: false,
                    wakes: ::std::option::Option::Some(
                        &[ir::Source::Input(18usize), ir::Source::Input(10usize)],
                    ),
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Kitting",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Any(
                        &[ir::Pred::Is(12usize, 7u64), ir::Pred::Is(19usize, 1u64)],
                    ),
                    phase: ir::Phase::Pending,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Unbadged",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(7usize, 2u64),
                    phase: ir::Phase::Error,
                    even_deleting: false,
                    wakes: ::std::option::Option::Some(
                        &[ir::Source::Input(11usize), ir::Source::Input(10usize)],
                    ),
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Badging",
                    doc: "",
                    goal: false,
                    when: ir::Pred::All(
                        &[ir::Pred::Is(18usize, 8u64), ir::Pred::Is(7usize, 29u64)],
                    ),
                    phase: ir::Phase::Pending,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Clashing",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Any(
                        &[
                            ir::Pred::Is(8usize, 2u64),
                            ir::Pred::Is(10usize, 16u64),
                            ir::Pred::Is(9usize, 2u64),
                        ],
                    ),
                    phase: ir::Phase::Error,
                    even_deleting: false,
                    wakes: ::std::option::Option::Some(
                        &[
                            ir::Source::Input(12usize),
                            ir::Source::Input(15usize),
                            ir::Source::Input(14usize),
                            ir::Source::Input(10usize),
                        ],
                    ),
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Choring",
                    doc: "",
                    goal: false,
                    when: ir::Pred::All(
                        &[
                            ir::Pred::Is(7usize, 32u64),
                            ir::Pred::Any(
                                &[
                                    ir::Pred::Is(8usize, 9u64),
                                    ir::Pred::All(
                                        &[ir::Pred::Is(8usize, 16u64), ir::Pred::Is(10usize, 3u64)],
                                    ),
                                    ir::Pred::All(
                                        &[ir::Pred::Is(8usize, 32u64), ir::Pred::Is(9usize, 13u64)],
                                    ),
                                ],
                            ),
                        ],
                    ),
                    phase: ir::Phase::Pending,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Shown",
                    doc: "",
                    goal: true,
                    when: ir::Pred::Any(
                        &[ir::Pred::Is(7usize, 32u64), ir::Pred::Is(8usize, 32u64)],
                    ),
                    phase: ir::Phase::Ready,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Ready",
                    doc: "",
                    goal: true,
                    when: ir::Pred::Is(16usize, 8u64),
                    phase: ir::Phase::Ready,
                    even_deleting: false,
                    wakes: ::std::option::Option::None,
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
            ],
        ),
        regions: ir::Table::new(&[]),
        effects: &[
            ir::Effect {
                name: "note_chore",
                doc: "Notes in `chores` which of `chore` were made.",
                verb: ir::Verb::Note,
                each: false,
                target: 13usize,
                from: &[],
                when: ::std::option::Option::None,
                sets: &[&[(8usize, 2u8)], &[(8usize, 4u8)]],
                affects: &[8usize, 9usize, 10usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 22usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "note_logs",
                doc: "Notes in `logged` which of `logs` were made.",
                verb: ir::Verb::Note,
                each: false,
                target: 16usize,
                from: &[],
                when: ::std::option::Option::None,
                sets: &[
                    &[(10usize, 2u8)],
                    &[(10usize, 3u8)],
                    &[(10usize, 4u8)],
                    &[(10usize, 5u8)],
                ],
                affects: &[10usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 23usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "drop_bucket",
                doc: "",
                verb: ir::Verb::Call,
                each: false,
                target: 7usize,
                from: &[],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[ir::Pred::Is(3usize, 2u64), ir::Pred::Is(16usize, 12u64)],
                    ),
                ),
                sets: &[&[(16usize, 0u8)]],
                affects: &[
                    6usize, 7usize, 8usize, 9usize, 10usize, 11usize, 12usize, 16usize,
                    17usize, 18usize, 19usize, 20usize, 21usize,
                ],
                undo: ::std::option::Option::None,
                is_undo: true,
                is_step: false,
                refused: 24usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "apply_handle",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 6usize,
                from: &[],
                when: ::std::option::Option::Some(
                    ir::Pred::Any(
                        &[ir::Pred::Is(3usize, 1u64), ir::Pred::Is(16usize, 3u64)],
                    ),
                ),
                sets: &[&[(3usize, 2u8)]],
                affects: &[
                    3usize, 4usize, 5usize, 6usize, 7usize, 8usize, 9usize, 10usize,
                    11usize, 12usize, 16usize, 17usize, 18usize, 19usize, 20usize,
                    21usize,
                ],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 25usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "put_bucket",
                doc: "",
                verb: ir::Verb::Call,
                each: false,
                target: 7usize,
                from: &[ir::Source::Input(0usize), ir::Source::Value(0usize)],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[
                            ir::Pred::Is(15usize, 1u64),
                            ir::Pred::Is(3usize, 4u64),
                            ir::Pred::Is(16usize, 5u64),
                        ],
                    ),
                ),
                sets: &[&[(16usize, 3u8)], &[(16usize, 1u8)]],
                affects: &[
                    6usize, 7usize, 8usize, 9usize, 10usize, 11usize, 12usize, 16usize,
                    17usize, 18usize, 19usize, 20usize, 21usize,
                ],
                undo: ::std::option::Option::Some(2usize),
                is_undo: false,
                is_step: false,
                refused: 26usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "apply_secret",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 9usize,
                from: &[
                    ir::Source::Input(7usize),
                    ir::Source::Value(0usize),
                    ir::Source::Value(1usize),
                    ir::Source::Input(0usize),
                ],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[ir::Pred::Is(3usize, 4u64), ir::Pred::Is(16usize, 8u64)],
                    ),
                ),
                sets: &[&[(6usize, 4u8)]],
                affects: &[
                    6usize, 7usize, 8usize, 9usize, 10usize, 11usize, 12usize, 18usize,
                    19usize, 21usize,
                ],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 27usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "apply_pods",
                doc: "",
                verb: ir::Verb::Apply,
                each: true,
                target: 17usize,
                from: &[
                    ir::Source::Input(0usize),
                    ir::Source::Input(1usize),
                    ir::Source::Input(9usize),
                ],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[ir::Pred::Is(15usize, 1u64), ir::Pred::Is(16usize, 8u64)],
                    ),
                ),
                sets: &[
                    &[(11usize, 1u8)],
                    &[(11usize, 2u8)],
                    &[(11usize, 3u8)],
                    &[(11usize, 4u8)],
                ],
                affects: &[
                    7usize, 8usize, 9usize, 10usize, 11usize, 12usize, 18usize, 19usize,
                ],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 28usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "delete_pods",
                doc: "",
                verb: ir::Verb::Delete,
                each: true,
                target: 17usize,
                from: &[],
                when: ::std::option::Option::None,
                sets: &[&[(11usize, 2u8)], &[(11usize, 3u8)], &[(11usize, 4u8)]],
                affects: &[
                    7usize, 8usize, 9usize, 10usize, 11usize, 12usize, 18usize, 19usize,
                ],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 29usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "apply_kit",
                doc: "",
                verb: ir::Verb::Apply,
                each: true,
                target: 18usize,
                from: &[ir::Source::Input(0usize)],
                when: ::std::option::Option::Some(ir::Pred::Is(15usize, 1u64)),
                sets: &[
                    &[(12usize, 1u8)],
                    &[(12usize, 2u8)],
                    &[(12usize, 3u8)],
                    &[(12usize, 4u8)],
                ],
                affects: &[12usize, 19usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 30usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "delete_kit",
                doc: "",
                verb: ir::Verb::Delete,
                each: true,
                target: 18usize,
                from: &[],
                when: ::std::option::Option::None,
                sets: &[&[(12usize, 2u8)], &[(12usize, 3u8)], &[(12usize, 4u8)]],
                affects: &[12usize, 19usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 31usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "remove",
                doc: "",
                verb: ir::Verb::Delete,
                each: false,
                target: 9usize,
                from: &[],
                when: ::std::option::Option::None,
                sets: &[&[(6usize, 2u8)], &[(6usize, 0u8)]],
                affects: &[
                    6usize, 7usize, 8usize, 9usize, 10usize, 11usize, 12usize, 18usize,
                    19usize, 21usize,
                ],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: true,
                refused: 32usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "adopt_badge",
                doc: "",
                verb: ir::Verb::Adopt,
                each: false,
                target: 11usize,
                from: &[],
                when: ::std::option::Option::Some(ir::Pred::Is(15usize, 1u64)),
                sets: &[&[(7usize, 4u8)], &[(7usize, 5u8)]],
                affects: &[7usize, 8usize, 9usize, 10usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 33usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "apply_badge",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 11usize,
                from: &[],
                when: ::std::option::Option::None,
                sets: &[&[(7usize, 5u8)]],
                affects: &[7usize, 8usize, 9usize, 10usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 34usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "create_chore",
                doc: "",
                verb: ir::Verb::Create,
                each: false,
                target: 12usize,
                from: &[],
                when: ::std::option::Option::None,
                sets: &[&[(8usize, 3u8)]],
                affects: &[8usize, 9usize, 10usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 35usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "apply_gate",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 14usize,
                from: &[],
                when: ::std::option::Option::None,
                sets: &[&[(9usize, 4u8)], &[(9usize, 2u8)]],
                affects: &[9usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 36usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "create_logs",
                doc: "",
                verb: ir::Verb::Create,
                each: true,
                target: 15usize,
                from: &[ir::Source::Input(0usize)],
                when: ::std::option::Option::Some(ir::Pred::Is(15usize, 1u64)),
                sets: &[&[(10usize, 0u8)]],
                affects: &[10usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 37usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
        ],
        promises: &[
            ir::Promise {
                name: "fits",
                claim: ::std::option::Option::None,
                when: ir::Pred::All(
                    &[ir::Pred::Is(19usize, 1u64), ir::Pred::Is(12usize, 16u64)],
                ),
                sets: &[&[(19usize, 1u8)]],
            },
            ir::Promise {
                name: "counted",
                claim: ::std::option::Option::Some(ir::Claim {
                    keeper: <Counter as ::lifecycle_runtime::__private::Declared<
                        _,
                    >>::PATH,
                    states: &["Counting", "Counted"],
                }),
                when: ir::Pred::All(
                    &[
                        ir::Pred::Is(16usize, 8u64),
                        ir::Pred::Not(&ir::Pred::Is(17usize, 2u64)),
                    ],
                ),
                sets: &[&[(17usize, 1u8)]],
            },
        ],
        steps: &[
            ir::Step {
                effect: 10usize,
                when: ::std::option::Option::Some(
                    ir::Pred::Not(&ir::Pred::Is(3usize, 1u64)),
                ),
                until: ir::Pred::Any(
                    &[ir::Pred::Is(6usize, 3u64), ir::Pred::Is(3usize, 1u64)],
                ),
            },
        ],
        abandoned: &[
            ir::Abandoned {
                when: ir::Pred::Is(2usize, 2u64),
                why: "its class is gone, and nobody else knows where it is",
            },
        ],
        retired: &[
            ir::Retired::Finalizer(
                ::std::option::Option::Some("old.example.com/bucket"),
            ),
            ir::Retired::Record {
                name: "ticket",
                now: ::std::option::Option::None,
            },
            ir::Retired::Annotation {
                key: "old.example.com/bucket.handle",
                now: ::std::option::Option::Some("handle"),
            },
            ir::Retired::Condition("Made"),
            ir::Retired::Field("url"),
        ],
        edges: &[
            ir::Edge {
                from: ir::StateId(5usize),
                to: ir::StateId(6usize),
                causes: &[ir::Cause::Effect(3usize)],
            },
            ir::Edge {
                from: ir::StateId(5usize),
                to: ir::StateId(8usize),
                causes: &[ir::Cause::Effect(3usize)],
            },
            ir::Edge {
                from: ir::StateId(5usize),
                to: ir::StateId(10usize),
                causes: &[ir::Cause::Effect(3usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(7usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(8usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(10usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(11usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(12usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(13usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(14usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(15usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(16usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(17usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(18usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(19usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(20usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(21usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(22usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(6usize),
                to: ir::StateId(23usize),
                causes: &[ir::Cause::Answer(7usize)],
            },
            ir::Edge {
                from: ir::StateId(7usize),
                to: ir::StateId(6usize),
                causes: &[ir::Cause::Effect(3usize)],
            },
            ir::Edge {
                from: ir::StateId(7usize),
                to: ir::StateId(8usize),
                causes: &[ir::Cause::Effect(3usize)],
            },
            ir::Edge {
                from: ir::StateId(7usize),
                to: ir::StateId(10usize),
                causes: &[ir::Cause::Effect(3usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(8usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(9usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(11usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(12usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(13usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(14usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(15usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(16usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(17usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(18usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(19usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(20usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(21usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(22usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(10usize),
                to: ir::StateId(23usize),
                causes: &[ir::Cause::Effect(4usize)],
            },
            ir::Edge {
                from: ir::StateId(12usize),
                to: ir::StateId(13usize),
                causes: &[ir::Cause::Gone(9usize)],
            },
            ir::Edge {
                from: ir::StateId(13usize),
                to: ir::StateId(11usize),
                causes: &[ir::Cause::Effect(5usize)],
            },
            ir::Edge {
                from: ir::StateId(13usize),
                to: ir::StateId(14usize),
                causes: &[ir::Cause::Effect(5usize)],
            },
            ir::Edge {
                from: ir::StateId(13usize),
                to: ir::StateId(15usize),
                causes: &[ir::Cause::Effect(5usize)],
            },
            ir::Edge {
                from: ir::StateId(13usize),
                to: ir::StateId(16usize),
                causes: &[ir::Cause::Effect(5usize)],
            },
            ir::Edge {
                from: ir::StateId(13usize),
                to: ir::StateId(17usize),
                causes: &[ir::Cause::Effect(5usize)],
            },
            ir::Edge {
                from: ir::StateId(13usize),
                to: ir::StateId(18usize),
                causes: &[ir::Cause::Effect(5usize)],
            },
            ir::Edge {
                from: ir::StateId(13usize),
                to: ir::StateId(19usize),
                causes: &[ir::Cause::Effect(5usize)],
            },
            ir::Edge {
                from: ir::StateId(13usize),
                to: ir::StateId(20usize),
                causes: &[ir::Cause::Effect(5usize)],
            },
            ir::Edge {
                from: ir::StateId(13usize),
                to: ir::StateId(21usize),
                causes: &[ir::Cause::Effect(5usize)],
            },
            ir::Edge {
                from: ir::StateId(13usize),
                to: ir::StateId(22usize),
                causes: &[ir::Cause::Effect(5usize)],
            },
            ir::Edge {
                from: ir::StateId(13usize),
                to: ir::StateId(23usize),
                causes: &[ir::Cause::Effect(5usize)],
            },
            ir::Edge {
                from: ir::StateId(14usize),
                to: ir::StateId(11usize),
                causes: &[ir::Cause::Effect(6usize)],
            },
            ir::Edge {
                from: ir::StateId(14usize),
                to: ir::StateId(15usize),
                causes: &[ir::Cause::Effect(6usize)],
            },
            ir::Edge {
                from: ir::StateId(14usize),
                to: ir::StateId(16usize),
                causes: &[ir::Cause::Effect(6usize)],
            },
            ir::Edge {
                from: ir::StateId(14usize),
                to: ir::StateId(17usize),
                causes: &[ir::Cause::Effect(6usize)],
            },
            ir::Edge {
                from: ir::StateId(14usize),
                to: ir::StateId(18usize),
                causes: &[ir::Cause::Effect(6usize)],
            },
            ir::Edge {
                from: ir::StateId(14usize),
                to: ir::StateId(19usize),
                causes: &[ir::Cause::Effect(6usize)],
            },
            ir::Edge {
                from: ir::StateId(14usize),
                to: ir::StateId(20usize),
                causes: &[ir::Cause::Effect(6usize)],
            },
            ir::Edge {
                from: ir::StateId(14usize),
                to: ir::StateId(21usize),
                causes: &[ir::Cause::Effect(6usize)],
            },
            ir::Edge {
                from: ir::StateId(14usize),
                to: ir::StateId(22usize),
                causes: &[ir::Cause::Effect(6usize)],
            },
            ir::Edge {
                from: ir::StateId(14usize),
                to: ir::StateId(23usize),
                causes: &[ir::Cause::Effect(6usize)],
            },
            ir::Edge {
                from: ir::StateId(15usize),
                to: ir::StateId(11usize),
                causes: &[ir::Cause::Effect(7usize), ir::Cause::Gone(17usize)],
            },
            ir::Edge {
                from: ir::StateId(15usize),
                to: ir::StateId(14usize),
                causes: &[ir::Cause::Again(17usize)],
            },
            ir::Edge {
                from: ir::StateId(15usize),
                to: ir::StateId(16usize),
                causes: &[ir::Cause::Effect(7usize), ir::Cause::Gone(17usize)],
            },
            ir::Edge {
                from: ir::StateId(15usize),
                to: ir::StateId(17usize),
                causes: &[ir::Cause::Effect(7usize), ir::Cause::Gone(17usize)],
            },
            ir::Edge {
                from: ir::StateId(15usize),
                to: ir::StateId(18usize),
                causes: &[ir::Cause::Effect(7usize), ir::Cause::Gone(17usize)],
            },
            ir::Edge {
                from: ir::StateId(15usize),
                to: ir::StateId(19usize),
                causes: &[ir::Cause::Effect(7usize), ir::Cause::Gone(17usize)],
            },
            ir::Edge {
                from: ir::StateId(15usize),
                to: ir::StateId(20usize),
                causes: &[ir::Cause::Effect(7usize), ir::Cause::Gone(17usize)],
            },
            ir::Edge {
                from: ir::StateId(15usize),
                to: ir::StateId(21usize),
                causes: &[ir::Cause::Effect(7usize), ir::Cause::Gone(17usize)],
            },
            ir::Edge {
                from: ir::StateId(15usize),
                to: ir::StateId(22usize),
                causes: &[ir::Cause::Effect(7usize), ir::Cause::Gone(17usize)],
            },
            ir::Edge {
                from: ir::StateId(15usize),
                to: ir::StateId(23usize),
                causes: &[ir::Cause::Effect(7usize), ir::Cause::Gone(17usize)],
            },
            ir::Edge {
                from: ir::StateId(17usize),
                to: ir::StateId(16usize),
                causes: &[
                    ir::Cause::Effect(8usize),
                    ir::Cause::Effect(9usize),
                    ir::Cause::Gone(18usize),
                ],
            },
            ir::Edge {
                from: ir::StateId(17usize),
                to: ir::StateId(18usize),
                causes: &[
                    ir::Cause::Effect(8usize),
                    ir::Cause::Effect(9usize),
                    ir::Cause::Promise(0usize),
                    ir::Cause::Gone(18usize),
                ],
            },
            ir::Edge {
                from: ir::StateId(17usize),
                to: ir::StateId(19usize),
                causes: &[
                    ir::Cause::Effect(8usize),
                    ir::Cause::Effect(9usize),
                    ir::Cause::Promise(0usize),
                    ir::Cause::Gone(18usize),
                ],
            },
            ir::Edge {
                from: ir::StateId(17usize),
                to: ir::StateId(20usize),
                causes: &[
                    ir::Cause::Effect(8usize),
                    ir::Cause::Effect(9usize),
                    ir::Cause::Promise(0usize),
                    ir::Cause::Gone(18usize),
                ],
            },
            ir::Edge {
                from: ir::StateId(17usize),
                to: ir::StateId(21usize),
                causes: &[
                    ir::Cause::Effect(8usize),
                    ir::Cause::Effect(9usize),
                    ir::Cause::Promise(0usize),
                    ir::Cause::Gone(18usize),
                ],
            },
            ir::Edge {
                from: ir::StateId(17usize),
                to: ir::StateId(22usize),
                causes: &[
                    ir::Cause::Effect(8usize),
                    ir::Cause::Effect(9usize),
                    ir::Cause::Promise(0usize),
                    ir::Cause::Gone(18usize),
                ],
            },
            ir::Edge {
                from: ir::StateId(17usize),
                to: ir::StateId(23usize),
                causes: &[
                    ir::Cause::Effect(8usize),
                    ir::Cause::Effect(9usize),
                    ir::Cause::Promise(0usize),
                    ir::Cause::Gone(18usize),
                ],
            },
            ir::Edge {
                from: ir::StateId(19usize),
                to: ir::StateId(20usize),
                causes: &[ir::Cause::Effect(11usize), ir::Cause::Effect(12usize)],
            },
            ir::Edge {
                from: ir::StateId(19usize),
                to: ir::StateId(21usize),
                causes: &[ir::Cause::Effect(11usize), ir::Cause::Effect(12usize)],
            },
            ir::Edge {
                from: ir::StateId(19usize),
                to: ir::StateId(22usize),
                causes: &[ir::Cause::Effect(11usize), ir::Cause::Effect(12usize)],
            },
            ir::Edge {
                from: ir::StateId(21usize),
                to: ir::StateId(20usize),
                causes: &[ir::Cause::Effect(0usize), ir::Cause::Effect(1usize)],
            },
            ir::Edge {
                from: ir::StateId(21usize),
                to: ir::StateId(22usize),
                causes: &[
                    ir::Cause::Effect(0usize),
                    ir::Cause::Effect(1usize),
                    ir::Cause::Effect(14usize),
                    ir::Cause::Gone(14usize),
                ],
            },
        ],
        waits: &[],
        conditions: &[
            ir::Condition {
                name: "Accepted",
                doc: "",
                clauses: &[
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Accepted",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::All(
                                &[ir::Pred::Is(2usize, 4u64), ir::Pred::Is(15usize, 1u64)],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Invalid",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(15usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "NoClass",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::None,
                    },
                ],
            },
            ir::Condition {
                name: "Stored",
                doc: "",
                clauses: &[
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Stored",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::All(
                                &[ir::Pred::Is(16usize, 8u64), ir::Pred::Is(3usize, 4u64)],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Taken",
                        message: ::std::option::Option::Some(
                            &[
                                ir::Part::Path(0usize),
                                ir::Part::Text(" is taken in "),
                                ir::Part::Path(1usize),
                            ],
                        ),
                        event: ::std::option::Option::Some("NameTaken"),
                        when: ::std::option::Option::Some(ir::Pred::Is(16usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Refused",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(26usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::Unknown,
                        reason: "Working",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::None,
                    },
                ],
            },
            ir::Condition {
                name: "Shared",
                doc: "",
                clauses: &[
                    ir::Clause {
                        says: ir::Says::Omit,
                        reason: "",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(2usize, 1u64)),
                    },
                    ir::Clause {
                        says: ir::Says::Absent,
                        reason: "Pending",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::All(
                                &[
                                    ir::Pred::Is(2usize, 4u64),
                                    ir::Pred::Is(15usize, 1u64),
                                    ir::Pred::Is(16usize, 16u64),
                                ],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Conflict",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::Any(
                                &[ir::Pred::Is(6usize, 2u64), ir::Pred::Is(11usize, 8u64)],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Kitless",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(12usize, 8u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Unbadged",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(7usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Clashing",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::Any(
                                &[
                                    ir::Pred::Is(8usize, 2u64),
                                    ir::Pred::Is(10usize, 16u64),
                                    ir::Pred::Is(9usize, 2u64),
                                ],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::Unknown,
                        reason: "Choring",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::All(
                                &[
                                    ir::Pred::Is(7usize, 32u64),
                                    ir::Pred::Any(
                                        &[
                                            ir::Pred::Is(8usize, 9u64),
                                            ir::Pred::All(
                                                &[ir::Pred::Is(8usize, 16u64), ir::Pred::Is(10usize, 3u64)],
                                            ),
                                            ir::Pred::All(
                                                &[ir::Pred::Is(8usize, 32u64), ir::Pred::Is(9usize, 13u64)],
                                            ),
                                        ],
                                    ),
                                ],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Shared",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::All(
                                &[
                                    ir::Pred::Is(6usize, 16u64),
                                    ir::Pred::Is(11usize, 16u64),
                                    ir::Pred::Is(12usize, 16u64),
                                    ir::Pred::Is(19usize, 2u64),
                                    ir::Pred::Any(
                                        &[
                                            ir::Pred::Not(&ir::Pred::Is(18usize, 8u64)),
                                            ir::Pred::Is(7usize, 32u64),
                                        ],
                                    ),
                                ],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::Unknown,
                        reason: "Working",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::None,
                    },
                ],
            },
        ],
        ready: ir::RollUp {
            from: &[0usize, 1usize, 2usize],
            reason: "Stored",
            message: &[ir::Part::Text("it is there")],
        },
        implicit: ::std::option::Option::Some(ir::Implicit {
            condition: 1usize,
            reason: "Error",
        }),
        kstatus: false,
        texts: &["metadata.name", "spec.region"],
        times: &["spec.interval", "spec.timeout"],
        fields: &[
            ir::Field {
                name: "phase",
                what: ir::FieldOf::Phase,
            },
            ir::Field {
                name: "reason",
                what: ir::FieldOf::Reason,
            },
            ir::Field {
                name: "message",
                what: ir::FieldOf::Message,
            },
            ir::Field {
                name: "size",
                what: ir::FieldOf::Method {
                    last_reported: true,
                },
            },
            ir::Field {
                name: "isFull",
                what: ir::FieldOf::Method {
                    last_reported: false,
                },
            },
            ir::Field {
                name: "isWarm",
                what: ir::FieldOf::Method {
                    last_reported: false,
                },
            },
            ir::Field {
                name: "isRush",
                what: ir::FieldOf::Method {
                    last_reported: false,
                },
            },
            ir::Field {
                name: "gateName",
                what: ir::FieldOf::Method {
                    last_reported: false,
                },
            },
            ir::Field {
                name: "zoneNames",
                what: ir::FieldOf::Method {
                    last_reported: false,
                },
            },
        ],
        columns: &[
            ir::Column {
                name: "Phase",
                json_path: ::std::option::Option::Some(".status.phase"),
            },
            ir::Column {
                name: "Age",
                json_path: ::std::option::Option::None,
            },
        ],
        volume: false,
        calls: &[],
    }
};
impl ::lifecycle_runtime::__private::Declared<State> for Bucket {
    const PATH: &'static str = ::std::concat!(::std::module_path!(), "::Bucket");
    const IR: &'static ::lifecycle_runtime::__private::ir::Lifecycle = IR;
}
const _: () = ::lifecycle_runtime::__private::claimed(
    "counted",
    <Counter as ::lifecycle_runtime::__private::Declared<_>>::IR,
    &["Counting", "Counted"],
);
