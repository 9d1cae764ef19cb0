//! Expansion of `volume.txt`; written by the test `expand`.

///Values of the fact `asked`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum Asked {
    ///`asked == Mount`.
    Mount,
    ///`asked == Block`.
    Block,
    ///`asked == Inline`.
    Inline,
}
impl Asked {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Mount, Self::Block, Self::Inline];
}
///Values of the fact `source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum Source {
    ///`source == Class`.
    Class,
    ///`source == Name`.
    Name,
    ///`source == Bad`.
    Bad,
}
impl Source {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Class, Self::Name, Self::Bad];
}
///Values of the fact `mounts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum Mounts {
    ///`mounts == Yes`.
    Yes,
    ///`mounts == No`.
    No,
}
impl Mounts {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Yes, Self::No];
}
///Values of the fact `exposed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum Exposed {
    ///`exposed == No`.
    No,
    ///`exposed == NoClass`.
    NoClass,
    ///`exposed == Yes`.
    Yes,
}
impl Exposed {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::No, Self::NoClass, Self::Yes];
}
/// One world: the answer to every finite question, those that inputs bring included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    ///Whether and how `pv` is there.
    pub pv: ::lifecycle_runtime::__private::Part,
    ///Whether and how `claim` is there.
    pub claim: ::lifecycle_runtime::__private::Watched,
    ///Whether and how `chosen` is there.
    pub chosen: ::lifecycle_runtime::__private::Watched,
    ///Whether and how `own` is there.
    pub own: ::lifecycle_runtime::__private::Owned,
    ///Whether and how `pod` is there.
    pub pod: ::lifecycle_runtime::__private::Part,
    ///Whether and how `listed` is there.
    pub listed: ::lifecycle_runtime::__private::Shared,
    ///Whether and how `node` is there.
    pub node: ::lifecycle_runtime::__private::Watched,
    ///The fact `asked`.
    pub asked: Asked,
    ///The fact `source`.
    pub source: Source,
    ///The fact `mounts`.
    pub mounts: Mounts,
    ///The fact `exposed`.
    pub exposed: Exposed,
    ///The fact `address`.
    pub address: bool,
    ///The fact `files`.
    pub files: bool,
    ///The fact `fresh`.
    pub fresh: bool,
    ///The last answer to this very write of `apply_own` was a refusal.
    pub refused_apply_own: bool,
    ///The last answer to this very write of `apply_pv` was a refusal.
    pub refused_apply_pv: bool,
    ///The last answer to this very write of `apply_pod` was a refusal.
    pub refused_apply_pod: bool,
    ///The last answer to this very write of `apply_listed` was a refusal.
    pub refused_apply_listed: bool,
    ///The last answer to this very write of `write_tree` was a refusal.
    pub refused_write_tree: bool,
    ///The last answer to this very write of `remove_tree` was a refusal.
    pub refused_remove_tree: bool,
}
impl Facts {
    /// A world of the runtime, typed.
    pub fn from_world(world: &::lifecycle_runtime::__private::World) -> Self {
        Self {
            pv: ::lifecycle_runtime::__private::Part::VALUES[world.get(0usize) as usize],
            claim: ::lifecycle_runtime::__private::Watched::VALUES[world.get(1usize)
                as usize],
            chosen: ::lifecycle_runtime::__private::Watched::VALUES[world.get(2usize)
                as usize],
            own: ::lifecycle_runtime::__private::Owned::VALUES[world.get(3usize)
                as usize],
            pod: ::lifecycle_runtime::__private::Part::VALUES[world.get(4usize)
                as usize],
            listed: ::lifecycle_runtime::__private::Shared::VALUES[world.get(5usize)
                as usize],
            node: ::lifecycle_runtime::__private::Watched::VALUES[world.get(6usize)
                as usize],
            asked: Asked::VALUES[world.get(7usize) as usize],
            source: Source::VALUES[world.get(8usize) as usize],
            mounts: Mounts::VALUES[world.get(9usize) as usize],
            exposed: Exposed::VALUES[world.get(10usize) as usize],
            address: world.get(11usize) == 1,
            files: world.get(12usize) == 1,
            fresh: world.get(13usize) == 1,
            refused_apply_own: world.get(14usize) == 1,
            refused_apply_pv: world.get(15usize) == 1,
            refused_apply_pod: world.get(16usize) == 1,
            refused_apply_listed: world.get(17usize) == 1,
            refused_write_tree: world.get(18usize) == 1,
            refused_remove_tree: world.get(19usize) == 1,
        }
    }
}
/// State of an object in its lifecycle. The first state that matches counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum State {
    ///The state `Free`.
    Free,
    ///The state `Published`.
    Published,
    ///The state `Outdated`.
    Outdated,
}
impl State {
    /// The one state of a world.
    pub const fn classify(facts: &Facts) -> Self {
        if !facts.files {
            return Self::Free;
        }
        if (false || facts.fresh || !facts.address) {
            return Self::Published;
        }
        Self::Outdated
    }
}
const _: () = assert!(
    matches!(State::classify(& Facts { pv : ::lifecycle_runtime::__private::Part::Absent,
    claim : ::lifecycle_runtime::__private::Watched::Absent, chosen :
    ::lifecycle_runtime::__private::Watched::Absent, own :
    ::lifecycle_runtime::__private::Owned::Absent, pod :
    ::lifecycle_runtime::__private::Part::Absent, listed :
    ::lifecycle_runtime::__private::Shared::Absent, node :
    ::lifecycle_runtime::__private::Watched::Absent, asked : Asked::Mount, source :
    Source::Class, mounts : Mounts::Yes, exposed : Exposed::No, address : false, files :
    false, fresh : false, refused_apply_own : false, refused_apply_pv : false,
    refused_apply_pod : false, refused_apply_listed : false, refused_write_tree : false,
    refused_remove_tree : false }), State::Free),
    "the emitted classification takes a world of `Free` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { pv : ::lifecycle_runtime::__private::Part::Absent,
    claim : ::lifecycle_runtime::__private::Watched::Absent, chosen :
    ::lifecycle_runtime::__private::Watched::Absent, own :
    ::lifecycle_runtime::__private::Owned::Absent, pod :
    ::lifecycle_runtime::__private::Part::Absent, listed :
    ::lifecycle_runtime::__private::Shared::Absent, node :
    ::lifecycle_runtime::__private::Watched::Absent, asked : Asked::Mount, source :
    Source::Class, mounts : Mounts::Yes, exposed : Exposed::No, address : false, files :
    true, fresh : false, refused_apply_own : false, refused_apply_pv : false,
    refused_apply_pod : false, refused_apply_listed : false, refused_write_tree : false,
    refused_remove_tree : false }), State::Published),
    "the emitted classification takes a world of `Published` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { pv : ::lifecycle_runtime::__private::Part::Stale,
    claim : ::lifecycle_runtime::__private::Watched::Absent, chosen :
    ::lifecycle_runtime::__private::Watched::Present, own :
    ::lifecycle_runtime::__private::Owned::Absent, pod :
    ::lifecycle_runtime::__private::Part::Current, listed :
    ::lifecycle_runtime::__private::Shared::Absent, node :
    ::lifecycle_runtime::__private::Watched::Absent, asked : Asked::Mount, source :
    Source::Name, mounts : Mounts::Yes, exposed : Exposed::Yes, address : true, files :
    true, fresh : false, refused_apply_own : false, refused_apply_pv : false,
    refused_apply_pod : false, refused_apply_listed : false, refused_write_tree : false,
    refused_remove_tree : false }), State::Outdated),
    "the emitted classification takes a world of `Outdated` for another state"
);
const _: () = ::lifecycle_runtime::__private::owned_by::<Listener, PersistentVolume>();
const _: () = ::lifecycle_runtime::__private::owned_by::<PodListeners, Pod>();
/// Observations of one reconcile.
#[derive(Clone)]
pub struct Seen<'a> {
    /// Request of the caller, without its secrets.
    pub request: ::lifecycle_runtime::__private::Request<'a>,
    ///The input `pv`.
    pub pv: ::std::option::Option<&'a PersistentVolume>,
    ///The input `claim`.
    pub claim: ::std::option::Option<&'a PersistentVolumeClaim>,
    ///The input `chosen`.
    pub chosen: ::std::option::Option<&'a Listener>,
    ///The input `own`.
    pub own: ::std::option::Option<&'a Listener>,
    ///The input `pod`.
    pub pod: ::std::option::Option<&'a Pod>,
    ///The input `listed`.
    pub listed: ::std::option::Option<&'a PodListeners>,
    ///The input `node`.
    pub node: ::std::option::Option<&'a Node>,
    ///The input `tree`.
    pub tree: ::std::option::Option<&'a Tree>,
    ///The shared value `addresses`.
    pub addresses: ::std::option::Option<&'a Vec<ListenerIngress>>,
}
impl<'a> Seen<'a> {
    /// An observation of the runtime, typed.
    pub fn from_observation(
        observation: &'a ::lifecycle_runtime::__private::Observation,
    ) -> ::std::option::Option<Self> {
        ::std::option::Option::Some(Self {
            request: observation.request()?,
            pv: observation.one::<PersistentVolume>(0usize),
            claim: observation.one::<PersistentVolumeClaim>(1usize),
            chosen: observation.one::<Listener>(2usize),
            own: observation.one::<Listener>(3usize),
            pod: observation.one::<Pod>(4usize),
            listed: observation.one::<PodListeners>(5usize),
            node: observation.one::<Node>(6usize),
            tree: observation.one::<Tree>(7usize),
            addresses: observation.value::<Vec<ListenerIngress>>(0usize),
        })
    }
}
///Proof that everything is there that `apply_own` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyOwn<'a> {
    ///`claim`, certainly there.
    pub claim: &'a PersistentVolumeClaim,
    ///`pod`, certainly there.
    pub pod: &'a Pod,
    _proved: (),
}
impl<'a> ApplyOwn<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true
            && matches!(facts.claim, ::lifecycle_runtime::__private::Watched::Present)
            && matches!(
                facts.pod, ::lifecycle_runtime::__private::Part::Stale |
                ::lifecycle_runtime::__private::Part::Current
            ))
        {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            claim: seen.claim?,
            pod: seen.pod?,
            _proved: (),
        })
    }
}
///Proof that everything is there that `apply_pv` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyPv<'a> {
    _proved: ::std::marker::PhantomData<&'a ()>,
}
impl<'a> ApplyPv<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true) {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            _proved: ::std::marker::PhantomData,
        })
    }
}
///Proof that everything is there that `apply_pod` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyPod<'a> {
    _proved: ::std::marker::PhantomData<&'a ()>,
}
impl<'a> ApplyPod<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true) {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            _proved: ::std::marker::PhantomData,
        })
    }
}
///Proof that everything is there that `apply_listed` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyListed<'a> {
    ///`addresses`, certainly there.
    pub addresses: &'a Vec<ListenerIngress>,
    _proved: (),
}
impl<'a> ApplyListed<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true) {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            addresses: seen.addresses?,
            _proved: (),
        })
    }
}
///Proof that everything is there that `write_tree` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct WriteTree<'a> {
    /// Request of the caller, without its secrets.
    pub request: ::lifecycle_runtime::__private::Request<'a>,
    ///`addresses`, certainly there.
    pub addresses: &'a Vec<ListenerIngress>,
    _proved: (),
}
impl<'a> WriteTree<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true) {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            request: seen.request,
            addresses: seen.addresses?,
            _proved: (),
        })
    }
}
///What `write_tree` may end with, in order of its `sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum WriteTreeResult {
    ///`files = true, fresh = true`.
    FilesFresh,
}
impl WriteTreeResult {
    fn alternative(&self) -> usize {
        *self as usize
    }
}
///Proof that everything is there that `remove_tree` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct RemoveTree<'a> {
    /// Request of the caller, without its secrets.
    pub request: ::lifecycle_runtime::__private::Request<'a>,
    _proved: (),
}
impl<'a> RemoveTree<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true) {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            request: seen.request,
            _proved: (),
        })
    }
}
///What `remove_tree` may end with, in order of its `sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum RemoveTreeResult {
    ///`files = false`.
    NotFiles,
}
impl RemoveTreeResult {
    fn alternative(&self) -> usize {
        *self as usize
    }
}
///What the author of `ListenerMount` decides: pure but for calls and polls, each method with exactly its declared inputs.
#[allow(clippy::ptr_arg, reason = "a method gets its input as it was declared")]
pub trait ListenerMountLogic: ::std::marker::Send + ::std::marker::Sync + 'static {
    ///Which object `claim` is.
    fn claim(
        &self,
        pv: &PersistentVolume,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::ObjectRef>;
    ///Which object `chosen` is.
    fn chosen(
        &self,
        request: ::lifecycle_runtime::__private::Request<'_>,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::ObjectRef>;
    ///Which object `own` is.
    fn own(
        &self,
        claim: &PersistentVolumeClaim,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::ObjectRef>;
    ///Which object `pod` is.
    fn pod(
        &self,
        request: ::lifecycle_runtime::__private::Request<'_>,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::ObjectRef>;
    ///Which object `listed` is.
    fn listed(
        &self,
        pod: &Pod,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::ObjectRef>;
    ///Which object `node` is.
    fn node(&self) -> ::std::option::Option<::lifecycle_runtime::__private::ObjectRef>;
    ///Looks at `tree` on this node, once in a call.
    fn probe_tree(
        &self,
        target_path: &str,
    ) -> impl ::std::future::Future<
        Output = ::std::result::Result<Tree, ::lifecycle_runtime::__private::CallError>,
    > + ::std::marker::Send;
    ///Computes the shared value `addresses`.
    fn addresses(
        &self,
        chosen: ::std::option::Option<&Listener>,
        own: ::std::option::Option<&Listener>,
        pod: ::std::option::Option<&Pod>,
        node: ::std::option::Option<&Node>,
    ) -> Vec<ListenerIngress>;
    ///Answers the fact `asked`.
    fn asked(
        &self,
        request: ::lifecycle_runtime::__private::Request<'_>,
    ) -> ::lifecycle_runtime::__private::Because<Asked>;
    ///Answers the fact `source`.
    fn source(
        &self,
        request: ::lifecycle_runtime::__private::Request<'_>,
    ) -> ::lifecycle_runtime::__private::Because<Source>;
    ///Answers the fact `mounts`.
    fn mounts(
        &self,
        pod: &Pod,
        claim: ::std::option::Option<&PersistentVolumeClaim>,
    ) -> ::lifecycle_runtime::__private::Because<Mounts>;
    ///Answers the fact `exposed`.
    fn exposed(
        &self,
        chosen: ::std::option::Option<&Listener>,
        own: ::std::option::Option<&Listener>,
    ) -> ::lifecycle_runtime::__private::Because<Exposed>;
    ///Answers the fact `address`.
    fn address(
        &self,
        addresses: &Vec<ListenerIngress>,
    ) -> ::lifecycle_runtime::__private::Because<bool>;
    ///Answers the fact `files`.
    fn files(
        &self,
        tree: ::std::option::Option<&Tree>,
    ) -> ::lifecycle_runtime::__private::Because<bool>;
    ///Answers the fact `fresh`.
    fn fresh(
        &self,
        tree: ::std::option::Option<&Tree>,
        addresses: &Vec<ListenerIngress>,
    ) -> ::lifecycle_runtime::__private::Because<bool>;
    ///What `own` should be: only the fields that we want to own.
    fn apply_own(
        &self,
        at: ApplyOwn<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<Listener>;
    ///What `pv` should be: only the fields that we want to own.
    fn apply_pv(
        &self,
        at: ApplyPv<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<PersistentVolume>;
    ///What `pod` should be: only the fields that we want to own.
    fn apply_pod(
        &self,
        at: ApplyPod<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<Pod>;
    ///What `listed` should be: only the fields that we want to own.
    fn apply_listed(
        &self,
        at: ApplyListed<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<PodListeners>;
    ///Runs `write_tree`: one mutation, which consumes `once`.
    fn write_tree(
        &self,
        at: WriteTree<'_>,
        once: ::lifecycle_runtime::__private::Once<'_>,
    ) -> impl ::std::future::Future<
        Output = ::lifecycle_runtime::__private::Outcome<WriteTreeResult>,
    > + ::std::marker::Send;
    ///Runs `remove_tree`: one mutation, which consumes `once`.
    fn remove_tree(
        &self,
        at: RemoveTree<'_>,
        once: ::lifecycle_runtime::__private::Once<'_>,
    ) -> impl ::std::future::Future<
        Output = ::lifecycle_runtime::__private::Outcome<RemoveTreeResult>,
    > + ::std::marker::Send;
}
///The lifecycle of `ListenerMount` with the logic of its author.
#[derive(Clone, Debug)]
pub struct ListenerMountMachine<L>(L);
/// Ties the logic to the lifecycle.
pub fn machine<L: ListenerMountLogic>(logic: L) -> ListenerMountMachine<L> {
    ListenerMountMachine(logic)
}
#[allow(unused_variables, reason = "a lifecycle need not use every argument")]
impl<L: ListenerMountLogic> ::lifecycle_runtime::__private::Machine
for ListenerMountMachine<L> {
    fn ir(&self) -> &'static ::lifecycle_runtime::__private::ir::Lifecycle {
        IR
    }
    fn kind(
        &self,
        input: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Kind> {
        match input {
            0usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<PersistentVolume>(),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<
                        PersistentVolumeClaim,
                    >(),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Listener>(),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Listener>(),
                )
            }
            4usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Pod>(),
                )
            }
            5usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<PodListeners>(),
                )
            }
            6usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Node>(),
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
                            &observation.request()?.text("volume_id"),
                        ),
                    ),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_ref(
                        self.0.claim(observation.one::<PersistentVolume>(0usize)?),
                    ),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_ref(
                        self.0.chosen(observation.request()?),
                    ),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_ref(
                        self.0.own(observation.one::<PersistentVolumeClaim>(1usize)?),
                    ),
                )
            }
            4usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_ref(
                        self.0.pod(observation.request()?),
                    ),
                )
            }
            5usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_ref(
                        self.0.listed(observation.one::<Pod>(4usize)?),
                    ),
                )
            }
            6usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_ref(self.0.node()),
                )
            }
            7usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_key(
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.request()?.text("target_path"),
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
                            .addresses(
                                observation.one::<Listener>(2usize),
                                observation.one::<Listener>(3usize),
                                observation.one::<Pod>(4usize),
                                observation.one::<Node>(6usize),
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
            7usize => {
                ::std::option::Option::Some(
                    self.0.asked(observation.request()?).map(|value| value as u8),
                )
            }
            8usize => {
                ::std::option::Option::Some(
                    self.0.source(observation.request()?).map(|value| value as u8),
                )
            }
            9usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .mounts(
                            observation.one::<Pod>(4usize)?,
                            observation.one::<PersistentVolumeClaim>(1usize),
                        )
                        .map(|value| value as u8),
                )
            }
            10usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .exposed(
                            observation.one::<Listener>(2usize),
                            observation.one::<Listener>(3usize),
                        )
                        .map(|value| value as u8),
                )
            }
            11usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .address(observation.value::<Vec<ListenerIngress>>(0usize)?)
                        .map(|value| value as u8),
                )
            }
            12usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .files(observation.one::<Tree>(7usize))
                        .map(|value| value as u8),
                )
            }
            13usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .fresh(
                            observation.one::<Tree>(7usize),
                            observation.value::<Vec<ListenerIngress>>(0usize)?,
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
            0usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        Listener,
                    >::into_built(self.0.apply_own(ApplyOwn::at(&seen, &facts)?)),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        PersistentVolume,
                    >::into_built(self.0.apply_pv(ApplyPv::at(&seen, &facts)?)),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        Pod,
                    >::into_built(self.0.apply_pod(ApplyPod::at(&seen, &facts)?)),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        PodListeners,
                    >::into_built(self.0.apply_listed(ApplyListed::at(&seen, &facts)?)),
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
                        self.0.probe_tree(observation.request()?.text("target_path")?),
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
            4usize => {
                ::lifecycle_runtime::__private::Text::text(
                    &observation.request()?.text("target_path"),
                )
            }
            5usize => {
                ::lifecycle_runtime::__private::Text::text(
                    &observation.request()?.text("target_path"),
                )
            }
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
            4usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::calling(
                        self.0.write_tree(WriteTree::at(&seen, &facts)?, once),
                        WriteTreeResult::alternative,
                    ),
                )
            }
            5usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::calling(
                        self.0.remove_tree(RemoveTree::at(&seen, &facts)?, once),
                        RemoveTreeResult::alternative,
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
        name: "ListenerMount",
        path: ::std::concat!(::std::module_path!(), "::ListenerMount"),
        doc: "The node side of a Listener volume: reserves the Listener, labels the Pod, and writes the tree of files.",
        inputs: &[
            ir::Input {
                name: "pv",
                doc: "",
                mode: ir::Mode::Part,
                many: false,
                kind: "PersistentVolume",
                lookup: ir::Lookup::Name("request.volumeId"),
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(7usize, 1u64)),
                var: ::std::option::Option::Some(0usize),
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
                name: "claim",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "PersistentVolumeClaim",
                lookup: ir::Lookup::Ref,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(
                    ir::Pred::Not(&ir::Pred::Is(0usize, 1u64)),
                ),
                var: ::std::option::Option::Some(1usize),
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
                name: "chosen",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "Listener",
                lookup: ir::Lookup::Ref,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(8usize, 2u64)),
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
                name: "own",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "Listener",
                lookup: ir::Lookup::Ref,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[ir::Pred::Is(8usize, 1u64), ir::Pred::Is(1usize, 2u64)],
                    ),
                ),
                var: ::std::option::Option::Some(3usize),
                owner: ::std::option::Option::Some(0usize),
                controller: true,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "pod",
                doc: "",
                mode: ir::Mode::Part,
                many: false,
                kind: "Pod",
                lookup: ir::Lookup::Ref,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(
                    ir::Pred::Not(&ir::Pred::Is(0usize, 1u64)),
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
                name: "listed",
                doc: "",
                mode: ir::Mode::Shared,
                many: false,
                kind: "PodListeners",
                lookup: ir::Lookup::Ref,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(4usize, 4u64)),
                var: ::std::option::Option::Some(5usize),
                owner: ::std::option::Option::Some(4usize),
                controller: false,
                exclusive: &[],
                retain: ::std::option::Option::None,
                retired: ::std::option::Option::None,
                noted: ::std::option::Option::None,
                group: ::std::option::Option::None,
                optional: false,
            },
            ir::Input {
                name: "node",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "Node",
                lookup: ir::Lookup::Ref,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(4usize, 4u64)),
                var: ::std::option::Option::Some(6usize),
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
                name: "tree",
                doc: "",
                mode: ir::Mode::Probe,
                many: false,
                kind: "Tree",
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
        ],
        values: &[
            ir::Value {
                name: "addresses",
                given: ::std::option::Option::None,
                mint: ::std::option::Option::None,
            },
        ],
        vars: &[
            ir::Var {
                name: "pv",
                doc: "",
                origin: ir::Origin::Input(0usize),
                values: &["Absent", "Stale", "Current"],
                answers: 3u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(7usize, 1u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize],
            },
            ir::Var {
                name: "claim",
                doc: "",
                origin: ir::Origin::Input(1usize),
                values: &["Absent", "Present"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Not(&ir::Pred::Is(0usize, 1u64)),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 1usize],
            },
            ir::Var {
                name: "chosen",
                doc: "",
                origin: ir::Origin::Input(2usize),
                values: &["Absent", "Present"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(8usize, 2u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 2usize],
            },
            ir::Var {
                name: "own",
                doc: "",
                origin: ir::Origin::Input(3usize),
                values: &["Absent", "Foreign", "Terminating", "Stale", "Current"],
                answers: 5u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::All(
                            &[ir::Pred::Is(8usize, 1u64), ir::Pred::Is(1usize, 2u64)],
                        ),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 1usize, 3usize, 4usize],
            },
            ir::Var {
                name: "pod",
                doc: "",
                origin: ir::Origin::Input(4usize),
                values: &["Absent", "Stale", "Current"],
                answers: 3u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Not(&ir::Pred::Is(0usize, 1u64)),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 4usize],
            },
            ir::Var {
                name: "listed",
                doc: "",
                origin: ir::Origin::Input(5usize),
                values: &["Absent", "Terminating", "Stale", "Current"],
                answers: 4u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(4usize, 4u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 1usize, 2usize, 3usize, 4usize, 5usize, 6usize],
            },
            ir::Var {
                name: "node",
                doc: "",
                origin: ir::Origin::Input(6usize),
                values: &["Absent", "Present"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(4usize, 4u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 4usize, 6usize],
            },
            ir::Var {
                name: "asked",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Mount", "Block", "Inline"],
                answers: 3u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
            ir::Var {
                name: "source",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Class", "Name", "Bad"],
                answers: 3u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Not(&ir::Pred::Is(0usize, 1u64)),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize],
            },
            ir::Var {
                name: "mounts",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Yes", "No"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Not(&ir::Pred::Is(4usize, 1u64)),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 1usize, 4usize],
            },
            ir::Var {
                name: "exposed",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["No", "NoClass", "Yes"],
                answers: 3u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Any(
                            &[
                                ir::Pred::All(
                                    &[ir::Pred::Is(8usize, 2u64), ir::Pred::Is(2usize, 2u64)],
                                ),
                                ir::Pred::Is(3usize, 24u64),
                            ],
                        ),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 1usize, 2usize, 3usize, 4usize],
            },
            ir::Var {
                name: "address",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["false", "true"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::All(
                            &[ir::Pred::Is(10usize, 4u64), ir::Pred::Is(4usize, 4u64)],
                        ),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 1usize, 2usize, 3usize, 4usize, 6usize],
            },
            ir::Var {
                name: "files",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::Some(1u64),
                timed: false,
                reads: &[7usize],
            },
            ir::Var {
                name: "fresh",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["false", "true"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::All(
                            &[ir::Pred::Is(12usize, 2u64), ir::Pred::Is(11usize, 2u64)],
                        ),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize, 1usize, 2usize, 3usize, 4usize, 6usize, 7usize],
            },
            ir::Var {
                name: "apply_own",
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
                name: "apply_pv",
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
                name: "apply_pod",
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
                name: "apply_listed",
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
                name: "write_tree",
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
                name: "remove_tree",
                doc: "",
                origin: ir::Origin::Refused(5usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
        ],
        order: &[
            ir::Node::Var(7usize),
            ir::Node::Input(0usize),
            ir::Node::Var(0usize),
            ir::Node::Input(1usize),
            ir::Node::Var(1usize),
            ir::Node::Var(8usize),
            ir::Node::Input(2usize),
            ir::Node::Var(2usize),
            ir::Node::Input(3usize),
            ir::Node::Input(4usize),
            ir::Node::Var(3usize),
            ir::Node::Var(4usize),
            ir::Node::Input(5usize),
            ir::Node::Input(6usize),
            ir::Node::Value(0usize),
            ir::Node::Var(5usize),
            ir::Node::Var(6usize),
            ir::Node::Input(7usize),
            ir::Node::Var(9usize),
            ir::Node::Var(10usize),
            ir::Node::Var(11usize),
            ir::Node::Var(12usize),
            ir::Node::Var(13usize),
            ir::Node::Var(14usize),
            ir::Node::Var(15usize),
            ir::Node::Var(16usize),
            ir::Node::Var(17usize),
            ir::Node::Var(18usize),
            ir::Node::Var(19usize),
        ],
        nevers: &[],
        states: ir::Table::new(
            &[
                ir::State {
                    name: "Free",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Not(&ir::Pred::Is(12usize, 2u64)),
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
                    name: "Published",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Any(
                        &[
                            ir::Pred::Is(13usize, 2u64),
                            ir::Pred::Not(&ir::Pred::Is(11usize, 2u64)),
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
                    name: "Outdated",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Not(&ir::Pred::Is(13usize, 2u64)),
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
            ],
        ),
        regions: ir::Table::new(&[]),
        effects: &[
            ir::Effect {
                name: "apply_own",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 3usize,
                from: &[ir::Source::Input(1usize), ir::Source::Input(4usize)],
                when: ::std::option::Option::Some(ir::Pred::Is(9usize, 1u64)),
                sets: &[&[(3usize, 4u8)]],
                affects: &[3usize, 5usize, 10usize, 11usize, 13usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 14usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "apply_pv",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 0usize,
                from: &[],
                when: ::std::option::Option::Some(ir::Pred::Is(10usize, 4u64)),
                sets: &[&[(0usize, 2u8)]],
                affects: &[0usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 15usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "apply_pod",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 4usize,
                from: &[],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[ir::Pred::Is(10usize, 4u64), ir::Pred::Is(9usize, 1u64)],
                    ),
                ),
                sets: &[&[(4usize, 2u8)]],
                affects: &[3usize, 4usize, 5usize, 9usize, 11usize, 13usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 16usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "apply_listed",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 5usize,
                from: &[ir::Source::Value(0usize)],
                when: ::std::option::Option::Some(ir::Pred::Is(11usize, 2u64)),
                sets: &[&[(5usize, 3u8)]],
                affects: &[5usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 17usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "write_tree",
                doc: "",
                verb: ir::Verb::Call,
                each: false,
                target: 7usize,
                from: &[ir::Source::Value(0usize)],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[
                            ir::Pred::Is(11usize, 2u64),
                            ir::Pred::Is(5usize, 8u64),
                            ir::Pred::Not(&ir::Pred::Is(13usize, 2u64)),
                        ],
                    ),
                ),
                sets: &[&[(12usize, 1u8), (13usize, 1u8)]],
                affects: &[12usize, 13usize],
                undo: ::std::option::Option::Some(5usize),
                is_undo: false,
                is_step: false,
                refused: 18usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
            ir::Effect {
                name: "remove_tree",
                doc: "",
                verb: ir::Verb::Call,
                each: false,
                target: 7usize,
                from: &[],
                when: ::std::option::Option::None,
                sets: &[&[(12usize, 0u8)]],
                affects: &[12usize, 13usize],
                undo: ::std::option::Option::None,
                is_undo: true,
                is_step: false,
                refused: 19usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
        ],
        promises: &[
            ir::Promise {
                name: "made",
                claim: ::std::option::Option::None,
                when: ir::Pred::All(
                    &[
                        ir::Pred::Is(8usize, 2u64),
                        ir::Pred::Not(&ir::Pred::Is(2usize, 2u64)),
                    ],
                ),
                sets: &[&[(2usize, 1u8)]],
            },
            ir::Promise {
                name: "exposes",
                claim: ::std::option::Option::None,
                when: ir::Pred::All(
                    &[
                        ir::Pred::Is(10usize, 1u64),
                        ir::Pred::Any(
                            &[ir::Pred::Is(2usize, 2u64), ir::Pred::Is(3usize, 16u64)],
                        ),
                    ],
                ),
                sets: &[&[(10usize, 2u8)], &[(10usize, 1u8)]],
            },
            ir::Promise {
                name: "answered",
                claim: ::std::option::Option::None,
                when: ir::Pred::All(
                    &[
                        ir::Pred::Is(10usize, 4u64),
                        ir::Pred::Is(4usize, 4u64),
                        ir::Pred::Not(&ir::Pred::Is(11usize, 2u64)),
                    ],
                ),
                sets: &[&[(11usize, 1u8)]],
            },
        ],
        steps: &[],
        abandoned: &[],
        retired: &[],
        edges: &[],
        waits: &[],
        conditions: &[],
        ready: ir::RollUp {
            from: &[],
            reason: "Ready",
            message: &[],
        },
        implicit: ::std::option::Option::None,
        kstatus: false,
        texts: &[],
        times: &[],
        fields: &[],
        columns: &[],
        volume: true,
        calls: &[
            ir::Call {
                rpc: ir::Rpc::NodeStageVolume,
                doc: "",
                on_node: true,
                fields: &[
                    ir::RequestField {
                        name: "volume_id",
                        required: true,
                        limit: ::std::option::Option::Some(128usize),
                    },
                    ir::RequestField {
                        name: "publish_context",
                        required: false,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                    ir::RequestField {
                        name: "staging_target_path",
                        required: true,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                    ir::RequestField {
                        name: "volume_capability",
                        required: true,
                        limit: ::std::option::Option::None,
                    },
                    ir::RequestField {
                        name: "secrets",
                        required: false,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                    ir::RequestField {
                        name: "volume_context",
                        required: false,
                        limit: ::std::option::Option::None,
                    },
                ],
                key: &["volume_id", "staging_target_path"],
                preconditions: &[
                    ir::Precondition {
                        name: "unfit",
                        code: ir::Code::FailedPrecondition,
                        when: ir::Pred::Not(&ir::Pred::Is(7usize, 1u64)),
                    },
                    ir::Precondition {
                        name: "unknown",
                        code: ir::Code::NotFound,
                        when: ir::Pred::Is(0usize, 1u64),
                    },
                ],
                target: ir::Target::Pred(
                    ir::Pred::Any(
                        &[ir::Pred::Is(0usize, 4u64), ir::Pred::Is(8usize, 1u64)],
                    ),
                ),
                refusals: &[
                    ir::Refusal {
                        when: ir::Pred::Is(8usize, 4u64),
                        code: ir::Code::InvalidArgument,
                        why: ::std::option::Option::None,
                    },
                    ir::Refusal {
                        when: ir::Pred::Is(10usize, 2u64),
                        code: ir::Code::FailedPrecondition,
                        why: ::std::option::Option::None,
                    },
                    ir::Refusal {
                        when: ir::Pred::Is(15usize, 2u64),
                        code: ir::Code::Unavailable,
                        why: ::std::option::Option::None,
                    },
                ],
                by: &[1usize],
                within: ::std::option::Option::Some(ir::Within {
                    time: 90000u64,
                    code: ir::Code::Unavailable,
                }),
                opposite: ::std::option::Option::Some(1usize),
                unseen_inputs: &[7usize],
                unseen_vars: &[12usize, 13usize],
            },
            ir::Call {
                rpc: ir::Rpc::NodeUnstageVolume,
                doc: "",
                on_node: true,
                fields: &[
                    ir::RequestField {
                        name: "volume_id",
                        required: true,
                        limit: ::std::option::Option::Some(128usize),
                    },
                    ir::RequestField {
                        name: "staging_target_path",
                        required: true,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                ],
                key: &["volume_id", "staging_target_path"],
                preconditions: &[],
                target: ir::Target::Nothing,
                refusals: &[],
                by: &[],
                within: ::std::option::Option::None,
                opposite: ::std::option::Option::Some(0usize),
                unseen_inputs: &[2usize, 4usize, 5usize, 6usize, 7usize],
                unseen_vars: &[
                    2usize, 4usize, 5usize, 6usize, 7usize, 8usize, 9usize, 10usize,
                    11usize, 12usize, 13usize,
                ],
            },
            ir::Call {
                rpc: ir::Rpc::NodePublishVolume,
                doc: "",
                on_node: true,
                fields: &[
                    ir::RequestField {
                        name: "volume_id",
                        required: true,
                        limit: ::std::option::Option::Some(128usize),
                    },
                    ir::RequestField {
                        name: "publish_context",
                        required: false,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                    ir::RequestField {
                        name: "staging_target_path",
                        required: false,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                    ir::RequestField {
                        name: "target_path",
                        required: true,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                    ir::RequestField {
                        name: "volume_capability",
                        required: true,
                        limit: ::std::option::Option::None,
                    },
                    ir::RequestField {
                        name: "readonly",
                        required: false,
                        limit: ::std::option::Option::None,
                    },
                    ir::RequestField {
                        name: "secrets",
                        required: false,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                    ir::RequestField {
                        name: "volume_context",
                        required: false,
                        limit: ::std::option::Option::None,
                    },
                ],
                key: &["volume_id", "target_path"],
                preconditions: &[
                    ir::Precondition {
                        name: "unfit",
                        code: ir::Code::FailedPrecondition,
                        when: ir::Pred::Not(&ir::Pred::Is(7usize, 1u64)),
                    },
                    ir::Precondition {
                        name: "unknown",
                        code: ir::Code::NotFound,
                        when: ir::Pred::Is(0usize, 1u64),
                    },
                ],
                target: ir::Target::State(ir::StateId(1usize)),
                refusals: &[
                    ir::Refusal {
                        when: ir::Pred::Is(8usize, 4u64),
                        code: ir::Code::InvalidArgument,
                        why: ::std::option::Option::None,
                    },
                    ir::Refusal {
                        when: ir::Pred::Not(&ir::Pred::Is(1usize, 2u64)),
                        code: ir::Code::Unavailable,
                        why: ::std::option::Option::None,
                    },
                    ir::Refusal {
                        when: ir::Pred::Is(4usize, 1u64),
                        code: ir::Code::FailedPrecondition,
                        why: ::std::option::Option::Some("the Pod is gone"),
                    },
                    ir::Refusal {
                        when: ir::Pred::Is(9usize, 2u64),
                        code: ir::Code::FailedPrecondition,
                        why: ::std::option::Option::Some(
                            "no volume of the Pod uses this claim",
                        ),
                    },
                    ir::Refusal {
                        when: ir::Pred::Is(3usize, 2u64),
                        code: ir::Code::FailedPrecondition,
                        why: ::std::option::Option::Some(
                            "a Listener of this name exists already",
                        ),
                    },
                    ir::Refusal {
                        when: ir::Pred::Is(10usize, 2u64),
                        code: ir::Code::FailedPrecondition,
                        why: ::std::option::Option::Some("the Listener names no class"),
                    },
                    ir::Refusal {
                        when: ir::Pred::Is(14usize, 2u64),
                        code: ir::Code::FailedPrecondition,
                        why: ::std::option::Option::None,
                    },
                    ir::Refusal {
                        when: ir::Pred::Any(
                            &[
                                ir::Pred::Is(15usize, 2u64),
                                ir::Pred::Is(16usize, 2u64),
                                ir::Pred::Is(17usize, 2u64),
                                ir::Pred::Is(18usize, 2u64),
                            ],
                        ),
                        code: ir::Code::Unavailable,
                        why: ::std::option::Option::None,
                    },
                ],
                by: &[0usize, 1usize, 2usize, 3usize, 4usize],
                within: ::std::option::Option::Some(ir::Within {
                    time: 90000u64,
                    code: ir::Code::Unavailable,
                }),
                opposite: ::std::option::Option::Some(3usize),
                unseen_inputs: &[],
                unseen_vars: &[],
            },
            ir::Call {
                rpc: ir::Rpc::NodeUnpublishVolume,
                doc: "",
                on_node: true,
                fields: &[
                    ir::RequestField {
                        name: "volume_id",
                        required: true,
                        limit: ::std::option::Option::Some(128usize),
                    },
                    ir::RequestField {
                        name: "target_path",
                        required: true,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                ],
                key: &["volume_id", "target_path"],
                preconditions: &[],
                target: ir::Target::State(ir::StateId(0usize)),
                refusals: &[
                    ir::Refusal {
                        when: ir::Pred::Is(19usize, 2u64),
                        code: ir::Code::Unavailable,
                        why: ::std::option::Option::None,
                    },
                ],
                by: &[5usize],
                within: ::std::option::Option::None,
                opposite: ::std::option::Option::Some(2usize),
                unseen_inputs: &[2usize, 4usize, 5usize, 6usize],
                unseen_vars: &[
                    2usize, 4usize, 5usize, 6usize, 7usize, 8usize, 9usize, 10usize,
                    11usize, 13usize,
                ],
            },
        ],
    }
};
