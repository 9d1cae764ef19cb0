//! How moves are done: each as requests of another user, and which of them are possible now.

use std::sync::Arc;

use serde_json::{Value, json};

use super::contract::not_promised;
use super::fixture::Fixture;
use super::harness::Harness;
use super::invariant::Invariant;
use super::moves::{Edit, Move};
use super::observer::Last;
use super::site::{self, Site};
use lifecycle_runtime::machine::ir::{Lifecycle, Mode, Promise};

/// Finalizer that keeps one of our objects from being removed.
const HELD_BACK: &str = "generated-suite.lifecycle/held-back";
/// Number of edits that are tried on an object in each world. The next world tries other edits.
const EDITS: usize = 2;

impl Harness {
    pub(crate) async fn act(&mut self, m: &Move, pending: Option<&Value>) -> kube::Result<bool> {
        match m {
            Move::Create(key) => self.create(key).await,
            Move::Replace(key) => self.replace(key).await,
            Move::Delete(path) => {
                let deleted = self.remove(path).await?;
                self.present.remove(path);
                self.foreign.remove(path);
                Ok(deleted)
            }
            Move::Seize(path) => self.seize(path, pending).await,
            Move::Control(path) => self.control(path, pending).await,
            Move::Edit(path, place, edit) => self.edit(path, *place, *edit).await,
            Move::Intrude(path, list) => self.intrude(path, *list).await,
            Move::Vanish(path) => self.remove(path).await,
            Move::Linger(path) => {
                let finalizers = json!({ "metadata": { "finalizers": [HELD_BACK] } });
                site::patch(&self.admin, path, &finalizers).await?;
                self.lingering.insert(path.clone());
                site::delete(&self.admin, path).await
            }
            Move::Loosen(path) => {
                self.lingering.remove(path);
                let Some(object) = site::get(&self.admin, path).await? else {
                    return Ok(false);
                };
                let finalizers = object.pointer("/metadata/finalizers");
                let kept = finalizers.and_then(Value::as_array).into_iter().flatten();
                let kept: Vec<_> = kept.filter(|f| *f != HELD_BACK).collect();
                let finalizers = json!({ "metadata": { "finalizers": kept } });
                site::patch(&self.admin, path, &finalizers)
                    .await
                    .map(|_| true)
            }
            Move::Smudge(path) => self.smudge(path).await,
            Move::Keep(name, n) => self.keep(name, *n).await,
            Move::Fair | Move::Down | Move::Up | Move::Perturb(_) | Move::Restart | Move::Tick => {
                Ok(false)
            }
        }
    }

    /// Deletes an object together with its resources outside Kubernetes.
    pub(crate) async fn remove(&self, path: &str) -> kube::Result<bool> {
        let object = site::get(&self.admin, path).await?;
        let deleted = site::delete(&self.admin, path).await?;
        if let Some(object) = object {
            self.outside.follow(&object);
        }
        Ok(deleted)
    }

    fn fixture(&self, key: &str) -> Option<Fixture> {
        let found = self.core.fixtures.iter().find(|f| f.key == key);
        found.cloned()
    }

    async fn create(&mut self, key: &str) -> kube::Result<bool> {
        let Some(fixture) = self.fixture(key) else {
            return Ok(false);
        };
        site::create(&self.admin, &fixture.collection, &fixture.object).await?;
        self.present.insert(fixture.path, fixture.key);
        Ok(true)
    }

    async fn replace(&mut self, key: &str) -> kube::Result<bool> {
        let Some(fixture) = self.fixture(key) else {
            return Ok(false);
        };
        if !self.present.contains_key(&fixture.path) {
            return Ok(false);
        }
        site::replace(&self.admin, &fixture.path, &fixture.object).await?;
        self.present.insert(fixture.path, fixture.key);
        Ok(true)
    }

    async fn seize(&mut self, path: &str, pending: Option<&Value>) -> kube::Result<bool> {
        let wrote = self.all_wrote();
        let wrote = wrote.get(path).map(|(_, body)| body);
        let Some(body) = wrote.or(pending).cloned() else {
            return Ok(false);
        };
        self.remove(path).await?;
        let foreign = site::as_foreign(&body, path);
        site::post(&self.admin, site::all_of(path), &foreign).await?;
        self.foreign.insert(path.to_owned());
        Ok(true)
    }

    async fn smudge(&mut self, path: &str) -> kube::Result<bool> {
        let Some(mut live) = site::get(&self.admin, path).await? else {
            return Ok(false);
        };
        let Some(status) = live.get_mut("status").and_then(Value::as_object_mut) else {
            return Ok(false);
        };
        status.clear();
        let path = format!("{path}/status");
        site::put(&self.admin, &path, &live).await.map(|_| true)
    }

    /// Keeps a promise to every object that it is made to now.
    async fn keep(&mut self, name: &str, n: usize) -> kube::Result<bool> {
        let core = Arc::clone(&self.core);
        let mut all = core.irs().into_iter().enumerate().flat_map(|(member, ir)| {
            let promises = ir.promises.iter().enumerate();
            promises.map(move |(number, promise)| (member, ir, number, promise))
        });
        let found = all.find(|(member, _, _, promise)| core.called(*member, promise) == name);
        let Some((member, ir, number, promise)) = found else {
            return Ok(false);
        };
        let mut keepers = core
            .kept_by(member)
            .iter()
            .filter(|(of, _)| of == promise.name);
        let Some((_, keeper)) = keepers.nth(n).cloned() else {
            return Ok(false);
        };
        let mut kept = Vec::new();
        for (object, last) in self.last_of(member) {
            let raw = last.observation.subject().raw.clone();
            let is_due = last.world().holds(&promise.when) && is_promised(ir, &last);
            let (Some(raw), true) = (raw, is_due) else {
                continue;
            };
            let site = Site {
                client: self.admin.clone(),
                object: raw,
                outside: Arc::clone(&self.outside),
            };
            if keeper(site).await? {
                kept.push((object, last));
            }
        }
        if !kept.is_empty() && member == 0 {
            self.observer.promised(number);
        }
        tokio::time::sleep(self.core.soon).await;
        let now = self.last_of(member);
        let moved = kept.iter().filter_map(|(object, before)| {
            let after = now.get(object)?;
            (after.world() != before.world()).then(|| after.world().clone())
        });
        let moved: Vec<_> = moved.collect();
        // Elsewhere half of it may be all that was seen so far, and where others run it may be theirs.
        let alone = self.core.cluster.is_simulated() && self.companions.is_empty();
        for world in moved.into_iter().filter(|_| alone) {
            if let Some(why) = not_promised(ir, promise, &world) {
                self.find(Invariant::DeclaredPromise, why);
            }
        }
        Ok(!kept.is_empty())
    }

    /// Returns the promises that are made in the current worlds and that no running lifecycle
    /// keeps, and all other changes that time brings.
    pub(crate) fn owed(&self) -> Vec<Move> {
        let mut owed = Vec::new();
        owed.extend(self.lingering.iter().cloned().map(Move::Loosen));
        for (member, ir) in self.core.irs().into_iter().enumerate() {
            let last = self.last_of(member);
            let outside = |promise: &&Promise| self.core.is_outside(promise);
            for promise in ir.promises.iter().filter(outside) {
                let worlds = last.values().filter(|l| is_promised(ir, l));
                let mut worlds = worlds.filter(|l| l.failure.is_none());
                if worlds.any(|l| l.world().holds(&promise.when)) {
                    let keepers = self.core.kept_by(member).iter();
                    let keepers = keepers.filter(|(name, _)| name == promise.name).count();
                    let name = self.core.called(member, promise);
                    owed.extend((0..keepers).map(|n| Move::Keep(name.clone(), n)));
                }
            }
        }
        if self.is_down {
            owed.push(Move::Up);
        }
        owed
    }

    /// Returns every move that is possible now. `turn` selects the fields that are edited.
    pub(crate) async fn possible(&self, turn: usize) -> Vec<Move> {
        let mut moves = Vec::new();
        for fixture in &self.core.fixtures {
            match self.present.get(&fixture.path) {
                None => moves.push(Move::Create(fixture.key.clone())),
                Some(key) if *key == fixture.key => {
                    moves.push(Move::Delete(fixture.path.clone()));
                    if fixture.subject {
                        moves.push(Move::Smudge(fixture.path.clone()));
                    }
                }
                Some(_) => moves.push(Move::Replace(fixture.key.clone())),
            }
        }
        for (path, (member, _)) in self.all_wrote() {
            let live = site::get(&self.admin, &path).await.ok().flatten();
            let observer = self.observer_of(member);
            let is_ours = live.as_ref().is_some_and(|live| observer.owns(live));
            let adopted = is_ours && self.core.is_kept_or_adopted(&path);
            if self.foreign.contains(&path) && !adopted {
                moves.push(Move::Delete(path));
                continue;
            }
            if self.present.contains_key(&path) {
                continue;
            }
            moves.push(Move::Seize(path.clone()));
            let kept = self.core.is_kept_or_adopted(&path);
            moves.extend(kept.then(|| Move::Control(path.clone())));
            if is_ours && !self.lingering.contains(&path) {
                moves.push(Move::Vanish(path.clone()));
                moves.push(Move::Linger(path.clone()));
                let places = live.as_ref().map_or(0, |live| self.places(&path, live));
                let edits = (turn * EDITS..).take(EDITS.min(places));
                moves.extend(edits.map(|n| {
                    let edit = Edit::ALL[n % Edit::ALL.len()];
                    let place = (n + n / Edit::ALL.len()) % places;
                    Move::Edit(path.clone(), place, edit)
                }));
                let lists = 0..self.exclusive(&path).len();
                moves.extend(lists.map(|list| Move::Intrude(path.clone(), list)));
            }
        }
        let irs = self.core.irs();
        let mut inputs = irs.iter().flat_map(|ir| ir.inputs);
        let polls = inputs.any(|i| i.mode == Mode::Poll);
        if !self.is_down && polls {
            moves.push(Move::Down);
        }
        moves.extend(self.outside.meddlings().into_iter().map(Move::Perturb));
        if self.expires().is_some() {
            moves.push(Move::Tick);
        }
        let owed = self.owed();
        let promises: usize = irs.iter().map(|ir| ir.promises.len()).sum();
        if !owed.is_empty() && promises > 1 {
            moves.push(Move::Fair);
        }
        moves.extend(owed);
        moves
    }
}

/// Returns true if a promise may be awaited; for an object that is being deleted, by the stages of
/// the teardown.
fn is_promised(ir: &Lifecycle, last: &Last) -> bool {
    !last.deleting || !ir.steps.is_empty()
}

/// Another value of the same type.
pub(crate) fn another(value: &Value) -> Value {
    match value {
        Value::String(text) if text.is_empty() => json!("drifted"),
        // A base64 decoder accepts no other ending.
        Value::String(text) if text.ends_with('=') => {
            let other = if text.starts_with('x') { 'y' } else { 'x' };
            let rest = text.chars().skip(1);
            json!([other].into_iter().chain(rest).collect::<String>())
        }
        Value::String(text) => {
            let last = text.chars().next_back().unwrap_or_default();
            let other = if last == 'x' { 'y' } else { 'x' };
            let mut text: String = text.chars().take(text.chars().count() - 1).collect();
            text.push(other);
            json!(text)
        }
        Value::Number(number) => json!(number.as_i64().unwrap_or_default() + 1),
        Value::Bool(yes) => json!(!yes),
        Value::Null | Value::Array(_) | Value::Object(_) => json!("drifted"),
    }
}
