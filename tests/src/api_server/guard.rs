//! Cleans up after a test process that was killed and could not do so itself.
//! Knows pid files and a folder, nothing else.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Waits for the end of its input, which comes once the holder of the other end is gone for any
/// reason.
const SCRIPT: &str = r#"read -r _; cat "$1"/*.pid 2>/dev/null | xargs -r kill -KILL; rm -rf "$1""#;

/// While this lives, the folder and the processes named by its pid files outlive the test process by nothing.
pub(crate) struct Guard(Child);

impl Guard {
    /// Starts watching over the folder.
    pub(super) fn watch(folder: &Path) -> Result<Self> {
        Self::start(SCRIPT, folder)
    }

    /// Starts a shell script whose first argument is the folder. Its input ends when this is
    /// dropped or its process dies.
    pub(crate) fn start(script: &str, folder: &Path) -> Result<Self> {
        Command::new("/bin/sh")
            .args(["-c", script, "guard"])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C must not end it before its work.
            .process_group(0)
            .spawn()
            .map(Self)
            .context("cannot start /bin/sh")
    }
}

impl Guard {
    /// Ends the script before it begins its work.
    ///
    /// # Errors
    /// The operating system does not let us.
    pub(crate) fn disarm(mut self) -> Result<()> {
        self.0.kill().context("cannot end a guard")
    }

    /// Lets the script do its work now.
    ///
    /// # Errors
    /// It failed.
    pub(crate) fn finish(mut self) -> Result<()> {
        drop(self.0.stdin.take());
        let status = self.0.wait().context("cannot wait for a guard")?;
        ensure!(status.success(), "cleaning up failed ({status})");
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        if let Err(error) = self.0.wait() {
            eprintln!("cannot wait for the guard of a test: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn processes_and_folder_go_when_the_holder_goes() {
        let folder = tempfile::tempdir().unwrap().keep();
        let mut left = Command::new("sleep").arg("600").spawn().unwrap();
        fs::write(folder.join("left.pid"), format!("{}\n", left.id())).unwrap();
        drop(Guard::watch(&folder).unwrap());
        assert_eq!(left.wait().unwrap().signal(), Some(9));
        assert!(!folder.exists());
    }
}
