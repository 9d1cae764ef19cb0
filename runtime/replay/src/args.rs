//! The command lines: of what records, and of `replay`, and what that does: prints where this version decides otherwise.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use lifecycle_runtime::controller::Trace;

use crate::error::Error;
use crate::fixture::{Fixture, shrink};
use crate::format::Header;
use crate::held::hold;
use crate::reading::read;
use crate::recorder::{Recorder, Settings};
use crate::replayed::Replayed;
use crate::text::text;

/// Bytes of a megabyte, as it is meant here.
const MEGABYTE: u64 = 1 << 20;

/// Whether the operator is recorded.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Recording")]
pub struct Recording {
    /// Record what the operator sees and decides at the end of this file, for `replay`: a line of JSON each. What is in Secrets is left out.
    #[arg(long, env, value_name = "FILE")]
    pub trace_file: Option<PathBuf>,

    /// After so many megabytes the file becomes FILE.1, in the place of the one before, and a new one begins.
    #[arg(long, env, value_name = "MEGABYTES", default_value_t = 64)]
    pub trace_file_limit: u64,
}

impl Recording {
    /// The recorder, if one is asked for: of a program by its name and version, whose lifecycles are made with these settings.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn begin(
        &self,
        (program, version): (&str, &str),
        settings: BTreeMap<String, String>,
    ) -> Result<Option<Arc<dyn Trace>>, Error> {
        let Some(file) = self.trace_file.clone() else {
            return Ok(None);
        };
        let recorder = Recorder::begin(Settings {
            file,
            limit: self.trace_file_limit.saturating_mul(MEGABYTE),
            program: program.to_owned(),
            version: version.to_owned(),
            settings,
        })?;
        Ok(Some(Arc::new(recorder)))
    }
}

/// What is replayed, and how to print it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Replay")]
pub struct Replay {
    /// What `run --trace-file` recorded.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Replay only the passes of one object: `--object Listener default/web`.
    #[arg(long, num_args = 2, value_names = ["KIND", "NAMESPACE/NAME"])]
    pub object: Option<Vec<String>>,

    /// Shrink the first difference to a recording of one pass, with the objects without which it would not differ, and write that into this file. A test in
    /// Rust over it is printed as well.
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,

    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Output,
}

/// How it is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    #[default]
    Text,
    /// One JSON object, for programs.
    Json,
}

/// What a replay comes to. As a code of a process it is that of `diff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This version decides the same.
    Same = 0,
    /// It decides otherwise somewhere, or does not allow what happened.
    Differs = 1,
}

/// Prints where this version decides otherwise than what was recorded. `made` makes its lifecycles for a process that was recorded.
///
/// # Errors
/// The file cannot be read, none of its passes can be replayed, or nothing can be printed.
pub fn run(
    options: &Replay,
    mut made: impl FnMut(&Header) -> Result<Vec<Replayed>, Error>,
    into: &mut impl Write,
) -> Result<Verdict, Error> {
    let mut recorded = read(&options.file)?;
    if let Some(object) = &options.object {
        let asked = object.join(" ");
        let known = recorded.objects();
        if !known.contains(&asked) {
            let known = known.into_iter().collect();
            return Err(Error::NoSuchObject { asked, known });
        }
        recorded = recorded.only(&asked);
    }
    let held = hold(&recorded, &mut made)?;
    let mut printed = match options.output {
        Output::Text => text(&held),
        Output::Json => serde_json::to_string_pretty(&held).unwrap_or_default() + "\n",
    };
    if let (Some(path), Some(first)) = (&options.test, held.differences.first())
        && let Some(fixture) = shrink(&recorded, first, &mut made)?
    {
        fixture.write(path)?;
        // What is read by a program is one JSON object.
        if options.output == Output::Text {
            printed += &told(&fixture, path);
        }
    }
    into.write_all(printed.as_bytes()).map_err(Error::Print)?;
    into.flush().map_err(Error::Print)?;
    Ok(match held.is_same() {
        true => Verdict::Same,
        false => Verdict::Differs,
    })
}

fn told(fixture: &Fixture, path: &Path) -> String {
    let objects = match fixture.objects() {
        1 => "1 object".to_owned(),
        many => format!("{many} objects"),
    };
    let (file, test) = (path.display(), fixture.test(path));
    format!("The first difference needs {objects}, and is in {file}:\n\n{test}")
}
