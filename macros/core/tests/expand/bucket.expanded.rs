//! What `bucket.txt` expands to; written by the test `expand`.

///Values of the fact `bucket`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
/// One world: the answer to every finite question, those that inputs bring included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    ///The object has a deletion timestamp.
    pub deleting: bool,
    ///Our finalizer is on the object.
    pub claimed: bool,
    ///Whether and how `handle` is there.
    pub handle: ::lifecycle_runtime::__private::Part,
    ///Whether and how `store` is there.
    pub store: ::lifecycle_runtime::__private::Polled,
    ///Whether and how `secret` is there.
    pub secret: ::lifecycle_runtime::__private::Owned,
    ///The fact `bucket`.
    pub bucket: BucketValue,
    ///The last answer to this very write of `drop_bucket` was a refusal.
    pub refused_drop_bucket: bool,
    ///The last answer to this very write of `apply_handle` was a refusal.
    pub refused_apply_handle: bool,
    ///The last answer to this very write of `put_bucket` was a refusal.
    pub refused_put_bucket: bool,
    ///The last answer to this very write of `apply_secret` was a refusal.
    pub refused_apply_secret: bool,
}
impl Facts {
    /// A world of the runtime, typed.
    pub fn of(world: &::lifecycle_runtime::__private::World) -> Self {
        Self {
            deleting: world.get(0usize) == 1,
            claimed: world.get(1usize) == 1,
            handle: ::lifecycle_runtime::__private::Part::VALUES[world.get(2usize)
                as usize],
            store: ::lifecycle_runtime::__private::Polled::VALUES[world.get(3usize)
                as usize],
            secret: ::lifecycle_runtime::__private::Owned::VALUES[world.get(4usize)
                as usize],
            bucket: BucketValue::VALUES[world.get(5usize) as usize],
            refused_drop_bucket: world.get(6usize) == 1,
            refused_apply_handle: world.get(7usize) == 1,
            refused_put_bucket: world.get(8usize) == 1,
            refused_apply_secret: world.get(9usize) == 1,
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
    ///The state `Ready`.
    Ready,
}
impl State {
    /// The one state of a world.
    pub const fn classify(facts: &Facts) -> Self {
        if facts.deleting {
            return Self::Deleting;
        }
        if facts.refused_drop_bucket || facts.refused_apply_handle
            || facts.refused_apply_secret
        {
            return Self::Refused;
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
        if matches!(facts.secret, ::lifecycle_runtime::__private::Owned::Foreign) {
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
        Self::Ready
    }
}
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, handle :
    ::lifecycle_runtime::__private::Part::Absent, store :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, bucket : BucketValue::No,
    refused_drop_bucket : false, refused_apply_handle : false, refused_put_bucket :
    false, refused_apply_secret : false }), State::Unrecorded),
    "the emitted classification takes a world of `Unrecorded` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, handle :
    ::lifecycle_runtime::__private::Part::Stale, store :
    ::lifecycle_runtime::__private::Polled::Unknown, secret :
    ::lifecycle_runtime::__private::Owned::Absent, bucket : BucketValue::Unknown,
    refused_drop_bucket : false, refused_apply_handle : false, refused_put_bucket :
    false, refused_apply_secret : false }), State::Unreachable),
    "the emitted classification takes a world of `Unreachable` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, handle :
    ::lifecycle_runtime::__private::Part::Stale, store :
    ::lifecycle_runtime::__private::Polled::Known, secret :
    ::lifecycle_runtime::__private::Owned::Absent, bucket : BucketValue::No,
    refused_drop_bucket : false, refused_apply_handle : false, refused_put_bucket :
    false, refused_apply_secret : false }), State::Moving),
    "the emitted classification takes a world of `Moving` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, secret :
    ::lifecycle_runtime::__private::Owned::Absent, bucket : BucketValue::Taken,
    refused_drop_bucket : false, refused_apply_handle : false, refused_put_bucket :
    false, refused_apply_secret : false }), State::Taken),
    "the emitted classification takes a world of `Taken` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, secret :
    ::lifecycle_runtime::__private::Owned::Absent, bucket : BucketValue::No,
    refused_drop_bucket : false, refused_apply_handle : false, refused_put_bucket : true,
    refused_apply_secret : false }), State::Rejected),
    "the emitted classification takes a world of `Rejected` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : false, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, secret :
    ::lifecycle_runtime::__private::Owned::Absent, bucket : BucketValue::No,
    refused_drop_bucket : false, refused_apply_handle : false, refused_put_bucket :
    false, refused_apply_secret : false }), State::Making),
    "the emitted classification takes a world of `Making` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, secret :
    ::lifecycle_runtime::__private::Owned::Foreign, bucket : BucketValue::Current,
    refused_drop_bucket : false, refused_apply_handle : false, refused_put_bucket :
    false, refused_apply_secret : false }), State::Conflict),
    "the emitted classification takes a world of `Conflict` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, secret :
    ::lifecycle_runtime::__private::Owned::Terminating, bucket : BucketValue::Current,
    refused_drop_bucket : false, refused_apply_handle : false, refused_put_bucket :
    false, refused_apply_secret : false }), State::Draining),
    "the emitted classification takes a world of `Draining` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, secret :
    ::lifecycle_runtime::__private::Owned::Absent, bucket : BucketValue::Current,
    refused_drop_bucket : false, refused_apply_handle : false, refused_put_bucket :
    false, refused_apply_secret : false }), State::Publishing),
    "the emitted classification takes a world of `Publishing` for another state"
);
const _: () = assert!(
    matches!(State::classify(& Facts { deleting : false, claimed : true, handle :
    ::lifecycle_runtime::__private::Part::Current, store :
    ::lifecycle_runtime::__private::Polled::Known, secret :
    ::lifecycle_runtime::__private::Owned::Current, bucket : BucketValue::Current,
    refused_drop_bucket : false, refused_apply_handle : false, refused_put_bucket :
    false, refused_apply_secret : false }), State::Ready),
    "the emitted classification takes a world of `Ready` for another state"
);
/// What one pass observed.
#[derive(Clone)]
pub struct Seen<'a> {
    /// The object itself, without its status.
    pub this: ::lifecycle_runtime::__private::This<'a, Bucket>,
    ///The input `handle`.
    pub handle: ::std::option::Option<&'a String>,
    ///The input `store`.
    pub store: ::std::option::Option<&'a BucketInfo>,
    ///The input `secret`.
    pub secret: ::std::option::Option<&'a Secret>,
}
impl<'a> Seen<'a> {
    /// A board of the runtime, typed.
    pub fn of(
        board: &'a ::lifecycle_runtime::__private::Board,
    ) -> ::std::option::Option<Self> {
        ::std::option::Option::Some(Self {
            this: board.this::<Bucket>()?,
            handle: board.one::<String>(0usize),
            store: board.one::<BucketInfo>(1usize),
            secret: board.one::<Secret>(2usize),
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
    _proved: (),
}
impl<'a> PutBucket<'a> {
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
///What `put_bucket` may end with, in order of its `sets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    _proved: (),
}
impl<'a> ApplySecret<'a> {
    /// The proof, where it can be given.
    #[allow(unused_variables, reason = "an effect may need nothing but the object")]
    pub fn at(seen: &Seen<'a>, facts: &Facts) -> ::std::option::Option<Self> {
        if !(true
            && matches!(facts.store, ::lifecycle_runtime::__private::Polled::Known))
        {
            return ::std::option::Option::None;
        }
        ::std::option::Option::Some(Self {
            this: seen.this,
            store: seen.store?,
            _proved: (),
        })
    }
}
///What the author of `Bucket` decides: pure but for calls and polls, each method with exactly its declared inputs.
#[allow(clippy::ptr_arg, reason = "a method gets its input as it was declared")]
pub trait BucketLogic: ::std::marker::Send + ::std::marker::Sync + 'static {
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
    ///Answers the fact `bucket`.
    fn bucket(
        &self,
        this: ::lifecycle_runtime::__private::This<'_, Bucket>,
        store: &BucketInfo,
    ) -> ::lifecycle_runtime::__private::Because<BucketValue>;
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
        ::std::option::Option::Some(::lifecycle_runtime::__private::Kind::of::<Bucket>())
    }
    fn kind(
        &self,
        input: usize,
    ) -> ::std::option::Option<::lifecycle_runtime::__private::Kind> {
        match input {
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Kind::of::<Secret>(),
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
            0usize => ::lifecycle_runtime::__private::recalled::<String>(recorded),
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
                    ::lifecycle_runtime::__private::look_key(board.identity(0usize)),
                )
            }
            2usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::look_name(
                        ::lifecycle_runtime::__private::Text::text(
                            &board.this::<Bucket>()?.meta.name,
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
            5usize => {
                ::std::option::Option::Some(
                    self
                        .0
                        .bucket(
                            board.this::<Bucket>()?,
                            board.one::<BucketInfo>(1usize)?,
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
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::recorded(
                        &self.0.apply_handle(ApplyHandle::at(&seen, &facts)?),
                    )?,
                )
            }
            3usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::Desired::<
                        Secret,
                    >::into_built(self.0.apply_secret(ApplySecret::at(&seen, &facts)?)),
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
            1usize => {
                ::std::option::Option::Some(
                    ::lifecycle_runtime::__private::polling(
                        self
                            .0
                            .poll_store(
                                board.this::<Bucket>()?,
                                board.one::<String>(0usize)?,
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
            0usize => board.identity(0usize),
            2usize => board.identity(0usize),
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
                        self.0.drop_bucket(DropBucket::at(&seen, &facts)?, once),
                        DropBucketResult::alternative,
                    ),
                )
            }
            2usize => {
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
/// What the lifecycle declares, as data.
pub const IR: &::lifecycle_runtime::__private::ir::Lifecycle = {
    use ::lifecycle_runtime::__private::ir;
    &ir::Lifecycle {
        name: "Bucket",
        doc: "A bucket in an object store outside the cluster.",
        inputs: &[
            ir::Input {
                name: "handle",
                doc: "",
                mode: ir::Mode::Record,
                many: false,
                kind: "String",
                lookup: ir::Lookup::Key,
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(2usize),
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "store",
                doc: "",
                mode: ir::Mode::Poll,
                many: false,
                kind: "BucketInfo",
                lookup: ir::Lookup::Key,
                every: ::std::option::Option::Some(30000u64),
                given: ::std::option::Option::Some(
                    ir::Pred::Not(&ir::Pred::Is(2usize, 1u64)),
                ),
                var: ::std::option::Option::Some(3usize),
                owner: ::std::option::Option::None,
                whole: &[],
            },
            ir::Input {
                name: "secret",
                doc: "",
                mode: ir::Mode::Owned,
                many: false,
                kind: "Secret",
                lookup: ir::Lookup::Name("metadata.name"),
                every: ::std::option::Option::None,
                given: ::std::option::Option::None,
                var: ::std::option::Option::Some(4usize),
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
                name: "handle",
                doc: "",
                origin: ir::Origin::Input(0usize),
                values: &["Absent", "Stale", "Current"],
                answers: 3u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "store",
                doc: "",
                origin: ir::Origin::Input(1usize),
                values: &["Unknown", "Known"],
                answers: 2u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Not(&ir::Pred::Is(2usize, 1u64)),
                        otherwise: 0u8,
                    },
                ],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "secret",
                doc: "",
                origin: ir::Origin::Input(2usize),
                values: &["Absent", "Foreign", "Terminating", "Stale", "Current"],
                answers: 5u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "bucket",
                doc: "",
                origin: ir::Origin::Fact,
                values: &["No", "Taken", "Stale", "Current", "Unknown"],
                answers: 4u8,
                given: &[
                    ir::Guard {
                        pred: ir::Pred::Not(&ir::Pred::Is(2usize, 1u64)),
                        otherwise: 0u8,
                    },
                    ir::Guard {
                        pred: ir::Pred::Is(3usize, 2u64),
                        otherwise: 4u8,
                    },
                ],
                free: ::std::option::Option::Some(3u64),
            },
            ir::Var {
                name: "drop_bucket",
                doc: "",
                origin: ir::Origin::Refused(0usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "apply_handle",
                doc: "",
                origin: ir::Origin::Refused(1usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "put_bucket",
                doc: "",
                origin: ir::Origin::Refused(2usize),
                values: &["false", "true"],
                answers: 2u8,
                given: &[],
                free: ::std::option::Option::None,
            },
            ir::Var {
                name: "apply_secret",
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
            ir::Node::Var(2usize),
            ir::Node::Input(1usize),
            ir::Node::Var(3usize),
            ir::Node::Input(2usize),
            ir::Node::Var(4usize),
            ir::Node::Var(0usize),
            ir::Node::Var(1usize),
            ir::Node::Var(5usize),
            ir::Node::Var(6usize),
            ir::Node::Var(7usize),
            ir::Node::Var(8usize),
            ir::Node::Var(9usize),
        ],
        nevers: &[],
        states: &[
            ir::State {
                name: "Unrecorded",
                doc: "",
                goal: false,
                when: ir::Pred::Is(2usize, 1u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Unreachable",
                doc: "",
                goal: false,
                when: ir::Pred::Is(5usize, 16u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 300000u64,
            },
            ir::State {
                name: "Moving",
                doc: "",
                goal: false,
                when: ir::Pred::Is(2usize, 2u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Taken",
                doc: "",
                goal: false,
                when: ir::Pred::Is(5usize, 2u64),
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
                when: ir::Pred::Is(8usize, 2u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(&[ir::Source::This]),
                overdue: 600000u64,
            },
            ir::State {
                name: "Making",
                doc: "",
                goal: false,
                when: ir::Pred::Is(5usize, 5u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Conflict",
                doc: "",
                goal: false,
                when: ir::Pred::Is(4usize, 2u64),
                phase: ir::Phase::Error,
                wakes: ::std::option::Option::Some(&[ir::Source::Input(2usize)]),
                overdue: 600000u64,
            },
            ir::State {
                name: "Draining",
                doc: "",
                goal: false,
                when: ir::Pred::Is(4usize, 4u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Publishing",
                doc: "",
                goal: false,
                when: ir::Pred::Is(4usize, 9u64),
                phase: ir::Phase::Pending,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
            ir::State {
                name: "Ready",
                doc: "",
                goal: true,
                when: ir::Pred::Is(5usize, 8u64),
                phase: ir::Phase::Ready,
                wakes: ::std::option::Option::None,
                overdue: 600000u64,
            },
        ],
        effects: &[
            ir::Effect {
                name: "drop_bucket",
                doc: "",
                verb: ir::Verb::Call,
                each: false,
                target: 1usize,
                from: &[],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[ir::Pred::Is(2usize, 2u64), ir::Pred::Is(5usize, 12u64)],
                    ),
                ),
                sets: &[&[(5usize, 0u8)]],
                affects: &[4usize, 5usize],
                undo: ::std::option::Option::None,
                is_undo: true,
                refused: 6usize,
            },
            ir::Effect {
                name: "apply_handle",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 0usize,
                from: &[],
                when: ::std::option::Option::Some(
                    ir::Pred::Any(
                        &[ir::Pred::Is(2usize, 1u64), ir::Pred::Is(5usize, 3u64)],
                    ),
                ),
                sets: &[&[(2usize, 2u8)]],
                affects: &[2usize, 3usize, 4usize, 5usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                refused: 7usize,
            },
            ir::Effect {
                name: "put_bucket",
                doc: "",
                verb: ir::Verb::Call,
                each: false,
                target: 1usize,
                from: &[],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[ir::Pred::Is(2usize, 4u64), ir::Pred::Is(5usize, 5u64)],
                    ),
                ),
                sets: &[&[(5usize, 3u8)], &[(5usize, 1u8)]],
                affects: &[4usize, 5usize],
                undo: ::std::option::Option::Some(0usize),
                is_undo: false,
                refused: 8usize,
            },
            ir::Effect {
                name: "apply_secret",
                doc: "",
                verb: ir::Verb::Apply,
                each: false,
                target: 2usize,
                from: &[ir::Source::Input(1usize)],
                when: ::std::option::Option::Some(
                    ir::Pred::All(
                        &[ir::Pred::Is(2usize, 4u64), ir::Pred::Is(5usize, 8u64)],
                    ),
                ),
                sets: &[&[(4usize, 4u8)]],
                affects: &[4usize],
                undo: ::std::option::Option::None,
                is_undo: false,
                refused: 9usize,
            },
        ],
        promises: &[],
        edges: &[
            (0usize, 1usize),
            (0usize, 3usize),
            (0usize, 5usize),
            (1usize, 2usize),
            (1usize, 3usize),
            (1usize, 5usize),
            (1usize, 6usize),
            (1usize, 7usize),
            (1usize, 8usize),
            (1usize, 9usize),
            (2usize, 1usize),
            (2usize, 3usize),
            (2usize, 5usize),
            (5usize, 3usize),
            (5usize, 4usize),
            (5usize, 6usize),
            (5usize, 7usize),
            (5usize, 8usize),
            (5usize, 9usize),
            (7usize, 8usize),
            (8usize, 9usize),
        ],
        conditions: &[
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
                                &[ir::Pred::Is(5usize, 8u64), ir::Pred::Is(2usize, 4u64)],
                            ),
                        ),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Taken",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(5usize, 2u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "Refused",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(8usize, 2u64)),
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
                        says: ir::Says::True,
                        reason: "Shared",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(4usize, 16u64)),
                    },
                    ir::Clause {
                        says: ir::Says::False,
                        reason: "ForeignSecret",
                        message: ::std::option::Option::None,
                        event: ::std::option::Option::None,
                        when: ::std::option::Option::Some(ir::Pred::Is(4usize, 2u64)),
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
