//! Selection of the refused redemptions that are logged: a few per minute, and fewer per address,
//! so that no client fills the log. Pure.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use tokio::time::Instant;

/// After this, as many lines again.
const WINDOW: Duration = Duration::from_secs(60);
/// The most lines within that time.
const LINES: u32 = 30;
/// The most of one address.
const LINES_OF_ONE: u32 = 5;

/// The lines of the last minute.
#[derive(Debug, Default)]
pub(super) struct Refused {
    began: Option<Instant>,
    lines: u32,
    of_address: BTreeMap<Option<IpAddr>, u32>,
    left_out: u64,
}

impl Refused {
    /// One more was refused: how many were left out before it if it is a line of the log; `None` if it is left out.
    pub(super) fn record(&mut self, from: Option<IpAddr>, now: Instant) -> Option<u64> {
        let is_old = |began: Instant| now.duration_since(began) >= WINDOW;
        if self.began.is_none_or(is_old) {
            self.began = Some(now);
            self.lines = 0;
            self.of_address.clear();
        }
        let of_one = self.of_address.get(&from).copied().unwrap_or_default();
        if self.lines >= LINES || of_one >= LINES_OF_ONE {
            self.left_out += 1;
            return None;
        }
        self.lines += 1;
        self.of_address.insert(from, of_one + 1);
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn address(number: u32) -> Option<IpAddr> {
        Some(Ipv4Addr::from(number).into())
    }

    #[test]
    fn a_flood_of_refusals_is_a_few_lines_a_minute() {
        let (mut refused, begin) = (Refused::default(), Instant::now());
        let lines = (0..1000).filter(|_| refused.record(address(1), begin).is_some());
        assert_eq!(lines.count(), LINES_OF_ONE as usize);
        // A refusal of another address is logged nevertheless, with the number of refusals that
        // were left out.
        assert_eq!(refused.record(address(2), begin), Some(995));
        assert_eq!(refused.record(address(2), begin), Some(0));
        let lines = (3..1000).filter(|n| refused.record(address(*n), begin).is_some());
        assert_eq!(lines.count(), LINES as usize - 7);
        assert!(refused.of_address.len() <= LINES as usize);
        let soon = begin + WINDOW / 2;
        assert_eq!(refused.record(address(1), soon), None);
        assert!(refused.record(address(1), begin + WINDOW).is_some());
    }
}
