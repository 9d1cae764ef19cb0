//! Choice of one of several targets for a new stream. Pure.

/// Properties of a target that decide the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TargetRank {
    /// True if the target refused a moment ago; it is used only if there is no other.
    pub avoided: bool,
    /// Cost of the route to the target: 0 in this site.
    pub cost: u64,
    /// Streams that are open to it.
    pub open: usize,
    /// When it was chosen last, in the order of choices.
    pub last: u64,
}

/// Chooses the target for the next stream: a target that did not refuse, lowest cost, fewest open
/// streams, longest not chosen.
pub fn choose<T>(candidates: impl IntoIterator<Item = (T, TargetRank)>) -> Option<T> {
    let best = candidates.into_iter().min_by_key(|(_, rank)| *rank)?;
    Some(best.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(avoided: bool, cost: u64, open: usize, last: u64) -> TargetRank {
        TargetRank {
            avoided,
            cost,
            open,
            last,
        }
    }

    #[test]
    fn the_criteria_count_in_their_order() {
        let rows = [
            [rank(true, 0, 0, 0), rank(false, 9, 9, 9)],
            [rank(false, 1, 0, 0), rank(false, 0, 9, 9)],
            [rank(false, 1, 4, 0), rank(false, 1, 3, 9)],
            [rank(false, 1, 3, 7), rank(false, 1, 3, 6)],
        ];
        for row in rows {
            assert_eq!(choose(row.into_iter().enumerate()), Some(1), "{row:?}");
            let turned = row.into_iter().rev().enumerate();
            assert_eq!(choose(turned), Some(0), "{row:?}");
        }
        assert_eq!(choose::<u8>([]), None);
    }

    #[test]
    fn equal_targets_take_turns() {
        let mut last = [0_u64; 3];
        let mut counts = [0; 3];
        for turn in 1..=30 {
            let candidates = last.iter().map(|last| rank(false, 0, 0, *last));
            let chosen = choose(candidates.enumerate()).unwrap();
            last[chosen] = turn;
            counts[chosen] += 1;
        }
        assert_eq!(counts, [10, 10, 10]);
    }

    #[test]
    fn held_streams_are_spread() {
        let mut open = [0_usize; 4];
        for turn in 1..=41 {
            let candidates = open.iter().map(|open| rank(false, 0, *open, turn));
            open[choose(candidates.enumerate()).unwrap()] += 1;
        }
        assert_eq!(open.iter().max(), Some(&11));
        assert_eq!(open.iter().min(), Some(&10));
    }
}
