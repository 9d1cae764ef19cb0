//! Schedules of CronJobs: five fields or a word. Decides only if the real server reads a schedule,
//! and otherwise words its error.

/// Name of the lowest value and of those after it, for fields that have names.
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// The lowest and the highest value of each field, and the names of values.
const FIELDS: [(u64, u64, &[&str]); 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (1, 12, &MONTHS),
    (0, 6, &DAYS),
];

const WORDS: [&str; 7] = [
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
];

/// Returns the error of a schedule that the real server cannot read.
pub(crate) fn error(schedule: &str) -> Option<String> {
    let mut schedule = schedule;
    if schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=") {
        // The zone itself is not judged. It is forbidden in any case.
        schedule = schedule.split_once(' ').map_or("", |(_, rest)| rest.trim());
    }
    if schedule.starts_with('@') {
        return match WORDS.contains(&schedule) || schedule.starts_with("@every ") {
            true => None,
            false => Some(format!("unrecognized descriptor: {schedule}")),
        };
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        let (count, shown) = (fields.len(), fields.join(" "));
        return Some(format!(
            "expected exactly 5 fields, found {count}: [{shown}]"
        ));
    }
    let ranges = fields.iter().zip(FIELDS).flat_map(|(field, bounds)| {
        let ranges = field.split(',').filter(|range| !range.is_empty());
        ranges.map(move |range| (range, bounds))
    });
    ranges
        .map(|(range, bounds)| of_range(range, bounds))
        .find_map(Result::err)
}

fn of_range(range: &str, (lowest, highest, names): (u64, u64, &[&str])) -> Result<(), String> {
    let (parts, steps): (Vec<&str>, Option<&str>) = match range.split('/').collect::<Vec<_>>()[..] {
        [span] => (span.split('-').collect(), None),
        [span, step] => (span.split('-').collect(), Some(step)),
        [span, ..] => {
            bounds(span, range, names, (lowest, highest))?;
            return Err(format!("too many slashes: {range}"));
        }
        [] => return Ok(()),
    };
    let (start, mut end) = bounds(&parts.join("-"), range, names, (lowest, highest))?;
    let step = steps.map_or(Ok(1), number)?;
    if steps.is_some() && parts.len() == 1 {
        end = highest;
    }
    if start < lowest {
        return Err(format!(
            "beginning of range ({start}) below minimum ({lowest}): {range}"
        ));
    }
    if end > highest {
        return Err(format!(
            "end of range ({end}) above maximum ({highest}): {range}"
        ));
    }
    if start > end {
        return Err(format!(
            "beginning of range ({start}) beyond end of range ({end}): {range}"
        ));
    }
    if step == 0 {
        return Err(format!(
            "step of range should be a positive number: {range}"
        ));
    }
    Ok(())
}

/// Returns the first and the last value of a span such as `1-5`.
fn bounds(
    span: &str,
    range: &str,
    names: &[&str],
    (lowest, highest): (u64, u64),
) -> Result<(u64, u64), String> {
    let value = |text: &str| {
        let lower = text.to_lowercase();
        match names.iter().zip(lowest..).find(|(name, _)| **name == lower) {
            Some((_, value)) => Ok(value),
            None => number(text),
        }
    };
    match span.split('-').collect::<Vec<_>>()[..] {
        ["*" | "?", ..] => Ok((lowest, highest)),
        [one] => value(one).map(|value| (value, value)),
        [from, to] => Ok((value(from)?, value(to)?)),
        [from, ..] => {
            value(from)?;
            Err(format!("too many hyphens: {range}"))
        }
        [] => Ok((lowest, highest)),
    }
}

fn number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax"
        ));
    }
    match text.parse::<i64>() {
        Err(_) => Err(format!(
            "failed to parse int from {text}: strconv.Atoi: parsing {text:?}: value out of range"
        )),
        Ok(number) => u64::try_from(number)
            .map_err(|_| format!("negative number ({number}) not allowed: {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::error;

    #[test]
    fn schedules_are_read_as_the_real_server_reads_them() {
        for good in [
            "0 3 * * *",
            "*/5 * * * *",
            "0 0 1,15 * MON-FRI",
            "5/15 0-23/2 ? JAN sun",
            "@daily",
            "@every 1h30m",
            "TZ=UTC 0 3 * * *",
        ] {
            assert_eq!(error(good), None, "{good}");
        }
        let wrong = [
            (
                "every night",
                "expected exactly 5 fields, found 2: [every night]",
            ),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            (
                "5-1 * * * *",
                "beginning of range (5) beyond end of range (1): 5-1",
            ),
            (
                "*/0 * * * *",
                "step of range should be a positive number: */0",
            ),
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            (
                "x * * * *",
                "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax",
            ),
            ("@never", "unrecognized descriptor: @never"),
        ];
        for (schedule, message) in wrong {
            assert_eq!(error(schedule).as_deref(), Some(message), "{schedule}");
        }
    }
}
