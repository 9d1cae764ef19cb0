//! Command lines of the recording program and of `replay`, and the execution of `replay`. It prints
//! the decisions that differ in this version.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use lifecycle_runtime::controller::Trace;

use crate::Output;
use crate::output::print;
use crate::replay::error::Error;
use crate::replay::fixture::{Fixture, shrink};
use crate::replay::format::Header;
use crate::replay::held::hold;
use crate::replay::reading::read;
use crate::replay::recorder::{Recorder, Settings};
use crate::replay::replayed::Replayed;
use crate::replay::text::text;
use crate::text::counted;

/// Bytes of a megabyte, as it is meant here.
const MEGABYTE: u64 = 1 << 20;

/// Options that record the operator.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Recording")]
pub struct Recording {
    /// Trace file for `replay`. The operator appends its observations and decisions to it, each as
    /// one line of JSON. The content of Secrets is left out.
    #[arg(long, env, value_name = "FILE")]
    pub trace_file: Option<PathBuf>,

    /// Size in megabytes at which the file becomes FILE.1, in place of the previous one, and a new
    /// file begins.
    #[arg(long, env, value_name = "MEGABYTES", default_value_t = 64)]
    pub trace_file_limit: u64,
}

impl Recording {
    /// Returns the recorder if one is requested. It records a program by name and version, whose
    /// lifecycles are made with these settings.
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

/// Recording to replay, and the format of the output.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Replay")]
pub struct Replay {
    /// File that `run --trace-file` recorded.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Replay only the reconciliations of one object: `--object Listener default/web`.
    #[arg(long, num_args = 2, value_names = ["KIND", "NAMESPACE/NAME"])]
    pub object: Option<Vec<String>>,

    /// Shrink the first difference to a recording of one reconciliation and write it into this
    /// file. The recording keeps only the objects that the difference needs. A test in Rust over it
    /// is printed as well.
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,

    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Output,
}

/// Outcome of a replay. As an exit code of a process it equals that of `diff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This version decides the same.
    Same = 0,
    /// This version decides differently, or does not allow a recorded event.
    Differs = 1,
}

/// Prints the decisions of this version that differ from the recorded ones. `made` creates its
/// lifecycles for a recorded process.
///
/// # Errors
/// Returns an error if the file cannot be read, none of its reconciliations can be replayed, or
/// nothing can be printed.
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
    let mut rendered = options.output.render(&held, text);
    if let (Some(path), Some(first)) = (&options.test, held.differences.first())
        && let Some(fixture) = shrink(&recorded, first, &mut made)?
    {
        fixture.write(path)?;
        // Programs read the output as one JSON object, so only text output gets the addition.
        if options.output == Output::Text {
            rendered += &describe_fixture(&fixture, path);
        }
    }
    print(&rendered, into).map_err(Error::Print)?;
    Ok(match held.is_same() {
        true => Verdict::Same,
        false => Verdict::Differs,
    })
}

fn describe_fixture(fixture: &Fixture, path: &Path) -> String {
    let objects = counted(fixture.objects(), "object", "objects");
    let (file, test) = (path.display(), fixture.test(path));
    format!("The first difference needs {objects}, and is in {file}:\n\n{test}")
}
