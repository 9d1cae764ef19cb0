//! Files that a site writes for people: `runtime/resources/KIND-NAME.yaml` with the statuses, and
//! `runtime/errors.txt` with the errors in its files. They are written only after a change, and
//! never partially. A reader sees either the old file or the new one.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use lifecycle_router::file::replace;
use lifecycle_router::plain::plain;
use serde_json::Value;

use super::input::Fault;
use super::written::{Failures, Readers, WrittenFolder, remove};

/// Below the directory of a site.
pub(super) const RUNTIME: &str = "runtime";
/// Below the directory of a site.
pub(super) const RESOURCES: &str = "runtime/resources";
/// Below the directory of a site.
pub(super) const ERRORS: &str = "runtime/errors.txt";

/// Files as last written.
#[derive(Debug)]
pub(super) struct Output {
    resources: WrittenFolder,
    errors: PathBuf,
    faults: Option<Vec<Fault>>,
    failed: Failures,
}

impl Output {
    /// Opens the output of the site in this directory, with the files of an earlier process.
    ///
    /// # Errors
    /// The folders cannot be made or read.
    pub(super) fn open(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            resources: WrittenFolder::open(directory.join(RESOURCES), Readers::All)?,
            errors: directory.join(ERRORS),
            faults: None,
            failed: Failures::default(),
        })
    }

    /// Returns the texts of resources as last written, by this process or the previous one.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.resources.texts().values().map(String::as_str)
    }

    /// Makes these objects the files of resources, by name.
    pub(super) fn keep_objects(&mut self, wanted: &BTreeMap<String, Value>) {
        let text = |(name, object): (&String, &Value)| {
            let text = serde_saphyr::to_string(object)?;
            Ok::<_, serde_saphyr::SerializeError>((name.clone(), text))
        };
        match wanted.iter().map(text).collect() {
            Ok(texts) => self.keep(&texts),
            Err(error) => tracing::warn!("statuses cannot be written: {error}"),
        }
    }

    /// Makes these the files of resources, by name.
    fn keep(&mut self, wanted: &BTreeMap<String, String>) {
        self.resources.keep(wanted);
    }

    /// Reports the faults in the files of the site, and logs each once.
    pub(super) fn report_faults(&mut self, faults: Vec<Fault>) {
        if self.faults.as_ref() == Some(&faults) {
            return;
        }
        let before = self.faults.take().unwrap_or_default();
        for fault in faults.iter().filter(|fault| !before.contains(fault)) {
            tracing::warn!("{}", line(fault));
        }
        for fault in before.iter().filter(|fault| !faults.contains(fault)) {
            let (place, said) = (plain(&fault.place), plain(&fault.said));
            tracing::info!("{place}: resolved: {said}");
        }
        let lines = faults.iter().map(|fault| line(fault) + "\n");
        let text: String = lines.collect();
        let written = match text.is_empty() {
            true => remove(&self.errors),
            false => replace(&self.errors, text.as_bytes()),
        };
        if self.failed.is_done(ERRORS, written) {
            self.faults = Some(faults);
        }
    }
}

/// A fault as a line for people.
fn line(fault: &Fault) -> String {
    format!("{}: {}", plain(&fault.place), plain(&fault.said))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn files(all: &[(&str, &str)]) -> BTreeMap<String, String> {
        let all = all.iter();
        all.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn only_what_changes_is_written_and_what_is_gone_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(RESOURCES).join(name);
        let read = |name: &str| fs::read_to_string(path(name)).ok();
        let mut output = Output::open(folder.path()).expect("it can be opened");
        output.keep(&files(&[("Site-a.yaml", "1"), ("Site-b.yaml", "1")]));
        assert_eq!(read("Site-a.yaml").as_deref(), Some("1"));
        // Another process opens the output, with the files that the earlier one left.
        let mut output = Output::open(folder.path()).expect("it can be opened");
        fs::write(path("Site-a.yaml"), "by hand").expect("a file");
        output.keep(&files(&[("Site-a.yaml", "1")]));
        assert_eq!(read("Site-a.yaml").as_deref(), Some("by hand"));
        assert_eq!(read("Site-b.yaml"), None);
        output.keep(&files(&[("Site-a.yaml", "2")]));
        assert_eq!(read("Site-a.yaml").as_deref(), Some("2"));
        let names = fs::read_dir(folder.path().join(RESOURCES)).expect("a folder");
        assert_eq!(names.count(), 1);
    }

    #[test]
    fn faults_stand_in_a_file_while_there_are_any() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = || fs::read_to_string(folder.path().join(ERRORS)).ok();
        let mut output = Output::open(folder.path()).expect("it can be opened");
        let fault = |said: &str| Fault {
            place: "a.yaml:1".to_owned(),
            said: said.to_owned(),
        };
        output.report_faults(vec![fault("one"), fault("two\nlines")]);
        let all = "a.yaml:1: one\na.yaml:1: two; lines\n";
        assert_eq!(read().as_deref(), Some(all));
        let place = "\u{1b}]0;x\u{7}.yaml".to_owned();
        let said = "\u{1b}[2Jnothing\r is \u{9b}wrong".to_owned();
        output.report_faults(vec![Fault { place, said }]);
        let told = "\\u{1b}]0;x\\u{7}.yaml: \\u{1b}[2Jnothing\\r is \\u{9b}wrong\n";
        assert_eq!(read().as_deref(), Some(told));
        output.report_faults(vec![]);
        assert_eq!(read(), None);
        fs::write(folder.path().join(ERRORS), "of before").expect("a file");
        let mut output = Output::open(folder.path()).expect("it can be opened");
        output.report_faults(vec![]);
        assert_eq!(read(), None);
    }
}
