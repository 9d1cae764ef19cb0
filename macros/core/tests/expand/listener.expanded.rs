//! What `listener.txt` expands to; written by the test `expand`.

///Values of the fact `shape`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    ///`shape == Fine`.
    Fine,
    ///`shape == NoPorts`.
    NoPorts,
    ///`shape == PortClash`.
    PortClash,
    ///`shape == BadName`.
    BadName,
    ///`shape == BadOverride`.
    BadOverride,
}
impl Shape {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[
        Self::Fine,
        Self::NoPorts,
        Self::PortClash,
        Self::BadName,
        Self::BadOverride,
    ];
}
///Values of the fact `address`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    ///`address == NoPod`.
    NoPod,
    ///`address == NoBalancer`.
    NoBalancer,
    ///`address == NodeGone`.
    NodeGone,
    ///`address == Partial`.
    Partial,
    ///`address == Full`.
    Full,
}
impl Address {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[
        Self::NoPod,
        Self::NoBalancer,
        Self::NodeGone,
        Self::Partial,
        Self::Full,
    ];
}
/// One world: the answer to every finite question, those that inputs bring included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    ///Whether and how `class` is there.
    pub class: ::lifecycle_runtime::__private::Named,
    ///Whether and how `service` is there.
    pub service: ::lifecycle_runtime::__private::Owned,
    ///The fact `shape`.
    pub shape: Shape,
    ///The fact `address`.
    pub address: Address,
    ///The last answer to this very write of `apply_service` was a refusal.
    pub refused_apply_service: bool,
}
impl Facts {
    /// A world of the runtime, typed.
    pub fn of(world: &::lifecycle_runtime::__private::World) -> Self {
        Self {
            class: ::lifecycle_runtime::__private::Named::VALUES[world.get(0usize)
                as usize],
            service: ::lifecycle_runtime::__private::Owned::VALUES[world.get(1usize)
                as usize],
            shape: Shape::VALUES[world.get(2usize) as usize],
            address: Address::VALUES[world.get(3usize) as usize],
            refused_apply_service: world.get(4usize) == 1,
        }
    }
}
/// Where an object is in its lifecycle; the first state that fits counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    ///The state `NoName`.
    NoName,
    ///The state `NoClass`.
    NoClass,
    ///The state `Invalid`.
    Invalid,
    ///The state `Conflict`.
    Conflict,
    ///The state `Immutable`.
    Immutable,
    ///The state `Draining`.
    Draining,
    ///The state `Applying`.
    Applying,
    ///The state `Stranded`.
    Stranded,
    ///The state `Idle`.
    Idle,
    ///The state `Provisioning`.
    Provisioning,
    ///The state `Ready`.
    Ready,
}
impl State {
    /// The one state of a world.
    pub const fn classify(facts: &Facts) -> Self {
        if matches!(facts.class, ::lifecycle_runtime::__private::Named::Unnamed) {
            return Self::NoName;
        }
        if matches!(facts.class, ::lifecycle_runtime::__private::Named::Absent) {
            return Self::NoClass;
        }
        if !matches!(facts.shape, Shape::Fine) {
            return Self::Invalid;
        }
        if matches!(facts.service, ::lifecycle_runtime::__private::Owned::Foreign) {
            return Self::Conflict;
        }
        if facts.refused_apply_service {
            return Self::Immutable;
        }
        if matches!(facts.service, ::lifecycle_runtime::__private::Owned::Terminating) {
            return Self::Draining;
        }
        if matches!(
            facts.service, ::lifecycle_runtime::__private::Owned::Absent |
            ::lifecycle_runtime::__private::Owned::Stale
        ) {
            return Self::Applying;
        }
        if matches!(facts.address, Address::NodeGone) {
            return Self::Stranded;
        }
        if matches!(facts.address, Address::NoPod) {
            return Self::Idle;
        }
        if matches!(facts.address, Address::NoBalancer) {
            return Self::Provisioning;
        }
        Self::Ready
    }
}
const _: () = assert!(
    matches!(State::classify(& Facts { class :
    ::lifecycle_runtime::__private::Named::Unnamed, service :
    ::lifecycle_runtime::__private::Owned::Absent, shape : Shape::Fine, address :
    Address::NoPod, refused_apply_service : false }), State::NoName),
    "the emitted classification takes a world of `NoName` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { class :
    ::lifecycle_runtime::__private::Named::Absent, service :
    ::lifecycle_runtime::__private::Owned::Absent, shape : Shape::Fine, address :
    Address::NoPod, refused_apply_service : false }), State::NoClass),
    "the emitted classification takes a world of `NoClass` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { class :
    ::lifecycle_runtime::__private::Named::Present, service :
    ::lifecycle_runtime::__private::Owned::Absent, shape : Shape::NoPorts, address :
    Address::NoPod, refused_apply_service : false }), State::Invalid),
    "the emitted classification takes a world of `Invalid` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { class :
    ::lifecycle_runtime::__private::Named::Present, service :
    ::lifecycle_runtime::__private::Owned::Foreign, shape : Shape::Fine, address :
    Address::NoPod, refused_apply_service : false }), State::Conflict),
    "the emitted classification takes a world of `Conflict` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { class :
    ::lifecycle_runtime::__private::Named::Present, service :
    ::lifecycle_runtime::__private::Owned::Absent, shape : Shape::Fine, address :
    Address::NoPod, refused_apply_service : true }), State::Immutable),
    "the emitted classification takes a world of `Immutable` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { class :
    ::lifecycle_runtime::__private::Named::Present, service :
    ::lifecycle_runtime::__private::Owned::Terminating, shape : Shape::Fine, address :
    Address::NoPod, refused_apply_service : false }), State::Draining),
    "the emitted classification takes a world of `Draining` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { class :
    ::lifecycle_runtime::__private::Named::Present, service :
    ::lifecycle_runtime::__private::Owned::Absent, shape : Shape::Fine, address :
    Address::NoPod, refused_apply_service : false }), State::Applying),
    "the emitted classification takes a world of `Applying` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { class :
    ::lifecycle_runtime::__private::Named::Present, service :
    ::lifecycle_runtime::__private::Owned::Current, shape : Shape::Fine, address :
    Address::NodeGone, refused_apply_service : false }), State::Stranded),
    "the emitted classification takes a world of `Stranded` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { class :
    ::lifecycle_runtime::__private::Named::Present, service :
    ::lifecycle_runtime::__private::Owned::Current, shape : Shape::Fine, address :
    Address::NoPod, refused_apply_service : false }), State::Idle),
    "the emitted classification takes a world of `Idle` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { class :
    ::lifecycle_runtime::__private::Named::Present, service :
    ::lifecycle_runtime::__private::Owned::Current, shape : Shape::Fine, address :
    Address::NoBalancer, refused_apply_service : false }), State::Provisioning),
    "the emitted classification takes a world of `Provisioning` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { class :
    ::lifecycle_runtime::__private::Named::Present, service :
    ::lifecycle_runtime::__private::Owned::Current, shape : Shape::Fine, address :
    Address::Partial, refused_apply_service : false }), State::Ready),
    "the emitted classification takes a world of `Ready` for another state"
);
/// What one pass observed.
#[derive(Clone)]
pub struct Seen<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Listener>,
    ///The input `class`.
    pub class: ::std::option::Option<&'a ListenerClass>,
    ///The input `service`.
    pub service: ::std::option::Option<&'a Service>,
    ///The input `volumes`.
    pub volumes: ::std::vec::Vec<&'a PersistentVolume>,
    ///The input `slices`.
    pub slices: ::std::vec::Vec<&'a EndpointSlice>,
    ///The input `nodes`.
    pub nodes: ::std::vec::Vec<&'a Node>,
    ///The shared value `reach`.
    pub reach: ::std::option::Option<&'a Reach>,
}
impl<'a> Seen<'a> {
    /// A board of the runtime, typed.
    pub fn of(
        board: &'a ::lifecycle_runtime::__private::Board,
    ) -> ::std::option::Option<Self> {
        ::std::option::Option::Some(Self {
            this: board.this::<Listener>()?,
            class: board.one::<ListenerClass>(0usize),
            service: board.one::<Service>(1usize),
            volumes: board.many::<PersistentVolume>(2usize),
            slices: board.many::<EndpointSlice>(3usize),
            nodes: board.many::<Node>(4usize),
            reach: board.value::<Reach>(0usize),
        })
    }
}
///Proof that everything is there that `apply_service` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyService<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Listener>,
    ///`class`, certainly there.
    pub class: &'a ListenerClass,
    _proved: (),
}
impl<'a> ApplyService<'a> {
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
///What the author of `Listener` decides: pure but for calls and polls, each method with exactly its declared inputs.
#[allow(clippy::ptr_arg, reason = "a method gets its input as it was declared")]
pub trait ListenerLogic: ::std::marker::Send + ::std::marker::Sync + 'static {
    ///The names of `nodes`.
    fn nodes(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        volumes: &[&PersistentVolume],
        slices: &[&EndpointSlice],
    ) -> ::std::collections::BTreeSet<::std::string::String>;
    ///Computes the shared value `reach`.
    fn reach(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        class: &ListenerClass,
        service: &Service,
        volumes: &[&PersistentVolume],
        slices: &[&EndpointSlice],
        nodes: &[&Node],
    ) -> Reach;
    ///Answers the fact `shape`.
    fn shape(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        class: &ListenerClass,
    ) -> ::lifecycle_runtime::__private::Because<Shape>;
    ///Answers the fact `address`.
    fn address(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        reach: &Reach,
    ) -> ::lifecycle_runtime::__private::Because<Address>;
    ///What `service` should be: only the fields that we want to own.
    fn apply_service(
        &self,
        at: ApplyService<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<Service>;
    ///The status field `service_name`; asked only where all its inputs are there.
    fn service_name(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        service: &Service,
    ) -> String;
    ///The status field `ingress_addresses`; asked only where all its inputs are there.
    fn ingress_addresses(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        reach: &Reach,
    ) -> Vec<ListenerIngress>;
    ///The status field `node_ports`; asked only where all its inputs are there.
    fn node_ports(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Listener>,
        service: &Service,
    ) -> BTreeMap<String, i32>;
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
                    ::lifecycle_runtime::__private::Kind::of::<ListenerClass>(),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<Service>(),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<PersistentVolume>(),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<EndpointSlice>(),
                )
            }
            4usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<Node>(),
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
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &board.this::<Listener>()?.spec.class_name,
                        ),
                    ),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &board.this::<Listener>()?.meta.name,
                        ),
                    ),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_labels([
                        ::lifecycle_runtime::__private::Text::text(
                            &board.this::<Listener>()?.meta.namespace,
                        ),
                        ::lifecycle_runtime::__private::Text::text(
                            &board.this::<Listener>()?.meta.name,
                        ),
                    ]),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_labels([
                        ::lifecycle_runtime::__private::Text::text(
                            &board.this::<Listener>()?.meta.name,
                        ),
                    ]),
                )
            }
            4usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Look::Names(
                        self
                            .0
                            .nodes(
                                board.this::<Listener>()?,
                                &board.many::<PersistentVolume>(2usize),
                                &board.many::<EndpointSlice>(3usize),
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
        board: &::lifecycle_runtime::__private::Board,
        value: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Any> {
        match value {
            0usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::shared(
                        self
                            .0
                            .reach(
                                board.this::<Listener>()?,
                                board.one::<ListenerClass>(0usize)?,
                                board.one::<Service>(1usize)?,
                                &board.many::<PersistentVolume>(2usize),
                                &board.many::<EndpointSlice>(3usize),
                                &board.many::<Node>(4usize),
                            ),
                    ),
                )
            }
            _ => ::std::option::Option::None,
        }
    }
    fn fact(
        &self,
        board: &::lifecycle_runtime::__private::Board,
        var: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Answer> {
        match var {
            2usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .shape(
                            board.this::<Listener>()?,
                            board.one::<ListenerClass>(0usize)?,
                        )
                        .map(|value| value as u8),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .address(
                            board.this::<Listener>()?,
                            board.value::<Reach>(0usize)?,
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
            _ => ::std::option::Option::None,
        }
    }
    fn field(
        &self,
        board: &::lifecycle_runtime::__private::Board,
        field: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Json> {
        match field {
            0usize => {
                ::lifecycle_runtime::__private::json(
                    &self
                        .0
                        .service_name(
                            board.this::<Listener>()?,
                            board.one::<Service>(1usize)?,
                        ),
                )
            }
            1usize => {
                ::lifecycle_runtime::__private::json(
                    &self
                        .0
                        .ingress_addresses(
                            board.this::<Listener>()?,
                            board.value::<Reach>(0usize)?,
                        ),
                )
            }
            2usize => {
                ::lifecycle_runtime::__private::json(
                    &self
                        .0
                        .node_ports(
                            board.this::<Listener>()?,
                            board.one::<Service>(1usize)?,
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
        doc: "Exposes the Pods that mount it, by the rules of its ListenerClass.",
        inputs: &[
            ir::Input {
                name: "class",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "ListenerClass",
                lookup: ir::Lookup::Name("spec.className"),
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(0usize),
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "service",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "Service",
                lookup: ir::Lookup::Name("metadata.name"),
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(1usize),
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "volumes",
                doc: "",
                mode: ir::Mode::Watched,
                many: true,
                kind: "PersistentVolume",
                lookup: ir::Lookup::Labels(&[LISTENER_NAMESPACE, LISTENER_NAME]),
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "slices",
                doc: "",
                mode: ir::Mode::Watched,
                many: true,
                kind: "EndpointSlice",
                lookup: ir::Lookup::Labels(&[SERVICE_NAME]),
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "nodes",
                doc: "",
                mode: ir::Mode::Watched,
                many: true,
                kind: "Node",
                lookup: ir::Lookup::Names,
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                whole: &[],
            },
        ],
        values: &[
            ir::Value {
                name: "reach",
                given: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[ir::Pred::Is(0usize, 4u64), ir::Pred::Is(1usize, 24u64)],
                    ),
                ),
            },
        ],
        vars: &[
            ir::Var {
                name: "class",
                doc: "",
                origin: ir::Origin::Input(0usize),
                values: &["Unnamed", "Absent", "Present"],
                answers: 3u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "service",
                doc: "",
                origin: ir::Origin::Input(1usize),
                values: &["Absent", "Foreign", "Terminating", "Stale", "Current"],
                answers: 5u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "shape",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Fine", "NoPorts", "PortClash", "BadName", "BadOverride"],
                answers: 5u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(0usize, 4u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "address",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["NoPod", "NoBalancer", "NodeGone", "Partial", "Full"],
                answers: 5u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::All(
                            &[ir::Pred::Is(0usize, 4u64), ir::Pred::Is(1usize, 24u64)],
                        ),
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
        ],
        order: &[
            ir::Node::Input(0usize),
            ir::Node::Var(0usize),
            ir::Node::Input(1usize),
            ir::Node::Var(1usize),
            ir::Node::Input(2usize),
            ir::Node::Input(3usize),
            ir::Node::Input(4usize),
            ir::Node::Value(0usize),
            ir::Node::Var(2usize),
            ir::Node::Var(3usize),
            ir::Node::Var(4usize),
        ],
        nevers: &[],
        states: &[
            ir::State {
                name: "NoName",
                doc: "",
                goal: false,
                when: ir::Pred::Is(0usize, 1u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(&[ir::Source::This]),
                overdue: 600000u64,
            },
            ir::State {
                name: "NoClass",
                doc: "",
                goal: false,
                when: ir::Pred::Is(0usize, 2u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::Input(0usize), ir::Source::This],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Invalid",
                doc: "",
                goal: false,
                when: ir::Pred::Not(&ir::Pred::Is(2usize, 1u64)),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::This, ir::Source::Input(0usize)],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Conflict",
                doc: "",
                goal: false,
                when: ir::Pred::Is(1usize, 2u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::Input(1usize), ir::Source::This],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Immutable",
                doc: "",
                goal: false,
                when: ir::Pred::Is(4usize, 2u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[
                        ir::Source::This,
                        ir::Source::Input(0usize),
                        ir::Source::Input(1usize),
                    ],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Draining",
                doc: "",
                goal: false,
                when: ir::Pred::Is(1usize, 4u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 60000u64,
            },
            ir::State {
                name: "Applying",
                doc: "",
                goal: false,
                when: ir::Pred::Is(1usize, 9u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Stranded",
                doc: "",
                goal: false,
                when: ir::Pred::Is(3usize, 4u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::Input(4usize), ir::Source::Input(2usize)],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Idle",
                doc: "",
                goal: false,
                when: ir::Pred::Is(3usize, 1u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::Input(3usize), ir::Source::Input(2usize)],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Provisioning",
                doc: "",
                goal: false,
                when: ir::Pred::Is(3usize, 2u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Ready",
                doc: "",
                goal: true,
                when: ir::Pred::Is(3usize, 24u64),
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
                target: 1usize,
                from: &[ir::Source::Input(0usize)],
                when: ::std::option::Option::Some(ir::Pred::Is(2usize, 1u64)),
                sets: &[&[(1usize, 4u8)]],
                affects: &[1usize, 3usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                refused: 4usize,
            },
        ],
        promises: &[
            ir::Promise {
                name: "balanced",
                when: ir::Pred::All(
                    &[ir::Pred::Is(1usize, 16u64), ir::Pred::Is(3usize, 2u64)],
                ),
                sets: &[&[(3usize, 4u8)]],
            },
        ],
        edges: &[
            (5usize, 6usize),
            (6usize, 9usize),
            (6usize, 8usize),
            (6usize, 7usize),
            (6usize, 10usize),
            (6usize, 4usize),
            (9usize, 10usize),
        ],
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
                                &[ir::Pred::Is(0usize, 4u64), ir::Pred::Is(2usize, 1u64)],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "NoClassName",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::Some("NoListenerClass"),
                        when: ::std::option::Option::Some(ir::Pred::Is(0usize, 1u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "NoListenerClass",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::Some("GetObject"),
                        when: ::std::option::Option::Some(ir::Pred::Is(0usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "NoPorts",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(2usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "PortClash",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(2usize, 4u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "InvalidName",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(2usize, 8u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "InvalidOverride",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::None,
                    },
                ],
            },
            ir::Condition {
                name: "Programmed",
                doc: "",
                clauses: &[
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "ForeignService",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::Some(
                            "RefuseToOverwriteForeignService",
                        ),
                        when: ::std::option::Option::Some(ir::Pred::Is(1usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Refused",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(4usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Programmed",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(1usize, 16u64)),
                    },
                    ir::Clause {
                        says: ir::Says::Unknown,
                        reason: "Applying",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::None,
                    },
                ],
            },
            ir::Condition {
                name: "Addressed",
                doc: "",
                clauses: &[
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Addressed",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(3usize, 16u64)),
                    },
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "PinnedNodeGone",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(3usize, 8u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "PinnedNodeGone",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(3usize, 4u64)),
                    },
                    ir::Clause {
                        says: ir::Says::Unknown,
                        reason: "NoPod",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(3usize, 1u64)),
                    },
                    ir::Clause {
                        says: ir::Says::Unknown,
                        reason: "WaitingForLoadBalancer",
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
                name: "serviceName",
                what: ir::FieldOf::Method { kept: false },
            },
            ir::Field {
                name: "ingressAddresses",
                what: ir::FieldOf::Method { kept: true },
            },
            ir::Field {
                name: "nodePorts",
                what: ir::FieldOf::Method { kept: false },
            },
        ],
        columns: &[
            ir::Column {
                name: "Class",
                json_path: ::std::option::Option::Some(".spec.className"),
            },
            ir::Column {
                name: "Address",
                json_path: ::std::option::Option::Some(
                    ".status.ingressAddresses[0].address",
                ),
            },
        ],
        volume: false,
        calls: &[],
    }
};
