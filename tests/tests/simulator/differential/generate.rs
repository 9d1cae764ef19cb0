//! Makes a sequence of a seed: mostly requests that are accepted, and every sort of mistake.

use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};

use super::kinds::{Kind, merge};
use super::plan::{Named, Patch, Sequence, Step, Target};

const NAMES: [&str; 2] = ["a", "b"];
const MANAGERS: [&str; 3] = ["one", "two", "three"];

/// The sequence of a seed.
pub(crate) fn sequence(seed: u64) -> Sequence {
    let mut maker = Maker(Pcg64Mcg::seed_from_u64(seed));
    let kinds = [maker.pick(&Kind::ALL), maker.pick(&Kind::ALL)];
    let count = 5 + maker.roll(8);
    let mut steps: Vec<Step> = (0..count).map(|_| maker.step(&kinds)).collect();
    // A sequence that begins without objects covers little.
    steps[0] = maker.create(kinds[0]);
    Sequence {
        steps,
        watched: kinds[0],
    }
}

struct Maker(Pcg64Mcg);

impl Maker {
    fn roll(&mut self, end: usize) -> usize {
        self.0.random_range(0..end)
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.0.next_u32() % 100 < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())]
    }

    fn target(&mut self, kind: Kind) -> Target {
        let name = if self.chance(75) { NAMES[0] } else { NAMES[1] };
        Target {
            kind,
            name,
            status: false,
        }
    }

    /// Targets the status now and then, if the kind has one.
    fn written(&mut self, kind: Kind) -> Target {
        let status = kind.has_status() && self.chance(20);
        Target {
            status,
            ..self.target(kind)
        }
    }

    fn create(&mut self, kind: Kind) -> Step {
        let target = self.target(kind);
        let mut fields = kind.least();
        merge(&mut fields, &self.fields(kind, false));
        if self.chance(15) {
            merge(&mut fields, &self.fields(kind, true));
        }
        Step::Create(target, kind.object(target.name, fields))
    }

    fn step(&mut self, kinds: &[Kind; 2]) -> Step {
        let kind = if self.chance(70) { kinds[0] } else { kinds[1] };
        match self.roll(100) {
            0..12 => self.create(kind),
            12..27 => {
                let target = self.written(kind);
                let version = match self.roll(10) {
                    0..6 => Named::Current,
                    6..9 => Named::Nothing,
                    _ => Named::Stale,
                };
                Step::Put(target, self.fields(kind, target.status), version)
            }
            27..37 => {
                let target = self.written(kind);
                Step::Patch(target, Patch::Merge, self.with_nulls(kind, target.status))
            }
            37..47 => {
                let target = self.written(kind);
                Step::Patch(
                    target,
                    Patch::Strategic,
                    self.strategic(kind, target.status),
                )
            }
            47..54 => {
                let target = self.written(kind);
                Step::Patch(target, Patch::Json, self.operations(kind, target.status))
            }
            54..84 => self.apply(kind),
            84..93 => self.delete(kind),
            93..96 => Step::Get(self.target(kind)),
            _ => {
                let queries = [
                    "labelSelector=tier%3Dx",
                    "labelSelector=tier%20in%20(x,y)",
                    "labelSelector=!tier",
                    "fieldSelector=metadata.name%3Da",
                    "limit=1",
                ];
                Step::List(kind, self.pick(&queries))
            }
        }
    }

    fn apply(&mut self, kind: Kind) -> Step {
        let target = self.written(kind);
        let mut fields = if target.status {
            json!({})
        } else {
            kind.least()
        };
        if self.chance(30) {
            fields = json!({});
        }
        merge(&mut fields, &self.fields(kind, target.status));
        let mut object = kind.object(target.name, fields);
        if self.chance(4) {
            object["metadata"]["resourceVersion"] = "1".into();
        }
        Step::Apply {
            target,
            manager: self.pick(&MANAGERS),
            force: self.chance(30),
            object,
        }
    }

    fn delete(&mut self, kind: Kind) -> Step {
        let mut named = || match self.roll(10) {
            0..7 => Named::Nothing,
            7..9 => Named::Current,
            _ => Named::Stale,
        };
        let (version, uid) = (named(), named());
        let propagation = match self.roll(6) {
            0 => Some("Foreground"),
            1 => Some("Orphan"),
            2 => Some("Background"),
            _ => None,
        };
        Step::Delete {
            target: self.target(kind),
            version,
            uid,
            propagation,
        }
    }

    /// Some fields of a kind: of its metadata and of its spec, or of its status.
    fn fields(&mut self, kind: Kind, status: bool) -> Value {
        let mut fields = json!({});
        let count = 1 + self.roll(3);
        for _ in 0..count {
            let more = if status || (kind == Kind::Gadget && self.chance(20)) {
                self.status(kind)
            } else if self.chance(20) {
                json!({"metadata": self.metadata()})
            } else {
                self.spec(kind)
            };
            merge(&mut fields, &more);
        }
        fields
    }

    fn metadata(&mut self) -> Value {
        match self.roll(7) {
            0 | 1 => json!({"labels": {"tier": self.pick(&["x", "y", "z"])}}),
            2 => json!({"labels": {"more": "1"}, "annotations": {"note": self.pick(&["p", "q"])}}),
            3 => json!({"annotations": {"a.example.com/b": self.pick(&["p", "q"])}}),
            4 => {
                json!({"finalizers": [self.pick(&["test.example.com/one", "test.example.com/two"])]})
            }
            5 => json!({"finalizers": []}),
            _ => json!({"labels": {"bad": self.pick(&["ok", "not ok!"])}}),
        }
    }

    fn spec(&mut self, kind: Kind) -> Value {
        match kind {
            Kind::ConfigMap => self.config_map(),
            Kind::Service => json!({"spec": self.service()}),
            Kind::Pod => json!({"spec": self.pod(false)}),
            Kind::Deployment => json!({"spec": self.deployment()}),
            Kind::Widget => json!({"spec": self.widget()}),
            Kind::Gadget => self.gadget(),
        }
    }

    fn config_map(&mut self) -> Value {
        match self.roll(9) {
            0..5 => json!({"data": {self.pick(&["a", "b", "c"]): self.pick(&["1", "2", "3"])}}),
            5 => json!({"binaryData": {"bin": "aGk="}}),
            6 => json!({"data": {"a": "1", "b": "2", "c": "3"}}),
            7 => json!({"immutable": true}),
            _ => match self.roll(4) {
                0 => json!({"data": {"not ok": "1"}}),
                1 => json!({"data": {"a": 1}}),
                2 => json!({"nonsense": {"x": 1}}),
                _ => json!({"binaryData": {"a": "aGk="}}),
            },
        }
    }

    fn service(&mut self) -> Value {
        match self.roll(14) {
            0 | 1 => json!({"ports": [{"port": 80, "name": "web"}]}),
            2 => json!({"ports": [{"port": 80, "name": "web"}, {"port": 443, "name": "tls"}]}),
            3 => {
                json!({"ports": [{"port": 53, "protocol": "UDP", "name": "dns"}, {"port": 53, "protocol": "TCP", "name": "dns-tcp"}]})
            }
            4 => json!({"selector": {"app": self.pick(&["a", "b"])}}),
            5 => json!({"sessionAffinity": self.pick(&["ClientIP", "None"])}),
            6 => {
                json!({"type": self.pick(&["NodePort", "LoadBalancer", "ClusterIP", "ClusterIP"])})
            }
            7 => json!({"type": "ExternalName", "externalName": "a.example.com"}),
            8 => json!({"publishNotReadyAddresses": true}),
            9 => json!({"ports": [{"port": 80, "targetPort": "http"}]}),
            10 => {
                json!({"type": "LoadBalancer", "externalTrafficPolicy": self.pick(&["Local", "Cluster"])})
            }
            11 => json!({"ports": [{"port": 80}, {"port": 81}]}),
            12 => json!({"externalIPs": ["198.51.100.7"]}),
            _ => match self.roll(4) {
                0 => json!({"ports": [{"port": 80}, {"port": 80}]}),
                1 => json!({"ports": [{"port": 0}]}),
                2 => json!({"type": "Nonsense"}),
                _ => json!({"nonsense": 1}),
            },
        }
    }

    fn pod(&mut self, template: bool) -> Value {
        let image = self.pick(&["a", "b", "c:1"]);
        match self.roll(10) {
            0 | 1 => json!({"containers": [{"name": "main", "image": image}]}),
            2 => {
                json!({"containers": [{"name": "main", "image": image}, {"name": "side", "image": "s"}]})
            }
            3 => {
                json!({"containers": [{"name": "main", "image": image, "env": [{"name": "A", "value": "1"}, {"name": "B", "value": image}]}]})
            }
            4 => {
                json!({"containers": [{"name": "main", "image": image, "ports": [{"containerPort": 80}, {"containerPort": 81, "name": "x"}]}]})
            }
            5 => json!({"containers": [{"name": "main", "image": image, "args": ["x", image]}]}),
            6 => json!({"volumes": [{"name": "v", "emptyDir": {}}]}),
            7 if !template => json!({"activeDeadlineSeconds": 1 + self.roll(3)}),
            7 => json!({"restartPolicy": "Always"}),
            8 => json!({"tolerations": [{"key": "k", "operator": "Exists"}]}),
            _ => match self.roll(3) {
                0 => json!({"containers": [{"image": image}]}),
                1 => json!({"containers": []}),
                _ => json!({"restartPolicy": "Nonsense"}),
            },
        }
    }

    fn deployment(&mut self) -> Value {
        match self.roll(9) {
            0..3 => json!({"replicas": self.roll(4)}),
            3..6 => json!({"template": {"spec": self.pod(true)}}),
            6 => json!({"strategy": {"type": "Recreate"}}),
            7 => json!({"minReadySeconds": self.roll(5), "paused": self.chance(50)}),
            _ => match self.roll(3) {
                0 => json!({"selector": {"matchLabels": {"app": "b"}}}),
                1 => json!({"replicas": -1}),
                _ => json!({"replicas": "x"}),
            },
        }
    }

    fn widget(&mut self) -> Value {
        match self.roll(20) {
            0 => json!({"name": self.pick(&["ab", "abc", "abcd"])}),
            1 => json!({"mode": self.pick(&["fast", "slow"])}),
            2 => json!({"low": 1 + self.roll(4), "high": 1 + self.roll(4)}),
            3 => json!({"ratio": self.pick(&[1.5, 2.0, 0.25]), "on": self.chance(50)}),
            4 => json!({"fixed": self.pick(&["x", "y"])}),
            5 => json!({"port": self.pick(&["http", "https"])}),
            6 => json!({"port": 80 + self.roll(3)}),
            7 => json!({"tags": [self.pick(&["p", "q"]), "r"]}),
            8 => json!({"tags": ["p", "q", "r"]}),
            9 => json!({"steps": ["1", self.pick(&["2", "3"])]}),
            10 | 11 => json!({"items": [{"id": self.pick(&["i", "j"]), "size": self.roll(9)}]}),
            12 => {
                json!({"items": [{"id": "i", "note": null}, {"id": "j", "zone": "west"}, {"id": "j"}]})
            }
            13 => json!({"whole": {self.pick(&["k", "l"]): "1"}}),
            14 | 15 => json!({"map": {self.pick(&["k", "l"]): self.roll(4)}}),
            16 => json!({"deep": {"b": self.roll(4)}}),
            17 => json!({"deep": null, "mode": null}),
            _ => match self.roll(9) {
                0 => json!({"name": "NOT OK"}),
                1 => json!({"name": 1}),
                2 => json!({"mode": "odd"}),
                3 => json!({"low": 0}),
                4 => json!({"tags": ["p", "p"]}),
                5 => json!({"items": [{"id": "i"}, {"id": "i"}]}),
                6 => json!({"items": [{"zone": "west"}]}),
                7 => json!({"nonsense": 1}),
                _ => json!({"tags": ["a", "b", "c", "d"], "high": 3_000_000_000_i64}),
            },
        }
    }

    fn gadget(&mut self) -> Value {
        match self.roll(8) {
            0 => json!({"spec": {"known": self.roll(4)}}),
            1 => json!({"spec": {"free": {self.pick(&["k", "l"]): self.roll(3)}}}),
            2 => json!({"spec": {"list": [1, self.roll(3)]}}),
            3 => json!({"extra": {self.pick(&["k", "l"]): self.pick(&["1", "2"])}}),
            4 => json!({"spec": {"free": {"deep": {"x": [{"y": 1}], "z": null}}}}),
            5 => json!({"spec": {"known": "x"}}),
            6 => json!({"other": 1}),
            _ => json!({"spec": {"free": self.pick(&["text", "other"])}}),
        }
    }

    fn status(&mut self, kind: Kind) -> Value {
        match kind {
            Kind::Widget | Kind::Gadget => match self.roll(3) {
                0 if kind == Kind::Widget => {
                    json!({"status": {"conditions": [{"type": self.pick(&["A", "B"]), "status": self.pick(&["True", "False"])}]}})
                }
                _ => json!({"status": {"phase": self.pick(&["Up", "Down"])}}),
            },
            Kind::Deployment => {
                json!({"status": {"replicas": self.roll(3), "observedGeneration": 1}})
            }
            Kind::Service => {
                json!({"status": {"loadBalancer": {"ingress": [{"ip": self.pick(&["203.0.113.1", "203.0.113.2"])}]}}})
            }
            Kind::Pod => {
                json!({"status": {"phase": self.pick(&["Running", "Pending"]), "message": self.pick(&["m", "n"])}})
            }
            Kind::ConfigMap => json!({"metadata": self.metadata()}),
        }
    }

    /// A merge patch that also removes.
    fn with_nulls(&mut self, kind: Kind, status: bool) -> Value {
        let mut patch = self.fields(kind, status);
        if self.chance(30) {
            let paths: &[&str] = match kind {
                Kind::ConfigMap => &["/data/a", "/data", "/metadata/labels"],
                Kind::Service => &[
                    "/spec/selector",
                    "/spec/ports",
                    "/spec/type",
                    "/metadata/labels/tier",
                ],
                Kind::Pod => &["/spec/activeDeadlineSeconds", "/metadata/labels"],
                Kind::Deployment => &[
                    "/spec/replicas",
                    "/spec/strategy",
                    "/spec/template/metadata",
                ],
                Kind::Widget => &[
                    "/spec/name",
                    "/spec/deep/a",
                    "/spec/map/k",
                    "/spec/items",
                    "/metadata/finalizers",
                ],
                Kind::Gadget => &["/spec/free", "/spec", "/extra/k"],
            };
            let path = self.pick(paths);
            let null = path.split('/').skip(1).collect::<Vec<_>>();
            let nested = null
                .iter()
                .rev()
                .fold(Value::Null, |inner, name| json!({*name: inner}));
            set_null(&mut patch, &nested);
        }
        patch
    }

    fn strategic(&mut self, kind: Kind, status: bool) -> Value {
        if status || self.chance(60) {
            return self.with_nulls(kind, status);
        }
        let containers = |containers: Value| match kind {
            Kind::Deployment => json!({"spec": {"template": {"spec": containers}}}),
            Kind::Pod | Kind::Service | Kind::ConfigMap | Kind::Widget | Kind::Gadget => {
                json!({"spec": containers})
            }
        };
        match (kind, self.roll(7)) {
            (Kind::Service, 0) => json!({"spec": {"ports": [{"port": 80, "$patch": "delete"}]}}),
            (Kind::Service, 1) => json!({"spec": {"ports": [{"$patch": "replace"}, {"port": 90}]}}),
            (Kind::Service, 2) => json!({"spec": {"ports": [{"name": "lost"}]}}),
            (Kind::Pod | Kind::Deployment, 0) => {
                containers(json!({"containers": [{"name": "side", "$patch": "delete"}]}))
            }
            (Kind::Pod | Kind::Deployment, 1) => {
                containers(json!({"containers": [{"image": "lost"}]}))
            }
            (Kind::Pod | Kind::Deployment, 2) => containers(json!({
                "$setElementOrder/containers": [{"name": "side"}, {"name": "main"}],
                "containers": [{"name": "main", "image": "d"}, {"name": "side", "image": "e"}],
            })),
            (Kind::Pod | Kind::Deployment, 3) => containers(
                json!({"volumes": [{"name": "v", "$retainKeys": ["name", "configMap"], "configMap": {"name": "c"}}]}),
            ),
            (_, 4) => {
                json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["test.example.com/one"]}})
            }
            (_, 5) => json!({"metadata": {"labels": {"$patch": "replace", "tier": "z"}}}),
            (_, 6) => json!({"metadata": {"labels": {"$patch": "twist"}}}),
            (_, _) => json!({"metadata": {"finalizers": ["test.example.com/two"]}}),
        }
    }

    fn operations(&mut self, kind: Kind, status: bool) -> Value {
        let fields = self.fields(kind, status);
        let mut leaves = Vec::new();
        flatten(&fields, String::new(), &mut leaves);
        let count = 1 + self.roll(2);
        let operations: Vec<Value> = (0..count)
            .filter_map(|_| {
                let (path, value) = leaves.get(self.roll(leaves.len().max(1)))?.clone();
                Some(match self.roll(10) {
                    0..5 => json!({"op": "add", "path": path, "value": value}),
                    5..7 => json!({"op": "replace", "path": path, "value": value}),
                    7..9 => json!({"op": "remove", "path": path}),
                    _ => json!({"op": "test", "path": path, "value": value}),
                })
            })
            .collect();
        Value::Array(operations)
    }
}

/// Lays one patch over another, nulls as they are.
fn set_null(patch: &mut Value, nested: &Value) {
    match (patch, nested) {
        (Value::Object(fields), Value::Object(nested)) => {
            for (name, nested) in nested {
                set_null(fields.entry(name.clone()).or_insert(Value::Null), nested);
            }
        }
        (patch, nested) => patch.clone_from(nested),
    }
}

fn flatten(value: &Value, path: String, leaves: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                flatten(value, format!("{path}/{name}"), leaves);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => leaves.push((path, value.clone())),
    }
}
