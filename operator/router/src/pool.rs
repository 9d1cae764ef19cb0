//! Buffers that streams borrow while bytes move, so that an idle connection holds none.

use std::sync::Mutex;

/// The size of a buffer: one record of TLS, and what the existing implementation moves at once.
pub const SIZE: usize = 16 * 1024;

/// Buffers kept for the next stream; more than this are given back to the system.
const KEPT: usize = 64;

/// A buffer of [`SIZE`] bytes.
pub type Buffer = Box<[u8]>;

/// The pool.
#[derive(Debug, Default)]
pub struct Pool {
    free: Mutex<Vec<Buffer>>,
}

impl Pool {
    /// Borrows a buffer; what is in it is left over from somebody else.
    pub fn take(&self) -> Buffer {
        let free = self.free.lock().expect("no holder panics").pop();
        free.unwrap_or_else(|| vec![0; SIZE].into_boxed_slice())
    }

    /// Gives a buffer back.
    pub fn give(&self, buffer: Buffer) {
        let mut free = self.free.lock().expect("no holder panics");
        if free.len() < KEPT {
            free.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_streams_leaves_a_bounded_rest() {
        let pool = Pool::default();
        let burst: Vec<Buffer> = (0..KEPT * 4).map(|_| pool.take()).collect();
        burst.into_iter().for_each(|buffer| pool.give(buffer));
        assert_eq!(pool.free.lock().unwrap().len(), KEPT);
        assert_eq!(pool.take().len(), SIZE);
    }
}
