//! Findings about declarations of a group and its members in places that give them no meaning.

use crate::findings::Findings;
use crate::syntax::Life;

/// Each place that names a group, or a member, and may not.
pub(crate) fn misplaced(life: &Life, found: &mut Findings) {
    for group in life.inputs.iter().filter(|input| input.own == "group") {
        if life.volume || life.members(&group.name).next().is_none() {
            found.report("LC105", &group.name);
        }
    }
    for member in life.inputs.iter().filter(|input| input.group.is_some()) {
        let says_more = member.of.is_some()
            || member.every.is_some()
            || member.retained
            || member.is_given_alone;
        if member.own != "owned" || member.says_owned || member.many || says_more {
            found.report("LC105", &member.name);
        }
    }
    for effect in &life.effects {
        let target = life.input(&effect.on);
        if target.is_some_and(|target| target.group.is_some()) {
            found.report("LC105", &effect.name);
        }
    }
    read(life, found);
}

/// The first name of a path.
fn first(path: &str) -> &str {
    path.split('.').next().unwrap_or_default()
}

fn read(life: &Life, found: &mut Findings) {
    let mut needed: Vec<&String> = Vec::new();
    needed.extend(life.effects.iter().flat_map(|effect| &effect.from));
    needed.extend(life.lets.iter().flat_map(|value| &value.from));
    for input in &life.inputs {
        needed.extend(input.of.iter().chain(&input.from).chain(&input.paths));
    }
    let mut asked: Vec<&String> = Vec::new();
    asked.extend(life.facts.iter().flat_map(|fact| &fact.from));
    asked.extend(life.fields.iter().flat_map(|(_, from)| from));
    let of = |name: &String| life.input(first(name));
    for name in &needed {
        if of(name).is_some_and(|input| input.own == "group" || input.group.is_some()) {
            found.report("LC105", first(name));
        }
    }
    for name in asked {
        if of(name).is_some_and(|input| input.own == "group") {
            found.report("LC105", first(name));
        }
    }
}
