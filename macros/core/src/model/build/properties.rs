//! Resolves the properties that an author claims.

use proc_macro2::Ident;

use super::Builder;
use crate::ast;
use crate::check::declared_twice;
use crate::errors::Item;
use crate::model::{EffectId, Kind, Property, PropertyOf, Scope, StateId};

impl Builder<'_> {
    /// Those that resolve.
    pub(super) fn properties(&mut self) -> Vec<Property> {
        let ast = self.ast;
        let resolved = ast.properties.iter().map(|one| self.property(one));
        resolved.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    fn property(&mut self, property: &ast::Property) -> Option<Property> {
        let (what, name) = match &property.what {
            ast::PropertyOf::Always {
                pred,
                states,
                at_rest,
            } => {
                let place = Item::section("always");
                let pred = self.pred(pred, &place);
                let scope = self.all_scopes(states, &place);
                let (pred, scope, at_rest) = (pred?, scope?, at_rest.is_some());
                let name = always(states, at_rest);
                let what = PropertyOf::Always {
                    pred,
                    scope,
                    at_rest,
                };
                (what, name)
            }
            ast::PropertyOf::Never { effect, pred } => {
                let place = Item::section("never");
                let id = self.effect(effect, &place);
                let pred = self.pred(pred, &place)?;
                let what = PropertyOf::Never { effect: id?, pred };
                (what, format!("never {effect}"))
            }
            ast::PropertyOf::Before { first, then } => {
                let (one, other) = self.pair(first, then);
                let what = PropertyOf::Before {
                    first: one?,
                    then: other?,
                };
                (what, format!("{first} before {then}"))
            }
            ast::PropertyOf::Reaches { to, from, .. } => {
                let name = format!("reaches {}", joined(to, " | "));
                let (to, from) = (self.all_states(to), self.all_states(from));
                let what = PropertyOf::Reaches {
                    to: to?,
                    from: from?,
                };
                (what, name)
            }
        };
        Some(Property {
            what,
            name,
            span: property.span,
        })
    }

    fn pair(&mut self, first: &Ident, then: &Ident) -> (Option<EffectId>, Option<EffectId>) {
        let place = Item::section("before");
        (self.effect(first, &place), self.effect(then, &place))
    }

    fn all_states(&mut self, names: &[Ident]) -> Option<Vec<StateId>> {
        let place = Item::section("reaches");
        self.once(names);
        let states = names.iter().map(|name| self.state(name, &place));
        states.collect::<Vec<_>>().into_iter().collect()
    }

    fn all_scopes(&mut self, names: &[Ident], place: &Item) -> Option<Vec<Scope>> {
        self.once(names);
        let scopes = names.iter().map(|name| self.scope_named(name, place));
        scopes.collect::<Vec<_>>().into_iter().collect()
    }

    /// Resolves the name of a state in a property. A declared state never has the name of an
    /// implicit one.
    fn scope_named(&mut self, name: &Ident, place: &Item) -> Option<Scope> {
        match (name.to_string().as_str(), self.ast.kind) {
            ("Deleting", Kind::Resource) => Some(Scope::Deleting),
            ("Refused", Kind::Resource) => Some(Scope::Refused),
            (_, Kind::Resource | Kind::Volume) => self.state(name, place).map(Scope::State),
        }
    }

    fn once(&mut self, names: &[Ident]) {
        for (at, name) in names.iter().enumerate() {
            if let Some(first) = names[..at].iter().find(|first| *first == name) {
                let twice = declared_twice::diagnostic(name, first.span());
                self.sink.push(twice);
            }
        }
    }
}

fn always(states: &[Ident], at_rest: bool) -> String {
    let mut name = "always".to_owned();
    if !states.is_empty() {
        name += &format!(" in {}", joined(states, ", "));
    }
    if at_rest {
        name += " at rest";
    }
    name
}

fn joined(names: &[Ident], mark: &str) -> String {
    let names: Vec<String> = names.iter().map(Ident::to_string).collect();
    names.join(mark)
}
