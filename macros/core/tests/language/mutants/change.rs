//! One change of a declaration: of its tokens, regardless of their meaning, or of its meaning.

use std::collections::BTreeSet;
use std::ops::Range;

use proc_macro2::{Ident, Punct, Spacing, Span, TokenTree};

use super::words::{Item, SpannedToken, Token, Unit, group_range};

/// Numbers that replay: one stream for each mutation.
#[derive(Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(number: u64) -> Self {
        Self(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    pub(crate) fn random_below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        let end = u64::try_from(end.max(1)).expect("small");
        usize::try_from(mixed % end).expect("below a usize")
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.random_below(all.len()))
    }
}

/// Kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MutationKind {
    TokenLost,
    TokenDoubled,
    TokensSwapped,
    TokenOfAnother,
    TokenOfAnotherInserted,
    GroupOpened,
    OtherName,
    OtherValue,
    Negated,
    OtherJoint,
    PartLost,
    ClauseLost,
    ItemLost,
    ItemDoubled,
    ItemMoved,
    ItemElsewhere,
    ItemOfAnother,
    Renamed,
    RenamedEverywhere,
}

impl MutationKind {
    pub(crate) const ALL: [Self; 19] = [
        Self::TokenLost,
        Self::TokenDoubled,
        Self::TokensSwapped,
        Self::TokenOfAnother,
        Self::TokenOfAnotherInserted,
        Self::GroupOpened,
        Self::OtherName,
        Self::OtherValue,
        Self::Negated,
        Self::OtherJoint,
        Self::PartLost,
        Self::ClauseLost,
        Self::ItemLost,
        Self::ItemDoubled,
        Self::ItemMoved,
        Self::ItemElsewhere,
        Self::ItemOfAnother,
        Self::Renamed,
        Self::RenamedEverywhere,
    ];

    /// Returns true if tokens are changed without regard to their meaning.
    pub(crate) fn is_of_tokens(self) -> bool {
        self <= Self::GroupOpened
    }
}

/// A unit after a change.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) words: Vec<SpannedToken>,
    /// Words of the unit that were removed, changed, or are adjacent to an insertion.
    pub(crate) touched: Vec<usize>,
    /// Names that came.
    pub(crate) came: BTreeSet<String>,
}

/// Words that begin a part of an item, which goes on to the next of them.
const CLAUSES: [&str; 20] = [
    "from",
    "given",
    "else",
    "wakes",
    "overdue",
    "goal",
    "when",
    "sets",
    "undo",
    "key",
    "every",
    "exclusive",
    "retain",
    "until",
    "event",
    "within",
    "by",
    "last_reported",
    "even",
    "claimed",
];

/// Applies the change at a random place, if one exists.
pub(crate) fn change(
    unit: &Unit,
    sort: MutationKind,
    other: &Unit,
    dice: &mut Dice,
) -> Option<Changed> {
    let change = Change { unit, other };
    match sort {
        MutationKind::TokenLost => change.replaced(change.token(dice)?, Vec::new()),
        MutationKind::TokenDoubled => {
            let token = change.token(dice)?;
            let twice = [&unit.words[token.clone()], &unit.words[token.clone()]].concat();
            change.replaced(token, twice)
        }
        MutationKind::TokensSwapped => change.swapped(dice),
        MutationKind::TokenOfAnother => change.brought(change.token(dice)?, change.foreign(dice)?),
        MutationKind::TokenOfAnotherInserted => {
            let at = change.token(dice)?.start;
            change.inserted(at, change.foreign(dice)?)
        }
        MutationKind::GroupOpened => change.opened(dice),
        MutationKind::OtherName => change.other_name(dice),
        MutationKind::OtherValue => change.other_value(dice),
        MutationKind::Negated => change.negated(dice),
        MutationKind::OtherJoint => change.other_joint(dice),
        MutationKind::PartLost => change.part_lost(dice),
        MutationKind::ClauseLost => change.clause_lost(dice),
        MutationKind::ItemLost => change.replaced(change.item(dice)?.words.clone(), Vec::new()),
        MutationKind::ItemDoubled => {
            let item = change.item(dice)?.words.clone();
            let twice = [&unit.words[item.clone()], &unit.words[item.clone()]].concat();
            change.replaced(item, twice)
        }
        MutationKind::ItemMoved => change.moved(dice, true),
        MutationKind::ItemElsewhere => change.moved(dice, false),
        MutationKind::ItemOfAnother => change.of_another(dice),
        MutationKind::Renamed => change.renamed(dice, false),
        MutationKind::RenamedEverywhere => change.renamed(dice, true),
    }
}

fn name(text: &str) -> SpannedToken {
    let name = match text.strip_prefix("r#") {
        Some(raw) => Ident::new_raw(raw, Span::call_site()),
        None => Ident::new(text, Span::call_site()),
    };
    SpannedToken::from_tree(TokenTree::Ident(name))
}

/// One mark of several characters.
fn marks(text: &str) -> Vec<SpannedToken> {
    let last = text.len() - 1;
    let mark = |(at, mark)| {
        let spacing = if at == last {
            Spacing::Alone
        } else {
            Spacing::Joint
        };
        SpannedToken::from_tree(TokenTree::Punct(Punct::new(mark, spacing)))
    };
    text.chars().enumerate().map(mark).collect()
}

struct Change<'a> {
    unit: &'a Unit,
    other: &'a Unit,
}

impl Change<'_> {
    /// Other words of the same declaration in place of some.
    fn replaced(&self, range: Range<usize>, by: Vec<SpannedToken>) -> Option<Changed> {
        let all = &self.unit.words;
        Some(Changed {
            words: [&all[..range.start], &by, &all[range.end..]].concat(),
            touched: range.collect(),
            came: BTreeSet::new(),
        })
    }

    /// New words in place of some, as if they stood there.
    fn brought(&self, range: Range<usize>, new: Vec<SpannedToken>) -> Option<Changed> {
        let span = self.unit.words[range.start].span();
        let names = new.iter().filter(|word| word.is_name());
        let came = names.map(|word| word.text.clone()).collect();
        let placed = new.into_iter().map(|word| word.with_span(span)).collect();
        Some(Changed {
            came,
            ..self.replaced(range, placed)?
        })
    }

    /// New words before one that stays.
    fn inserted(&self, at: usize, new: Vec<SpannedToken>) -> Option<Changed> {
        let mut changed = self.brought(at..at + 1, new)?;
        let next = changed.words.len() - (self.unit.words.len() - at - 1);
        changed.words.insert(next, self.unit.words[at].clone());
        Some(changed)
    }

    fn positions(&self, fits: impl Fn(usize, &SpannedToken) -> bool) -> Vec<usize> {
        let all = self.unit.words.iter().enumerate();
        all.filter(|(at, word)| fits(*at, word))
            .map(|(at, _)| at)
            .collect()
    }

    fn token(&self, dice: &mut Dice) -> Option<Range<usize>> {
        let at = *dice.pick(&self.positions(|_, word| !word.is_close()))?;
        Some(group_range(&self.unit.words, at))
    }

    /// A token of another declaration, or a group of one.
    fn foreign(&self, dice: &mut Dice) -> Option<Vec<SpannedToken>> {
        let at = dice.random_below(self.other.words.len());
        if self.other.words.get(at)?.is_close() {
            return Some(vec![name("oddity")]);
        }
        let range = group_range(&self.other.words, at);
        // A longer range is replaced by an item of another declaration.
        let short = range.len() <= 12;
        Some(if short {
            self.other.words[range].to_vec()
        } else {
            vec![name("oddity")]
        })
    }

    fn swapped(&self, dice: &mut Dice) -> Option<Changed> {
        let first = self.token(dice)?;
        let next = self
            .unit
            .words
            .get(first.end)
            .filter(|word| !word.is_close())?;
        debug_assert!(!next.is_close());
        let second = group_range(&self.unit.words, first.end);
        let both = [
            &self.unit.words[second.clone()],
            &self.unit.words[first.clone()],
        ]
        .concat();
        self.replaced(first.start..second.end, both)
    }

    /// Replaces a group by its content without brackets.
    fn opened(&self, dice: &mut Dice) -> Option<Changed> {
        let open = self.positions(|_, word| matches!(word.token, Token::Open(..)));
        let range = group_range(&self.unit.words, *dice.pick(&open)?);
        let inner = self.unit.words[range.start + 1..range.end - 1].to_vec();
        self.replaced(range, inner)
    }

    fn named(&self, at: usize, text: &str) -> Option<Changed> {
        let is_other = self.unit.words[at].text != text;
        is_other.then(|| self.brought(at..at + 1, vec![name(text)]))?
    }

    fn other_name(&self, dice: &mut Dice) -> Option<Changed> {
        let names = self.positions(|_, word| word.is_name());
        let at = *dice.pick(&names)?;
        let is_upper = |at: usize| self.unit.words[at].text.starts_with(char::is_uppercase);
        let like: Vec<usize> = names
            .iter()
            .copied()
            .filter(|other| is_upper(*other) == is_upper(at))
            .collect();
        self.named(at, &self.unit.words[*dice.pick(&like)?].text)
    }

    /// Another value that the same fact has anywhere, where it is compared, or set.
    fn other_value(&self, dice: &mut Dice) -> Option<Changed> {
        let text = |at: usize| {
            self.unit
                .words
                .get(at)
                .map_or("", |word| word.text.as_str())
        };
        let compared =
            |at: usize| at >= 3 && text(at - 1) == "=" && matches!(text(at - 2), "=" | "!");
        let set = |at: usize| at >= 2 && text(at - 1) == "=";
        let fact = |at: usize| {
            if compared(at) {
                text(at - 3)
            } else {
                text(at - 2)
            }
        };
        let places = self.positions(|at, word| word.is_name() && (compared(at) || set(at)));
        let at = *dice.pick(&places)?;
        let same = places
            .iter()
            .copied()
            .filter(|other| fact(*other) == fact(at));
        let same: Vec<usize> = same.collect();
        self.named(at, text(*dice.pick(&same)?))
    }

    fn negated(&self, dice: &mut Dice) -> Option<Changed> {
        let words = &self.unit.words;
        let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
        let before = |at: usize| {
            matches!(
                text(at.wrapping_sub(1)),
                "when" | "given" | "&" | "|" | "(" | "until"
            )
        };
        let bare = |at: usize| words[at].is_name() && before(at);
        let at = *dice.pick(&self.positions(|at, _| bare(at)))?;
        let is_equal = text(at + 1) == "=" && text(at + 2) == "=";
        if is_equal {
            return self.brought(at + 1..at + 3, marks("!="));
        }
        match (text(at + 1), text(at + 2)) {
            ("!", "=") => self.brought(at + 1..at + 3, marks("==")),
            ("in", _) => self.brought(at + 1..at + 2, vec![name("not"), name("in")]),
            ("not", "in") => self.brought(at + 1..at + 3, vec![name("in")]),
            _ => self.inserted(at, marks("!")),
        }
    }

    /// Returns the places at which two marks form one joint.
    fn joints(&self) -> Vec<usize> {
        let words = &self.unit.words;
        let is = |at: usize, mark: &str| words.get(at).is_some_and(|word| word.text == mark);
        self.positions(|at, _| {
            ["&", "|"]
                .iter()
                .any(|mark| is(at, mark) && is(at + 1, mark))
        })
    }

    fn other_joint(&self, dice: &mut Dice) -> Option<Changed> {
        let at = *dice.pick(&self.joints())?;
        let other = if self.unit.words[at].text == "&" {
            "||"
        } else {
            "&&"
        };
        self.brought(at..at + 2, marks(other))
    }

    /// A predicate behind a joint, or a name of a list behind its comma.
    fn part_lost(&self, dice: &mut Dice) -> Option<Changed> {
        let commas = self.positions(|_, word| word.text == ",");
        let joints = self.joints();
        let at = *dice.pick(&[commas, joints].concat())?;
        let mut end = if self.unit.words[at].text == "," {
            at + 1
        } else {
            at + 2
        };
        while let Some(word) = self.unit.words.get(end) {
            let text = word.text.as_str();
            let ends = matches!(text, "," | "&" | "|" | ";") || word.is_close();
            if ends
                || CLAUSES.contains(&text)
                || text == "=" && self.unit.words.get(end + 1).is_some_and(|w| w.text == ">")
            {
                break;
            }
            end = group_range(&self.unit.words, end).end;
        }
        self.replaced(at..end, Vec::new())
    }

    fn clause_lost(&self, dice: &mut Dice) -> Option<Changed> {
        let at = *dice.pick(&self.positions(|_, word| CLAUSES.contains(&word.text.as_str())))?;
        let mut end = at + 1;
        while let Some(word) = self.unit.words.get(end) {
            let text = word.text.as_str();
            if word.is_close()
                || text == ";"
                || CLAUSES.contains(&text)
                || text == "=" && self.unit.words.get(end + 1).is_some_and(|w| w.text == ">")
            {
                break;
            }
            end = group_range(&self.unit.words, end).end;
        }
        self.replaced(at..end, Vec::new())
    }

    fn items(&self) -> Vec<&Item> {
        let is_whole = |item: &&Item| !item.is_head && self.balanced(&item.words);
        self.unit.items.iter().filter(is_whole).collect()
    }

    /// The last item of a section has its brace.
    fn balanced(&self, range: &Range<usize>) -> bool {
        let depth = |word: &SpannedToken| match word.token {
            Token::One(_) => 0,
            Token::Open(..) => 1,
            Token::Close(_) => -1,
        };
        self.unit.words[range.clone()]
            .iter()
            .map(depth)
            .sum::<i32>()
            == 0
    }

    fn item(&self, dice: &mut Dice) -> Option<&Item> {
        dice.pick(&self.items()).copied()
    }

    /// Before another item, of its own section or of another.
    fn moved(&self, dice: &mut Dice, within: bool) -> Option<Changed> {
        let item = self.item(dice)?;
        let fits = |to: &&&Item| {
            (to.section == item.section) == within && to.words.start != item.words.start
        };
        let items = self.items();
        let targets: Vec<&Item> = items.iter().filter(fits).copied().collect();
        let to = dice.pick(&targets)?.words.start;
        let words = &self.unit.words;
        let moved = words[item.words.clone()].to_vec();
        let all = if to < item.words.start {
            [
                &words[..to],
                &moved,
                &words[to..item.words.start],
                &words[item.words.end..],
            ]
            .concat()
        } else {
            [
                &words[..item.words.start],
                &words[item.words.end..to],
                &moved,
                &words[to..],
            ]
            .concat()
        };
        let mut touched: Vec<usize> = item.words.clone().collect();
        touched.push(to);
        Some(Changed {
            words: all,
            touched,
            came: BTreeSet::new(),
        })
    }

    /// An item of another declaration, where its section is.
    fn of_another(&self, dice: &mut Dice) -> Option<Changed> {
        let theirs = Change {
            unit: self.other,
            other: self.other,
        };
        let item = theirs.item(dice)?;
        let items = self.items();
        let targets: Vec<&Item> = items
            .iter()
            .filter(|to| to.section == item.section)
            .copied()
            .collect();
        let at = dice.pick(&targets)?.words.start;
        self.inserted(at, self.other.words[item.words.clone()].to_vec())
    }

    fn renamed(&self, dice: &mut Dice, everywhere: bool) -> Option<Changed> {
        let at = *dice.pick(&self.positions(|_, word| word.is_name()))?;
        let old = self.unit.words[at].text.clone();
        let new = format!("{old}x");
        if !everywhere {
            return self.named(at, &new);
        }
        let places = self.positions(|_, word| word.is_name() && word.text == old);
        let mut words = self.unit.words.clone();
        for place in &places {
            words[*place] = name(&new).with_span(words[*place].span());
        }
        Some(Changed {
            words,
            touched: places,
            came: BTreeSet::from([new]),
        })
    }
}
