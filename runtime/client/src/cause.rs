//! Prints a chain of errors as one line, each cause once. The one place where errors become text.

use std::error::Error;

/// The error and its causes, joined by colons.
pub fn in_one_line(error: &(dyn Error + 'static)) -> String {
    let mut line = String::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        // The client would print the API server's message three times.
        let (text, below) = match cause.downcast_ref::<kube::Error>() {
            Some(error) => (crate::kube::one_line(error), None),
            None => (cause.to_string(), cause.source()),
        };
        if line.is_empty() {
            line = text;
        } else if !line.ends_with(&text) {
            line = format!("{line}: {text}");
        }
        next = below;
    }
    line.replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] kube::Error);

    #[test]
    fn the_answer_of_an_api_server_appears_once() {
        let status = Status::failure("listeners is forbidden", "Forbidden").with_code(403);
        let error = Outer(kube::Error::Api(status.boxed()));
        assert_eq!(in_one_line(&error), "outer: listeners is forbidden");
    }

    #[test]
    fn causes_are_joined_and_repetitions_left_out() {
        let io = std::io::Error::other("connection refused\nby peer");
        let error = Outer(kube::Error::ReadEvents(io));
        assert_eq!(
            in_one_line(&error),
            "outer: Error reading events stream: connection refused by peer"
        );
    }
}
