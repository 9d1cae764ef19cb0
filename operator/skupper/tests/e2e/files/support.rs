//! The directory of a site, the program that serves it, and servers behind it, at addresses that no other test uses.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

use lifecycle_tests::harness::Deadline;
use tempfile::TempDir;

/// Nothing that happens at all takes longer.
pub(crate) const SOON: Duration = Duration::from_secs(120);
const AGAIN: Duration = Duration::from_millis(50);
/// Random bytes that go there and back.
const BYTES: usize = 1 << 20;

/// An address of loopback, other than those of all other tests that run now.
pub(crate) fn own_address() -> String {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let process = 100 + std::process::id() % 120;
    format!("127.{process}.9.{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Looks again until something is so.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let mut deadline = Deadline::new(SOON);
    loop {
        match look() {
            Ok(found) => return found,
            Err(now) => assert!(!deadline.is_over(), "not in time: {what}; now: {now}"),
        }
        thread::sleep(AGAIN);
    }
}

/// A site in a directory of its own, and the process that serves it.
pub(crate) struct Site {
    folder: TempDir,
    /// Address of its Listeners.
    pub(crate) address: String,
    /// Further options of the process.
    pub(crate) options: Vec<String>,
    process: Option<Child>,
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ended = process.kill();
            let _ended = process.wait();
        }
    }
}

impl Site {
    /// Creates an empty directory for a site.
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            address: own_address(),
            options: Vec::new(),
            process: None,
        }
    }

    /// With a Site in it, and a process that serves it.
    pub(crate) fn running() -> Self {
        let mut site = Self::new();
        site.write("site.yaml", &site_of("west"));
        site.start();
        site
    }

    /// A path in the directory.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes a file below `input/resources`.
    pub(crate) fn write(&self, name: &str, text: &str) {
        self.write_file(&format!("input/resources/{name}"), text.as_bytes());
    }

    /// Writes a file.
    pub(crate) fn write_file(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Removes a file below `input/resources`.
    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path("input/resources").join(name)).unwrap();
    }

    /// The directory.
    pub(crate) fn directory(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(crate::PROGRAM);
        command.args(["run", "site", "--grace", "1"]);
        command.args(&self.options);
        command.arg(self.folder.path());
        command.env_remove("CONSOLE_LOG_LEVEL");
        command
    }

    /// Begins to serve it.
    pub(crate) fn start(&mut self) {
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.path("log"))
            .unwrap();
        let mut command = self.command();
        command.stdout(log.try_clone().unwrap()).stderr(log);
        assert!(self.process.is_none());
        self.process = Some(command.spawn().unwrap());
    }

    /// Sends the process a signal to end, and returns its exit code.
    pub(crate) fn stop(&mut self) -> Option<i32> {
        let mut process = self.process.take().unwrap();
        let id = process.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
        process.wait().unwrap().code()
    }

    /// Takes the process away.
    pub(crate) fn kill(&mut self) {
        let mut process = self.process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Returns the log of the process.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// Returns the file that the process writes for an object, or an empty string if it does not
    /// exist.
    pub(crate) fn read_object(&self, object: &str) -> String {
        let file = self
            .path("runtime/resources")
            .join(format!("{object}.yaml"));
        fs::read_to_string(file).unwrap_or_default()
    }

    /// A value of the file of an object, by a path with dots.
    pub(crate) fn value(&self, object: &str, path: &str) -> serde_json::Value {
        let all: serde_json::Value =
            serde_saphyr::from_str(&self.read_object(object)).unwrap_or_default();
        let mut found = &all;
        for part in path.split('.') {
            found = &found[part];
        }
        found.clone()
    }

    /// Waits until the status of an object is of its newest generation and has this word and message.
    #[track_caller]
    pub(crate) fn until(&self, object: &str, status: &str, message: &str) {
        let what = format!("{object} says {status}: {message}");
        let text = |path: &str| {
            let value = self.value(object, path);
            value.as_str().unwrap_or_default().to_owned()
        };
        eventually(&what, || {
            let generation = self.value(object, "metadata.generation");
            let conditions = self.value(object, "status.conditions");
            let mut conditions = conditions.as_array().into_iter().flatten();
            let is_new = conditions.all(|c| c["observedGeneration"] == generation);
            let now = (text("status.status"), text("status.message"));
            if is_new && now.0 == status && now.1.contains(message) {
                Ok(())
            } else {
                Err(format!("{now:?}, {is_new}; the log: {}", self.log()))
            }
        });
    }

    /// Waits until the file of faults contains a text, and returns the whole file.
    #[track_caller]
    pub(crate) fn until_told(&self, part: &str) -> String {
        eventually(&format!("it is told that {part}"), || {
            let told = self.read_faults();
            if told.contains(part) {
                Ok(told)
            } else {
                Err(told)
            }
        })
    }

    /// Returns the contents of the error file.
    pub(crate) fn read_faults(&self) -> String {
        fs::read_to_string(self.path("runtime/errors.txt")).unwrap_or_default()
    }

    /// Waits until nothing is wrong with the files.
    #[track_caller]
    pub(crate) fn until_whole(&self) {
        eventually("nothing is wrong", || {
            let path = self.path("runtime/errors.txt");
            (!path.exists())
                .then_some(())
                .ok_or_else(|| self.read_faults())
        });
    }

    /// A Listener at the address of this site.
    pub(crate) fn listener(&self, name: &str, port: u16, more: &str) -> String {
        object(
            "Listener",
            name,
            &format!(
                "routingKey: key, host: {}, port: {port}{more}",
                self.address
            ),
        )
    }

    /// Returns the address of the Listener with this port.
    pub(crate) fn listener_address(&self, port: u16) -> String {
        format!("{}:{port}", self.address)
    }
}

pub(crate) fn object(kind: &str, name: &str, spec: &str) -> String {
    format!(
        "apiVersion: skupper.io/v2alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n"
    )
}

pub(crate) fn site_of(name: &str) -> String {
    object("Site", name, "")
}

/// A Connector to a server.
pub(crate) fn connector(name: &str, to: SocketAddr) -> String {
    let spec = format!("routingKey: key, host: {}, port: {}", to.ip(), to.port());
    object("Connector", name, &spec)
}

/// Starts an echo server.
pub(crate) fn echo() -> SocketAddr {
    echo_at((own_address(), 0))
}

/// The same where it is wanted.
pub(crate) fn echo_at(at: (String, u16)) -> SocketAddr {
    let socket = TcpListener::bind(at).unwrap();
    let at = socket.local_addr().unwrap();
    thread::spawn(move || {
        for stream in socket.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut write = stream.try_clone().unwrap();
                // A client that broke off expects no response.
                if std::io::copy(&mut stream, &mut write).is_ok() {
                    let _gone = write.shutdown(Shutdown::Write);
                }
            });
        }
    });
    at
}

pub(crate) fn random(number: usize) -> Vec<u8> {
    let mut bytes = vec![0; number];
    let mut source = fs::File::open("/dev/urandom").unwrap();
    source.read_exact(&mut bytes).unwrap();
    bytes
}

/// Sends random bytes, ends its half, and compares all that comes back.
#[track_caller]
pub(crate) fn echoes(at: &str) {
    let stream = eventually(&format!("{at} takes connections"), || {
        TcpStream::connect(at).map_err(|error| error.to_string())
    });
    echoes_over(stream, BYTES);
}

/// The same over a connection that is open.
#[track_caller]
pub(crate) fn echoes_over(mut stream: impl Split, number: usize) {
    let sent = random(number);
    let mut writer = stream.split();
    let bytes = sent.clone();
    let writing = thread::spawn(move || {
        writer.write_all(&bytes).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut back = Vec::new();
    stream.read_to_end(&mut back).unwrap();
    writing.join().unwrap();
    assert!(back == sent, "{} bytes came back", back.len());
}

/// Connection whose two sides can be used by different threads.
pub(crate) trait Split: Read {
    /// The side that writes.
    fn split(&self) -> TcpStream;
}

impl Split for TcpStream {
    fn split(&self) -> TcpStream {
        self.set_read_timeout(Some(SOON)).unwrap();
        self.try_clone().unwrap()
    }
}

/// Sends random bytes and reads as many back, and leaves the connection open.
#[track_caller]
pub(crate) fn goes_on(stream: &mut TcpStream) {
    let sent = random(10_000);
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream.write_all(&sent).unwrap();
    let mut back = vec![0; sent.len()];
    stream.read_exact(&mut back).unwrap();
    assert!(back == sent);
}

/// Waits until connections are refused.
#[track_caller]
pub(crate) fn refused(at: &str) {
    eventually(
        &format!("{at} refuses connections"),
        || match TcpStream::connect(at) {
            Err(_) => Ok(()),
            Ok(_) => Err("it takes them".to_owned()),
        },
    );
}
