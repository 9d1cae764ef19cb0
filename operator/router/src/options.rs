//! Options of a router besides its document. Independent of the command line and of the source of
//! documents.

use std::net::IpAddr;
use std::time::Duration;

use crate::relay::Patience;

/// Options that do not come from the document.
#[derive(Clone, Debug)]
pub struct Options {
    /// Address for listeners without a host; absent for all addresses.
    pub bind_address: Option<IpAddr>,
    /// How long one server has to answer.
    pub connect_timeout: Duration,
    /// How long a client has for its TLS handshake.
    pub handshake_timeout: Duration,
    /// How many connections of clients may be open.
    pub most_streams: usize,
    /// How many of them at one listener; absent for three quarters of all.
    pub most_of_listener: Option<usize>,
    /// How many of them from one address; absent for half of all.
    pub most_of_source: Option<usize>,
    /// How many of them may be in their handshake, or have carried nothing yet; absent for a quarter of all.
    pub most_new: Option<usize>,
    /// How long a connection may carry nothing before its first byte, and after it.
    pub patience: Patience,
}

/// Parts of a small number of connections are no less than this.
const LEAST: usize = 64;

impl Options {
    /// How many connections there may be: of all, of a listener, of a source, and new ones.
    pub(crate) fn caps(&self) -> Caps {
        let all = self.most_streams;
        let part = |wanted: Option<usize>, quarters: usize| {
            let usual = (all / 4 * quarters).max(LEAST);
            wanted.unwrap_or(usual).min(all)
        };
        Caps {
            all,
            of_listener: part(self.most_of_listener, 3),
            of_source: part(self.most_of_source, 2),
            new: part(self.most_new, 1),
        }
    }
}

/// How many connections there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caps {
    /// At all.
    pub(crate) all: usize,
    /// At one listener.
    pub(crate) of_listener: usize,
    /// From one address.
    pub(crate) of_source: usize,
    /// That have carried nothing yet.
    pub(crate) new: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            bind_address: None,
            connect_timeout: Duration::from_secs(5),
            handshake_timeout: Duration::from_secs(10),
            most_streams: 16_384,
            most_of_listener: None,
            most_of_source: None,
            most_new: None,
            patience: Patience {
                silent: Some(Duration::from_secs(60)),
                idle: None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_from_the_whole_unless_they_are_said() {
        let caps = |options: Options| {
            let caps = options.caps();
            [caps.all, caps.of_listener, caps.of_source, caps.new]
        };
        assert_eq!(caps(Options::default()), [16_384, 12_288, 8_192, 4_096]);
        let few = |most_streams| Options {
            most_streams,
            ..Options::default()
        };
        assert_eq!(caps(few(100)), [100, 75, 64, 64]);
        assert_eq!(caps(few(3)), [3, 3, 3, 3]);
        let said = Options {
            most_of_source: Some(5),
            most_new: Some(1_000),
            ..few(100)
        };
        assert_eq!(caps(said), [100, 75, 5, 100]);
    }
}
