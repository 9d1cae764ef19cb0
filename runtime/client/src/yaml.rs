//! YAML as people write it, with any number of comments. The parser alone keeps comments for
//! callers that want them, and refuses more than 32 in a row.

use serde::de::DeserializeOwned;
use serde_saphyr::{Error, from_multiple_with_options, from_str_with_options, options};

/// Reads one document.
///
/// # Errors
/// It is not one document of YAML that the type can hold.
pub fn parse_one<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    from_str_with_options(text, options! { emit_comments: false })
}

/// Reads all documents.
///
/// # Errors
/// They are not documents of YAML that the type can hold.
pub fn all<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, Error> {
    from_multiple_with_options(text, options! { emit_comments: false })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn comments_may_be_as_many_as_one_likes() {
        let comments = "  # one more line of a comment\n".repeat(100);
        let text = format!("a:\n{comments}  - b\n{comments}  - c\n");
        assert_eq!(
            parse_one::<Value>(&text).unwrap(),
            json!({ "a": ["b", "c"] })
        );
        let twice = format!("{text}---\n{text}");
        assert_eq!(all::<Value>(&twice).unwrap().len(), 2);
        let text = format!("# {}\na: 1 # here\n", "x".repeat(10_000));
        assert_eq!(parse_one::<Value>(&text).unwrap(), json!({ "a": 1 }));
    }
}
