//! Reads the parts of a body.

use super::Error;
use crate::link::announcement::{Key, SiteId};

/// Rest of a body.
pub(super) struct Reader<'b>(pub(super) &'b [u8]);

impl<'b> Reader<'b> {
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Error::Malformed)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Error> {
        self.array().map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_be_bytes)
    }

    /// A text after its length.
    pub(super) fn text(&mut self) -> Result<&'b str, Error> {
        let length = usize::from(self.u16()?);
        let (text, rest) = self.0.split_at_checked(length).ok_or(Error::Malformed)?;
        self.0 = rest;
        std::str::from_utf8(text).map_err(|_| Error::Malformed)
    }

    pub(super) fn site(&mut self) -> Result<SiteId, Error> {
        SiteId::new(self.text()?).ok_or(Error::Malformed)
    }

    pub(super) fn key(&mut self) -> Result<Key, Error> {
        Key::new(self.text()?).ok_or(Error::Malformed)
    }

    /// Checks that no bytes are left.
    pub(super) fn end(self) -> Result<(), Error> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Error::Malformed)
        }
    }
}

/// Appends a text after its length; of one that is too long its beginning.
pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    let mut end = text.len().min(usize::from(u16::MAX));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let length = u16::try_from(end).expect("it was cut to fit");
    bytes.extend(length.to_be_bytes());
    bytes.extend(&text.as_bytes()[..end]);
}
