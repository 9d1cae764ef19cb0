//! What `skupper.txt` expands to; written by the test `expand`.

///Values of the fact `shape`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    ///`shape == Fine`.
    Fine,
    ///`shape == BadPort`.
    BadPort,
    ///`shape == BadHost`.
    BadHost,
    ///`shape == BadType`.
    BadType,
    ///`shape == Taken`.
    Taken,
}
impl Shape {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[
        Self::Fine,
        Self::BadPort,
        Self::BadHost,
        Self::BadType,
        Self::Taken,
    ];
}
///Values of the fact `entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entry {
    ///`entry == No`.
    No,
    ///`entry == Unknown`.
    Unknown,
    ///`entry == Stale`.
    Stale,
    ///`entry == Current`.
    Current,
}
impl Entry {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[
        Self::No,
        Self::Unknown,
        Self::Stale,
        Self::Current,
    ];
}
///Values of the fact `bound`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    ///`bound == Waiting`.
    Waiting,
    ///`bound == Up`.
    Up,
    ///`bound == Failed`.
    Failed,
}
impl Bound {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Waiting, Self::Up, Self::Failed];
}
/// One world: the answer to every finite question, those that inputs bring included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    ///The object has a deletion timestamp.
    pub deleting: bool,
    ///Our finalizer is on the object.
    pub claimed: bool,
    ///Whether and how `secret` is there.
    pub secret: ::lifecycle_runtime::__private::Named,
    ///Whether and how `services` is there.
    pub services: ::lifecycle_runtime::__private::OwnedSet,
    ///Whether and how `router` is there.
    pub router: ::lifecycle_runtime::__private::Polled,
    ///Whether and how `network` is there.
    pub network: ::lifecycle_runtime::__private::Polled,
    ///The fact `site`.
    pub site: bool,
    ///The fact `shape`.
    pub shape: Shape,
    ///The fact `matched`.
    pub matched: bool,
    ///The fact `entry`.
    pub entry: Entry,
    ///The fact `bound`.
    pub bound: Bound,
    ///The last answer to this very write of `ensure_entry` was a refusal.
    pub refused_ensure_entry: bool,
    ///The last answer to this very write of `remove_entry` was a refusal.
    pub refused_remove_entry: bool,
    ///The last answer to this very write of `apply_services` was a refusal.
    pub refused_apply_services: bool,
    ///The last answer to this very write of `delete_services` was a refusal.
    pub refused_delete_services: bool,
}
impl Facts {
    /// A world of the runtime, typed.
    pub fn of(world: &::lifecycle_runtime::__private::World) -> Self {
        Self {
            deleting: world.get(0usize) == 1,
            claimed: world.get(1usize) == 1,
            secret: ::lifecycle_runtime::__private::Named::VALUES[world.get(2usize)
                as usize],
            services: ::lifecycle_runtime::__private::OwnedSet::VALUES[world.get(3usize)
                as usize],
            router: ::lifecycle_runtime::__private::Polled::VALUES[world.get(4usize)
                as usize],
            network: ::lifecycle_runtime::__private::Polled::VALUES[world.get(5usize)
                as usize],
            site: world.get(6usize) == 1,
            shape: Shape::VALUES[world.get(7usize) as usize],
            matched: world.get(8usize) == 1,
            entry: Entry::VALUES[world.get(9usize) as usize],
            bound: Bound::VALUES[world.get(10usize) as usize],
            refused_ensure_entry: world.get(11usize) == 1,
            refused_remove_entry: world.get(12usize) == 1,
            refused_apply_services: world.get(13usize) == 1,
            refused_delete_services: world.get(14usize) == 1,
        }
    }
}
/// Where an object is in its lifecycle; the first state that fits counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    ///The object is being deleted: what is held is given back.
    Deleting,
    ///A write was refused that no state mentions.
    Refused,
    ///The state `NoSite`.
    NoSite,
    ///The state `Invalid`.
    Invalid,
    ///The state `Rejected`.
    Rejected,
    ///The state `NoSecret`.
    NoSecret,
    ///The state `Unreachable`.
    Unreachable,
    ///The state `Configuring`.
    Configuring,
    ///The state `Conflict`.
    Conflict,
    ///The state `BindFailed`.
    BindFailed,
    ///The state `Unmatched`.
    Unmatched,
    ///The state `Binding`.
    Binding,
    ///The state `Ready`.
    Ready,
}
impl State {
    /// The one state of a world.
    pub const fn classify(facts: &Facts) -> Self {
        if facts.deleting {
            return Self::Deleting;
        }
        if facts.refused_remove_entry || facts.refused_delete_services {
            return Self::Refused;
        }
        if !facts.site {
            return Self::NoSite;
        }
        if !matches!(facts.shape, Shape::Fine) {
            return Self::Invalid;
        }
        if (false || facts.refused_apply_services || facts.refused_ensure_entry) {
            return Self::Rejected;
        }
        if matches!(facts.secret, ::lifecycle_runtime::__private::Named::Absent) {
            return Self::NoSecret;
        }
        if matches!(facts.entry, Entry::Unknown) {
            return Self::Unreachable;
        }
        if (false || !matches!(facts.entry, Entry::Current)
            || matches!(
                facts.services, ::lifecycle_runtime::__private::OwnedSet::Behind |
                ::lifecycle_runtime::__private::OwnedSet::Surplus |
                ::lifecycle_runtime::__private::OwnedSet::Draining
            ))
        {
            return Self::Configuring;
        }
        if matches!(facts.services, ::lifecycle_runtime::__private::OwnedSet::Foreign) {
            return Self::Conflict;
        }
        if matches!(facts.bound, Bound::Failed) {
            return Self::BindFailed;
        }
        if !facts.matched {
            return Self::Unmatched;
        }
        if matches!(facts.bound, Bound::Waiting) {
            return Self::Binding;
        }
        Self::Ready
    }
}
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, services :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, network :
    ::lifecycle_runtime::__private::Polled::Unknown, site : false, shape : Shape::Fine,
    matched : false, entry : Entry::No, bound : Bound::Waiting, refused_ensure_entry :
    false, refused_remove_entry : false, refused_apply_services : false,
    refused_delete_services : false }), State::NoSite),
    "the emitted classification takes a world of `NoSite` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, services :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, network :
    ::lifecycle_runtime::__private::Polled::Unknown, site : true, shape : Shape::BadPort,
    matched : false, entry : Entry::No, bound : Bound::Waiting, refused_ensure_entry :
    false, refused_remove_entry : false, refused_apply_services : false,
    refused_delete_services : false }), State::Invalid),
    "the emitted classification takes a world of `Invalid` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, services :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, network :
    ::lifecycle_runtime::__private::Polled::Known, site : true, shape : Shape::Fine,
    matched : false, entry : Entry::No, bound : Bound::Waiting, refused_ensure_entry :
    false, refused_remove_entry : false, refused_apply_services : true,
    refused_delete_services : false }), State::Rejected),
    "the emitted classification takes a world of `Rejected` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, secret :
    ::lifecycle_runtime::__private::Named::Absent, services :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, network :
    ::lifecycle_runtime::__private::Polled::Unknown, site : true, shape : Shape::Fine,
    matched : false, entry : Entry::No, bound : Bound::Waiting, refused_ensure_entry :
    false, refused_remove_entry : false, refused_apply_services : false,
    refused_delete_services : false }), State::NoSecret),
    "the emitted classification takes a world of `NoSecret` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, services :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, network :
    ::lifecycle_runtime::__private::Polled::Unknown, site : true, shape : Shape::Fine,
    matched : false, entry : Entry::Unknown, bound : Bound::Waiting, refused_ensure_entry
    : false, refused_remove_entry : false, refused_apply_services : false,
    refused_delete_services : false }), State::Unreachable),
    "the emitted classification takes a world of `Unreachable` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, services :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, network :
    ::lifecycle_runtime::__private::Polled::Unknown, site : true, shape : Shape::Fine,
    matched : false, entry : Entry::No, bound : Bound::Waiting, refused_ensure_entry :
    false, refused_remove_entry : false, refused_apply_services : false,
    refused_delete_services : false }), State::Configuring),
    "the emitted classification takes a world of `Configuring` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, services :
    ::lifecycle_runtime::__private::OwnedSet::Foreign, router :
    ::lifecycle_runtime::__private::Polled::Unknown, network :
    ::lifecycle_runtime::__private::Polled::Unknown, site : true, shape : Shape::Fine,
    matched : false, entry : Entry::Current, bound : Bound::Waiting, refused_ensure_entry
    : false, refused_remove_entry : false, refused_apply_services : false,
    refused_delete_services : false }), State::Conflict),
    "the emitted classification takes a world of `Conflict` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, services :
    ::lifecycle_runtime::__private::OwnedSet::Current, router :
    ::lifecycle_runtime::__private::Polled::Unknown, network :
    ::lifecycle_runtime::__private::Polled::Unknown, site : true, shape : Shape::Fine,
    matched : false, entry : Entry::Current, bound : Bound::Failed, refused_ensure_entry
    : false, refused_remove_entry : false, refused_apply_services : false,
    refused_delete_services : false }), State::BindFailed),
    "the emitted classification takes a world of `BindFailed` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, services :
    ::lifecycle_runtime::__private::OwnedSet::Current, router :
    ::lifecycle_runtime::__private::Polled::Unknown, network :
    ::lifecycle_runtime::__private::Polled::Unknown, site : true, shape : Shape::Fine,
    matched : false, entry : Entry::Current, bound : Bound::Waiting, refused_ensure_entry
    : false, refused_remove_entry : false, refused_apply_services : false,
    refused_delete_services : false }), State::Unmatched),
    "the emitted classification takes a world of `Unmatched` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, services :
    ::lifecycle_runtime::__private::OwnedSet::Current, router :
    ::lifecycle_runtime::__private::Polled::Unknown, network :
    ::lifecycle_runtime::__private::Polled::Known, site : true, shape : Shape::Fine,
    matched : true, entry : Entry::Current, bound : Bound::Waiting, refused_ensure_entry
    : false, refused_remove_entry : false, refused_apply_services : false,
    refused_delete_services : false }), State::Binding),
    "the emitted classification takes a world of `Binding` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, services :
    ::lifecycle_runtime::__private::OwnedSet::Current, router :
    ::lifecycle_runtime::__private::Polled::Unknown, network :
    ::lifecycle_runtime::__private::Polled::Known, site : true, shape : Shape::Fine,
    matched : true, entry : Entry::Current, bound : Bound::Up, refused_ensure_entry :
    false, refused_remove_entry : false, refused_apply_services : false,
    refused_delete_services : false }), State::Ready),
    "the emitted classification takes a world of `Ready` for another state"
);
/// What one pass observed.
#[derive(Clone)]
pub struct Seen<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Listener>,
    ///The input `sites`.
    pub sites: ::std::vec::Vec<&'a Site>,
    ///The input `peers`.
    pub peers: ::std::vec::Vec<&'a Listener>,
    ///The input `secret`.
    pub secret: ::std::option::Option<&'a Secret>,
    ///The input `services`.
    pub services: ::std::vec::Vec<&'a Service>,
    ///The input `router`.
    pub router: ::std::option::Option<&'a RouterTable>,
    ///The input `network`.
    pub network: ::std::option::Option<&'a Reach>,
}
impl<'a> Seen<'a> {
    /// A board of the runtime, typed.
    pub fn of(
        board: &'a ::lifecycle_runtime::__private::Board,
    ) -> ::std::option::Option<Self> {
        ::std::option::Option::Some(Self {
            this: board.this::<Listener>()?,
            sites: board.many::<Site>(0usize),
            peers: board.many::<Listener>(1usize),
            secret: board.one::<Secret>(2usize),
            services: board.many::<Service>(3usize),
            router: board.one::<RouterTable>(4usize),
            network: board.one::<Reach>(5usize),
        })
    }
}
///Proof that everything is there that `ensure_entry` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct EnsureEntry<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Listener>,
    ///`sites`, certainly there.
    pub sites: ::std::vec::Vec<&'a Site>,
    _proved: (),
}
impl<'a> EnsureEntry<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true) {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            sites: seen.sites.clone(),
            _proved: (),
        })
    }
}
///What `ensure_entry` may end with, in order of its `sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnsureEntryResult {
    ///`entry = Current`.
    Current,
}
impl EnsureEntryResult {
    fn alternative(&self) -> usize {
        *self as usize
    }
}
///Proof that everything is there that `remove_entry` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct RemoveEntry<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Listener>,
    _proved: (),
}
impl<'a> RemoveEntry<'a> {
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
///What `remove_entry` may end with, in order of its `sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoveEntryResult {
    ///`entry = No`.
    No,
}
impl RemoveEntryResult {
    fn alternative(&self) -> usize {
        *self as usize
    }
}
///Proof that everything is there that `apply_services` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyServices<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Listener>,
    ///`peers`, certainly there.
    pub peers: ::std::vec::Vec<&'a Listener>,
    ///`network`, certainly there.
    pub network: &'a Reach,
    _proved: (),
}
impl<'a> ApplyServices<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true
            && matches!(facts.network, ::lifecycle_runtime::__private::Polled::Known))
        {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            peers: seen.peers.clone(),
            network: seen.network?,
            _proved: (),
        })
    }
}
///What the author of `Listener` decides: pure but for calls and polls, each method with exactly its declared inputs.
#[allow(clippy::ptr_arg, reason = "a method gets its input as it was declared")]
pub trait ListenerLogic: ::std::marker::Send + ::std::marker::Sync + 'static {
    ///Asks for `router`; objects with equal keys share the answer.
    fn poll_router(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        sites: ::std::vec::Vec<&Site>,
    ) -> impl ::std::future::Future<
        Output = ::std::result::Result<
            RouterTable,
            ::lifecycle_runtime::__private::CallError,
        >,
    > + ::std::marker::Send;
    ///Asks for `network`; objects with equal keys share the answer.
    fn poll_network(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        sites: ::std::vec::Vec<&Site>,
    ) -> impl ::std::future::Future<
        Output = ::std::result::Result<Reach, ::lifecycle_runtime::__private::CallError>,
    > + ::std::marker::Send;
    ///Answers the fact `site`.
    fn site(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        sites: &[&Site],
    ) -> ::lifecycle_runtime::__private::Because<bool>;
    ///Answers the fact `shape`.
    fn shape(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        peers: &[&Listener],
    ) -> ::lifecycle_runtime::__private::Because<Shape>;
    ///Answers the fact `matched`.
    fn matched(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        network: &Reach,
    ) -> ::lifecycle_runtime::__private::Because<bool>;
    ///Answers the fact `entry`.
    fn entry(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        sites: &[&Site],
        router: ::std::option::Option<&RouterTable>,
        network: ::std::option::Option<&Reach>,
    ) -> ::lifecycle_runtime::__private::Because<Entry>;
    ///Answers the fact `bound`.
    fn bound(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        router: ::std::option::Option<&RouterTable>,
    ) -> ::lifecycle_runtime::__private::Because<Bound>;
    ///Runs `ensure_entry`: one mutation, which consumes `once`.
    fn ensure_entry(
        &self,
        at: EnsureEntry<'_>,
        once: ::lifecycle_runtime::__private::Once<'_>,
    ) -> impl ::std::future::Future<
        Output = ::lifecycle_runtime::__private::Outcome<EnsureEntryResult>,
    > + ::std::marker::Send;
    ///Runs `remove_entry`: one mutation, which consumes `once`.
    fn remove_entry(
        &self,
        at: RemoveEntry<'_>,
        once: ::lifecycle_runtime::__private::Once<'_>,
    ) -> impl ::std::future::Future<
        Output = ::lifecycle_runtime::__private::Outcome<RemoveEntryResult>,
    > + ::std::marker::Send;
    ///What `services` should be: only the fields that we want to own.
    fn apply_services(
        &self,
        at: ApplyServices<'_>,
    ) -> ::std::vec::Vec<::lifecycle_runtime::__private::Desired<Service>>;
    ///The status field `has_matching_connector`; asked only where all its inputs are there.
    fn has_matching_connector(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        matched: bool,
    ) -> bool;
}
///The lifecycle of `Listener` with the logic of its author.
#[derive(Clone, Debug)]
pub struct ListenerMachine<L>(L);
/// Ties the logic to the lifecycle.
pub fn machine<L: ListenerLogic>(logic: L) -> ListenerMachine<L> {
    ListenerMachine(logic)
}
#[allow(unused_variables, reason = "a lifecycle need not use every argument")]
impl<L: ListenerLogic> ::lifecycle_runtime::__private::Machine for ListenerMachine<L> {
    fn ir(&self) -> &'static ::lifecycle_runtime::__private::ir::Lifecycle {
        IR
    }
    fn subject(&self) -> ::std::option::Option<::lifecycle_runtime::__private::Kind> {
        ::std::option::Option::Some(
            ::lifecycle_runtime::__private::Kind::of::<Listener>(),
        )
    }
    fn kind(
        &self,
        input: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Kind> {
        match input {
            0usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<Site>(),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<Listener>(),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<Secret>(),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<Service>(),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn look(
        &self,
        board: &::lifecycle_runtime::__private::Board,
        input: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Look> {
        match input {
            0usize => {
                ::std::option::Option::Some(::lifecycle_runtime::__private::Look::All)
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_equal(
                        ::lifecycle_runtime::__private::Text::text(
                            &board.this::<Listener>()?.spec.host,
                        ),
                    ),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &board.this::<Listener>()?.spec.tls_credentials,
                        ),
                    ),
                )
            }
            3usize => {
                ::std::option::Option::Some(::lifecycle_runtime::__private::Look::All)
            }
            4usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_key(board.identity(0usize)),
                )
            }
            5usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_key(board.identity(0usize)),
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
            1usize => {
                ::lifecycle_runtime::__private::Text::text(
                    &object.get::<Listener>()?.spec.host,
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn value(
        &self,
        board: &::lifecycle_runtime::__private::Board,
        value: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Any> {
        match value {
            _ => ::std::option::Option::None,
        }
    }
    fn fact(
        &self,
        board: &::lifecycle_runtime::__private::Board,
        var: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Answer> {
        match var {
            6usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .site(board.this::<Listener>()?, &board.many::<Site>(0usize))
                        .map(|value| value as u8),
                )
            }
            7usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .shape(
                            board.this::<Listener>()?,
                            &board.many::<Listener>(1usize),
                        )
                        .map(|value| value as u8),
                )
            }
            8usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .matched(board.this::<Listener>()?, board.one::<Reach>(5usize)?)
                        .map(|value| value as u8),
                )
            }
            9usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .entry(
                            board.this::<Listener>()?,
                            &board.many::<Site>(0usize),
                            board.one::<RouterTable>(4usize),
                            board.one::<Reach>(5usize),
                        )
                        .map(|value| value as u8),
                )
            }
            10usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .bound(
                            board.this::<Listener>()?,
                            board.one::<RouterTable>(4usize),
                        )
                        .map(|value| value as u8),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn build(
        &self,
        board: &::lifecycle_runtime::__private::Board,
        effect: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Built> {
        let (seen, facts) = (Seen::of(board)?, Facts::of(&board.world));
        match effect {
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        Service,
                    >::into_built_each(
                        self.0.apply_services(ApplyServices::at(&seen, &facts)?),
                    ),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn field(
        &self,
        board: &::lifecycle_runtime::__private::Board,
        field: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Json> {
        match field {
            2usize => {
                ::lifecycle_runtime::__private::json(
                    &self
                        .0
                        .has_matching_connector(
                            board.this::<Listener>()?,
                            Facts::of(&board.world).matched,
                        ),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn poll<'a>(
        &'a self,
        board: &'a ::lifecycle_runtime::__private::Board,
        input: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Polling<'a>> {
        match input {
            4usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::polling(
                        self
                            .0
                            .poll_router(
                                board.this::<Listener>()?,
                                board.many::<Site>(0usize),
                            ),
                    ),
                )
            }
            5usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::polling(
                        self
                            .0
                            .poll_network(
                                board.this::<Listener>()?,
                                board.many::<Site>(0usize),
                            ),
                    ),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn key(
        &self,
        board: &::lifecycle_runtime::__private::Board,
        effect: usize,
    ) -> ::std::option::Option<::std::string::String> {
        match effect {
            0usize => {
                ::lifecycle_runtime::__private::Text::text(
                    &board.this::<Listener>()?.meta.uid,
                )
            }
            1usize => {
                ::lifecycle_runtime::__private::Text::text(
                    &board.this::<Listener>()?.meta.uid,
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn call<'a>(
        &'a self,
        board: &'a ::lifecycle_runtime::__private::Board,
        effect: usize,
        once: ::lifecycle_runtime::__private::Once<'a>,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Calling<'a>> {
        let (seen, facts) = (Seen::of(board)?, Facts::of(&board.world));
        match effect {
            0usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::calling(
                        self.0.ensure_entry(EnsureEntry::at(&seen, &facts)?, once),
                        EnsureEntryResult::alternative,
                    ),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::calling(
                        self.0.remove_entry(RemoveEntry::at(&seen, &facts)?, once),
                        RemoveEntryResult::alternative,
                    ),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
}
/// What the lifecycle declares, as data.
pub const IR: &::lifecycle_runtime::__private::ir::Lifecycle = {
    use ::lifecycle_runtime::__private::ir;
    &ir::Lifecycle {
        name: "Listener",
        doc: "Offers a routing key of the network as Services of this namespace.",
        inputs: &[
            ir::Input {
                name: "sites",
                doc: "",
                mode: ir::Mode::Watched,
                many: true,
                kind: "Site",
                lookup: ir::Lookup::Namespace,
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "peers",
                doc: "",
                mode: ir::Mode::Watched,
                many: true,
                kind: "Listener",
                lookup: ir::Lookup::Equal,
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "secret",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "Secret",
                lookup: ir::Lookup::Name("spec.tlsCredentials"),
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(2usize),
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "services",
                doc: "",
                mode: ir::Mode::Shared,
                many: true,
                kind: "Service",
                lookup: ir::Lookup::Owner,
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(3usize),
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "router",
                doc: "",
                mode: ir::Mode::Poll,
                many: false,
                kind: "RouterTable",
                lookup: ir::Lookup::Key,
                every: ::std::option::Option::Some(2000u64),
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(4usize),
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "network",
                doc: "",
                mode: ir::Mode::Poll,
                many: false,
                kind: "Reach",
                lookup: ir::Lookup::Key,
                every: ::std::option::Option::Some(2000u64),
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(5usize),
                owner: ::std::option::Option::None,
                whole: &[],
            },
        ],
        values: &[],
        vars: &[
            ir::Var {
                name: "deleting",
                doc: "",
                origin: ir::Origin::Deleting,
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "claimed",
                doc: "",
                origin: ir::Origin::Claimed,
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "secret",
                doc: "",
                origin: ir::Origin::Input(2usize),
                values: &["Unnamed", "Absent", "Present"],
                answers: 3u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "services",
                doc: "",
                origin: ir::Origin::Input(3usize),
                values: &["Behind", "Surplus", "Draining", "Foreign", "Current"],
                answers: 5u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "router",
                doc: "",
                origin: ir::Origin::Input(4usize),
                values: &["Unknown", "Known"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "network",
                doc: "",
                origin: ir::Origin::Input(5usize),
                values: &["Unknown", "Known"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "site",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "shape",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Fine", "BadPort", "BadHost", "BadType", "Taken"],
                answers: 5u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "matched",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["false", "true"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::All(
                            &[ir::Pred::Is(6usize, 2u64), ir::Pred::Is(5usize, 2u64)],
                        ),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "entry",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["No", "Unknown", "Stale", "Current"],
                answers: 4u8,
                given: &[],
                free: ::std::option::Option::Some(1u64),
            },
            ir::Var {
                name: "bound",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Waiting", "Up", "Failed"],
                answers: 3u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(9usize, 8u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "ensure_entry",
                doc: "",
                origin: ir::Origin::Refused(0usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "remove_entry",
                doc: "",
                origin: ir::Origin::Refused(1usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "apply_services",
                doc: "",
                origin: ir::Origin::Refused(2usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "delete_services",
                doc: "",
                origin: ir::Origin::Refused(3usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
        ],
        order: &[
            ir::Node::Input(0usize),
            ir::Node::Input(1usize),
            ir::Node::Input(2usize),
            ir::Node::Var(2usize),
            ir::Node::Input(3usize),
            ir::Node::Input(5usize),
            ir::Node::Var(5usize),
            ir::Node::Var(3usize),
            ir::Node::Input(4usize),
            ir::Node::Var(4usize),
            ir::Node::Var(0usize),
            ir::Node::Var(1usize),
            ir::Node::Var(6usize),
            ir::Node::Var(7usize),
            ir::Node::Var(8usize),
            ir::Node::Var(9usize),
            ir::Node::Var(10usize),
            ir::Node::Var(11usize),
            ir::Node::Var(12usize),
            ir::Node::Var(13usize),
            ir::Node::Var(14usize),
        ],
        nevers: &[
            ir::Pred::All(
                &[
                    ir::Pred::Not(&ir::Pred::Is(6usize, 2u64)),
                    ir::Pred::Not(&ir::Pred::Is(9usize, 1u64)),
                ],
            ),
        ],
        states: &[
            ir::State {
                name: "NoSite",
                doc: "",
                goal: false,
                when: ir::Pred::Not(&ir::Pred::Is(6usize, 2u64)),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(&[ir::Source::Input(0usize)]),
                overdue: 600000u64,
            },
            ir::State {
                name: "Invalid",
                doc: "",
                goal: false,
                when: ir::Pred::Not(&ir::Pred::Is(7usize, 1u64)),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::This, ir::Source::Input(1usize)],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Rejected",
                doc: "",
                goal: false,
                when: ir::Pred::Any(
                    &[ir::Pred::Is(13usize, 2u64), ir::Pred::Is(11usize, 2u64)],
                ),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[
                        ir::Source::This,
                        ir::Source::Input(2usize),
                        ir::Source::Input(3usize),
                    ],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "NoSecret",
                doc: "",
                goal: false,
                when: ir::Pred::Is(2usize, 2u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::Input(2usize), ir::Source::This],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Unreachable",
                doc: "",
                goal: false,
                when: ir::Pred::Is(9usize, 2u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 60000u64,
            },
            ir::State {
                name: "Configuring",
                doc: "",
                goal: false,
                when: ir::Pred::Any(
                    &[
                        ir::Pred::Not(&ir::Pred::Is(9usize, 8u64)),
                        ir::Pred::Is(3usize, 7u64),
                    ],
                ),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Conflict",
                doc: "",
                goal: false,
                when: ir::Pred::Is(3usize, 8u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::Input(3usize), ir::Source::This],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "BindFailed",
                doc: "",
                goal: false,
                when: ir::Pred::Is(10usize, 4u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::This, ir::Source::Input(4usize)],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Unmatched",
                doc: "",
                goal: false,
                when: ir::Pred::Not(&ir::Pred::Is(8usize, 2u64)),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::Some(&[ir::Source::Input(5usize)]),
                overdue: 600000u64,
            },
            ir::State {
                name: "Binding",
                doc: "",
                goal: false,
                when: ir::Pred::Is(10usize, 1u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 60000u64,
            },
            ir::State {
                name: "Ready",
                doc: "",
                goal: true,
                when: ir::Pred::Is(10usize, 2u64),
                phase: ir::Phase::Ready,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
        ],
        effects: &[
            ir::Effect {
                name: "ensure_entry",
                doc: "",
                verb: ir::Verb::Call,
                each: false,
                target: 4usize,
                from: &[ir::Source::Input(0usize)],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[
                            ir::Pred::Is(6usize, 2u64),
                            ir::Pred::Is(7usize, 1u64),
                            ir::Pred::Not(&ir::Pred::Is(2usize, 2u64)),
                            ir::Pred::Is(9usize, 5u64),
                        ],
                    ),
                ),
                sets: &[&[(9usize, 3u8)]],
                affects: &[9usize, 10usize],
                undo: ::std::option::Option::Some(1usize),
                is_undo: false,
                refused: 11usize,
            },
            ir::Effect {
                name: "remove_entry",
                doc: "",
                verb: ir::Verb::Call,
                each: false,
                target: 4usize,
                from: &[],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[
                            ir::Pred::Any(
                                &[
                                    ir::Pred::Not(&ir::Pred::Is(7usize, 1u64)),
                                    ir::Pred::Is(2usize, 2u64),
                                ],
                            ),
                            ir::Pred::Is(9usize, 12u64),
                        ],
                    ),
                ),
                sets: &[&[(9usize, 0u8)]],
                affects: &[9usize, 10usize],
                undo: ::std::option::Option::None,
                is_undo: true,
                refused: 12usize,
            },
            ir::Effect {
                name: "apply_services",
                doc: "",
                verb: ir::Verb::Apply,
                each: true,
                target: 3usize,
                from: &[ir::Source::Input(1usize), ir::Source::Input(5usize)],
                when: ::std::option::Option::Some(ir::Pred::Is(6usize, 2u64)),
                sets: &[
                    &[(3usize, 1u8)],
                    &[(3usize, 2u8)],
                    &[(3usize, 3u8)],
                    &[(3usize, 4u8)],
                ],
                affects: &[3usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                refused: 13usize,
            },
            ir::Effect {
                name: "delete_services",
                doc: "",
                verb: ir::Verb::Delete,
                each: true,
                target: 3usize,
                from: &[],
                when: ::std::option::Option::None,
                sets: &[&[(3usize, 2u8)], &[(3usize, 3u8)], &[(3usize, 4u8)]],
                affects: &[3usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                refused: 14usize,
            },
        ],
        promises: &[
            ir::Promise {
                name: "answers",
                when: ir::Pred::Is(9usize, 2u64),
                sets: &[&[(9usize, 0u8)], &[(9usize, 2u8)], &[(9usize, 3u8)]],
            },
            ir::Promise {
                name: "binds",
                when: ir::Pred::All(
                    &[ir::Pred::Is(10usize, 1u64), ir::Pred::Is(8usize, 2u64)],
                ),
                sets: &[&[(10usize, 1u8)], &[(10usize, 2u8)]],
            },
        ],
        edges: &[
            (3usize, 2usize),
            (4usize, 2usize),
            (4usize, 5usize),
            (4usize, 6usize),
            (4usize, 7usize),
            (4usize, 8usize),
            (4usize, 9usize),
            (4usize, 10usize),
            (5usize, 2usize),
            (5usize, 6usize),
            (5usize, 7usize),
            (5usize, 8usize),
            (5usize, 9usize),
            (5usize, 10usize),
            (9usize, 7usize),
            (9usize, 10usize),
        ],
        conditions: &[
            ir::Condition {
                name: "Configured",
                doc: "",
                clauses: &[
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Error",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::Any(
                                &[
                                    ir::Pred::Not(&ir::Pred::Is(6usize, 2u64)),
                                    ir::Pred::Not(&ir::Pred::Is(7usize, 1u64)),
                                    ir::Pred::Is(2usize, 2u64),
                                    ir::Pred::Is(13usize, 2u64),
                                    ir::Pred::Is(11usize, 2u64),
                                ],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Pending",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::Any(
                                &[
                                    ir::Pred::Not(&ir::Pred::Is(9usize, 8u64)),
                                    ir::Pred::Is(3usize, 7u64),
                                ],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Error",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::Any(
                                &[ir::Pred::Is(3usize, 8u64), ir::Pred::Is(10usize, 4u64)],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Ready",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::None,
                    },
                ],
            },
            ir::Condition {
                name: "Matched",
                doc: "",
                clauses: &[
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Ready",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(8usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Pending",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::None,
                    },
                ],
            },
            ir::Condition {
                name: "Bound",
                doc: "",
                clauses: &[
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Ready",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(10usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Pending",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::None,
                    },
                ],
            },
        ],
        ready: ir::RollUp {
            from: &[0usize, 1usize, 2usize],
            reason: "Ready",
            message: &[],
        },
        implicit: ::std::option::Option::None,
        texts: &[],
        fields: &[
            ir::Field {
                name: "status",
                what: ir::FieldOf::Phase,
            },
            ir::Field {
                name: "message",
                what: ir::FieldOf::Message,
            },
            ir::Field {
                name: "hasMatchingConnector",
                what: ir::FieldOf::Method { kept: false },
            },
        ],
        columns: &[
            ir::Column {
                name: "Status",
                json_path: ::std::option::Option::Some(".status.status"),
            },
        ],
        volume: false,
        calls: &[],
    }
};
