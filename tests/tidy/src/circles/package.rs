//! The modules of one crate, and where a path that one of them names is defined: through modules, `use`, `pub use` and `super`.

use std::collections::BTreeMap;

use super::source::{self, ModuleItems};
use super::tokens;
use crate::Tree;

/// `use` that leads to `use`: no honest path is longer.
const LONGEST: usize = 24;

/// The modules of a crate. The first is its root.
#[derive(Debug, Default)]
pub(super) struct Package {
    modules: Vec<Module>,
}

#[derive(Debug)]
struct Module {
    file: String,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    said: ModuleItems,
}

/// Target of a path.
enum Target {
    Module(usize),
    /// An item of a module.
    Item(usize),
}

/// Tie from a file to the file that defines a name that it uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tie {
    /// The file that names it.
    pub(super) from: String,
    /// The file that defines it.
    pub(super) to: String,
    /// Its name.
    pub(super) name: String,
}

impl Package {
    /// Follows the `mod` lines from the root of a crate. Files that are not there are left out: that is the compiler's business.
    pub(super) fn read(tree: &Tree, root: &str) -> Self {
        let mut package = Self::default();
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        package.read_file(tree, root, folder, None);
        package
    }

    fn read_file(
        &mut self,
        tree: &Tree,
        file: &str,
        below: &str,
        parent: Option<usize>,
    ) -> Option<usize> {
        let said = source::read(&tokens::read(tree.text(file)?));
        Some(self.add(tree, file, below, parent, said))
    }

    fn add(
        &mut self,
        tree: &Tree,
        file: &str,
        below: &str,
        parent: Option<usize>,
        mut said: ModuleItems,
    ) -> usize {
        let own = self.modules.len();
        let inside = std::mem::take(&mut said.inside);
        let beside = std::mem::take(&mut said.children);
        self.modules.push(Module {
            file: file.to_owned(),
            parent,
            children: BTreeMap::new(),
            said,
        });
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (name, said) in inside {
            let child = self.add(tree, file, &format!("{below}/{name}"), Some(own), said);
            self.modules[own].children.insert(name, child);
        }
        for (name, path) in beside {
            let path = path.map_or_else(
                || format!("{below}/{name}.rs"),
                |path| format!("{folder}/{path}"),
            );
            let below = format!("{below}/{name}");
            if let Some(child) = self.read_file(tree, &path, &below, Some(own)) {
                self.modules[own].children.insert(name, child);
            }
        }
        own
    }

    /// Every file of the crate that is compiled without tests.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().map(|module| module.file.as_str())
    }

    /// Returns the ties: each file with the names that it uses of another file. Names that a module
    /// takes from its surrounding modules do not count, because the module is a part of them.
    pub(super) fn ties(&self) -> Vec<Tie> {
        let mut ties = Vec::new();
        for (own, module) in self.modules.iter().enumerate() {
            let uses = module.said.uses.iter().map(|(path, _)| path);
            let named = uses.chain(&module.said.paths).chain(&module.said.globs);
            for path in named {
                for (place, name) in self.defined(own, path) {
                    let to = &self.modules[place].file;
                    if *to != module.file && !self.is_around(place, own) {
                        ties.push(Tie {
                            from: module.file.clone(),
                            to: to.clone(),
                            name,
                        });
                    }
                }
            }
        }
        ties.sort();
        ties.dedup();
        ties
    }

    /// Returns true if one module is the parent of another, or an ancestor of it.
    fn is_around(&self, outer: usize, inner: usize) -> bool {
        let parent = self.modules[inner].parent;
        parent.is_some_and(|parent| parent == outer || self.is_around(outer, parent))
    }

    /// Returns the modules that define the end of a path, and its name there. A module is a place
    /// and defines nothing by itself.
    fn defined(&self, from: usize, path: &[String]) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (target, name) in self.resolve(from, path, LONGEST) {
            if let Target::Item(place) = target {
                found.push((place, name));
            }
        }
        found
    }

    fn resolve(&self, from: usize, path: &[String], left: usize) -> Vec<(Target, String)> {
        let Some(left) = left.checked_sub(1) else {
            return Vec::new();
        };
        let mut at = from;
        let mut rest = path;
        while let [first, after @ ..] = rest {
            at = match first.as_str() {
                "crate" => 0,
                "self" => at,
                "super" => match self.modules[at].parent {
                    Some(parent) => parent,
                    None => return Vec::new(),
                },
                _ => break,
            };
            rest = after;
        }
        // Outside a named module, a word may mean another crate, or something local.
        let mut is_inside = rest.len() < path.len();
        while let [name, after @ ..] = rest {
            let mut found = self.look_up(at, name, left);
            if found.is_empty() && is_inside && !self.brings(at, name) {
                found.push((Target::Item(at), name.clone()));
            }
            is_inside = true;
            if after.is_empty() {
                return found;
            }
            let module = found.iter().find_map(|(target, _)| match target {
                Target::Module(module) => Some(*module),
                Target::Item(_) => None,
            });
            match module {
                Some(module) => at = module,
                // `Type::function`, `Enum::Variant`: who names a part names the whole.
                None => return found,
            }
            rest = after;
        }
        vec![(Target::Module(at), String::new())]
    }

    /// Returns true if a module has a name from elsewhere. A macro or a derive makes a name that
    /// the module neither declares nor brings.
    fn brings(&self, at: usize, name: &str) -> bool {
        let said = &self.modules[at].said;
        !said.globs.is_empty() || said.uses.iter().any(|(_, alias)| alias == name)
    }

    /// Returns the meanings of a name in a module. A module and an item may share the name.
    fn look_up(&self, at: usize, name: &str, left: usize) -> Vec<(Target, String)> {
        let module = &self.modules[at];
        let child = module.children.get(name).copied();
        let mut found = Vec::new();
        if let Some(child) = child {
            found.push((Target::Module(child), name.to_owned()));
        }
        if module.said.items.contains(name) {
            found.push((Target::Item(at), name.to_owned()));
        }
        let uses = module.said.uses.iter();
        for (path, _) in uses.filter(|(_, alias)| alias == name) {
            match (path.split_first(), child) {
                // `use list::list` does not mean itself by the first of the two, but the module.
                (Some((first, rest)), Some(child)) if first == name => {
                    found.extend(self.resolve(child, rest, left));
                }
                (Some((first, _)), None) if first == name => {}
                _ => found.extend(self.resolve(at, path, left)),
            }
        }
        if found.is_empty() && left > 0 {
            for glob in &module.said.globs {
                for (target, _) in self.resolve(at, glob, left) {
                    if let Target::Module(module) = target {
                        found.extend(self.look_up(module, name, left - 1));
                    }
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ties(files: &[(&str, &str)]) -> Vec<String> {
        let package = Package::read(&Tree::made_up(files), "a/src/lib.rs");
        let ties = package.ties().into_iter();
        let short = |file: String| file.replace("a/src/", "").replace(".rs", "");
        ties.map(|tie| format!("{} -> {}: {}", short(tie.from), short(tie.to), tie.name))
            .collect()
    }

    const LIB: (&str, &str) = ("a/src/lib.rs", "mod one; mod two;");

    #[track_caller]
    fn check(one: &str, two: &str, expected: &[&str]) {
        let two = format!("pub mod below; {two}");
        let files = [
            LIB,
            ("a/src/one.rs", one),
            ("a/src/two.rs", &two),
            ("a/src/two/below.rs", "pub struct Deep; pub fn deep() {}"),
        ];
        assert_eq!(ties(&files), expected);
    }

    #[test]
    fn a_name_ties_a_file_to_the_file_that_defines_it() {
        check(
            "use crate::two::Type;",
            "struct Type;",
            &["one -> two: Type"],
        );
        check(
            "fn f() { super::two::f(1) }",
            "fn f() {}",
            &["one -> two: f"],
        );
        check(
            "use super::two::below::Deep as D;",
            "",
            &["one -> two/below: Deep"],
        );
        check(
            "type T = crate::two::Kind::Part;",
            "enum Kind {}",
            &["one -> two: Kind"],
        );
    }

    #[test]
    fn what_is_brought_from_another_file_belongs_to_that_one() {
        let both = ["one -> two/below: Deep", "two -> two/below: Deep"];
        check("use crate::two::Deep;", "pub use below::Deep;", &both);
        check(
            "use crate::two::Other;",
            "use self::below::Deep as Other;",
            &both,
        );
        check(
            "use super::two::{self}; fn f() { two::Deep }",
            "use below::*;",
            &["one -> two/below: Deep"],
        );
    }

    #[test]
    fn what_a_derive_makes_belongs_to_the_file_of_the_derive() {
        let derive = "#[derive(CustomResource)] #[kube(kind = \"Site\")] struct SiteSpec;";
        check("use super::two::Site;", derive, &["one -> two: Site"]);
        check("use super::two::Client;", "pub use kube::Client;", &[]);
    }

    #[test]
    fn modules_alone_tie_nothing() {
        check("use crate::two; use super::two::below;", "", &[]);
        check("use two::below::Deep; use ::two::X; use two::X;", "", &[]);
        check("pub(in crate::two) struct A;", "", &[]);
    }

    #[test]
    fn a_module_that_is_brought_leads_on() {
        let expected = ["one -> two/below: deep"];
        check(
            "use crate::two::below; fn f() { below::deep() }",
            "",
            &expected,
        );
        check(
            "use crate::two as t; fn f() { t::below::deep() }",
            "",
            &expected,
        );
    }

    #[test]
    fn a_parent_is_tied_to_the_child_that_it_names() {
        let expected = ["two -> two/below: deep"];
        check("", "fn f() { below::deep() }", &expected);
        check(
            "",
            "mod inside { fn f() { super::below::deep() } }",
            &expected,
        );
        check("", "use below::deep; fn f() { deep() }", &expected);
    }

    #[test]
    fn names_that_lead_to_themselves_end() {
        check(
            "use tokio; use tokio; use a::b; use b::a; fn f() { a::c(tokio::d()) }",
            "",
            &[],
        );
        check("use crate::two::X;", "use crate::one::X;", &[]);
    }

    #[test]
    fn tests_tie_nothing() {
        let one = "#[cfg(test)] mod tests { use crate::two::Type; }";
        check(one, "struct Type;", &[]);
    }

    #[test]
    fn files_are_found_by_their_path() {
        let files = [
            (
                "a/src/lib.rs",
                "#[path = \"odd.rs\"] mod one; mod two { mod below; }",
            ),
            ("a/src/odd.rs", "use crate::two::below::Deep; mod more;"),
            ("a/src/two/below.rs", "pub struct Deep;"),
            ("a/src/one/more.rs", ""),
        ];
        assert_eq!(ties(&files), ["odd -> two/below: Deep"]);
    }
}
