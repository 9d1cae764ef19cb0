//! An error with its causes as one line.

use std::error::Error;

/// Returns the error and its causes, the outermost first.
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut texts = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        texts.push(error.to_string());
        cause = error.source();
    }
    texts.join(": ")
}

#[cfg(test)]
mod tests {
    use std::io;

    use crate::tcp;

    #[test]
    fn causes_follow_what_they_caused() {
        let error = tcp::Error::Resolve {
            host: "nowhere".to_owned(),
            source: io::Error::other("no such name"),
        };
        assert_eq!(
            super::chain(&error),
            "cannot resolve host `nowhere`: no such name"
        );
    }
}
