//! Objects that all files of a site declare together. An unreadable file declares the same objects
//! as before. If two files name the same object, the file that existed first counts. Pure: contents
//! in, objects and faults out.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;
use lifecycle_specs_skupper::router::{LOCAL_CA, LOCAL_SERVER};
use serde_json::{Map, Value, json};

use super::documents::{self, Document, ObjectKey};
use super::folder::{Contents, News, Unit};

/// Fault and its place: a path below the directory, with a line if one is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fault {
    /// Place of the fault.
    pub(super) place: String,
    /// Description of the fault.
    pub(super) said: String,
}

/// Content of one file or folder.
#[derive(Debug, Default)]
struct ParsedUnit {
    wanted: Vec<Document>,
    faults: Vec<Fault>,
}

/// Requested object, with its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RequestedObject {
    /// The object.
    pub(super) object: Value,
    /// The file, with the line.
    pub(super) place: String,
    /// Unit of the input that contains the object.
    pub(super) unit: Unit,
}

/// All files of a site.
#[derive(Debug)]
pub(super) struct Input {
    namespace: String,
    units: BTreeMap<Unit, ParsedUnit>,
    /// Unit whose object counts.
    holders: BTreeMap<ObjectKey, Unit>,
}

impl Input {
    /// Returns an empty input for a site whose objects are in this namespace.
    pub(super) fn new(namespace: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            units: BTreeMap::new(),
            holders: BTreeMap::new(),
        }
    }

    /// Restores, before any file is read, a document that an earlier process read from a file.
    pub(super) fn remember(&mut self, unit: Unit, document: Document) {
        let said = self.units.entry(unit).or_default();
        said.wanted.push(document);
    }

    /// Forgets the remembered documents of files that no longer exist. Returns true if there were
    /// any.
    pub(super) fn keep(&mut self, is_there: impl Fn(&Unit) -> bool) -> bool {
        let before = self.units.len();
        self.units.retain(|unit, _| is_there(unit));
        self.units.len() != before
    }

    /// Processes the current content of a file or folder.
    pub(super) fn learn(&mut self, news: News) {
        let News { unit, contents } = news;
        let before = self.units.remove(&unit).unwrap_or_default();
        if contents.is_empty() {
            return;
        }
        let said = match &unit {
            Unit::Resources(name) => self.resources(&unit, name, &contents, before),
            Unit::Certificates(name) => self.certificates(&unit, name, contents, before),
        };
        self.units.insert(unit, said);
    }

    fn resources(
        &self,
        unit: &Unit,
        name: &str,
        contents: &Contents,
        before: ParsedUnit,
    ) -> ParsedUnit {
        let text = match contents.values().next() {
            Some(Ok(text)) => text,
            Some(Err(why)) => {
                return retain_with_fault(before, unit.path(), format!("cannot be read: {why}"));
            }
            None => return ParsedUnit::default(),
        };
        let is_json = name.ends_with(".json");
        let read = match documents::read(text, is_json, &self.namespace) {
            Ok(read) => read,
            Err(error) => {
                return retain_with_fault(
                    before,
                    source_location(unit, error.line),
                    error.to_string(),
                );
            }
        };
        let mut wanted = read.wanted;
        let said: BTreeSet<ObjectKey> = wanted.iter().map(|one| one.key.clone()).collect();
        let kept = before.wanted.into_iter().filter(|one| {
            let is_unclear = read.is_unclear && !said.contains(&one.key);
            is_unclear || read.kept.contains(&one.key)
        });
        wanted.extend(kept);
        let fault = |(line, said)| Fault {
            place: source_location(unit, Some(line)),
            said,
        };
        ParsedUnit {
            wanted,
            faults: read.faults.into_iter().map(fault).collect(),
        }
    }

    fn certificates(
        &self,
        unit: &Unit,
        name: &str,
        contents: Contents,
        before: ParsedUnit,
    ) -> ParsedUnit {
        let mut data = Map::new();
        for (file, bytes) in contents {
            match bytes {
                Ok(bytes) => drop(data.insert(file, json!(ByteString(bytes)))),
                Err(why) => {
                    let place = format!("{}/{file}", unit.path());
                    return retain_with_fault(before, place, format!("cannot be read: {why}"));
                }
            }
        }
        let object = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": { "name": name, "namespace": self.namespace }, "data": data,
        });
        let wanted = vec![Document {
            key: ObjectKey::secret(name),
            line: None,
            object,
        }];
        ParsedUnit {
            wanted,
            faults: Vec::new(),
        }
    }

    /// Returns all declared objects, and all faults in their declarations.
    pub(super) fn requested_objects(
        &mut self,
    ) -> (BTreeMap<ObjectKey, RequestedObject>, Vec<Fault>) {
        self.settle_holders();
        let mut asked = BTreeMap::new();
        let mut faults = Vec::new();
        for (unit, said) in &self.units {
            faults.extend(said.faults.iter().cloned());
            for one in &said.wanted {
                let place = source_location(unit, one.line);
                let holder = self.holders.get(&one.key);
                if [LOCAL_SERVER, LOCAL_CA]
                    .map(ObjectKey::secret)
                    .contains(&one.key)
                {
                    let said = format!(
                        "{} is what the router itself has: choose another name",
                        one.key
                    );
                    faults.push(Fault { place, said });
                } else if holder != Some(unit) || asked.contains_key(&one.key) {
                    let first = match asked.get(&one.key) {
                        Some(RequestedObject { place, .. }) if holder == Some(unit) => {
                            place.clone()
                        }
                        Some(_) | None => holder.map(Unit::path).unwrap_or_default(),
                    };
                    let said = format!("{} is also in {first}, which counts", one.key);
                    faults.push(Fault { place, said });
                } else {
                    let object = one.object.clone();
                    let unit = unit.clone();
                    let one_asked = RequestedObject {
                        object,
                        place,
                        unit,
                    };
                    asked.insert(one.key.clone(), one_asked);
                }
            }
        }
        (asked, faults)
    }

    /// Lets the holder of an object keep it while it declares it; otherwise the first unit that
    /// declares the object becomes its holder.
    fn settle_holders(&mut self) {
        let asks = |unit: &Unit, key: &ObjectKey| {
            let said = self.units.get(unit);
            said.is_some_and(|said| said.wanted.iter().any(|one| one.key == *key))
        };
        self.holders.retain(|key, unit| asks(unit, key));
        for (unit, said) in &self.units {
            for one in &said.wanted {
                let holder = self.holders.entry(one.key.clone());
                holder.or_insert_with(|| unit.clone());
            }
        }
    }
}

/// Keeps all earlier declarations, and reports the fault.
fn retain_with_fault(before: ParsedUnit, place: String, said: String) -> ParsedUnit {
    ParsedUnit {
        wanted: before.wanted,
        faults: vec![Fault { place, said }],
    }
}

fn source_location(unit: &Unit, line: Option<u64>) -> String {
    match line {
        Some(line) => format!("{}:{line}", unit.path()),
        None => unit.path(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resources(name: &str, text: &str) -> News {
        let contents = [(name.to_owned(), Ok(text.as_bytes().to_vec()))];
        News {
            unit: Unit::Resources(name.to_owned()),
            contents: contents.into(),
        }
    }

    fn listener(name: &str, port: u16) -> String {
        format!(
            "apiVersion: skupper.io/v2alpha1\nkind: Listener\nmetadata: {{name: {name}}}\nspec: {{port: {port}}}\n---\n"
        )
    }

    /// Names with ports, and complaints.
    fn describe_input(input: &mut Input) -> (Vec<String>, Vec<String>) {
        let (asked, faults) = input.requested_objects();
        let asked = asked.iter().map(|(key, asked)| {
            format!(
                "{} {} at {}",
                key.name, asked.object["spec"]["port"], asked.place
            )
        });
        let faults = faults
            .iter()
            .map(|fault| format!("{}: {}", fault.place, fault.said));
        (asked.collect(), faults.collect())
    }

    #[test]
    fn a_file_that_breaks_keeps_what_it_asked_for() {
        let mut input = Input::new("default");
        input.learn(resources("a.yaml", &(listener("a", 1) + &listener("b", 2))));
        input.learn(resources("c.yaml", &listener("c", 3)));
        let all = [
            "a 1 at input/resources/a.yaml:1",
            "b 2 at input/resources/a.yaml:6",
            "c 3 at input/resources/c.yaml:1",
        ];
        assert_eq!(
            describe_input(&mut input),
            (all.map(str::to_owned).to_vec(), vec![])
        );
        input.learn(resources("a.yaml", "a: [\n"));
        let (asked, faults) = describe_input(&mut input);
        assert_eq!(asked, all);
        assert!(
            faults.len() == 1 && faults[0].starts_with("input/resources/a.yaml:"),
            "{faults:?}"
        );
        assert!(faults[0].contains("is not YAML"), "{faults:?}");
        let unread = News {
            unit: Unit::Resources("c.yaml".to_owned()),
            contents: [("c.yaml".to_owned(), Err("it is too large".to_owned()))].into(),
        };
        input.learn(unread);
        let (asked, faults) = describe_input(&mut input);
        assert_eq!((asked.len(), faults.len()), (3, 2));
        // One of its documents goes, the other is of another namespace for now.
        let away = listener("b", 4).replace("{name: b}", "{name: b, namespace: east}");
        input.learn(resources("a.yaml", &away));
        let (asked, faults) = describe_input(&mut input);
        assert_eq!(asked.len(), 2, "{asked:?}");
        assert!(asked[0].starts_with("b 2"), "{asked:?}");
        assert_eq!(faults.len(), 2, "{faults:?}");
    }

    #[test]
    fn a_document_without_a_name_withholds_no_other_and_ends_none() {
        let mut input = Input::new("default");
        let nameless = "apiVersion: v1\nkind: Secret\n---\n";
        input.learn(resources(
            "a.yaml",
            &(nameless.to_owned() + &listener("a", 1)),
        ));
        let (asked, faults) = describe_input(&mut input);
        assert_eq!(asked, ["a 1 at input/resources/a.yaml:4"]);
        let said = ["input/resources/a.yaml:1: has no metadata.name"];
        assert_eq!(faults, said);
        input.learn(resources("a.yaml", &(listener("a", 1) + &listener("b", 2))));
        // The name of `b` was removed, so the nameless document may be `b`.
        let lost = listener("b", 3).replace("{name: b}", "{}");
        input.learn(resources("a.yaml", &(listener("a", 4) + &lost)));
        let (asked, faults) = describe_input(&mut input);
        let all = [
            "a 4 at input/resources/a.yaml:1",
            "b 2 at input/resources/a.yaml:6",
        ];
        assert_eq!((asked, faults.len()), (all.map(str::to_owned).to_vec(), 1));
        input.learn(resources("a.yaml", &listener("a", 5)));
        let (asked, faults) = describe_input(&mut input);
        assert_eq!((asked.len(), faults.len()), (1, 0));
    }

    #[test]
    fn what_a_process_before_could_read_counts_while_its_file_is_broken() {
        let unit = |name: &str| Unit::Resources(name.to_owned());
        let mut input = Input::new("default");
        for name in ["broken", "fine", "gone"] {
            let read = documents::read(listener(name, 1).as_bytes(), false, "default");
            let document = read.expect("it is YAML").wanted.remove(0);
            input.remember(unit(&format!("{name}.yaml")), document);
        }
        input.learn(resources("broken.yaml", "a: [\n"));
        input.learn(resources("fine.yaml", &listener("fine", 2)));
        let files = ["broken.yaml", "fine.yaml"].map(unit);
        assert!(input.keep(|unit| files.contains(unit)));
        assert!(!input.keep(|unit| files.contains(unit)));
        let (asked, faults) = describe_input(&mut input);
        let all = [
            "broken 1 at input/resources/broken.yaml:1",
            "fine 2 at input/resources/fine.yaml:1",
        ];
        assert_eq!((asked, faults.len()), (all.map(str::to_owned).to_vec(), 1));
    }

    #[test]
    fn an_object_in_two_files_is_told_and_the_first_counts() {
        let mut input = Input::new("default");
        input.learn(resources("b.yaml", &listener("x", 1)));
        assert_eq!(describe_input(&mut input).1.len(), 0);
        input.learn(resources(
            "a.yaml",
            &(listener("x", 2) + &listener("z", 3) + &listener("z", 4)),
        ));
        let (asked, faults) = describe_input(&mut input);
        assert_eq!(
            asked,
            [
                "x 1 at input/resources/b.yaml:1",
                "z 3 at input/resources/a.yaml:6"
            ]
        );
        assert_eq!(
            faults,
            [
                "input/resources/a.yaml:1: Listener x is also in input/resources/b.yaml, which counts",
                "input/resources/a.yaml:11: Listener z is also in input/resources/a.yaml:6, which counts",
            ]
        );
        let gone = News {
            unit: Unit::Resources("b.yaml".to_owned()),
            contents: Contents::new(),
        };
        input.learn(gone);
        assert_eq!(
            describe_input(&mut input).0[0],
            "x 2 at input/resources/a.yaml:1"
        );
    }

    #[test]
    fn a_folder_of_certificates_is_a_secret() {
        let mut input = Input::new("default");
        let folder = |name: &str, file: Result<Vec<u8>, String>| News {
            unit: Unit::Certificates(name.to_owned()),
            contents: [("ca.crt".to_owned(), file)].into(),
        };
        input.learn(folder("web", Ok(b"abc".to_vec())));
        input.learn(folder(LOCAL_SERVER, Ok(b"abc".to_vec())));
        let (asked, faults) = input.requested_objects();
        assert_eq!(asked.len(), 1);
        assert_eq!(
            asked[&ObjectKey::secret("web")].object["data"],
            json!({ "ca.crt": "YWJj" })
        );
        assert!(faults.len() == 1 && faults[0].said.contains("choose another name"));
        input.learn(folder("web", Err("permission denied".to_owned())));
        let (asked, faults) = input.requested_objects();
        assert_eq!((asked.len(), faults.len()), (1, 2));
        assert_eq!(faults[0].place, "input/certs/skupper-local-server");
        assert_eq!(faults[1].place, "input/certs/web/ca.crt");
    }
}
