//! Makes a sequence small that the two servers answer differently: steps go as long as the same sort of difference stays.

use anyhow::Result;

use super::ServerPair;
use super::normal::Difference;
use super::plan::Sequence;

/// The smallest sequence that leaving steps out leads to, and its difference.
pub(crate) async fn smallest(
    both: &ServerPair,
    mut sequence: Sequence,
    mut difference: Difference,
) -> Result<(Sequence, Difference)> {
    let sort = difference.kind();
    loop {
        let mut shrunk = false;
        for index in (0..sequence.steps.len()).rev() {
            let mut smaller = sequence.clone();
            smaller.steps.remove(index);
            let Some(found) = both.differ(&smaller).await? else {
                continue;
            };
            if found.kind() == sort {
                (sequence, difference, shrunk) = (smaller, found, true);
                break;
            }
        }
        if !shrunk {
            return Ok((sequence, difference));
        }
    }
}
