//! The driver with its controller on the simulated API server or on another one. The work of
//! kubelet and external-provisioner is done by hand.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod};
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client, Resource};
use lifecycle_cli::process::cluster_domain;
use lifecycle_listener::args::Preset;
use lifecycle_listener::controller::{self, Options};
use lifecycle_listener::volume;
use lifecycle_listener::volume::Mount;
use lifecycle_proto::csi;
use lifecycle_proto::csi::controller_client::ControllerClient;
use lifecycle_proto::csi::node_client::NodeClient;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_simulator::server::{Server, User};
use lifecycle_suite::faults::{Faults, Plan};
use lifecycle_tests::harness::eventually;
use lifecycle_tests::volumes::client::{connect, mount};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;
use tonic::transport::Channel;

use super::PATIENCE;

/// Default volume of the tests.
pub(crate) const VOLUME: &str = "pvc-1";

/// Names of the objects of a request.
#[derive(Clone)]
struct Names {
    claim: String,
    volume: String,
    pod: String,
}

/// The driver with its controller, and the cluster that they work in.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) admin: Client,
    /// Requests of the process on the node.
    pub(crate) sent: Faults,
    /// Requests of the process that makes volumes.
    pub(crate) sent_by_provisioner: Faults,
    controller: ControllerClient<Channel>,
    pub(crate) node: NodeClient<Channel>,
    folder: Arc<TempDir>,
    names: Names,
    _trigger: Arc<Trigger>,
}

impl Site {
    pub(crate) async fn start() -> Result<Self> {
        let server = Server::new(1);
        Self::start_on(server.client(&User::admin())).await
    }

    /// Starts it on another API server, as a user with all rights.
    pub(crate) async fn start_on(admin: Client) -> Result<Self> {
        Self::start_as(admin.clone(), admin).await
    }

    /// As `start_on`, where the process on the node works as another user.
    pub(crate) async fn start_as(admin: Client, node_user: Client) -> Result<Self> {
        let namespace: Namespace = parsed(json!({ "metadata": { "name": "apps" } }))?;
        Api::all(admin.clone())
            .create(&PostParams::default(), &namespace)
            .await?;
        let node: Node = parsed(json!({ "metadata": { "name": "node-1" } }))?;
        Api::all(admin.clone())
            .create(&PostParams::default(), &node)
            .await?;
        let (trigger, shutdown) = Shutdown::pair();
        let reconciler = Options {
            cluster_domain: cluster_domain::resolve(None),
            kinds: controller::KINDS,
            maintain_crds: true,
            preset: Preset::EphemeralNodes,
            leadership: None,
            max_object_size: lifecycle_runtime::operator::MAX_OBJECT_SIZE,
            watched: std::collections::BTreeSet::new(),
            csi_endpoint: None,
            health: Health::default(),
        };
        tokio::spawn(controller::run_controller(
            admin.clone(),
            reconciler,
            shutdown.clone(),
        ));
        let folder = TempDir::with_prefix("csi")?;
        let place = |name: &str| folder.path().join(name);
        let sent = Faults::new(Plan::default(), jiff::Timestamp::UNIX_EPOCH);
        let text = |path: PathBuf| path.display().to_string();
        let sent_by_provisioner = Faults::new(Plan::default(), jiff::Timestamp::UNIX_EPOCH);
        let provisions = volume::provisions("listeners.stackable.tech", &text(place("c.sock")));
        let client = sent_by_provisioner.line(true).client(&admin);
        tokio::spawn(provisions.start(client, shutdown.clone()));
        let mount = Mount {
            endpoint: text(place("n.sock")),
            node: "node-1".to_owned(),
            registration: None,
        };
        let mounts = volume::mounts("listeners.stackable.tech", mount);
        tokio::spawn(mounts.start(sent.line(true).client(&node_user), shutdown));
        Ok(Self {
            admin,
            sent,
            sent_by_provisioner,
            controller: ControllerClient::new(connect(&place("c.sock")).await?),
            node: NodeClient::new(connect(&place("n.sock")).await?),
            folder: Arc::new(folder),
            names: Names {
                claim: "web".to_owned(),
                volume: VOLUME.to_owned(),
                pod: "web-0".to_owned(),
            },
            _trigger: Arc::new(trigger),
        })
    }

    /// Starts it with a Pod that has a claim with a class, and a volume for it.
    pub(crate) async fn with_pod(class: &str) -> Result<(Self, Pod)> {
        let site = Self::start().await?;
        site.claim(json!({ "listeners.stackable.tech/listener-class": class }))
            .await?;
        let pod = site.pod().await?;
        site.provisioned().await?;
        Ok((site, pod))
    }

    /// Waits until the volume exists: the controller, which has only started, makes the class.
    pub(crate) async fn provisioned(&self) -> Result<()> {
        eventually("the class is there", PATIENCE, async || {
            Ok(self.provision().await.ok())
        })
        .await
    }

    /// The same cluster, where everything is about this claim, volume and Pod.
    pub(crate) fn with_names(&self, claim: &str, volume: &str, pod: &str) -> Self {
        Self {
            names: Names {
                claim: claim.to_owned(),
                volume: volume.to_owned(),
                pod: pod.to_owned(),
            },
            ..self.clone()
        }
    }

    pub(crate) fn objects<K>(&self) -> Api<K>
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.admin.clone(), "apps")
    }

    pub(crate) async fn claim(&self, annotations: Value) -> Result<()> {
        let claim: PersistentVolumeClaim = parsed(json!({
            "metadata": { "name": self.names.claim, "labels": { "team": "a" }, "annotations": annotations },
            "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1" } } },
        }))?;
        self.objects()
            .create(&PostParams::default(), &claim)
            .await?;
        Ok(())
    }

    /// Deletes a claim at once, even with finalizers that protect it in a real cluster.
    pub(crate) async fn unclaim(&self) -> Result<()> {
        let claims: Api<PersistentVolumeClaim> = self.objects();
        let freed = json!({ "metadata": { "finalizers": null } });
        claims
            .patch(
                &self.names.claim,
                &Default::default(),
                &kube::api::Patch::Merge(&freed),
            )
            .await?;
        let claim = &self.names.claim;
        claims.delete(claim, &DeleteParams::default()).await?;
        Ok(())
    }

    pub(crate) async fn pod(&self) -> Result<Pod> {
        let pod: Pod = parsed(json!({
            "metadata": { "name": self.names.pod },
            "spec": {
                "nodeName": "node-1",
                "containers": [{ "name": "c", "image": "i", "ports": [{ "name": "http", "containerPort": 80 }] }],
                "volumes": [{ "name": "listener", "persistentVolumeClaim": { "claimName": self.names.claim } }],
            },
        }))?;
        Ok(self.objects().create(&PostParams::default(), &pod).await?)
    }

    /// Requests a volume like external-provisioner, and records the result.
    pub(crate) async fn provision(&self) -> Result<(), tonic::Status> {
        let request = csi::CreateVolumeRequest {
            name: self.names.volume.clone(),
            volume_capabilities: vec![mount()],
            parameters: [
                (
                    "csi.storage.k8s.io/pvc/name".to_owned(),
                    self.names.claim.clone(),
                ),
                (
                    "csi.storage.k8s.io/pvc/namespace".to_owned(),
                    "apps".to_owned(),
                ),
            ]
            .into(),
            ..Default::default()
        };
        let made = self.controller.clone().create_volume(request).await?;
        let made = made.into_inner().volume.unwrap_or_default();
        assert!(made.accessible_topology.is_empty(), "nothing is pinned");
        let volume: PersistentVolume = parsed(json!({
            "metadata": { "name": self.names.volume },
            "spec": {
                "accessModes": ["ReadWriteOnce"], "capacity": { "storage": "1" },
                "claimRef": { "name": self.names.claim, "namespace": "apps" },
                "csi": { "driver": "listeners.stackable.tech", "volumeHandle": made.volume_id, "volumeAttributes": made.volume_context },
            },
        }))
        .expect("it is a PersistentVolume");
        let volumes = Api::all(self.admin.clone());
        let created = volumes.create(&PostParams::default(), &volume).await;
        created
            .map(drop)
            .map_err(|error| tonic::Status::internal(error.to_string()))
    }

    pub(crate) async fn context(&self) -> Result<std::collections::BTreeMap<String, String>> {
        let volume: PersistentVolume = Api::all(self.admin.clone()).get(&self.names.volume).await?;
        let csi = volume
            .spec
            .and_then(|spec| spec.csi)
            .context("it is a CSI volume")?;
        let mut context = csi.volume_attributes.unwrap_or_default();
        context.insert(
            "csi.storage.k8s.io/pod.name".to_owned(),
            self.names.pod.clone(),
        );
        context.insert(
            "csi.storage.k8s.io/pod.namespace".to_owned(),
            "apps".to_owned(),
        );
        let pod = self.objects::<Pod>().get_opt(&self.names.pod).await?;
        if let Some(uid) = pod.and_then(|pod| pod.metadata.uid) {
            context.insert("csi.storage.k8s.io/pod.uid".to_owned(), uid);
        }
        Ok(context)
    }

    pub(crate) fn target(&self) -> PathBuf {
        let name = format!("mount-{}", self.names.pod);
        self.folder.path().join(name)
    }

    pub(crate) async fn stage(&self) -> Result<()> {
        let request = csi::NodeStageVolumeRequest {
            volume_id: self.names.volume.clone(),
            staging_target_path: self.folder.path().join("staging").display().to_string(),
            volume_capability: Some(mount()),
            volume_context: self.context().await?,
            ..Default::default()
        };
        self.node.clone().node_stage_volume(request).await?;
        Ok(())
    }

    pub(crate) async fn request(&self) -> Result<csi::NodePublishVolumeRequest> {
        Ok(csi::NodePublishVolumeRequest {
            volume_id: self.names.volume.clone(),
            staging_target_path: self.folder.path().join("staging").display().to_string(),
            target_path: self.target().display().to_string(),
            volume_capability: Some(mount()),
            volume_context: self.context().await?,
            ..Default::default()
        })
    }

    pub(crate) async fn publish(&self) -> Result<(), tonic::Status> {
        let request = self.request().await;
        let request = request.map_err(|error| tonic::Status::internal(error.to_string()))?;
        self.node
            .clone()
            .node_publish_volume(request)
            .await
            .map(drop)
    }

    pub(crate) async fn unpublish(&self) -> Result<()> {
        let request = csi::NodeUnpublishVolumeRequest {
            volume_id: self.names.volume.clone(),
            target_path: self.target().display().to_string(),
        };
        self.node.clone().node_unpublish_volume(request).await?;
        Ok(())
    }

    pub(crate) fn read(&self, path: &str) -> Result<String> {
        let path = self.target().join(path);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }
}

pub(crate) fn parsed<T: DeserializeOwned>(object: Value) -> Result<T> {
    Ok(serde_json::from_value(object)?)
}
