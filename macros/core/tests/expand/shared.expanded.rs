//! Expansion of the example of `docs/fragments.md`; written by the test `expand`.

#[doc(hidden)]
#[allow(non_camel_case_types, reason = "it bears the name of an input")]
pub type __in_workspace_workspace = Workspace;
///What stands in a workspace, where now and then nothing may change.
#[allow(clippy::ptr_arg, reason = "a method gets its input as it was declared")]
pub trait InWorkspace<
    K: ::lifecycle_runtime::__private::Subject,
>: ::std::marker::Send + ::std::marker::Sync + 'static {
    ///Which object `workspace` is.
    fn workspace(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, K>,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::ObjectRef>;
    ///Whether nothing may change in the workspace.
    fn frozen(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, K>,
        workspace: &Workspace,
    ) -> ::lifecycle_runtime::__private::Because<bool>;
}
///What lifecycles take that use the fragment `in_workspace`.
pub mod in_workspace {
    #[allow(unused_imports, reason = "a lifecycle need not use everything")]
    pub use super::{__in_workspace_workspace, InWorkspace};
}
#[doc(hidden)]
#[allow(unused_macros, reason = "a fragment need not be used")]
macro_rules! __in_workspace {
    ($used:ident { $($given:tt)* } { $($own:tt)* }) => {
        ::lifecycle_runtime::__private::lifecycle! { @ { $($given)* $used { #[doc =
        " What stands in a workspace, where now and then nothing may change."] fragment
        in_workspace; needs { output : { Terminating }; } observe { workspace : Workspace
        by ref; } facts { #[doc = " Whether nothing may change in the workspace."] frozen
        : bool from workspace given workspace; } states { #[doc =
        " There is no workspace of that name."] NoWorkspace when! workspace => Error
        wakes workspace, self; #[doc = " Nothing may change in the workspace."] Frozen
        when frozen => Pending wakes workspace; #[doc =
        " What was made before is going."] Draining when output == Terminating =>
        Pending; } status { condition Placed { False "NoWorkspace" when! workspace; False
        "Frozen" when frozen; True otherwise; } } } } $($own)* }
    };
    ($($other:tt)*) => {
        ::core::compile_error! { ::core::concat!("`", ::core::stringify!(in_workspace),
        "` is a fragment: write `use ", ::core::stringify!(in_workspace),
        ";` in a `lifecycle!`") }
    };
}
#[allow(unused_imports, reason = "a fragment need not be used")]
pub(crate) use __in_workspace as in_workspace;

/// One world: the answer to every finite question, those that inputs bring included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    ///Whether and how `workspace` is there.
    pub workspace: ::lifecycle_runtime::__private::Watched,
    ///Whether and how `source` is there.
    pub source: ::lifecycle_runtime::__private::Watched,
    ///Whether and how `output` is there.
    pub output: ::lifecycle_runtime::__private::Owned,
    ///Whether nothing may change in the workspace.
    pub frozen: bool,
    ///The last answer to this very write of `apply_output` was a refusal.
    pub refused_apply_output: bool,
}
impl Facts {
    /// A world of the runtime, typed.
    pub fn from_world(world: &::lifecycle_runtime::__private::World) -> Self {
        Self {
            workspace: ::lifecycle_runtime::__private::Watched::VALUES[world.get(0usize)
                as usize],
            source: ::lifecycle_runtime::__private::Watched::VALUES[world.get(1usize)
                as usize],
            output: ::lifecycle_runtime::__private::Owned::VALUES[world.get(2usize)
                as usize],
            frozen: world.get(3usize) == 1,
            refused_apply_output: world.get(4usize) == 1,
        }
    }
}
/// State of an object in its lifecycle. The first state that matches counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::enum_variant_names, reason = "names are those of the declaration")]
pub enum State {
    ///A write was refused that no state mentions.
    Refused,
    ///There is no workspace of that name.
    NoWorkspace,
    ///Nothing may change in the workspace.
    Frozen,
    ///The state `NoSource`.
    NoSource,
    ///The state `Taken`.
    Taken,
    ///What was made before is going.
    Draining,
    ///The state `Rendering`.
    Rendering,
    ///The state `Ready`.
    Ready,
}
impl State {
    /// The one state of a world.
    pub const fn classify(facts: &Facts) -> Self {
        if facts.refused_apply_output {
            return Self::Refused;
        }
        if !matches!(facts.workspace, ::lifecycle_runtime::__private::Watched::Present) {
            return Self::NoWorkspace;
        }
        if facts.frozen {
            return Self::Frozen;
        }
        if !matches!(facts.source, ::lifecycle_runtime::__private::Watched::Present) {
            return Self::NoSource;
        }
        if matches!(facts.output, ::lifecycle_runtime::__private::Owned::Foreign) {
            return Self::Taken;
        }
        if matches!(facts.output, ::lifecycle_runtime::__private::Owned::Terminating) {
            return Self::Draining;
        }
        if matches!(
            facts.output, ::lifecycle_runtime::__private::Owned::Absent |
            ::lifecycle_runtime::__private::Owned::Stale
        ) {
            return Self::Rendering;
        }
        Self::Ready
    }
}
const _: () = assert!(
    matches!(State::classify(& Facts { workspace :
    ::lifecycle_runtime::__private::Watched::Absent, source :
    ::lifecycle_runtime::__private::Watched::Absent, output :
    ::lifecycle_runtime::__private::Owned::Absent, frozen : false, refused_apply_output :
    false }), State::NoWorkspace),
    "the emitted classification takes a world of `NoWorkspace` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { workspace :
    ::lifecycle_runtime::__private::Watched::Present, source :
    ::lifecycle_runtime::__private::Watched::Absent, output :
    ::lifecycle_runtime::__private::Owned::Absent, frozen : true, refused_apply_output :
    false }), State::Frozen),
    "the emitted classification takes a world of `Frozen` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { workspace :
    ::lifecycle_runtime::__private::Watched::Present, source :
    ::lifecycle_runtime::__private::Watched::Absent, output :
    ::lifecycle_runtime::__private::Owned::Absent, frozen : false, refused_apply_output :
    false }), State::NoSource),
    "the emitted classification takes a world of `NoSource` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { workspace :
    ::lifecycle_runtime::__private::Watched::Present, source :
    ::lifecycle_runtime::__private::Watched::Present, output :
    ::lifecycle_runtime::__private::Owned::Foreign, frozen : false, refused_apply_output
    : false }), State::Taken),
    "the emitted classification takes a world of `Taken` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { workspace :
    ::lifecycle_runtime::__private::Watched::Present, source :
    ::lifecycle_runtime::__private::Watched::Present, output :
    ::lifecycle_runtime::__private::Owned::Terminating, frozen : false,
    refused_apply_output : false }), State::Draining),
    "the emitted classification takes a world of `Draining` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { workspace :
    ::lifecycle_runtime::__private::Watched::Present, source :
    ::lifecycle_runtime::__private::Watched::Present, output :
    ::lifecycle_runtime::__private::Owned::Absent, frozen : false, refused_apply_output :
    false }), State::Rendering),
    "the emitted classification takes a world of `Rendering` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { workspace :
    ::lifecycle_runtime::__private::Watched::Present, source :
    ::lifecycle_runtime::__private::Watched::Present, output :
    ::lifecycle_runtime::__private::Owned::Current, frozen : false, refused_apply_output
    : false }), State::Ready),
    "the emitted classification takes a world of `Ready` for another state"
);
const _: () = ::lifecycle_runtime::__private::owned_by::<ConfigMap, Report>();
const _: () = ::lifecycle_runtime::__private::named_by::<ConfigMap, Report>();
const _: () = ::lifecycle_runtime::__private::named_by::<ConfigMap, Report>();
/// Observations of one reconcile.
#[derive(Clone)]
pub struct Seen<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Report>,
    ///The input `workspace`.
    pub workspace: ::std::option::Option<&'a in_workspace::__in_workspace_workspace>,
    ///The input `source`.
    pub source: ::std::option::Option<&'a ConfigMap>,
    ///The input `output`.
    pub output: ::std::option::Option<&'a ConfigMap>,
}
impl<'a> Seen<'a> {
    /// An observation of the runtime, typed.
    pub fn from_observation(
        observation: &'a ::lifecycle_runtime::__private::Observation,
    ) -> ::std::option::Option<Self> {
        ::std::option::Option::Some(Self {
            this: observation.this::<Report>()?,
            workspace: observation.one::<in_workspace::__in_workspace_workspace>(0usize),
            source: observation.one::<ConfigMap>(1usize),
            output: observation.one::<ConfigMap>(2usize),
        })
    }
}
///Proof that everything is there that `apply_output` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyOutput<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Report>,
    ///`source`, certainly there.
    pub source: &'a ConfigMap,
    _proved: (),
}
impl<'a> ApplyOutput<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true
            && matches!(facts.source, ::lifecycle_runtime::__private::Watched::Present))
        {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            source: seen.source?,
            _proved: (),
        })
    }
}
///What the author of `Report` decides: pure but for calls and polls, each method with exactly its declared inputs.
#[allow(clippy::ptr_arg, reason = "a method gets its input as it was declared")]
pub trait ReportLogic: ::std::marker::Send + ::std::marker::Sync + 'static {
    ///What answers for the fragment `in_workspace`.
    fn in_workspace(&self) -> &impl in_workspace::InWorkspace<Report>;
    ///What `output` should be: only the fields that we want to own.
    fn apply_output(
        &self,
        at: ApplyOutput<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<ConfigMap>;
}
///The lifecycle of `Report` with the logic of its author.
#[derive(Clone, Debug)]
pub struct ReportMachine<L>(L);
/// Ties the logic to the lifecycle.
pub fn machine<L: ReportLogic>(logic: L) -> ReportMachine<L> {
    ReportMachine(logic)
}
#[allow(unused_variables, reason = "a lifecycle need not use every argument")]
impl<L: ReportLogic> ::lifecycle_runtime::__private::Machine for ReportMachine<L> {
    fn ir(&self) -> &'static ::lifecycle_runtime::__private::ir::Lifecycle {
        IR
    }
    fn subject(&self) -> ::std::option::Option<::lifecycle_runtime::__private::Kind> {
        ::std::option::Option::Some(
            ::lifecycle_runtime::__private::Kind::for_type::<Report>(),
        )
    }
    fn kind(
        &self,
        input: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Kind> {
        match input {
            0usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<
                        in_workspace::__in_workspace_workspace,
                    >(),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<ConfigMap>(),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::for_type::<ConfigMap>(),
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
                    ::lifecycle_runtime::__private::lookup_ref(
                        in_workspace::InWorkspace::<
                            Report,
                        >::workspace(
                            self.0.in_workspace(),
                            observation.this::<Report>()?,
                        ),
                    ),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Report>()?.spec.source,
                        ),
                    ),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::lookup_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &observation.this::<Report>()?.meta.name,
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
            _ => ::std::option::Option::None,
        }
    }
    fn fact(
        &self,
        observation: &::lifecycle_runtime::__private::Observation,
        var: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Answer> {
        match var {
            3usize => {
                ::std::option::Option::Some(
                    in_workspace::InWorkspace::<
                        Report,
                    >::frozen(
                            self.0.in_workspace(),
                            observation.this::<Report>()?,
                            observation
                                .one::<in_workspace::__in_workspace_workspace>(0usize)?,
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
                        ConfigMap,
                    >::into_built(self.0.apply_output(ApplyOutput::at(&seen, &facts)?)),
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
}
/// Declaration of the lifecycle, as data.
pub const IR: &::lifecycle_runtime::__private::ir::Lifecycle = {
    use ::lifecycle_runtime::__private::ir;
    &ir::Lifecycle {
        name: "Report",
        path: ::std::concat!(::std::module_path!(), "::Report"),
        doc: "A report that is rendered into a ConfigMap.",
        inputs: &[
            ir::Input {
                name: "workspace",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "Workspace",
                lookup: ir::Lookup::Ref,
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
                name: "source",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "ConfigMap",
                lookup: ir::Lookup::Name("spec.source"),
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
                name: "output",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "ConfigMap",
                lookup: ir::Lookup::Name("metadata.name"),
                only_if: ::std::option::Option::None,
                every: ::std::option::Option::None,
                provider: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(2usize),
                owner: ::std::option::Option::None,
                controller: true,
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
                name: "workspace",
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
                name: "source",
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
                name: "output",
                doc: "",
                origin: ir::Origin::Input(2usize),
                values: &["Absent", "Foreign", "Terminating", "Stale", "Current"],
                answers: 5u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[1usize, 2usize],
            },
            ir::Var {
                name: "frozen",
                doc: "Whether nothing may change in the workspace.",
                origin: ir::Origin::Fact,
                values: &["false", "true"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(0usize, 2u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[0usize],
            },
            ir::Var {
                name: "apply_output",
                doc: "",
                origin: ir::Origin::Refused(0usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
                timed: false,
                reads: &[],
            },
        ],
        order: &[
            ir::Node::Input(0usize),
            ir::Node::Var(0usize),
            ir::Node::Input(1usize),
            ir::Node::Var(1usize),
            ir::Node::Input(2usize),
            ir::Node::Var(2usize),
            ir::Node::Var(3usize),
            ir::Node::Var(4usize),
        ],
        nevers: &[],
        states: ir::Table::new(
            &[
                ir::State {
                    name: "NoWorkspace",
                    doc: "There is no workspace of that name.",
                    goal: false,
                    when: ir::Pred::Not(&ir::Pred::Is(0usize, 2u64)),
                    phase: ir::Phase::Error,
                    even_deleting: false,
                    wakes: ::std::option::Option::Some(
                        &[ir::Source::Input(0usize), ir::Source::This],
                    ),
                    overdue: ir::Length {
                        said: ::std::option::Option::None,
                        otherwise: 600000u64,
                        least: 600000u64,
                    },
                    region: ::std::option::Option::None,
                },
                ir::State {
                    name: "Frozen",
                    doc: "Nothing may change in the workspace.",
                    goal: false,
                    when: ir::Pred::Is(3usize, 2u64),
                    phase: ir::Phase::Pending,
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
                    name: "NoSource",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Not(&ir::Pred::Is(1usize, 2u64)),
                    phase: ir::Phase::Error,
                    even_deleting: false,
                    wakes: ::std::option::Option::Some(
                        &[ir::Source::Input(1usize), ir::Source::This],
                    ),
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
                    when: ir::Pred::Is(2usize, 2u64),
                    phase: ir::Phase::Error,
                    even_deleting: false,
                    wakes: ::std::option::Option::Some(
                        &[ir::Source::Input(2usize), ir::Source::This],
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
                    doc: "What was made before is going.",
                    goal: false,
                    when: ir::Pred::Is(2usize, 4u64),
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
                    name: "Rendering",
                    doc: "",
                    goal: false,
                    when: ir::Pred::Is(2usize, 9u64),
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
                    name: "Ready",
                    doc: "",
                    goal: true,
                    when: ir::Pred::Is(2usize, 16u64),
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
                name: "apply_output",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 2usize,
                from: &[ir::Source::Input(1usize)],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[
                            ir::Pred::Is(0usize, 2u64),
                            ir::Pred::Not(&ir::Pred::Is(3usize, 2u64)),
                        ],
                    ),
                ),
                sets: &[&[(2usize, 4u8)]],
                affects: &[2usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                is_step: false,
                refused: 4usize,
                keeps: false,
                region: ::std::option::Option::None,
            },
        ],
        promises: &[],
        steps: &[],
        abandoned: &[],
        retired: &[],
        edges: &[
            ir::Edge {
                from: ir::StateId(4usize),
                to: ir::StateId(5usize),
                causes: &[ir::Cause::Gone(2usize)],
            },
            ir::Edge {
                from: ir::StateId(5usize),
                to: ir::StateId(6usize),
                causes: &[ir::Cause::Effect(0usize)],
            },
        ],
        waits: &[],
        conditions: &[
            ir::Condition {
                name: "Placed",
                doc: "",
                clauses: &[
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "NoWorkspace",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::Not(&ir::Pred::Is(0usize, 2u64)),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Frozen",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(3usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Placed",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::None,
                    },
                ],
            },
            ir::Condition {
                name: "Rendered",
                doc: "",
                clauses: &[
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "NoSource",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::Not(&ir::Pred::Is(1usize, 2u64)),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Taken",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(2usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Rendered",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(2usize, 16u64)),
                    },
                    ir::Clause {
                        says: ir::Says::Unknown,
                        reason: "Rendering",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::None,
                    },
                ],
            },
        ],
        ready: ir::RollUp {
            from: &[0usize, 1usize],
            reason: "Ready",
            message: &[],
        },
        implicit: ::std::option::Option::None,
        kstatus: false,
        texts: &[],
        times: &[],
        fields: &[],
        columns: &[],
        volume: false,
        calls: &[],
    }
};
impl ::lifecycle_runtime::__private::Declared<State> for Report {
    const PATH: &'static str = ::std::concat!(::std::module_path!(), "::Report");
    const IR: &'static ::lifecycle_runtime::__private::ir::Lifecycle = IR;
}
