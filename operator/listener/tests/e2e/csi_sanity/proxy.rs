//! Stand-in for the work of external-provisioner and kubelet around calls, between a suite that
//! knows neither and a driver that needs both. A claim has its volume and its Pod, and requests
//! name them. Passes on every reply unchanged.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use anyhow::{Context, Result};
use futures::stream;
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::{Client, Resource, ResourceExt};
use lifecycle_proto::csi;
use lifecycle_proto::csi::controller_client::ControllerClient;
use lifecycle_proto::csi::controller_server::{Controller, ControllerServer};
use lifecycle_proto::csi::identity_client::IdentityClient;
use lifecycle_proto::csi::identity_server::{Identity, IdentityServer};
use lifecycle_proto::csi::node_client::NodeClient;
use lifecycle_proto::csi::node_server::{Node, NodeServer};
use lifecycle_tests::volumes::client::connect;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tonic::transport::{Channel, Server};
use tonic::{Request, Response, Status};

const NAMESPACE: &str = "default";

type Answer<T> = Result<Response<T>, Status>;

/// One process of a driver, and the cluster that it works in.
#[derive(Clone)]
pub(crate) struct Proxy {
    cluster: Client,
    driver: Channel,
    /// Class that every claim requests.
    class: &'static str,
    node: &'static str,
}

impl Proxy {
    /// Stands before the driver's socket.
    pub(crate) async fn new(
        cluster: Client,
        driver: &Path,
        class: &'static str,
        node: &'static str,
    ) -> Result<Self> {
        Ok(Self {
            driver: connect(driver).await?,
            cluster,
            class,
            node,
        })
    }

    /// Answers at a socket of its own until it is dropped.
    pub(crate) fn serve(self, socket: &Path) -> Result<tokio::task::JoinHandle<()>> {
        let listener = UnixListener::bind(socket).context("the proxy cannot listen")?;
        let incoming = stream::unfold(listener, |listener| async {
            let accepted = listener.accept().await.map(|(stream, _)| stream);
            Some((accepted, listener))
        });
        let served = Server::builder()
            .add_service(IdentityServer::new(self.clone()))
            .add_service(ControllerServer::new(self.clone()))
            .add_service(NodeServer::new(self))
            .serve_with_incoming(incoming);
        Ok(tokio::spawn(async move {
            served.await.expect("the proxy serves");
        }))
    }

    fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.cluster.clone(), NAMESPACE)
    }

    /// The claim that the suite means by a name, and a Pod that mounts it.
    async fn claim(&self, name: &str) -> Result<PersistentVolumeClaim, Status> {
        let name = claim_name(name);
        let asks = json!({ "listeners.stackable.tech/listener-class": self.class });
        let claim = json!({
            "metadata": { "name": name, "annotations": asks },
            "spec": { "accessModes": ["ReadWriteMany"], "resources": { "requests": { "storage": "1" } } },
        });
        let container = json!({ "name": "c", "image": "i", "ports": [{ "name": "http", "containerPort": 80 }] });
        let mount = json!({ "name": "listener", "persistentVolumeClaim": { "claimName": name } });
        let pod = json!({
            "metadata": { "name": name },
            "spec": {
                "nodeName": self.node, "automountServiceAccountToken": false,
                "containers": [container], "volumes": [mount],
            },
        });
        create_or_get(&self.api::<Pod>(), pod).await?;
        create_or_get(&self.api(), claim).await
    }

    /// Writes the promised volume down as the provisioner does.
    async fn volume(
        &self,
        claim: &PersistentVolumeClaim,
        volume: &csi::Volume,
    ) -> Result<(), Status> {
        let claim = json!({ "name": claim.name_any(), "namespace": NAMESPACE, "uid": claim.uid() });
        let source = json!({
            "driver": "listeners.stackable.tech", "volumeHandle": volume.volume_id,
            "volumeAttributes": volume.volume_context,
        });
        let volume = json!({
            "metadata": { "name": volume.volume_id },
            "spec": {
                "accessModes": ["ReadWriteMany"], "capacity": { "storage": "1" },
                "claimRef": claim, "csi": source,
            },
        });
        let all: Api<PersistentVolume> = Api::all(self.cluster.clone());
        create_or_get(&all, volume).await.map(drop)
    }

    /// Returns the data of the mounting Pod that kubelet sends for a volume.
    async fn pod(&self, volume: &str) -> Result<BTreeMap<String, String>, Status> {
        if volume.is_empty() {
            return Ok(BTreeMap::new());
        }
        let all: Api<PersistentVolume> = Api::all(self.cluster.clone());
        let claim = all.get_opt(volume).await.map_err(internal)?;
        let claim = claim.and_then(|volume| volume.spec?.claim_ref?.name);
        let Some(claim) = claim else {
            return Ok(BTreeMap::new());
        };
        let pod = self.api::<Pod>().get(&claim).await.map_err(internal)?;
        let told = [
            ("pod.name", pod.name_any()),
            ("pod.namespace", NAMESPACE.to_owned()),
            ("pod.uid", pod.uid().unwrap_or_default()),
            ("serviceAccount.name", "default".to_owned()),
            ("ephemeral", "false".to_owned()),
        ];
        let told = told.map(|(key, value)| (format!("csi.storage.k8s.io/{key}"), value));
        Ok(told.into())
    }

    /// Deletes the objects that were made for a volume.
    async fn forget(&self, volume: &str) -> Result<(), Status> {
        let all: Api<PersistentVolume> = Api::all(self.cluster.clone());
        let found = all.get_opt(volume).await.map_err(internal)?;
        let claim = found.and_then(|volume| volume.spec?.claim_ref?.name);
        if let Some(claim) = claim {
            removed(&self.api::<Pod>(), &claim).await?;
            removed(&self.api::<PersistentVolumeClaim>(), &claim).await?;
            removed(&all, volume).await?;
        }
        Ok(())
    }
}

/// A name that a Service may have too, the same for the same name.
fn claim_name(name: &str) -> String {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    format!("claim-{:016x}", hasher.finish())
}

/// Creates an object, or finds it.
async fn create_or_get<K>(api: &Api<K>, object: Value) -> Result<K, Status>
where
    K: Resource + Serialize + DeserializeOwned + Clone + std::fmt::Debug,
{
    let object: K = serde_json::from_value(object).map_err(internal)?;
    match api.create(&PostParams::default(), &object).await {
        Err(kube::Error::Api(status)) if status.code == 409 => {
            api.get(&object.name_any()).await.map_err(internal)
        }
        created => created.map_err(internal),
    }
}

/// Deletes an object at once: no controller runs that would take protection away, and no kubelet that would end a Pod.
async fn removed<K>(api: &Api<K>, name: &str) -> Result<(), Status>
where
    K: Resource + DeserializeOwned + Clone + std::fmt::Debug,
{
    let free = json!({ "metadata": { "finalizers": null } });
    let (params, free) = (PatchParams::default(), Patch::Merge(&free));
    api.patch(name, &params, &free).await.map_err(internal)?;
    let now = DeleteParams::default().grace_period(0);
    api.delete(name, &now).await.map_err(internal)?;
    Ok(())
}

fn internal(error: impl std::fmt::Display) -> Status {
    Status::internal(format!("the proxy: {error:#}"))
}

#[tonic::async_trait]
impl Identity for Proxy {
    async fn get_plugin_info(
        &self,
        request: Request<csi::GetPluginInfoRequest>,
    ) -> Answer<csi::GetPluginInfoResponse> {
        let mut driver = IdentityClient::new(self.driver.clone());
        driver.get_plugin_info(request).await
    }

    async fn get_plugin_capabilities(
        &self,
        request: Request<csi::GetPluginCapabilitiesRequest>,
    ) -> Answer<csi::GetPluginCapabilitiesResponse> {
        let mut driver = IdentityClient::new(self.driver.clone());
        driver.get_plugin_capabilities(request).await
    }

    async fn probe(&self, request: Request<csi::ProbeRequest>) -> Answer<csi::ProbeResponse> {
        let mut driver = IdentityClient::new(self.driver.clone());
        driver.probe(request).await
    }
}

#[tonic::async_trait]
impl Controller for Proxy {
    async fn create_volume(
        &self,
        request: Request<csi::CreateVolumeRequest>,
    ) -> Answer<csi::CreateVolumeResponse> {
        let mut request = request.into_inner();
        let mut driver = ControllerClient::new(self.driver.clone());
        if request.name.is_empty() {
            return driver.create_volume(request).await;
        }
        let claim = self.claim(&request.name).await?;
        request.name = format!("pvc-{}", claim.uid().unwrap_or_default());
        let told = [
            ("pvc/name", claim.name_any()),
            ("pvc/namespace", NAMESPACE.to_owned()),
            ("pv/name", request.name.clone()),
        ];
        let told = told.map(|(key, value)| (format!("csi.storage.k8s.io/{key}"), value));
        request.parameters.extend(told);
        let reply = driver.create_volume(request).await?;
        if let Some(volume) = &reply.get_ref().volume {
            self.volume(&claim, volume).await?;
        }
        Ok(reply)
    }

    async fn delete_volume(
        &self,
        request: Request<csi::DeleteVolumeRequest>,
    ) -> Answer<csi::DeleteVolumeResponse> {
        let volume = request.get_ref().volume_id.clone();
        let mut driver = ControllerClient::new(self.driver.clone());
        let reply = driver.delete_volume(request).await?;
        self.forget(&volume).await?;
        Ok(reply)
    }

    async fn validate_volume_capabilities(
        &self,
        request: Request<csi::ValidateVolumeCapabilitiesRequest>,
    ) -> Answer<csi::ValidateVolumeCapabilitiesResponse> {
        let mut driver = ControllerClient::new(self.driver.clone());
        driver.validate_volume_capabilities(request).await
    }

    async fn controller_get_capabilities(
        &self,
        request: Request<csi::ControllerGetCapabilitiesRequest>,
    ) -> Answer<csi::ControllerGetCapabilitiesResponse> {
        let mut driver = ControllerClient::new(self.driver.clone());
        driver.controller_get_capabilities(request).await
    }
}

#[tonic::async_trait]
impl Node for Proxy {
    async fn node_stage_volume(
        &self,
        request: Request<csi::NodeStageVolumeRequest>,
    ) -> Answer<csi::NodeStageVolumeResponse> {
        let mut driver = NodeClient::new(self.driver.clone());
        driver.node_stage_volume(request).await
    }

    async fn node_unstage_volume(
        &self,
        request: Request<csi::NodeUnstageVolumeRequest>,
    ) -> Answer<csi::NodeUnstageVolumeResponse> {
        let mut driver = NodeClient::new(self.driver.clone());
        driver.node_unstage_volume(request).await
    }

    async fn node_publish_volume(
        &self,
        request: Request<csi::NodePublishVolumeRequest>,
    ) -> Answer<csi::NodePublishVolumeResponse> {
        let mut request = request.into_inner();
        let told = self.pod(&request.volume_id).await?;
        request.volume_context.extend(told);
        let mut driver = NodeClient::new(self.driver.clone());
        driver.node_publish_volume(request).await
    }

    async fn node_unpublish_volume(
        &self,
        request: Request<csi::NodeUnpublishVolumeRequest>,
    ) -> Answer<csi::NodeUnpublishVolumeResponse> {
        let mut driver = NodeClient::new(self.driver.clone());
        driver.node_unpublish_volume(request).await
    }

    async fn node_get_volume_stats(
        &self,
        request: Request<csi::NodeGetVolumeStatsRequest>,
    ) -> Answer<csi::NodeGetVolumeStatsResponse> {
        let mut driver = NodeClient::new(self.driver.clone());
        driver.node_get_volume_stats(request).await
    }

    async fn node_get_capabilities(
        &self,
        request: Request<csi::NodeGetCapabilitiesRequest>,
    ) -> Answer<csi::NodeGetCapabilitiesResponse> {
        let mut driver = NodeClient::new(self.driver.clone());
        driver.node_get_capabilities(request).await
    }

    async fn node_get_info(
        &self,
        request: Request<csi::NodeGetInfoRequest>,
    ) -> Answer<csi::NodeGetInfoResponse> {
        let mut driver = NodeClient::new(self.driver.clone());
        driver.node_get_info(request).await
    }
}
