//! Fragments: copies placed items to the place that the lifecycle declares, and all others to the
//! front of their section.

use super::Parser;
use super::tokens::Parsed;
use crate::syntax::{Clause, Life};

/// One `fragment! { fragment name; .. }`.
pub(super) struct Fragment {
    name: String,
    part: Life,
    /// States and conditions of the fragment that a lifecycle places.
    placed: Vec<String>,
    is_used: bool,
}

impl Parser {
    pub(super) fn fragment(&mut self) -> Parsed<()> {
        for word in ["fragment", "!", "{", "fragment"] {
            self.cursor.need(word)?;
        }
        let name = self.cursor.ident()?;
        self.cursor.need(";")?;
        let before = std::mem::take(&mut self.life);
        while !self.cursor.eat("}") {
            let section = self.cursor.ident()?;
            self.cursor.need("{")?;
            match section.as_str() {
                // Its needs are resolved at the place of use.
                "needs" => self.skip_block()?,
                _ => self.section(&section)?,
            }
        }
        self.fragments.push(Fragment {
            name,
            part: std::mem::replace(&mut self.life, before),
            placed: Vec::new(),
            is_used: false,
        });
        Ok(())
    }

    /// `use name;` beside the sections.
    pub(super) fn used(&mut self) -> Parsed<()> {
        let name = self.cursor.ident()?;
        let known = self.fragments.iter_mut().find(|one| one.name == name);
        match known {
            Some(fragment) => fragment.is_used = true,
            None => self.life.misused.push(("LC111", name)),
        }
        self.cursor.need(";")
    }

    /// `use name;`, `use name::State;` or `use name::{A, B};` among the states.
    pub(super) fn shared_states(&mut self) -> Parsed<()> {
        let name = self.cursor.ident()?;
        let mut wanted = None;
        if self.cursor.eat(":") {
            self.cursor.need(":")?;
            wanted = Some(if self.cursor.eat("{") {
                let names = self.cursor.idents()?;
                self.cursor.need("}")?;
                names
            } else {
                vec![self.cursor.ident()?]
            });
        }
        self.cursor.need(";")?;
        let Some(fragment) = self.fragments.iter_mut().find(|one| one.name == name) else {
            self.life.misused.push(("LC111", name));
            return Ok(());
        };
        let all = fragment.part.states.iter().map(|state| state.name.clone());
        for wanted in wanted.unwrap_or_else(|| all.collect()) {
            if let Some(state) = fragment.part.state(&wanted) {
                self.life.states.push(state.clone());
                fragment.placed.push(wanted);
            } else {
                self.life.misused.push(("LC001", name.clone()));
            }
        }
        Ok(())
    }

    /// `use name;` among the clauses of a condition.
    pub(super) fn shared_clauses(&mut self, condition: &str) -> Parsed<Vec<Clause>> {
        let name = self.cursor.ident()?;
        self.cursor.need(";")?;
        let Some(fragment) = self.fragments.iter_mut().find(|one| one.name == name) else {
            self.life.misused.push(("LC111", name));
            return Ok(Vec::new());
        };
        let mut theirs = fragment.part.conditions.iter();
        let Some(theirs) = theirs.find(|one| one.name == condition) else {
            self.life.misused.push(("LC112", name));
            return Ok(Vec::new());
        };
        fragment.placed.push(condition.to_owned());
        Ok(theirs.clauses.clone())
    }

    /// Everything that has no place of its own.
    pub(super) fn share(&mut self) {
        for fragment in std::mem::take(&mut self.fragments).into_iter().rev() {
            if fragment.is_used {
                share(&mut self.life, fragment);
            }
        }
    }
}

fn share(life: &mut Life, fragment: Fragment) {
    let (part, placed) = (fragment.part, fragment.placed);
    if part.states.iter().any(|one| !placed.contains(&one.name)) {
        life.misused.push(("LC112", fragment.name.clone()));
    }
    life.inputs.splice(0..0, part.inputs);
    life.lets.splice(0..0, part.lets);
    let facts = part.facts.iter().map(|fact| fact.name.clone());
    let names = part.derived.iter().map(|(name, _)| name.clone());
    life.offered.extend(facts.chain(names));
    life.facts.splice(0..0, part.facts);
    life.derived.splice(0..0, part.derived);
    life.nevers.splice(0..0, part.nevers);
    life.promises.splice(0..0, part.promises);
    life.fields.splice(0..0, part.fields);
    life.infinite.extend(part.infinite);
    for (at, condition) in part.conditions.into_iter().enumerate() {
        if placed.contains(&condition.name) {
            continue;
        }
        if life.conditions.iter().any(|one| one.name == condition.name) {
            life.misused.push(("LC112", condition.name));
        } else {
            let at = at.min(life.conditions.len());
            life.conditions.insert(at, condition);
        }
    }
    let told: Vec<&str> = life.reasons.iter().map(|(place, _)| *place).collect();
    let mut reasons = part.reasons;
    reasons.retain(|(place, _)| match *place {
        "ready" => life.ready.is_none(),
        _ => life.implicit.is_none(),
    });
    reasons.retain(|(place, _)| !told.contains(place));
    life.reasons.extend(reasons);
    life.columns.splice(0..0, part.columns);
    life.ready = life.ready.take().or(part.ready);
    life.implicit = life.implicit.take().or(part.implicit);
    if life.kstatus && part.kstatus {
        life.misused.push(("LC003", "kstatus".to_owned()));
    }
    life.kstatus |= part.kstatus;
}
