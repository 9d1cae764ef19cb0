//! Mutations of the predicates of an item: an atom is negated or left out, or one of its values is.

use super::Changed;

/// Returns the start and the end of each predicate in an item.
pub(super) fn predicates(section: &str, item: &[String]) -> Vec<(usize, usize)> {
    let named = |at: usize| {
        let promise = section == "promises" && item[at] == ":";
        at == 1 && item[at] == "=" && section == "facts"
            || promise && item.iter().all(|word| word != "when")
    };
    let begins = |at: usize| {
        let words = ["when", "given", "until", "while"];
        let never = section == "facts" && at == 0 && item[at] == "never";
        words.contains(&item[at].as_str()) || never || named(at)
    };
    let ends = |word: &str| {
        let words = [
            ";", "=>", "sets", "from", "given", "else", "wakes", "overdue", "undo", "when",
            "until", "while",
        ];
        let is_key = section == "effects" && word == "key";
        words.contains(&word) || is_key || word.starts_with('"')
    };
    let starts = (0..item.len()).filter(|at| begins(*at)).map(|at| at + 1);
    let ranges = starts.map(|start| {
        let length = item[start..].iter().position(|word| ends(word));
        (start, start + length.unwrap_or_default())
    });
    ranges.collect()
}

fn is_joint(word: &str) -> bool {
    word == "&&" || word == "||"
}

/// Returns the atoms of a predicate: the parts between `&&` and `||`, without the brackets around
/// several of them.
fn atoms(item: &[String], (start, end): (usize, usize)) -> Vec<(usize, usize)> {
    let joints = (start..end).filter(|at| is_joint(&item[*at]));
    let joints: Vec<usize> = joints.collect();
    let starts = std::iter::once(start).chain(joints.iter().map(|at| at + 1));
    let ends = joints.iter().copied().chain([end]);
    starts
        .zip(ends)
        .map(|of| without_brackets(item, of))
        .collect()
}

fn without_brackets(item: &[String], (mut start, mut end): (usize, usize)) -> (usize, usize) {
    while item[start] == "(" || item[start] == "!" && item[start + 1] == "(" {
        start += 1;
    }
    let open = |range: &[String], bracket: &str| range.iter().filter(|w| *w == bracket).count();
    while open(&item[start..end], ")") > open(&item[start..end], "(") {
        end -= 1;
    }
    (start, end)
}

pub(super) fn predicates_changed(section: &str, item: &[String]) -> Vec<Changed> {
    let mut all = Vec::new();
    for predicate in predicates(section, item) {
        let atoms = atoms(item, predicate);
        for &(start, end) in &atoms {
            let atom = item[start..end].join(" ");
            let negated = replaced(item, start, end, &flipped(&item[start..end]));
            all.push((format!("flip `{atom}`"), negated));
            // The operator before it goes too, or that after the first.
            let before = start > predicate.0 && is_joint(&item[start - 1]);
            let after = end < predicate.1 && is_joint(&item[end]);
            let dropped = match (before, after) {
                (true, _) => Some((start - 1, end)),
                (false, true) => Some((start, end + 1)),
                (false, false) => None,
            };
            if let Some((from, to)) = dropped {
                all.push((format!("drop `{atom}`"), replaced(item, from, to, &[])));
            }
            all.extend(members(item, start, end));
        }
    }
    all
}

fn flipped(atom: &[String]) -> Vec<String> {
    let mut atom = atom.to_vec();
    let compares = |word: &String| word == "==" || word == "!=" || word == "in";
    match atom.iter().position(compares) {
        Some(at) if atom[at] == "==" => "!=".clone_into(&mut atom[at]),
        Some(at) if atom[at] == "!=" => "==".clone_into(&mut atom[at]),
        Some(at) if atom[at - 1] == "not" => drop(atom.remove(at - 1)),
        Some(at) => atom.insert(at, "not".to_owned()),
        None if atom[0] == "!" => drop(atom.remove(0)),
        None => atom.insert(0, "!".to_owned()),
    }
    atom
}

/// Each value of `in { .. }` left out.
fn members(item: &[String], start: usize, end: usize) -> Vec<Changed> {
    let Some(open) = (start..end).find(|at| item[*at] == "{") else {
        return Vec::new();
    };
    let members = (open + 1..end - 1).filter(|at| item[*at] != ",");
    let dropped = members.map(|at| {
        let (from, to) = match item[at + 1].as_str() {
            "," => (at, at + 2),
            _ => (at - 1, at + 1),
        };
        let atom = item[start..end].join(" ");
        let how = format!("drop {} of `{atom}`", item[at]);
        (how, replaced(item, from, to, &[]))
    });
    dropped.collect()
}

pub(super) fn replaced(item: &[String], start: usize, end: usize, with: &[String]) -> Vec<String> {
    [&item[..start], with, &item[end..]].concat()
}
