//! Positions of the names of a new crate in the text of a template.

/// Names of the templates, and the replacement of each. The longest match counts.
#[derive(Debug)]
pub(super) struct Names(Vec<(&'static str, String)>);

impl Names {
    /// Returns the requested names.
    pub(super) fn new(name: &str, kind: &str, group: &str, many: Option<&str>) -> Self {
        let lower = kind.to_lowercase();
        let plural = many.map_or_else(|| plural(&lower), str::to_owned);
        let module = name.replace('-', "_");
        Self(vec![
            ("website-operator", name.to_owned()),
            ("shop-operator", name.to_owned()),
            ("website_operator", module.clone()),
            ("shop_operator", module),
            ("web.example.org", group.to_owned()),
            ("shop.example.org", group.to_owned()),
            ("websites", plural.clone()),
            ("shops", plural),
            ("Website", kind.to_owned()),
            ("Shop", kind.to_owned()),
            ("website", lower.clone()),
            ("shop", lower),
        ])
    }

    /// A text with these names instead of those of the template.
    pub(super) fn put_into(&self, text: &str) -> String {
        let (mut out, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(character) = rest.chars().next() {
            match self.0.iter().find(|(old, _)| rest.starts_with(old)) {
                Some((old, new)) => {
                    out.push_str(new);
                    rest = &rest[old.len()..];
                }
                None => {
                    out.push(character);
                    rest = &rest[character.len_utf8()..];
                }
            }
        }
        out
    }
}

/// As `kubectl get` takes it; English has more exceptions than these.
fn plural(lower: &str) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| lower.ends_with(ending));
    match lower.strip_suffix('y') {
        _ if ends(&["s", "x", "z", "ch", "sh"]) => format!("{lower}es"),
        Some(stem) if !ends(&["ay", "ey", "oy", "uy"]) => format!("{stem}ies"),
        Some(_) | None => format!("{lower}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_follow_the_usual_rules() {
        for (one, many) in [
            ("website", "websites"),
            ("proxy", "proxies"),
            ("gateway", "gateways"),
            ("box", "boxes"),
            ("class", "classes"),
            ("batch", "batches"),
        ] {
            assert_eq!(plural(one), many);
        }
    }

    #[test]
    fn names_are_put_in_once_and_never_into_each_other() {
        let names = Names::new("my-website-operator", "Websites2", "website.test", None);
        let text = "website-operator website_operator Website websites.web.example.org";
        let expected = "my-website-operator my_website_operator Websites2 websites2s.website.test";
        assert_eq!(names.put_into(text), expected);
    }
}
