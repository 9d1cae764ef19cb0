//! Expansion of `provision.txt`; written by the test `expand`.

///Values of the fact `asked`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum Asked {
    ///`asked == Mount`.
    Mount,
    ///`asked == Unfit`.
    Unfit,
}
impl Asked {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Mount, Self::Unfit];
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
/// One world: the answer to every finite question, those that inputs bring included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    ///Whether and how `pv` is there.
    pub pv: ::lifecycle_runtime::__private::Watched,
    ///Whether and how `claim` is there.
    pub claim: ::lifecycle_runtime::__private::Watched,
    ///Whether and how `class` is there.
    pub class: ::lifecycle_runtime::__private::Watched,
    ///Whether and how `chosen` is there.
    pub chosen: ::lifecycle_runtime::__private::Watched,
    ///The fact `asked`.
    pub asked: Asked,
    ///The fact `source`.
    pub source: Source,
}
impl Facts {
    /// A world of the runtime, typed.
    pub fn from_world(world: &::lifecycle_runtime::__private::World) -> Self {
        Self {
            pv: ::lifecycle_runtime::__private::Watched::VALUES[world.get(0usize)
                as usize],
            claim: ::lifecycle_runtime::__private::Watched::VALUES[world.get(1usize)
                as usize],
            class: ::lifecycle_runtime::__private::Watched::VALUES[world.get(2usize)
                as usize],
            chosen: ::lifecycle_runtime::__private::Watched::VALUES[world.get(3usize)
                as usize],
            asked: Asked::VALUES[world.get(4usize) as usize],
            source: Source::VALUES[world.get(5usize) as usize],
        }
    }
}
/// State of an object in its lifecycle. The first state that matches counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum State {
    ///The state `Unplanned`.
    Unplanned,
    ///The state `Waiting`.
    Waiting,
    ///The state `Planned`.
    Planned,
}
impl State {
    /// The one state of a world.
    pub const fn classify(facts: &Facts) -> Self {
        if (false
            || !matches!(facts.claim, ::lifecycle_runtime::__private::Watched::Present)
            || matches!(facts.source, Source::Bad))
        {
            return Self::Unplanned;
        }
        if (false
            || (true && matches!(facts.source, Source::Class)
                && !matches!(
                    facts.class, ::lifecycle_runtime::__private::Watched::Present
                ))
            || (true && matches!(facts.source, Source::Name)
                && !matches!(
                    facts.chosen, ::lifecycle_runtime::__private::Watched::Present
                )))
        {
            return Self::Waiting;
        }
        Self::Planned
    }
}
const _: () = assert!(
    matches!(State::classify(& Facts { pv :
    ::lifecycle_runtime::__private::Watched::Absent, claim :
    ::lifecycle_runtime::__private::Watched::Absent, class :
    ::lifecycle_runtime::__private::Watched::Absent, chosen :
    ::lifecycle_runtime::__private::Watched::Absent, asked : Asked::Mount, source :
    Source::Class }), State::Unplanned),
    "the emitted classification takes a world of `Unplanned` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { pv :
    ::lifecycle_runtime::__private::Watched::Absent, claim :
    ::lifecycle_runtime::__private::Watched::Present, class :
    ::lifecycle_runtime::__private::Watched::Absent, chosen :
    ::lifecycle_runtime::__private::Watched::Absent, asked : Asked::Mount, source :
    Source::Class }), State::Waiting),
    "the emitted classification takes a world of `Waiting` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { pv :
    ::lifecycle_runtime::__private::Watched::Absent, claim :
    ::lifecycle_runtime::__private::Watched::Present, class :
    ::lifecycle_runtime::__private::Watched::Present, chosen :
    ::lifecycle_runtime::__private::Watched::Absent, asked : Asked::Mount, source :
    Source::Class }), State::Planned),
    "the emitted classification takes a world of `Planned` for another state"
);
/// Observations of one reconcile.
#[derive(Clone)]
pub struct Seen<'a> {
    /// Request of the caller, without its secrets.
    pub request: ::lifecycle_runtime::__private::Request<'a>,
    ///The input `pv`.
    pub pv: ::std::option::Option<&'a PersistentVolume>,
    ///The input `claim`.
    pub claim: ::std::option::Option<&'a PersistentVolumeClaim>,
    ///The input `class`.
    pub class: ::std::option::Option<&'a ListenerClass>,
    ///The input `chosen`.
    pub chosen: ::std::option::Option<&'a Listener>,
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
            class: observation.one::<ListenerClass>(2usize),
            chosen: observation.one::<Listener>(3usize),
        })
    }
}
///What the author of `ListenerProvisioning` decides: pure but for calls and polls, each method with exactly its declared inputs.
#[allow(clippy::ptr_arg, reason = "a method gets its input as it was declared")]
pub trait ListenerProvisioningLogic: ::std::marker::Send + ::std::marker::Sync + 'static {
    ///Which object `claim` is.
    fn claim(
        &self,
        request: ::lifecycle_runtime::__private::Request<'_>,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::ObjectRef>;
    ///Which object `class` is.
    fn class(
        &self,
        claim: ::std::option::Option<&PersistentVolumeClaim>,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::ObjectRef>;
    ///Which object `chosen` is.
    fn chosen(
        &self,
        claim: &PersistentVolumeClaim,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::ObjectRef>;
    ///Answers the fact `asked`.
    fn asked(
        &self,
        capabilities: &[::lifecycle_runtime::__private::Capability],
    ) -> ::lifecycle_runtime::__private::Because<Asked>;
    ///Answers the fact `source`.
    fn source(
        &self,
        claim: &PersistentVolumeClaim,
    ) -> ::lifecycle_runtime::__private::Because<Source>;
    ///The volume that `CreateVolume` answers with; equal requests give equal volumes.
    fn created_volume(
        &self,
        seen: &Seen<'_>,
    ) -> ::lifecycle_runtime::__private::CreatedVolume;
}
///The lifecycle of `ListenerProvisioning` with the logic of its author.
#[derive(Clone, Debug)]
pub struct ListenerProvisioningMachine<L>(L);
/// Ties the logic to the lifecycle.
pub fn machine<L: ListenerProvisioningLogic>(
    logic: L,
) -> ListenerProvisioningMachine<L> {
    ListenerProvisioningMachine(logic)
}
#[allow(unused_variables, reason = "a lifecycle need not use every argument")]
impl<L: ListenerProvisioningLogic> ::lifecycle_runtime::__private::Machine
for ListenerProvisioningMachine<L> {
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
                    ::lifecycle_runtime::__private::Kind::for_type::<ListenerClass>(),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<Listener>(),
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
                        self.0.claim(observation.request()?),
                    ),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_ref(
                        self.0.class(observation.one::<PersistentVolumeClaim>(1usize)),
                    ),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_ref(
                        self.0.chosen(observation.one::<PersistentVolumeClaim>(1usize)?),
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
            _ => ::std::option::Option::None,
        }
    }
    fn fact(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        var: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Answer> {
        match var {
            4usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .asked(observation.request()?.capabilities())
                        .map(|value| value as u8),
                )
            }
            5usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .source(observation.one::<PersistentVolumeClaim>(1usize)?)
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
            _ => ::std::option::Option::None,
        }
    }
    fn key(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        effect: usize,
    ) -> ::std::option::Option<::std::string::String> {
        match effect {
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
            _ => ::std::option::Option::None,
        }
    }
    fn created(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::CreatedVolume> {
        ::std::option::Option::Some(
            self.0.created_volume(&Seen::from_observation(observation)?),
        )
    }
}
/// Declaration of the lifecycle, as data.
pub const IR: &::lifecycle_runtime::__private::ir::Lifecycle = {
    use ::lifecycle_runtime::__private::ir;
    &ir::Lifecycle {
        name: "ListenerProvisioning",
        path: ::std::concat!(::std::module_path!(), "::ListenerProvisioning"),
        doc: "The controller side of a Listener volume: it promises a volume and creates nothing.",
        inputs: &[
            ir::Input {
                name: "pv",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "PersistentVolume",
                lookup: ir::Lookup::Name("request.volumeId"),
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
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
                given: ::std::option::Option::None,
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
                name: "class",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "ListenerClass",
                lookup: ir::Lookup::Ref,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(5usize, 1u64)),
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
                name: "chosen",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "Listener",
                lookup: ir::Lookup::Ref,
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::Some(ir::Pred::Is(5usize, 2u64)),
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
        ],
        values: &[],
        vars: &[
            ir::Var {
                name: "pv",
                doc: "",
                origin: ir::Origin::Input(0usize),
                values: &["Absent", "Present"],
                answers: 2u8,
                given: &[],
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
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[1usize],
            },
            ir::Var {
                name: "class",
                doc: "",
                origin: ir::Origin::Input(2usize),
                values: &["Absent", "Present"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(5usize, 1u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[1usize, 2usize],
            },
            ir::Var {
                name: "chosen",
                doc: "",
                origin: ir::Origin::Input(3usize),
                values: &["Absent", "Present"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(5usize, 2u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[1usize, 3usize],
            },
            ir::Var {
                name: "asked",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Mount", "Unfit"],
                answers: 2u8,
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
                        pred: ir::Pred::Is(1usize, 2u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[1usize],
            },
        ],
        order: &[
            ir::Node::Input(0usize),
            ir::Node::Var(0usize),
            ir::Node::Input(1usize),
            ir::Node::Var(1usize),
            ir::Node::Var(5usize),
            ir::Node::Input(2usize),
            ir::Node::Var(2usize),
            ir::Node::Input(3usize),
            ir::Node::Var(3usize),
            ir::Node::Var(4usize),
        ],
        nevers: &[],
        states: ir::Table::new(
            &[
                ir::State {
                    name: "Unplanned",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Any(
                        &[
                            ir::Pred::Not(&ir::Pred::Is(1usize, 2u64)),
                            ir::Pred::Is(5usize, 4u64),
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
                    name: "Waiting",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Any(
                        &[
                            ir::Pred::All(
                                &[
                                    ir::Pred::Is(5usize, 1u64),
                                    ir::Pred::Not(&ir::Pred::Is(2usize, 2u64)),
                                ],
                            ),
                            ir::Pred::All(
                                &[
                                    ir::Pred::Is(5usize, 2u64),
                                    ir::Pred::Not(&ir::Pred::Is(3usize, 2u64)),
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
                    name: "Planned",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(1usize, 2u64),
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
        effects: &[],
        promises: &[],
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
                rpc: ir::Rpc::CreateVolume,
                doc: "",
                on_node: false,
                fields: &[
                    ir::RequestField {
                        name: "name",
                        required: true,
                        limit: ::std::option::Option::Some(128usize),
                    },
                    ir::RequestField {
                        name: "capacity_range",
                        required: false,
                        limit: ::std::option::Option::None,
                    },
                    ir::RequestField {
                        name: "volume_capabilities",
                        required: true,
                        limit: ::std::option::Option::None,
                    },
                    ir::RequestField {
                        name: "parameters",
                        required: false,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                    ir::RequestField {
                        name: "secrets",
                        required: false,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                    ir::RequestField {
                        name: "volume_content_source",
                        required: false,
                        limit: ::std::option::Option::None,
                    },
                    ir::RequestField {
                        name: "accessibility_requirements",
                        required: false,
                        limit: ::std::option::Option::None,
                    },
                    ir::RequestField {
                        name: "mutable_parameters",
                        required: false,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                ],
                key: &["name"],
                preconditions: &[
                    ir::Precondition {
                        name: "unfit",
                        code: ir::Code::InvalidArgument,
                        when: ir::Pred::Is(4usize, 2u64),
                    },
                ],
                target: ir::Target::State(ir::StateId(2usize)),
                refusals: &[
                    ir::Refusal {
                        when: ir::Pred::Is(1usize, 1u64),
                        code: ir::Code::Unavailable,
                        why: ::std::option::Option::Some("the claim is not known yet"),
                    },
                    ir::Refusal {
                        when: ir::Pred::Is(5usize, 4u64),
                        code: ir::Code::InvalidArgument,
                        why: ::std::option::Option::Some(
                            "annotate the claim with listener-class or listener-name",
                        ),
                    },
                    ir::Refusal {
                        when: ir::Pred::All(
                            &[
                                ir::Pred::Is(5usize, 1u64),
                                ir::Pred::Not(&ir::Pred::Is(2usize, 2u64)),
                            ],
                        ),
                        code: ir::Code::Unavailable,
                        why: ::std::option::Option::Some(
                            "the ListenerClass does not exist",
                        ),
                    },
                    ir::Refusal {
                        when: ir::Pred::All(
                            &[
                                ir::Pred::Is(5usize, 2u64),
                                ir::Pred::Not(&ir::Pred::Is(3usize, 2u64)),
                            ],
                        ),
                        code: ir::Code::Unavailable,
                        why: ::std::option::Option::Some("the Listener does not exist"),
                    },
                ],
                by: &[],
                within: ::std::option::Option::None,
                opposite: ::std::option::Option::Some(1usize),
                unseen_inputs: &[0usize],
                unseen_vars: &[0usize],
            },
            ir::Call {
                rpc: ir::Rpc::DeleteVolume,
                doc: "",
                on_node: false,
                fields: &[
                    ir::RequestField {
                        name: "volume_id",
                        required: true,
                        limit: ::std::option::Option::Some(128usize),
                    },
                    ir::RequestField {
                        name: "secrets",
                        required: false,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                ],
                key: &["volume_id"],
                preconditions: &[],
                target: ir::Target::Nothing,
                refusals: &[],
                by: &[],
                within: ::std::option::Option::None,
                opposite: ::std::option::Option::Some(0usize),
                unseen_inputs: &[1usize, 2usize, 3usize],
                unseen_vars: &[1usize, 2usize, 3usize, 4usize, 5usize],
            },
            ir::Call {
                rpc: ir::Rpc::ValidateVolumeCapabilities,
                doc: "",
                on_node: false,
                fields: &[
                    ir::RequestField {
                        name: "volume_id",
                        required: true,
                        limit: ::std::option::Option::Some(128usize),
                    },
                    ir::RequestField {
                        name: "volume_context",
                        required: false,
                        limit: ::std::option::Option::None,
                    },
                    ir::RequestField {
                        name: "volume_capabilities",
                        required: true,
                        limit: ::std::option::Option::None,
                    },
                    ir::RequestField {
                        name: "parameters",
                        required: false,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                    ir::RequestField {
                        name: "secrets",
                        required: false,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                    ir::RequestField {
                        name: "mutable_parameters",
                        required: false,
                        limit: ::std::option::Option::Some(4096usize),
                    },
                ],
                key: &["volume_id"],
                preconditions: &[
                    ir::Precondition {
                        name: "unknown",
                        code: ir::Code::NotFound,
                        when: ir::Pred::Is(0usize, 1u64),
                    },
                ],
                target: ir::Target::Nothing,
                refusals: &[],
                by: &[],
                within: ::std::option::Option::None,
                opposite: ::std::option::Option::None,
                unseen_inputs: &[],
                unseen_vars: &[],
            },
        ],
    }
};
