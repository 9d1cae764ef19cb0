//! What was meant where a mark or word of another language stands. Knows words only.

/// What to write instead, if `found` is a slip and none of what was expected.
pub(super) fn instead(found: &str, expected: &str) -> Option<&'static str> {
    if expected.contains(&format!("`{found}`")) {
        return None;
    }
    let follows = |mark: &str| expected.contains(&format!("`{mark}`"));
    let is_test = follows("&&") || follows("||");
    let is_before = follows("before");
    Some(match found {
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
    }
}
