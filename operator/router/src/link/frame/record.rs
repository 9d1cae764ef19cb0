//! Messages on one stream: its destination, the result of opening it, bytes, the number of further
//! bytes allowed, and the end of the bytes. A stream that ends without an end message was aborted.

use super::Error;
use super::reader::{Reader, put_text};
use crate::link::announcement::{Key, MAX_KEY, MAX_SITE, SiteId};

/// The most bytes of one record.
pub const MAX_DATA: usize = 16 * 1024 - HEAD;
/// The type and the length.
pub(crate) const HEAD: usize = 3;
/// The longest that a request is.
const MAX_REQUEST: usize = MAX_KEY + MAX_SITE + 5;

/// Destination of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// To a server of this key.
    pub key: Key,
    /// At this site.
    pub site: SiteId,
    /// Upper bound on the number of links after this one.
    pub ttl: u8,
}

/// Why a stream did not get there.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refusal {
    /// The site is unreachable, or has no such key.
    #[error("there is no route to it")]
    NoRoute,
    /// The server did not answer.
    #[error("its server does not answer")]
    Backend,
    /// It would have gone in a circle.
    #[error("the way to it is a circle")]
    Loop,
    /// Too many streams are open.
    #[error("too many streams are open on the way to it")]
    Limit,
}

/// Record of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record<'b> {
    /// Destination of the stream.
    Open(Request),
    /// That it got there.
    Opened,
    /// Why it did not get there.
    Refused(Refusal),
    /// Bytes.
    Data(&'b [u8]),
    /// How many bytes more may come.
    Credit(u32),
    /// That there are no more bytes.
    End,
}

const OPEN: u8 = 1;
const OPENED: u8 = 2;
const REFUSED: u8 = 3;
const DATA: u8 = 4;
const CREDIT: u8 = 5;
const END: u8 = 6;

impl<'b> Record<'b> {
    /// Appends it; data at most [`MAX_DATA`] of it.
    pub(crate) fn encode_into(&self, bytes: &mut Vec<u8>) {
        let head = bytes.len();
        bytes.extend([0; HEAD]);
        let kind = match self {
            Record::Open(request) => {
                bytes.push(request.ttl);
                put_text(bytes, request.key.as_str());
                put_text(bytes, request.site.as_str());
                OPEN
            }
            Record::Opened => OPENED,
            Record::Refused(refusal) => {
                bytes.push(match refusal {
                    Refusal::NoRoute => 0,
                    Refusal::Backend => 1,
                    Refusal::Loop => 2,
                    Refusal::Limit => 3,
                });
                REFUSED
            }
            Record::Data(data) => {
                bytes.extend(&data[..data.len().min(MAX_DATA)]);
                DATA
            }
            Record::Credit(credit) => {
                bytes.extend(credit.to_be_bytes());
                CREDIT
            }
            Record::End => END,
        };
        let length = u16::try_from(bytes.len() - head - HEAD).expect("a record is short");
        bytes[head] = kind;
        bytes[head + 1..head + HEAD].copy_from_slice(&length.to_be_bytes());
    }

    /// The first record of some bytes and how long it is; absent if it is not whole yet.
    ///
    /// # Errors
    /// It is too long, or means nothing. It is not waited for then.
    pub(crate) fn first(bytes: &'b [u8]) -> Result<Option<(Self, usize)>, Error> {
        let Some(([kind, high, low], rest)) = bytes.split_first_chunk() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let most = match *kind {
            OPEN => MAX_REQUEST,
            OPENED | END => 0,
            REFUSED => 1,
            DATA => MAX_DATA,
            CREDIT => 4,
            _ => return Err(Error::Malformed),
        };
        if length > most {
            return Err(Error::Oversize(length));
        }
        let Some((body, _)) = rest.split_at_checked(length) else {
            return Ok(None);
        };
        let record = Self::decode(*kind, body)?;
        Ok(Some((record, HEAD + length)))
    }

    fn decode(kind: u8, body: &'b [u8]) -> Result<Self, Error> {
        let mut reader = Reader(body);
        let record = match kind {
            DATA => return Ok(Record::Data(body)),
            OPEN => {
                let ttl = reader.u8()?;
                let (key, site) = (reader.key()?, reader.site()?);
                Record::Open(Request { key, site, ttl })
            }
            OPENED => Record::Opened,
            REFUSED => Record::Refused(match reader.u8()? {
                0 => Refusal::NoRoute,
                1 => Refusal::Backend,
                2 => Refusal::Loop,
                3 => Refusal::Limit,
                _ => return Err(Error::Malformed),
            }),
            CREDIT => Record::Credit(reader.u32()?),
            END => Record::End,
            _ => return Err(Error::Malformed),
        };
        reader.end()?;
        Ok(record)
    }
}
