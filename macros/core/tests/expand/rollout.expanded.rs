//! What `rollout.txt` expands to; written by the test `expand`.

///Values of the fact `version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    ///`version == Same`.
    Same,
    ///`version == New`.
    New,
}
impl Version {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Same, Self::New];
}
///Values of the fact `migrated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Migrated {
    ///`migrated == Running`.
    Running,
    ///`migrated == Done`.
    Done,
    ///`migrated == Failed`.
    Failed,
}
impl Migrated {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Running, Self::Done, Self::Failed];
}
///Values of the fact `rolled`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rolled {
    ///`rolled == Waiting`.
    Waiting,
    ///`rolled == Yes`.
    Yes,
    ///`rolled == Stuck`.
    Stuck,
}
impl Rolled {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Waiting, Self::Yes, Self::Stuck];
}
/// One world: the answer to every finite question, those that inputs bring included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    ///Whether and how `config` is there.
    pub config: ::lifecycle_runtime::__private::Watched,
    ///Whether and how `job` is there.
    pub job: ::lifecycle_runtime::__private::Owned,
    ///Whether and how `deployment` is there.
    pub deployment: ::lifecycle_runtime::__private::Owned,
    ///The fact `version`.
    pub version: Version,
    ///The fact `migrated`.
    pub migrated: Migrated,
    ///The fact `rolled`.
    pub rolled: Rolled,
    ///The last answer to this very write of `apply_job` was a refusal.
    pub refused_apply_job: bool,
    ///The last answer to this very write of `apply_deployment` was a refusal.
    pub refused_apply_deployment: bool,
}
impl Facts {
    /// A world of the runtime, typed.
    pub fn of(world: &::lifecycle_runtime::__private::World) -> Self {
        Self {
            config: ::lifecycle_runtime::__private::Watched::VALUES[world.get(0usize)
                as usize],
            job: ::lifecycle_runtime::__private::Owned::VALUES[world.get(1usize)
                as usize],
            deployment: ::lifecycle_runtime::__private::Owned::VALUES[world.get(2usize)
                as usize],
            version: Version::VALUES[world.get(3usize) as usize],
            migrated: Migrated::VALUES[world.get(4usize) as usize],
            rolled: Rolled::VALUES[world.get(5usize) as usize],
            refused_apply_job: world.get(6usize) == 1,
            refused_apply_deployment: world.get(7usize) == 1,
        }
    }
}
/// Where an object is in its lifecycle; the first state that fits counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    ///A write was refused that no state mentions.
    Refused,
    ///The state `NoConfig`.
    NoConfig,
    ///The state `Conflict`.
    Conflict,
    ///The state `Draining`.
    Draining,
    ///The state `Migrating`.
    Migrating,
    ///The state `Failed`.
    Failed,
    ///The state `Waiting`.
    Waiting,
    ///The state `Rolling`.
    Rolling,
    ///The state `Settling`.
    Settling,
    ///The state `Stuck`.
    Stuck,
    ///The state `Ready`.
    Ready,
}
impl State {
    /// The one state of a world.
    pub const fn classify(facts: &Facts) -> Self {
        if facts.refused_apply_job || facts.refused_apply_deployment {
            return Self::Refused;
        }
        if !matches!(facts.config, ::lifecycle_runtime::__private::Watched::Present) {
            return Self::NoConfig;
        }
        if (false || matches!(facts.job, ::lifecycle_runtime::__private::Owned::Foreign)
            || matches!(
                facts.deployment, ::lifecycle_runtime::__private::Owned::Foreign
            ))
        {
            return Self::Conflict;
        }
        if matches!(
            facts.deployment, ::lifecycle_runtime::__private::Owned::Terminating
        ) {
            return Self::Draining;
        }
        if (true && matches!(facts.version, Version::New)
            && matches!(
                facts.job, ::lifecycle_runtime::__private::Owned::Absent |
                ::lifecycle_runtime::__private::Owned::Terminating
            ))
        {
            return Self::Migrating;
        }
        if (true && matches!(facts.version, Version::New)
            && matches!(facts.migrated, Migrated::Failed))
        {
            return Self::Failed;
        }
        if (true && matches!(facts.version, Version::New)
            && matches!(facts.migrated, Migrated::Running))
        {
            return Self::Waiting;
        }
        if matches!(
            facts.deployment, ::lifecycle_runtime::__private::Owned::Absent |
            ::lifecycle_runtime::__private::Owned::Stale
        ) {
            return Self::Rolling;
        }
        if matches!(facts.rolled, Rolled::Waiting) {
            return Self::Settling;
        }
        if matches!(facts.rolled, Rolled::Stuck) {
            return Self::Stuck;
        }
        Self::Ready
    }
}
const _: () = assert!(
    matches!(State::classify(& Facts { config :
    ::lifecycle_runtime::__private::Watched::Absent, job :
    ::lifecycle_runtime::__private::Owned::Absent, deployment :
    ::lifecycle_runtime::__private::Owned::Absent, version : Version::New, migrated :
    Migrated::Running, rolled : Rolled::Waiting, refused_apply_job : false,
    refused_apply_deployment : false }), State::NoConfig),
    "the emitted classification takes a world of `NoConfig` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { config :
    ::lifecycle_runtime::__private::Watched::Present, job :
    ::lifecycle_runtime::__private::Owned::Absent, deployment :
    ::lifecycle_runtime::__private::Owned::Foreign, version : Version::New, migrated :
    Migrated::Running, rolled : Rolled::Waiting, refused_apply_job : false,
    refused_apply_deployment : false }), State::Conflict),
    "the emitted classification takes a world of `Conflict` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { config :
    ::lifecycle_runtime::__private::Watched::Present, job :
    ::lifecycle_runtime::__private::Owned::Absent, deployment :
    ::lifecycle_runtime::__private::Owned::Terminating, version : Version::New, migrated
    : Migrated::Running, rolled : Rolled::Waiting, refused_apply_job : false,
    refused_apply_deployment : false }), State::Draining),
    "the emitted classification takes a world of `Draining` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { config :
    ::lifecycle_runtime::__private::Watched::Present, job :
    ::lifecycle_runtime::__private::Owned::Absent, deployment :
    ::lifecycle_runtime::__private::Owned::Absent, version : Version::New, migrated :
    Migrated::Running, rolled : Rolled::Waiting, refused_apply_job : false,
    refused_apply_deployment : false }), State::Migrating),
    "the emitted classification takes a world of `Migrating` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { config :
    ::lifecycle_runtime::__private::Watched::Present, job :
    ::lifecycle_runtime::__private::Owned::Stale, deployment :
    ::lifecycle_runtime::__private::Owned::Absent, version : Version::New, migrated :
    Migrated::Failed, rolled : Rolled::Waiting, refused_apply_job : false,
    refused_apply_deployment : false }), State::Failed),
    "the emitted classification takes a world of `Failed` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { config :
    ::lifecycle_runtime::__private::Watched::Present, job :
    ::lifecycle_runtime::__private::Owned::Stale, deployment :
    ::lifecycle_runtime::__private::Owned::Absent, version : Version::New, migrated :
    Migrated::Running, rolled : Rolled::Waiting, refused_apply_job : false,
    refused_apply_deployment : false }), State::Waiting),
    "the emitted classification takes a world of `Waiting` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { config :
    ::lifecycle_runtime::__private::Watched::Present, job :
    ::lifecycle_runtime::__private::Owned::Absent, deployment :
    ::lifecycle_runtime::__private::Owned::Stale, version : Version::Same, migrated :
    Migrated::Running, rolled : Rolled::Waiting, refused_apply_job : false,
    refused_apply_deployment : false }), State::Rolling),
    "the emitted classification takes a world of `Rolling` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { config :
    ::lifecycle_runtime::__private::Watched::Present, job :
    ::lifecycle_runtime::__private::Owned::Absent, deployment :
    ::lifecycle_runtime::__private::Owned::Current, version : Version::Same, migrated :
    Migrated::Running, rolled : Rolled::Waiting, refused_apply_job : false,
    refused_apply_deployment : false }), State::Settling),
    "the emitted classification takes a world of `Settling` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { config :
    ::lifecycle_runtime::__private::Watched::Present, job :
    ::lifecycle_runtime::__private::Owned::Absent, deployment :
    ::lifecycle_runtime::__private::Owned::Current, version : Version::Same, migrated :
    Migrated::Running, rolled : Rolled::Stuck, refused_apply_job : false,
    refused_apply_deployment : false }), State::Stuck),
    "the emitted classification takes a world of `Stuck` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { config :
    ::lifecycle_runtime::__private::Watched::Present, job :
    ::lifecycle_runtime::__private::Owned::Absent, deployment :
    ::lifecycle_runtime::__private::Owned::Current, version : Version::Same, migrated :
    Migrated::Running, rolled : Rolled::Yes, refused_apply_job : false,
    refused_apply_deployment : false }), State::Ready),
    "the emitted classification takes a world of `Ready` for another state"
);
/// What one pass observed.
#[derive(Clone)]
pub struct Seen<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, App>,
    ///The input `config`.
    pub config: ::std::option::Option<&'a ConfigMap>,
    ///The input `job`.
    pub job: ::std::option::Option<&'a Job>,
    ///The input `deployment`.
    pub deployment: ::std::option::Option<&'a Deployment>,
}
impl<'a> Seen<'a> {
    /// A board of the runtime, typed.
    pub fn of(
        board: &'a ::lifecycle_runtime::__private::Board,
    ) -> ::std::option::Option<Self> {
        ::std::option::Option::Some(Self {
            this: board.this::<App>()?,
            config: board.one::<ConfigMap>(0usize),
            job: board.one::<Job>(1usize),
            deployment: board.one::<Deployment>(2usize),
        })
    }
}
///Proof that everything is there that `apply_job` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyJob<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, App>,
    ///`config`, certainly there.
    pub config: &'a ConfigMap,
    _proved: (),
}
impl<'a> ApplyJob<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true
            && matches!(facts.config, ::lifecycle_runtime::__private::Watched::Present))
        {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            config: seen.config?,
            _proved: (),
        })
    }
}
///Proof that everything is there that `apply_deployment` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct ApplyDeployment<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, App>,
    ///`config`, certainly there.
    pub config: &'a ConfigMap,
    _proved: (),
}
impl<'a> ApplyDeployment<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true
            && matches!(facts.config, ::lifecycle_runtime::__private::Watched::Present))
        {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            config: seen.config?,
            _proved: (),
        })
    }
}
///What the author of `App` decides: pure but for calls and polls, each method with exactly its declared inputs.
#[allow(clippy::ptr_arg, reason = "a method gets its input as it was declared")]
pub trait AppLogic: ::std::marker::Send + ::std::marker::Sync + 'static {
    ///Which object `job` is.
    fn job(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, App>,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::ObjectRef>;
    ///Answers the fact `version`.
    fn version(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, App>,
        deployment: &Deployment,
    ) -> ::lifecycle_runtime::__private::Because<Version>;
    ///Answers the fact `migrated`.
    fn migrated(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, App>,
        job: &Job,
    ) -> ::lifecycle_runtime::__private::Because<Migrated>;
    ///Answers the fact `rolled`.
    fn rolled(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, App>,
        deployment: &Deployment,
    ) -> ::lifecycle_runtime::__private::Because<Rolled>;
    ///What `job` should be: only the fields that we want to own.
    fn apply_job(
        &self,
        at: ApplyJob<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<Job>;
    ///What `deployment` should be: only the fields that we want to own.
    fn apply_deployment(
        &self,
        at: ApplyDeployment<'_>,
    ) -> ::lifecycle_runtime::__private::Desired<Deployment>;
}
///The lifecycle of `App` with the logic of its author.
#[derive(Clone, Debug)]
pub struct AppMachine<L>(L);
/// Ties the logic to the lifecycle.
pub fn machine<L: AppLogic>(logic: L) -> AppMachine<L> {
    AppMachine(logic)
}
#[allow(unused_variables, reason = "a lifecycle need not use every argument")]
impl<L: AppLogic> ::lifecycle_runtime::__private::Machine for AppMachine<L> {
    fn ir(&self) -> &'static ::lifecycle_runtime::__private::ir::Lifecycle {
        IR
    }
    fn subject(&self) -> ::std::option::Option<::lifecycle_runtime::__private::Kind> {
        ::std::option::Option::Some(::lifecycle_runtime::__private::Kind::of::<App>())
    }
    fn kind(
        &self,
        input: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Kind> {
        match input {
            0usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<ConfigMap>(),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<Job>(),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<Deployment>(),
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
                            &board.this::<App>()?.spec.config,
                        ),
                    ),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_ref(
                        self.0.job(board.this::<App>()?),
                    ),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &board.this::<App>()?.meta.name,
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
            _ => ::std::option::Option::None,
        }
    }
    fn fact(
        &self,
        board: &::lifecycle_runtime::__private::Board,
        var: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Answer> {
        match var {
            3usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .version(board.this::<App>()?, board.one::<Deployment>(2usize)?)
                        .map(|value| value as u8),
                )
            }
            4usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .migrated(board.this::<App>()?, board.one::<Job>(1usize)?)
                        .map(|value| value as u8),
                )
            }
            5usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .rolled(board.this::<App>()?, board.one::<Deployment>(2usize)?)
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
                        Job,
                    >::into_built(self.0.apply_job(ApplyJob::at(&seen, &facts)?)),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        Deployment,
                    >::into_built(
                        self.0.apply_deployment(ApplyDeployment::at(&seen, &facts)?),
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
        name: "App",
        doc: "An application whose database is migrated before its new version is rolled out.",
        inputs: &[
            ir::Input {
                name: "config",
                doc: "",
                mode: ir::Mode::Watched,
                many: false,
                kind: "ConfigMap",
                lookup: ir::Lookup::Name("spec.config"),
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(0usize),
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "job",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "Job",
                lookup: ir::Lookup::Ref,
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(1usize),
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "deployment",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "Deployment",
                lookup: ir::Lookup::Name("metadata.name"),
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(2usize),
                owner: ::std::option::Option::None,
                whole: &[],
            },
        ],
        values: &[],
        vars: &[
            ir::Var {
                name: "config",
                doc: "",
                origin: ir::Origin::Input(0usize),
                values: &["Absent", "Present"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "job",
                doc: "",
                origin: ir::Origin::Input(1usize),
                values: &["Absent", "Foreign", "Terminating", "Stale", "Current"],
                answers: 5u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "deployment",
                doc: "",
                origin: ir::Origin::Input(2usize),
                values: &["Absent", "Foreign", "Terminating", "Stale", "Current"],
                answers: 5u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "version",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Same", "New"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(2usize, 24u64),
                        otherwise: 1u8,
                    },
                ],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "migrated",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Running", "Done", "Failed"],
                answers: 3u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(1usize, 24u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "rolled",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Waiting", "Yes", "Stuck"],
                answers: 3u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Is(2usize, 16u64),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "apply_job",
                doc: "",
                origin: ir::Origin::Refused(0usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "apply_deployment",
                doc: "",
                origin: ir::Origin::Refused(1usize),
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
            ir::Node::Var(2usize),
            ir::Node::Var(3usize),
            ir::Node::Var(4usize),
            ir::Node::Var(5usize),
            ir::Node::Var(6usize),
            ir::Node::Var(7usize),
        ],
        nevers: &[],
        states: &[
            ir::State {
                name: "NoConfig",
                doc: "",
                goal: false,
                when: ir::Pred::Not(&ir::Pred::Is(0usize, 2u64)),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(&[ir::Source::Input(0usize)]),
                overdue: 600000u64,
            },
            ir::State {
                name: "Conflict",
                doc: "",
                goal: false,
                when: ir::Pred::Any(
                    &[ir::Pred::Is(1usize, 2u64), ir::Pred::Is(2usize, 2u64)],
                ),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::Input(1usize), ir::Source::Input(2usize)],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Draining",
                doc: "",
                goal: false,
                when: ir::Pred::Is(2usize, 4u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Migrating",
                doc: "",
                goal: false,
                when: ir::Pred::All(
                    &[ir::Pred::Is(3usize, 2u64), ir::Pred::Is(1usize, 5u64)],
                ),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Failed",
                doc: "",
                goal: false,
                when: ir::Pred::All(
                    &[ir::Pred::Is(3usize, 2u64), ir::Pred::Is(4usize, 4u64)],
                ),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[ir::Source::This, ir::Source::Input(1usize)],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Waiting",
                doc: "",
                goal: false,
                when: ir::Pred::All(
                    &[ir::Pred::Is(3usize, 2u64), ir::Pred::Is(4usize, 1u64)],
                ),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 1800000u64,
            },
            ir::State {
                name: "Rolling",
                doc: "",
                goal: false,
                when: ir::Pred::Is(2usize, 9u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Settling",
                doc: "",
                goal: false,
                when: ir::Pred::Is(5usize, 1u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Stuck",
                doc: "",
                goal: false,
                when: ir::Pred::Is(5usize, 4u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(
                    &[
                        ir::Source::This,
                        ir::Source::Input(0usize),
                        ir::Source::Input(2usize),
                    ],
                ),
                overdue: 600000u64,
            },
            ir::State {
                name: "Ready",
                doc: "",
                goal: true,
                when: ir::Pred::Is(5usize, 2u64),
                phase: ir::Phase::Ready,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
        ],
        effects: &[
            ir::Effect {
                name: "apply_job",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 1usize,
                from: &[ir::Source::Input(0usize)],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[
                            ir::Pred::Is(3usize, 2u64),
                            ir::Pred::Is(1usize, 1u64),
                            ir::Pred::Not(&ir::Pred::Is(2usize, 6u64)),
                        ],
                    ),
                ),
                sets: &[&[(1usize, 4u8)]],
                affects: &[1usize, 4usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                refused: 6usize,
            },
            ir::Effect {
                name: "apply_deployment",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 2usize,
                from: &[ir::Source::Input(0usize)],
                when: ::std::option::Option::Some(
                    ir::Pred::Any(
                        &[ir::Pred::Is(3usize, 1u64), ir::Pred::Is(4usize, 2u64)],
                    ),
                ),
                sets: &[&[(2usize, 4u8)]],
                affects: &[2usize, 3usize, 5usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                refused: 7usize,
            },
        ],
        promises: &[
            ir::Promise {
                name: "finishes",
                when: ir::Pred::Is(4usize, 1u64),
                sets: &[&[(4usize, 1u8)], &[(4usize, 2u8)]],
            },
            ir::Promise {
                name: "rolls",
                when: ir::Pred::Is(5usize, 1u64),
                sets: &[&[(5usize, 1u8)], &[(5usize, 2u8)]],
            },
        ],
        edges: &[
            (2usize, 3usize),
            (2usize, 4usize),
            (2usize, 5usize),
            (2usize, 6usize),
            (3usize, 4usize),
            (3usize, 5usize),
            (3usize, 6usize),
            (3usize, 7usize),
            (3usize, 8usize),
            (3usize, 9usize),
            (5usize, 4usize),
            (5usize, 6usize),
            (5usize, 7usize),
            (5usize, 8usize),
            (5usize, 9usize),
            (6usize, 3usize),
            (6usize, 4usize),
            (6usize, 5usize),
            (6usize, 7usize),
            (6usize, 8usize),
            (6usize, 9usize),
            (7usize, 8usize),
            (7usize, 9usize),
        ],
        conditions: &[
            ir::Condition {
                name: "Migrated",
                doc: "",
                clauses: &[
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "MigrationFailed",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::All(
                                &[ir::Pred::Is(3usize, 2u64), ir::Pred::Is(4usize, 4u64)],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "NoConfig",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::Not(&ir::Pred::Is(0usize, 2u64)),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "NameTaken",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::Any(
                                &[ir::Pred::Is(1usize, 2u64), ir::Pred::Is(2usize, 2u64)],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Migrated",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(
                            ir::Pred::Any(
                                &[ir::Pred::Is(3usize, 1u64), ir::Pred::Is(4usize, 2u64)],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::Unknown,
                        reason: "Migrating",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::None,
                    },
                ],
            },
            ir::Condition {
                name: "Available",
                doc: "",
                clauses: &[
                    ir::Clause {
                        says: ir::Says::True,
                        reason: "Available",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(5usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "RolloutStuck",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(5usize, 4u64)),
                    },
                    ir::Clause {
                        says: ir::Says::Unknown,
                        reason: "RollingOut",
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
        texts: &[],
        fields: &[],
        columns: &[],
        volume: false,
        calls: &[],
    }
};
