//! The process of a driver on one node, started without an operator.

use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use lifecycle_csi::{Driver, Error, Plugin, Volumes};
use lifecycle_runtime::Machine;
use lifecycle_runtime::shutdown::Shutdown;

async fn serve_node(
    machine: impl Machine,
    client: Client,
    shutdown: Shutdown,
) -> Result<(), Error> {
    let plugin = Plugin::new("notes.example.org", "1.0").with_topology();
    let driver = Driver::node(plugin, "unix:///csi/csi.sock", "node-1")
        .segment("notes.example.org/node", "node-1")
        .watching::<Pod>("spec.nodeName=node-1")
        .registers_in("/registration");
    Volumes::new("example.org")
        .serve(machine, driver)
        .start(client, shutdown)
        .await
}
