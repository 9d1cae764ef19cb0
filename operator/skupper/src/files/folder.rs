//! The input of a site: `input/resources` and `input/certs`, checked several times a second. A unit
//! that is being written is left alone until it looks the same twice. A file that is emptied and
//! then filled therefore reports nothing in between. Independent of the meaning of files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lifecycle_router::file::{FileStamp, read};

/// Below the directory of a site.
pub(super) const INPUT: &str = "input";
/// Below the directory of a site.
pub(super) const RESOURCES: &str = "input/resources";
/// Below the directory of a site.
pub(super) const CERTIFICATES: &str = "input/certs";
/// Files that a folder of certificates may hold.
const FILES: [&str; 3] = ["ca.crt", "tls.crt", "tls.key"];
const ENDINGS: [&str; 3] = ["json", "yaml", "yml"];
/// Why a folder cannot be listed that was there.
const GONE: &str = "the folder is gone, but the objects of its files stay: restore it, or create an empty one to remove them all";
/// An object of an API server is no larger.
const LARGEST: u64 = 3 << 20;

/// Unit of the input that is read as a whole: a file of resources, or a folder of certificates. It
/// is identified by its path below the directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    /// The name of a file of resources.
    Resources(String),
    /// The name of a folder of certificates, which is that of a Secret.
    Certificates(String),
}

impl Unit {
    /// Its path below the directory.
    pub(super) fn path(&self) -> String {
        match self {
            Self::Resources(name) => format!("{RESOURCES}/{name}"),
            Self::Certificates(name) => format!("{CERTIFICATES}/{name}"),
        }
    }

    /// The file of resources with this path.
    pub(super) fn of_resources(path: &str) -> Option<Self> {
        let name = path.strip_prefix(RESOURCES)?.strip_prefix('/')?;
        Some(Self::Resources(name.to_owned()))
    }

    /// Its files below the directory.
    fn files(&self) -> Vec<PathBuf> {
        let path = PathBuf::from(self.path());
        match self {
            Self::Resources(_) => vec![path],
            Self::Certificates(_) => FILES.iter().map(|file| path.join(file)).collect(),
        }
    }
}

/// The contents of the files of a unit that are there, by their names.
pub(super) type Contents = BTreeMap<String, Result<Vec<u8>, String>>;

/// How the files of a unit look.
type LookupKey = BTreeMap<PathBuf, FileStamp>;

/// A unit that changed: its contents now; empty if it is gone.
#[derive(Debug, PartialEq)]
pub(super) struct News {
    /// Unit that changed.
    pub(super) unit: Unit,
    /// Contents of the unit.
    pub(super) contents: Contents,
}

/// The directory, and its files as last seen.
#[derive(Debug)]
pub(super) struct Folder {
    directory: PathBuf,
    seen: BTreeMap<Unit, LookupKey>,
    /// Contents as read, with the stamps of their files.
    read: BTreeMap<Unit, (LookupKey, Contents)>,
    /// Folders that cannot be listed, with the reasons.
    unlisted: BTreeMap<&'static str, String>,
    /// True if files of resources were there in an earlier process.
    is_expected: bool,
}

impl Folder {
    /// Of the site in this directory.
    pub(super) fn new(directory: &Path) -> Self {
        Self::expected(directory, false)
    }

    /// The same, where files of resources were there before.
    pub(super) fn expected(directory: &Path, is_expected: bool) -> Self {
        Self {
            directory: directory.to_owned(),
            seen: BTreeMap::new(),
            read: BTreeMap::new(),
            unlisted: BTreeMap::new(),
            is_expected,
        }
    }

    /// Returns the errors of the folders themselves.
    pub(super) fn faults(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let faults = self.unlisted.iter();
        faults.map(|(folder, why)| ((*folder).to_owned(), why.clone()))
    }

    /// True if a unit was read or is about to be, or may be there in a folder that cannot be listed.
    pub(super) fn has(&self, unit: &Unit) -> bool {
        let path = unit.path();
        let mut unlisted = self.unlisted.keys();
        let is_there = self.read.contains_key(unit) || self.seen.contains_key(unit);
        is_there || unlisted.any(|folder| path.starts_with(folder))
    }

    /// Reads everything at once, without waiting for any change to settle.
    pub(super) fn first_look(&mut self) -> Vec<News> {
        self.seen = self.scan();
        self.news(|_| true)
    }

    /// Returns the units that have changed and look the same as in the previous check.
    pub(super) fn poll_changes(&mut self) -> Vec<News> {
        let before = std::mem::take(&mut self.seen);
        self.seen = self.scan();
        let settled: BTreeSet<Unit> = self
            .seen
            .keys()
            .chain(before.keys())
            .chain(self.read.keys())
            .filter(|unit| self.seen.get(*unit) == before.get(*unit))
            .cloned()
            .collect();
        self.news(|unit| settled.contains(unit))
    }

    fn news(&mut self, is_settled: impl Fn(&Unit) -> bool) -> Vec<News> {
        let mut news = Vec::new();
        for (unit, look) in &self.seen {
            let read = self.read.get(unit);
            // The clock of the file system may hide a change of a young file.
            let is_read =
                read.is_some_and(|(of, _)| of == look && !look.values().any(FileStamp::is_young));
            if is_read || !is_settled(unit) {
                continue;
            }
            let contents = self.contents(unit);
            if read.is_none_or(|(_, known)| *known != contents) {
                let unit = unit.clone();
                news.push(News {
                    unit,
                    contents: contents.clone(),
                });
            }
            self.read.insert(unit.clone(), (look.clone(), contents));
        }
        let gone: Vec<Unit> = self
            .read
            .keys()
            .filter(|unit| !self.seen.contains_key(*unit) && is_settled(unit))
            .cloned()
            .collect();
        for unit in gone {
            self.read.remove(&unit);
            let contents = Contents::new();
            news.push(News { unit, contents });
        }
        news
    }

    fn contents(&self, unit: &Unit) -> Contents {
        let mut contents = Contents::new();
        for path in unit.files() {
            let bytes = match read(&self.directory.join(&path), LARGEST) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                read => read.map_err(|error| error.to_string()),
            };
            let name = path.file_name().unwrap_or_default();
            contents.insert(name.to_string_lossy().into_owned(), bytes);
        }
        contents
    }

    /// How everything looks now. A folder that cannot be listed looks as it did.
    fn scan(&mut self) -> BTreeMap<Unit, LookupKey> {
        let mut units = BTreeMap::new();
        for (folder, of) in [
            (RESOURCES, resources as fn(&str, bool) -> Option<Unit>),
            (CERTIFICATES, certificates),
        ] {
            let listed = list(&self.directory.join(folder)).and_then(|names| match names {
                // A folder that was moved away, or a disk that is gone, does not request any
                // removal.
                None if self.was_there(folder) => Err(io::Error::other(GONE)),
                names => Ok(names.unwrap_or_default()),
            });
            match listed {
                Ok(names) => {
                    self.unlisted.remove(folder);
                    let found = names
                        .iter()
                        .filter_map(|(name, is_folder)| of(name, *is_folder));
                    units.extend(
                        found
                            .map(|unit| (self.look_of(&unit), unit))
                            .filter_map(|(look, unit)| (!look.is_empty()).then_some((unit, look))),
                    );
                }
                Err(error) => {
                    self.unlisted
                        .insert(folder, format!("cannot be read: {error}"));
                    let known = self.read.iter().map(|(unit, (look, _))| (unit, look));
                    let same = known.filter(|(unit, _)| unit.path().starts_with(folder));
                    units.extend(same.map(|(unit, look)| (unit.clone(), look.clone())));
                }
            }
        }
        units
    }

    fn was_there(&self, folder: &str) -> bool {
        let mut read = self.read.keys();
        (self.is_expected && folder == RESOURCES)
            || read.any(|unit| unit.path().starts_with(folder))
    }

    fn look_of(&self, unit: &Unit) -> LookupKey {
        let files = unit.files().into_iter();
        let look = |path: PathBuf| {
            let metadata = fs::metadata(self.directory.join(&path)).ok()?;
            Some((path, FileStamp::from_metadata(&metadata)))
        };
        files.filter_map(look).collect()
    }
}

/// Returns the names in a folder, each with a flag for folders; `None` if the folder does not
/// exist.
fn list(folder: &Path) -> io::Result<Option<Vec<(String, bool)>>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let is_folder = fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_dir());
        if let Ok(name) = entry.file_name().into_string() {
            names.push((name, is_folder));
        }
    }
    Ok(Some(names))
}

/// Hidden files are those of editors, and of who writes a file beside its place.
fn resources(name: &str, is_folder: bool) -> Option<Unit> {
    let ending = Path::new(name).extension()?.to_str()?;
    let counts = ENDINGS.contains(&ending) && !name.starts_with('.') && !is_folder;
    counts.then(|| Unit::Resources(name.to_owned()))
}

fn certificates(name: &str, is_folder: bool) -> Option<Unit> {
    (is_folder && !name.starts_with('.')).then(|| Unit::Certificates(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    struct SiteFolder(tempfile::TempDir);

    impl SiteFolder {
        fn new() -> Self {
            Self(tempfile::tempdir().expect("a folder can be made"))
        }

        fn folder(&self) -> Folder {
            Folder::new(self.0.path())
        }

        /// Writes a file with the given age.
        fn write(&self, path: &str, text: &str, age: u64) {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().expect("it has a parent")).expect("a folder");
            fs::write(&path, text).expect("a file");
            let file = fs::File::options()
                .write(true)
                .open(&path)
                .expect("the file");
            let then = SystemTime::now() - Duration::from_secs(age);
            file.set_modified(then).expect("a time can be set");
        }

        fn remove(&self, path: &str) {
            fs::remove_file(self.0.path().join(path)).expect("it is there");
        }
    }

    fn describe_news(news: Vec<News>) -> Vec<String> {
        let show = |news: News| {
            let contents = news.contents.into_iter().map(|(name, bytes)| {
                let bytes = bytes.expect("it can be read");
                format!("{name}={}", String::from_utf8_lossy(&bytes))
            });
            let contents: Vec<_> = contents.collect();
            format!("{} {}", news.unit.path(), contents.join(" "))
        };
        news.into_iter().map(show).collect()
    }

    #[test]
    fn what_is_there_at_first_is_read_at_once_and_the_rest_left_alone() {
        let site = SiteFolder::new();
        assert!(describe_news(site.folder().first_look()).is_empty());
        for name in [
            "a.yaml", "b.yml", "c.json", ".d.yaml", "e.txt", "f.yaml~", "g.yaml/x",
        ] {
            site.write(&format!("input/resources/{name}"), name, 0);
        }
        site.write("input/certs/web/tls.crt", "c", 0);
        site.write("input/certs/web/other", "o", 0);
        site.write("input/certs/empty/other", "o", 0);
        site.write("input/certs/file", "f", 0);
        let mut folder = site.folder();
        let all = [
            "input/resources/a.yaml a.yaml=a.yaml",
            "input/resources/b.yml b.yml=b.yml",
            "input/resources/c.json c.json=c.json",
            "input/certs/web tls.crt=c",
        ];
        assert_eq!(describe_news(folder.first_look()), all);
        assert!(folder.poll_changes().is_empty());
    }

    #[test]
    fn what_is_being_written_is_waited_for() {
        let site = SiteFolder::new();
        let path = "input/resources/a.yaml";
        site.write(path, "whole", 100);
        let mut folder = site.folder();
        folder.first_look();
        site.write(path, "", 90);
        assert!(folder.poll_changes().is_empty());
        site.write(path, "wh", 80);
        assert!(folder.poll_changes().is_empty());
        site.write(path, "whole!", 70);
        assert!(folder.poll_changes().is_empty());
        assert_eq!(
            describe_news(folder.poll_changes()),
            ["input/resources/a.yaml a.yaml=whole!"]
        );
        assert!(folder.poll_changes().is_empty());
        // Some editors take the file away before they write it anew.
        site.remove(path);
        assert!(folder.poll_changes().is_empty());
        site.write(path, "whole!", 60);
        assert!(folder.poll_changes().is_empty() && folder.poll_changes().is_empty());
        site.remove(path);
        assert!(folder.poll_changes().is_empty());
        assert_eq!(
            describe_news(folder.poll_changes()),
            ["input/resources/a.yaml "]
        );
        assert!(folder.poll_changes().is_empty());
    }

    #[test]
    fn a_change_that_leaves_a_young_file_as_it_looked_is_seen() {
        let site = SiteFolder::new();
        site.write("input/certs/web/tls.crt", "one", 0);
        let mut folder = site.folder();
        folder.first_look();
        site.write("input/certs/web/tls.crt", "two", 0);
        // As if the clock of the file system had not moved.
        folder.seen = folder.scan();
        let now = folder.seen.clone();
        for (unit, (look, _)) in &mut folder.read {
            look.clone_from(&now[unit]);
        }
        assert_eq!(
            describe_news(folder.poll_changes()),
            ["input/certs/web tls.crt=two"]
        );
        assert!(folder.poll_changes().is_empty());
    }
}
