//! What `scratch.txt` expands to; written by the test `expand`.

///Values of the fact `asked`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    ///`asked == Mount`.
    Mount,
    ///`asked == Block`.
    Block,
}
impl Asked {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Mount, Self::Block];
}
///Values of the fact `same`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Same {
    ///`same == Yes`.
    Yes,
    ///`same == No`.
    No,
}
impl Same {
    /// All values in the order of worlds.
    pub const VALUES: &'static [Self] = &[Self::Yes, Self::No];
}
/// One world: the answer to every finite question, those that inputs bring included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    ///The fact `asked`.
    pub asked: Asked,
    ///The fact `found`.
    pub found: bool,
    ///The fact `staged`.
    pub staged: bool,
    ///The fact `published`.
    pub published: bool,
    ///The fact `same`.
    pub same: Same,
    ///The last answer to this very write of `stage` was a refusal.
    pub refused_stage: bool,
    ///The last answer to this very write of `publish` was a refusal.
    pub refused_publish: bool,
    ///The last answer to this very write of `unpublish` was a refusal.
    pub refused_unpublish: bool,
    ///The last answer to this very write of `unstage` was a refusal.
    pub refused_unstage: bool,
}
impl Facts {
    /// A world of the runtime, typed.
    pub fn of(world: &::lifecycle_runtime::__private::World) -> Self {
        Self {
            asked: Asked::VALUES[world.get(0usize) as usize],
            found: world.get(1usize) == 1,
            staged: world.get(2usize) == 1,
            published: world.get(3usize) == 1,
            same: Same::VALUES[world.get(4usize) as usize],
            refused_stage: world.get(5usize) == 1,
            refused_publish: world.get(6usize) == 1,
            refused_unpublish: world.get(7usize) == 1,
            refused_unstage: world.get(8usize) == 1,
        }
    }
}
/// Where an object is in its lifecycle; the first state that fits counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    ///The state `Created`.
    Created,
    ///The state `Staged`.
    Staged,
    ///The state `Published`.
    Published,
}
impl State {
    /// The one state of a world.
    pub const fn classify(facts: &Facts) -> Self {
        if !facts.staged {
            return Self::Created;
        }
        if !facts.published {
            return Self::Staged;
        }
        Self::Published
    }
}
const _: () = assert!(
    matches!(State::classify(& Facts { asked : Asked::Mount, found : false, staged :
    false, published : false, same : Same::Yes, refused_stage : false, refused_publish :
    false, refused_unpublish : false, refused_unstage : false }), State::Created),
    "the emitted classification takes a world of `Created` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { asked : Asked::Mount, found : false, staged :
    true, published : false, same : Same::Yes, refused_stage : false, refused_publish :
    false, refused_unpublish : false, refused_unstage : false }), State::Staged),
    "the emitted classification takes a world of `Staged` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { asked : Asked::Mount, found : false, staged :
    true, published : true, same : Same::Yes, refused_stage : false, refused_publish :
    false, refused_unpublish : false, refused_unstage : false }), State::Published),
    "the emitted classification takes a world of `Published` for another state"
);
/// What one pass observed.
#[derive(Clone)]
pub struct Seen<'a> {
    /// What the caller asks, without its secrets.
    pub request: ::lifecycle_runtime::__private::Request<'a>,
    ///The input `backing`.
    pub backing: ::std::option::Option<&'a Directory>,
    ///The input `mounts`.
    pub mounts: ::std::option::Option<&'a MountTable>,
}
impl<'a> Seen<'a> {
    /// A board of the runtime, typed.
    pub fn of(
        board: &'a ::lifecycle_runtime::__private::Board,
    ) -> ::std::option::Option<Self> {
        ::std::option::Option::Some(Self {
            request: board.request()?,
            backing: board.one::<Directory>(0usize),
            mounts: board.one::<MountTable>(1usize),
        })
    }
}
///Proof that everything is there that `stage` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct Stage<'a> {
    /// What the caller asks, without its secrets.
    pub request: ::lifecycle_runtime::__private::Request<'a>,
    _proved: (),
}
impl<'a> Stage<'a> {
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
///What `stage` may end with, in order of its `sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageResult {
    ///`staged = true`.
    Staged,
}
impl StageResult {
    fn alternative(&self) -> usize {
        *self as usize
    }
}
///Proof that everything is there that `publish` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct Publish<'a> {
    /// What the caller asks, without its secrets.
    pub request: ::lifecycle_runtime::__private::Request<'a>,
    _proved: (),
}
impl<'a> Publish<'a> {
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
///What `publish` may end with, in order of its `sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishResult {
    ///`published = true`.
    Published,
}
impl PublishResult {
    fn alternative(&self) -> usize {
        *self as usize
    }
}
///Proof that everything is there that `unpublish` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct Unpublish<'a> {
    /// What the caller asks, without its secrets.
    pub request: ::lifecycle_runtime::__private::Request<'a>,
    _proved: (),
}
impl<'a> Unpublish<'a> {
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
///What `unpublish` may end with, in order of its `sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnpublishResult {
    ///`published = false`.
    NotPublished,
}
impl UnpublishResult {
    fn alternative(&self) -> usize {
        *self as usize
    }
}
///Proof that everything is there that `unstage` is built from.
#[allow(clippy::manual_non_exhaustive, reason = "the private field is the proof")]
#[derive(Clone)]
pub struct Unstage<'a> {
    /// What the caller asks, without its secrets.
    pub request: ::lifecycle_runtime::__private::Request<'a>,
    _proved: (),
}
impl<'a> Unstage<'a> {
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
///What `unstage` may end with, in order of its `sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnstageResult {
    ///`staged = false`.
    NotStaged,
}
impl UnstageResult {
    fn alternative(&self) -> usize {
        *self as usize
    }
}
///What the author of `ScratchMount` decides: pure but for calls and polls, each method with exactly its declared inputs.
#[allow(clippy::ptr_arg, reason = "a method gets its input as it was declared")]
pub trait ScratchMountLogic: ::std::marker::Send + ::std::marker::Sync + 'static {
    ///Looks at `backing` on this node, once in a call.
    fn probe_backing(
        &self,
        volume_id: &str,
    ) -> impl ::std::future::Future<
        Output = ::std::result::Result<
            Directory,
            ::lifecycle_runtime::__private::CallError,
        >,
    > + ::std::marker::Send;
    ///Looks at `mounts` on this node, once in a call.
    fn probe_mounts(
        &self,
        volume_id: &str,
    ) -> impl ::std::future::Future<
        Output = ::std::result::Result<
            MountTable,
            ::lifecycle_runtime::__private::CallError,
        >,
    > + ::std::marker::Send;
    ///Answers the fact `asked`.
    fn asked(
        &self,
        request: ::lifecycle_runtime::__private::Request<'_>,
    ) -> ::lifecycle_runtime::__private::Because<Asked>;
    ///Answers the fact `found`.
    fn found(
        &self,
        backing: ::std::option::Option<&Directory>,
    ) -> ::lifecycle_runtime::__private::Because<bool>;
    ///Answers the fact `staged`.
    fn staged(
        &self,
        mounts: ::std::option::Option<&MountTable>,
    ) -> ::lifecycle_runtime::__private::Because<bool>;
    ///Answers the fact `published`.
    fn published(
        &self,
        mounts: ::std::option::Option<&MountTable>,
    ) -> ::lifecycle_runtime::__private::Because<bool>;
    ///Answers the fact `same`.
    fn same(
        &self,
        request: ::lifecycle_runtime::__private::Request<'_>,
        mounts: ::std::option::Option<&MountTable>,
    ) -> ::lifecycle_runtime::__private::Because<Same>;
    ///Runs `stage`: one mutation, which consumes `once`.
    fn stage(
        &self,
        at: Stage<'_>,
        once: ::lifecycle_runtime::__private::Once<'_>,
    ) -> impl ::std::future::Future<
        Output = ::lifecycle_runtime::__private::Outcome<StageResult>,
    > + ::std::marker::Send;
    ///Runs `publish`: one mutation, which consumes `once`.
    fn publish(
        &self,
        at: Publish<'_>,
        once: ::lifecycle_runtime::__private::Once<'_>,
    ) -> impl ::std::future::Future<
        Output = ::lifecycle_runtime::__private::Outcome<PublishResult>,
    > + ::std::marker::Send;
    ///Runs `unpublish`: one mutation, which consumes `once`.
    fn unpublish(
        &self,
        at: Unpublish<'_>,
        once: ::lifecycle_runtime::__private::Once<'_>,
    ) -> impl ::std::future::Future<
        Output = ::lifecycle_runtime::__private::Outcome<UnpublishResult>,
    > + ::std::marker::Send;
    ///Runs `unstage`: one mutation, which consumes `once`.
    fn unstage(
        &self,
        at: Unstage<'_>,
        once: ::lifecycle_runtime::__private::Once<'_>,
    ) -> impl ::std::future::Future<
        Output = ::lifecycle_runtime::__private::Outcome<UnstageResult>,
    > + ::std::marker::Send;
}
///The lifecycle of `ScratchMount` with the logic of its author.
#[derive(Clone, Debug)]
pub struct ScratchMountMachine<L>(L);
/// Ties the logic to the lifecycle.
pub fn machine<L: ScratchMountLogic>(logic: L) -> ScratchMountMachine<L> {
    ScratchMountMachine(logic)
}
#[allow(unused_variables, reason = "a lifecycle need not use every argument")]
impl<L: ScratchMountLogic> ::lifecycle_runtime::__private::Machine
for ScratchMountMachine<L> {
    fn ir(&self) -> &'static ::lifecycle_runtime::__private::ir::Lifecycle {
        IR
    }
    fn kind(
        &self,
        input: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Kind> {
        match input {
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
                    ::lifecycle_runtime::__private::look_key(
                        ::lifecycle_runtime::__private::Text::text(
                            &board.request()?.text("volume_id"),
                        ),
                    ),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_key(
                        ::lifecycle_runtime::__private::Text::text(
                            &board.request()?.text("volume_id"),
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
            0usize => {
                ::std::option::Option::Some(
                    self.0.asked(board.request()?).map(|value| value as u8),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    self.0.found(board.one::<Directory>(0usize)).map(|value| value as u8),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .staged(board.one::<MountTable>(1usize))
                        .map(|value| value as u8),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .published(board.one::<MountTable>(1usize))
                        .map(|value| value as u8),
                )
            }
            4usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .same(board.request()?, board.one::<MountTable>(1usize))
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
            0usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::polling(
                        self.0.probe_backing(board.request()?.text("volume_id")?),
                    ),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::polling(
                        self.0.probe_mounts(board.request()?.text("volume_id")?),
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
                    &board.request()?.text("volume_id"),
                )
            }
            1usize => {
                ::lifecycle_runtime::__private::Text::text(
                    &board.request()?.text("target_path"),
                )
            }
            2usize => {
                ::lifecycle_runtime::__private::Text::text(
                    &board.request()?.text("target_path"),
                )
            }
            3usize => {
                ::lifecycle_runtime::__private::Text::text(
                    &board.request()?.text("volume_id"),
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
                        self.0.stage(Stage::at(&seen, &facts)?, once),
                        StageResult::alternative,
                    ),
                )
            }
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::calling(
                        self.0.publish(Publish::at(&seen, &facts)?, once),
                        PublishResult::alternative,
                    ),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::calling(
                        self.0.unpublish(Unpublish::at(&seen, &facts)?, once),
                        UnpublishResult::alternative,
                    ),
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::calling(
                        self.0.unstage(Unstage::at(&seen, &facts)?, once),
                        UnstageResult::alternative,
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
        name: "ScratchMount",
        doc: "The node side of a plain directory volume with staging: the smallest driver that runs all of csi-sanity's node specs.",
        inputs: &[
            ir::Input {
                name: "backing",
                doc: "",
                mode: ir::Mode::Probe,
                many: false,
                kind: "Directory",
                lookup: ir::Lookup::Key,
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "mounts",
                doc: "",
                mode: ir::Mode::Probe,
                many: false,
                kind: "MountTable",
                lookup: ir::Lookup::Key,
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::None,
                owner: ::std::option::Option::None,
                whole: &[],
            },
        ],
        values: &[],
        vars: &[
            ir::Var {
                name: "asked",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Mount", "Block"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "found",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "staged",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::Some(1u64),
            },
            ir::Var {
                name: "published",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::Some(1u64),
            },
            ir::Var {
                name: "same",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["Yes", "No"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Any(
                            &[ir::Pred::Is(2usize, 2u64), ir::Pred::Is(3usize, 2u64)],
                        ),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "stage",
                doc: "",
                origin: ir::Origin::Refused(0usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "publish",
                doc: "",
                origin: ir::Origin::Refused(1usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "unpublish",
                doc: "",
                origin: ir::Origin::Refused(2usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "unstage",
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
            ir::Node::Var(0usize),
            ir::Node::Var(1usize),
            ir::Node::Var(2usize),
            ir::Node::Var(3usize),
            ir::Node::Var(4usize),
            ir::Node::Var(5usize),
            ir::Node::Var(6usize),
            ir::Node::Var(7usize),
            ir::Node::Var(8usize),
        ],
        nevers: &[
            ir::Pred::All(
                &[ir::Pred::Is(3usize, 2u64), ir::Pred::Not(&ir::Pred::Is(2usize, 2u64))],
            ),
        ],
        states: &[
            ir::State {
                name: "Created",
                doc: "",
                goal: false,
                when: ir::Pred::Not(&ir::Pred::Is(2usize, 2u64)),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Staged",
                doc: "",
                goal: false,
                when: ir::Pred::Not(&ir::Pred::Is(3usize, 2u64)),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Published",
                doc: "",
                goal: false,
                when: ir::Pred::Is(3usize, 2u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
        ],
        effects: &[
            ir::Effect {
                name: "stage",
                doc: "",
                verb: ir::Verb::Call,
                each: false,
                target: 1usize,
                from: &[],
                when: ::std::option::Option::Some(ir::Pred::Is(1usize, 2u64)),
                sets: &[&[(2usize, 1u8)]],
                affects: &[2usize, 3usize, 4usize],
                undo: ::std::option::Option::Some(3usize),
                is_undo: false,
                refused: 5usize,
            },
            ir::Effect {
                name: "publish",
                doc: "",
                verb: ir::Verb::Call,
                each: false,
                target: 1usize,
                from: &[],
                when: ::std::option::Option::Some(ir::Pred::Is(2usize, 2u64)),
                sets: &[&[(3usize, 1u8)]],
                affects: &[2usize, 3usize, 4usize],
                undo: ::std::option::Option::Some(2usize),
                is_undo: false,
                refused: 6usize,
            },
            ir::Effect {
                name: "unpublish",
                doc: "",
                verb: ir::Verb::Call,
                each: false,
                target: 1usize,
                from: &[],
                when: ::std::option::Option::None,
                sets: &[&[(3usize, 0u8)]],
                affects: &[2usize, 3usize, 4usize],
                undo: ::std::option::Option::None,
                is_undo: true,
                refused: 7usize,
            },
            ir::Effect {
                name: "unstage",
                doc: "",
                verb: ir::Verb::Call,
                each: false,
                target: 1usize,
                from: &[],
                when: ::std::option::Option::Some(
                    ir::Pred::Not(&ir::Pred::Is(3usize, 2u64)),
                ),
                sets: &[&[(2usize, 0u8)]],
                affects: &[2usize, 3usize, 4usize],
                undo: ::std::option::Option::None,
                is_undo: true,
                refused: 8usize,
            },
        ],
        promises: &[],
        edges: &[],
        conditions: &[],
        ready: ir::RollUp {
            from: &[],
            reason: "Ready",
            message: &[],
        },
        implicit: ::std::option::Option::None,
        texts: &[],
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
                        limit: ::std::option::Option::Some(4096usize),
                    },
                ],
                key: &["volume_id", "staging_target_path"],
                words: &[
                    ir::Word {
                        name: "unfit",
                        code: ir::Code::FailedPrecondition,
                        when: ir::Pred::Not(&ir::Pred::Is(0usize, 1u64)),
                    },
                    ir::Word {
                        name: "unknown",
                        code: ir::Code::NotFound,
                        when: ir::Pred::Not(&ir::Pred::Is(1usize, 2u64)),
                    },
                    ir::Word {
                        name: "differs",
                        code: ir::Code::AlreadyExists,
                        when: ir::Pred::Is(4usize, 2u64),
                    },
                ],
                target: ir::Target::Pred(ir::Pred::Is(2usize, 2u64)),
                refusals: &[
                    ir::Refusal {
                        when: ir::Pred::Is(5usize, 2u64),
                        code: ir::Code::Internal,
                        why: ::std::option::Option::None,
                    },
                ],
                by: &[0usize],
                within: ::std::option::Option::None,
                opposite: ::std::option::Option::Some(1usize),
                unseen_inputs: &[],
                unseen_vars: &[],
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
                words: &[],
                target: ir::Target::State(0usize),
                refusals: &[
                    ir::Refusal {
                        when: ir::Pred::Is(3usize, 2u64),
                        code: ir::Code::FailedPrecondition,
                        why: ::std::option::Option::None,
                    },
                    ir::Refusal {
                        when: ir::Pred::Is(8usize, 2u64),
                        code: ir::Code::Internal,
                        why: ::std::option::Option::None,
                    },
                ],
                by: &[3usize],
                within: ::std::option::Option::None,
                opposite: ::std::option::Option::Some(0usize),
                unseen_inputs: &[],
                unseen_vars: &[0usize, 4usize],
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
                        limit: ::std::option::Option::Some(4096usize),
                    },
                ],
                key: &["volume_id", "target_path"],
                words: &[
                    ir::Word {
                        name: "unfit",
                        code: ir::Code::FailedPrecondition,
                        when: ir::Pred::Not(&ir::Pred::Is(0usize, 1u64)),
                    },
                    ir::Word {
                        name: "unknown",
                        code: ir::Code::NotFound,
                        when: ir::Pred::Not(&ir::Pred::Is(1usize, 2u64)),
                    },
                    ir::Word {
                        name: "unstaged",
                        code: ir::Code::FailedPrecondition,
                        when: ir::Pred::Not(&ir::Pred::Is(2usize, 2u64)),
                    },
                    ir::Word {
                        name: "differs",
                        code: ir::Code::AlreadyExists,
                        when: ir::Pred::Is(4usize, 2u64),
                    },
                ],
                target: ir::Target::State(2usize),
                refusals: &[
                    ir::Refusal {
                        when: ir::Pred::Is(6usize, 2u64),
                        code: ir::Code::Internal,
                        why: ::std::option::Option::None,
                    },
                ],
                by: &[1usize],
                within: ::std::option::Option::None,
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
                words: &[],
                target: ir::Target::Pred(ir::Pred::Not(&ir::Pred::Is(3usize, 2u64))),
                refusals: &[
                    ir::Refusal {
                        when: ir::Pred::Is(7usize, 2u64),
                        code: ir::Code::Internal,
                        why: ::std::option::Option::None,
                    },
                ],
                by: &[2usize],
                within: ::std::option::Option::None,
                opposite: ::std::option::Option::Some(2usize),
                unseen_inputs: &[],
                unseen_vars: &[0usize, 4usize],
            },
        ],
    }
};
