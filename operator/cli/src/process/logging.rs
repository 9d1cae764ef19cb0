//! Destinations of logs: console, files, a collector, several of them or none. Levels come from environment variables, everything else from the command
//! line.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use lifecycle_runtime::spans;
use opentelemetry_otlp::ExporterBuildError;
use thiserror::Error;
use tracing::Subscriber;
use tracing_appender::rolling::{InitError, RollingFileAppender, Rotation};
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use crate::process::args;
use crate::process::otlp::Exporters;

const CONSOLE_LEVEL: &str = "CONSOLE_LOG_LEVEL";
const FILE_LEVEL: &str = "FILE_LOG_LEVEL";
const LOG_EXPORTER_LEVEL: &str = "OTEL_LOG_EXPORTER_LEVEL";
const TRACE_EXPORTER_LEVEL: &str = "OTEL_TRACE_EXPORTER_LEVEL";
/// Log levels, unless the environment sets others.
pub const USUAL_LEVEL: &str = "info";
const QUIET_LEVEL: &str = "warn";
/// Crates that log every failed request again in full, and every link that another router ended.
/// Its sender or owner reports each in one line with a remedy.
const REPEATED: [(&str, &str); 3] = [
    ("kube_client", "kube_client::client=off"),
    ("kube_runtime", "kube_runtime::watcher=off"),
    ("yamux", "yamux=error"),
];
/// Spans that are made for traces. Each line has the object or the volume in its own fields.
const FOR_TRACES: [(&str, &str); 1] = [(spans::TARGET, "lifecycle::spans=off")];
/// Prefix of the log file names of the operators of this workspace.
pub const FILE_PREFIX: &str = "lifecycle-operator";
/// By this suffix log collectors of the platform find files of this format.
const FILE_SUFFIX: &str = "tracing-rs.json";

/// Why logging could not begin.
#[derive(Debug, Error)]
pub enum Error {
    /// A level is no list of filter directives.
    #[error(
        "environment variable {variable} is `{directives}`, which is no log filter; use a level such as info, or directives such as warn,kube=debug"
    )]
    Level {
        /// The variable.
        variable: &'static str,
        /// Value of the variable.
        directives: String,
        /// Error in the value.
        source: ParseError,
    },
    /// The directory for log files cannot be used.
    #[error("log files cannot be written to {}; choose another --file-log-directory", directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// Reason why it cannot be used.
        source: InitError,
    },
    /// A variable of the specification of OTLP cannot be used.
    #[error(
        "{option} cannot be used: correct the variables OTEL_EXPORTER_OTLP_*, or leave the option out"
    )]
    Exporter {
        /// Option that enables the exporter.
        option: &'static str,
        /// Reason for the rejection.
        source: ExporterBuildError,
    },
    /// A subscriber is already installed.
    #[error("logging has begun already in this process")]
    Twice(#[source] TryInitError),
}

type Boxed = Box<dyn Layer<Registry> + Send + Sync>;

/// Begins logging, for the whole process, of a program and its version. Names of files begin with that of the program. Exporters need a running
/// Tokio runtime.
///
/// # Errors
/// If a level is no filter, the directory or an endpoint cannot be used, or logging has begun already.
pub fn begin(program: (&str, &str), options: &args::Telemetry) -> Result<Exporters, Error> {
    begin_at(USUAL_LEVEL, program, options)
}

/// Begins logging, with these filter directives where the environment has none.
///
/// # Errors
/// As `begin`.
pub fn begin_at(
    usual: &str,
    program: (&str, &str),
    options: &args::Telemetry,
) -> Result<Exporters, Error> {
    let level = |variable| match std::env::var(variable) {
        Ok(level) if !level.is_empty() => level,
        _ => usual.to_owned(),
    };
    let mut layers = layers(
        (program.0, options),
        (io::stdout, io::stdout().is_terminal()),
        &level(CONSOLE_LEVEL),
        &level(FILE_LEVEL),
    )?;
    let mut exporters = Exporters::default();
    if options.otel_log_exporter_enabled {
        let filter = filter(LOG_EXPORTER_LEVEL, &level(LOG_EXPORTER_LEVEL), &[])?;
        let layer = exporters.export_logs(program, filter);
        layers.push(layer.map_err(|source| Error::Exporter {
            option: "--otel-log-exporter-enabled",
            source,
        })?);
    }
    if options.otel_trace_exporter_enabled {
        let filter = filter(TRACE_EXPORTER_LEVEL, &level(TRACE_EXPORTER_LEVEL), &[])?;
        let layer = exporters.export_traces(program, filter);
        layers.push(layer.map_err(|source| Error::Exporter {
            option: "--otel-trace-exporter-enabled",
            source,
        })?);
    }
    let subscriber = tracing_subscriber::registry().with(layers);
    subscriber.try_init().map_err(Error::Twice)?;
    Ok(exporters)
}

/// Starts logging for a command with output for users: to standard error, and without a level in
/// the environment only warnings and errors.
///
/// # Errors
/// If the level is no filter, or logging has begun already.
pub fn begin_quietly() -> Result<(), Error> {
    let level = std::env::var(CONSOLE_LEVEL).unwrap_or_default();
    let level = if level.is_empty() {
        QUIET_LEVEL
    } else {
        &level
    };
    let console = (io::stderr, io::stderr().is_terminal());
    let layer = console_layer(args::Format::Plain, console);
    let layer = layer.with_filter(filter(CONSOLE_LEVEL, level, &FOR_TRACES)?);
    tracing_subscriber::registry()
        .with(layer.boxed())
        .try_init()
        .map_err(Error::Twice)
}

/// Returns the layers. `console` is the target of the output, with a flag that is true if users
/// read it there: only then it has colors.
fn layers<W>(
    (program, options): (&str, &args::Telemetry),
    console: (W, bool),
    console_level: &str,
    file_level: &str,
) -> Result<Vec<Boxed>, Error>
where
    W: for<'w> fmt::MakeWriter<'w> + Send + Sync + 'static,
{
    let mut layers = Vec::new();
    if !options.console_log_disabled {
        let filter = filter(CONSOLE_LEVEL, console_level, &FOR_TRACES)?;
        let layer = console_layer(options.console_log_format, console);
        layers.push(layer.with_filter(filter).boxed());
    }
    if let Some(directory) = &options.file_log_directory {
        let filter = filter(FILE_LEVEL, file_level, &FOR_TRACES)?;
        let files = files(directory, (program, options))?;
        layers.push(json(files).with_filter(filter).boxed());
    }
    Ok(layers)
}

fn console_layer<W>(format: args::Format, (console, colours): (W, bool)) -> Boxed
where
    W: for<'w> fmt::MakeWriter<'w> + Send + Sync + 'static,
{
    match format {
        args::Format::Json => json(console),
        args::Format::Plain => fmt::layer().with_ansi(colours).with_writer(console).boxed(),
    }
}

fn json<S, W>(writer: W) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    W: for<'w> fmt::MakeWriter<'w> + Send + Sync + 'static,
{
    fmt::layer().json().with_writer(writer).boxed()
}

fn files(
    directory: &Path,
    (program, options): (&str, &args::Telemetry),
) -> Result<RollingFileAppender, Error> {
    let rotation = match options.file_log_rotation_period {
        args::Rotation::Never => Rotation::NEVER,
        args::Rotation::Minutely => Rotation::MINUTELY,
        args::Rotation::Hourly => Rotation::HOURLY,
        args::Rotation::Daily => Rotation::DAILY,
    };
    let mut files = RollingFileAppender::builder()
        .rotation(rotation)
        .filename_prefix(program)
        .filename_suffix(FILE_SUFFIX);
    if let Some(kept) = options.file_log_max_files {
        files = files.max_log_files(kept);
    }
    files.build(directory).map_err(|source| Error::Directory {
        directory: directory.to_owned(),
        source,
    })
}

/// Returns a filter by these directives. REPEATED and `also` limit the targets that they do not
/// name.
fn filter(
    variable: &'static str,
    directives: &str,
    also: &[(&str, &str)],
) -> Result<EnvFilter, Error> {
    let directives = match directives {
        "" => USUAL_LEVEL,
        directives => directives,
    };
    let mut all = directives.to_owned();
    for (name, off) in REPEATED.iter().chain(also) {
        if !directives.contains(name) {
            all = format!("{all},{off}");
        }
    }
    EnvFilter::builder()
        .parse(all)
        .map_err(|source| Error::Level {
            variable,
            directives: directives.to_owned(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A console that can be read back.
    #[derive(Clone, Default)]
    struct Console(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Console {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn options() -> args::Telemetry {
        args::Telemetry {
            console_log_disabled: false,
            console_log_format: args::Format::Plain,
            file_log_directory: None,
            file_log_rotation_period: args::Rotation::Never,
            file_log_max_files: None,
            otel_log_exporter_enabled: false,
            otel_trace_exporter_enabled: false,
        }
    }

    /// Returns the console output after an info and a debug line are logged.
    fn logged(options: &args::Telemetry, console_level: &str, file_level: &str) -> String {
        let console = Console::default();
        let writer = console.clone();
        let layers = layers(
            (FILE_PREFIX, options),
            (move || writer.clone(), false),
            console_level,
            file_level,
        )
        .unwrap();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layers), || {
            tracing::info!(answer = 42, "an info line");
            tracing::debug!("a debug line");
        });
        let bytes = console.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_console_shows_info_unless_told_otherwise() {
        let lines = logged(&options(), "", "");
        assert!(
            lines.contains("an info line answer=42") && !lines.contains("debug"),
            "{lines}"
        );
        assert!(logged(&options(), "debug", "").contains("a debug line"));
        assert_eq!(logged(&options(), "off", ""), "");
    }

    #[test]
    fn refused_requests_are_said_once_unless_the_client_is_asked_for() {
        for (level, shown) in [("", false), ("debug", false), ("kube_client=error", true)] {
            let console = Console::default();
            let writer = console.clone();
            let layers = layers(
                (FILE_PREFIX, &options()),
                (move || writer.clone(), false),
                level,
                "",
            )
            .unwrap();
            tracing::subscriber::with_default(tracing_subscriber::registry().with(layers), || {
                tracing::error!(target: "kube_client::client::builder", "failed with status 500");
            });
            assert_eq!(!console.0.lock().unwrap().is_empty(), shown, "{level}");
        }
    }

    #[test]
    fn spans_that_are_made_for_traces_change_no_line() {
        for (level, shown) in [
            ("", false),
            ("debug", false),
            ("info,lifecycle::spans=info", true),
        ] {
            let console = Console::default();
            let writer = console.clone();
            let layers = layers(
                (FILE_PREFIX, &options()),
                (move || writer.clone(), false),
                level,
                "",
            )
            .unwrap();
            tracing::subscriber::with_default(tracing_subscriber::registry().with(layers), || {
                let span = tracing::info_span!(target: spans::TARGET, "reconcile", name = "web");
                let _entered = span.enter();
                tracing::info!("a line");
            });
            let bytes = console.0.lock().unwrap().clone();
            let line = String::from_utf8(bytes).unwrap();
            assert!(line.contains("a line"), "{level}: {line}");
            assert_eq!(line.contains("reconcile"), shown, "{level}: {line}");
        }
    }

    #[test]
    fn m33_the_console_can_be_switched_off_or_to_json() {
        let off = args::Telemetry {
            console_log_disabled: true,
            ..options()
        };
        assert_eq!(logged(&off, "debug", ""), "");
        let json = args::Telemetry {
            console_log_format: args::Format::Json,
            ..options()
        };
        let line: serde_json::Value = serde_json::from_str(logged(&json, "", "").trim()).unwrap();
        assert_eq!(line["fields"]["message"], "an info line");
        assert_eq!(line["fields"]["answer"], 42);
    }

    #[test]
    fn m33_files_have_a_level_of_their_own() {
        let directory = tempfile::tempdir().unwrap();
        let files = args::Telemetry {
            console_log_disabled: true,
            file_log_directory: Some(directory.path().join("logs")),
            file_log_rotation_period: args::Rotation::Daily,
            file_log_max_files: Some(2),
            ..options()
        };
        assert_eq!(logged(&files, "off", "debug"), "");
        let written: Vec<_> = std::fs::read_dir(directory.path().join("logs"))
            .unwrap()
            .collect();
        assert_eq!(written.len(), 1);
        let file = written[0].as_ref().unwrap().path();
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(
            name.starts_with("lifecycle-operator.") && name.ends_with(".tracing-rs.json"),
            "{name}"
        );
        let lines = std::fs::read_to_string(file).unwrap();
        assert_eq!(lines.lines().count(), 2);
        assert!(lines.contains("a debug line"));
    }

    #[test]
    fn a_bad_level_and_an_impossible_directory_are_named() {
        let level = |level: &str| {
            layers((FILE_PREFIX, &options()), (io::sink, false), level, "")
                .err()
                .map(|e| e.to_string())
        };
        assert_eq!(
            level("kube=loud").unwrap(),
            "environment variable CONSOLE_LOG_LEVEL is `kube=loud`, which is no log filter; \
             use a level such as info, or directives such as warn,kube=debug"
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        let files = args::Telemetry {
            file_log_directory: Some(file.path().join("below-a-file")),
            ..options()
        };
        let refused = layers((FILE_PREFIX, &files), (io::sink, false), "", "")
            .err()
            .unwrap()
            .to_string();
        assert!(refused.contains("--file-log-directory"), "{refused}");
    }
}
