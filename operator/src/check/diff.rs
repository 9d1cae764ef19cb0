//! The difference of two texts as `diff -u` writes it, for files of a few thousand lines.

/// Lines around a change that are shown.
const CONTEXT: usize = 3;
/// Upper bound on the size of a difference that is compared line by line. A larger difference is
/// shown as a whole.
const MOST: usize = 4_000_000;

/// A line of both texts, of the first, or of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    Both(&'a str),
    Old(&'a str),
    New(&'a str),
}

/// Returns the changes to a file as a unified diff. Returns an empty string if the file is
/// unchanged.
pub(super) fn unified(path: &str, before: &str, after: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let lines = lines(&old, &new);
    let hunks = hunks(&lines);
    if hunks.is_empty() {
        return String::new();
    }
    format!("--- {path}\n+++ {path}\n") + &hunks
}

fn lines<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let pairs = || old.iter().zip(new);
    let head = pairs().take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let backwards = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = backwards.take_while(|(old, new)| old == new).count();
    let (old_middle, last) = old_rest.split_at(old_rest.len() - tail);
    let new_middle = &new_rest[..new_rest.len() - tail];
    let mut all: Vec<Line<'a>> = old[..head].iter().copied().map(Line::Both).collect();
    all.extend(middle(old_middle, new_middle));
    all.extend(last.iter().copied().map(Line::Both));
    all
}

/// By the longest common part.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let gone = old.iter().copied().map(Line::Old);
    let come = new.iter().copied().map(Line::New);
    if old.len() * new.len() > MOST {
        return gone.chain(come).collect();
    }
    let width = new.len() + 1;
    let mut common = vec![0_usize; (old.len() + 1) * width];
    for (i, left) in old.iter().enumerate().rev() {
        for (j, right) in new.iter().enumerate().rev() {
            common[i * width + j] = match left == right {
                true => common[(i + 1) * width + j + 1] + 1,
                false => common[(i + 1) * width + j].max(common[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut all) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        let is_same = i < old.len() && j < new.len() && old[i] == new[j];
        let goes = j == new.len()
            || i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1];
        if is_same {
            all.push(Line::Both(old[i]));
        } else if goes {
            all.push(Line::Old(old[i]));
        } else {
            all.push(Line::New(new[j]));
        }
        i += usize::from(is_same || goes);
        j += usize::from(is_same || !goes);
    }
    all
}

/// Formats changes with their context; nearby changes share a hunk.
fn hunks(lines: &[Line<'_>]) -> String {
    let is_shown = |at: usize| {
        let (from, to) = (
            at.saturating_sub(CONTEXT),
            (at + CONTEXT + 1).min(lines.len()),
        );
        lines[from..to]
            .iter()
            .any(|line| !matches!(line, Line::Both(_)))
    };
    let (mut text, mut hunk) = (String::new(), Vec::new());
    let (mut old, mut new) = (1, 1);
    let mut begins = (1, 1);
    for (at, line) in lines.iter().enumerate() {
        if is_shown(at) {
            if hunk.is_empty() {
                begins = (old, new);
            }
            hunk.push(*line);
        } else if !hunk.is_empty() {
            text += &written(begins, &std::mem::take(&mut hunk));
        }
        old += usize::from(!matches!(line, Line::New(_)));
        new += usize::from(!matches!(line, Line::Old(_)));
    }
    if !hunk.is_empty() {
        text += &written(begins, &hunk);
    }
    text
}

fn written((old, new): (usize, usize), hunk: &[Line<'_>]) -> String {
    let olds = hunk
        .iter()
        .filter(|line| !matches!(line, Line::New(_)))
        .count();
    let news = hunk
        .iter()
        .filter(|line| !matches!(line, Line::Old(_)))
        .count();
    let mut text = format!("@@ -{old},{olds} +{new},{news} @@\n");
    for line in hunk {
        let (mark, line) = match line {
            Line::Both(line) => (' ', line),
            Line::Old(line) => ('-', line),
            Line::New(line) => ('+', line),
        };
        text.push(mark);
        text += line;
        if !line.ends_with('\n') {
            text += "\n\\ No newline at end of file\n";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn nothing_of_what_is_the_same() {
        assert_eq!(unified("a", "x\n", "x\n"), "");
    }

    #[test]
    fn changes_that_are_near_are_one_hunk_and_those_that_are_far_are_two() {
        let before: String = (1..=20).map(|number| format!("{number}\n")).collect();
        let near = before.replace("\n5\n", "\nfive\n").replace("\n8\n", "\n");
        let near = unified("a", &before, &near);
        assert_eq!(
            near,
            "--- a\n+++ a\n@@ -2,10 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n-8\n 9\n 10\n 11\n"
        );
        let far = before
            .replace("1\n2\n", "1\nnew\n2\n")
            .replace("\n20\n", "\n20");
        let far = unified("a", &before, &far);
        assert_eq!(
            far,
            "--- a\n+++ a\n@@ -1,4 +1,5 @@\n 1\n+new\n 2\n 3\n 4\n@@ -17,4 +18,4 @@\n 17\n 18\n 19\n-20\n+20\n\\ No newline at end of file\n"
        );
    }
}
