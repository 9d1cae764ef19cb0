//! A peer with a certificate that sends random frames and bytes, some of them damaged on the way.

use proptest::collection::vec;
use proptest::prelude::*;

use super::liars::{Liar, is_well};
use super::*;
use crate::link::frame::tests::{frame, seeded};

/// A frame, a frame with another byte somewhere, or any bytes.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let damaged = (frame(), any::<prop::sample::Index>(), any::<u8>());
    let damaged = damaged.prop_map(|(frame, at, byte)| {
        let mut bytes = frame.encode();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes
    });
    prop_oneof![
        3 => frame().prop_map(|frame| frame.encode()),
        2 => damaged,
        1 => vec(any::<u8>(), 0..40),
    ]
}

/// Sends all pieces. In the end the peer is cut off, refused or silent.
async fn send_pieces(pieces: Vec<Vec<u8>>, greets: bool) {
    let mut liar = Liar::new().await;
    if greets {
        liar.greet(Role::Interior).await;
    }
    for piece in pieces {
        if liar.control.write_all(&piece).await.is_err() {
            break;
        }
    }
    let ended = timeout(Duration::from_secs(20), liar.ended).await;
    ended.expect("it ends").expect("nothing panics");
    is_well(&liar.world).await;
}

proptest! {
    #![proptest_config(seeded())]

    #[test]
    fn whatever_a_peer_says_it_ends_and_harms_nobody(pieces in vec(piece(), 0..12), greets in any::<bool>()) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build();
        runtime.expect("a runtime is made").block_on(send_pieces(pieces, greets));
    }
}
