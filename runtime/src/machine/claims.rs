//! Promises that other lifecycles claim, judged while compiling: rustc evaluates all of this, so it is const and its texts are put together by hand.

use super::ir::{Claim, Lifecycle, Phase};

/// Compiles where the lifecycle that is to keep a promise has these states, and does something in them.
///
/// # Panics
/// Panics otherwise; the message names the promise, the keeper and its states.
pub const fn claimed(promise: &str, keeper: &Lifecycle, states: &[&str]) {
    let mut n = 0;
    while n < states.len() {
        let claim = Text::new()
            .and("promise `")
            .and(promise)
            .and("` is claimed by ");
        let claim = claim
            .and(keeper.name)
            .and(" in `")
            .and(states[n])
            .and("`, ");
        match position(keeper, states[n]) {
            None => {
                let text = claim
                    .and("and there is no such state: it has ")
                    .listed(keeper);
                panic!("{}", text.as_str());
            }
            Some(state) if does_nothing(keeper.states.as_slice()[state].phase) => {
                let why =
                    "where it does nothing: a state that is Ignored or Suspended keeps no promise";
                panic!("{}", claim.and(why).as_str());
            }
            Some(_) => {}
        }
        n += 1;
    }
}

const fn does_nothing(phase: Phase) -> bool {
    matches!(phase, Phase::Ignored | Phase::Suspended)
}

/// The state of this name.
const fn position(of: &Lifecycle, name: &str) -> Option<usize> {
    let states = of.states.as_slice();
    let mut n = 0;
    while n < states.len() {
        if same(states[n].name, name) {
            return Some(n);
        }
        n += 1;
    }
    None
}

impl Claim {
    /// Returns true if the keeper has kept the promise in a state of this name.
    pub const fn has(&self, state: &str) -> bool {
        let mut n = 0;
        while n < self.states.len() {
            if same(self.states[n], state) {
                return true;
            }
            n += 1;
        }
        false
    }
}

/// Returns true if two texts are equal; `==` is not const.
pub(super) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut n = 0;
    while n < a.len() {
        if a[n] != b[n] {
            return false;
        }
        n += 1;
    }
    true
}

/// The longest message.
const LONGEST: usize = 1536;

/// A message that is put together while compiling.
#[derive(Clone, Copy)]
pub(super) struct Text {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Text {
    pub(super) const fn new() -> Self {
        Self {
            bytes: [0; LONGEST],
            length: 0,
        }
    }

    /// Returns the text with this appended. An addition that does not fit is dropped as a whole.
    pub(super) const fn and(mut self, more: &str) -> Self {
        let more = more.as_bytes();
        if self.length + more.len() > LONGEST {
            return self;
        }
        let mut n = 0;
        while n < more.len() {
            self.bytes[self.length + n] = more[n];
            n += 1;
        }
        self.length += more.len();
        self
    }

    /// With the names of all states.
    const fn listed(mut self, of: &Lifecycle) -> Self {
        let states = of.states.as_slice();
        let mut n = 0;
        while n < states.len() {
            self = self.and(if n == 0 { "" } else { ", " }).and(states[n].name);
            n += 1;
        }
        self
    }

    /// With names between bars: `Starting | Ready`.
    pub(super) const fn either(mut self, names: &[&str]) -> Self {
        let mut n = 0;
        while n < names.len() {
            self = self.and(if n == 0 { "" } else { " | " }).and(names[n]);
            n += 1;
        }
        self
    }

    pub(super) const fn as_str(&self) -> &str {
        let (said, _) = self.bytes.split_at(self.length);
        match std::str::from_utf8(said) {
            Ok(text) => text,
            Err(_) => "a name is not as Rust spells names",
        }
    }
}
