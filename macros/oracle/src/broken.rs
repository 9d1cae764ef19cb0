//! Deliberate errors: each leaves one rule of the language out of the oracle's answer.
//! A comparison that tells a right checker from a wrong one must notice every one of them.

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
    /// Nobody but us acquires.
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
    /// Our own call does not change whether a poll answers.
    PollStays,
    /// The builder needs its inputs.
    Inputs,
    /// A write needs room.
    Room,
    /// Effects are off while the object is being deleted.
    OffWhenDeleting,
    /// An undo without `when` runs only on deletion.
    UndoOnlyOnDeletion,
    /// What was acquired last is undone first.
    ReverseOrder,
    /// Of several effects that build one object, each that is permitted runs, not the first alone.
    FirstBuilder,
    /// Where the undo that is due cannot run, an earlier one does.
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
    /// A goal is a rest.
    GoalRests,
    /// `wakes` is a rest.
    WakesRests,
    /// No effect is enabled on what another controller manages.
    IgnoredIsOff,
    /// What another controller manages is at rest.
    IgnoredRests,
    /// Of what another controller manages nothing is said.
    IgnoredIsSilent,
    /// No effect is enabled while the object is suspended.
    SuspendedIsOff,
    /// No poll is asked while the object is suspended.
    SuspendedAsksNobody,
    /// While the object is suspended, what rests on other facts is not said anew.
    SuspendedSaysLittle,
    /// A deletion waits where its suspension says so.
    SuspendedEvenDeleting,
    /// A step is over only by what is asked.
    UnseenBlocks,
    /// Steps run in the order in which they are written.
    StepsInOrder,
    /// Steps are over before anything else is given back.
    StepsBeforeUndoes,
    /// What cannot be given back is given up where the author says so.
    Abandons,
    /// The claim comes back where something is to be done when the object goes.
    DueIsClaimed,
    /// An edge from every state is one from each of them.
    FromAnywhere,
    /// What becomes given anew may have any value.
    GivenAnew,
    /// A run that waits in `Refused` need not come to what a property names.
    RefusedIsExcepted,
    /// An effect that was refused has not run before another one.
    RefusedHasNotRun,
    /// An effect behind the one that runs is enabled as well.
    EnabledBehind,
}
