//! Line-by-line difference between two texts, with one line of context on either side. Knows
//! nothing of the meaning of the texts.

/// As `diff` writes it, without the places.
pub(crate) fn render_diff(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let lines = marked(&before, &after);
    let is_near = |at: usize| {
        let near = at.saturating_sub(1)..(at + 2).min(lines.len());
        lines[near].iter().any(|(mark, _)| *mark != ' ')
    };
    let mut shown = String::new();
    let mut left_out = false;
    for (at, (mark, line)) in lines.iter().enumerate() {
        if is_near(at) {
            if left_out && !shown.is_empty() {
                shown += " ..\n";
            }
            left_out = false;
            shown += format!("{mark}{line}").trim_end();
            shown.push('\n');
        } else {
            left_out = true;
        }
    }
    shown
}

/// Each line with how it changes: those of a longest common part stay.
fn marked<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<(char, &'a str)> {
    let mut common = vec![vec![0_usize; after.len() + 1]; before.len() + 1];
    for (i, old) in before.iter().enumerate().rev() {
        for (j, new) in after.iter().enumerate().rev() {
            common[i][j] = if old == new {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < before.len() || j < after.len() {
        let goes = i < before.len();
        let comes = j < after.len();
        if goes && comes && before[i] == after[j] {
            lines.push((' ', before[i]));
            (i, j) = (i + 1, j + 1);
        } else if goes && (!comes || common[i + 1][j] >= common[i][j + 1]) {
            lines.push(('-', before[i]));
            i += 1;
        } else {
            lines.push(('+', after[j]));
            j += 1;
        }
    }
    lines
}

#[test]
fn what_is_far_from_a_change_is_left_out() {
    let (before, after) = ("a\nb\nc\nd\ne\nf\ng\n", "a\nB\nc\nd\ne\nf\nG\n");
    assert_eq!(
        render_diff(before, after),
        " a\n-b\n+B\n c\n ..\n f\n-g\n+G\n"
    );
    assert_eq!(render_diff("a\n", "a\n"), "");
    assert_eq!(render_diff("", "a\n"), "+a\n");
}
