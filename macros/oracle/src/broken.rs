//! Deliberate errors: each leaves one rule of the language out of the answer of the oracle. A
//! comparison that distinguishes a right checker from a wrong one must notice every one of them.

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A rule that a wrong oracle forgets.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Rule { $($(#[$doc])* $name,)* }

        /// Every rule that can be forgotten.
        pub const RULES: &[Rule] = &[$(Rule::$name,)*];
    };
}

rules! {
    /// A `never` takes worlds away.
    Never,
    /// The last of several `given` decides the `else`, not the first that fails.
    FirstElse,
    /// The first state that fits counts.
    FirstState,
    /// Refused comes before the declared states unless a state mentions it.
    RefusedFirst,
    /// Only our own effects acquire.
    OnlyWeAcquire,
    /// An effect may be refused.
    Refusal,
    /// A refused effect is not enabled.
    RefusedIsOff,
    /// Every alternative of a promise may come.
    PromiseAlternatives,
    /// Every alternative of an effect may come.
    EffectAlternatives,
    /// A write may change everything that reads its target.
    Frame,
    /// A write to a part reaches only direct readers.
    PartReach,
    /// Another wish for an object does not change what is found.
    WishesOnly,
    /// Our own call does not change the availability of a poll.
    PollStays,
    /// The builder needs its inputs.
    Inputs,
    /// A write needs room.
    Room,
    /// Effects are off while the object is being deleted.
    OffWhenDeleting,
    /// An undo without `when` runs only on deletion.
    UndoOnlyOnDeletion,
    /// The resource acquired last is undone first.
    ReverseOrder,
    /// Of several effects that build one object, each that is permitted runs, not the first alone.
    FirstBuilder,
    /// If the undo that is due cannot run, an earlier one does.
    UndoesWait,
    /// Before something is acquired the object is claimed.
    ClaimFirst,
    /// Terminating ends by itself.
    Terminates,
    /// Draining ends by itself.
    Drains,
    /// An unknown poll answers.
    Answers,
    /// A promise that stays enabled is kept.
    Fairness,
    /// Moves on sets are exempt from the loop test.
    SetsAreRanked,
    /// A goal is settled.
    GoalRests,
    /// A state with `wakes` is settled.
    WakesRests,
    /// No effect is enabled on an object that another controller manages.
    IgnoredIsOff,
    /// An object that another controller manages is settled.
    IgnoredRests,
    /// No status is written for an object that another controller manages.
    IgnoredIsSilent,
    /// No effect is enabled while the object is suspended.
    SuspendedIsOff,
    /// No poll is queried while the object is suspended.
    SuspendedAsksNobody,
    /// While the object is suspended, a condition that depends on other facts is not written anew.
    SuspendedSaysLittle,
    /// A deletion waits if the suspension declares so.
    SuspendedEvenDeleting,
    /// Only evaluated facts end a stage of the teardown.
    UnseenBlocks,
    /// Stages of the teardown run in order of declaration.
    StepsInOrder,
    /// Steps are over before anything else is given back.
    StepsBeforeUndoes,
    /// A resource that cannot be cleaned up is given up if the author declares it.
    Abandons,
    /// The claim is restored if a deletion requires work.
    DueIsClaimed,
    /// An edge from every state is one from each of them.
    FromAnywhere,
    /// A fact may have any value when its `given` begins to hold.
    GivenAnew,
    /// A run that waits in `Refused` need not reach the states that a property names.
    RefusedIsExcepted,
    /// An effect that was refused has not run before another one.
    RefusedHasNotRun,
    /// An effect behind the one that runs is enabled as well.
    EnabledBehind,
}
