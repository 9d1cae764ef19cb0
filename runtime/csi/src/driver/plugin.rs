//! Identity that all processes of one driver report, and the check of it.

/// Identity that all processes of one driver report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) has_controller: bool,
    pub(crate) has_topology: bool,
}

impl Plugin {
    /// A driver by its domain name, such as `listeners.stackable.tech`, in a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            has_controller: false,
            has_topology: false,
        }
    }

    /// One of its processes makes volumes.
    #[must_use]
    pub fn with_controller(mut self) -> Self {
        self.has_controller = true;
        self
    }

    /// Its volumes cannot be reached from everywhere.
    #[must_use]
    pub fn with_topology(mut self) -> Self {
        self.has_topology = true;
        self
    }

    /// Returns the error in the identity, or `None` if it is valid. The interface limits a name,
    /// and its conformance suite demands more.
    pub(crate) fn invalid(&self) -> Option<&'static str> {
        let ends = [self.name.chars().next(), self.name.chars().next_back()];
        let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic());
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        match self.name.len() {
            1..=63 if !ends.into_iter().all(letter) => {
                Some("the name of a driver begins and ends with a letter")
            }
            1..=63 if !self.name.chars().all(inside) => {
                Some("the name of a driver has letters, digits, `-`, `.` and `_`")
            }
            1..=63 if self.version.is_empty() => Some("a driver has a version"),
            1..=63 => None,
            _ => Some("the name of a driver has 1 to 63 characters"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_has_the_name_of_a_domain_and_a_version() {
        let check = |name: &str, version: &str, fine: bool| {
            let wrong = Plugin::new(name, version).invalid();
            assert_eq!(wrong.is_none(), fine, "{name:?}: {wrong:?}");
        };
        check("listeners.stackable.tech", "1.0", true);
        check("a", "1", true);
        check(&"a".repeat(63), "1", true);
        check(&"a".repeat(64), "1", false);
        check("", "1", false);
        check("listeners.stackable.tech", "", false);
        check("1.example.org", "1", false);
        check("example.org1", "1", false);
        check("example/org", "1", false);
        check("exämple.org", "1", false);
    }
}
