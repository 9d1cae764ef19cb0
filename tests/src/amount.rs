//! Amount of work that a test does: a default that every check can afford, or the value of a
//! variable.

use std::env;

/// Makes every test that has a long form take it.
const LONG: &str = "LONG";

/// The number that a variable names; without it `usual`, or with `LONG=1` the second.
///
/// # Panics
/// The variable is no number.
pub fn amount(variable: &str, usual: u64, long: u64) -> u64 {
    let of = |name: &str| env::var(name).ok();
    chosen(variable, of(variable), of(LONG), (usual, long))
}

fn chosen(variable: &str, value: Option<String>, long: Option<String>, amounts: (u64, u64)) -> u64 {
    let number = value.map(|value| {
        let number = value.parse();
        number.unwrap_or_else(|_| panic!("{variable}={value} is no number; write {variable}=20"))
    });
    let is_long = long.is_some_and(|long| !long.is_empty() && long != "0");
    number.unwrap_or(if is_long { amounts.1 } else { amounts.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_its_own_counts_before_the_common_one() {
        let chosen = |value: Option<&str>, long: Option<&str>| {
            chosen(
                "MANY",
                value.map(str::to_owned),
                long.map(str::to_owned),
                (1, 9),
            )
        };
        assert_eq!(chosen(None, None), 1);
        assert_eq!(chosen(None, Some("1")), 9);
        assert_eq!(chosen(None, Some("0")), 1);
        assert_eq!(chosen(Some("5"), Some("1")), 5);
    }

    #[test]
    #[should_panic(expected = "MANY=many is no number; write MANY=20")]
    fn what_is_no_number_is_refused() {
        chosen("MANY", Some("many".to_owned()), None, (1, 9));
    }
}
