//! Text form of plans. Printed text can be parsed and gives the same plan.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::{Fault, FaultKind, FaultPoint, Plan};

/// A plan that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read the fault `{fault}`: write `w3:crash-after`, `r5:503` or `w1:delay=services/5s`"
)]
pub struct ParseError {
    /// As it was written.
    pub fault: String,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (number, fault) in self.0.iter().enumerate() {
            let space = if number == 0 { "" } else { " " };
            write!(f, "{space}{fault}")?;
        }
        Ok(())
    }
}

impl FromStr for Plan {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let words = text.split_whitespace().filter(|word| *word != "none");
        Ok(Self(words.map(str::parse).collect::<Result<_, _>>()?))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.at, self.what)
    }
}

impl FromStr for Fault {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let read = || {
            let (at, what) = text.split_once(':')?;
            let (at, what) = (read_at(at)?, read_what(what)?);
            Some(Self { at, what })
        };
        read().ok_or_else(|| ParseError {
            fault: text.to_owned(),
        })
    }
}

impl fmt::Display for FaultPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(n) => write!(f, "w{n}"),
            Self::Request(n) => write!(f, "r{n}"),
            Self::Lease(n) => write!(f, "l{n}"),
            Self::Event(n) => write!(f, "e{n}"),
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |kind: &Option<String>| match kind {
            Some(kind) => format!("={kind}"),
            None => String::new(),
        };
        match self {
            Self::CrashBefore => f.write_str("crash-before"),
            Self::CrashAfter => f.write_str("crash-after"),
            Self::Lost => f.write_str("lost"),
            Self::Silent => f.write_str("silent"),
            Self::Timeout => f.write_str("timeout"),
            Self::Answer(code) => write!(f, "{code}"),
            Self::Break(kind) => write!(f, "break{}", of(kind)),
            Self::End(kind) => write!(f, "end{}", of(kind)),
            Self::Relist(kind) => write!(f, "relist{}", of(kind)),
            Self::Delay(kind, time) => write!(f, "delay{}/{}", of(kind), written(*time)),
            Self::Coalesce(kind, time) => write!(f, "coalesce{}/{}", of(kind), written(*time)),
            Self::Reorder(time) => write!(f, "reorder/{}", written(*time)),
            Self::Lag(time) => write!(f, "lag/{}", written(*time)),
            Self::Cut(time) => write!(f, "cut/{}", written(*time)),
            Self::Freeze(time) => write!(f, "freeze/{}", written(*time)),
            Self::Second(time) => write!(f, "second/{}", written(*time)),
            Self::Clock(seconds) => write!(f, "clock={seconds:+}s"),
        }
    }
}

fn written(time: Duration) -> String {
    let ms = time.as_millis();
    match ms % 1000 {
        0 => format!("{}s", ms / 1000),
        _ => format!("{ms}ms"),
    }
}

fn read_at(text: &str) -> Option<FaultPoint> {
    let number = text.get(1..)?.parse().ok().filter(|n| *n > 0)?;
    match text.get(..1)? {
        "w" => Some(FaultPoint::Write(number)),
        "r" => Some(FaultPoint::Request(number)),
        "l" => Some(FaultPoint::Lease(number)),
        "e" => Some(FaultPoint::Event(number)),
        _ => None,
    }
}

fn read_what(text: &str) -> Option<FaultKind> {
    if let Ok(code) = text.parse() {
        return (400..600)
            .contains(&code)
            .then_some(FaultKind::Answer(code));
    }
    let (head, time) = match text.split_once('/') {
        Some((head, time)) => (head, Some(read_time(time)?)),
        None => (text, None),
    };
    let (word, of) = match head.split_once('=') {
        Some((word, of)) => (word, Some(of.to_owned())),
        None => (head, None),
    };
    match (word, of, time) {
        ("crash-before", None, None) => Some(FaultKind::CrashBefore),
        ("crash-after", None, None) => Some(FaultKind::CrashAfter),
        ("lost", None, None) => Some(FaultKind::Lost),
        ("silent", None, None) => Some(FaultKind::Silent),
        ("timeout", None, None) => Some(FaultKind::Timeout),
        ("break", of, None) => Some(FaultKind::Break(of)),
        ("end", of, None) => Some(FaultKind::End(of)),
        ("relist", of, None) => Some(FaultKind::Relist(of)),
        ("delay", of, Some(time)) => Some(FaultKind::Delay(of, time)),
        ("coalesce", of, Some(time)) => Some(FaultKind::Coalesce(of, time)),
        ("reorder", None, Some(time)) => Some(FaultKind::Reorder(time)),
        ("lag", None, Some(time)) => Some(FaultKind::Lag(time)),
        ("cut", None, Some(time)) => Some(FaultKind::Cut(time)),
        ("freeze", None, Some(time)) => Some(FaultKind::Freeze(time)),
        ("second", None, Some(time)) => Some(FaultKind::Second(time)),
        ("clock", Some(by), None) => by.strip_suffix('s')?.parse().ok().map(FaultKind::Clock),
        _ => None,
    }
}

fn read_time(text: &str) -> Option<Duration> {
    if let Some(ms) = text.strip_suffix("ms") {
        return ms.parse().ok().map(Duration::from_millis);
    }
    let seconds = text.strip_suffix('s')?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}
