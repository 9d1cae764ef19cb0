//! The management agent as a child process, and clients of it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use lifecycle_router::adaptor::Attributes;
use lifecycle_router::adaptor::amqp::{Client, Options};
use lifecycle_tests::harness::Need;
use lifecycle_tests::proton::PYTHON;
use serde_json::Value;

/// Needs of a test that starts the agent.
pub(crate) const PROTON: &[Need] = &[Need::Proton];

/// Generous time limit: even on the slowest machine a timely answer must not be late.
pub(crate) const AMPLE: Duration = Duration::from_secs(60);

/// Short enough to wait for it where no answer comes.
pub(crate) const SHORT: Duration = Duration::from_millis(200);

/// The agent.
pub(crate) struct Agent {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    pub(crate) port: u16,
}

impl Agent {
    pub(crate) fn start() -> Self {
        Self::start_on(0)
    }

    pub(crate) fn start_on(port: u16) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/adaptor/agent.py");
        let child = Command::new(PYTHON)
            .args(["-B", script, &port.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let starts = "the management agent starts, for its needs are met";
        let mut child = child.expect(starts);
        let commands = child.stdin.take().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("port ").expect(starts);
        let port = port.parse().unwrap();
        Self {
            child,
            commands,
            answers,
            port,
        }
    }

    /// Sends a command, and returns the line that answers it.
    pub(crate) fn run(&mut self, command: &str) -> String {
        writeln!(self.commands, "{command}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        assert!(!line.starts_with("error"), "{command}: {line}");
        line.trim_end().to_owned()
    }

    /// The entities, by type and name.
    pub(crate) fn dump(&mut self) -> Value {
        serde_json::from_str(&self.run("dump")).unwrap()
    }

    /// The requests since the last call.
    pub(crate) fn requests(&mut self) -> Vec<Value> {
        serde_json::from_str(&self.run("requests")).unwrap()
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            host: "127.0.0.1".to_owned(),
            port: self.port,
            limit: AMPLE,
            ..Options::default()
        }
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect(&self.options()).await.unwrap()
    }

    pub(crate) async fn client_with_page(&self, page: u16) -> Client {
        let options = Options {
            page,
            ..self.options()
        };
        Client::connect(&options).await.unwrap()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have ended already.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// The attributes of a JSON object.
pub(crate) fn attributes(value: Value) -> Attributes {
    value.as_object().unwrap().clone()
}

/// An error with its causes.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}
