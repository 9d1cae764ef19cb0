//! Allowed places of a finding: the required relation between a token and the change that caused
//! the finding.

use std::collections::BTreeSet;

use lifecycle_macros_core::check::RULES;
use lifecycle_macros_core::errors::Diagnostic;
use lifecycle_macros_core::rule::Stage;

use super::change::Changed;
use super::declarations::Declaration;
use super::words::{GRAMMAR, Item, SpannedToken, Unit, is_common};

/// Subjects of a finding that concerns no item.
const NOUNS: &str = "lifecycle fragment file transitions ready status rpc teardown retired states effects facts observe \
    promises properties never kstatus implicit lock allow needs call apply delete adopt refused";

/// Number of items over which a change can affect findings in worlds: from a fact to the effect
/// that queries it, and to the state of its refusal.
const FURTHER: usize = 2;

/// States that every resource has and none declares.
const GIVEN: [&str; 3] = ["Refused", "Deleting", "Regions"];

/// A declaration that was changed.
pub(crate) struct Places<'a> {
    declaration: &'a Declaration,
    unit: usize,
    changed: &'a Changed,
    /// Items that were changed.
    touched: BTreeSet<usize>,
    /// Related names: all that were touched or inserted, and those of the affected items.
    near: BTreeSet<&'a str>,
    /// Those of items that lead there as well.
    further: BTreeSet<&'a str>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(declaration: &'a Declaration, unit: usize, changed: &'a Changed) -> Self {
        let own = &declaration.units[unit];
        let of = |word: &usize| own.item_of((*word).min(own.words.len() - 1));
        let touched: BTreeSet<usize> = changed.touched.iter().map(of).collect();
        let touched = with_sections(own, touched, changed);
        let mut near: BTreeSet<&str> = changed.came.iter().map(String::as_str).collect();
        near.extend(
            changed
                .touched
                .iter()
                .map(|word| own.words[*word].text.as_str()),
        );
        for item in &touched {
            near.extend(names(own.of_item(*item)));
            // The following item may be parsed with it.
            near.extend(
                own.items
                    .get(item + 1)
                    .map(|_| own.of_item(item + 1))
                    .into_iter()
                    .flat_map(names),
            );
        }
        let mut further = near.clone();
        // A precondition is one of every call.
        let is_call = |item: &&Item| item.section == "rpc";
        let calls = own.items.iter().filter(is_call);
        if touched.iter().any(|item| is_call(&&own.items[*item])) {
            further.extend(calls.flat_map(|item| names(&own.words[item.words.clone()])));
        }
        for _ in 0..FURTHER {
            let reached = further.clone();
            for unit in &declaration.units {
                let items = (0..unit.items.len()).map(|item| unit.of_item(item));
                let next = items.filter(|item| names(item).any(|name| reached.contains(name)));
                further.extend(next.flat_map(names));
            }
        }
        Self {
            declaration,
            unit,
            changed,
            touched,
            near,
            further,
        }
    }

    /// Returns the error in the place of a finding.
    pub(crate) fn wrong(&self, found: &Diagnostic) -> Option<&'static str> {
        let mut units = self.declaration.units.iter().enumerate();
        let place = units.find_map(|(at, unit)| Some((at, unit, unit.word_at(found.span)?)));
        let Some((at, unit, word)) = place else {
            return Some("it points at no token of the declaration");
        };
        let item = unit.item_of(word);
        let is_touched = at == self.unit && self.is_touched(item);
        // Two that nothing parts any more are one.
        let last = unit.item_of(unit.last_of(found.span));
        let is_one = last == item || is_touched && last == item + 1 && self.is_touched(last);
        if !is_one {
            return Some("it points at several items");
        }
        if found.code == "LC000" {
            if !is_touched {
                return Some("syntax is refused in an item that was not touched");
            }
            if self.is_before(found, unit, word) {
                return Some("syntax is refused before the change");
            }
        }
        let here = unit.of_item(item);
        let is_of_all = Self::is_of_all(found, &unit.items[item]);
        let is_told =
            is_touched || is_of_all || self.says_near(found) || self.has_near(found, here);
        if !is_told && !self.is_head_of_touched(at, &unit.items[item]) && !self.is_use(here) {
            return Some("it has nothing to do with the change");
        }
        self.misnamed(found, (item, is_touched), unit)
    }

    /// Returns true if the item is touched, or if a change before it affects its parsing.
    fn is_touched(&self, item: usize) -> bool {
        self.touched.contains(&item) || item > 0 && self.touched.contains(&(item - 1))
    }

    /// A token that is missing is missed behind the one before it. Of a type the first token is shown, and of two states the mark between them.
    fn is_before(&self, found: &Diagnostic, unit: &Unit, word: usize) -> bool {
        let first = self
            .changed
            .touched
            .iter()
            .min()
            .copied()
            .unwrap_or_default();
        let is_whole = found.message.starts_with("expected a type")
            || found.message.contains("an item ends with");
        word + 1 < first && !(is_whole && unit.item_of(word) == unit.item_of(first))
    }

    /// Returns true if the finding is about an item near the change. A finding in worlds and in
    /// their graph may concern an item that reads the change through another item.
    fn has_near(&self, found: &Diagnostic, words: &[SpannedToken]) -> bool {
        let mut rules = RULES.iter();
        let is_of_names = rules.any(|rule| rule.code == found.code && rule.stage == Stage::Names);
        let reached = if is_of_names {
            &self.near
        } else {
            &self.further
        };
        let mut said = names(words).chain(identifiers(&found.message));
        said.any(|name| reached.contains(name))
    }

    /// Returns true if the words of the finding name a touched item.
    fn says_near(&self, found: &Diagnostic) -> bool {
        let notes = found.notes.iter().map(|(_, note)| note.as_str());
        let texts = [found.item.as_str(), &found.message]
            .into_iter()
            .chain(notes)
            .chain(found.help.as_deref());
        let is_near = |name: &str| {
            let mut near = self.near.iter();
            near.any(|near| is_same(near, name))
                || self.near.contains(target(name))
                || self.is_touched_word(name)
        };
        texts.flat_map(identifiers).any(is_near)
    }

    /// Returns true if the name is a word of the grammar in a touched item.
    fn is_touched_word(&self, name: &str) -> bool {
        let own = &self.declaration.units[self.unit];
        let words = self.touched.iter().flat_map(|item| own.of_item(*item));
        let mut same = words.filter(|word| word.text == name);
        same.any(|_| GRAMMAR.split_whitespace().any(|one| one == name))
    }

    /// Returns true for a finding that any change may cause. An edge depends on everything, a lock
    /// is compared with everything, and an allowed warning may come from any item. All facts
    /// determine the number of worlds.
    fn is_of_all(found: &Diagnostic, item: &Item) -> bool {
        let is_edge = item.section == "transitions" && found.code == "LC031";
        is_edge || matches!(found.code, "LC004" | "LC090" | "LC091")
    }

    /// Returns true for the head of a touched section: a finding about a missing item points at the
    /// section name.
    fn is_head_of_touched(&self, at: usize, item: &Item) -> bool {
        let own = &self.declaration.units[self.unit];
        let mut touched = self.touched.iter().map(|one| &own.items[*one]);
        at == self.unit
            && item.is_head
            && touched.any(|one| one.is_head || one.section == item.section)
    }

    /// Returns true if these words are the place at which a lifecycle uses the changed fragment.
    fn is_use(&self, words: &[SpannedToken]) -> bool {
        let fragment = &self.declaration.units[self.unit];
        let name = fragment
            .words
            .iter()
            .skip_while(|word| word.text != "fragment")
            .nth(1);
        let is_use = words.iter().any(|word| word.text == "use");
        is_use && name.is_some_and(|name| words.iter().any(|word| word.text == name.text))
    }

    /// Returns an error if the finding names something that does not exist, or points at an item
    /// that it does not describe.
    fn misnamed(
        &self,
        found: &Diagnostic,
        (item, is_touched): (usize, bool),
        unit: &Unit,
    ) -> Option<&'static str> {
        if !identifiers(&found.item).all(|name| self.is_known(name)) {
            return Some("it is about something that is not there");
        }
        let quoted: Vec<&str> = found.message.split('`').skip(1).step_by(2).collect();
        let is_there =
            |text: &&str| identifiers(text).any(|name| self.is_known(name)) || is_mark(text);
        let unquoted = [
            "found the end of the block",
            "doc comment",
            "expected a type",
        ];
        let is_end = unquoted.iter().any(|text| found.message.contains(text));
        let help = found.help.as_deref().unwrap_or_default();
        let mut told = quoted
            .iter()
            .copied()
            .chain(help.split('`').skip(1).step_by(2));
        let is_named = identifiers(&found.item).any(|name| !is_common(name));
        if !is_end && !is_named && !told.any(|text| is_there(&text)) {
            return Some("it names nothing");
        }
        let words = unit.of_item(item);
        let has = |name: &str| {
            let mut texts = words.iter().map(|word| word.text.as_str());
            texts.any(|text| text == name || text == target(name) || text.trim_matches('"') == name)
        };
        // A message that names nothing leaves that to the help.
        let help = help
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|_| quoted.is_empty());
        let said = quoted
            .iter()
            .copied()
            .chain([found.item.as_str()])
            .chain(help);
        let mut said = said.flat_map(|text| identifiers(text).chain([text]));
        let is_said = said.any(|name| has(name) || self.changed.came.contains(target(name)));
        let is_head = unit.items[item].is_head;
        let is_given = item == 0 && GIVEN.contains(&found.item.as_str());
        let is_noun =
            identifiers(&found.item).all(|name| NOUNS.split_whitespace().any(|noun| noun == name));
        // The item after a change may be parsed with it.
        let is_syntax = is_touched && (found.code == "LC000" || !self.touched.contains(&item));
        (!is_said && !is_head && !is_given && !is_noun && !is_syntax)
            .then_some("it says nothing of the item at which it points")
    }

    fn is_known(&self, name: &str) -> bool {
        let is_word = |word: &SpannedToken| {
            let mut all = identifiers(&word.text);
            all.any(|one| one == name || one == target(name))
        };
        let units = self.declaration.units.iter();
        let mut all = units
            .flat_map(|unit| &unit.words)
            .chain(&self.changed.words);
        let is_noun = || NOUNS.split_whitespace().any(|noun| noun == name);
        all.any(is_word) || is_noun() || GIVEN.contains(&name) || self.declaration.is_locked(name)
    }
}

/// Adds all items of a section with a touched name, and all items if the kind of the lifecycle is
/// lost.
fn with_sections(own: &Unit, touched: BTreeSet<usize>, changed: &Changed) -> BTreeSet<usize> {
    let kinds = ["resource", "volume", "fragment"];
    let texts = changed
        .touched
        .iter()
        .map(|word| own.words[*word].text.as_str());
    let mut texts = texts.chain(changed.came.iter().map(String::as_str));
    if texts.any(|text| kinds.contains(&text)) {
        return (0..own.items.len()).collect();
    }
    let heads = touched
        .iter()
        .map(|item| &own.items[*item])
        .filter(|item| item.is_head);
    let sections: BTreeSet<&str> = heads.map(|item| item.section.as_str()).collect();
    let all = own.items.iter().enumerate();
    let of_heads = all.filter(|(_, item)| sections.contains(item.section.as_str()));
    let of_heads: Vec<usize> = of_heads.map(|(at, _)| at).collect();
    touched.into_iter().chain(of_heads).collect()
}

/// Returns the names of an item that its author chose.
fn names(words: &[SpannedToken]) -> impl Iterator<Item = &str> {
    let chosen = words.iter().filter(|word| word.is_chosen);
    chosen.map(|word| word.text.as_str())
}

/// Returns true if both are one name, in the spelling of Rust or of Kubernetes.
fn is_same(name: &str, other: &str) -> bool {
    name == other || name.contains('_') && name.replace('_', "").eq_ignore_ascii_case(other)
}

/// Returns the target of an effect without a name of its own.
fn target(name: &str) -> &str {
    let verbs = ["apply_", "create_", "delete_", "adopt_", "call_", "note_"];
    verbs
        .iter()
        .find_map(|verb| name.strip_prefix(verb))
        .unwrap_or(name)
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    parts.filter(|part| !part.is_empty())
}

fn is_mark(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_punctuation())
}
