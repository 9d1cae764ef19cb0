//! Buffers that streams borrow while bytes move, so that an idle connection holds none. Each thread
//! keeps a few of its own. A returned buffer is still in the processor's cache when the next stream
//! takes it.

use std::cell::RefCell;

/// Size of a buffer: one record of TLS, and the amount that the existing implementation moves at
/// once.
pub const SIZE: usize = 16 * 1024;

/// Buffers that a thread keeps; more than this are given back to the system.
const KEPT: usize = 16;

/// A buffer of [`SIZE`] bytes.
pub type Buffer = Box<[u8]>;

thread_local! {
    static FREE: RefCell<Vec<Buffer>> = const { RefCell::new(Vec::new()) };
}

/// Borrows a buffer; its content is left over from another stream.
pub fn take() -> Buffer {
    let free = FREE.with_borrow_mut(Vec::pop);
    free.unwrap_or_else(|| vec![0; SIZE].into_boxed_slice())
}

/// Returns a buffer to the pool, on any thread.
pub fn give(buffer: Buffer) {
    FREE.with_borrow_mut(|free| {
        if free.len() < KEPT {
            free.push(buffer);
        }
    });
}

/// How many buffers this thread keeps.
#[cfg(test)]
pub(crate) fn free_count() -> usize {
    FREE.with_borrow(Vec::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_streams_leaves_a_bounded_rest() {
        let burst: Vec<Buffer> = (0..KEPT * 4).map(|_| take()).collect();
        burst.into_iter().for_each(give);
        assert_eq!(free_count(), KEPT);
        assert_eq!(take().len(), SIZE);
        assert_eq!(free_count(), KEPT - 1);
    }
}
