//! Public API of a library, one item a line, as rustdoc reports it, without lines that follow from
//! another line. It leaves out blanket and auto impls, the methods of trait impls (their traits
//! list them), and modules without any promise. Hidden items are no part of the rustdoc output. The
//! hidden items that generated code uses are pinned with the expansions.

/// Returns the lines that carry information, without those of these modules.
pub fn essential(items: &str, without: &[&str]) -> String {
    let mut kept = String::new();
    // The type of the trait impl that the last lines belong to.
    let mut of: Option<&str> = None;
    for line in items.lines() {
        if line.starts_with("impl") {
            of = line.split_once(" for ").map(|(_, to)| path(to));
        } else if of.is_some_and(|of| is_method(line, of)) {
            continue;
        } else {
            of = None;
        }
        let is_left_out = line.contains("core::marker::StructuralPartialEq")
            || without.iter().any(|module| is_in(line, module));
        if !is_left_out {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Returns a path without the text after it.
fn path(text: &str) -> &str {
    let end = text.find(|letter: char| !(letter.is_alphanumeric() || "_:".contains(letter)));
    text[..end.unwrap_or(text.len())].trim_end_matches(':')
}

fn is_method(line: &str, of: &str) -> bool {
    let words = ["pub fn ", "pub async fn ", "pub type ", "pub const "];
    let mut rest = words.iter().filter_map(|word| line.strip_prefix(word));
    rest.any(|rest| {
        rest.strip_prefix(of)
            .is_some_and(|rest| rest.starts_with("::") || rest.starts_with('<'))
    })
}

/// Returns true if the item of a line is the module or is in it. Returns false for a line that only
/// names something of the module.
fn is_in(line: &str, module: &str) -> bool {
    let about = line
        .split_once(" for ")
        .filter(|_| line.starts_with("impl"))
        .map_or(line, |(_, to)| to);
    let root = module.split("::").next().unwrap_or(module);
    let start = about.match_indices(root).map(|(start, _)| start);
    let mut whole = start.filter(|start| {
        !about[..*start].ends_with(|letter: char| letter.is_alphanumeric() || "_:".contains(letter))
    });
    let own = whole.next().map(|start| path(&about[start..]));
    own.and_then(|own| own.strip_prefix(module))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], without: &[&str], expected: &[&str]) {
        assert_eq!(
            essential(&lines.join("\n"), without)
                .lines()
                .collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn methods_of_trait_impls_are_said_by_their_traits() {
        check(
            &[
                "pub struct a::B<T>",
                "impl<T> a::B<T>",
                "pub fn a::B<T>::own(&self)",
                "impl<T> core::clone::Clone for a::B<T>",
                "pub fn a::B<T>::clone(&self) -> a::B<T>",
                "impl core::marker::StructuralPartialEq for a::B",
                "pub fn a::free()",
            ],
            &[],
            &[
                "pub struct a::B<T>",
                "impl<T> a::B<T>",
                "pub fn a::B<T>::own(&self)",
                "impl<T> core::clone::Clone for a::B<T>",
                "pub fn a::free()",
            ],
        );
    }

    #[test]
    fn modules_are_left_out_and_what_names_them_is_not() {
        check(
            &[
                "pub mod a",
                "pub mod a::deep",
                "pub struct a::deep::X",
                "impl core::clone::Clone for a::deep::X",
                "pub fn a::deep::X::clone(&self) -> a::deep::X",
                "impl a::deep::X",
                "pub fn a::deep::X::own(&self)",
                "pub mod a::deeper",
                "pub a::Checked::x: core::option::Option<a::deep::X>",
                "impl core::convert::From<a::deep::X> for a::Checked",
            ],
            &["a::deep"],
            &[
                "pub mod a",
                "pub mod a::deeper",
                "pub a::Checked::x: core::option::Option<a::deep::X>",
                "impl core::convert::From<a::deep::X> for a::Checked",
            ],
        );
    }
}
