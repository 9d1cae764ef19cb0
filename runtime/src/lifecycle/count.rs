//! Facts that count: one answer of four, from one answer for each member of a set.

use super::answer::{Answer, Because};

/// Answers in the order in which a declaration names them.
const EMPTY: u8 = 0;
const NONE: u8 = 1;
const SOME: u8 = 2;
const ALL: u8 = 3;

/// How many members are quoted.
const QUOTED: usize = 3;

/// Evaluates each member in order. The answer is that there is no member, or that none, some or all
/// members satisfy it. The first few sentences are included, for members that have one, and the
/// number of the others.
pub fn count<T>(members: &[T], holds: impl Fn(&T) -> Because<bool>) -> Answer {
    let (mut yes, mut said, mut objects) = (0, Vec::new(), Vec::new());
    let mut more = 0;
    for member in members {
        let answer = holds(member);
        yes += usize::from(answer.value);
        if answer.sentence.is_empty() || said.contains(&answer.sentence) {
            continue;
        }
        if said.len() < QUOTED {
            said.push(answer.sentence);
            objects.extend(answer.objects);
        } else {
            more += 1;
        }
    }
    if more > 0 {
        said.push(format!("and {more} more"));
    }
    let value = match yes {
        _ if members.is_empty() => EMPTY,
        0 => NONE,
        yes if yes < members.len() => SOME,
        _ => ALL,
    };
    Because {
        value,
        sentence: said.join("\n"),
        objects,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the count of members, each given as its result and its sentence.
    #[track_caller]
    fn check(members: &[(bool, &str)], value: u8, sentence: &str) {
        let answer = count(members, |(holds, said)| Because::new(*holds, *said));
        assert_eq!((answer.value, answer.sentence.as_str()), (value, sentence));
    }

    #[test]
    fn four_answers_tell_how_many_hold() {
        check(&[], EMPTY, "");
        check(&[(false, "")], NONE, "");
        check(&[(false, ""), (false, "")], NONE, "");
        check(&[(true, ""), (false, "")], SOME, "");
        check(&[(false, ""), (true, "")], SOME, "");
        check(&[(true, "")], ALL, "");
        check(&[(true, ""), (true, "")], ALL, "");
    }

    #[test]
    fn the_first_few_sentences_are_said_and_how_many_follow() {
        check(&[(true, ""), (false, "b waits")], SOME, "b waits");
        check(&[(true, "a"), (true, "b"), (true, "c")], ALL, "a\nb\nc");
        let many: Vec<String> = (0..10).map(|n| format!("pod {n} waits")).collect();
        let many: Vec<(bool, &str)> = many.iter().map(|said| (false, said.as_str())).collect();
        let said = "pod 0 waits\npod 1 waits\npod 2 waits\nand 7 more";
        check(&many, NONE, said);
    }

    #[test]
    fn what_several_say_is_said_once() {
        check(&[(false, "no node"), (false, "no node")], NONE, "no node");
    }
}
