//! Folder outside the checkout that stores the built programs: a folder for each module, and one
//! with links to all programs of a cluster. This module knows names and files, but neither how
//! programs are built nor their content.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::wrapper::Folder;

/// The cache. A folder appears in it as a whole, or not at all.
#[derive(Debug)]
pub(super) struct Cache {
    root: PathBuf,
}

impl Cache {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns the present or future location of this Go's programs.
    pub(super) fn programs_dir(&self, folder: &Folder, go: &str) -> PathBuf {
        self.root.join(folder.built_by(go))
    }

    /// Returns the location of the programs that the newest Go built.
    pub(super) fn built_by_any_go(&self, folder: &Folder) -> Option<PathBuf> {
        let mut found: Vec<PathBuf> = fs::read_dir(&self.root)
            .ok()?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                folder.is_start_of(&name)
            })
            .collect();
        found.sort();
        found.pop()
    }

    /// Creates the cache and keeps others from writing it until the answer is dropped.
    pub(super) fn lock(&self, progress: &mut dyn FnMut(&str)) -> Result<File> {
        fs::create_dir_all(&self.root)
            .with_context(|| format!("cannot create {}", self.root.display()))?;
        let path = self.root.join("lock");
        let file =
            File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
        if file.try_lock().is_err() {
            progress("waiting for another build to end");
            file.lock()
                .with_context(|| format!("cannot lock {}", path.display()))?;
        }
        Ok(file)
    }

    /// A folder to build in, which `put_in_place` can move from.
    pub(super) fn scratch(&self) -> Result<TempDir> {
        tempfile::Builder::new()
            .prefix("building-")
            .tempdir_in(&self.root)
            .context("cannot create a folder to build in")
    }

    /// Makes `target` a folder of links to these programs. They are hard links: a program is the same file under each of its paths,
    /// and stays when a person removes the other folder.
    pub(super) fn link(
        &self,
        programs: impl IntoIterator<Item = PathBuf>,
        target: &Path,
    ) -> Result<()> {
        let scratch = self.scratch()?;
        let output = scratch.path().join("output");
        fs::create_dir(&output).context("cannot create a folder to link in")?;
        for program in programs {
            let link = output.join(program.file_name().unwrap_or_default());
            fs::hard_link(&program, &link)
                .with_context(|| format!("cannot link {}", program.display()))?;
        }
        put_in_place(&output, target)
    }
}

/// Moves a complete folder to where it is looked for.
pub(super) fn put_in_place(output: &Path, target: &Path) -> Result<()> {
    if target.exists() {
        // Only an incomplete folder gets here, such as one from which a person removed a program.
        fs::remove_dir_all(target)
            .with_context(|| format!("cannot replace {}", target.display()))?;
    }
    fs::rename(output, target).with_context(|| format!("cannot create {}", target.display()))
}

#[cfg(test)]
mod tests {
    use super::super::wrapper::Wrapper;
    use super::*;

    #[test]
    fn programs_are_found_without_the_go_that_built_them() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path().to_owned());
        let committed = Wrapper::committed();
        let folder = committed.folder();
        assert_eq!(cache.built_by_any_go(&folder), None);
        for other in [&committed.etcd.folder(), &committed.kubernetes.folder()] {
            fs::create_dir(cache.programs_dir(other, "go3")).unwrap();
        }
        assert_eq!(cache.built_by_any_go(&folder), None);
        for go in ["go1", "go2"] {
            fs::create_dir(cache.programs_dir(&folder, go)).unwrap();
        }
        let newest = cache.programs_dir(&folder, "go2");
        assert_eq!(cache.built_by_any_go(&folder), Some(newest));
    }

    #[test]
    fn who_waits_for_the_lock_says_so() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path().join("not/yet/there"));
        let mut said = Vec::new();
        let first = cache.lock(&mut |line| said.push(line.to_owned())).unwrap();
        assert_eq!(said, Vec::<String>::new());
        // The line is printed before the wait, so dropping the first there ends it.
        let mut first = Some(first);
        let mut progress = |line: &str| {
            said.push(line.to_owned());
            first = None;
        };
        let second = cache.lock(&mut progress).unwrap();
        assert_eq!(said, ["waiting for another build to end"]);
        drop(second);
    }

    #[test]
    fn a_folder_is_linked_as_a_whole_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path().to_owned());
        let program = root.path().join("program");
        fs::write(&program, "text").unwrap();
        let target = root.path().join("all");
        let absent = root.path().join("absent");
        let refused = cache.link([program.clone(), absent], &target);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.ends_with("/absent"), "{refused}");
        assert!(!target.exists());
        cache.link([program.clone()], &target).unwrap();
        // It does not hang in the air when its origin is gone.
        fs::remove_file(program).unwrap();
        assert_eq!(fs::read_to_string(target.join("program")).unwrap(), "text");
    }
}
