//! `lifecycle-operator run site`: a Skupper site on a machine without Kubernetes. An API server
//! inside this process holds the objects that its files ask for. The same lifecycles work there as
//! on a cluster, and the router of the site runs here, too. This module puts the parts together,
//! and knows the layout of the directory.

mod documents;
mod folder;
mod input;
mod issued;
mod journal;
mod memory;
mod output;
mod store;
pub mod token;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::mem;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use lifecycle_runtime::health::Health;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::world::World;
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use crate::args;
use crate::controller::{self, GrantOptions, KINDS};
use crate::platform::Platform;
use crate::router::embedded::{Embedded, Settings};
use crate::router::plane::RouterOptions;
use crate::secured_access::AccessDefaults;
use documents::{Document, ObjectKey};
use folder::{Folder, INPUT, News, Unit};
use input::{Fault, Input, RequestedObject};
use issued::Issued;
use journal::Journal;
use lifecycle_router::{file, plain};
use lifecycle_runtime::crds;
use memory::Memory;
use output::Output;
use store::Store;
use tokio::sync::watch;
use written::{Readers, WrittenFolder};

/// Interval of the checks of files and objects; a change must look equal in two checks.
const LOOK: Duration = Duration::from_millis(200);
/// Name of the controller, as statuses show it.
const NAME: &str = "lifecycle-operator";
const STATE: &str = "runtime/state.json";
const LOCK: &str = "runtime/lock";
/// Tokens of grants that can be redeemed, for the user of the process alone to read.
const TOKENS: &str = "runtime/tokens";
/// Default log levels, unless the environment sets others. The parts of a site on a machine log
/// many messages that only matter in a cluster. `Journal` reports the progress of its objects.
pub const USUAL_LOG: &str = "info,lifecycle_runtime::crds=warn,lifecycle_runtime::controller=warn,lifecycle_router::run=warn,\
     lifecycle_router::router=warn,lifecycle_router::router::applied=info,lifecycle_router::link::socket=warn,lifecycle_router::source::kubernetes=error,lifecycle_skupper::router::embedded=warn";

/// Serves a site until shutdown.
///
/// # Errors
/// Returns an error if the directory cannot be used, another process serves it, or its saved state
/// is broken.
pub async fn run(
    options: &args::SiteArgs,
    health: Health,
    mut shutdown: Shutdown,
) -> anyhow::Result<()> {
    let mut site = tokio::select! {
        biased;
        () = shutdown.wait() => return Ok(()),
        opened = Files::open(options) => opened?,
    };
    let routers = Embedded::new(Settings {
        address: None,
        grace: options.grace,
    });
    let client = site.store.client();
    let host = host(options);
    if let Some(listen) = options.grant_server_address {
        // An address that cannot be bound must not be announced.
        let bound = std::net::TcpListener::bind(listen).map(drop);
        bound.with_context(|| {
            format!("cannot listen at {listen}, which --grant-server-address names")
        })?;
        let address = reached(&host, listen.port());
        site.store.reach_grants(&address, listen.port()).await?;
    }
    let durable = Some(site.store.durable(site.kept.subscribe()));
    let grants = |listen| GrantOptions { listen, durable };
    let told = controller::Options {
        namespace: options.namespace.clone(),
        watched: BTreeSet::new(),
        name: NAME.to_owned(),
        platform: Platform::Linux,
        access: AccessDefaults::of_machine(&host),
        router_options: RouterOptions::embedded(NAME),
        kinds: controller::KINDS,
        maintain_crds: false,
        leadership: None,
        max_object_size: lifecycle_runtime::operator::MAX_OBJECT_SIZE,
        grants: options.grant_server_address.map(grants),
        health,
    };
    let asked = routers.clone();
    let controlling = controller::run_observed(client.clone(), told, asked, None, shutdown.clone());
    let mut controlling = tokio::spawn(controlling);
    let around = World::empty()
        .garbage(true)
        .accounts(true)
        .workloads(true)
        .scheduler(true)
        .kubelet(Some(Duration::ZERO))
        .nodes([NAME])
        .origin(jiff::Timestamp::now());
    let around = tokio::spawn(around.run(client.clone()));
    let (reader, until) = (client.clone(), shutdown.clone());
    let mut routing = tokio::spawn(async move {
        routers.run(client, move |_| reader.clone(), until).await;
    });
    log_start(options, &host);
    let ended = tokio::select! {
        biased;
        () = shutdown.wait() => None,
        ended = &mut controlling => Some(ended),
        never = site.follow() => match never {},
    };
    match ended {
        Some(ended) => ended?.context("the controller ended")?,
        None => stop(&mut routing).await?,
    }
    // Credentials issued since the last output are issued only once.
    site.show().await;
    around.abort();
    Ok(())
}

/// Waits until the router ends. A second signal ends the wait at once.
async fn stop(routing: &mut tokio::task::JoinHandle<()>) -> anyhow::Result<()> {
    let mut again = Shutdown::on_signals().context("signals cannot be heard")?;
    tokio::select! {
        ended = routing => ended?,
        () = again.wait() => {}
    }
    Ok(())
}

fn log_start(options: &args::SiteArgs, host: &str) {
    let directory = &options.directory;
    let at = |path: &str| plain::path(&directory.join(path));
    let (version, shown) = (env!("CARGO_PKG_VERSION"), plain::path(directory));
    match options.grant_server_address {
        Some(grants) => tracing::info!(
            version,
            directory = shown,
            host,
            %grants,
            "the site is served, and its grants are redeemed"
        ),
        None => tracing::info!(version, directory = shown, host, "the site is served"),
    }
    // With standard output closed no reader is left.
    let _unheard = writeln!(
        io::stdout(),
        "serving the site in {}\n  statuses: {}\n  what is wrong with its files: {}",
        plain::path(directory),
        at(output::RESOURCES),
        at(output::ERRORS),
    );
}

/// Returns the name or address by which other sites reach this machine.
fn host(options: &args::SiteArgs) -> String {
    options.host.clone().unwrap_or_else(own_name)
}

/// The name of this machine.
fn own_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

fn reached(host: &str, port: u16) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

/// The files of a site, and the objects that follow from them.
struct Files {
    /// The directory, for people.
    directory: String,
    folder: Folder,
    input: Input,
    /// Objects that the files ask for, as last read.
    asked: BTreeMap<ObjectKey, RequestedObject>,
    /// Errors in these files.
    faults: Vec<Fault>,
    store: Store,
    memory: Memory,
    issued: Issued,
    tokens: WrittenFolder,
    output: Output,
    journal: Journal,
    /// True once the log contains the line that no file declares a Site.
    is_siteless: bool,
    /// Of the objects that were shown last.
    shown: Option<u64>,
    /// Newest revision whose durable parts are all saved.
    kept: watch::Sender<u64>,
    /// True if the files have no error.
    is_whole: bool,
    /// True if saving the knowledge has failed, and the failure was reported.
    is_unkept: bool,
    /// True if another process has removed a file of issued objects.
    is_lost: bool,
    _lock: File,
}

impl Files {
    /// Reads the directory, and restores the saved state.
    async fn open(options: &args::SiteArgs) -> anyhow::Result<Self> {
        let directory = &options.directory;
        let late = || {
            let (path, limit) = (plain::path(directory), file::PATIENCE.as_secs());
            tracing::warn!("{path} takes longer than {limit} s to read; waiting for it");
        };
        let restoring = directory.clone();
        let restored = file::run_blocking(move || Restored::read(&restoring), late).await?;
        let Restored {
            memory,
            issued,
            tokens,
            output,
            lock,
        } = restored;
        let store = Store::new(memory.known.seed, &options.namespace);
        crds::prepare(&store.client(), &KINDS, true).await;
        let made = store.make_namespace().await;
        made.with_context(|| format!("--namespace {} cannot be used", options.namespace))?;
        let mut site = Self {
            directory: plain::path(directory),
            folder: Folder::expected(directory, memory.known.has_files()),
            input: Input::new(&options.namespace),
            asked: BTreeMap::new(),
            faults: Vec::new(),
            store,
            memory,
            issued,
            tokens,
            output,
            journal: Journal::default(),
            is_siteless: false,
            shown: None,
            kept: watch::Sender::new(0),
            is_whole: true,
            is_unkept: false,
            is_lost: false,
            _lock: lock,
        };
        let last = site.last(&options.namespace);
        for news in site.read(Folder::first_look).await {
            site.input.learn(news);
        }
        site.input.keep(|unit| site.folder.has(unit));
        (site.asked, site.faults) = site.input.requested_objects();
        let known = &site.memory.known;
        let refused = site.store.begin(&site.asked, known, &last).await?;
        site.store.put_back(&site.issued, known).await?;
        site.report_faults(refused);
        let is_reached = site.issued.is_reached();
        let another = site.memory.known.reached_at(&host(options), is_reached);
        if let Some(text) = another {
            tracing::warn!("{text}");
        }
        if site.memory.is_new() && !site.issued.is_empty() {
            site.forget_redemptions().await?;
        }
        site.store.restore(&site.memory.known).await?;
        Ok(site)
    }

    /// Closes the grants of a site whose memory is lost: a used code must not count again.
    async fn forget_redemptions(&self) -> kube::Result<()> {
        let grants = self.store.forget_redemptions().await?;
        if !grants.is_empty() {
            let (state, grants) = (plain::path(self.memory.path()), grants.join(", "));
            tracing::warn!(
                "{state} is gone, and with it the record of redemptions, so these AccessGrants can no longer be redeemed: {grants}; delete each of them, and create it again"
            );
        }
        Ok(())
    }

    /// Returns the objects as they were written last. They keep the files that declared them, even
    /// if such a file is unreadable now.
    fn last(&mut self, namespace: &str) -> BTreeMap<ObjectKey, Value> {
        let mut last = BTreeMap::new();
        for text in self.output.texts() {
            let read = documents::read(text.as_bytes(), false, namespace);
            for document in read.map(|read| read.wanted).unwrap_or_default() {
                let known = self.memory.known.objects.get(&document.key.to_string());
                let Some(known) = known else {
                    continue;
                };
                last.insert(document.key.clone(), document.object.clone());
                let file = known.file.as_deref().and_then(Unit::of_resources);
                if let Some(unit) = file {
                    let line = None;
                    self.input.remember(unit, Document { line, ..document });
                }
            }
        }
        last
    }

    /// Keeps objects in line with the files, and writes their statuses. Never returns.
    async fn follow(&mut self) -> Infallible {
        loop {
            self.show().await;
            self.log();
            tokio::time::sleep(LOOK).await;
            self.refresh().await;
        }
    }

    /// Logs changes of the objects' statuses.
    fn log(&mut self) {
        let has_site = self.asked.keys().any(|key| key.kind == "Site");
        let siteless = journal::siteless(&self.directory, has_site, &mut self.is_siteless);
        if let Some(text) = siteless {
            tracing::warn!("{text}");
        }
        for line in self.journal.tick() {
            let text = plain::plain(&line.text);
            match line.is_warning {
                true => tracing::warn!("{text}"),
                false => tracing::info!("{text}"),
            }
        }
    }

    async fn refresh(&mut self) {
        self.store.tick();
        let news = self.read(Folder::poll_changes).await;
        let forgotten = self.input.keep(|unit| self.folder.has(unit));
        if !news.is_empty() || forgotten {
            for news in news {
                self.input.learn(news);
            }
            (self.asked, self.faults) = self.input.requested_objects();
        }
        let refused = self.store.settle(&self.asked).await;
        self.report_faults(refused);
        let lost = file::run_blocking(self.issued.looking(), || {}).await;
        self.issued.lost(&lost);
        self.is_lost = !lost.is_empty();
    }

    /// Reads files beside the tasks of the controller and the router, which no slow file may block.
    async fn read(&mut self, look: fn(&mut Folder) -> Vec<News>) -> Vec<News> {
        let mut folder = mem::replace(&mut self.folder, Folder::new(Path::new("")));
        let reading = move || {
            let news = look(&mut folder);
            (folder, news)
        };
        let (faults, output) = (&self.faults, &mut self.output);
        let late = || {
            let limit = file::PATIENCE.as_secs();
            let said = format!("takes longer than {limit} s to read; what was read before counts");
            let place = INPUT.to_owned();
            output.report_faults([faults.clone(), vec![Fault { place, said }]].concat());
        };
        let (folder, news) = file::run_blocking(reading, late).await;
        self.folder = folder;
        news
    }

    /// Reports the errors in folders, in files, and in the objects that the files ask for.
    fn report_faults(&mut self, refused: Vec<Fault>) {
        let mut faults = [self.faults.clone(), refused].concat();
        let folders = self.folder.faults();
        faults.extend(folders.map(|(place, said)| Fault { place, said }));
        faults.sort();
        self.is_whole = faults.is_empty();
        self.output.report_faults(faults);
    }

    /// Writes the durable state, and then statuses. A process that ends between the two has shown
    /// nothing that the next one does not know.
    async fn show(&mut self) {
        let revision = self.store.revision();
        if self.shown == Some(revision) && !self.is_unkept && !self.is_lost {
            return;
        }
        if let Err(error) = self.store.revoke().await {
            tracing::warn!("objects issued to tokens cannot be removed: {error}");
        }
        if let Err(error) = self.store.set_costs().await {
            tracing::warn!("links cannot be given their costs: {error}");
        }
        let shown = self.store.output_objects().await;
        let before = &self.memory.known;
        let known = self.store.known(before, self.is_whole, &self.asked);
        match known.await {
            Ok(known) => self.memory.known = known,
            Err(error) => tracing::warn!("objects cannot be read: {error}"),
        }
        // Issued objects are saved first, because a token that records its credentials must never
        // be saved without them.
        let is_issued = match self.store.issued().await {
            Ok(issued) => self.issued.keep(&issued),
            Err(error) => {
                tracing::warn!("objects issued to tokens cannot be read: {error:#}");
                false
            }
        };
        let kept = match is_issued {
            true => self.memory.keep(),
            false => Err(io::Error::other(
                "objects issued to tokens are not saved yet",
            )),
        };
        if let Err(error) = &kept
            && !self.is_unkept
        {
            let path = plain::path(self.memory.path());
            tracing::warn!("cannot write {path}: {error}; trying again");
        }
        self.is_unkept = kept.is_err();
        if kept.is_ok() {
            self.kept.send_replace(revision);
        }
        match self.store.tokens().await {
            Ok(tokens) => drop(self.tokens.keep(&tokens)),
            Err(error) => tracing::warn!("grants cannot be read: {error:#}"),
        }
        match shown {
            Ok(shown) => {
                self.journal.see(shown.values());
                self.output.keep_objects(&shown);
            }
            Err(error) => tracing::warn!("statuses cannot be read: {error:#}"),
        }
        self.shown = Some(revision);
    }
}

/// Data that an earlier process left in the directory of a site, which this process owns from now
/// on.
struct Restored {
    memory: Memory,
    issued: Issued,
    tokens: WrittenFolder,
    output: Output,
    lock: File,
}

impl Restored {
    fn read(directory: &Path) -> anyhow::Result<Self> {
        if !directory.is_dir() {
            bail!("{} is no directory", plain::path(directory));
        }
        let runtime = directory.join(output::RUNTIME);
        let cannot = |path: &PathBuf| format!("cannot use {}", plain::path(path));
        fs::create_dir_all(&runtime).with_context(|| cannot(&runtime))?;
        let tokens = directory.join(TOKENS);
        Ok(Self {
            // Before anything is read that another process may be writing.
            lock: lock(&directory.join(LOCK))?,
            memory: Memory::read(directory.join(STATE))?,
            issued: Issued::open(directory)?,
            tokens: WrittenFolder::open(tokens.clone(), Readers::Owner)
                .with_context(|| cannot(&tokens))?,
            output: Output::open(directory).with_context(|| cannot(&runtime))?,
        })
    }
}

/// One process serves a site.
fn lock(path: &Path) -> anyhow::Result<File> {
    let cannot = || format!("cannot use {}", plain::path(path));
    let file = file::hold(path).with_context(cannot)?;
    // Who cannot open it cannot lock it either.
    file::only_for_owner(path).with_context(cannot)?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        bail!(
            "another process serves this site: it holds {}",
            plain::path(path)
        );
    }
    Ok(file)
}

#[cfg(test)]
mod tests;
