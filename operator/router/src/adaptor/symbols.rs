//! A stream of AMQP on which the names of application properties become strings, and the ids of messages unsigned: the router sends symbols and signed
//! numbers in the messages of VanFlow, which the protocol does not allow and the client library refuses. Each differs in one byte, so that nothing moves.
//! Knows no message.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The largest frame that is looked into; beacons and heartbeats are smaller.
const MAX_FRAME: usize = 4096;

/// The header of a frame, and of the protocol.
const HEADER: usize = 8;

/// The descriptors of a transfer, of properties and of application properties.
const TRANSFER: u8 = 0x14;
const PROPERTIES: u8 = 0x73;
const APPLICATION_PROPERTIES: u8 = 0x74;

/// Stream whose read side is rewritten.
#[derive(Debug)]
pub(super) struct Symbols<S> {
    inner: S,
    /// Bytes of a frame that is not complete, or not read yet.
    buffer: Vec<u8>,
    /// How many bytes of the buffer may be read.
    ready: usize,
    /// Bytes to come that are passed on as they are.
    pass: usize,
}

impl<S> Symbols<S> {
    pub(super) fn new(inner: S) -> Self {
        Self {
            inner,
            buffer: Vec::new(),
            ready: 0,
            pass: 0,
        }
    }

    /// Releases as many bytes of the buffer as are complete.
    fn release(&mut self) {
        while let Some(rest) = self.buffer.get(self.ready..) {
            if self.pass > 0 {
                let now = self.pass.min(rest.len());
                if now == 0 {
                    return;
                }
                self.pass -= now;
                self.ready += now;
                continue;
            }
            let Some(head) = rest.first_chunk::<HEADER>() else {
                return;
            };
            if head.starts_with(b"AMQP") {
                self.pass = HEADER;
                continue;
            }
            let [a, b, c, d, ..] = *head;
            let size = u32::from_be_bytes([a, b, c, d]);
            let size = usize::try_from(size).unwrap_or(usize::MAX).max(HEADER);
            if size > MAX_FRAME {
                self.pass = size;
                continue;
            }
            if rest.len() < size {
                return;
            }
            let end = self.ready + size;
            rewrite(&mut self.buffer[self.ready..end]);
            self.ready = end;
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Symbols<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            if self.ready > 0 {
                let count = self.ready.min(into.remaining());
                into.put_slice(&self.buffer[..count]);
                self.buffer.drain(..count);
                self.ready -= count;
                return Poll::Ready(Ok(()));
            }
            let mut bytes = [0; 8192];
            let mut read = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut self.inner).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                // The rest is an incomplete frame, and the reader detects that.
                self.ready = self.buffer.len();
                if self.ready == 0 {
                    return Poll::Ready(Ok(()));
                }
                continue;
            }
            self.buffer.extend_from_slice(read.filled());
            self.release();
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Symbols<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

/// Changes the codes in a whole frame, if it is the first of a message.
fn rewrite(frame: &mut [u8]) {
    let mut codes = Vec::new();
    // A frame that is not as expected is left alone.
    let _found = find(frame, &mut codes);
    for at in codes {
        if let Some(code) = frame.get_mut(at) {
            *code = match *code {
                // From smalllong to smallulong, and from long to ulong: ids count up from nothing.
                0x55 => 0x53,
                0x81 => 0x80,
                // From sym8 to str8, and from sym32 to str32.
                symbol => symbol - 2,
            };
        }
    }
}

/// Finds the codes of symbols that are names of application properties, and of the id of the message if it is signed.
fn find(frame: &[u8], codes: &mut Vec<usize>) -> Option<()> {
    // Frames of SASL have another type.
    if *frame.get(5)? != 0 {
        return None;
    }
    let mut at = usize::from(*frame.get(4)?) * 4;
    let (descriptor, after) = described(frame, at)?;
    if descriptor != TRANSFER {
        return None;
    }
    at = value(frame, after)?.end;
    while at < frame.len() {
        let (section, after) = described(frame, at)?;
        let whole = value(frame, after)?;
        if section == PROPERTIES {
            codes.extend(signed_id(frame, after));
        }
        if section == APPLICATION_PROPERTIES {
            return keys(frame, after, whole.end, codes);
        }
        at = whole.end;
    }
    Some(())
}

/// The first element of a list, if it is a signed number.
fn signed_id(frame: &[u8], at: usize) -> Option<usize> {
    let first = match *frame.get(at)? {
        0xc0 => at + 3,
        0xd0 => at + 9,
        _ => return None,
    };
    matches!(*frame.get(first)?, 0x55 | 0x81).then_some(first)
}

/// The names of a map.
fn keys(frame: &[u8], at: usize, end: usize, names: &mut Vec<usize>) -> Option<()> {
    let mut at = match *frame.get(at)? {
        0xc1 => at + 3,
        0xd1 => at + 9,
        _ => return None,
    };
    while at < end {
        if matches!(*frame.get(at)?, 0xa3 | 0xb3) {
            names.push(at);
        }
        at = value(frame, at)?.end;
        at = value(frame, at)?.end;
    }
    Some(())
}

/// A small descriptor, and the place of the value that it describes.
fn described(frame: &[u8], at: usize) -> Option<(u8, usize)> {
    match *frame.get(at..at + 3)? {
        [0x00, 0x53, code] => Some((code, at + 3)),
        [0x00, 0x80, _] => {
            let code = u64::from_be_bytes(*frame.get(at + 2..)?.first_chunk()?);
            Some((u8::try_from(code).ok()?, at + 10))
        }
        _ => None,
    }
}

/// The place of a value that has no descriptor.
fn value(frame: &[u8], at: usize) -> Option<Range<usize>> {
    let code = *frame.get(at)?;
    let rest = frame.get(at + 1..)?;
    let size = match code >> 4 {
        0x4 => 0,
        0x5 => 1,
        0x6 => 2,
        0x7 => 4,
        0x8 => 8,
        0x9 => 16,
        0xa | 0xc | 0xe => 1 + usize::from(*rest.first()?),
        0xb | 0xd | 0xf => {
            let size = u32::from_be_bytes(*rest.first_chunk()?);
            4 + usize::try_from(size).ok()?
        }
        _ => return None,
    };
    (size <= rest.len()).then(|| at..at + 1 + size)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// Returns a frame with a transfer, a section of properties, and application properties whose
    /// names have this code. Besides symbols, the id of the message is signed.
    fn frame(code: u8) -> Vec<u8> {
        let mut map = vec![4];
        map.extend([code, 1, b'v', 0x52, 1]);
        map.extend([code, 2, b'i', b'd', 0xa3, 1, b'x']);
        let mut frame = vec![0, 0, 0, 0, 2, 0, 0, 0];
        frame.extend([0x00, 0x53, TRANSFER, 0xc0, 2, 1, 0x43]);
        let id = if code == 0xa3 { 0x55 } else { 0x53 };
        frame.extend([0x00, 0x53, PROPERTIES, 0xc0, 4, 2, id, 7, 0x40]);
        frame.extend([0x00, 0x53, APPLICATION_PROPERTIES, 0xc1]);
        frame.push(u8::try_from(map.len()).unwrap());
        frame.extend(map);
        frame.extend([0x00, 0x53, 0x77, 0x40]);
        frame[3] = u8::try_from(frame.len()).unwrap();
        frame
    }

    async fn read(bytes: &[u8], step: usize) -> Vec<u8> {
        let mut builder = Vec::new();
        let (mut near, far) = tokio::io::duplex(step);
        let mut stream = Symbols::new(far);
        let send = async {
            tokio::io::AsyncWriteExt::write_all(&mut near, bytes)
                .await
                .unwrap();
            drop(near);
        };
        let (read, ()) = tokio::join!(stream.read_to_end(&mut builder), send);
        read.unwrap();
        builder
    }

    #[tokio::test]
    async fn names_become_strings_and_nothing_else_changes() {
        let mut large = vec![0, 0, 0x20, 0, 2, 0, 0, 0];
        large.resize(0x2000, 0xa3);
        let before = [b"AMQP\0\x01\0\0".to_vec(), frame(0xa3), large, frame(0xa3)].concat();
        let after = |bytes: &[u8]| bytes.to_vec();
        let mut expected = after(&before);
        expected[8..8 + frame(0).len()].copy_from_slice(&frame(0xa1));
        let last = before.len() - frame(0).len();
        expected[last..].copy_from_slice(&frame(0xa1));
        for step in [1, 7, 100_000] {
            assert_eq!(read(&before, step).await, expected);
        }
        assert_eq!(read(&expected, 9).await, expected);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes: Vec<u8>, tail: Vec<u8>) {
            let mut bytes = bytes;
            rewrite(&mut bytes);
            let mut frame = frame(0xa3);
            let cut = frame.len().min(tail.len());
            frame.truncate(frame.len() - cut);
            frame.extend(tail);
            rewrite(&mut frame);
        }
    }
}
