//! A group does not fit. It belongs to a resource, and its members are single objects that the
//! resource owns, each found by a name. All members are judged as one, written by `apply each` and
//! `delete each` of the group, and observed together. Therefore a member has no keyword before its
//! type except `optional`, no owner of its own and no `given`. Effects name the group, never a
//! member. Facts and status fields read a member, which may be missing. Builders, shared values,
//! lookups and minted values do not: an object that another write needs is an input of its own.
//!
//! ```text
//! parts: owned { config: ConfigMap by ref; web: owned Service by ref; };   // refused: what is in a group is owned
//! effects { apply config; }                                                // refused: one of a group is not written alone
//! parts: owned { config: ConfigMap by ref; web: Service by ref; };
//! effects { apply each parts; }
//! ```

use proc_macro2::{Ident, Span};

use crate::ast::{Effect, Fragment, Input, Kind, Lifecycle, Lookup, Mode, Path, bare};
use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC105",
    name: "misfit_group",
    group: Group::Syntax,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Location of the error, its description, and the replacement to write instead.
type Wrong = (Span, String, String);

/// Checks every group, and every item that names a group or a member.
pub(crate) fn check(ast: &Lifecycle, sink: &mut Sink) {
    let mut say = |name: &Ident, (span, message, help): Wrong| {
        sink.push(RULE.finding(span, bare(name), message).help(help));
    };
    for input in &ast.inputs {
        if let Some(wrong) = shape(ast, input) {
            say(&input.name, wrong);
        }
    }
    for effect in &ast.effects {
        if let Some(wrong) = written(ast, effect) {
            say(&effect.name(), wrong);
        }
        read(ast, &effect.from, ("a builder", true), &mut say);
    }
    for fact in &ast.facts {
        read(ast, &fact.from, ("a fact", false), &mut say);
    }
    for field in &ast.fields {
        if let crate::ast::FieldOf::Method { from, .. } = &field.what {
            read(ast, from, ("a field", false), &mut say);
        }
    }
    for value in &ast.values {
        let keeper = value.mint.iter().map(|mint| &mint.keeper);
        let from: Vec<Ident> = keeper.chain(&value.from).cloned().collect();
        read(ast, &from, ("a shared value", true), &mut say);
    }
    for input in &ast.inputs {
        let owner = input.of.iter().filter(|_| input.mode != Mode::Noted);
        let found = input.lookup.iter().flat_map(|(_, lookup)| named(lookup));
        let names: Vec<Ident> = owner.cloned().chain(found).collect();
        read(ast, &names, ("a lookup", true), &mut say);
    }
}

/// Reports groups that a fragment declares.
pub(crate) fn in_fragment(fragment: &Fragment, sink: &mut Sink) {
    let inputs = fragment.part.inputs.iter();
    for group in inputs.filter(|input| input.mode == Mode::Group) {
        let name = &group.name;
        let message = format!("`{name}` is a group, and a fragment writes nothing");
        let help = "declare the group in the lifecycles that write it";
        sink.push(RULE.finding(name.span(), bare(name), message).help(help));
    }
}

fn shape(ast: &Lifecycle, input: &Input) -> Option<Wrong> {
    let name = &input.name;
    if input.mode == Mode::Group {
        if ast.kind == Kind::Volume {
            let message = format!("`{name}` is a group, and a volume has no object that owns one");
            let help =
                "declare its members as inputs of their own, `owned .. of` what they belong to";
            return Some((name.span(), message, help.to_owned()));
        }
        let is_empty = ast.members(name).next().is_none();
        // A member may have been lost.
        return (is_empty && ast.taint.names.is_empty() && !ast.taint.everything).then(|| {
            let message = format!("group `{name}` has no member");
            let help = format!("write `{name}: owned {{ config: ConfigMap by ref; .. }};`");
            (name.span(), message, help)
        });
    }
    let member = input.member.as_ref()?;
    let group = &member.of;
    if let Some((span, mode)) = member.mode {
        let message = match mode {
            Mode::Owned => format!("`{name}` is in the group `{group}`, and owned like all of it"),
            Mode::Watched
            | Mode::Shared
            | Mode::Part
            | Mode::Record
            | Mode::Noted
            | Mode::Poll
            | Mode::Probe
            | Mode::Clock
            | Mode::Group => format!(
                "`{name}` is in the group `{group}`, which is owned, and cannot be `{}`",
                mode.keyword()
            ),
        };
        let help = match mode {
            Mode::Owned => format!("write `{name}: Type by ref;`"),
            Mode::Watched
            | Mode::Shared
            | Mode::Part
            | Mode::Record
            | Mode::Noted
            | Mode::Poll
            | Mode::Probe
            | Mode::Clock
            | Mode::Group => "declare it outside of the group, as an input of its own".to_owned(),
        };
        return Some((span, message, help));
    }
    if input.many {
        let message =
            format!("`{name}` is a set, and a member of the group `{group}` is one object");
        let help = "declare it outside of the group: `owned [Type] by labels { .. }`";
        return Some((name.span(), message, help.to_owned()));
    }
    let clauses = [
        ("of", input.of.as_ref().map(Ident::span)),
        ("if", input.only_if.as_ref().map(|(span, _)| *span)),
        ("every", input.every.as_ref().map(|(span, _)| *span)),
        ("retain", input.retain.as_ref().map(|retain| retain.span)),
        ("given", input.given.as_ref().map(|given| given.span)),
    ];
    let (word, span) = clauses
        .into_iter()
        .find_map(|(word, span)| Some((word, span?)))?;
    let message = format!("`{name}` is in the group `{group}`, and has no `{word}` of its own");
    let help = match word {
        "given" => format!(
            "write it behind the group, `{group}: owned {{ .. }} given ..;`, or make `{name}` `optional`"
        ),
        "if" => format!(
            "make `{name}` `optional`, and let its builder return `None` where it is not wanted"
        ),
        _ => format!("leave `{word}` out, or declare `{name}` outside of the group"),
    };
    Some((span, message, help))
}

/// A member is written with its group.
fn written(ast: &Lifecycle, effect: &Effect) -> Option<Wrong> {
    let target = ast.inputs.iter().find(|i| i.name == effect.target)?;
    let group = &target.member.as_ref()?.of;
    let (name, verb) = (effect.name(), effect.verb.keyword());
    let message = format!(
        "effect `{name}` writes `{}` alone, which is judged with the group `{group}`",
        target.name
    );
    let help = format!(
        "write `{verb} each {group}`, or declare `{}` outside of it",
        target.name
    );
    Some((effect.target.span(), message, help))
}

/// Reports names that an item may not read: a group at all, and a member where it must exist.
fn read(
    ast: &Lifecycle,
    from: &[Ident],
    (who, needs): (&str, bool),
    say: &mut impl FnMut(&Ident, Wrong),
) {
    for name in from {
        let Some(input) = ast.inputs.iter().find(|input| input.name == *name) else {
            continue;
        };
        if input.mode == Mode::Group {
            let message = format!("`{name}` is a group, which has no type: {who} cannot read it");
            let members: Vec<String> = ast.members(name).map(|m| format!("`{}`", m.name)).collect();
            let help = match needs {
                false => format!("read a member: {}", members.join(", ")),
                true => {
                    "declare what is read outside of the group, as an input of its own".to_owned()
                }
            };
            say(name, (name.span(), message, help));
        } else if let (Some(member), true) = (&input.member, needs) {
            let message = format!(
                "`{name}` is in the group `{}`, and may not exist: {who} cannot read it",
                member.of
            );
            let help = "declare it outside of the group, as an input of its own; facts and fields may read it";
            say(name, (name.span(), message, help.to_owned()));
        }
    }
}

/// The names that a lookup reads.
fn named(lookup: &Lookup) -> Vec<Ident> {
    let root = |path: &Path| path.root().clone();
    match lookup {
        Lookup::Name { path, .. } | Lookup::Equal { ours: path, .. } => vec![root(path)],
        Lookup::Names { of } | Lookup::Refs { of } | Lookup::Ref { from: of } => of.clone(),
        Lookup::Labels { pairs } => pairs.iter().map(|(_, path)| root(path)).collect(),
        Lookup::Keys { paths } => paths.iter().map(root).collect(),
        Lookup::Owner | Lookup::Namespace => Vec::new(),
    }
}
