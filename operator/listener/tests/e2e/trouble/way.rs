//! A connection between an operator and its API server that can lose its traffic. Knows nothing of
//! Kubernetes except the kubeconfig that leads through it.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use anyhow::Result;

use crate::listeners::{Cluster, OPERATOR};

/// A way to a server.
pub(super) struct ApiProxy {
    at: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// How many times all connections were lost.
    losses: AtomicU64,
    /// Set while new connections are lost, too.
    is_cut: AtomicBool,
}

impl ApiProxy {
    /// A way to the API server, and a kubeconfig of the operator that leads through it.
    pub(super) fn of_operator(cluster: &Cluster) -> Result<(Self, PathBuf)> {
        let url = cluster.server.url();
        let way = Self::to(url.trim_start_matches("https://").parse()?)?;
        let kubeconfig = cluster.server.kubeconfig(OPERATOR, &["system:masters"])?;
        let through = kubeconfig.with_file_name("through.kubeconfig");
        let text = std::fs::read_to_string(&kubeconfig)?;
        std::fs::write(&through, text.replace(&url, &format!("https://{}", way.at)))?;
        Ok((way, through))
    }

    fn to(server: SocketAddr) -> Result<Self> {
        let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let way = Self {
            at: door.local_addr()?,
            state: Arc::default(),
        };
        let state = Arc::clone(&way.state);
        thread::spawn(move || {
            // Connections that were made while it was cut: they stay open and carry nothing, as on a network that drops packets.
            let mut silent = Vec::new();
            for client in door.incoming().flatten() {
                if state.is_cut.load(Ordering::SeqCst) {
                    silent.push(client);
                    continue;
                }
                let Ok(server) = TcpStream::connect(server) else {
                    continue;
                };
                let both = (client.try_clone(), server.try_clone());
                if let (Ok(client_too), Ok(server_too)) = both {
                    relay(client, server, &state);
                    relay(server_too, client_too, &state);
                }
            }
        });
        Ok(way)
    }

    /// Connections stay open and carry nothing any more; new ones work.
    pub(super) fn lose(&self) {
        self.state.losses.fetch_add(1, Ordering::SeqCst);
    }

    /// As `lose`, and new ones carry nothing either, until `mend`.
    pub(super) fn cut(&self) {
        self.state.is_cut.store(true, Ordering::SeqCst);
        self.lose();
    }

    /// New connections work again.
    pub(super) fn mend(&self) {
        self.state.is_cut.store(false, Ordering::SeqCst);
    }
}

fn relay(mut from: TcpStream, mut to: TcpStream, state: &Arc<State>) {
    let state = Arc::clone(state);
    let before = state.losses.load(Ordering::SeqCst);
    thread::spawn(move || {
        let mut bytes = [0; 16_384];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let is_lost = state.losses.load(Ordering::SeqCst) != before;
            if !is_lost && to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let is_lost = state.losses.load(Ordering::SeqCst) != before;
        if !is_lost {
            // A closed peer needs no notification.
            let _: Result<(), _> = to.shutdown(Shutdown::Write);
        }
    });
}
