//! Servers that are down are reported before a client finds out.

use lifecycle_router::state::{State, Status};
use serde_json::json;
use tokio::net::TcpListener;

use crate::support::{Server, TestSite, address, connector, host_connector, listener, port};

#[tokio::test]
async fn s42_a_server_that_is_down_is_reported_while_somebody_listens_and_its_socket_stays() {
    let site = TestSite::new();
    // The address is bound but has no listener.
    let held = TcpListener::bind((address(), 0)).await.unwrap();
    let at = held.local_addr().unwrap();
    drop(held);
    let (lonely, of_pod) = (Server::named("lonely").await, Server::named("pod").await);
    let document = json!([
        listener("l", port(0), "k"),
        host_connector("down", at, "k"),
        listener("m", port(1), "of-pod"),
        connector("pod", of_pod.address, "of-pod"),
        host_connector("lonely", lonely.address, "nobody"),
    ]);
    site.apply(&document).await;
    let status = |state: &State, name: &str| {
        let entry = state.entry("tcpConnector", name).unwrap();
        entry.status.clone()
    };
    let is_up = |state: &State| status(state, "down") == Status::Up;
    site.until_state(|state| {
        matches!(status(state, "down"), Status::Failed(why) if why.contains("cannot connect to"))
    })
    .await;
    assert_eq!(site.status("l"), Status::Up);
    let back = Server::serve_at(at, async |stream| drop(stream)).await;
    site.until_state(is_up).await;
    assert!(back.accepted() > 0);
    drop(back);
    // The router does not check servers that Kubernetes reports, or that no listener uses.
    assert_eq!((lonely.accepted(), of_pod.accepted()), (0, 0));
    assert_eq!(status(&site.state(), "lonely"), Status::Up);
    site.apply(&json!([host_connector("down", at, "k")])).await;
    site.until_state(is_up).await;
}
