//! Durations in objects, as Kubernetes writes them (`1h30m`) or in whole seconds: the effective
//! duration, and the flaw of a given one. Reads exactly the syntax of Go's `time.ParseDuration`,
//! because other readers of such fields accept that.

#[cfg(test)]
mod tests;

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use crate::machine::ir::Length;

/// Length of time as an object specifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// `1h30m`.
    Text(String),
    /// A whole number.
    Seconds(i64),
}

/// Reason why the effective duration differs from the given one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It is no length of time.
    Unreadable,
    /// It is below the least that is declared.
    TooShort,
}

const SECOND: i128 = 1_000_000_000;
/// Longest duration in Go, in nanoseconds: 292 years.
const LONGEST: i128 = i64::MAX as i128;
/// The units of Go, in nanoseconds. The micro sign and the Greek letter look alike.
const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3_600 * SECOND),
];

impl Length {
    /// Returns the effective duration for this value, and the reason if it differs from the given
    /// one.
    pub fn resolve(&self, said: Option<&Said>) -> (Duration, Option<Flaw>) {
        let otherwise = Duration::from_millis(self.otherwise);
        let Some(said) = said else {
            return (otherwise, None);
        };
        let least = Duration::from_millis(self.least);
        match said.nanoseconds() {
            None => (otherwise, Some(Flaw::Unreadable)),
            Some(said) => match u64::try_from(said).map(Duration::from_nanos) {
                Ok(said) if said >= least => (said, None),
                // A negative duration is below every lower bound.
                Ok(_) | Err(_) => (least, Some(Flaw::TooShort)),
            },
        }
    }
}

impl Said {
    /// Returns the duration in nanoseconds. Returns `None` if the value is not a duration, or not
    /// representable in Go.
    fn nanoseconds(&self) -> Option<i128> {
        let all = match self {
            Self::Text(text) => read(text)?,
            Self::Seconds(seconds) => i128::from(*seconds) * SECOND,
        };
        (all.abs() <= LONGEST).then_some(all)
    }
}

impl Display for Said {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "`{text}`"),
            Self::Seconds(seconds) => write!(f, "`{seconds}` seconds"),
        }
    }
}

/// `1h30m`, `1.5h`, `-2s`, `.5s`, `0`: numbers with units, in any order.
fn read(text: &str) -> Option<i128> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "0" {
        return Some(0);
    }
    let (mut rest, mut all) = (unsigned, 0_i128);
    loop {
        let (piece, after) = piece(rest)?;
        // A duration beyond the representable range is rejected at the end.
        all = all.checked_add(piece).filter(|all| *all <= LONGEST + 1)?;
        if after.is_empty() {
            break;
        }
        rest = after;
    }
    Some(if text.starts_with('-') { -all } else { all })
}

/// Parses the first number with its unit, in nanoseconds. Also returns the rest.
fn piece(text: &str) -> Option<(i128, &str)> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let ends = rest.find(|c: char| c == '.' || c.is_ascii_digit());
    let (unit, rest) = rest.split_at(ends.unwrap_or(rest.len()));
    let (_, unit) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    let whole: i128 = match whole {
        "" => 0,
        whole => whole.parse::<i64>().ok()?.into(),
    };
    // A fraction below a nanosecond is ignored, and 18 digits suffice even for hours.
    let fraction = &fraction[..fraction.len().min(18)];
    let part = match fraction {
        "" => 0,
        fraction => {
            let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
            fraction.parse::<i128>().ok()? * unit / scale
        }
    };
    Some((whole * unit + part, rest))
}

fn digits(text: &str) -> (&str, &str) {
    let ends = text.find(|c: char| !c.is_ascii_digit());
    text.split_at(ends.unwrap_or(text.len()))
}
