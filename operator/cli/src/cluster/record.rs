//! A file with a line of JSON for each request on the port, for users who analyze the requests of a
//! program.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use lifecycle_simulator::http::Recorder;
use lifecycle_simulator::server::{Recorded, RecordedBody};
use serde_json::{Map, Value};
use thiserror::Error;

use super::complain;

/// Why nothing can be recorded.
#[derive(Debug, Error)]
#[error("requests cannot be recorded in {}: choose another place with --record", path.display())]
pub struct Error {
    /// Path of the file.
    path: PathBuf,
    /// Error of the operating system.
    source: io::Error,
}

/// The end of a file, with a flag that is true after a failed write.
struct Tail {
    file: File,
    failed: bool,
}

/// Appends each request to a file, which is created if it is missing.
///
/// # Errors
/// It cannot be opened.
pub fn to(path: &Path) -> Result<Recorder, Error> {
    let opened = OpenOptions::new().create(true).append(true).open(path);
    let file = opened.map_err(|source| Error {
        path: path.to_owned(),
        source,
    })?;
    let tail = Mutex::new(Tail {
        file,
        failed: false,
    });
    let path = path.to_owned();
    Ok(Arc::new(move |recorded| {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        let line = format!("{}\n", line(recorded, Timestamp::now()));
        let written = tail.file.write_all(line.as_bytes());
        if let Err(error) = written
            && !std::mem::replace(&mut tail.failed, true)
        {
            complain(&format!("{} cannot be written: {error}", path.display()));
        }
    }))
}

fn line(recorded: &Recorded, now: Timestamp) -> Value {
    let now = now.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
    let mut line = Map::new();
    let mut put = |name: &str, value: Value| line.insert(name.to_owned(), value);
    put("time", now.into());
    put("verb", recorded.verb.as_str().into());
    put("path", recorded.path.as_str().into());
    put("code", recorded.code.into());
    put("user", recorded.user.as_str().into());
    put("agent", recorded.agent.as_str().into());
    match &recorded.body {
        RecordedBody::Empty => None,
        RecordedBody::Value(value) => put("body", value.clone()),
        RecordedBody::LeftOut => put("body", "left out: it holds a secret".into()),
    };
    Value::Object(line)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn recorded(body: RecordedBody) -> Recorded {
        Recorded {
            user: "admin".to_owned(),
            verb: "patch".to_owned(),
            path: "/api/v1/namespaces/a/secrets/b".to_owned(),
            agent: "kubectl/v1.36".to_owned(),
            code: 200,
            body,
        }
    }

    #[test]
    fn each_request_is_a_line_at_the_end_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests");
        for body in [
            RecordedBody::Empty,
            RecordedBody::Value(json!({ "a": "b\nc" })),
        ] {
            // Each a recorder of its own, as if the cluster had been started anew.
            to(&path).unwrap()(&recorded(body));
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["verb"], "patch");
        assert_eq!(lines[0]["code"], 200);
        assert_eq!(lines[0].get("body"), None);
        assert_eq!(lines[1]["body"]["a"], "b\nc");
        assert!(lines[1]["time"].as_str().unwrap().ends_with('Z'));
    }

    #[test]
    fn that_a_body_was_secret_is_told_and_nothing_of_it() {
        let line = line(&recorded(RecordedBody::LeftOut), Timestamp::UNIX_EPOCH);
        assert_eq!(line["body"], "left out: it holds a secret");
        assert_eq!(line["time"], "1970-01-01T00:00:00.000000Z");
    }

    #[test]
    fn a_file_that_cannot_be_made_is_named() {
        let refused = to(Path::new("/nowhere/at/all"));
        let said = refused.map(|_| ()).unwrap_err().to_string();
        assert!(said.contains("/nowhere/at/all") && said.contains("--record"));
    }
}
