//! A preprocessor for features that mdbook lacks: codes of checks become links, links out of the
//! book become text, and diagrams become pictures. Edits the Markdown in place, so all other text
//! stays as written.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Result;
use mdbook_driver::book::{Book, Chapter};
use mdbook_markdown::pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};
use mdbook_markdown::{MarkdownOptions, new_cmark_parser};
use mdbook_preprocessor::{Preprocessor, PreprocessorContext};

/// The page that includes the README of the repository: its links begin there.
const START: &str = "index.md";

/// Meaning of the colours in pictures of lifecycles.
const LEGEND: [(&str, &str); 6] = [
    ("#dbe9ff", "progressing"),
    ("#fff3c4", "waiting for others"),
    ("#d5f5dc", "ready"),
    ("#ffdcdc", "error"),
    ("#e8e8e8", "suspended or ignored"),
    ("#eadcff", "call"),
];

/// Color of the frame around the cause of a transition.
const CAUSES: &str = "#bbbbbb";

/// A range of the text and its replacement.
type Edit = (Range<usize>, String);

/// Title and file of pictures, by the text of the diagram that they show.
type Pictures = BTreeMap<String, (String, String)>;

/// Page and anchor of the section about each check, by its code.
type Sections = BTreeMap<String, (String, String)>;

/// The paths of all pages, below the folder of the documents.
pub(crate) fn names(book: &Book) -> BTreeSet<String> {
    book.chapters().filter_map(name).collect()
}

fn name(chapter: &Chapter) -> Option<String> {
    Some(chapter.path.as_ref()?.to_str()?.to_owned())
}

/// The preprocessor.
pub(crate) struct Pages {
    docs: PathBuf,
    names: BTreeSet<String>,
}

impl Preprocessor for Pages {
    fn name(&self) -> &str {
        "pages"
    }

    fn run(&self, _: &PreprocessorContext, mut book: Book) -> Result<Book> {
        let pictures = pictures(&self.docs, &book);
        let sections = sections(&book);
        book.for_each_chapter_mut(|chapter| {
            if let Some(from) = name(chapter) {
                let edits = self.edits(&from, &chapter.content, &pictures, &sections);
                for (range, text) in edits.into_iter().rev() {
                    chapter.content.replace_range(range, &text);
                }
            }
        });
        Ok(book)
    }
}

impl Pages {
    pub(crate) const fn new(docs: PathBuf, names: BTreeSet<String>) -> Self {
        Self { docs, names }
    }

    /// Returns the edits to the text of a page, in the order of their positions.
    fn edits(&self, from: &str, text: &str, pictures: &Pictures, sections: &Sections) -> Vec<Edit> {
        let mut edits = Vec::new();
        // How many links, headings and fences are open: words in them stay as they are.
        let mut depth = 0;
        // The check that the current section is about: it has no link to itself.
        let mut own = None;
        for (event, range) in parsed(text) {
            let part = &text[range.clone()];
            if let Event::Start(Tag::Heading {
                level: HeadingLevel::H2,
                ..
            }) = &event
            {
                own = section(part).map(|(code, _)| code);
            }
            let check = |code: &str| check(sections, from, code).filter(|_| own != Some(code));
            if let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(kind))) = &event
                && &**kind == "mermaid"
            {
                edits.push((range.clone(), self.figure(from, part, pictures)));
            }
            if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = &event {
                edits.extend(self.linked(from, part, dest_url, range.start));
            }
            if let Event::Start(tag) = &event {
                depth += usize::from(is_closed(&tag.to_end()));
            } else if let Event::End(tag) = &event {
                depth -= usize::from(is_closed(tag));
            } else if let (Event::Code(word), 0) = (&event, depth) {
                edits.extend(check(word).map(|to| (range, format!("[{part}]({to})"))));
            } else if let (Event::Text(_), 0) = (&event, depth) {
                edits.extend(codes(part, range.start, check));
            }
        }
        edits.sort_by_key(|(range, _)| range.start);
        edits
    }

    /// Returns the edits to a link or picture: a new target, or the removal of a link that has no
    /// target in the book.
    fn linked(&self, from: &str, part: &str, to: &str, start: usize) -> Vec<Edit> {
        let (path, anchor) = to.split_at(to.find('#').unwrap_or(to.len()));
        let beside = self.docs.join(from).with_file_name(path);
        let in_root = self.docs.with_file_name(path);
        let file = beside.canonicalize().or_else(|error| match from {
            START => in_root.canonicalize(),
            _ => Err(error),
        });
        let (Ok(file), Some(at)) = (file, part.rfind("](").filter(|_| !path.is_empty())) else {
            return Vec::new();
        };
        let target = start + at..start + part.len();
        let inside = file.strip_prefix(&self.docs).ok().and_then(Path::to_str);
        match inside.filter(|name| self.names.contains(*name) || name.ends_with(".svg")) {
            Some(name) => vec![(target, format!("]({}{anchor})", relative(from, name)))],
            None => {
                let open = start..start + part.find('[').map_or(0, |at| at + 1);
                vec![(open, String::new()), (target, String::new())]
            }
        }
    }

    /// Returns the picture of a diagram with the legend of its colors. A diagram without a picture
    /// is shown as its transitions.
    fn figure(&self, from: &str, fence: &str, pictures: &Pictures) -> String {
        let Some((title, picture)) = diagram(fence).and_then(|diagram| pictures.get(diagram))
        else {
            let transitions = fence.lines().filter(|line| line.contains("-->"));
            let lines: String = transitions
                .map(|line| line.trim().replace("-->", "->") + "\n")
                .collect();
            return format!("```text\n{lines}```\n");
        };
        let drawn = std::fs::read_to_string(self.docs.join(picture)).unwrap_or_default();
        let used = LEGEND.iter().filter(|(colour, _)| drawn.contains(colour));
        let legend =
            used.map(|(colour, word)| format!(" <b style=\"background: {colour}\">{word}</b>"));
        let legend: String = legend.collect();
        let causes = match drawn.contains(CAUSES) {
            true => {
                " A small white one names effects and promises that lead from one state to another; dashed is what only the world outside does."
            }
            false => "",
        };
        let to = relative(from, picture);
        format!(
            "<figure class=\"diagram\"><a href=\"{to}\"><img src=\"{to}\" alt=\"States and transitions of {title}\"></a>\
             <figcaption>The colour of a box:{legend}.{causes} <a href=\"{to}\">Full size</a></figcaption></figure>\n"
        )
    }
}

/// The diagrams that stand beside their page as a picture: by their text, the title of the page and the file.
fn pictures(docs: &Path, book: &Book) -> Pictures {
    let drawn = book.chapters().filter_map(|chapter| {
        let picture = name(chapter)?.replace(".md", ".svg");
        let diagram = diagram(&chapter.content)?.to_owned();
        let is_there = docs.join(&picture).is_file();
        is_there.then(|| (diagram, (chapter.name.clone(), picture)))
    });
    drawn.collect()
}

/// The text of the first diagram.
fn diagram(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("```mermaid\n")?;
    after.split("```").next()
}

/// The sections about checks: their headings are such as `## LC021: dead end`.
fn sections(book: &Book) -> Sections {
    let chapters = book.chapters().filter_map(|chapter| {
        let page = name(chapter).filter(|name| name.starts_with("rules/"))?;
        Some((page, &chapter.content))
    });
    let sections = chapters.flat_map(|(page, text)| {
        let headings = text.lines().filter_map(section);
        let placed = headings.map(|(code, title)| {
            let anchor = format!("{code} {title}").to_lowercase().replace(' ', "-");
            (code.to_owned(), (page.clone(), anchor))
        });
        placed.collect::<Vec<_>>()
    });
    sections.collect()
}

/// The code of a check and its title, if the line is the heading of its section.
fn section(line: &str) -> Option<(&str, &str)> {
    let (code, title) = line.strip_prefix("## ")?.split_once(": ")?;
    let is_code = code.len() == 5 && code.starts_with("LC");
    is_code.then_some((code, title.trim()))
}

/// A link to the section about a check.
fn check(sections: &Sections, from: &str, code: &str) -> Option<String> {
    let (page, anchor) = sections.get(code)?;
    Some(match page == from {
        true => format!("#{anchor}"),
        false => format!("{}#{anchor}", relative(from, page)),
    })
}

/// A link at each code of a check.
fn codes(part: &str, start: usize, check: impl Fn(&str) -> Option<String>) -> Vec<Edit> {
    let codes = part.match_indices("LC").filter_map(|(at, _)| {
        let code = part.get(at..at + 5)?;
        let link = format!("[{code}]({})", check(code)?);
        Some((start + at..start + at + 5, link))
    });
    codes.collect()
}

fn relative(from: &str, name: &str) -> String {
    "../".repeat(from.matches('/').count()) + name
}

/// Returns true if words inside this tag never become links.
const fn is_closed(tag: &TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Link | TagEnd::Image | TagEnd::Heading(_) | TagEnd::CodeBlock
    )
}

fn parsed(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    let mut options = MarkdownOptions::default();
    (options.smart_punctuation, options.definition_lists) = (false, false);
    new_cmark_parser(text, &options).into_offset_iter()
}
