//! Files that name each other in a circle. None of them can be read, tested or moved alone. A file
//! is tied to the file that defines the items that it names, through every `use` and `pub use` on
//! the way. `mod` ties nothing. Names that a module takes from its surrounding modules tie nothing
//! either, because it is a part of them. Tests do not count.

mod components;
mod package;
mod source;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};

use crate::Tree;
use package::{Package, Tie};

/// Graph of files that name items of other files, in each of some crates.
pub struct Graph {
    files: BTreeSet<String>,
    crates: Vec<Vec<Tie>>,
}

/// Files of one crate, each of which leads to every other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// The files, in order.
    pub files: Vec<String>,
    /// Line for every two of them, with the names that one uses of the other.
    pub ties: Vec<String>,
}

impl Graph {
    /// Reads crates by the files of their roots.
    pub fn read(tree: &Tree, roots: &[String]) -> Self {
        let packages: Vec<Package> = roots.iter().map(|root| Package::read(tree, root)).collect();
        let files = packages.iter().flat_map(Package::files);
        Self {
            files: files.map(str::to_owned).collect(),
            crates: packages.iter().map(Package::ties).collect(),
        }
    }

    /// How many files and how many ties were found. A search that finds none proves nothing.
    pub fn size(&self) -> (usize, usize) {
        (self.files.len(), self.crates.iter().map(Vec::len).sum())
    }

    /// The circles of every crate.
    pub fn circles(&self) -> Vec<Circle> {
        self.crates.iter().flat_map(|ties| of_crate(ties)).collect()
    }

    /// Returns the names that files of one layer use from the files of another. A prefix of their
    /// paths selects the files of a layer.
    pub fn between(&self, from: &str, to: &str) -> Vec<String> {
        let ties = self.crates.iter().flatten();
        ties.filter(|tie| tie.from.starts_with(from) && tie.to.starts_with(to))
            .map(|tie| format!("{} names {} of {}", tie.from, tie.name, tie.to))
            .collect()
    }
}

/// Circles that no exception (a prefix of paths and a reason) covers whole, and exceptions that cover none.
pub fn findings(circles: &[Circle], exceptions: &[(&str, &str)]) -> Vec<String> {
    let covers = |(prefix, _): &(&str, &str), circle: &Circle| {
        circle.files.iter().all(|file| file.starts_with(prefix))
    };
    let is_covered =
        |circle: &&Circle| exceptions.iter().any(|exception| covers(exception, circle));
    let open = circles.iter().filter(|circle| !is_covered(circle));
    let mut findings: Vec<String> = open
        .map(|circle| {
            let files = circle.files.join(", ");
            format!(
                "a circle of {} files: {files}\n  {}",
                circle.files.len(),
                circle.ties.join("\n  ")
            )
        })
        .collect();
    for exception in exceptions {
        let (prefix, reason) = exception;
        if !circles.iter().any(|circle| covers(exception, circle)) {
            findings.push(format!(
                "{prefix}: has no circle any more, remove its exception"
            ));
        }
        if reason.is_empty() {
            findings.push(format!("{prefix}: has an exception without a reason"));
        }
    }
    findings
}

fn of_crate(ties: &[Tie]) -> Vec<Circle> {
    let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for tie in ties {
        graph.entry(&tie.from).or_default().insert(&tie.to);
    }
    components::find_components(&graph)
        .into_iter()
        .filter(|files| files.len() > 1)
        .map(|files| Circle {
            ties: among(&files, ties),
            files: files.into_iter().map(str::to_owned).collect(),
        })
        .collect()
}

fn among(files: &[&str], ties: &[Tie]) -> Vec<String> {
    let mut names: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for tie in ties {
        if files.contains(&tie.from.as_str()) && files.contains(&tie.to.as_str()) {
            let pair = names.entry((&tie.from, &tie.to)).or_default();
            pair.push(&tie.name);
        }
    }
    let lines = names.into_iter();
    lines
        .map(|((from, to), names)| format!("{from} -> {to}: {}", names.join(", ")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "a/src/lib.rs";

    fn graph(files: &[(&str, &str)]) -> Graph {
        Graph::read(&Tree::made_up(files), &[ROOT.to_owned()])
    }

    fn circles_of(files: &[(&str, &str)]) -> Vec<Circle> {
        graph(files).circles()
    }

    fn two(one: &str, other: &str) -> Vec<Circle> {
        circles_of(&[
            (ROOT, "mod one; mod other;"),
            ("a/src/one.rs", one),
            ("a/src/other.rs", other),
        ])
    }

    #[test]
    fn two_files_that_name_each_other_are_a_circle() {
        let found = two(
            "use crate::other::B; struct A;",
            "fn b(a: super::one::A) {} struct B;",
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].files, ["a/src/one.rs", "a/src/other.rs"]);
        let ties = [
            "a/src/one.rs -> a/src/other.rs: B",
            "a/src/other.rs -> a/src/one.rs: A",
        ];
        assert_eq!(found[0].ties, ties);
    }

    #[test]
    fn one_way_is_no_circle() {
        assert!(two("use crate::other::B;", "struct B;").is_empty());
        let tests = "struct B; #[cfg(test)] mod tests { use crate::one::A; }";
        assert!(two("use crate::other::B; struct A;", tests).is_empty());
    }

    #[test]
    fn a_parent_and_a_child_that_takes_something_of_it_are_no_circle() {
        let parent = "mod one; struct A; fn f() { one::g() }";
        let child = ("a/src/one.rs", "use crate::A; fn g() {}");
        assert!(circles_of(&[(ROOT, parent), child]).is_empty());
    }

    #[test]
    fn a_circle_may_lead_through_a_parent() {
        let found = circles_of(&[
            (ROOT, "mod one; mod other;"),
            ("a/src/one.rs", "mod below; fn a() { below::b() }"),
            ("a/src/one/below.rs", "use crate::other::C; fn b() {}"),
            ("a/src/other.rs", "use crate::one::a; struct C;"),
        ]);
        assert_eq!(found[0].files.len(), 3);
    }

    #[test]
    fn an_exception_covers_whole_circles_and_is_needed() {
        let circle = two(
            "use crate::other::B; struct A;",
            "use crate::one::A; struct B;",
        );
        assert_eq!(findings(&circle, &[]).len(), 1);
        assert!(findings(&circle, &[("a/src", "old")]).is_empty());
        assert_eq!(findings(&circle, &[("a/src/one", "old")]).len(), 2);
        assert_eq!(findings(&circle, &[("a/src", "")]).len(), 1);
        assert_eq!(findings(&[], &[("a/src", "old")]).len(), 1);
    }

    #[test]
    fn a_layer_that_names_another_is_found() {
        let files = [
            (ROOT, "mod one; mod other;"),
            ("a/src/one.rs", "use crate::other::B;"),
            ("a/src/other.rs", "struct B;"),
        ];
        let graph = graph(&files);
        let found = graph.between("a/src/one", "a/src/other");
        assert_eq!(found, ["a/src/one.rs names B of a/src/other.rs"]);
        assert!(graph.between("a/src/other", "a/src/one").is_empty());
        assert_eq!(graph.size(), (3, 1));
    }
}
