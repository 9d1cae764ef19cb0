//! Loopback ports of one test API server. A port is not reserved between the check and its use, so
//! a caller that starts a server must be ready to retry.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Result, bail};

/// Ports on 127.0.0.1 on which etcd and kube-apiserver listen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ports {
    pub(crate) etcd: u16,
    pub(crate) api_server: u16,
}

impl Ports {
    /// Returns two ports without a listener.
    pub(crate) fn free() -> Result<Self> {
        Ok(Self {
            etcd: free_port()?,
            api_server: free_port()?,
        })
    }

    /// The URL of etcd.
    pub(crate) fn etcd_url(self) -> String {
        format!("http://127.0.0.1:{}", self.etcd)
    }

    /// The URL of the API server.
    pub(crate) fn url(self) -> String {
        format!("https://127.0.0.1:{}", self.api_server)
    }
}

/// A port below the range from which the kernel serves outgoing connections: those come and go beside us.
pub(crate) fn free_port() -> Result<u16> {
    for _ in 0..1000 {
        let random = RandomState::new().build_hasher().finish();
        let port = 20_000 + u16::try_from(random % 12_000).expect("below 12000");
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no port between 20000 and 31999 is free on 127.0.0.1")
}
