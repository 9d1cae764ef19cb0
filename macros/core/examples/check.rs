//! Uses the checker as a library: prints its findings about a declaration, without rustc and
//! without a cluster.

use lifecycle_macros_core::check;
use lifecycle_macros_core::errors::Severity;

/// A name that another controller has taken is in no state.
const FORGETFUL: &str = "
    resource Mirror;
    observe {
        source: ConfigMap       by name spec.source;
        copy:   owned ConfigMap by name meta.name;
    }
    states {
        NoSource  when !source                    => Error wakes source, self;
        Draining  when copy == Terminating        => Pending;
        Copying   when copy in { Absent, Stale }  => Pending;
        goal Done when copy == Current            => Ready;
    }
    effects { apply copy from source; }
";

/// Returns each error with its code, its message and its help text.
pub(crate) fn findings(declaration: &str) -> Vec<String> {
    let tokens = match declaration.parse() {
        Ok(tokens) => tokens,
        Err(error) => return vec![format!("it is no Rust: {error}")],
    };
    let found = check(tokens).diagnostics.into_iter();
    let errors = found.filter(|found| found.severity == Severity::Error);
    errors
        .map(|found| {
            let help = found.help.unwrap_or_default();
            format!("{}: {}\n{help}", found.code, found.message)
        })
        .collect()
}

/// Of the declaration above.
pub(crate) fn of_the_forgetful() -> Vec<String> {
    findings(FORGETFUL)
}
