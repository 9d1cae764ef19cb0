//! One object on an API server: reads it, edits it, and reads it again.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail, ensure};
use http::Request;
use kube::core::ApiResource;
use kube::{Client, Error};
use lifecycle_suite::managed::{Step, alone, lost, moved, pointer, value_at};
use serde_json::{Map, Value, json};

use super::edit::{Act, Added, Answer, Edit, WriteMode, changed, edits, more};
use super::place::{FieldInfo, places};
use super::schema::Schemas;

/// Field manager that makes the edits.
const HAND: &str = "hand";
/// Field manager of fields beside ours.
const NEIGHBOUR: &str = "neighbour";
const MARK: &str = "neighbour.example.org/mark";
/// Annotation on the object that an object is written for. It gets another value each time.
const TURN: &str = "neighbour.example.org/turn";
static TURNS: AtomicUsize = AtomicUsize::new(0);

/// An object that a lifecycle writes, or the status of one.
#[derive(Clone)]
pub struct Object {
    client: Client,
    kind: ApiResource,
    namespace: String,
    name: String,
    is_status: bool,
    /// Path of the object for which this object is written.
    written_for: Option<String>,
}

/// State of an object at one time: the fields that its writer owns, and their values.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    version: String,
    pub(super) live: Value,
    fields: Map<String, Value>,
}

impl Snapshot {
    /// Returns a place that was ours and no longer is, or has another value.
    pub(super) fn missing_in(&self, now: &Self) -> Option<String> {
        lost((&self.fields, &self.live), (&now.fields, &now.live))
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind(), self.namespace, self.name)
    }
}

impl Object {
    /// An object with a namespace.
    pub fn new<K>(client: &Client, namespace: &str, name: &str) -> Self
    where
        K: kube::Resource<DynamicType = ()>,
    {
        Self {
            client: client.clone(),
            kind: ApiResource::erase::<K>(&()),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            is_status: false,
            written_for: None,
        }
    }

    /// An object without a namespace.
    pub fn of_cluster<K>(client: &Client, name: &str) -> Self
    where
        K: kube::Resource<DynamicType = ()>,
    {
        Self::new::<K>(client, "", name)
    }

    /// The object of its namespace that it is written for: a change of that lets a writer write again without a pause.
    #[must_use]
    pub fn written_for<K>(mut self, name: &str) -> Self
    where
        K: kube::Resource<DynamicType = ()>,
    {
        let all = K::url_path(&(), Some(&self.namespace));
        self.written_for = Some(format!("{all}/{name}"));
        self
    }

    /// Its status instead of itself.
    #[must_use]
    pub fn status(self) -> Self {
        Self {
            is_status: true,
            ..self
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the kind, and marks the status of one.
    pub fn kind(&self) -> String {
        let part = if self.is_status { " status" } else { "" };
        format!("{}{part}", self.kind.kind)
    }

    pub(super) async fn schemas(&self) -> Result<Schemas> {
        Schemas::fetch(&self.client, &self.kind).await
    }

    /// Returns every edit that others may make to our fields in the object.
    pub(super) async fn edits(&self, schemas: &Schemas) -> Result<Vec<Edit>> {
        let look = self
            .snapshot()
            .await?
            .with_context(|| format!("{self} is gone"))?;
        let all = edits(&self.places(&look, schemas)?, self.is_status);
        ensure!(!all.is_empty(), "nothing of {self} is ours");
        Ok(all)
    }

    fn places<'a>(&self, look: &Snapshot, schemas: &'a Schemas) -> Result<Vec<FieldInfo<'a>>> {
        places(schemas.of_kind(&self.kind)?, &look.live, &look.fields)
    }

    fn path(&self, query: &str) -> String {
        let Self {
            kind,
            namespace,
            name,
            ..
        } = self;
        let group = match kind.group.as_str() {
            "" => "/api".to_owned(),
            group => format!("/apis/{group}"),
        };
        let within = match namespace.as_str() {
            "" => String::new(),
            namespace => format!("/namespaces/{namespace}"),
        };
        let of = if self.is_status { "/status" } else { "" };
        format!(
            "{group}/{}{within}/{}/{name}{of}{query}",
            kind.version, kind.plural
        )
    }

    /// As it is now; `None` if it is not there, or nothing of it is its writer's.
    pub(super) async fn snapshot(&self) -> Result<Option<Snapshot>> {
        let request = Request::get(self.path("")).body(Vec::new())?;
        let live: Value = match self.client.request(request).await {
            Ok(live) => live,
            Err(Error::Api(status)) if status.code == 404 => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(Some(self.read(live)))
    }

    fn read(&self, live: Value) -> Snapshot {
        let of = if self.is_status {
            json!("status")
        } else {
            Value::Null
        };
        let entries = live["metadata"]["managedFields"].as_array();
        let is_writers = |entry: &&Value| {
            entry["operation"] == "Apply" && entry["manager"] != HAND && entry["subresource"] == of
        };
        let fields = entries.into_iter().flatten().find(is_writers);
        let fields = fields
            .and_then(|entry| entry["fieldsV1"].as_object())
            .cloned();
        Snapshot {
            version: live["metadata"]["resourceVersion"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            live,
            fields: fields.unwrap_or_default(),
        }
    }

    /// With something of others, which is to stay.
    pub(super) async fn marked(&self, look: Snapshot) -> Result<Snapshot> {
        if self.is_status || self.is_marked(&look.live) {
            return Ok(look);
        }
        let patch = json!({ "metadata": { "annotations": { MARK: "yes" } } });
        let query = format!("?fieldManager={NEIGHBOUR}");
        let live = self
            .send(&query, "application/merge-patch+json", &patch)
            .await?;
        Ok(self.read(live))
    }

    pub(super) fn is_marked(&self, live: &Value) -> bool {
        live["metadata"]["annotations"][MARK] == "yes"
    }

    /// Changes the object that it is written for. Repeated writes are slowed down, unless they are
    /// made for something new.
    pub(super) async fn turn_owner(&self) -> Result<()> {
        let Some(path) = &self.written_for else {
            return Ok(());
        };
        let turn = TURNS.fetch_add(1, Ordering::Relaxed).to_string();
        let patch = json!({ "metadata": { "annotations": { TURN: turn } } });
        let content = "application/merge-patch+json";
        let query = format!("?fieldManager={NEIGHBOUR}");
        self.send_to(&format!("{path}{query}"), content, &patch)
            .await?;
        Ok(())
    }

    pub(super) async fn delete(&self) -> Result<()> {
        if self.is_status {
            return Ok(());
        }
        let request = Request::delete(self.path("")).body(Vec::new())?;
        let deleted: kube::Result<Value> = self.client.request(request).await;
        match deleted {
            Err(Error::Api(status)) if status.code == 404 => Ok(()),
            deleted => Ok(deleted.map(drop)?),
        }
    }

    /// Removes the added element.
    pub(super) async fn take_back(&self, added: &Added) -> Result<()> {
        let look = self.snapshot().await?.context("it is gone")?;
        self.update(&look, "remove", &added.path, None)
            .await
            .map(drop)
    }

    pub(super) async fn has(&self, added: &Added) -> Result<bool> {
        let look = self.snapshot().await?.context("it is gone")?;
        Ok(value_at(&look.live, &added.path).is_some())
    }

    async fn send(&self, query: &str, content: &str, body: &Value) -> kube::Result<Value> {
        self.send_to(&self.path(query), content, body).await
    }

    async fn send_to(&self, path: &str, content: &str, body: &Value) -> kube::Result<Value> {
        let request = Request::patch(path).header("Content-Type", content);
        let body = serde_json::to_vec(body).map_err(Error::SerdeError)?;
        let request = request.body(body).expect("it is a request");
        self.client.request(request).await
    }

    /// Makes one edit.
    pub(super) async fn make(
        &self,
        edit: &Edit,
        look: &Snapshot,
        schemas: &Schemas,
    ) -> Result<Answer> {
        let places = self.places(look, schemas)?;
        let place = places
            .get(edit.number)
            .with_context(|| format!("no {}", edit.place))?;
        let value = value_at(&look.live, &place.path)
            .context("its value is gone")?
            .clone();
        match (edit.act, edit.by) {
            (Act::Own, by) => self.own(&place.path, by).await,
            (Act::Remove, WriteMode::Update) => {
                self.update(look, "remove", &place.path, None).await
            }
            (Act::Remove, WriteMode::Forced | WriteMode::Unforced) => {
                let taken = self.change(look, place, &value, WriteMode::Forced).await?;
                self.apply(json!({}), true).await?;
                Ok(taken)
            }
            (Act::Change, by) => self.change(look, place, &value, by).await,
            (Act::Add, _) if place.whole.is_some() => {
                self.change(look, place, &value, WriteMode::Update).await
            }
            (Act::Add, by) => self.add(look, place, &value, by).await,
        }
    }

    /// The first other value that the API server takes.
    async fn change(
        &self,
        look: &Snapshot,
        place: &FieldInfo<'_>,
        value: &Value,
        by: WriteMode,
    ) -> Result<Answer> {
        for other in changed(place.schema, value) {
            let answer = match by {
                WriteMode::Update => {
                    self.update(look, "replace", &place.path, Some(other))
                        .await?
                }
                WriteMode::Forced => self.apply(alone(&place.path, other), true).await?,
                WriteMode::Unforced => self.apply(alone(&place.path, other), false).await?,
            };
            if !matches!(answer, Answer::Refused) {
                return Ok(answer);
            }
        }
        Ok(Answer::Refused)
    }

    async fn update(
        &self,
        look: &Snapshot,
        operation: &str,
        path: &[Step],
        value: Option<Value>,
    ) -> Result<Answer> {
        let pointer = pointer(&look.live, path).context("it is gone")?;
        let mut patch = json!([{ "op": operation, "path": pointer }]);
        if let Some(value) = value {
            patch[0]["value"] = value;
        }
        let query = format!("?fieldManager={HAND}");
        self.answer(
            self.send(&query, "application/json-patch+json", &patch)
                .await,
        )
    }

    async fn apply(&self, mut body: Value, force: bool) -> Result<Answer> {
        body["apiVersion"] = json!(self.kind.api_version);
        body["kind"] = json!(self.kind.kind);
        body["metadata"]["name"] = json!(self.name);
        let query = format!("?fieldManager={HAND}&force={force}");
        self.answer(
            self.send(&query, "application/apply-patch+yaml", &body)
                .await,
        )
    }

    /// Makes another manager the owner of an unchanged field.
    async fn own(&self, path: &[Step], by: WriteMode) -> Result<Answer> {
        loop {
            let look = self.snapshot().await?.context("it is gone")?;
            let mut managed = look.live["metadata"]["managedFields"].clone();
            let ours = managed
                .as_array_mut()
                .into_iter()
                .flatten()
                .find_map(|entry| {
                    let is_writers = entry["fieldsV1"].as_object() == Some(&look.fields);
                    entry["fieldsV1"].as_object_mut().filter(|_| is_writers)
                });
            let theirs = moved(ours.context("nothing is its writer's")?, path);
            let operation = if by == WriteMode::Update {
                "Update"
            } else {
                "Apply"
            };
            let entry = json!({
                "manager": HAND, "operation": operation, "apiVersion": self.kind.api_version,
                "fieldsType": "FieldsV1", "fieldsV1": theirs.context("it is not its writer's")?,
            });
            managed.as_array_mut().context("no list")?.push(entry);
            let patch = json!([
                { "op": "test", "path": "/metadata/resourceVersion", "value": look.version },
                { "op": "replace", "path": "/metadata/managedFields", "value": managed },
            ]);
            let query = format!("?fieldManager={HAND}");
            match self
                .send(&query, "application/json-patch+json", &patch)
                .await
            {
                Err(Error::Api(status)) if matches!(status.code, 409 | 422) => {}
                sent => return self.answer(sent),
            }
        }
    }

    /// Adds another element or key beside ours.
    async fn add(
        &self,
        look: &Snapshot,
        place: &FieldInfo<'_>,
        value: &Value,
        by: WriteMode,
    ) -> Result<Answer> {
        let own = at_fields(&look.fields, &place.path);
        let keys = own
            .iter()
            .flat_map(|fields| fields.keys())
            .find_map(|name| serde_json::from_str(name.strip_prefix("k:")?).ok());
        let Some((made, step)) = more(place, value, &keys.unwrap_or_default()) else {
            return Ok(Answer::Refused);
        };
        let mut path = place.path.clone();
        path.push(step.clone());
        let sent = match (by, &step) {
            (WriteMode::Update, Step::Field(_)) => self.update_at(look, &path, made).await?,
            (WriteMode::Update, _) => {
                let list = pointer(&look.live, &place.path).context("it is gone")?;
                let patch = json!([{ "op": "add", "path": format!("{list}/-"), "value": made }]);
                let query = format!("?fieldManager={HAND}");
                self.answer(
                    self.send(&query, "application/json-patch+json", &patch)
                        .await,
                )?
            }
            (WriteMode::Forced | WriteMode::Unforced, _) => {
                self.apply(alone(&path, made), true).await?
            }
        };
        Ok(match sent {
            Answer::Made { is_marked, .. } => Answer::Made {
                added: Some(Added {
                    place: place.text(),
                    path,
                }),
                is_marked,
            },
            refused @ (Answer::Refused | Answer::Conflict) => refused,
        })
    }

    async fn update_at(&self, look: &Snapshot, path: &[Step], value: Value) -> Result<Answer> {
        let (last, parents) = path.split_last().context("no path")?;
        let parent = pointer(&look.live, parents).context("it is gone")?;
        let Step::Field(name) = last else {
            bail!("{last:?} is no field");
        };
        let patch = json!([{ "op": "add", "path": format!("{parent}/{name}"), "value": value }]);
        let query = format!("?fieldManager={HAND}");
        self.answer(
            self.send(&query, "application/json-patch+json", &patch)
                .await,
        )
    }

    fn answer(&self, sent: kube::Result<Value>) -> Result<Answer> {
        match sent {
            Ok(live) => Ok(Answer::Made {
                added: None,
                is_marked: self.is_marked(&live),
            }),
            Err(Error::Api(status)) => match status.code {
                409 if status.message.contains("conflict") => Ok(Answer::Conflict),
                400 | 403 | 409 | 422 | 500 => Ok(Answer::Refused),
                _ => Err(Error::Api(status).into()),
            },
            Err(error) => Err(error.into()),
        }
    }
}

fn at_fields<'f>(fields: &'f Map<String, Value>, path: &[Step]) -> Option<&'f Map<String, Value>> {
    path.iter().try_fold(fields, |fields, step| {
        fields.get(&step.name()?)?.as_object()
    })
}
