//! Messages between two routers on the first stream of a link.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::Error;
use super::reader::{Reader, put_text};
use crate::link::announcement::about::{About, MAX_SERVICES, Service, Side};
use crate::link::announcement::{
    Announcement, MAX_ANNOUNCEMENT, MAX_KEYS, MAX_LINKS, Role, SiteId, Version,
};

/// Upper bound on the size of a frame: the longest announcement and its envelope.
pub const MAX_FRAME: usize = MAX_ANNOUNCEMENT + 1024;
/// Upper bound on a transmitted reason, in bytes.
const MAX_REASON: usize = 256;

/// First frame that either side sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The versions of this protocol that it speaks.
    pub versions: RangeInclusive<u16>,
    /// Its site.
    pub site: SiteId,
    /// When its router started.
    pub instance: u64,
    /// Role of its site towards the others.
    pub role: Role,
    /// Cost of the link for the router.
    pub cost: u32,
}

/// Frame of the control stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Identity of the sender.
    Hello(Hello),
    /// Sign of life of the sender.
    Alive,
    /// Announcement of a site about itself.
    Announce(Arc<Announcement>),
    /// That this arrived; of the version zero, that nothing is known of the site.
    Acknowledge(SiteId, Version),
    /// Why it ends the link.
    Goodbye(String),
    /// New cost of the link for the router.
    Cost(u32),
}

const HELLO: u8 = 1;
const ALIVE: u8 = 2;
const ANNOUNCE: u8 = 3;
const ACKNOWLEDGE: u8 = 4;
const GOODBYE: u8 = 5;
const COST: u8 = 6;

/// The length of the body that follows.
///
/// # Errors
/// It is longer than [`MAX_FRAME`].
pub fn length(prefix: [u8; 4]) -> Result<usize, Error> {
    let length = usize::try_from(u32::from_be_bytes(prefix)).unwrap_or(usize::MAX);
    if length > MAX_FRAME {
        return Err(Error::Oversize(length));
    }
    Ok(length)
}

impl Frame {
    /// The frame with its length before it.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        self.encode_into(&mut bytes);
        let length = u32::try_from(bytes.len() - 4).expect("a frame is short");
        bytes[..4].copy_from_slice(&length.to_be_bytes());
        bytes
    }

    fn encode_into(&self, bytes: &mut Vec<u8>) {
        match self {
            Frame::Hello(hello) => {
                bytes.push(HELLO);
                bytes.extend(hello.versions.start().to_be_bytes());
                bytes.extend(hello.versions.end().to_be_bytes());
                put_text(bytes, hello.site.as_str());
                bytes.extend(hello.instance.to_be_bytes());
                bytes.push(role_byte(hello.role));
                bytes.extend(hello.cost.to_be_bytes());
            }
            Frame::Alive => bytes.push(ALIVE),
            Frame::Announce(announcement) => {
                bytes.push(ANNOUNCE);
                put_announcement(bytes, announcement);
            }
            Frame::Acknowledge(origin, version) => {
                bytes.push(ACKNOWLEDGE);
                put_text(bytes, origin.as_str());
                put_version(bytes, *version);
            }
            Frame::Goodbye(reason) => {
                bytes.push(GOODBYE);
                put_text(bytes, &printable(reason));
            }
            Frame::Cost(cost) => {
                bytes.push(COST);
                bytes.extend(cost.to_be_bytes());
            }
        }
    }

    /// Of a body without its length.
    ///
    /// # Errors
    /// It means nothing.
    pub fn decode(body: &[u8]) -> Result<Self, Error> {
        if body.len() > MAX_FRAME {
            return Err(Error::Oversize(body.len()));
        }
        let mut reader = Reader(body);
        let frame = match reader.u8()? {
            HELLO => Frame::Hello(hello(&mut reader)?),
            ALIVE => Frame::Alive,
            ANNOUNCE => Frame::Announce(Arc::new(announcement(&mut reader)?)),
            ACKNOWLEDGE => Frame::Acknowledge(reader.site()?, version(&mut reader)?),
            GOODBYE => Frame::Goodbye(printable(reader.text()?)),
            COST => Frame::Cost(reader.u32()?),
            _ => return Err(Error::Malformed),
        };
        reader.end()?;
        Ok(frame)
    }
}

/// Returns the printable part of a text from another router: one line of limited length.
fn printable(reason: &str) -> String {
    let mut text = String::new();
    for c in reason.chars().map(|c| if c.is_control() { ' ' } else { c }) {
        if text.len() + c.len_utf8() > MAX_REASON {
            break;
        }
        text.push(c);
    }
    text
}

fn role_byte(role: Role) -> u8 {
    match role {
        Role::Interior => 0,
        Role::Edge => 1,
    }
}

fn role(reader: &mut Reader<'_>) -> Result<Role, Error> {
    match reader.u8()? {
        0 => Ok(Role::Interior),
        1 => Ok(Role::Edge),
        _ => Err(Error::Malformed),
    }
}

fn put_version(bytes: &mut Vec<u8>, version: Version) {
    bytes.extend(version.instance.to_be_bytes());
    bytes.extend(version.sequence.to_be_bytes());
}

fn version(reader: &mut Reader<'_>) -> Result<Version, Error> {
    Ok(Version {
        instance: reader.u64()?,
        sequence: reader.u64()?,
    })
}

fn hello(reader: &mut Reader<'_>) -> Result<Hello, Error> {
    Ok(Hello {
        versions: reader.u16()?..=reader.u16()?,
        site: reader.site()?,
        instance: reader.u64()?,
        role: role(reader)?,
        cost: reader.u32()?,
    })
}

fn put_announcement(bytes: &mut Vec<u8>, announcement: &Announcement) {
    put_text(bytes, announcement.origin.as_str());
    put_version(bytes, announcement.version);
    bytes.push(role_byte(announcement.role));
    put_count(bytes, announcement.links.len());
    for (site, cost) in &announcement.links {
        put_text(bytes, site.as_str());
        bytes.extend(cost.to_be_bytes());
    }
    put_count(bytes, announcement.keys.len());
    for key in &announcement.keys {
        put_text(bytes, key.as_str());
    }
    put_about(bytes, &announcement.about);
}

fn put_about(bytes: &mut Vec<u8>, about: &About) {
    for text in [
        &about.name,
        &about.namespace,
        &about.platform,
        &about.version,
    ] {
        put_text(bytes, text);
    }
    put_count(bytes, about.dials.len());
    for (site, name) in &about.dials {
        put_text(bytes, site.as_str());
        put_text(bytes, name);
    }
    put_count(bytes, about.services.len());
    for (key, service) in &about.services {
        put_text(bytes, key.as_str());
        for side in [&service.connectors, &service.listeners] {
            bytes.extend(side.count.to_be_bytes());
            put_count(bytes, side.names.len());
            side.names.iter().for_each(|name| put_text(bytes, name));
        }
    }
}

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    let count = u16::try_from(count).expect("an announcement was checked");
    bytes.extend(count.to_be_bytes());
}

fn count(reader: &mut Reader<'_>, most: usize) -> Result<usize, Error> {
    let count = usize::from(reader.u16()?);
    if count > most {
        return Err(Error::Malformed);
    }
    Ok(count)
}

fn announcement(reader: &mut Reader<'_>) -> Result<Announcement, Error> {
    let origin = reader.site()?;
    let version = version(reader)?;
    let role = role(reader)?;
    let mut links = BTreeMap::new();
    for _ in 0..count(reader, MAX_LINKS)? {
        links.insert(reader.site()?, reader.u32()?);
    }
    let mut keys = BTreeSet::new();
    for _ in 0..count(reader, MAX_KEYS)? {
        keys.insert(reader.key()?);
    }
    Ok(Announcement {
        origin,
        version,
        role,
        links,
        keys,
        about: read_about(reader)?,
    })
}

fn read_about(reader: &mut Reader<'_>) -> Result<About, Error> {
    let mut text = || reader.text().map(str::to_owned);
    let mut about = About {
        name: text()?,
        namespace: text()?,
        platform: text()?,
        version: text()?,
        ..About::default()
    };
    for _ in 0..count(reader, MAX_LINKS)? {
        about
            .dials
            .insert(reader.site()?, reader.text()?.to_owned());
    }
    for _ in 0..count(reader, MAX_SERVICES)? {
        let key = reader.key()?;
        let (connectors, listeners) = (side(reader)?, side(reader)?);
        let service = Service {
            connectors,
            listeners,
        };
        about.services.insert(key, service);
    }
    Ok(about)
}

fn side(reader: &mut Reader<'_>) -> Result<Side, Error> {
    let all = reader.u16()?;
    let mut names = BTreeSet::new();
    for _ in 0..count(reader, usize::from(all))? {
        names.insert(reader.text()?.to_owned());
    }
    Ok(Side { count: all, names })
}
