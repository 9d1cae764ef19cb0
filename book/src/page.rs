//! One page: its headings, its links, and its HTML. Knows Markdown, and nothing of where the page stands.

use std::collections::BTreeMap;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// A page as it was written.
#[derive(Clone, Debug)]
pub struct Page {
    text: String,
    headings: Vec<Heading>,
}

/// A heading of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// By which links find it.
    pub id: String,
    /// Without its marks.
    pub text: String,
    /// Whether it heads a section of the page, and neither all of it nor a part of a section.
    pub is_section: bool,
}

/// What a link or a word in backticks becomes.
pub enum Becomes {
    /// A link to there.
    Link(String),
    /// The text without a link.
    Text,
}

/// Who knows where links lead.
pub trait Resolve {
    /// What becomes of a link.
    fn link(&self, target: &str) -> Becomes;
    /// The page that a word in backticks names, or a code such as LC021 anywhere.
    fn word(&self, word: &str) -> Option<String>;
}

impl Page {
    /// A page of this text.
    pub fn of(text: String) -> Self {
        let headings = headings(&parsed(&text));
        Self { text, headings }
    }

    /// Its headings, in their order.
    pub fn headings(&self) -> &[Heading] {
        &self.headings
    }

    /// Whether links find a heading by this.
    pub fn has_heading(&self, id: &str) -> bool {
        self.headings.iter().any(|heading| heading.id == id)
    }

    /// Where its links lead, as they are written.
    pub fn links(&self) -> Vec<String> {
        let links = parsed(&self.text).into_iter().filter_map(|event| {
            if let Event::Start(Tag::Link { dest_url, .. }) = event {
                return Some(dest_url.into_string());
            }
            None
        });
        links.collect()
    }

    /// As HTML, with links as they were resolved.
    pub fn html(&self, resolve: &impl Resolve) -> String {
        let mut ids = self.headings.iter().map(|heading| heading.id.clone());
        let mut events = Vec::new();
        let mut written = Written::default();
        for event in parsed(&self.text) {
            events.extend(written.event(event, &mut ids, resolve));
        }
        let mut html = String::new();
        pulldown_cmark::html::push_html(&mut html, events.into_iter());
        html
    }
}

/// Where in a page a writer is.
#[derive(Default)]
struct Written {
    /// Whether each link that is open is left out.
    links: Vec<bool>,
    in_heading: bool,
    in_code: bool,
    in_diff: bool,
}

impl Written {
    /// Neither in a link nor in a heading nor in code.
    fn is_plain(&self) -> bool {
        self.links.is_empty() && !self.in_heading && !self.in_code
    }

    fn event<'a>(
        &mut self,
        event: Event<'a>,
        ids: &mut impl Iterator<Item = String>,
        resolve: &impl Resolve,
    ) -> Option<Event<'a>> {
        Some(match event {
            Event::Start(Tag::Heading {
                level,
                classes,
                attrs,
                ..
            }) => {
                self.in_heading = true;
                let id = ids.next().map(CowStr::from);
                Event::Start(Tag::Heading {
                    level,
                    id,
                    classes,
                    attrs,
                })
            }
            Event::End(TagEnd::Heading(level)) => {
                self.in_heading = false;
                Event::End(TagEnd::Heading(level))
            }
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }) => {
                let becomes = resolve.link(&dest_url);
                self.links.push(matches!(becomes, Becomes::Text));
                let Becomes::Link(to) = becomes else {
                    return None;
                };
                Event::Start(Tag::Link {
                    link_type,
                    dest_url: to.into(),
                    title,
                    id,
                })
            }
            Event::End(TagEnd::Link) if self.links.pop() == Some(true) => return None,
            Event::Start(Tag::CodeBlock(kind)) => {
                self.in_code = true;
                self.in_diff = matches!(&kind, CodeBlockKind::Fenced(name) if &**name == "diff");
                Event::Start(Tag::CodeBlock(kind))
            }
            Event::Text(text) if self.in_diff => Event::Html(diff(&text).into()),
            Event::Text(_) | Event::Code(_) if self.is_plain() => named(event, resolve),
            Event::End(TagEnd::CodeBlock) => {
                (self.in_code, self.in_diff) = (false, false);
                Event::End(TagEnd::CodeBlock)
            }
            kept @ (Event::Start(_)
            | Event::End(_)
            | Event::Text(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::Code(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::Rule
            | Event::TaskListMarker(_)) => kept,
        })
    }
}

/// Text or code with links to the pages that it names.
fn named<'a>(event: Event<'a>, resolve: &impl Resolve) -> Event<'a> {
    let html = match &event {
        Event::Text(text) => linked(text, resolve),
        Event::Code(word) => resolve.word(word).map(|to| {
            let (to, word) = (escaped(&to), escaped(word));
            format!("<a href=\"{to}\"><code>{word}</code></a>")
        }),
        Event::Start(_)
        | Event::End(_)
        | Event::InlineMath(_)
        | Event::DisplayMath(_)
        | Event::Html(_)
        | Event::InlineHtml(_)
        | Event::FootnoteReference(_)
        | Event::SoftBreak
        | Event::HardBreak
        | Event::Rule
        | Event::TaskListMarker(_) => None,
    };
    html.map_or(event, |html| Event::InlineHtml(html.into()))
}

/// Text with a link at each code of a check; nothing if there is none.
fn linked(text: &str, resolve: &impl Resolve) -> Option<String> {
    let mut html = String::new();
    let mut done = 0;
    for (at, _) in text.match_indices("LC") {
        let code = text.get(at..at + 5);
        let code = code.filter(|code| code[2..].bytes().all(|byte| byte.is_ascii_digit()));
        if let Some((code, to)) = code.and_then(|code| Some((code, resolve.word(code)?))) {
            let to = escaped(&to);
            html += &escaped(&text[done..at]);
            html += &format!("<a href=\"{to}\">{code}</a>");
            done = at + code.len();
        }
    }
    (done > 0).then(|| html + &escaped(&text[done..]))
}

/// The lines of a difference, each of what comes and what goes in a mark of its own.
fn diff(text: &str) -> String {
    let line = |line: &str| {
        let shown = escaped(line);
        match line.as_bytes().first() {
            Some(b'+') => format!("<ins>{shown}</ins>"),
            Some(b'-') => format!("<del>{shown}</del>"),
            _ => shown,
        }
    };
    text.split_inclusive('\n').map(line).collect()
}

/// As text of HTML, also between quotes.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn parsed(text: &str) -> Vec<Event<'_>> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH).collect()
}

fn headings(events: &[Event<'_>]) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut open: Option<String> = None;
    for event in events {
        match (event, &mut open) {
            (Event::Start(Tag::Heading { .. }), _) => open = Some(String::new()),
            (Event::Text(text) | Event::Code(text), Some(heading)) => heading.push_str(text),
            (Event::End(TagEnd::Heading(level)), _) => {
                let text = open.take().unwrap_or_default();
                let slug = slug(&text);
                let times = seen.entry(slug.clone()).or_default();
                let id = match *times {
                    0 => slug,
                    times => format!("{slug}-{times}"),
                };
                *times += 1;
                let is_section = *level == HeadingLevel::H2;
                headings.push(Heading {
                    id,
                    text,
                    is_section,
                });
            }
            _ => {}
        }
    }
    headings
}

/// As GitHub finds headings, so that a link works in both places.
fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|character| {
        let is_kept = character.is_alphanumeric() || "-_".contains(character);
        match character {
            ' ' => Some('-'),
            character if is_kept => Some(character),
            _ => None,
        }
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Paths;

    impl Resolve for Paths {
        fn link(&self, target: &str) -> Becomes {
            match target.strip_suffix(".md") {
                Some(page) => Becomes::Link(format!("{page}.html")),
                None => Becomes::Text,
            }
        }

        fn word(&self, word: &str) -> Option<String> {
            match word {
                "time.md" => Some("time.html".to_owned()),
                "LC021" => Some("rules/LC021.html".to_owned()),
                _ => None,
            }
        }
    }

    #[test]
    fn headings_are_found_as_on_github() {
        let page =
            Page::of("# What `given` is\n## A, b & c\n## A, b & c\n### LC021: dead end\n".into());
        let ids: Vec<&str> = page.headings().iter().map(|h| h.id.as_str()).collect();
        assert_eq!(
            ids,
            ["what-given-is", "a-b--c", "a-b--c-1", "lc021-dead-end"]
        );
        let sections = page.headings().iter().filter(|h| h.is_section);
        assert_eq!(sections.count(), 2);
    }

    #[test]
    fn links_lead_to_pages_of_the_site_and_not_out_of_it() {
        let html = Page::of("[a](a.md) [out](../x.rs) `time.md` `other`".into()).html(&Paths);
        assert_eq!(
            html,
            "<p><a href=\"a.html\">a</a> out <a href=\"time.html\"><code>time.md</code></a> <code>other</code></p>\n"
        );
    }

    #[test]
    fn a_code_leads_to_its_page_wherever_it_stands_in_a_text() {
        let html = Page::of("refused & told (LC021), not LC999\n# LC021\n".into()).html(&Paths);
        let link = "<p>refused &amp; told (<a href=\"rules/LC021.html\">LC021</a>), not LC999</p>";
        assert!(html.starts_with(link), "{html}");
        assert!(html.contains(">LC021</h1>"), "{html}");
    }

    #[test]
    fn what_comes_and_goes_is_marked() {
        let html = Page::of("```diff\n-a < b\n+c\n d\n```\n".into()).html(&Paths);
        assert!(
            html.contains("<del>-a &lt; b\n</del><ins>+c\n</ins> d"),
            "{html}"
        );
    }
}
