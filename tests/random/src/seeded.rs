//! Mistakes put into a driver on purpose: runs that cannot find them prove nothing.

use lifecycle_runtime::machine::ir::{Condition, Effect, Node, Says, Var};

/// Where something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeded {
    /// Shared values are computed before what they are made of is looked up.
    Order,
    /// Of several effects that build one object, the plan is always that of the last.
    Planning,
    /// What is held is not known to be held: nothing is claimed.
    Claim,
    /// One value of what is held counts as given back.
    Release,
    /// What was acquired last is not given back.
    Undo,
    /// What was just written need not be seen before the next pass.
    Fence,
    /// A refused write is another one each time.
    Refusals,
    /// The first clause of a condition says the opposite.
    Projection,
    /// No permission of an author counts.
    Permission,
}

impl Seeded {
    /// Each of them.
    pub const ALL: [Self; 9] = [
        Self::Order,
        Self::Planning,
        Self::Claim,
        Self::Release,
        Self::Undo,
        Self::Fence,
        Self::Refusals,
        Self::Projection,
        Self::Permission,
    ];

    /// The order of a pass.
    pub(crate) fn order(self, nodes: &mut [Node]) {
        if self == Self::Order {
            nodes.sort_by_key(|node| !matches!(node, Node::Value(_)));
        }
    }

    /// What is asked.
    pub(crate) fn vars(self, vars: &mut [Var]) {
        for var in vars {
            match (self, var.free) {
                (Self::Claim, Some(_)) => var.free = None,
                (Self::Release, Some(free)) => {
                    let last = usize::from(var.answers).saturating_sub(1);
                    var.free = Some(free | 1 << last);
                }
                _ => {}
            }
        }
    }

    /// What is written.
    pub(crate) fn effects(self, effects: &mut [Effect]) {
        if self == Self::Undo
            && let Some(last) = effects.iter_mut().rfind(|effect| effect.undo.is_some())
        {
            last.undo = None;
        }
        if self == Self::Permission {
            effects
                .iter_mut()
                .filter(|effect| !effect.is_undo)
                .for_each(|effect| effect.when = None);
        }
    }

    /// What is told.
    pub(crate) fn conditions(self, conditions: &mut [Condition]) {
        if self != Self::Projection {
            return;
        }
        for condition in conditions {
            let mut clauses: Vec<_> = condition
                .clauses
                .iter()
                .map(lifecycle_runtime::machine::ir::Clause::clone)
                .collect();
            if let Some(first) = clauses.first_mut() {
                first.says = match first.says {
                    Says::True => Says::False,
                    Says::False | Says::Unknown | Says::Absent | Says::Omit => Says::True,
                };
            }
            condition.clauses = Box::leak(clauses.into_boxed_slice());
        }
    }
}
