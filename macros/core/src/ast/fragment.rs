//! Items that several lifecycles share, and the places at which each lifecycle inserts them.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};

use super::{Domain, Fact, Lifecycle};

/// One `fragment!` block.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// As the lifecycle calls it that uses it; as it calls itself where it stands alone.
    pub used: Ident,
    /// Items that the fragment declares, under its own name.
    pub part: Lifecycle,
    /// Facts that the lifecycle has to declare.
    pub needs: Vec<Need>,
    /// Tokens of the fragment in the source.
    pub tokens: TokenStream,
}

impl Fragment {
    /// Returns the names that the fragment queries and does not declare.
    pub(crate) fn needed(&self) -> BTreeSet<String> {
        let needs = self.needs.iter();
        needs.map(|need| need.name.to_string()).collect()
    }

    /// Returns the fragment as a lifecycle of its own that declares everything it needs. Leaves out
    /// everything that concerns the conditions of the lifecycle that uses it.
    pub(crate) fn by_itself(&self) -> Lifecycle {
        let mut part = self.part.clone();
        part.name = Ident::new("K", part.name.span());
        (part.ready, part.implicit, part.kstatus) = (None, None, None);
        // Any input of the lifecycle may wake.
        let known: BTreeSet<String> = part.inputs.iter().map(|i| i.name.to_string()).collect();
        for state in &mut part.states {
            if let Some(wakes) = &mut state.wakes {
                wakes.retain(|name| name == "self" || known.contains(&name.to_string()));
                if wakes.is_empty() {
                    wakes.push(Ident::new("self", state.name.span()));
                }
            }
            // The lifecycle may declare as held what a deletion waits for.
            state.even_deleting = None;
        }
        let needs = self.needs.iter();
        part.facts.extend(needs.map(|need| Fact {
            of_request: Vec::new(),
            name: need.name.clone(),
            doc: String::new(),
            held: None,
            count: None,
            domain: need.domain.clone(),
            from: Vec::new(),
            given: Vec::new(),
        }));
        part
    }
}

/// `name: { A, B };`: a fact of the lifecycle that the fragment queries.
#[derive(Clone, Debug)]
pub struct Need {
    pub name: Ident,
    pub domain: Domain,
}

/// `use fragment;` or `use fragment::{A, B};` in a list where order counts.
#[derive(Clone, Debug)]
pub struct Mark {
    pub list: List,
    /// How many items of the lifecycle itself stand above.
    pub at: usize,
    pub fragment: Ident,
    /// The items that the place lists. `None` stands for all of them.
    pub names: Option<Vec<Ident>>,
}

/// A list where order counts.
#[derive(Clone, Debug)]
pub enum List {
    States,
    /// The clauses of the condition at this position.
    Condition(usize),
}
