//! Guesses of the intended word, for a mark or word of another language and for a misspelt word.
//! Knows words only.

use crate::check::unknown_name::nearest;

/// Tokens that may follow the `given` of an input.
pub(super) const GIVEN_LAST: &str = "`&&`, `||` or the `;` of the input";

/// The end of an input, after all of its clauses.
pub(super) const AFTER_CLAUSES: &str = "the `;` of the input";
/// The operand of the `if` of an input.
pub(super) const ONE_PATH: &str = "one path of the object behind `if`";

/// Returns the text to write instead, if `found` is a slip and none of the expected tokens.
pub(super) fn instead(found: &str, expected: &str) -> Option<&'static str> {
    if expected.contains(&format!("`{found}`")) {
        return None;
    }
    let follows = |mark: &str| expected.contains(&format!("`{mark}`"));
    let is_test = follows("&&") || follows("||");
    let is_before = follows("before");
    Some(match found {
        "not" if expected == "a fact" => "write `!fact`, `fact != Value` or `fact not in { A, B }`",
        "." if is_test => "a fact has no methods: ask for its values, `fact == Value`",
        "->" if follows("=>") => "write `=>`",
        "==" if expected == "`=`" => "write `=`",
        "if" | "where" | ":" if expected == "`when`" => "write `when`",
        "otherwise" | "else" | "=>" if expected == "`when`" => {
            "each state declares its worlds, also the last one"
        }
        "*" if follows("_") => "write `_` for every state",
        text if text.starts_with('"') && expected == "a value" => "a value has no quotes",
        time if expected.starts_with("a time such as") && time.ends_with('m') => {
            "minutes are written `5min`"
        }
        "=" if expected == "`from`" => "a fact that others decide has no type, `name = predicate;`",
        "=" | "is" if is_test || follows(";") => "a fact is compared by `==`",
        "and" | "&" if is_test => "write `&&`",
        "or" if is_test => "write `||`",
        "|" if is_test => "write `||`, or `fact in { A, B }` for one of several values",
        "<" | ">" | "<=" | ">=" if is_test || follows(";") => {
            "a fact has values without an order: name those that fit, `fact in { A, B }`"
        }
        "," | "or" | "||" | "and" | "&&" if follows("|") && follows("from") => {
            "several states are joined by `|`"
        }
        "," | "or" | "||" | "and" | "&&" if follows("|") && !follows(",") => {
            "several states are joined by `|`, and an item ends with `;`"
        }
        "and" | "&" | "&&" | "+" if follows(",") && follows("every") => {
            "several keys are joined by `,`"
        }
        "from" if expected == "`of`" => "a count is `of` a set",
        "," if follows("given") && follows("else") => "a count is of one set",
        "from" | "until" if expected == "`in`" => {
            "the keeper comes first, `mint name: Type in keeper from input until predicate;`"
        }
        "if" if follows("when") && follows("given") => {
            "write `retain when fact`; an object with `if spec.field` is never retained"
        }
        "where" if follows("when") && follows("given") => "write `retain when`",
        _ if expected == AFTER_CLAUSES => {
            "each clause occurs once, in the order `of`, `by`, `if`, `every`, `exclusive`, `retain`, `given`"
        }
        _ if expected == ONE_PATH => {
            "the object exists where one field has a value, `if spec.host`; a condition on facts is written `given ..`, last"
        }
        "every" | "exclusive" | "retain" | "by" | "if" if expected == GIVEN_LAST => {
            "`given` comes after everything else of an input"
        }
        "after" if is_before => "write it the other way round, `first before then`",
        "reaches" if is_before => "write `reaches State from Other`",
        "when" | "if" | "given" if follows("while") => "write `while`",
        "when" | "if" | "while" if follows("at rest") => {
            "name the states after `in`, or write `!(..) || ..`"
        }
        "," if follows(";") => "an item ends with `;`",
        _ => return None,
    })
}

/// The expected word that was probably meant: one that is spelled nearly so, or begins or ends where `found` does.
pub(super) fn respelt(found: &str, expected: &str) -> Option<String> {
    let is_word = |text: &&str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if found.len() < 3 || !is_word(&found) {
        return None;
    }
    let words = expected.split('`').skip(1).step_by(2);
    let mut words = words.filter(is_word).filter(|word| !word.is_empty());
    let near = nearest(found, words.clone());
    near.or_else(|| {
        let same = words.find(|word| word.starts_with(found) || found.starts_with(word));
        same.map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_expected_is_a_slip() {
        let test = "`&&`, `||` or `;`";
        assert_eq!(instead("=", test), Some("a fact is compared by `==`"));
        assert_eq!(instead("and", test), Some("write `&&`"));
        let either = Some("write `||`, or `fact in { A, B }` for one of several values");
        assert_eq!(instead("|", test), either);
        assert_eq!(instead(",", test), Some("an item ends with `;`"));
        let states = Some("several states are joined by `|`, and an item ends with `;`");
        assert_eq!(instead(",", "`|` or `;`"), states);
        assert_eq!(instead("or", "`|` or `->`"), states);
        assert_eq!(instead("->", "`|` or `;`"), None);
        let beside = Some("several states are joined by `|`");
        assert_eq!(instead("or", "`|` or `from`"), beside);
        assert_eq!(instead("when", "`while`"), Some("write `while`"));
        assert!(instead("after", "`before`").is_some());
        assert!(instead("reaches", "`before`").is_some());
        assert!(instead("when", "`in`, `at rest` or `;`").is_some());
        let keys = Some("several keys are joined by `,`");
        assert_eq!(instead("and", "`,`, `every`, `given` or `;`"), keys);
        assert_eq!(instead("and", "`every`, `given` or `;`"), None);
        assert_eq!(instead("=", "`:` or `=`"), None);
        assert_eq!(instead(",", "`,` or `}`"), None);
        assert_eq!(instead("and", "a name"), None);
        assert!(instead("not", "a fact").is_some());
        assert_eq!(instead("->", "`&&` or `=>`"), Some("write `=>`"));
        assert!(instead("5m", "a time such as `30s`").is_some());
        assert_eq!(instead("5s", "a time such as `30s`"), None);
    }

    #[test]
    fn a_word_is_respelt_as_one_that_was_expected() {
        let words = "`wakes`, `overdue` or `;`";
        assert_eq!(respelt("wake", words).as_deref(), Some("wakes"));
        assert_eq!(respelt("overdu", words).as_deref(), Some("overdue"));
        assert_eq!(respelt("reach", "`reaches`").as_deref(), Some("reaches"));
        assert_eq!(respelt("waiting", words), None);
        assert_eq!(respelt("or", "`for`"), None);
        assert_eq!(respelt("{", "`{{`"), None);
    }
}
