//! Compares the checker with the oracle of the language on the volume sketches with one thing
//! changed, 460 times. `volumes/changes.txt` has the answers of the oracle. If the two differ, the
//! checker is right, for one of the reasons below.

use std::collections::{BTreeMap, BTreeSet};

use lifecycle_macros_core::check;

use super::settling;
use super::shipped::{body_of, text};

const CHANGES: &str = include_str!("../volumes/changes.txt");

/// Codes that only the checker finds, with the reason.
const ONLY_CHECKER: [(&str, &str); 9] = [
    (
        "LC005",
        "only what is probed or polled has a key: how an input is found must fit what it is",
    ),
    (
        "LC014",
        "what rests on a fact that is not asked; the oracle that these are pinned by knows no such rule",
    ),
    (
        "LC016",
        "an effect that a call names and never runs never runs; the oracle asks only whether it is named",
    ),
    (
        "LC064",
        "a warning is given beside the errors of its stage; the oracle stops before",
    ),
    (
        "LC086",
        "what permits an effect is asked by each call that names it; the oracle asks only for targets, refusals and preconditions",
    ),
    (
        "LC087",
        "the target is asked before a refusal, and a call does not meet every world; the oracle forgets both",
    ),
    (
        "LC097",
        "a promise that no call waits for; the oracle that these are pinned by knows no such rule",
    ),
    (
        "LC161",
        "an undo under another key; the oracle that these are pinned by knows no such rule",
    ),
    (
        "LC167",
        "a fact that nothing asks; the oracle that these are pinned by knows no such rule",
    ),
];

/// Codes that only the oracle finds, with the reason.
const ONLY_ORACLE: [(&str, &str); 3] = [
    (
        "LC016",
        "that a call which should give back names no effect is told once, where that call is",
    ),
    (
        "LC083",
        "half of a pair is not reported where the other half is there and its name is wrong",
    ),
    (
        "LC086",
        "staging and publishing carry a `staging_target_path`, which the oracle's table does not have",
    ),
];

#[derive(Debug)]
struct Change {
    name: String,
    text: String,
    oracle: BTreeSet<String>,
    checker: BTreeSet<String>,
}

fn changes() -> Vec<Change> {
    let lines = CHANGES.lines().filter(|line| !line.starts_with('#'));
    lines.map(change).collect()
}

fn change(line: &str) -> Change {
    let columns: Vec<String> = line
        .split('\t')
        .map(|column| column.replace("\\n", "\n"))
        .collect();
    let [sketch, position, from, to, codes] = columns.as_slice() else {
        panic!("five columns: {line}");
    };
    let text = text(sketch);
    let at = offset(&text, position);
    assert!(text[at..].starts_with(from.as_str()), "{line}");
    let (oracle, checker) = codes.split_once('/').unwrap_or((codes, codes));
    let codes = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    Change {
        name: format!("{sketch} {position}: `{from}` -> `{to}`"),
        text: format!("{}{to}{}", &text[..at], &text[at + from.len()..]),
        oracle: codes(oracle),
        checker: codes(checker),
    }
}

/// Returns the offset at which a line and column, both counted from one, begin.
fn offset(text: &str, position: &str) -> usize {
    let (line, column) = position.split_once(':').expect("line:column");
    let number = |text: &str| text.parse::<usize>().expect("a number");
    let lines = text.split_inclusive('\n').take(number(line) - 1);
    lines.map(str::len).sum::<usize>() + number(column) - 1
}

fn found(text: &str) -> BTreeSet<String> {
    let findings = check(body_of(text)).diagnostics;
    findings
        .into_iter()
        .map(|one| one.code.to_owned())
        .collect()
}

#[test]
fn the_checker_finds_what_is_pinned() {
    let mut wrong = String::new();
    for change in changes() {
        let found = found(&change.text);
        if found != change.checker {
            wrong += &format!("{}: {:?}, not {found:?}\n", change.name, change.checker);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn it_differs_from_the_oracle_for_known_reasons_only() {
    let (checker, oracle) = (BTreeMap::from(ONLY_CHECKER), BTreeMap::from(ONLY_ORACLE));
    let changes = changes();
    let mut used = BTreeSet::new();
    for change in &changes {
        for code in change.checker.difference(&change.oracle) {
            let why = checker.get(code.as_str());
            used.insert(*why.unwrap_or_else(|| panic!("{}: {code}", change.name)));
        }
        for code in change.oracle.difference(&change.checker) {
            let why = oracle.get(code.as_str());
            used.insert(*why.unwrap_or_else(|| panic!("{}: {code}", change.name)));
        }
    }
    let equal = changes.iter().filter(|one| one.oracle == one.checker);
    assert_eq!((changes.len(), equal.count()), (460, 340));
    assert_eq!(
        used.len(),
        checker.len() + oracle.len(),
        "a reason is unused"
    );
}

/// Every rule about calls is broken by some change.
#[test]
fn changes_break_every_rule_about_calls() {
    let codes: BTreeSet<String> = changes().into_iter().flat_map(|one| one.checker).collect();
    for code in [
        "LC080", "LC081", "LC083", "LC084", "LC085", "LC086", "LC087", "LC088",
    ] {
        assert!(codes.contains(code), "{code}");
    }
}

#[test]
fn what_another_object_owns_is_not_made_before_that_one_is_there() {
    let body = r#"
        volume Mount;
        observe {
            claim: Claim by name request.volume_id;
            own: owned Service of claim by name request.volume_id;
        }
        facts { bound: bool from claim given claim; }
        states {
            Made when own == Current && (!claim || bound);
            Missing when own != Current || !bound;
        }
        effects { apply own; }
        rpc {
            unfit never "any will do";
            unknown never "it is made";
            differs never "it has no arguments";
            NodeStageVolume -> Made by apply_own within 90s else UNAVAILABLE {
                claim && !bound => UNAVAILABLE;
                own == Foreign => FAILED_PRECONDITION;
                refused(apply_own) => INTERNAL;
            }
            NodeUnstageVolume;
        }
    "#;
    let findings = settling::found(body);
    let [finding] = findings.as_slice() else {
        panic!("{findings:#?}");
    };
    assert!(finding.starts_with("LC080 NodeStageVolume"), "{finding}");
    assert!(finding.contains("claim == Absent"), "{finding}");
    let refused = body.replace(
        "own == Foreign =>",
        "!claim => UNAVAILABLE; own == Foreign =>",
    );
    assert_eq!(settling::found(&refused), [""; 0]);
}

#[test]
fn an_effect_of_a_call_is_permitted_by_what_that_call_sees() {
    let body = r#"
        volume Scratch;
        observe {
            mounts: probe MountTable by request.target_path;
            pod: Pod by ref from request;
        }
        facts { held published: bool from mounts; }
        states {
            Free when !published;
            Published when published;
        }
        effects {
            publish: call mounts sets { published = true } undo unpublish key request.target_path;
            unpublish: call mounts sets { published = false } key request.target_path;
        }
        rpc {
            unfit never "any capability will do";
            unknown never "it is made";
            elsewhere never "a directory may be published at many targets";
            differs when pod == Absent;
            NodePublishVolume -> Published by publish { refused(publish) => INTERNAL; }
            NodeUnpublishVolume -> Free by unpublish { refused(unpublish) => INTERNAL; }
        }
    "#;
    assert_eq!(settling::found(body), [""; 0]);
    let asks = body.replace(
        "unpublish: call mounts sets",
        "unpublish: call mounts when pod == Absent sets",
    );
    let found = settling::found(&asks);
    let blind = "LC086 NodeUnpublishVolume [pod == Absent] `NodeUnpublishVolume` cannot see `pod`";
    assert!(found.iter().any(|one| one.starts_with(blind)), "{found:#?}");
}

/// The volume of `docs/language/facts.md` that reads fields of its requests.
const FOLDER: &str = r#"
    volume Folder;
    observe {
        backing: probe Directory by request.volume_id;
        link: probe Link by request.target_path;
    }
    facts {
        writes: { Yes, No } from request.readonly;
        found: bool from backing;
        held published: bool from link;
    }
    states {
        Free when !published;
        Published when published;
    }
    effects {
        publish: call link when found sets { published = true } undo unpublish key request.target_path;
        unpublish: call link sets { published = false } key request.target_path;
    }
    rpc {
        unfit never "any capability will do";
        unknown when !found;
        elsewhere never "many Pods may read one directory";
        differs never "there is nothing to tell apart";
        NodePublishVolume -> Published by publish {
            writes == No => INVALID_ARGUMENT;
            refused(publish) => INTERNAL;
        }
        NodeUnpublishVolume -> Free by unpublish { refused(unpublish) => INTERNAL; }
    }
"#;

#[test]
fn what_a_call_does_not_say_has_the_first_value_and_what_it_says_is_asked() {
    assert_eq!(settling::found(FOLDER), [""; 0]);
    // While a volume is removed, no request states if it was read-only. Therefore a refusal on it
    // never applies there.
    let taken = "NodeUnpublishVolume -> Free by unpublish {";
    let refuses = |fact: &str| {
        let with = format!("{taken} writes == No => UNAVAILABLE;");
        let text = FOLDER.replace("writes: { Yes, No } from request.readonly;", fact);
        settling::found(&text.replace(taken, &with))
    };
    let unsaid = refuses("writes: { Yes, No } from request.readonly;");
    assert!(
        unsaid
            .iter()
            .any(|one| one.starts_with("LC087 NodeUnpublishVolume")),
        "{unsaid:#?}"
    );
    let said = refuses("writes: { Yes, No } from request.target_path;");
    assert_eq!(said, [""; 0]);
    let whole = refuses("writes: { Yes, No } from request;");
    assert!(
        whole
            .iter()
            .any(|one| one.starts_with("LC087 NodeUnpublishVolume")),
        "{whole:#?}"
    );
}

#[test]
fn an_object_read_beside_a_field_is_not_seen_by_a_call_that_does_not_say_it() {
    let beside = FOLDER.replace("from request.readonly;", "from request.readonly, link;");
    assert_eq!(settling::found(&beside), [""; 0]);
    let taken = "NodeUnpublishVolume -> Free by unpublish {";
    let asks = beside.replace(taken, &format!("{taken} writes == No => UNAVAILABLE;"));
    let found = settling::found(&asks);
    let blind = "`NodeUnpublishVolume` cannot see `writes`: its request does not carry what it is read from";
    assert!(found.iter().any(|one| one.contains(blind)), "{found:#?}");
}

#[test]
fn what_no_request_says_is_told_with_what_there_is() {
    let reads = |field: &str| settling::found(&FOLDER.replace("request.readonly", field));
    for (field, said) in [
        (
            "request.secrets",
            "fact `writes`: no fact reads `secrets` of a request",
        ),
        ("request.read_only", "did you mean `readonly`?"),
        (
            "request.volume_capability",
            "no fact reads `volume_capability`",
        ),
    ] {
        let found = reads(field);
        assert!(
            found
                .iter()
                .any(|one| one.starts_with("LC001") && one.contains(said)),
            "{found:#?}"
        );
    }
    let shared = FOLDER.replace("facts {", "facts { let how: How from request.readonly;");
    let found = settling::found(&shared);
    assert!(
        found
            .iter()
            .any(|one| one.contains("one field of the request is read by a fact alone")),
        "{found:#?}"
    );
    let resource = "resource Thing; observe { } facts { large: bool from request.readonly; } states { goal Up when large => Ready; Down when !large => Error wakes self; }";
    let found = settling::found(resource);
    assert!(
        found.iter().any(|one| one.starts_with("LC060")),
        "{found:#?}"
    );
}

#[test]
fn what_a_given_keeps_from_being_asked_has_its_value_also_where_the_request_says_nothing() {
    let body = FOLDER.replace(
        "writes: { Yes, No } from request.readonly;",
        "told: { No, Yes } from request.readonly; writes: { Yes, No } from request.readonly given told == Yes else No;",
    );
    let taken = "NodeUnpublishVolume -> Free by unpublish {";
    // No request states it there, so the `else` counts. The refusal always applies, and the volume
    // is never removed.
    let asks = body.replace(taken, &format!("{taken} writes == No => UNAVAILABLE;"));
    let found = settling::found(&asks);
    let never = "LC016 unpublish [unpublish] effect `unpublish` never runs";
    assert!(found.iter().any(|one| one.starts_with(never)), "{found:#?}");
}
