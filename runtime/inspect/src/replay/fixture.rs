//! Smallest recording that still shows a difference: one reconciliation, and the objects without
//! which it would not differ. A reconciliation decides from its observation alone, so nothing
//! earlier is kept.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::Value;

use crate::replay::error::Error;
use crate::replay::format::{Header, Line, LineContent};
use crate::replay::held::hold;
use crate::replay::reading::{Recorded, Run, read};
use crate::replay::replayed::Replayed;
use crate::replay::text::text;
use crate::replay::told::Difference;

/// Upper bound on attempts to reduce the recording.
const TRIES: usize = 4000;

/// A recording that shows one difference and nothing else.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// Difference that the recording shows.
    pub shows: Difference,
    header: Header,
    runs: Line,
    objects: Vec<Line>,
    pass: Line,
}

/// Shrinks a recording to one of its differences. The lifecycles are made by `made`, as for [`hold`].
///
/// # Errors
/// As [`hold`].
pub fn shrink(
    recorded: &Recorded,
    difference: &Difference,
    mut made: impl FnMut(&Header) -> Result<Vec<Replayed>, Error>,
) -> Result<Option<Fixture>, Error> {
    let (run, line) = difference.found;
    let Some(run) = recorded.runs.get(run) else {
        return Ok(None);
    };
    let Some(whole) = fixture_at(run, line, difference) else {
        return Ok(None);
    };
    let lifecycles = made(&run.header)?;
    let shows = |fixture: &Fixture| {
        let held = hold(&fixture.recorded(), |_: &Header| Ok(lifecycles.clone()));
        held.is_ok_and(|held| {
            held.differences
                .iter()
                .any(|one| one.says_the_same(difference))
        })
    };
    Ok(shows(&whole).then(|| smallest(whole, shows)))
}

/// Returns the recording of the moment of one reconciliation.
fn fixture_at(run: &Run, line: usize, difference: &Difference) -> Option<Fixture> {
    let (before, after) = run.lines.split_at_checked(line)?;
    let mut runs = None;
    let mut objects: BTreeMap<(String, String), Line> = BTreeMap::new();
    for one in before {
        match &one.what {
            LineContent::Runs(_) => runs = Some(one.clone()),
            LineContent::Object(object) => {
                objects.insert(object_key(object), one.clone());
            }
            LineContent::Gone(gone) => {
                let namespace = gone.namespace.as_deref().unwrap_or_default();
                objects.remove(&(gone.kind.clone(), format!("{namespace}/{}", gone.name)));
            }
            LineContent::Trace(_)
            | LineContent::Pass(_)
            | LineContent::Sent(_)
            | LineContent::Ended(_)
            | LineContent::Lost(_) => {}
        }
    }
    Some(Fixture {
        shows: Difference {
            again: 0,
            ..difference.clone()
        },
        header: run.header.clone(),
        runs: runs?,
        objects: objects.into_values().collect(),
        pass: after.first()?.clone(),
    })
}

/// `group/Kind`, and `namespace/name`.
fn object_key(object: &Value) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let version = text(&object["apiVersion"]);
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let meta = &object["metadata"];
    let name = format!("{}/{}", text(&meta["namespace"]), text(&meta["name"]));
    (format!("{group}/{}", text(&object["kind"])), name)
}

/// Leaves objects out while it shows the same: first many at once, then each.
fn smallest(mut fixture: Fixture, shows: impl Fn(&Fixture) -> bool) -> Fixture {
    let mut size = fixture.objects.len().div_ceil(2);
    let mut tries = 0;
    while size > 0 {
        let mut from = 0;
        while from < fixture.objects.len() && tries < TRIES {
            let to = (from + size).min(fixture.objects.len());
            let mut less = fixture.clone();
            less.objects.drain(from..to);
            tries += 1;
            match shows(&less) {
                true => fixture = less,
                false => from = to,
            }
        }
        size = match size {
            1 => 0,
            more => more.div_ceil(2),
        };
    }
    fixture
}

impl Fixture {
    /// How many objects are left.
    pub fn objects(&self) -> usize {
        self.objects.len()
    }

    /// As it is read from a file.
    pub fn recorded(&self) -> Recorded {
        let lines = [&self.runs].into_iter().chain(&self.objects);
        let run = Run {
            header: self.header.clone(),
            lines: lines.chain([&self.pass]).cloned().collect(),
        };
        Recorded {
            runs: vec![run],
            flaws: Vec::new(),
        }
    }

    /// Writes it into a file, for its owner alone.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        self.written(path).map_err(|source| Error::Open {
            path: path.to_owned(),
            source,
        })
    }

    fn written(&self, path: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = BufWriter::new(options.open(path)?);
        let header = Line {
            ms: 0,
            what: LineContent::Trace(self.header.clone()),
        };
        let lines = [&header, &self.runs].into_iter().chain(&self.objects);
        for line in lines.chain([&self.pass]) {
            serde_json::to_writer(&mut file, line)?;
            file.write_all(b"\n")?;
        }
        file.flush()
    }

    /// Returns a Rust test over that file. In it, `lifecycles()` returns the lifecycles of the
    /// operator.
    pub fn test(&self, path: &Path) -> String {
        let words = self.shows.object.chars().map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() => letter.to_ascii_lowercase(),
            _ => '_',
        });
        let name: String = words.collect();
        let mut out = String::new();
        let _infallible = write!(
            out,
            "#[test]\nfn {name}_is_decided_as_it_was() {{\n    lifecycle_inspect::replay::assert_same(\"{}\", &lifecycles());\n}}\n",
            path.display()
        );
        out
    }
}

/// For tests: lifecycles decide as it was recorded in this file.
///
/// # Panics
/// They do not, or the file cannot be replayed.
pub fn assert_same(file: impl AsRef<Path>, lifecycles: &[Replayed]) {
    let file = file.as_ref();
    let held =
        read(file).and_then(|recorded| hold(&recorded, |_: &Header| Ok(lifecycles.to_vec())));
    match held {
        Ok(held) => assert!(held.is_same(), "{}:\n{}", file.display(), text(&held)),
        Err(error) => panic!("{error}"),
    }
}
