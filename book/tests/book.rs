//! The book is complete: every page of `docs/` has one place in `docs/SUMMARY.md`, every link and
//! anchor resolves, and the site has everything that readers need.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The HTML of a site, and of its contents.
fn texts(site: &Path) -> Vec<(PathBuf, String)> {
    let (mut texts, mut folders) = (Vec::new(), vec![site.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "html") {
                let text = fs::read_to_string(&path).expect("a page");
                texts.push((path, text));
            }
        }
    }
    texts
}

#[test]
fn the_book_is_whole_and_its_diagrams_are_pictures() {
    let site = tempfile::tempdir().expect("a folder");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let pages = lifecycle_book::build(&docs, site.path()).expect("the site is made");
    let texts = texts(site.path());
    assert!(pages > 70 && texts.len() > pages, "{pages} pages");
    for (path, text) in &texts {
        assert!(!text.contains("language-mermaid"), "{}", path.display());
    }
    let drawn = texts
        .iter()
        .filter(|(_, text)| text.contains("<figure class=\"diagram\">"));
    assert!(drawn.count() > 10, "the pictures are not there");
    let files = fs::read_dir(site.path()).expect("the site").flatten();
    let mut names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    assert!(names.any(|name| name.starts_with("searchindex")));
    let contents = fs::read_to_string(site.path().join("toc.html")).expect("the contents");
    let links = contents.matches("<a href=\"").count();
    assert!(links <= 90, "{links} entries");
}

/// A repository with a README and these documents.
fn build_book(documents: &[(&str, &str)]) -> (TempDir, Result<usize, String>) {
    let root = tempfile::tempdir().expect("a folder");
    for (path, text) in documents {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs::write(path, text).expect("the document");
    }
    let made = lifecycle_book::build(&root.path().join("docs"), &root.path().join("site"));
    (root, made.map_err(|error| format!("{error:#}")))
}

#[test]
fn what_is_wrong_with_a_book_is_found() {
    let whole = "- [A](a.md)\n- [B](rules/names.md)\n";
    for (summary, text, finding) in [
        (whole, "# A\n[b](rules/names.md#the-part) [own](#a)", ""),
        (
            whole,
            "[gone](gone.md)",
            "a.md: `gone.html` leads to no page",
        ),
        (
            whole,
            "[no](rules/names.md#no)",
            "a.md: `rules/names.html#no` leads to no heading",
        ),
        (whole, "[own](#top)", "a.md: `#top` leads to no heading"),
        (whole, "```text\n[x](gone.md)\n```\n", ""),
        (
            "- [A](a.md)\n",
            "# A",
            "SUMMARY.md does not name rules/names.md",
        ),
        ("- [A](a.md)\n- [A](a.md)\n", "# A", "a.md"),
        ("- [A](a.md)\n- [C](c.md)\n", "# A", "c.md"),
    ] {
        let rule = "# The part\n[back](../a.md) <https://x/y.md>";
        let documents = [
            ("docs/SUMMARY.md", summary),
            ("docs/a.md", text),
            ("docs/rules/names.md", rule),
        ];
        let (_root, made) = build_book(&documents);
        let error = made.err().unwrap_or_default();
        assert!(error.contains(finding), "{text}: {error}");
        assert_eq!(error.is_empty(), finding.is_empty(), "{text}: {error}");
    }
}

/// Returns the rendered form of a page in a book that also has other pages, a README and a picture.
fn render_page(path: &str, text: &str) -> String {
    let page = format!("docs/{path}");
    let summary = "- [A](index.md)\n- [A](time.md)\n- [Drawn](drawn.md)\n- [A](a.md)\n- [A](rules/live.md)\n- [A](rules/other.md)\n";
    let (root, made) = build_book(&[
        (
            "README.md",
            "[start](docs/time.md#zones) [out](LICENSE) [p](docs/drawn.svg)\n",
        ),
        ("LICENSE", ""),
        ("docs/SUMMARY.md", summary),
        ("docs/index.md", "{{#include ../README.md}}\n"),
        ("docs/time.md", "# Time\n\n## Zones\n"),
        ("docs/drawn.md", "```mermaid\nA --> B\n```\n"),
        ("docs/drawn.svg", "<svg fill=\"#d5f5dcff\"></svg>"),
        ("docs/a.md", ""),
        (
            "docs/rules/live.md",
            "# Live\n\n## LC021: dead end\n\n## LC022: round\n",
        ),
        ("docs/rules/other.md", ""),
        (&page, text),
    ]);
    made.expect("the site is made");
    let page = root.path().join("site").join(path).with_extension("html");
    let html = fs::read_to_string(page).expect("the page");
    let (_, main) = html.split_once("<main>").expect("the text");
    let (main, _) = main.split_once("</main>").expect("its end");
    main.trim().to_owned()
}

#[test]
fn codes_of_checks_become_links_and_links_out_of_the_book_text() {
    let code = |to: &str, word: &str| format!("<a href=\"{to}\"><code>{word}</code></a>");
    for (path, text, html) in [
        ("a.md", "`time.md`", "<code>time.md</code>".into()),
        (
            "a.md",
            "`LC021`",
            code("rules/live.html#lc021-dead-end", "LC021"),
        ),
        (
            "a.md",
            "(LC021)",
            "(<a href=\"rules/live.html#lc021-dead-end\">LC021</a>)".into(),
        ),
        (
            "a.md",
            "LC999 `README.md`",
            "LC999 <code>README.md</code>".into(),
        ),
        (
            "rules/other.md",
            "`LC022`",
            code("../rules/live.html#lc022-round", "LC022"),
        ),
        (
            "a.md",
            "[an `x`](../LICENSE) b",
            "an <code>x</code> b".into(),
        ),
        (
            "index.md",
            "{{#include ../README.md}}",
            "<a href=\"time.html#zones\">start</a> out <a href=\"drawn.svg\">p</a>".into(),
        ),
    ] {
        assert_eq!(render_page(path, text), format!("<p>{html}</p>"), "{text}");
    }
}

/// On the page of a group, a code leads to its section, except in this section itself.
#[test]
fn a_code_has_no_link_in_its_own_section() {
    let text = "LC021\n\n## LC021: dead end\n\nLC021 LC022\n\n### Mended\n\n`LC021`\n\n## LC022: round\n\n(LC021)\n";
    let html = render_page("rules/live.md", text);
    let to = |code: &str, anchor: &str| format!("<a href=\"#{anchor}\">{code}</a>");
    let (dead, round) = (to("LC021", "lc021-dead-end"), to("LC022", "lc022-round"));
    for part in [
        format!("<p>{dead}</p>"),
        format!("<p>LC021 {round}</p>"),
        "<p><code>LC021</code></p>".to_owned(),
        format!("<p>({dead})</p>"),
    ] {
        assert!(html.contains(&part), "{part}: {html}");
    }
}

#[test]
fn a_diagram_is_its_picture_wherever_it_stands_or_its_transitions() {
    for (text, part) in [
        (
            "```mermaid\nA --> B\n```\n",
            "<img src=\"../drawn.svg\" alt=\"States and transitions of Drawn\">",
        ),
        ("```mermaid\nA --> B\n```\n", "ready</b>. "),
        ("```mermaid\nA --> B\n```\n\nafter", "<p>after</p>"),
        (
            "```mermaid\nstateDiagram-v2\n    B --> C\n```\n",
            ">B -&gt; C\n</code>",
        ),
    ] {
        let html = render_page("rules/other.md", text);
        assert!(html.contains(part), "{html}");
    }
}
