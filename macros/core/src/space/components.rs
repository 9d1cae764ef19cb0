//! Strongly connected parts of the graph among worlds that are not settled, and the parts in which
//! a fair run can stay for ever.

use crate::space::graph::Graph;
use crate::space::promised::Mover;

/// A part in which a fair run can repeat for ever.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its worlds, ascending.
    pub worlds: Vec<u32>,
}

/// Returns all parts in which a fair run can repeat for ever, by their first world.
pub fn loops(graph: &Graph, worlds: usize) -> Vec<Loop> {
    let parts = Parts::from_graph(graph, worlds);
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); parts.count as usize];
    for world in (0..worlds).filter(|world| !graph.is_at_rest(*world)) {
        members[parts.part[world] as usize].push(index(world));
    }
    let mut seen = vec![(u32::MAX, Inside::None); graph.sets()];
    let mut loops: Vec<Loop> = members
        .into_iter()
        .enumerate()
        .filter(|(_, worlds)| turns(graph, worlds))
        .filter(|(part, worlds)| fair(graph, &parts, index(*part), worlds, &mut seen))
        .map(|(_, worlds)| Loop { worlds })
        .collect();
    loops.sort_by_key(|one| one.worlds[0]);
    loops
}

/// Returns true if a part has any cycle at all.
fn turns(graph: &Graph, worlds: &[u32]) -> bool {
    match worlds {
        [] => false,
        [only] => graph
            .moves(*only as usize)
            .iter()
            .any(|one| one.mover == Mover::Effect && graph.ends(*one).binary_search(only).is_ok()),
        _ => true,
    }
}

/// How many worlds of a set are in a part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    None,
    Only(u32),
    More,
}

/// Returns true if no mover waits for ever: each moves inside the part, or is not enabled
/// everywhere in it.
fn fair(
    graph: &Graph,
    parts: &Parts,
    part: u32,
    worlds: &[u32],
    seen: &mut [(u32, Inside)],
) -> bool {
    let mut movers: Vec<(Mover, usize, bool)> = Vec::new();
    for &world in worlds {
        let moves = graph.moves(world as usize);
        for (position, one) in moves.iter().enumerate() {
            if one.mover.is_ranked() {
                continue;
            }
            let first = !moves[..position]
                .iter()
                .any(|other| other.mover == one.mover);
            let (set_part, inside) = &mut seen[one.to];
            if *set_part != part {
                (*set_part, *inside) = (part, parts.inside(graph.ends(*one), part));
            }
            let stays = match *inside {
                Inside::None => false,
                Inside::Only(end) => one.mover == Mover::Effect || end != world,
                Inside::More => true,
            };
            match movers.iter_mut().find(|(mover, ..)| *mover == one.mover) {
                Some((_, enabled, moved)) => {
                    *enabled += usize::from(first);
                    *moved |= stays;
                }
                None => movers.push((one.mover, 1, stays)),
            }
        }
    }
    movers
        .iter()
        .all(|(_, enabled, moved)| *moved || *enabled < worlds.len())
}

/// The strongly connected parts; nodes are the worlds and after them the sets.
struct Parts {
    part: Vec<u32>,
    count: u32,
}

const UNSEEN: u32 = u32::MAX;

impl Parts {
    fn from_graph(graph: &Graph, worlds: usize) -> Self {
        let mut search = Tarjan::new(graph, worlds);
        for world in (0..worlds).filter(|world| !graph.is_at_rest(*world)) {
            if search.entered[world] == UNSEEN {
                search.from(world);
            }
        }
        search.parts
    }

    fn inside(&self, ends: &[u32], part: u32) -> Inside {
        let mut inside = Inside::None;
        for end in ends.iter().filter(|end| self.part[**end as usize] == part) {
            match inside {
                Inside::None => inside = Inside::Only(*end),
                Inside::Only(_) | Inside::More => return Inside::More,
            }
        }
        inside
    }
}

/// Tarjan's search with its own stack, for a path may be as long as there are worlds.
struct Tarjan<'a> {
    graph: &'a Graph,
    worlds: usize,
    entered: Vec<u32>,
    low: Vec<u32>,
    clock: u32,
    open: Vec<usize>,
    /// Nodes on the way here, each with how many of its edges were followed.
    path: Vec<(usize, usize)>,
    parts: Parts,
}

impl<'a> Tarjan<'a> {
    fn new(graph: &'a Graph, worlds: usize) -> Self {
        let nodes = worlds + graph.sets();
        Self {
            graph,
            worlds,
            entered: vec![UNSEEN; nodes],
            low: vec![0; nodes],
            clock: 0,
            open: Vec::new(),
            path: Vec::new(),
            parts: Parts {
                part: vec![UNSEEN; nodes],
                count: 0,
            },
        }
    }

    fn from(&mut self, start: usize) {
        self.enter(start);
        while let Some((node, followed)) = self.path.last_mut() {
            let node = *node;
            let next = next(self.graph, self.worlds, node, followed);
            match next {
                Some(next) if self.entered[next] == UNSEEN => self.enter(next),
                Some(next) => {
                    if self.parts.part[next] == UNSEEN {
                        self.low[node] = self.low[node].min(self.entered[next]);
                    }
                }
                None => self.leave(node),
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.entered[node] = self.clock;
        self.low[node] = self.clock;
        self.clock += 1;
        self.open.push(node);
        self.path.push((node, 0));
    }

    fn leave(&mut self, node: usize) {
        self.path.pop();
        if let Some((before, _)) = self.path.last() {
            self.low[*before] = self.low[*before].min(self.low[node]);
        }
        if self.low[node] == self.entered[node] {
            while let Some(member) = self.open.pop() {
                self.parts.part[member] = self.parts.count;
                if member == node {
                    break;
                }
            }
            self.parts.count += 1;
        }
    }
}

/// The next edge of a node that counts.
fn next(graph: &Graph, worlds: usize, node: usize, followed: &mut usize) -> Option<usize> {
    loop {
        let position = *followed;
        *followed += 1;
        if node < worlds {
            let one = graph.moves(node).get(position)?;
            if !one.mover.is_ranked() {
                return Some(worlds + one.to);
            }
        } else {
            let end = *graph.set(node - worlds).get(position)? as usize;
            if !graph.is_at_rest(end) {
                return Some(end);
            }
        }
    }
}

fn index(number: usize) -> u32 {
    u32::try_from(number).expect("bounded by the limit of worlds")
}
