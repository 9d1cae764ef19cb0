//! Both ends of a stream in tests: bytes that are written and read in pieces, as networks cut them.

use std::time::Duration;

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::sleep;

/// Bytes in pieces of random sizes with random pauses.
pub(crate) async fn send(mut end: impl AsyncWrite + Unpin, bytes: Vec<u8>, seed: u64) {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(random.random_range(1..=rest.len().min(40_000)));
        end.write_all(piece).await.unwrap();
        if random.random_ratio(1, 3) {
            sleep(Duration::from_millis(random.random_range(0..50))).await;
        }
        rest = after;
    }
    end.shutdown().await.unwrap();
}

/// All bytes until the end, read in pieces of random sizes with random pauses.
pub(crate) async fn receive(mut end: impl AsyncRead + Unpin, seed: u64) -> Vec<u8> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut all = Vec::new();
    loop {
        let mut piece = vec![0; random.random_range(1..30_000)];
        match end.read(&mut piece).await.unwrap() {
            0 => return all,
            n => all.extend_from_slice(&piece[..n]),
        }
        if random.random_ratio(1, 3) {
            sleep(Duration::from_millis(random.random_range(0..50))).await;
        }
    }
}

/// Returns `size` random bytes.
pub(crate) fn random_bytes(size: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; size];
    Pcg64::seed_from_u64(seed).fill(&mut bytes[..]);
    bytes
}
