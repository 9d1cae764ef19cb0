//! First messages of two routers, and the check that they can have a link. Pure.

use std::ops::RangeInclusive;

use thiserror::Error;

use super::announcement::{MAX_COST, Role, SiteId};
use super::frame::control::Hello;

/// Supported versions of the protocol. Since version 2 sites announce their names, and costs change
/// while a link lasts.
pub const VERSIONS: RangeInclusive<u16> = 2..=2;

/// Reason for refusing a link.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Refused {
    /// It did not identify itself in time.
    #[error("it did not identify itself in time")]
    Late,
    /// Its first frame was not a hello.
    #[error("its first frame did not identify it")]
    NoHello,
    /// No version of the protocol is common to both.
    #[error("it speaks versions {} to {} of the protocol, and this router {} to {}", .0.start(), .0.end(), VERSIONS.start(), VERSIONS.end())]
    Version(RangeInclusive<u16>),
    /// It is this router.
    #[error("it leads to this site itself: give it the host and port of another site")]
    Oneself,
    /// It is another router of the same site.
    #[error(
        "another router also claims to be this site ({0}): give each site its own id and certificates"
    )]
    Twin(SiteId),
    /// A router of the same site that started later has a link.
    #[error(
        "another router has a link as site {0}, and started later: each site needs an id and certificates of its own"
    )]
    OlderTwin(SiteId),
    /// The site has a link with a certificate that names it, and this one names none.
    #[error(
        "site {0} has a link with a certificate that names it, and this one names no site: redeem a token, and link with what it gives"
    )]
    Nameless(SiteId),
    /// Its certificate is that of another site.
    #[error("it claims to be site {said}, but its certificate is for site {certified}")]
    Identity {
        /// Site that the router claims to be.
        said: SiteId,
        /// Site that its certificate names.
        certified: SiteId,
    },
    /// Neither would carry anything.
    #[error("both are edge sites")]
    Edges,
    /// Its cost is not between 1 and [`MAX_COST`].
    #[error("it declares the invalid link cost {0}")]
    Cost(u32),
    /// A link to this site already exists.
    #[error("a link to site {0} already exists")]
    Linked(SiteId),
    /// There are too many links.
    #[error("there are too many links")]
    TooMany,
}

/// Checks that two routers can have a link.
pub(super) fn agree(
    ours: &Hello,
    theirs: &Hello,
    certified: Option<&SiteId>,
) -> Result<(), Refused> {
    let lowest = ours.versions.start().max(theirs.versions.start());
    let highest = ours.versions.end().min(theirs.versions.end());
    if lowest > highest {
        return Err(Refused::Version(theirs.versions.clone()));
    }
    if let Some(certified) = certified.filter(|certified| **certified != theirs.site) {
        return Err(Refused::Identity {
            said: theirs.site.clone(),
            certified: certified.clone(),
        });
    }
    if ours.site == theirs.site && ours.instance == theirs.instance {
        return Err(Refused::Oneself);
    }
    if ours.site == theirs.site {
        return Err(Refused::Twin(theirs.site.clone()));
    }
    if ours.role == Role::Edge && theirs.role == Role::Edge {
        return Err(Refused::Edges);
    }
    if !(1..=MAX_COST).contains(&theirs.cost) {
        return Err(Refused::Cost(theirs.cost));
    }
    Ok(())
}
