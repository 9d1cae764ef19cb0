//! Lifecycles with thousands of states: the cost of the checks grows linearly with the text, even
//! if thousands of names are wrong.

use lifecycle_macros_core::check;
use lifecycle_macros_core::errors::Diagnostic;

use super::shipped::body_of;

const WIDE: usize = 50;
const LONG: usize = 60;

/// A field of three thousand states through which promises lead along one side.
fn field() -> String {
    let values = |name: &str, count: usize| {
        let all: Vec<String> = (0..count).map(|at| format!("{name}{at}")).collect();
        all.join(", ")
    };
    let (mut states, mut edges, mut promises) = (String::new(), String::new(), String::new());
    for b in 0..WIDE {
        for a in 0..LONG - 1 {
            states += &format!("S{a}x{b} when a == A{a} && b == B{b} => Pending;\n");
            edges += &format!("S{a}x{b} -> S{}x{b};\n", a + 1);
        }
        let a = LONG - 1;
        states += &format!("goal S{a}x{b} when a == A{a} && b == B{b} => Ready;\n");
    }
    for a in 0..LONG - 1 {
        promises += &format!("p{a}: a == A{a} sets {{ a = A{} }};\n", a + 1);
    }
    let (a, b, last) = (values("A", LONG), values("B", WIDE), LONG - 1);
    format!(
        "lifecycle! {{
            resource Field;
            observe {{ config: ConfigMap by name meta.name; other: ConfigMap by name spec.other; }}
            facts {{ a: {{ {a} }} from config given config; b: {{ {b} }} from other given other; }}
            states {{
                Missing when !config || !other => Error wakes config, other;
                {states}
            }}
            promises {{ {promises} }}
            transitions {{ {edges} }}
            status {{
                condition Done {{
                    True when config && other && a == A{last};
                    False \"Missing\" when !config || !other;
                    Unknown \"Walking\" otherwise;
                }}
                ready from Done;
            }}
        }}"
    )
}

fn found(text: &str) -> Vec<Diagnostic> {
    check(body_of(text)).diagnostics
}

/// Lines that have this in them are written otherwise.
fn replace_in_lines(text: &str, word: &str, from: &str, to: &str) -> String {
    let lines = text.lines().map(|line| match line.contains(word) {
        true => line.replace(from, to) + "\n",
        false => line.to_owned() + "\n",
    });
    lines.collect()
}

#[test]
fn thousands_of_states_are_checked() {
    assert_eq!(found(&field()).len(), 0);
}

/// Each unknown name was compared with each of three thousand: 8 852 950 comparisons, which took all of the time.
#[test]
fn thousands_of_unknown_names_are_compared_a_bounded_number_of_times() {
    let wrong = found(&replace_in_lines(&field(), " -> ", "-> S", "-> T"));
    assert_eq!(wrong.len(), WIDE * (LONG - 1));
    let suggested = wrong
        .iter()
        .filter(|d| d.message.contains("did you mean `S"));
    let compared = suggested.count() * (WIDE * LONG + 1);
    assert!((90_000..=100_000).contains(&compared), "{compared}");
}

/// Each state that never matches named each of three thousand: nine million names.
#[test]
fn thousands_of_states_that_never_match_name_few_others() {
    let shadowed: String = (0..3_000)
        .map(|at| format!("Again{at} when config && other => Error wakes self;\n"))
        .collect();
    let text = field().replace("            promises {", "promises {");
    let end = text.find("}\npromises {").expect("the end of the states");
    let found = found(&format!("{}{shadowed}{}", &text[..end], &text[end..]));
    let never: Vec<_> = found.iter().filter(|d| d.code == "LC012").collect();
    assert_eq!(never.len(), 3_000);
    assert!(
        never
            .iter()
            .all(|d| d.message.ends_with("`S6x0`, `S7x0`, 2992 more")),
        "{}",
        never[0].message
    );
}
