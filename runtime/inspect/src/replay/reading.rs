//! Trace file as read: the reports of one process after the other, and the unreadable parts.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::replay::error::Error;
use crate::replay::format::{EVENTS, FORMAT, Header, Line, LineContent};

/// Content of a file.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub(crate) runs: Vec<Run>,
    /// Lines that could not be read.
    pub flaws: Vec<Flaw>,
}

impl Recorded {
    /// Returns the objects of all reconciliations, each once: `Listener default/web`.
    pub fn objects(&self) -> BTreeSet<String> {
        let lines = self.runs.iter().flat_map(|run| &run.lines);
        let passes = lines.filter_map(|line| Some(line.what.pass()?.object.described()));
        passes.collect()
    }

    /// Keeps only the reconciliations of one object: `Listener default/web`.
    #[must_use]
    pub fn only(mut self, object: &str) -> Self {
        for run in &mut self.runs {
            let is_of = |line: &Line| {
                let pass = line.what.pass();
                pass.is_none_or(|pass| pass.object.described() == object)
            };
            run.lines.retain(is_of);
        }
        self
    }
}

/// Recording of one process.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) header: Header,
    pub(crate) lines: Vec<Line>,
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flaw {
    /// Counted from 1.
    pub line: usize,
    /// Reason why it could not be read.
    pub why: String,
}

/// Reads a trace file. Reports a line that cannot be read, and uses the others.
///
/// # Errors
/// It cannot be read, or it is no trace file of this format.
pub fn read(path: &Path) -> Result<Recorded, Error> {
    let unread = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let mut lines = BufReader::new(File::open(path).map_err(unread)?);
    let mut recorded = Recorded {
        runs: Vec::new(),
        flaws: Vec::new(),
    };
    let (mut number, mut text) = (0, Vec::new());
    while lines.read_until(b'\n', &mut text).map_err(unread)? > 0 {
        number += 1;
        let is_whole = text.ends_with(b"\n");
        taken(&mut recorded, path, (number, &text, is_whole))?;
        text.clear();
    }
    match recorded.runs.is_empty() {
        true => Err(Error::NoTrace(path.to_owned())),
        false => Ok(recorded),
    }
}

fn taken(
    recorded: &mut Recorded,
    path: &Path,
    (number, text, is_whole): (usize, &[u8], bool),
) -> Result<(), Error> {
    if text.trim_ascii().is_empty() {
        return Ok(());
    }
    let value: Result<Value, _> = serde_json::from_slice(text);
    let begins = value.as_ref().ok().and_then(|value| value.get("trace"));
    if let Some(format) = begins.map(|header| &header["format"])
        && format.as_u64() != Some(u64::from(FORMAT))
    {
        return Err(Error::Format {
            path: path.to_owned(),
            found: format.as_u64().unwrap_or_default(),
        });
    }
    let line = value.and_then(serde_json::from_value::<Line>);
    match (line, recorded.runs.last_mut()) {
        (
            Ok(Line {
                what: LineContent::Trace(header),
                ..
            }),
            _,
        ) => {
            let lines = Vec::new();
            recorded.runs.push(Run { header, lines });
        }
        (_, None) => return Err(Error::NoTrace(path.to_owned())),
        (Ok(line), Some(run)) => run.lines.push(line),
        (Err(_), _) if !is_whole => recorded.flaws.push(Flaw {
            line: number,
            why: "the file ends within it".to_owned(),
        }),
        (Err(error), _) => recorded.flaws.push(Flaw {
            line: number,
            why: unreadable(text, &error),
        }),
    }
    Ok(())
}

/// Returns why a whole line cannot be read, what was expected, and what to do.
fn unreadable(text: &[u8], error: &serde_json::Error) -> String {
    let Ok(value) = serde_json::from_slice::<Value>(text) else {
        return format!(
            "expected JSON, and column {} has none; the file was damaged or edited, so record again",
            error.column()
        );
    };
    let fields = value.as_object();
    let mut names = fields.into_iter().flatten().map(|(name, _)| name.as_str());
    let Some(event) = names.find(|name| *name != "ms") else {
        return format!(
            "expected one event of {}, and found none; the file was damaged or edited, so record again",
            EVENTS.join(", ")
        );
    };
    match EVENTS.contains(&event) {
        true => format!(
            "event `{event}` has another content than this version expects ({error}); replay the file with the version that recorded it"
        ),
        false => format!(
            "expected one event of {}, and found `{event}`; replay the file with the version that recorded it",
            EVENTS.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const HEADER: &str = r#"{"ms":0,"trace":{"format":1,"program":"p","version":"1","began":"2026-11-25T10:31:07Z"}}"#;

    fn read_of(text: &str) -> Result<Recorded, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn a_line_that_cannot_be_read_is_told_and_the_others_count() {
        let lost = r#"{"ms":1,"lost":2}"#;
        let text = format!(
            "{HEADER}\n{lost}\n{{\"ms\":1,\"dance\":2}}\n\n{lost}\n{HEADER}\n{lost}\n{{\"ms\":"
        );
        let recorded = read_of(&text).unwrap();
        let counts: Vec<usize> = recorded.runs.iter().map(|run| run.lines.len()).collect();
        assert_eq!(counts, [2, 1]);
        let lines: Vec<usize> = recorded.flaws.iter().map(|flaw| flaw.line).collect();
        assert_eq!(lines, [3, 8]);
        assert_eq!(
            recorded.flaws[0].why,
            "expected one event of trace, runs, object, gone, pass, sent, ended, lost, and found `dance`; replay the file with the version that recorded it"
        );
        assert_eq!(recorded.flaws[1].why, "the file ends within it");
    }

    #[test]
    fn an_unreadable_line_says_what_was_expected_and_what_to_do() {
        for (line, expected) in [
            (
                "{\"ms\":1,oops}",
                "expected JSON, and column 9 has none; the file was damaged or edited, so record again",
            ),
            (
                "[]",
                "expected one event of trace, runs, object, gone, pass, sent, ended, lost, and found none; the file was damaged or edited, so record again",
            ),
            (
                r#"{"ms":1}"#,
                "expected one event of trace, runs, object, gone, pass, sent, ended, lost, and found none; the file was damaged or edited, so record again",
            ),
            (
                r#"{"ms":1,"lost":"two"}"#,
                "event `lost` has another content than this version expects (invalid type: string \"two\", expected u64); replay the file with the version that recorded it",
            ),
        ] {
            let recorded = read_of(&format!("{HEADER}\n{line}\n")).unwrap();
            let why: Vec<&str> = recorded
                .flaws
                .iter()
                .map(|flaw| flaw.why.as_str())
                .collect();
            assert_eq!(why, [expected]);
        }
    }

    #[test]
    fn the_events_are_those_that_a_line_may_have() {
        let unknown = serde_json::from_str::<LineContent>(r#"{"dance":2}"#).unwrap_err();
        let names: Vec<String> = EVENTS.iter().map(|name| format!("`{name}`")).collect();
        let expected = format!("expected one of {}", names.join(", "));
        assert!(unknown.to_string().contains(&expected), "{unknown}");
    }

    #[test]
    fn what_is_no_trace_of_this_format_is_refused() {
        for text in ["", "hello\n", "{\"ms\":1,\"lost\":2}\n"] {
            assert!(matches!(read_of(text), Err(Error::NoTrace(_))), "{text}");
        }
        let later = HEADER.replace("\"format\":1", "\"format\":9");
        let refused = read_of(&later).unwrap_err();
        assert!(
            matches!(refused, Error::Format { found: 9, .. }),
            "{refused}"
        );
    }
}
