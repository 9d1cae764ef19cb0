//! The lines that the log of a site has about its objects: its services, its linked sites, and its
//! problems. Pure: statuses in, lines out. A status is logged once it has been unchanged for a
//! moment, so a transient one is not logged.

use std::collections::BTreeMap;

use serde_json::Value;

/// A status is logged once it was seen so often.
const HOLD: u8 = 3;
/// Number of observations after which a fault is logged: objects of the site itself become ready
/// within a moment. Links depend on other sites, so this applies to all other objects.
const HOLD_WRONG: u8 = 15;
/// Message in every object of a namespace without a Site. The log reports it once for the
/// directory.
const NO_SITE: &str = "No active site in namespace";

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// True if the user has to act.
    pub(super) is_warning: bool,
    /// The line.
    pub(super) text: String,
}

/// Health of a subject, with its log line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Health {
    Good(String),
    /// It is as it should be, and that is logged only after it was not.
    Quiet(String),
    Bad(String),
    /// It waits for something, which is a warning only after it was good.
    Waiting(String),
}

/// Something that the log speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Subject {
    health: Health,
    /// The line for when it is not there any more.
    gone: String,
}

/// Returns the line for a directory whose files declare no Site; `None` if they declare one, or if
/// the line has been logged.
pub(super) fn siteless(directory: &str, has_site: bool, said: &mut bool) -> Option<String> {
    let before = std::mem::replace(said, !has_site);
    let is_new = !has_site && !before;
    let name = site_name(directory);
    is_new.then(|| {
        format!(
            "{directory} has no Site, so nothing of it is served: write a file {directory}/input/resources/site.yaml with \
             {{ apiVersion: skupper.io/v2alpha1, kind: Site, metadata: {{ name: {name} }} }}"
        )
    })
}

/// A name for the Site of a directory: that of the directory, if a Site may have it.
fn site_name(directory: &str) -> &str {
    let last = directory.rsplit('/').find(|part| !part.is_empty());
    let last = last.unwrap_or_default();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_name = last.starts_with(fits) && last.ends_with(fits);
    let is_name = is_name && last.len() <= 63 && last.chars().all(|c| fits(c) || c == '-');
    if is_name { last } else { "west" }
}

/// The objects as they were seen last, and as they were logged.
#[derive(Debug, Default)]
pub(super) struct Journal {
    seen: BTreeMap<String, Subject>,
    /// How a subject was at the last ticks, and how many of them.
    held: BTreeMap<String, (Option<Subject>, u8)>,
    logged: BTreeMap<String, Subject>,
}

impl Journal {
    /// Learns the objects as they are now.
    pub(super) fn see<'a>(&mut self, objects: impl IntoIterator<Item = &'a Value>) {
        self.seen = objects.into_iter().flat_map(subjects).collect();
    }

    /// Lets a moment pass, and returns the lines that are due.
    pub(super) fn tick(&mut self) -> Vec<Line> {
        let keys = self.seen.keys().chain(self.logged.keys());
        let keys: std::collections::BTreeSet<String> = keys.cloned().collect();
        self.held.retain(|key, _| keys.contains(key));
        let mut lines = Vec::new();
        for key in keys {
            let now = self.seen.get(&key);
            let held = self.held.entry(key.clone()).or_insert((None, 0));
            if held.0.as_ref() == now {
                held.1 = held.1.saturating_add(1);
            } else {
                *held = (now.cloned(), 1);
            }
            if held.1 != hold(&key, now) {
                continue;
            }
            let (line, logged) = change(self.logged.remove(&key), now);
            lines.extend(line);
            if let Some(logged) = logged {
                self.logged.insert(key, logged);
            }
        }
        lines
    }
}

/// How often a subject must be seen so before that is logged.
fn hold(key: &str, now: Option<&Subject>) -> u8 {
    match now.map(|now| &now.health) {
        Some(Health::Bad(_) | Health::Waiting(_)) if !key.starts_with("Link ") => HOLD_WRONG,
        Some(_) | None => HOLD,
    }
}

/// Returns the line for a change, and the subject as logged by then.
fn change(before: Option<Subject>, now: Option<&Subject>) -> (Option<Line>, Option<Subject>) {
    let line = |is_warning, text: &str| {
        let text = text.to_owned();
        Some(Line { is_warning, text })
    };
    let was = before.as_ref().map(|before| &before.health);
    let Some(now) = now else {
        let is_known = matches!(was, Some(Health::Good(_) | Health::Bad(_)));
        let gone = before.as_ref().filter(|_| is_known);
        return (gone.and_then(|gone| line(false, &gone.gone)), None);
    };
    let told = match (was, &now.health) {
        (Some(was), now) if was == now => None,
        (_, Health::Good(text)) => line(false, text),
        (Some(Health::Bad(_)), Health::Quiet(text)) => line(false, text),
        (_, Health::Bad(text)) => line(true, text),
        (Some(Health::Good(_)), Health::Waiting(text)) => line(true, text),
        // It is as bad as before until it is good.
        (Some(Health::Bad(_)), Health::Waiting(_)) => return (None, before),
        // A link that is new is soon up, or in Error.
        (None, Health::Waiting(text)) if !text.starts_with("Link ") => line(false, text),
        (_, Health::Quiet(_) | Health::Waiting(_)) => None,
    };
    (told, Some(now.clone()))
}

/// Returns the subjects of the log that an object has.
fn subjects(object: &Value) -> Vec<(String, Subject)> {
    let own = subject(object).map(|subject| (name(object), subject));
    own.into_iter().chain(incoming(object)).collect()
}

fn name(object: &Value) -> String {
    let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
    format!("{kind} {name}")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn subject(object: &Value) -> Option<Subject> {
    let (name, status) = (name(object), &object["status"]);
    let (word, message) = (text(&status["status"]), text(&status["message"]));
    let is_link = object["kind"] == "Link";
    let health = match word {
        "Ready" => ready(object, &name),
        _ if message == NO_SITE => return None,
        "Error" if is_link => Health::Bad(format!("{name} is down: {message}")),
        "Error" => Health::Bad(format!("{name} is in Error: {message}")),
        "Pending" if is_link => Health::Waiting(format!("{name} is down: {message}")),
        "Pending" => Health::Waiting(format!("{name} is Pending: {message}")),
        _ => return None,
    };
    let gone = format!("{name} is gone");
    Some(Subject { health, gone })
}

fn ready(object: &Value, name: &str) -> Health {
    let (spec, status) = (&object["spec"], &object["status"]);
    match text(&object["kind"]) {
        "Link" => {
            let site = site(&status["remoteSiteName"], &status["remoteSiteId"]);
            Health::Good(format!("{name} is up: it leads to {site}"))
        }
        "Listener" | "MultiKeyListener" => {
            let host = text(&spec["host"]);
            Health::Good(format!("{name} serves {host}:{}", spec["port"]))
        }
        "RouterAccess" => {
            let all = status["endpoints"].as_array().into_iter().flatten();
            let all = all.map(|one| {
                let [name, host, port] = ["name", "host", "port"].map(|part| text(&one[part]));
                format!("{name} {host}:{port}")
            });
            let all: Vec<String> = all.collect();
            let all = all.join(", ");
            Health::Good(format!("{name} lets other sites link, which reach {all}"))
        }
        "Site" => Health::Good(format!("{name} is Ready")),
        "AccessToken" => Health::Good(format!("{name} has been redeemed")),
        _ => Health::Quiet(format!("{name} is Ready")),
    }
}

/// Returns the name of a site for users, with its id to distinguish sites of equal names.
fn site(name: &Value, id: &Value) -> String {
    let (name, id) = (text(name), text(id));
    match name {
        "" => format!("site {id}"),
        name => format!("site {name} ({id})"),
    }
}

/// The links that other sites dial to the one that this object is.
fn incoming(object: &Value) -> impl Iterator<Item = (String, Subject)> {
    let own = (object["kind"] == "Site").then(|| text(&object["metadata"]["uid"]));
    let sites = object["status"]["network"].as_array().into_iter().flatten();
    let links = sites.flat_map(|site| {
        let links = site["links"].as_array().into_iter().flatten();
        links.map(move |link| (site, link))
    });
    let here = links.filter(move |(_, link)| {
        let to = link["remoteSiteId"].as_str();
        own.is_some() && to == own && link["operational"] == true
    });
    here.map(|(from, link)| {
        let (link, id) = (text(&link["name"]), text(&from["id"]));
        let from = site(&from["name"], &from["id"]);
        let health = Health::Good(format!("Link {link} of {from} leads here, and is up"));
        let gone = format!("Link {link} of {from} leads here no more");
        (format!("of {id} {link}"), Subject { health, gone })
    })
}

#[cfg(test)]
mod tests;
