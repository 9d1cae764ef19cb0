//! `lifecycle-operator run site`: a Skupper site on a machine without Kubernetes. What its files ask for lives in an API server inside this process,
//! where the same lifecycles work as on a cluster, and the router of the site runs here, too. Puts the parts together, and knows the layout of the directory.

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
use input::{Asked, Fault, Input};
use issued::Issued;
use journal::Journal;
use lifecycle_router::{file, plain};
use lifecycle_runtime::crds;
use memory::Memory;
use output::Output;
use store::Store;
use tokio::sync::watch;
use written::{Readers, WrittenFolder};

/// How often files and objects are looked at; what changes must look the same twice.
const LOOK: Duration = Duration::from_millis(200);
/// Name of the controller, as statuses show it.
const NAME: &str = "lifecycle-operator";
const STATE: &str = "runtime/state.json";
const LOCK: &str = "runtime/lock";
/// Tokens of grants that can be redeemed, for the user of the process alone to read.
const TOKENS: &str = "runtime/tokens";
/// The usual levels of the log, unless the environment says otherwise. The parts of a site on a machine say much that only matters in a cluster; `Journal` says what
/// becomes of its objects.
pub const USUAL_LOG: &str = "info,lifecycle_runtime::crds=warn,lifecycle_runtime::controller=warn,lifecycle_router::run=warn,\
     lifecycle_router::router=warn,lifecycle_router::router::applied=info,lifecycle_router::link::socket=warn,lifecycle_router::source::kubernetes=error,lifecycle_skupper::router::embedded=warn";

/// Serves a site until told to stop.
///
/// # Errors
/// The directory cannot be used, another process serves it, or what was known of it is broken.
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
        // Who cannot be asked is not to be told of.
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
    say(options, &host);
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
    // What was given since it was shown last is given only once.
    site.show().await;
    around.abort();
    Ok(())
}

/// Lets the router end. Who asks twice does not want to wait.
async fn stop(routing: &mut tokio::task::JoinHandle<()>) -> anyhow::Result<()> {
    let mut again = Shutdown::on_signals().context("signals cannot be heard")?;
    tokio::select! {
        ended = routing => ended?,
        () = again.wait() => {}
    }
    Ok(())
}

fn say(options: &args::SiteArgs, host: &str) {
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
    // With standard output closed there is no reader left to tell.
    let _unheard = writeln!(
        io::stdout(),
        "serving the site in {}\n  statuses: {}\n  what is wrong with its files: {}",
        plain::path(directory),
        at(output::RESOURCES),
        at(output::ERRORS),
    );
}

/// Name or address by which others reach this machine.
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
    /// What is asked for, by files as they were read last.
    asked: BTreeMap<ObjectKey, Asked>,
    /// What is wrong with these files.
    faults: Vec<Fault>,
    store: Store,
    memory: Memory,
    issued: Issued,
    tokens: WrittenFolder,
    output: Output,
    journal: Journal,
    /// True once the log says that no file asks for a Site.
    is_siteless: bool,
    /// Of the objects that were shown last.
    shown: Option<u64>,
    /// The newest revision of which all is kept that is to be known again.
    kept: watch::Sender<u64>,
    /// Whether there is nothing wrong with the files.
    is_whole: bool,
    /// Whether keeping what is known has failed, and that was said.
    is_unkept: bool,
    /// True if somebody has removed a file of what was issued.
    is_lost: bool,
    _lock: File,
}

impl Files {
    /// Reads what is there, and restores what was known.
    async fn open(options: &args::SiteArgs) -> anyhow::Result<Self> {
        let directory = &options.directory;
        let late = || {
            let (path, limit) = (plain::path(directory), file::PATIENCE.as_secs());
            tracing::warn!("{path} takes longer than {limit} s to read; waiting for it");
        };
        let restoring = directory.clone();
        let restored = file::beside(move || Restored::read(&restoring), late).await?;
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
        (site.asked, site.faults) = site.input.asked();
        let known = &site.memory.known;
        let refused = site.store.begin(&site.asked, known, &last).await?;
        site.store.put_back(&site.issued, known).await?;
        site.tell(refused);
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

    /// Closes the grants of a site whose memory is lost: a code that was used must not count again.
    async fn forget_redemptions(&self) -> kube::Result<()> {
        let grants = self.store.forget_redemptions().await?;
        if !grants.is_empty() {
            let (state, grants) = (plain::path(self.memory.path()), grants.join(", "));
            tracing::warn!(
                "{state} is gone, and with it who has redeemed which AccessGrant, so nobody may redeem these any more: {grants}; delete each of \
                 them, and create it again"
            );
        }
        Ok(())
    }

    /// The objects as they were shown last. Files that asked for them and cannot be read now still do.
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

    /// Keeps objects at what files say, and shows what becomes of them, without end.
    async fn follow(&mut self) -> Infallible {
        loop {
            self.show().await;
            self.log();
            tokio::time::sleep(LOOK).await;
            self.look().await;
        }
    }

    /// Logs what has become of the objects.
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

    async fn look(&mut self) {
        self.store.tick();
        let news = self.read(Folder::look).await;
        let forgotten = self.input.keep(|unit| self.folder.has(unit));
        if !news.is_empty() || forgotten {
            for news in news {
                self.input.learn(news);
            }
            (self.asked, self.faults) = self.input.asked();
        }
        let refused = self.store.settle(&self.asked).await;
        self.tell(refused);
        let lost = file::beside(self.issued.looking(), || {}).await;
        self.issued.lost(&lost);
        self.is_lost = !lost.is_empty();
    }

    /// Reads files beside the tasks of the controller and the router, whom no file may stop.
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
            output.tell([faults.clone(), vec![Fault { place, said }]].concat());
        };
        let (folder, news) = file::beside(reading, late).await;
        self.folder = folder;
        news
    }

    /// What is wrong with folders, with files, and with what these ask for.
    fn tell(&mut self, refused: Vec<Fault>) {
        let mut faults = [self.faults.clone(), refused].concat();
        let folders = self.folder.faults();
        faults.extend(folders.map(|(place, said)| Fault { place, said }));
        faults.sort();
        self.is_whole = faults.is_empty();
        self.output.tell(faults);
    }

    /// Writes what is to be known again, and then statuses: a process that ends between the two has shown nothing that the next one does not know.
    async fn show(&mut self) {
        let revision = self.store.revision();
        if self.shown == Some(revision) && !self.is_unkept && !self.is_lost {
            return;
        }
        if let Err(error) = self.store.revoke().await {
            tracing::warn!("what tokens were given cannot be removed: {error}");
        }
        if let Err(error) = self.store.set_costs().await {
            tracing::warn!("links cannot be given their costs: {error}");
        }
        let shown = self.store.shown().await;
        let before = &self.memory.known;
        let known = self.store.known(before, self.is_whole, &self.asked);
        match known.await {
            Ok(known) => self.memory.known = known,
            Err(error) => tracing::warn!("objects cannot be read: {error}"),
        }
        // First: what a token remembers to have been given is never there without that.
        let is_issued = match self.store.issued().await {
            Ok(issued) => self.issued.keep(&issued),
            Err(error) => {
                tracing::warn!("what tokens were given cannot be read: {error:#}");
                false
            }
        };
        let kept = match is_issued {
            true => self.memory.keep(),
            false => Err(io::Error::other("what tokens were given is not kept yet")),
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

/// What a process before has left in the directory of a site, which is ours from now on.
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
