//! A plan as text for people.

use std::fmt::Write;

use serde_json::Value;

use crate::plan::missing::{DEFINITIONS, Missing};
use crate::plan::planned::{Action, Change, Field, Planned, Server};
use crate::text::counted;

/// So much of a value is shown.
const LONGEST: usize = 100;
const CUT: &str =
    "Long values are cut, and a new definition is only named: --full shows everything.\n";

/// Returns the plan as text: the writes, the processes that they end, and the open points. Long
/// values are cut, and a new definition is only named.
pub fn text(planned: &Planned) -> String {
    let page = Page::from_plan(planned, LONGEST);
    match page.cut {
        true => page.out + CUT,
        false => page.out,
    }
}

/// As text, with nothing cut.
pub fn whole_text(planned: &Planned) -> String {
    Page::from_plan(planned, usize::MAX).out
}

/// Text on its way.
struct Page {
    out: String,
    /// How long a value may be.
    longest: usize,
    /// True if some value was longer and is cut.
    cut: bool,
}

impl Page {
    fn from_plan(planned: &Planned, longest: usize) -> Self {
        let mut page = Self {
            out: String::new(),
            longest,
            cut: false,
        };
        let is_told = |missing: &&Missing| planned.changes.iter().any(|one| defines(one, missing));
        let apart = planned.missing.iter().filter(|one| !is_told(one));
        let lines: String = apart.map(|one| format!("! {}\n", one.line())).collect();
        if !lines.is_empty() {
            page.out += &(lines + "\n");
        }
        for change in &planned.changes {
            let missing = planned.missing.iter().find(|one| defines(change, one));
            page.change(change, missing);
        }
        let _infallible = writeln!(page.out, "{}", summary(planned));
        ends(planned, &mut page.out);
        page
    }

    /// A change, with the definition that it installs where that is missing.
    fn change(&mut self, change: &Change, missing: Option<&Missing>) {
        let head = head(change) + &installs(missing);
        let _infallible = writeln!(self.out, "{head}");
        let is_short = self.longest != usize::MAX && is_new_definition(change);
        self.cut |= is_short && !change.fields.is_empty();
        for field in change.fields.iter().filter(|_| !is_short) {
            let line = self.line(field);
            let _infallible = writeln!(self.out, "    {line}");
        }
        if let Some(why) = &change.refused {
            let _infallible = writeln!(self.out, "  ! refused: {why}");
        }
        match &change.server {
            Some(Server::Refuses(why)) => {
                let _infallible = writeln!(self.out, "  ! the API server would refuse it: {why}");
            }
            Some(Server::Accepts) | None => {}
        }
        self.out.push('\n');
    }

    fn line(&mut self, field: &Field) -> String {
        let path = &field.path;
        match (&field.from, &field.to) {
            (None, Some(to)) => format!("+ {path}: {}", self.value(to)),
            (Some(from), None) => format!("- {path}: {}", self.value(from)),
            (Some(from), Some(to)) => {
                format!("~ {path}: {} -> {}", self.value(from), self.value(to))
            }
            (None, None) => format!("  {path}"),
        }
    }

    /// Returns a value as JSON, cut if it is long.
    fn value(&mut self, value: &Value) -> String {
        let text = value.to_string();
        if text.chars().count() <= self.longest {
            return text;
        }
        self.cut = true;
        let begin: String = text.chars().take(self.longest).collect();
        format!("{begin}...")
    }
}

/// Returns true if a change installs the definition that is missing.
fn defines(change: &Change, missing: &Missing) -> bool {
    is_new_definition(change) && change.name == missing.definition
}

fn is_new_definition(change: &Change) -> bool {
    change.action == Action::Create
        && (change.group.as_str(), change.kind.as_str())
            == (DEFINITIONS.0, "CustomResourceDefinition")
}

/// Appends the sections after the objects: restarts, waiting objects, and omissions.
fn ends(planned: &Planned, out: &mut String) {
    if !planned.changes.is_empty() {
        *out += match planned.restarts.is_empty() {
            true => "No Pod is restarted.\n",
            false => "Ends what runs:\n",
        };
    }
    for restart in &planned.restarts {
        let _infallible = writeln!(out, "  {}: {}", restart.object, restart.what);
    }
    if !planned.waiting.is_empty() {
        *out += "Objects that then wait; what follows from actions of others is not shown:\n";
    }
    for standing in &planned.waiting {
        let (object, state) = (&standing.object, &standing.state);
        let _infallible = writeln!(out, "  {object} in {state}: {}", standing.why);
    }
    if !planned.unasked.is_empty() {
        *out += "Not queried and not run by the plan, so the consequences are not shown:\n";
    }
    for unasked in &planned.unasked {
        let _infallible = writeln!(out, "  {unasked}");
    }
    if planned.unfinished {
        *out += "It did not settle in time, so more may follow: raise --limit.\n";
    }
}

fn summary(planned: &Planned) -> String {
    let many = |action: &[Action]| {
        let changes = planned.changes.iter();
        changes.filter(|c| action.contains(&c.action)).count()
    };
    let objects = counted(planned.objects, "object", "objects");
    let elsewhere = match planned.elsewhere {
        0 => String::new(),
        1 => " 1 change in another namespace or in none is not shown.".to_owned(),
        many => format!(" {many} changes in other namespaces or in none are not shown."),
    };
    if planned.changes.is_empty() {
        let is_open = planned.missing.iter().any(Missing::is_open);
        let said = match (planned.unfinished, is_open, planned.elsewhere) {
            (true, _, _) => "Nothing would be written until then",
            (false, true, _) => "Nothing would be written before that",
            (false, false, 0) => "Nothing would be written",
            (false, false, _) => "Nothing would be written there",
        };
        return format!("{said}: the operator manages {objects}.{elsewhere}");
    }
    format!(
        "Nothing was written. {} to create, {} to change, {} to delete; the operator manages {objects}.{elsewhere}",
        many(&[Action::Create]),
        many(&[Action::Change]),
        many(&[Action::Delete, Action::Release]),
    )
}

fn head(change: &Change) -> String {
    let (sign, note) = match change.action {
        Action::Create => ('+', ""),
        Action::Change => ('~', ""),
        Action::Delete => ('-', ""),
        Action::Release => ('-', ", once its finalizers are gone"),
    };
    let by = match change.managers.is_empty() {
        true => String::new(),
        false => format!("  (by {})", change.managers.join(", ")),
    };
    let object = change.object();
    let group = match change.group.as_str() {
        "" => String::new(),
        group => format!(".{group}"),
    };
    let (kind, name) = object.split_once(' ').unwrap_or((&object, ""));
    format!("{sign} {kind}{group} {name}{note}{by}")
}

fn installs(missing: Option<&Missing>) -> String {
    missing.map_or_else(String::new, |missing| {
        format!(
            ": it is not installed; {} installs it, too",
            missing.install()
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::missing::Taken;

    fn change(group: &str, kind: &str, name: &str, value: &str) -> Change {
        let field = Field {
            path: "spec.a".to_owned(),
            from: None,
            to: Some(json!(value)),
        };
        Change {
            action: Action::Create,
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: None,
            name: name.to_owned(),
            managers: vec!["web-operator".to_owned()],
            fields: vec![field],
            refused: None,
            server: None,
        }
    }

    fn missing(taken: Taken) -> Missing {
        let install = (taken == Taken::Installed || taken == Taken::Assumed)
            .then(|| "web-operator crds --install".to_owned());
        Missing {
            definition: "websites.web.example.org".to_owned(),
            install,
            taken,
        }
    }

    #[test]
    fn a_new_definition_is_one_line_with_the_command_that_installs_it() {
        let definition = change(
            DEFINITIONS.0,
            "CustomResourceDefinition",
            "websites.web.example.org",
            "b",
        );
        let mut planned = Planned {
            changes: vec![definition],
            missing: vec![missing(Taken::Installed)],
            ..Planned::default()
        };
        let head = "+ CustomResourceDefinition.apiextensions.k8s.io websites.web.example.org  (by web-operator): it is not installed; `web-operator crds --install` installs it, too\n";
        let said = text(&planned);
        assert!(said.starts_with(&format!("{head}\n")), "{said}");
        assert!(said.ends_with(CUT), "{said}");
        let whole = whole_text(&planned);
        assert!(
            whole.starts_with(&format!("{head}    + spec.a: \"b\"\n")),
            "{whole}"
        );
        assert!(!whole.contains("--full"), "{whole}");
        planned.changes.clear();
        let elsewhere = text(&planned);
        assert!(
            elsewhere.starts_with("! websites.web.example.org is not installed: the operator installs it; `web-operator crds --install` does so, too\n"),
            "{elsewhere}"
        );
    }

    #[test]
    fn what_is_waited_for_is_told_first_and_is_no_all_clear() {
        let of = |taken| Planned {
            missing: vec![missing(taken)],
            ..Planned::default()
        };
        let assumed = text(&of(Taken::Assumed));
        assert!(
            assumed.starts_with("! websites.web.example.org is not installed, and the operator would wait for it: `web-operator crds --install` installs it."),
            "{assumed}"
        );
        for taken in [Taken::Missing, Taken::Elsewhere] {
            let said = text(&of(taken));
            assert!(said.starts_with("! websites.web.example.org is "), "{said}");
            assert!(
                said.contains("\nNothing would be written before that:"),
                "{said}"
            );
        }
    }

    #[test]
    fn a_long_value_is_cut_unless_all_is_asked_for() {
        let long = "x".repeat(2 * LONGEST);
        let planned = Planned {
            changes: vec![change("", "ConfigMap", "a", &long)],
            ..Planned::default()
        };
        let said = text(&planned);
        assert!(said.contains("xxx...\n") && said.ends_with(CUT), "{said}");
        assert!(whole_text(&planned).contains(&long));
    }
}
