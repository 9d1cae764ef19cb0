//! Snapshots in a form in which equal ends compare equal: objects without versions, times and uids,
//! and the tree of a folder.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use kube::Client;
use serde_json::Value;

use lifecycle_runtime::lifecycle::Kind;

/// Objects by kind, namespace and name: normalised, and the version of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Objects {
    pub(super) normal: BTreeMap<String, String>,
    pub(super) versions: BTreeMap<String, String>,
}

/// Paths in a folder, and the entry at each path.
pub(super) type Tree = BTreeMap<String, String>;

/// Objects and files at one time.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    pub(super) objects: Objects,
    pub(super) tree: Tree,
}

impl Snapshot {
    /// All objects of some kinds, and all files of a folder.
    pub(super) async fn take(
        client: &Client,
        kinds: &[Kind],
        folder: &Path,
    ) -> Result<Self, String> {
        let (objects, allocated) = objects(client, kinds).await?;
        let mut tree = tree(folder)?;
        for what in tree.values_mut() {
            *what = without(what, &allocated);
        }
        Ok(Self { objects, tree })
    }
}

/// How an object is called here: kind, namespace and name.
pub(super) fn key(object: &Value) -> String {
    let text = |at: &str| {
        object
            .pointer(at)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
    format!("{} {namespace}/{name}", text("/kind"))
}

/// Lists all objects of some kinds, with the placeholders for values that the server has allocated.
async fn objects(
    client: &Client,
    kinds: &[Kind],
) -> Result<(Objects, Vec<(String, String)>), String> {
    let mut all = BTreeMap::new();
    for kind in kinds {
        let request = http::Request::get(kind.path(None)).body(Vec::new());
        let request = request.map_err(|error| error.to_string())?;
        let listed: Value = client.request(request).await.map_err(|e| e.to_string())?;
        for object in listed["items"].as_array().into_iter().flatten() {
            let mut object = object.clone();
            // Items of a list do not contain their kind.
            object["kind"] = Value::from(kind.kind.as_str());
            all.insert(key(&object), object);
        }
    }
    let services = all.iter().filter(|(_, object)| object["kind"] == "Service");
    let allocated = services.flat_map(|(key, object)| allocated(key, object));
    let allocated: Vec<_> = allocated.collect();
    let uids: Vec<(String, String)> = all
        .iter()
        .filter_map(|(key, object)| {
            let uid = object["metadata"]["uid"].as_str()?;
            Some((uid.to_owned(), key.clone()))
        })
        .collect();
    let mut objects = Objects::default();
    for (key, mut object) in all {
        let version = object["metadata"]["resourceVersion"].as_str();
        let version = version.unwrap_or_default().to_owned();
        normalise(&mut object);
        let mut text = serde_json::to_string(&object).map_err(|error| error.to_string())?;
        for (uid, of) in &uids {
            text = text.replace(uid, &format!("<{of}>"));
            text = text.replace(&uid.replace('-', ""), &format!("<{of}>"));
        }
        text = without(&text, &allocated);
        objects.normal.insert(key.clone(), text);
        objects.versions.insert(key, version);
    }
    Ok((objects, allocated))
}

/// Returns a text in which allocated values are replaced by their placeholders.
fn without(text: &str, allocated: &[(String, String)]) -> String {
    let all = allocated.iter();
    all.fold(text.to_owned(), |text, (what, of)| text.replace(what, of))
}

fn normalise(object: &mut Value) {
    without_times(object);
    let Some(meta) = object["metadata"].as_object_mut() else {
        return;
    };
    for field in ["resourceVersion", "creationTimestamp", "generation", "uid"] {
        meta.remove(field);
    }
    if let Some(managed) = meta.get_mut("managedFields").and_then(Value::as_array_mut) {
        for entry in managed.iter_mut() {
            entry["time"].take();
        }
        // The server lists the entries in order of time.
        managed.sort_by_key(ToString::to_string);
    }
}

/// Returns the values that the server has allocated for a Service, each with its placeholder. A
/// Service that is created again gets other values.
fn allocated(key: &str, object: &Value) -> Vec<(String, String)> {
    let spec = &object["spec"];
    let list = |of: &Value| of.as_array().cloned().unwrap_or_default();
    let addresses = list(&spec["clusterIPs"]);
    let addresses = addresses.iter().filter_map(Value::as_str);
    let addresses = addresses.filter(|address| *address != "None");
    let addresses = addresses.map(|one| (one.to_owned(), format!("<address of {key}>")));
    let ports = list(&spec["ports"]);
    let ports = ports.iter().map(|port| (&port["nodePort"], &port["port"]));
    let health = (&spec["healthCheckNodePort"], &Value::Null);
    let ports = ports.chain([health]).filter_map(|(number, of)| {
        let number = number.as_u64().filter(|number| *number > 0)?;
        Some((number.to_string(), format!("<node port {of} of {key}>")))
    });
    addresses.chain(ports).collect()
}

/// When a condition changed does not count.
fn without_times(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("lastTransitionTime");
            map.remove("lastPhaseTransitionTime");
            map.values_mut().for_each(without_times);
        }
        Value::Array(list) => list.iter_mut().for_each(without_times),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Everything in a folder but sockets.
fn tree(folder: &Path) -> Result<Tree, String> {
    let mut tree = Tree::new();
    walk(folder, folder, &mut tree).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(tree)
}

fn walk(root: &Path, folder: &Path, tree: &mut Tree) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let kind = fs::symlink_metadata(&path)?.file_type();
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string();
        if kind.is_symlink() {
            let target = fs::read_link(&path)?;
            tree.insert(name, format!("-> {}", target.display()));
        } else if kind.is_dir() {
            tree.insert(name, "folder".to_owned());
            walk(root, &path, tree)?;
        } else if !kind.is_socket() {
            let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            tree.insert(name, format!("`{text}`"));
        }
    }
    Ok(())
}

/// Describes the first difference between the two maps, in a few words.
pub(super) fn difference(
    of: &BTreeMap<String, String>,
    against: &BTreeMap<String, String>,
) -> Option<String> {
    let names = of.keys().chain(against.keys());
    let mut names = names.filter(|name| of.get(*name) != against.get(*name));
    let name = names.next()?;
    Some(match (of.get(name), against.get(name)) {
        (Some(here), None) => format!("`{name}` is there: {}", short(here)),
        (None, _) => format!("`{name}` is missing"),
        (Some(here), Some(there)) => {
            let from = here.bytes().zip(there.bytes()).take_while(|(a, b)| a == b);
            let from = from.count().saturating_sub(40);
            format!(
                "`{name}` is {} instead of {}",
                part(here, from),
                part(there, from)
            )
        }
    })
}

fn short(text: &str) -> String {
    part(text, 0)
}

fn part(text: &str, from: usize) -> String {
    let shown: String = text.chars().skip(from).take(120).collect();
    shown
}
