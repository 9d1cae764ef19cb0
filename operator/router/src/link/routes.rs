//! The shortest ways from one site to all others. Pure: all routers that know the same announcements agree, so no stream goes in a
//! circle.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::announcement::{Announcement, Key, Role, SiteId};

/// The way to a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The neighbour that it goes over.
    pub next: SiteId,
    /// The sum of the costs of its links.
    pub cost: u64,
}

/// The ways from one site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    /// By site. The site itself is not in it.
    pub sites: BTreeMap<SiteId, Route>,
    /// The other sites that can be reached and have a key, the nearest first.
    pub keys: BTreeMap<Key, Vec<SiteId>>,
}

/// Knowledge about sites.
pub(super) trait Map {
    /// The announcement of a site.
    fn site(&self, site: &SiteId) -> Option<&Announcement>;
}

impl Routes {
    /// Computes the paths from `own`. A link counts if both its ends announce it, with the higher
    /// of the two costs. Among paths of equal cost the one over the neighbour with the lower name
    /// is taken. No path goes through an edge site. Of the own links only those count that `is_up`
    /// reports as present now, whatever was announced.
    pub(super) fn compute(map: &impl Map, own: &SiteId, is_up: impl Fn(&SiteId) -> bool) -> Self {
        let mut sites: BTreeMap<SiteId, Route> = BTreeMap::new();
        // The best way to each site so far: its cost and its first neighbour.
        let mut best = BTreeMap::from([(own, (0, own))]);
        let mut frontier = BinaryHeap::from([Reverse((0, own, own))]);
        while let Some(Reverse((cost, next, site))) = frontier.pop() {
            if best.get(site) != Some(&(cost, next)) {
                continue;
            }
            let is_own = site == own;
            if !is_own {
                let next = next.clone();
                sites.insert(site.clone(), Route { next, cost });
            }
            let announced = map.site(site);
            let Some(announced) = announced.filter(|site| is_own || site.role == Role::Interior)
            else {
                continue;
            };
            for (neighbour, there) in &announced.links {
                let next = if is_own { neighbour } else { next };
                let least = (cost + u64::from(*there), next);
                let is_worse = best.get(neighbour).is_some_and(|best| *best <= least);
                if is_worse || is_own && !is_up(neighbour) {
                    continue;
                }
                let back = map.site(neighbour).and_then(|other| other.links.get(site));
                let Some(back) = back else {
                    continue;
                };
                let way = (cost + u64::from(*there.max(back)), next);
                if best.get(neighbour).is_none_or(|best| way < *best) {
                    best.insert(neighbour, way);
                    frontier.push(Reverse((way.0, next, neighbour)));
                }
            }
        }
        let keys = keys(map, &sites);
        Self { sites, keys }
    }
}

fn keys(map: &impl Map, sites: &BTreeMap<SiteId, Route>) -> BTreeMap<Key, Vec<SiteId>> {
    let mut keys: BTreeMap<Key, Vec<SiteId>> = BTreeMap::new();
    let mut nearest: Vec<_> = sites.iter().collect();
    nearest.sort_by_key(|(_, route)| route.cost);
    for (site, _) in nearest {
        for key in map.site(site).into_iter().flat_map(|site| &site.keys) {
            keys.entry(key.clone()).or_default().push(site.clone());
        }
    }
    keys
}
