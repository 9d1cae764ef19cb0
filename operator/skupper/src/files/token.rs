//! `lifecycle-operator token`: issues a token of a site on a machine to a file, or gives the file
//! of a token to such a site to redeem. It works on the directory of the site; the process that
//! serves the directory does the rest.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use kube::ResourceExt;
use lifecycle_router::{file, plain};
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_runtime::{names, yaml};
use lifecycle_specs_skupper::access_grant::{AccessGrant, AccessGrantSpec, Validity};
use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::output::RESOURCES;
use super::{LOCK, TOKENS};
use crate::access_token::answers::FINAL;
use crate::args::{IssueArgs, RedeemArgs, TokenCommand};
use crate::grants::redemptions::Redemptions;
use crate::grants::terms;

/// The group and version of grants and tokens.
const VERSION: &str = "skupper.io/v2alpha1";
/// Folder of the files of a site.
const INPUT: &str = "input/resources";
/// The largest token: an address, a code and a certificate.
const LARGEST: u64 = 1 << 20;
/// How long the sites may take to link, once a token was redeemed.
const LINKED: Duration = Duration::from_secs(10);
/// How long a process may take to start.
const START: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(100);

/// The token of a grant, while it can be redeemed.
pub(super) fn from_grant(grant: &AccessGrant) -> Option<Value> {
    let status = grant.status.as_ref()?;
    let count = Redemptions::from_grant(&grant.metadata, Some(status))?.count;
    if status.common.status.as_deref() != Some("Ready") || count >= terms::allowed(&grant.spec) {
        return None;
    }
    Some(json!({
        "apiVersion": VERSION, "kind": "AccessToken", "metadata": { "name": grant.name_any() },
        "spec": {
            "url": status.url.as_ref()?, "code": status.code.as_ref()?, "ca": status.ca.as_ref()?,
        },
    }))
}

/// Runs the command. Writes the result to `out`, and reports of waiting to `progress`.
///
/// # Errors
/// A file or the directory cannot be used, the time is over, or a signal ends it.
pub async fn run(
    command: &TokenCommand,
    out: &mut impl Write,
    progress: &mut impl Write,
) -> anyhow::Result<()> {
    let mut stop = Shutdown::on_signals().context("signals cannot be heard")?;
    let result = match command {
        TokenCommand::Issue(options) => issue(options, &mut stop, progress).await?,
        TokenCommand::Redeem(options) => redeem(options, &mut stop, progress).await?,
    };
    Ok(writeln!(out, "{result}")?)
}

async fn issue(
    options: &IssueArgs,
    stop: &mut Shutdown,
    progress: &mut impl Write,
) -> anyhow::Result<String> {
    let site = Directory::open(&options.directory)?;
    let to = &options.file;
    if to.exists() {
        bail!("{} is there already: name another file", plain::path(to));
    }
    let name = name(options)?;
    let spec = AccessGrantSpec {
        redemptions_allowed: Some(options.redemptions_allowed.into()),
        expiration_window: Some(options.expiration_window.clone()),
        ..AccessGrantSpec::default()
    };
    let valid = terms::validity(&spec);
    if valid.value != Validity::Fine {
        bail!("no token is issued: {}", valid.sentence);
    }
    let window = options.expiration_window.as_str();
    if !window.contains(|c| ('1'..='9').contains(&c)) {
        bail!(
            "--expiration-window {window} is not a positive duration: use a value such as 30s, 15m or 2h"
        );
    }
    if !site.is_served_soon().await {
        bail!(
            "no process serves the site in {0}: start `run site {0} --grant-server-address ADDRESS:PORT`, which gives what the token is redeemed for",
            site.display_path()
        );
    }
    let token = site.path(TOKENS).join(format!("{name}.yaml"));
    let asked = site.path(INPUT).join(format!("grant-{name}.yaml"));
    if asked.exists() || site.has_soon("AccessGrant", &name).await {
        bail!("the site already has an AccessGrant `{name}`: choose another name with --name");
    }
    let grant = json!({
        "apiVersion": VERSION, "kind": "AccessGrant", "metadata": { "name": name }, "spec": spec,
    });
    // Before anything is granted: where nothing can be written, nothing is.
    let cannot = || format!("cannot write {}", plain::path(to));
    file::replace_secret(to, b"").with_context(cannot)?;
    let mut begun = PartialFiles {
        asked: &asked,
        to,
        is_done: false,
    };
    site.write(&asked, &serde_saphyr::to_string(&grant)?)?;
    let read = || match file::read(&token, LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    };
    let waiting = site.until(("AccessGrant", &name), options.timeout, progress, |_| {
        read().transpose()
    });
    let waited = tokio::select! {
        waited = waiting => waited?,
        () = stop.wait() => bail!("no token is issued: a signal ended the wait"),
    };
    let text = match waited {
        Ok(text) => text.with_context(|| format!("cannot read {}", plain::path(&token)))?,
        Err(why) => bail!("no token is issued: AccessGrant {name} is {why}"),
    };
    let mut token: Value =
        serde_saphyr::from_slice(&text).context("cannot parse the issued token")?;
    if let Some(cost) = options.cost {
        token["spec"]["linkCost"] = cost.into();
    }
    let text = serde_saphyr::to_string(&token)?;
    file::replace_secret(to, text.as_bytes()).with_context(cannot)?;
    begun.is_done = true;
    let times = match options.redemptions_allowed {
        1 => "once".to_owned(),
        more => format!("{more} times"),
    };
    Ok(format!(
        "{0} can be redeemed {times}, within {1}: `token redeem {0} DIR` for a site on a machine, `kubectl apply -f {0}` for one on Kubernetes",
        plain::path(to),
        options.expiration_window
    ))
}

/// Files that are removed unless the command completes, so that a repeated command finds no
/// leftovers.
struct PartialFiles<'a> {
    asked: &'a Path,
    to: &'a Path,
    is_done: bool,
}

impl Drop for PartialFiles<'_> {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        for path in [self.asked, self.to] {
            let _absent = fs::remove_file(path);
        }
    }
}

/// Returns the name of the grant: the given name, or else the stem of the file.
fn name(options: &IssueArgs) -> anyhow::Result<String> {
    let stem = || options.file.file_stem()?.to_str();
    let name = options.name.as_deref().or_else(stem).unwrap_or_default();
    match names::of_object("skupper.io", "AccessGrant", name) {
        Ok(_) => Ok(name.to_owned()),
        Err(error) => bail!("{error}: choose another name with --name"),
    }
}

async fn redeem(
    options: &RedeemArgs,
    stop: &mut Shutdown,
    progress: &mut impl Write,
) -> anyhow::Result<String> {
    let site = Directory::open(&options.directory)?;
    let from = plain::path(&options.file);
    let text = file::read(&options.file, LARGEST);
    let text = text.with_context(|| format!("cannot read {from}"))?;
    let (name, text) = read(&text).with_context(|| format!("{from} is no token"))?;
    let asked = site.path(INPUT).join(format!("token-{name}.yaml"));
    if !site.holds(&options.file) {
        match file::read(&asked, LARGEST) {
            Ok(there) if there == text.as_bytes() => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if site.is_served() && site.status("AccessToken", &name).is_some() {
                    bail!("the site has an AccessToken `{name}` already: name this one otherwise");
                }
                site.write_secret(&asked, &text)?;
            }
            Ok(_) | Err(_) => bail!(
                "{} is there already, and is another token: remove it, or name this one otherwise",
                plain::path(&asked)
            ),
        }
    }
    if !site.is_served() {
        return Ok(format!(
            "AccessToken {name} is redeemed once a process serves the site: `run site {}`",
            site.display_path()
        ));
    }
    let ready = |status: &Status| (status.word == "Ready").then_some(());
    let waiting = site.until(
        ("AccessToken", &name),
        options.timeout,
        progress,
        |status| status.and_then(ready).map(Ok),
    );
    let waited = tokio::select! {
        waited = waiting => waited?,
        () = stop.wait() => bail!("a signal ended the wait; the site goes on to redeem it"),
    };
    match waited {
        Ok(done) => done?,
        Err(why) if why.ends_with(FINAL) => bail!(
            "AccessToken {name} is not redeemed: it is {why}: remove {} and redeem another token",
            plain::path(&asked)
        ),
        Err(why) => bail!(
            "AccessToken {name} is not redeemed yet: it is {why}; the site tries again until {} is removed",
            plain::path(&asked)
        ),
    }
    // A site of several routers has Links of other names.
    let linked = site
        .until(("Link", &name), LINKED, progress, |status| {
            status.and_then(ready).map(Ok)
        })
        .await?;
    let file = format!("{}/Link-{name}.yaml", plain::path(&site.path(RESOURCES)));
    Ok(match linked {
        Ok(_) => format!("AccessToken {name} is redeemed, and the sites are linked"),
        Err(why) => format!(
            "AccessToken {name} is redeemed, and the sites are not linked yet: its Link is {why}; see {file}"
        ),
    })
}

/// Returns the name of a token, and the document with only the fields of its author.
fn read(text: &[u8]) -> anyhow::Result<(String, String)> {
    let all: Result<Vec<Value>, _> = yaml::all(std::str::from_utf8(text)?);
    // A parser's message may quote the code.
    let all = all.map_err(|error| match error.location() {
        Some(at) => anyhow!("it is no YAML: see line {}", at.line()),
        None => anyhow!("it is no YAML"),
    })?;
    let mut documents = all.into_iter().filter(|document| !document.is_null());
    let (Some(token), None) = (documents.next(), documents.next()) else {
        bail!("it must hold one AccessToken, and nothing else");
    };
    if token["kind"] != "AccessToken" || token["apiVersion"] != VERSION {
        bail!("it must hold an AccessToken of {VERSION}");
    }
    let name = token["metadata"]["name"].as_str().unwrap_or_default();
    names::of_object("skupper.io", "AccessToken", name)?;
    for part in ["url", "code", "ca"] {
        let said = token["spec"][part].as_str();
        if said.is_none_or(str::is_empty) {
            bail!("it has no spec.{part}");
        }
    }
    let own = json!({
        "apiVersion": VERSION, "kind": "AccessToken", "metadata": { "name": name },
        "spec": token["spec"],
    });
    Ok((name.to_owned(), serde_saphyr::to_string(&own)?))
}

/// The status of an object, as the site has written it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Status {
    /// `Ready`, `Pending` or `Error`; empty if absent.
    word: String,
    message: String,
}

/// True if a process serves the site in a directory: one holds its lock alone.
pub fn is_served(directory: &Path) -> bool {
    let lock = File::open(directory.join(LOCK));
    lock.is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockShared).is_err())
}

/// The directory of a site.
struct Directory<'a>(&'a Path);

impl<'a> Directory<'a> {
    fn open(path: &'a Path) -> anyhow::Result<Self> {
        if !path.is_dir() {
            bail!("{} is no directory", plain::path(path));
        }
        Ok(Self(path))
    }

    fn path(&self, part: &str) -> PathBuf {
        self.0.join(part)
    }

    fn display_path(&self) -> String {
        plain::path(self.0)
    }

    /// True if a process serves it.
    fn is_served(&self) -> bool {
        is_served(self.0)
    }

    /// The same, for a process that has just been started.
    async fn is_served_soon(&self) -> bool {
        let begun = Instant::now();
        while !self.is_served() {
            if begun.elapsed() >= START {
                return false;
            }
            sleep(AGAIN).await;
        }
        true
    }

    /// True if it has an object, and not one that is about to go.
    async fn has_soon(&self, kind: &str, name: &str) -> bool {
        let begun = Instant::now();
        while self.status(kind, name).is_some() {
            if begun.elapsed() >= START {
                return true;
            }
            sleep(AGAIN).await;
        }
        false
    }

    /// True if a file is one that the site reads.
    fn holds(&self, file: &Path) -> bool {
        let real = |path: &Path| fs::canonicalize(path).ok();
        let folder = real(&self.path(INPUT));
        let parent = real(file).and_then(|file| file.parent().map(Path::to_owned));
        folder.is_some() && folder == parent
    }

    fn write(&self, path: &Path, text: &str) -> anyhow::Result<()> {
        self.written(path, |path| file::replace(path, text.as_bytes()))
    }

    fn write_secret(&self, path: &Path, text: &str) -> anyhow::Result<()> {
        self.written(path, |path| file::replace_secret(path, text.as_bytes()))
    }

    fn written(&self, path: &Path, by: impl Fn(&Path) -> io::Result<()>) -> anyhow::Result<()> {
        let done = fs::create_dir_all(self.path(INPUT)).and_then(|()| by(path));
        done.with_context(|| format!("cannot write {}", plain::path(path)))
    }

    fn status(&self, kind: &str, name: &str) -> Option<Status> {
        let path = self.path(RESOURCES).join(format!("{kind}-{name}.yaml"));
        let text = file::read(&path, LARGEST).ok()?;
        let object: Value = serde_saphyr::from_slice(&text).ok()?;
        let text = |part: &str| {
            object["status"][part]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        Some(Status {
            word: text("status"),
            message: text("message"),
        })
    }

    /// Waits until `found`, and prints each status of the object meanwhile. The last status if the time is over.
    async fn until<T>(
        &self,
        (kind, name): (&str, &str),
        limit: Duration,
        progress: &mut impl Write,
        mut found: impl FnMut(Option<&Status>) -> Option<io::Result<T>>,
    ) -> anyhow::Result<Result<io::Result<T>, String>> {
        let begun = Instant::now();
        let mut before = None;
        loop {
            let status = self.status(kind, name);
            if let Some(found) = found(status.as_ref()) {
                return Ok(Ok(found));
            }
            let now = status
                .filter(|status| !status.word.is_empty())
                .map(|status| plain::plain(&format!("{}: {}", status.word, status.message)));
            if begun.elapsed() >= limit {
                return Ok(Err(now.unwrap_or_else(|| "without a status".to_owned())));
            }
            if let Some(text) = now.as_ref().filter(|_| now != before) {
                writeln!(progress, "waiting: {kind} {name} is {text}")?;
                before = now;
            }
            sleep(AGAIN).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        format!("{:#}", read(text.as_bytes()).expect_err("it is none"))
    }

    #[test]
    fn what_is_no_token_is_refused_and_says_what_it_lacks() {
        let good = "apiVersion: skupper.io/v2alpha1\nkind: AccessToken\nmetadata: {name: east, namespace: west}\nspec: {url: u, code: c, ca: a}\nstatus: {}\n";
        let (name, text) = read(good.as_bytes()).expect("it is one");
        assert_eq!(name, "east");
        let own: Value = serde_saphyr::from_str(&text).expect("it is YAML");
        assert_eq!(own["metadata"], json!({ "name": "east" }));
        assert_eq!(own["status"], Value::Null);
        for (broken, expected) in [
            ("a: [", "it is no YAML"),
            ("", "one AccessToken, and nothing else"),
            (&format!("{good}---\n{good}"), "nothing else"),
            (&good.replace("AccessToken", "Link"), "an AccessToken of"),
            (&good.replace("v2alpha1", "v1"), "an AccessToken of"),
            (&good.replace("name: east", "name: ../x"), "../x"),
            (&good.replace("code: c", "code: ''"), "it has no spec.code"),
            (&good.replace("ca: a", "ca: 7"), "it has no spec.ca"),
        ] {
            assert!(wrong(broken).contains(expected), "{}", wrong(broken));
        }
    }

    #[test]
    fn a_directory_is_served_while_its_lock_is_held() {
        let folder = tempfile::tempdir().expect("a folder");
        let site = Directory::open(folder.path()).expect("a directory");
        assert!(!site.is_served());
        fs::create_dir(site.path("runtime")).expect("a folder");
        let lock = super::super::lock(&site.path(LOCK)).expect("nobody has it");
        assert!(site.is_served() && site.is_served());
        drop(lock);
        assert!(!site.is_served());
        assert!(super::super::lock(&site.path(LOCK)).is_ok());
    }

    #[test]
    fn a_token_is_that_of_a_grant_while_it_can_be_redeemed() {
        let grant = |word: &str, count: u64| {
            let by = json!({ "count": count, "by": [] }).to_string();
            let grant = json!({
                "metadata": { "name": "g", "annotations": { "internal.skupper.io/redemptions": by } },
                "spec": { "redemptionsAllowed": 2 },
                "status": { "status": word, "url": "u", "code": "c", "ca": "a" },
            });
            serde_json::from_value::<AccessGrant>(grant).expect("a grant")
        };
        let token = from_grant(&grant("Ready", 1)).expect("it can be redeemed");
        assert_eq!(token["spec"], json!({ "url": "u", "code": "c", "ca": "a" }));
        assert_eq!(from_grant(&grant("Ready", 2)), None);
        assert_eq!(from_grant(&grant("Error", 0)), None);
    }
}
