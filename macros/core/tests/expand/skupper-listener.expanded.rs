//! What `skupper-listener.txt` expands to; written by the test `expand`.

///Values of the fact `shape`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    ///`shape == Fine`.
    Fine,
    ///`shape == BadPort`.
    BadPort,
    ///`shape == BadHost`.
    BadHost,
    ///`shape == BadName`.
    BadName,
    ///`shape == BadType`.
    BadType,
}
impl Shape {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[
        Self::Fine,
        Self::BadPort,
        Self::BadHost,
        Self::BadName,
        Self::BadType,
    ];
}
///Values of the fact `claim`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    ///`claim == None`.
    None,
    ///`claim == Lost`.
    Lost,
    ///`claim == Full`.
    Full,
    ///`claim == Held`.
    Held,
}
impl Claim {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[
        Self::None,
        Self::Lost,
        Self::Full,
        Self::Held,
    ];
}
///Values of the fact `entry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entry {
    ///`entry == Unknown`.
    Unknown,
    ///`entry == Behind`.
    Behind,
    ///`entry == Current`.
    Current,
}
impl Entry {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Unknown, Self::Behind, Self::Current];
}
///Values of the fact `reach`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    ///`reach == None`.
    None,
    ///`reach == Idle`.
    Idle,
    ///`reach == Up`.
    Up,
    ///`reach == Failed`.
    Failed,
}
impl Reach {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[
        Self::None,
        Self::Idle,
        Self::Up,
        Self::Failed,
    ];
}
/// One world: the answer to every finite question, those that inputs bring included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    ///Whether and how `home` is there.
    pub home: ::lifecycle_runtime::__private::Watched,
    ///Whether and how `table` is there.
    pub table: ::lifecycle_runtime::__private::Watched,
    ///Whether and how `secret` is there.
    pub secret: ::lifecycle_runtime::__private::Named,
    ///Whether and how `service` is there.
    pub service: ::lifecycle_runtime::__private::Owned,
    ///Whether and how `pods` is there.
    pub pods: ::lifecycle_runtime::__private::OwnedSet,
    ///Whether and how `router` is there.
    pub router: ::lifecycle_runtime::__private::Polled,
    ///The fact `shape`.
    pub shape: Shape,
    ///The fact `claim`.
    pub claim: Claim,
    ///The fact `entry`.
    pub entry: Entry,
    ///The fact `reach`.
    pub reach: Reach,
    ///The last answer to this very write of `apply_service` was a refusal.
    pub refused_apply_service: bool,
    ///The last answer to this very write of `apply_pods` was a refusal.
    pub refused_apply_pods: bool,
    ///The last answer to this very write of `delete_pods` was a refusal.
    pub refused_delete_pods: bool,
}
impl Facts {
    /// A world of the runtime, typed.
    pub fn of(world: &::lifecycle_runtime::__private::World) -> Self {
        Self {
            home: ::lifecycle_runtime::__private::Watched::VALUES[world.get(0usize)
                as usize],
            table: ::lifecycle_runtime::__private::Watched::VALUES[world.get(1usize)
                as usize],
            secret: ::lifecycle_runtime::__private::Named::VALUES[world.get(2usize)
                as usize],
            service: ::lifecycle_runtime::__private::Owned::VALUES[world.get(3usize)
                as usize],
            pods: ::lifecycle_runtime::__private::OwnedSet::VALUES[world.get(4usize)
                as usize],
            router: ::lifecycle_runtime::__private::Polled::VALUES[world.get(5usize)
                as usize],
            shape: Shape::VALUES[world.get(6usize) as usize],
            claim: Claim::VALUES[world.get(7usize) as usize],
            entry: Entry::VALUES[world.get(8usize) as usize],
            reach: Reach::VALUES[world.get(9usize) as usize],
            refused_apply_service: world.get(10usize) == 1,
            refused_apply_pods: world.get(11usize) == 1,
            refused_delete_pods: world.get(12usize) == 1,
        }
    }
}
/// Where an object is in its lifecycle; the first state that fits counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    ///A write was refused that no state mentions.
    Refused,
    ///The state `NoSite`.
    NoSite,
    ///The state `Invalid`.
    Invalid,
    ///The state `Conflict`.
    Conflict,
    ///The state `Taken`.
    Taken,
    ///The state `NoSecret`.
    NoSecret,
    ///The state `Rejected`.
    Rejected,
    ///The state `Claiming`.
    Claiming,
    ///The state `Serving`.
    Serving,
    ///The state `PodConflict`.
    PodConflict,
    ///The state `Unreachable`.
    Unreachable,
    ///The state `Configuring`.
    Configuring,
    ///The state `BindFailed`.
    BindFailed,
    ///The state `Unmatched`.
    Unmatched,
    ///The state `Ready`.
    Ready,
}
impl State {
    /// The one state of a world.
    pub const fn classify(facts: &Facts) -> Self {
        if facts.refused_delete_pods {
            return Self::Refused;
        }
        if !matches!(facts.home, ::lifecycle_runtime::__private::Watched::Present) {
            return Self::NoSite;
        }
        if !matches!(facts.shape, Shape::Fine) {
            return Self::Invalid;
        }
        if matches!(facts.service, ::lifecycle_runtime::__private::Owned::Foreign) {
            return Self::Conflict;
        }
        if matches!(facts.claim, Claim::Lost | Claim::Full) {
            return Self::Taken;
        }
        if matches!(facts.secret, ::lifecycle_runtime::__private::Named::Absent) {
            return Self::NoSecret;
        }
        if (false || facts.refused_apply_service || facts.refused_apply_pods) {
            return Self::Rejected;
        }
        if matches!(facts.claim, Claim::None) {
            return Self::Claiming;
        }
        if (false
            || !matches!(facts.service, ::lifecycle_runtime::__private::Owned::Current)
            || matches!(
                facts.pods, ::lifecycle_runtime::__private::OwnedSet::Behind |
                ::lifecycle_runtime::__private::OwnedSet::Surplus |
                ::lifecycle_runtime::__private::OwnedSet::Draining
            ))
        {
            return Self::Serving;
        }
        if matches!(facts.pods, ::lifecycle_runtime::__private::OwnedSet::Foreign) {
            return Self::PodConflict;
        }
        if matches!(facts.entry, Entry::Unknown) {
            return Self::Unreachable;
        }
        if matches!(facts.entry, Entry::Behind) {
            return Self::Configuring;
        }
        if matches!(facts.reach, Reach::Failed) {
            return Self::BindFailed;
        }
        if matches!(facts.reach, Reach::None | Reach::Idle) {
            return Self::Unmatched;
        }
        Self::Ready
    }
}
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Absent, table :
    ::lifecycle_runtime::__private::Watched::Absent, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Absent, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, shape : Shape::Fine, claim :
    Claim::None, entry : Entry::Unknown, reach : Reach::None, refused_apply_service :
    false, refused_apply_pods : false, refused_delete_pods : false }), State::NoSite),
    "the emitted classification takes a world of `NoSite` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Present, table :
    ::lifecycle_runtime::__private::Watched::Absent, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Absent, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, shape : Shape::BadPort, claim :
    Claim::None, entry : Entry::Unknown, reach : Reach::None, refused_apply_service :
    false, refused_apply_pods : false, refused_delete_pods : false }), State::Invalid),
    "the emitted classification takes a world of `Invalid` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Present, table :
    ::lifecycle_runtime::__private::Watched::Absent, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Foreign, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, shape : Shape::Fine, claim :
    Claim::None, entry : Entry::Unknown, reach : Reach::None, refused_apply_service :
    false, refused_apply_pods : false, refused_delete_pods : false }), State::Conflict),
    "the emitted classification takes a world of `Conflict` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Present, table :
    ::lifecycle_runtime::__private::Watched::Present, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Absent, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, shape : Shape::Fine, claim :
    Claim::Lost, entry : Entry::Unknown, reach : Reach::None, refused_apply_service :
    false, refused_apply_pods : false, refused_delete_pods : false }), State::Taken),
    "the emitted classification takes a world of `Taken` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Present, table :
    ::lifecycle_runtime::__private::Watched::Absent, secret :
    ::lifecycle_runtime::__private::Named::Absent, service :
    ::lifecycle_runtime::__private::Owned::Absent, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, shape : Shape::Fine, claim :
    Claim::None, entry : Entry::Unknown, reach : Reach::None, refused_apply_service :
    false, refused_apply_pods : false, refused_delete_pods : false }), State::NoSecret),
    "the emitted classification takes a world of `NoSecret` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Present, table :
    ::lifecycle_runtime::__private::Watched::Present, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Absent, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, shape : Shape::Fine, claim :
    Claim::Held, entry : Entry::Unknown, reach : Reach::None, refused_apply_service :
    true, refused_apply_pods : false, refused_delete_pods : false }), State::Rejected),
    "the emitted classification takes a world of `Rejected` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Present, table :
    ::lifecycle_runtime::__private::Watched::Absent, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Absent, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, shape : Shape::Fine, claim :
    Claim::None, entry : Entry::Unknown, reach : Reach::None, refused_apply_service :
    false, refused_apply_pods : false, refused_delete_pods : false }), State::Claiming),
    "the emitted classification takes a world of `Claiming` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Present, table :
    ::lifecycle_runtime::__private::Watched::Present, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Absent, pods :
    ::lifecycle_runtime::__private::OwnedSet::Behind, router :
    ::lifecycle_runtime::__private::Polled::Unknown, shape : Shape::Fine, claim :
    Claim::Held, entry : Entry::Unknown, reach : Reach::None, refused_apply_service :
    false, refused_apply_pods : false, refused_delete_pods : false }), State::Serving),
    "the emitted classification takes a world of `Serving` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Present, table :
    ::lifecycle_runtime::__private::Watched::Present, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Current, pods :
    ::lifecycle_runtime::__private::OwnedSet::Foreign, router :
    ::lifecycle_runtime::__private::Polled::Unknown, shape : Shape::Fine, claim :
    Claim::Held, entry : Entry::Unknown, reach : Reach::None, refused_apply_service :
    false, refused_apply_pods : false, refused_delete_pods : false }),
    State::PodConflict),
    "the emitted classification takes a world of `PodConflict` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Present, table :
    ::lifecycle_runtime::__private::Watched::Present, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Current, pods :
    ::lifecycle_runtime::__private::OwnedSet::Current, router :
    ::lifecycle_runtime::__private::Polled::Unknown, shape : Shape::Fine, claim :
    Claim::Held, entry : Entry::Unknown, reach : Reach::None, refused_apply_service :
    false, refused_apply_pods : false, refused_delete_pods : false }),
    State::Unreachable),
    "the emitted classification takes a world of `Unreachable` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Present, table :
    ::lifecycle_runtime::__private::Watched::Present, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Current, pods :
    ::lifecycle_runtime::__private::OwnedSet::Current, router :
    ::lifecycle_runtime::__private::Polled::Known, shape : Shape::Fine, claim :
    Claim::Held, entry : Entry::Behind, reach : Reach::None, refused_apply_service :
    false, refused_apply_pods : false, refused_delete_pods : false }),
    State::Configuring),
    "the emitted classification takes a world of `Configuring` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Present, table :
    ::lifecycle_runtime::__private::Watched::Present, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Current, pods :
    ::lifecycle_runtime::__private::OwnedSet::Current, router :
    ::lifecycle_runtime::__private::Polled::Known, shape : Shape::Fine, claim :
    Claim::Held, entry : Entry::Current, reach : Reach::Failed, refused_apply_service :
    false, refused_apply_pods : false, refused_delete_pods : false }),
    State::BindFailed),
    "the emitted classification takes a world of `BindFailed` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Present, table :
    ::lifecycle_runtime::__private::Watched::Present, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Current, pods :
    ::lifecycle_runtime::__private::OwnedSet::Current, router :
    ::lifecycle_runtime::__private::Polled::Known, shape : Shape::Fine, claim :
    Claim::Held, entry : Entry::Current, reach : Reach::None, refused_apply_service :
    false, refused_apply_pods : false, refused_delete_pods : false }), State::Unmatched),
    "the emitted classification takes a world of `Unmatched` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { home :
    ::lifecycle_runtime::__private::Watched::Present, table :
    ::lifecycle_runtime::__private::Watched::Present, secret :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Current, pods :
    ::lifecycle_runtime::__private::OwnedSet::Current, router :
    ::lifecycle_runtime::__private::Polled::Known, shape : Shape::Fine, claim :
    Claim::Held, entry : Entry::Current, reach : Reach::Up, refused_apply_service :
    false, refused_apply_pods : false, refused_delete_pods : false }), State::Ready),
    "the emitted classification takes a world of `Ready` for another state"
);
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
/// What one pass observed.
#[derive(Clone)]
pub struct Seen<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Listener>,
    ///The input `sites`.
    pub sites: ::std::vec::Vec<&'a Site>,
    ///The input `home`.
    pub home: ::std::option::Option<&'a Site>,
    ///The input `table`.
    pub table: ::std::option::Option<&'a ConfigMap>,
    ///The input `secret`.
    pub secret: ::std::option::Option<&'a Secret>,
    ///The input `service`.
    pub service: ::std::option::Option<&'a Service>,
    ///The input `pods`.
    pub pods: ::std::vec::Vec<&'a Service>,
    ///The input `router`.
    pub router: ::std::option::Option<&'a RouterState>,
}
impl<'a> Seen<'a> {
    /// A board of the runtime, typed.
    pub fn of(
        board: &'a ::lifecycle_runtime::__private::Board,
    ) -> ::std::option::Option<Self> {
        ::std::option::Option::Some(Self {
            this: board.this::<Listener>()?,
            sites: board.many::<Site>(0usize),
            home: board.one::<Site>(1usize),
            table: board.one::<ConfigMap>(2usize),
            secret: board.one::<Secret>(3usize),
            service: board.one::<Service>(4usize),
            pods: board.many::<Service>(5usize),
            router: board.one::<RouterState>(6usize),
        })
    }
}
///Proof that everything is there that `apply_service` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyService<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Listener>,
    ///`table`, certainly there.
    pub table: &'a ConfigMap,
    ///`home`, certainly there.
    pub home: &'a Site,
    _proved: (),
}
impl<'a> ApplyService<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true
            && matches!(facts.table, ::lifecycle_runtime::__private::Watched::Present)
            && matches!(facts.home, ::lifecycle_runtime::__private::Watched::Present))
        {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            table: seen.table?,
            home: seen.home?,
            _proved: (),
        })
    }
}
///Proof that everything is there that `apply_pods` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyPods<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Listener>,
    ///`table`, certainly there.
    pub table: &'a ConfigMap,
    ///`router`, certainly there.
    pub router: &'a RouterState,
    ///`home`, certainly there.
    pub home: &'a Site,
    _proved: (),
}
impl<'a> ApplyPods<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true
            && matches!(facts.table, ::lifecycle_runtime::__private::Watched::Present)
            && matches!(facts.router, ::lifecycle_runtime::__private::Polled::Known)
            && matches!(facts.home, ::lifecycle_runtime::__private::Watched::Present))
        {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            table: seen.table?,
            router: seen.router?,
            home: seen.home?,
            _proved: (),
        })
    }
}
///What the author of `Listener` decides: pure but for calls and polls, each method with exactly its declared inputs.
#[allow(clippy::ptr_arg, reason = "a method gets its input as it was declared")]
pub trait ListenerLogic: ::std::marker::Send + ::std::marker::Sync + 'static {
    ///Which object `home` is.
    fn home(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        sites: &[&Site],
    ) -> ::std::option::Option<::lifecycle_runtime::__private::ObjectRef>;
    ///Asks for `router`; objects with equal keys share the answer.
    fn poll_router(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        sites: ::std::vec::Vec<&Site>,
    ) -> impl ::std::future::Future<
        Output = ::std::result::Result<
            RouterState,
            ::lifecycle_runtime::__private::CallError,
        >,
    > + ::std::marker::Send;
    ///Answers the fact `shape`.
    fn shape(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        sites: &[&Site],
    ) -> ::lifecycle_runtime::__private::Because<Shape>;
    ///Answers the fact `claim`.
    fn claim(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        table: &ConfigMap,
    ) -> ::lifecycle_runtime::__private::Because<Claim>;
    ///Answers the fact `entry`.
    fn entry(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        table: &ConfigMap,
        router: &RouterState,
    ) -> ::lifecycle_runtime::__private::Because<Entry>;
    ///Answers the fact `reach`.
    fn reach(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        router: &RouterState,
    ) -> ::lifecycle_runtime::__private::Because<Reach>;
    ///What `service` should be: only the fields that we want to own.
    fn apply_service(
        &self,
        at: ApplyService<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<Service>;
    ///What `pods` should be: only the fields that we want to own.
    fn apply_pods(
        &self,
        at: ApplyPods<'_>,
    ) -> ::std::vec::Vec<::lifecycle_runtime::__private::Desired<Service>>;
    ///The status field `has_matching_connector`; asked only where all its inputs are there.
    fn has_matching_connector(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        router: &RouterState,
    ) -> Option<bool>;
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
                    ::lifecycle_runtime::__private::Kind::of::<Site>(),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<ConfigMap>(),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<Secret>(),
                )
            }
            4usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<Service>(),
                )
            }
            5usize => {
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
                    ::lifecycle_runtime::__private::look_ref(
                        self
                            .0
                            .home(board.this::<Listener>()?, &board.many::<Site>(0usize)),
                    ),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &board.this::<Listener>()?.meta.namespace,
                        ),
                    ),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &board.this::<Listener>()?.spec.tls_credentials,
                        ),
                    ),
                )
            }
            4usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &board.this::<Listener>()?.spec.host,
                        ),
                    ),
                )
            }
            5usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_labels([
                        ::lifecycle_runtime::__private::Text::text(
                            &board.this::<Listener>()?.meta.name,
                        ),
                    ]),
                )
            }
            6usize => {
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
                        .shape(board.this::<Listener>()?, &board.many::<Site>(0usize))
                        .map(|value| value as u8),
                )
            }
            7usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .claim(
                            board.this::<Listener>()?,
                            board.one::<ConfigMap>(2usize)?,
                        )
                        .map(|value| value as u8),
                )
            }
            8usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .entry(
                            board.this::<Listener>()?,
                            board.one::<ConfigMap>(2usize)?,
                            board.one::<RouterState>(6usize)?,
                        )
                        .map(|value| value as u8),
                )
            }
            9usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .reach(
                            board.this::<Listener>()?,
                            board.one::<RouterState>(6usize)?,
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
            0usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        Service,
                    >::into_built(self.0.apply_service(ApplyService::at(&seen, &facts)?)),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        Service,
                    >::into_built_each(self.0.apply_pods(ApplyPods::at(&seen, &facts)?)),
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
                            board.one::<RouterState>(6usize)?,
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
            6usize => {
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
            _ => ::std::option::Option::None,
        }
    }
    fn key(
        &self,
        board: &::lifecycle_runtime::__private::Board,
        effect: usize,
    ) -> ::std::option::Option<::std::string::String> {
        match effect {
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
            _ => ::std::option::Option::None,
        }
    }
}
/// What the lifecycle declares, as data.
pub const IR: &::lifecycle_runtime::__private::ir::Lifecycle = {
    use ::lifecycle_runtime::__private::ir;
    &ir::Lifecycle {
        name: "Listener",
        doc: "Offers a routing key of the network as a Service of this namespace. Ports and router configuration are decided by the Site (one writer per namespace).",
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
                name: "home",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "Site",
                lookup: ir::Lookup::Ref,
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(0usize),
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "table",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "ConfigMap",
                lookup: ir::Lookup::Name("metadata.namespace"),
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(1usize),
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
                name: "service",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "Service",
                lookup: ir::Lookup::Name("spec.host"),
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(3usize),
                owner: ::std::option::Option::Some(1usize),
                whole: &["spec.ports"],
            },
            ir::Input {
                name: "pods",
                doc: "",
                mode: ir::Mode::Owned,
                many: true,
                kind: "Service",
                lookup: ir::Lookup::Labels(&[LISTENER]),
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(4usize),
                owner: ::std::option::Option::Some(1usize),
                whole: &["spec.ports"],
            },
            ir::Input {
                name: "router",
                doc: "",
                mode: ir::Mode::Poll,
                many: false,
                kind: "RouterState",
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
                name: "home",
                doc: "",
                origin: ir::Origin::Input(1usize),
                values: &["Absent", "Present"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "table",
                doc: "",
                origin: ir::Origin::Input(2usize),
                values: &["Absent", "Present"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "secret",
                doc: "",
                origin: ir::Origin::Input(3usize),
                values: &["Unnamed", "Absent", "Present"],
                answers: 3u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "service",
                doc: "",
                origin: ir::Origin::Input(4usize),
                values: &["Absent", "Foreign", "Terminating", "Stale", "Current"],
                answers: 5u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "pods",
                doc: "",
                origin: ir::Origin::Input(5usize),
                values: &["Behind", "Surplus", "Draining", "Foreign", "Current"],
                answers: 5u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "router",
                doc: "",
                origin: ir::Origin::Input(6usize),
                values: &["Unknown", "Known"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "shape",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Fine", "BadPort", "BadHost", "BadName", "BadType"],
                answers: 5u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "claim",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["None", "Lost", "Full", "Held"],
                answers: 4u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::All(
                            &[
                                ir::Pred::Is(1usize, 2u64),
                                ir::Pred::Is(0usize, 2u64),
                                ir::Pred::Is(6usize, 1u64),
                            ],
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
                values: &["Unknown", "Behind", "Current"],
                answers: 3u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::All(
                            &[ir::Pred::Is(5usize, 2u64), ir::Pred::Is(7usize, 8u64)],
                        ),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "reach",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["None", "Idle", "Up", "Failed"],
                answers: 4u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(8usize, 4u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "apply_service",
                doc: "",
                origin: ir::Origin::Refused(0usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "apply_pods",
                doc: "",
                origin: ir::Origin::Refused(1usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "delete_pods",
                doc: "",
                origin: ir::Origin::Refused(2usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
        ],
        order: &[
            ir::Node::Input(0usize),
            ir::Node::Input(1usize),
            ir::Node::Var(0usize),
            ir::Node::Input(2usize),
            ir::Node::Var(1usize),
            ir::Node::Input(3usize),
            ir::Node::Var(2usize),
            ir::Node::Input(4usize),
            ir::Node::Var(3usize),
            ir::Node::Input(5usize),
            ir::Node::Input(6usize),
            ir::Node::Var(5usize),
            ir::Node::Var(4usize),
            ir::Node::Var(6usize),
            ir::Node::Var(7usize),
            ir::Node::Var(8usize),
            ir::Node::Var(9usize),
            ir::Node::Var(10usize),
            ir::Node::Var(11usize),
            ir::Node::Var(12usize),
        ],
        nevers: &[],
        states: &[
            ir::State {
                name: "NoSite",
                doc: "",
                goal: false,
                when: ir::Pred::Not(&ir::Pred::Is(0usize, 2u64)),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(&[ir::Source::Input(0usize)]),
                overdue: 600000u64,
            },
            ir::State {
                name: "Invalid",
                doc: "",
                goal: false,
                when: ir::Pred::Not(&ir::Pred::Is(6usize, 1u64)),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(&[ir::Source::This]),
                overdue: 600000u64,
            },
            ir::State {
                name: "Conflict",
                doc: "",
                goal: false,
                when: ir::Pred::Is(3usize, 2u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::Input(4usize), ir::Source::This],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Taken",
                doc: "",
                goal: false,
                when: ir::Pred::Is(7usize, 6u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::Input(2usize), ir::Source::This],
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
                    &[ir::Source::Input(3usize), ir::Source::This],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Rejected",
                doc: "",
                goal: false,
                when: ir::Pred::Any(
                    &[ir::Pred::Is(10usize, 2u64), ir::Pred::Is(11usize, 2u64)],
                ),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[
                        ir::Source::This,
                        ir::Source::Input(2usize),
                        ir::Source::Input(4usize),
                        ir::Source::Input(5usize),
                    ],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Claiming",
                doc: "",
                goal: false,
                when: ir::Pred::Is(7usize, 1u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 10000u64,
            },
            ir::State {
                name: "Serving",
                doc: "",
                goal: false,
                when: ir::Pred::Any(
                    &[
                        ir::Pred::Not(&ir::Pred::Is(3usize, 16u64)),
                        ir::Pred::Is(4usize, 7u64),
                    ],
                ),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "PodConflict",
                doc: "",
                goal: false,
                when: ir::Pred::Is(4usize, 8u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(&[ir::Source::Input(5usize)]),
                overdue: 600000u64,
            },
            ir::State {
                name: "Unreachable",
                doc: "",
                goal: false,
                when: ir::Pred::Is(8usize, 1u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 30000u64,
            },
            ir::State {
                name: "Configuring",
                doc: "",
                goal: false,
                when: ir::Pred::Is(8usize, 2u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 10000u64,
            },
            ir::State {
                name: "BindFailed",
                doc: "",
                goal: false,
                when: ir::Pred::Is(9usize, 8u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::Input(6usize), ir::Source::This],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Unmatched",
                doc: "",
                goal: false,
                when: ir::Pred::Is(9usize, 3u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::Some(&[ir::Source::Input(6usize)]),
                overdue: 600000u64,
            },
            ir::State {
                name: "Ready",
                doc: "",
                goal: true,
                when: ir::Pred::Is(9usize, 4u64),
                phase: ir::Phase::Ready,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
        ],
        effects: &[
            ir::Effect {
                name: "apply_service",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 4usize,
                from: &[ir::Source::Input(2usize), ir::Source::Input(1usize)],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[ir::Pred::Is(6usize, 1u64), ir::Pred::Is(7usize, 8u64)],
                    ),
                ),
                sets: &[&[(3usize, 4u8)]],
                affects: &[3usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                refused: 10usize,
            },
            ir::Effect {
                name: "apply_pods",
                doc: "",
                verb: ir::Verb::Apply,
                each: true,
                target: 5usize,
                from: &[
                    ir::Source::Input(2usize),
                    ir::Source::Input(6usize),
                    ir::Source::Input(1usize),
                ],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[ir::Pred::Is(6usize, 1u64), ir::Pred::Is(7usize, 8u64)],
                    ),
                ),
                sets: &[
                    &[(4usize, 1u8)],
                    &[(4usize, 2u8)],
                    &[(4usize, 3u8)],
                    &[(4usize, 4u8)],
                ],
                affects: &[4usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                refused: 11usize,
            },
            ir::Effect {
                name: "delete_pods",
                doc: "",
                verb: ir::Verb::Delete,
                each: true,
                target: 5usize,
                from: &[],
                when: ::std::option::Option::None,
                sets: &[&[(4usize, 2u8)], &[(4usize, 3u8)], &[(4usize, 4u8)]],
                affects: &[4usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                refused: 12usize,
            },
        ],
        promises: &[
            ir::Promise {
                name: "written",
                when: ir::Pred::All(
                    &[
                        ir::Pred::Is(1usize, 1u64),
                        ir::Pred::Is(0usize, 2u64),
                        ir::Pred::Is(6usize, 1u64),
                    ],
                ),
                sets: &[&[(1usize, 1u8)]],
            },
            ir::Promise {
                name: "claimed",
                when: ir::Pred::All(
                    &[
                        ir::Pred::Is(7usize, 1u64),
                        ir::Pred::Is(1usize, 2u64),
                        ir::Pred::Is(0usize, 2u64),
                        ir::Pred::Is(6usize, 1u64),
                    ],
                ),
                sets: &[&[(7usize, 3u8)], &[(7usize, 1u8)], &[(7usize, 2u8)]],
            },
            ir::Promise {
                name: "answers",
                when: ir::Pred::All(
                    &[ir::Pred::Is(8usize, 1u64), ir::Pred::Is(7usize, 8u64)],
                ),
                sets: &[&[(8usize, 1u8)], &[(8usize, 2u8)]],
            },
            ir::Promise {
                name: "follows",
                when: ir::Pred::Is(8usize, 2u64),
                sets: &[&[(8usize, 2u8)]],
            },
        ],
        edges: &[
            (4usize, 3usize),
            (6usize, 3usize),
            (6usize, 7usize),
            (6usize, 8usize),
            (6usize, 9usize),
            (6usize, 10usize),
            (6usize, 11usize),
            (6usize, 12usize),
            (6usize, 13usize),
            (7usize, 5usize),
            (7usize, 8usize),
            (7usize, 9usize),
            (7usize, 10usize),
            (7usize, 11usize),
            (7usize, 12usize),
            (7usize, 13usize),
            (9usize, 10usize),
            (9usize, 11usize),
            (9usize, 12usize),
            (9usize, 13usize),
            (10usize, 11usize),
            (10usize, 12usize),
            (10usize, 13usize),
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
                                    ir::Pred::Not(&ir::Pred::Is(0usize, 2u64)),
                                    ir::Pred::Not(&ir::Pred::Is(6usize, 1u64)),
                                    ir::Pred::Is(3usize, 2u64),
                                    ir::Pred::Is(7usize, 6u64),
                                    ir::Pred::Is(2usize, 2u64),
                                    ir::Pred::Is(10usize, 2u64),
                                    ir::Pred::Is(11usize, 2u64),
                                    ir::Pred::Is(9usize, 8u64),
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
                                    ir::Pred::Is(7usize, 1u64),
                                    ir::Pred::Not(&ir::Pred::Is(3usize, 16u64)),
                                    ir::Pred::Is(4usize, 7u64),
                                    ir::Pred::Not(&ir::Pred::Is(8usize, 4u64)),
                                ],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Error",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(4usize, 8u64)),
                    },
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Ready",
                        message: ::std::option::Option::Some(&[ir::Part::Text("OK")]),
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::None,
                    },
                ],
            },
            ir::Condition {
                name: "Secured",
                doc: "Whether the certificate is there; nobody asks where none is wanted.",
                clauses: &[
                    ir::Clause {
                        says: ir::Says::Omit,
                        reason: "",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(2usize, 1u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Error",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(2usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Ready",
                        message: ::std::option::Option::Some(&[ir::Part::Text("OK")]),
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
                        message: ::std::option::Option::Some(&[ir::Part::Text("OK")]),
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(9usize, 4u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Pending",
                        message: ::std::option::Option::Some(
                            &[ir::Part::Text("No matching connectors")],
                        ),
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::Any(
                                &[
                                    ir::Pred::Is(9usize, 10u64),
                                    ir::Pred::Not(&ir::Pred::Is(8usize, 4u64)),
                                    ir::Pred::Is(2usize, 2u64),
                                    ir::Pred::Not(&ir::Pred::Is(3usize, 16u64)),
                                    ir::Pred::Not(&ir::Pred::Is(4usize, 16u64)),
                                ],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::Absent,
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
            message: &[ir::Part::Text("OK")],
        },
        implicit: ::std::option::Option::Some(ir::Implicit {
            condition: 0usize,
            reason: "Error",
        }),
        texts: &[],
        fields: &[
            ir::Field {
                name: "status",
                what: ir::FieldOf::Reason,
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
