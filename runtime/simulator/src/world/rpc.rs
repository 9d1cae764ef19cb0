//! One call of a driver over its socket, with the folders that kubelet makes before it and takes away after it.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use lifecycle_proto::csi;
use lifecycle_proto::csi::controller_client::ControllerClient;
use lifecycle_proto::csi::node_client::NodeClient;
use lifecycle_proto::csi::node_service_capability::Type;
use lifecycle_proto::csi::node_service_capability::rpc;
use serde_json::json;
use tokio::time::timeout;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

use super::calls::{About, Call, Failure, Job, Node, Reply, Verb};
use super::volumes::Volumes;

/// File that kubelet writes beside a target.
const NOTE: &str = "vol_data.json";

/// Makes the call; it ends in time.
pub(super) async fn perform(volumes: &Volumes, call: &Call) -> Result<Reply, Failure> {
    let limit = call.verb().limit();
    let outcome = match timeout(limit, call_driver(volumes, call)).await {
        Ok(outcome) => outcome,
        Err(_) => {
            let said = format!("the driver did not answer within {} s", limit.as_secs());
            Err(failure(&Status::new(Code::DeadlineExceeded, said)))
        }
    };
    match (outcome, call.verb()) {
        (Ok(reply), Verb::Unpublish | Verb::Unstage) => removed(call).map(|()| reply),
        (Err(failure), Verb::Publish | Verb::Stage) if failure.is_final => {
            // A folder that is not empty stays: the volume was there before.
            if let Err(left) = removed(call) {
                tracing::debug!("something is left: {}", left.said);
            }
            Err(failure)
        }
        (outcome, _) => outcome,
    }
}

async fn call_driver(volumes: &Volumes, call: &Call) -> Result<Reply, Failure> {
    let on_node = match &call.about {
        About::Volume { .. } => None,
        About::Plugin { node, .. } | About::Staged { node, .. } | About::Published { node, .. } => {
            Some(node)
        }
    };
    let socket = match on_node {
        Some(node) => volumes.node(&call.driver, node),
        None => volumes.controller(&call.driver),
    };
    let Some(socket) = socket else {
        let driver = &call.driver;
        let said = format!("driver name {driver} not found in the list of registered CSI drivers");
        return Err(failure(&Status::new(Code::Unavailable, said)));
    };
    prepared(call).map_err(|error| disk(&error))?;
    let channel = connect(socket).await.map_err(|status| failure(&status))?;
    let asked = match on_node {
        Some(_) => of_node(NodeClient::new(channel), call).await,
        None => of_controller(ControllerClient::new(channel), call).await,
    };
    asked.map_err(|status| failure(&status))
}

async fn connect(socket: &Path) -> Result<Channel, Status> {
    let unavailable = |error: tonic::transport::Error| {
        let said = format!("{} cannot be reached: {error}", socket.display());
        Status::new(Code::Unavailable, said)
    };
    let endpoint = Endpoint::from_shared(format!("unix://{}", socket.display()));
    let endpoint = endpoint.map_err(unavailable)?;
    endpoint.connect().await.map_err(unavailable)
}

async fn of_controller(
    mut client: ControllerClient<Channel>,
    call: &Call,
) -> Result<Reply, Status> {
    match &call.job {
        Job::Create(request) => {
            let made = client.create_volume(timed(request.clone(), call)).await?;
            let volume = made.into_inner().volume.unwrap_or_default();
            Ok(Reply::Volume(Box::new(volume)))
        }
        Job::Delete(request) => {
            client.delete_volume(timed(request.clone(), call)).await?;
            Ok(Reply::Nothing)
        }
        Job::Look | Job::Stage(_) | Job::Unstage(_) | Job::Publish(..) | Job::Unpublish(_) => {
            Err(misplaced())
        }
    }
}

async fn of_node(mut client: NodeClient<Channel>, call: &Call) -> Result<Reply, Status> {
    match &call.job {
        Job::Look => query_node(client, call).await.map(Reply::Node),
        Job::Stage(request) => {
            let request = timed(request.clone(), call);
            client.node_stage_volume(request).await?;
            Ok(Reply::Nothing)
        }
        Job::Unstage(request) => {
            let request = timed(request.clone(), call);
            client.node_unstage_volume(request).await?;
            Ok(Reply::Nothing)
        }
        Job::Publish(request, _) => {
            let request = timed(request.clone(), call);
            client.node_publish_volume(request).await?;
            Ok(Reply::Nothing)
        }
        Job::Unpublish(request) => {
            let request = timed(request.clone(), call);
            client.node_unpublish_volume(request).await?;
            Ok(Reply::Nothing)
        }
        Job::Create(_) | Job::Delete(_) => Err(misplaced()),
    }
}

fn misplaced() -> Status {
    Status::new(Code::Internal, "this process does not serve this call")
}

async fn query_node(mut client: NodeClient<Channel>, call: &Call) -> Result<Node, Status> {
    let info = client.node_get_info(timed(csi::NodeGetInfoRequest {}, call));
    let info = info.await?.into_inner();
    let asked = client.node_get_capabilities(timed(csi::NodeGetCapabilitiesRequest {}, call));
    let can = asked.await?.into_inner().capabilities;
    let has = |wanted: rpc::Type| {
        can.iter().any(|capability| {
            matches!(&capability.r#type, Some(Type::Rpc(rpc)) if rpc.r#type() == wanted)
        })
    };
    Ok(Node {
        id: info.node_id,
        segments: info.accessible_topology.unwrap_or_default().segments,
        stages: has(rpc::Type::StageUnstageVolume),
        tells_writers_apart: has(rpc::Type::SingleNodeMultiWriter),
    })
}

fn timed<R>(request: R, call: &Call) -> tonic::Request<R> {
    let mut request = tonic::Request::new(request);
    request.set_timeout(call.verb().limit());
    request
}

fn failure(status: &Status) -> Failure {
    // After these codes, it is unknown whether the call continues.
    let goes_on = matches!(
        status.code(),
        Code::Cancelled
            | Code::DeadlineExceeded
            | Code::Unavailable
            | Code::ResourceExhausted
            | Code::Aborted
    );
    let (code, sentence) = (status.code(), status.message());
    Failure {
        said: format!("rpc error: code = {code:?} desc = {sentence}"),
        is_final: !goes_on,
        is_exhausted: code == Code::ResourceExhausted,
    }
}

fn disk(error: &io::Error) -> Failure {
    Failure {
        said: error.to_string(),
        is_final: false,
        is_exhausted: false,
    }
}

/// Of a target only its parent is made, of a staging folder all.
fn prepared(call: &Call) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true).mode(0o750);
    match &call.job {
        Job::Stage(request) => folder.create(&request.staging_target_path),
        Job::Publish(request, _) => {
            let target = Path::new(&request.target_path);
            let beside = target.parent().unwrap_or(target);
            folder.create(beside)?;
            let About::Published { node, volume, .. } = &call.about else {
                return Ok(());
            };
            let note = json!({
                "attachmentID": "", "driverName": call.driver, "nodeName": node, "specVolID": volume,
                "volumeHandle": request.volume_id, "volumeLifecycleMode": "Persistent",
            });
            fs::write(beside.join(NOTE), note.to_string())
        }
        Job::Look | Job::Create(_) | Job::Delete(_) | Job::Unstage(_) | Job::Unpublish(_) => Ok(()),
    }
}

/// Removes the folders that were created for the call if they are empty. A driver's leftover is an
/// error.
fn removed(call: &Call) -> Result<(), Failure> {
    let (target, is_published) = match &call.job {
        Job::Stage(request) => (&request.staging_target_path, false),
        Job::Unstage(request) => (&request.staging_target_path, false),
        Job::Publish(request, _) => (&request.target_path, true),
        Job::Unpublish(request) => (&request.target_path, true),
        Job::Look | Job::Create(_) | Job::Delete(_) => return Ok(()),
    };
    let target = Path::new(target);
    let beside = target.parent().unwrap_or(target);
    let all = || {
        absent(fs::remove_dir(target))?;
        if is_published {
            absent(fs::remove_file(beside.join(NOTE)))?;
        }
        absent(fs::remove_dir(beside))
    };
    all().map_err(|error| {
        let said = format!("{} cannot be removed: {error}", target.display());
        disk(&io::Error::new(error.kind(), said))
    })?;
    // The folders of a Pod go with the last of its volumes.
    let around = if call.verb() == Verb::Unpublish { 3 } else { 0 };
    for around in beside.ancestors().skip(1).take(around) {
        if fs::remove_dir(around).is_err() {
            break;
        }
    }
    Ok(())
}

fn absent(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
