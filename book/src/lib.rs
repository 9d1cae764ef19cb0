//! The documents of `docs/` as a book: `docs/SUMMARY.md` gives the order of its pages, every link leads somewhere, and a site is made of it.
//! Knows nothing of what the pages say.

pub mod links;
pub mod page;
pub mod site;
pub mod summary;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use page::Page;
use summary::Entry;
use thiserror::Error;

/// The page that says in which order all others stand.
pub const SUMMARY: &str = "SUMMARY.md";

/// Pages in their order.
#[derive(Debug)]
pub struct Book {
    /// Where they stand, in the order in which they are read.
    pub entries: Vec<Entry>,
    /// By their path below the folder.
    pub pages: BTreeMap<String, Page>,
    /// Pages that the summary does not name, and what it names twice, in vain or in a way that is not read.
    misplaced: Vec<String>,
}

/// Why there is no book or no site.
#[derive(Debug, Error)]
pub enum Error {
    /// A page or a folder.
    #[error("{} cannot be read", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A page of the site.
    #[error("{} cannot be written", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// What is wrong with the pages, one a line.
    #[error("the book is not whole:\n{}", .0.join("\n"))]
    Wrong(Vec<String>),
}

impl Book {
    /// Reads every page below a folder.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let mut texts = BTreeMap::new();
        gather(folder, "", &mut texts)?;
        Ok(Self::of(texts))
    }

    /// The book of these pages, by path.
    pub fn of(mut texts: BTreeMap<String, String>) -> Self {
        let summary = texts.remove(SUMMARY).unwrap_or_default();
        let (entries, mut misplaced) = summary::read(&summary);
        misplaced.extend(summary::misplaced(&entries, texts.keys()));
        let pages = texts.into_iter();
        let pages = pages.map(|(path, text)| (path, Page::of(text))).collect();
        Self {
            entries,
            pages,
            misplaced,
        }
    }

    /// What is wrong, one a line: pages without their one place in the summary, and links that lead nowhere.
    pub fn findings(&self) -> Vec<String> {
        let mut findings = self.misplaced.clone();
        findings.extend(links::broken(&self.pages));
        findings
    }
}

fn gather(folder: &Path, below: &str, texts: &mut BTreeMap<String, String>) -> Result<(), Error> {
    let here = folder.join(below);
    let unread = |path: &Path, source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let entries = std::fs::read_dir(&here).map_err(|source| unread(&here, source))?;
    for entry in entries {
        let entry = entry.map_err(|source| unread(&here, source))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = match below {
            "" => name,
            below => format!("{below}/{name}"),
        };
        let whole = entry.path();
        if whole.is_dir() {
            gather(folder, &path, texts)?;
        } else if path.ends_with(".md") {
            let text = std::fs::read_to_string(&whole).map_err(|source| unread(&whole, source))?;
            texts.insert(path, text);
        }
    }
    Ok(())
}
