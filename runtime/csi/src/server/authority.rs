//! Lets callers use any `:authority`. A Unix socket has none, so gRPC libraries send the path of
//! the socket, escaped or not. That path is not a valid URL authority, and the HTTP library resets
//! the request (the kubelet's registration does this). Each connection is therefore relayed with
//! the authority replaced.

use std::io;
use std::time::Duration;

use loona_hpack::{Decoder, Encoder};
use tokio::io::{
    AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, copy, duplex, split,
};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// The authority that the services receive.
const AUTHORITY: &[u8] = b"localhost";
/// Length of the connection preface that a client sends, in bytes.
const PREFACE: usize = 24;
/// How long it has for that.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest frame allowed, which is also the default of HTTP/2.
const MAX_FRAME_BYTES: usize = 16_384;
/// The headers of one request, packed.
const MAX_HEADERS_BYTES: usize = 65_536;
const BUFFER: usize = 65_536;

const HEADERS: u8 = 0x1;
const CONTINUATION: u8 = 0x9;
const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// Returns the other end of a connection, and a future that moves its bytes until both sides are
/// done.
pub(crate) fn relayed(client: UnixStream) -> (DuplexStream, impl Future<Output = ()> + Send) {
    let (ours, theirs) = duplex(BUFFER);
    (theirs, async move {
        let (from_client, mut to_client) = client.into_split();
        let (mut from_server, to_server) = split(ours);
        let inward = async {
            let mut relay = Relay {
                from: from_client,
                to: to_server,
                decoder: Decoder::new(),
                encoder: Encoder::new(),
            };
            // A client that disconnects or breaks the protocol needs no report.
            let _ = relay.run().await.is_ok();
            let _ = relay.to.shutdown().await.is_ok();
        };
        let outward = async {
            let _ = copy(&mut from_server, &mut to_client).await.is_ok();
            let _ = to_client.shutdown().await.is_ok();
        };
        tokio::pin!(outward);
        tokio::select! {
            () = &mut outward => {}
            () = inward => outward.await,
        }
    })
}

/// The way from a client to the services.
struct Relay<R, W> {
    from: R,
    to: W,
    decoder: Decoder<'static>,
    encoder: Encoder<'static>,
}

/// The first nine bytes of a frame.
struct Frame {
    length: usize,
    kind: u8,
    flags: u8,
    stream: [u8; 4],
}

impl Frame {
    fn bytes(&self) -> [u8; 9] {
        let [_, a, b, c] = u32::try_from(self.length).unwrap_or(u32::MAX).to_be_bytes();
        let [d, e, f, g] = self.stream;
        [a, b, c, self.kind, self.flags, d, e, f, g]
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Relay<R, W> {
    async fn run(&mut self) -> io::Result<()> {
        let mut preface = [0; PREFACE];
        timeout(PATIENCE, self.from.read_exact(&mut preface)).await??;
        self.to.write_all(&preface).await?;
        loop {
            let frame = self.frame().await?;
            if frame.kind == HEADERS {
                let block = self.block(&frame).await?;
                self.headers(&frame, &block).await?;
            } else {
                self.to.write_all(&frame.bytes()).await?;
                let length = u64::try_from(frame.length).unwrap_or(u64::MAX);
                let mut payload = (&mut self.from).take(length);
                if copy(&mut payload, &mut self.to).await? < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
    }

    async fn frame(&mut self) -> io::Result<Frame> {
        let mut bytes = [0; 9];
        self.from.read_exact(&mut bytes).await?;
        let [a, b, c, kind, flags, d, e, f, g] = bytes;
        let length = u32::from_be_bytes([0, a, b, c]);
        Ok(Frame {
            length: usize::try_from(length).unwrap_or(usize::MAX),
            kind,
            flags,
            stream: [d, e, f, g],
        })
    }

    /// All headers of a request, packed, without padding and priority.
    async fn block(&mut self, first: &Frame) -> io::Result<Vec<u8>> {
        let mut payload = self.payload(first).await?;
        if first.has(PADDED) {
            let padding = usize::from(payload.first().copied().unwrap_or_default());
            let end = payload.len().checked_sub(padding).filter(|end| *end >= 1);
            payload.truncate(end.ok_or(io::ErrorKind::InvalidData)?);
            payload.remove(0);
        }
        if first.has(PRIORITY) {
            payload = payload.get(5..).ok_or(io::ErrorKind::InvalidData)?.to_vec();
        }
        let mut ended = first.has(END_HEADERS);
        while !ended {
            let next = self.frame().await?;
            if next.kind != CONTINUATION || next.stream != first.stream {
                return Err(io::ErrorKind::InvalidData.into());
            }
            payload.extend(self.payload(&next).await?);
            if payload.len() > MAX_HEADERS_BYTES {
                return Err(io::ErrorKind::InvalidData.into());
            }
            ended = next.has(END_HEADERS);
        }
        Ok(payload)
    }

    async fn payload(&mut self, frame: &Frame) -> io::Result<Vec<u8>> {
        if frame.length > MAX_FRAME_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut payload = vec![0; frame.length];
        self.from.read_exact(&mut payload).await?;
        Ok(payload)
    }

    /// Encodes the headers again, because both ends keep tables of the headers sent before.
    async fn headers(&mut self, first: &Frame, block: &[u8]) -> io::Result<()> {
        let headers = self.decoder.decode(block);
        let headers = headers.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        let headers: Vec<_> = headers.into_iter().map(replaced).collect();
        let named = headers.iter().map(|(name, value)| (&name[..], &value[..]));
        let block = self.encoder.encode(named);
        let mut parts = block.chunks(MAX_FRAME_BYTES).peekable();
        let mut kind = HEADERS;
        while let Some(part) = parts.next() {
            let end = if parts.peek().is_none() {
                END_HEADERS
            } else {
                0
            };
            let stream = if kind == HEADERS {
                first.flags & END_STREAM
            } else {
                0
            };
            let frame = Frame {
                length: part.len(),
                kind,
                flags: end | stream,
                stream: first.stream,
            };
            self.to.write_all(&frame.bytes()).await?;
            self.to.write_all(part).await?;
            kind = CONTINUATION;
        }
        Ok(())
    }
}

fn replaced((name, value): (Vec<u8>, Vec<u8>)) -> (Vec<u8>, Vec<u8>) {
    let value = match name.as_slice() {
        b":authority" => AUTHORITY.to_vec(),
        _ => value,
    };
    (name, value)
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    type Header = (&'static [u8], &'static [u8]);

    /// Returns the output of the relay for these bytes after the preface.
    async fn relay(frames: &[u8]) -> Vec<u8> {
        let (mut client, from) = duplex(1 << 20);
        let (to, mut server) = duplex(1 << 20);
        client.write_all(&[b'P'; PREFACE]).await.expect("room");
        client.write_all(frames).await.expect("room");
        drop(client);
        let mut relay = Relay {
            from,
            to,
            decoder: Decoder::new(),
            encoder: Encoder::new(),
        };
        assert!(relay.run().await.is_err(), "the client went away");
        drop(relay);
        let mut out = Vec::new();
        server.read_to_end(&mut out).await.expect("it is closed");
        assert_eq!(out[..PREFACE], [b'P'; PREFACE]);
        out.split_off(PREFACE)
    }

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let frame = Frame {
            length: payload.len(),
            kind,
            flags,
            stream: [0, 0, 0, 1],
        };
        [&frame.bytes()[..], payload].concat()
    }

    fn authority_of(out: &[u8]) -> Vec<u8> {
        let headers = Decoder::new().decode(&out[9..]).expect("packed headers");
        let mut headers = headers.into_iter();
        let authority = headers.find(|(name, _)| name == b":authority");
        authority.expect("it is there").1
    }

    fn packed(authority: &'static [u8]) -> Vec<u8> {
        let headers: [Header; 3] = [
            (b":method", b"POST"),
            (b":authority", authority),
            (b"te", b"trailers"),
        ];
        Encoder::new().encode(headers)
    }

    #[tokio::test]
    async fn whatever_is_named_the_services_hear_of_localhost() {
        for authority in [
            &b"%2Fvar%2Flib%2Fx.sock"[..],
            b"/var/lib/x.sock",
            b"",
            b"a b",
        ] {
            let out = relay(&frame(HEADERS, END_HEADERS, &packed(authority))).await;
            assert_eq!((out[3], out[4]), (HEADERS, END_HEADERS));
            assert_eq!(authority_of(&out), AUTHORITY);
        }
    }

    #[tokio::test]
    async fn padding_priority_and_continuation_are_understood() {
        let block = packed(b"/x.sock");
        let padded = [&[2, 0, 0, 0, 0, 7][..], &block, &[0, 0]].concat();
        let flags = END_HEADERS | END_STREAM | PADDED | PRIORITY;
        let out = relay(&frame(HEADERS, flags, &padded)).await;
        assert_eq!(out[4], END_HEADERS | END_STREAM);
        assert_eq!(authority_of(&out), AUTHORITY);
        let (first, rest) = block.split_at(3);
        let parts = [
            frame(HEADERS, 0, first),
            frame(CONTINUATION, END_HEADERS, rest),
        ];
        let out = relay(&parts.concat()).await;
        assert_eq!(authority_of(&out), AUTHORITY);
    }

    #[tokio::test]
    async fn other_frames_pass_as_they_are_and_broken_ones_end_the_connection() {
        let data = frame(0, END_STREAM, b"data");
        assert_eq!(relay(&data).await, data);
        for broken in [
            frame(HEADERS, END_HEADERS | PADDED, &[9, 1]),
            frame(HEADERS, END_HEADERS | PRIORITY, &[1]),
            frame(HEADERS, END_HEADERS, &[0xff; 40]),
            [frame(HEADERS, 0, &[]), data.clone()].concat(),
        ] {
            assert!(relay(&broken).await.is_empty());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_says_nothing_is_left_after_a_while() {
        let (silent, client) = UnixStream::pair().expect("a pair");
        let (mut server, relay) = relayed(client);
        let began = Instant::now();
        let served = async move {
            let mut all = Vec::new();
            server.read_to_end(&mut all).await.expect("an end");
            all
        };
        let (all, ()) = tokio::join!(served, relay);
        assert_eq!((all.len(), began.elapsed()), (0, PATIENCE));
        drop(silent);
    }
}
