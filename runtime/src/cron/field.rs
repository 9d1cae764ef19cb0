//! One field of a cron line: numbers, names, ranges, steps and lists of them, as Kubernetes reads them.

use super::CronError;

/// Allowed values of a field.
pub(super) struct Bounds {
    name: &'static str,
    first: i8,
    last: i8,
    /// Names of the values, from the first on.
    names: &'static [&'static str],
}

impl Bounds {
    pub(super) const fn new(
        name: &'static str,
        first: i8,
        last: i8,
        names: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            first,
            last,
            names,
        }
    }
}

/// The values that fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// A bit each.
    values: u64,
    /// Everything is meant, by a `*` or `?` without a step: then the other field of the day decides.
    pub(super) is_any: bool,
}

impl Field {
    pub(super) fn has(self, value: i8) -> bool {
        self.values >> value & 1 == 1
    }

    pub(super) fn read(text: &str, bounds: &Bounds) -> Result<Self, CronError> {
        let mut field = Self {
            values: 0,
            is_any: false,
        };
        for part in text.split(',') {
            field
                .add(part, bounds)
                .map_err(|why| CronError::ReadField {
                    field: bounds.name,
                    part: part.to_owned(),
                    why,
                })?;
        }
        Ok(field)
    }

    /// `*`, `5`, `1-5`, `*/10`, `5/10`, `10-40/10`.
    fn add(&mut self, part: &str, bounds: &Bounds) -> Result<(), String> {
        let (range, step) = match part.split_once('/') {
            None => (part, None),
            Some((range, step)) => (range, Some(parse_number(step)?)),
        };
        if step == Some(0) {
            return Err("a step is at least 1".to_owned());
        }
        let is_any = range == "*" || range == "?";
        let (first, last) = match range.split_once('-') {
            _ if is_any => (bounds.first, bounds.last),
            None => {
                let first = value(range, bounds)?;
                // A step from one value on leads to the end.
                let last = step.map_or(first, |_| bounds.last);
                (first, last)
            }
            Some((first, last)) => (value(first, bounds)?, value(last, bounds)?),
        };
        if first > last {
            return Err(format!("{first} is behind {last}"));
        }
        let step = step.unwrap_or(1);
        self.is_any |= is_any && step == 1;
        let values = (first..=last).step_by(step);
        self.values |= values.fold(0, |all, value| all | 1 << value);
        Ok(())
    }
}

fn value(text: &str, bounds: &Bounds) -> Result<i8, String> {
    let mut names = bounds.names.iter();
    let named = names.position(|name| name.eq_ignore_ascii_case(text));
    let value = match named {
        Some(at) => at + usize::from(bounds.first.unsigned_abs()),
        None => parse_number(text)?,
    };
    let value = i8::try_from(value).unwrap_or(i8::MAX);
    if value < bounds.first || value > bounds.last {
        return Err(format!("it is from {} to {}", bounds.first, bounds.last));
    }
    Ok(value)
}

fn parse_number(text: &str) -> Result<usize, String> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let number = is_number.then(|| text.parse().ok()).flatten();
    number.ok_or_else(|| {
        "write numbers, names, ranges `1-5`, steps `*/10` and lists `1,15`".to_owned()
    })
}
