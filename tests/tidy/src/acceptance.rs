//! Map from the rows of the acceptance table of Skupper sites to the tests that show them. The
//! table of the documentation is made of the names of tests. A test carries the ids of its rows,
//! `s60_s61_pods_by_name`, in any package.

use std::collections::{BTreeMap, BTreeSet};

use crate::Tree;

const DOCUMENT: &str = "docs/skupper.md";
const BEGIN: &str = "<!-- rows, made by the tidy test -->";
/// Head of the table of threats.
const THREATS: &str = "| who attacks | what keeps him out | shown by |\n| --- | --- | --- |\n";
const END: &str = "<!-- end of rows -->";

/// The rows, in our words. Those of the network are open until there are links.
const ROWS: [(u8, &str); 69] = [
    (1, "a plain manifest is accepted"),
    (2, "routing key, host and port are required"),
    (3, "ports are bounded"),
    (
        4,
        "observers are known ones, from the field or the settings",
    ),
    (5, "a Service is created"),
    (6, "it leads to the port that is really bound"),
    (7, "it belongs to the Site and goes with it"),
    (8, "two ports of one host are one Service"),
    (9, "one of them goes, the other stays"),
    (
        10,
        "the last takes the Service along, and its port of the router is free",
    ),
    (11, "a taken host and port names its holder"),
    (12, "it is given when it becomes free"),
    (13, "an edit into a conflict"),
    (14, "a foreign Service stays as it is"),
    (15, "it goes, and the Listener gets its own"),
    (16, "a deleted Service is made anew"),
    (
        17,
        "edits of its ports and selector are undone, additions stay",
    ),
    (18, "hosts that are no names"),
    (19, "a name with a dot"),
    (20, "protocols other than TCP"),
    (21, "no Site"),
    (22, "a Site comes later"),
    (
        23,
        "any order of Site, Link, Listener, Connector and Secret",
    ),
    (24, "the Site is deleted"),
    (25, "a second Site"),
    (26, "fresh and without a match"),
    (27, "a match in another site"),
    (28, "a match in the own site"),
    (29, "the last Connector goes"),
    (30, "a link is lost"),
    (31, "an error goes before a match"),
    (32, "conditions: generation, times, reasons"),
    (33, "nothing is written at rest"),
    (34, "columns"),
    (35, "a request from site to site"),
    (36, "whichever side dials"),
    (37, "over a third site"),
    (38, "several Connectors share connections"),
    (39, "the nearer one first"),
    (40, "one of two sites fails"),
    (41, "no Connector, no socket"),
    (42, "a server that is down"),
    (43, "a peer that crashes or falls silent"),
    (44, "bytes and half-close"),
    (45, "the server speaks first"),
    (46, "a slow reader"),
    (47, "another routing key"),
    (48, "another port"),
    (49, "another host"),
    (50, "a deleted Listener"),
    (51, "unrelated changes drop nothing"),
    (52, "a controller that restarts"),
    (53, "a router that restarts"),
    (54, "TLS for clients"),
    (55, "a missing Secret"),
    (56, "it arrives later"),
    (57, "it is rotated"),
    (58, "certificates of clients"),
    (59, "links trust only their authority"),
    (60, "Pods by name"),
    (61, "a Pod is replaced"),
    (62, "Pods are not exposed any more"),
    (63, "a longer routing key exposes nothing"),
    (64, "an occupied port is told"),
    (65, "a workload of another namespace"),
    (66, "the Connector says the same"),
    (67, "the status of a Link"),
    (68, "grants and tokens"),
    (69, "two hundred Listeners"),
];

/// The numbers at the beginning of a word: `s60_s61_pods_by_name`.
fn numbers(word: &str) -> BTreeSet<u8> {
    let parts = word.split('_');
    let number = |part: &str| {
        part.strip_prefix('s')
            .filter(|n| n.len() == 2)?
            .parse()
            .ok()
    };
    parts.map_while(number).collect()
}

/// The tests of each row, by name and file.
fn tests(tree: &Tree) -> BTreeMap<u8, BTreeSet<String>> {
    let mut found: BTreeMap<u8, BTreeSet<String>> = BTreeMap::new();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (path, text) in tree.sources().filter(|(path, _)| !path.contains("/tidy/")) {
        let naming = |line: &&str| line.contains("fn ") || line.contains('"');
        for word in text
            .lines()
            .filter(naming)
            .flat_map(|line| line.split(|c| !is_word(c)))
        {
            for number in numbers(word) {
                let test = format!("`{word}` in {path}");
                found.entry(number).or_default().insert(test);
            }
        }
    }
    found
}

fn table(tree: &Tree) -> String {
    let tests = tests(tree);
    let lines = ROWS.iter().map(|(number, what)| {
        let shown = tests
            .get(number)
            .map(|all| all.iter().cloned().collect::<Vec<_>>());
        let shown = shown.map_or_else(|| "open".to_owned(), |all| all.join(", "));
        format!("| {number} | {what} | {shown} |\n")
    });
    format!(
        "| row | what | shown by |\n| --- | --- | --- |\n{}",
        lines.collect::<String>()
    )
}

/// Returns the desired content of the document, if its present content differs.
pub fn outdated(tree: &Tree) -> Option<String> {
    let (_, text) = tree.under("docs/").find(|(path, _)| *path == DOCUMENT)?;
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    let wanted = format!("{before}{BEGIN}\n\n{}\n{END}{after}", table(tree));
    (wanted != text).then_some(wanted)
}

/// Lines of the table of threats that name no test, or one that is not there.
pub fn unshown(tree: &Tree) -> Vec<String> {
    let document = tree.under("docs/").find(|(path, _)| *path == DOCUMENT);
    let rows = document.map_or("", |(_, text)| {
        let rows = text.split_once(THREATS).map_or("", |(_, rows)| rows);
        rows.split_once("\n\n").map_or(rows, |(rows, _)| rows)
    });
    let is_there = |test: &str| {
        let (plain, quoted) = (format!("fn {test}("), format!("\"{test}\""));
        let mut sources = tree.sources();
        sources.any(|(_, text)| text.contains(&plain) || text.contains(&quoted))
    };
    let unshown = rows.lines().filter(|row| {
        let shown = row.trim_end_matches([' ', '|']).rsplit_once('|');
        let names = shown.map_or("", |(_, names)| names).split('`');
        let names: Vec<&str> = names.skip(1).step_by(2).collect();
        names.is_empty() || !names.into_iter().all(is_there)
    });
    let told = |row: &str| format!("{DOCUMENT}: name a test that there is: {row}");
    unshown.map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threat_without_a_test_is_found() {
        let rows = "| guesses | a | `fits` |\n| floods | b | `s68_case`, `gone` |\n| lies | c | none |\n| asks | d | `s68_case` |\n";
        let text = format!("{THREATS}{rows}\nend\n");
        let source = "fn fits() {}\nshared(\"s68_case\", run)";
        let tree = Tree::made_up(&[(DOCUMENT, &text), ("operator/a.rs", source)]);
        let found = unshown(&tree);
        let has = |part: &str| found.iter().any(|one| one.contains(part));
        assert!(
            found.len() == 2 && has("| floods") && has("| lies"),
            "{found:?}"
        );
    }

    #[test]
    fn a_name_carries_the_numbers_of_its_rows() {
        assert_eq!(numbers("s60_s61_s62_pods"), [60, 61, 62].into());
        assert_eq!(numbers("s05"), [5].into());
        assert!(numbers("sites_s05").is_empty() && numbers("s5_x").is_empty());
    }

    #[test]
    fn tests_are_found_in_every_package() {
        let own = "fn s07_x() {}";
        let tree = Tree::made_up(&[
            ("operator/router/tests/router/a.rs", own),
            ("operator/skupper/src/plan/tests.rs", own),
            ("operator/skupper/tests/cluster/a.rs", "(\"s07_y\", run),"),
            ("tests/tests/skupper_cluster/a.rs", own),
            ("tests/tidy/src/a.rs", own),
        ]);
        let expected = [
            "`s07_x` in operator/router/tests/router/a.rs",
            "`s07_x` in operator/skupper/src/plan/tests.rs",
            "`s07_x` in tests/tests/skupper_cluster/a.rs",
            "`s07_y` in operator/skupper/tests/cluster/a.rs",
        ];
        assert_eq!(tests(&tree)[&7], expected.map(str::to_owned).into());
    }

    #[test]
    fn a_document_is_outdated_until_it_names_every_test() {
        let text = format!("# Title\n{BEGIN}\n{END}\nend\n");
        let test = "fn s07_services_go_with_the_site() {}\n";
        let tree = Tree::made_up(&[(DOCUMENT, &text), ("tests/tests/a.rs", test)]);
        let wanted = outdated(&tree).expect("the table is empty");
        let line = "| 7 | it belongs to the Site and goes with it | `s07_services_go_with_the_site` in tests/tests/a.rs |\n";
        assert!(
            wanted.contains(line) && wanted.ends_with("\nend\n"),
            "{wanted}"
        );
        let tree = Tree::made_up(&[(DOCUMENT, &wanted), ("tests/tests/a.rs", test)]);
        assert_eq!(outdated(&tree), None);
    }
}
