//! A seeded generator (SplitMix64), the same on each machine and in each release.

/// Chooses.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not zero.
    pub(super) fn random_below(&mut self, limit: u64) -> u64 {
        self.draw() % limit
    }

    /// Returns a random index below this bound, which is at least one.
    pub(super) fn index(&mut self, many: usize) -> usize {
        let limit = u64::try_from(many).unwrap_or(u64::MAX);
        usize::try_from(self.random_below(limit)).unwrap_or_default()
    }

    pub(super) fn coin(&mut self) -> bool {
        self.random_below(2) == 0
    }

    pub(super) fn among<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.index(all.len())].clone()
    }

    /// Returns one of these names; `None` if they are empty.
    pub(super) fn name<'a>(&mut self, all: impl Iterator<Item = &'a String>) -> Option<String> {
        let all: Vec<&String> = all.collect();
        (!all.is_empty()).then(|| all[self.index(all.len())].clone())
    }
}
