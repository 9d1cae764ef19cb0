//! Resolves the section `rpc`: the meanings of the preconditions of the interface, and the answers
//! to each call.

use proc_macro2::{Ident, Span};

use super::Builder;
use super::scope::Noun;
use crate::ast;
use crate::check::{declared_twice, unknown_name};
use crate::csi;
use crate::errors::Item;
use crate::model::{
    Call, EffectId, Meaning, Path, Precondition, Refusal, Source, Target, Use, Within,
};

impl Builder<'_> {
    pub(super) fn preconditions(&mut self) -> Vec<Precondition> {
        let ast = self.ast;
        let mut preconditions: Vec<Precondition> = Vec::new();
        for written in ast.rpc.iter().flat_map(|rpc| &rpc.preconditions) {
            let place = Item::new("precondition", &written.name);
            let meaning = match &written.meaning {
                ast::Meaning::When(when) => Meaning::When(self.pred_or_true(when, &place)),
                ast::Meaning::Never(why) => Meaning::Never(why.clone()),
            };
            let Some(precondition) = csi::Precondition::named(&written.name.to_string()) else {
                continue;
            };
            if let Some(first) = preconditions
                .iter()
                .find(|first| first.precondition == precondition)
            {
                let twice = declared_twice::diagnostic(&written.name, first.span);
                self.sink.push(twice);
                continue;
            }
            preconditions.push(Precondition {
                precondition,
                meaning,
                span: written.name.span(),
            });
        }
        preconditions
    }

    pub(super) fn calls(&mut self) -> Vec<Call> {
        let ast = self.ast;
        let mut calls: Vec<Call> = Vec::new();
        for written in ast.rpc.iter().flat_map(|rpc| &rpc.calls) {
            let Some(call) = self.call(written) else {
                continue;
            };
            match calls.iter().find(|first| first.rpc == call.rpc) {
                Some(first) => {
                    let twice = declared_twice::diagnostic(&call.name, first.name.span());
                    self.sink.push(twice);
                }
                None => calls.push(call),
            }
        }
        calls
    }

    /// `None` if the interface knows no such call.
    fn call(&mut self, call: &ast::Call) -> Option<Call> {
        let place = Item::new("rpc", &call.name);
        let target = match &call.target {
            Some(target) => self.target(target, &place),
            None => Target::Nothing,
        };
        let by = self.steps(&call.by, &place);
        let within = call.within.as_ref().and_then(|within| {
            Some(Within {
                time: within.time,
                code: self.code(&within.code, &place)?,
                span: within.code.span(),
            })
        });
        let mut refusals = Vec::new();
        for refusal in &call.refusals {
            let when = self.pred_or_true(&refusal.when, &place);
            refusals.extend(self.code(&refusal.code, &place).map(|code| Refusal {
                when,
                code,
                code_span: refusal.code.span(),
                why: refusal.why.clone(),
            }));
        }
        Some(Call {
            rpc: self.rpc(&call.name)?,
            name: call.name.clone(),
            doc: call.doc.clone(),
            target,
            by,
            within,
            refusals,
        })
    }

    /// A bare name may be a state; facts begin with a small letter.
    fn target(&mut self, target: &ast::Pred, place: &Item) -> Target {
        if let ast::PredKind::There(name) = &target.kind {
            let text = name.to_string();
            let known = self.scope.states.get(&text).copied();
            if known.is_some() || text.starts_with(char::is_uppercase) {
                let found = self.found(known, name, Noun::State, place);
                return found.map_or(Target::Nothing, |state| Target::State(state, name.span()));
            }
        }
        Target::Pred(self.pred_or_true(target, place))
    }

    fn steps(&mut self, names: &[Ident], place: &Item) -> Vec<(EffectId, Span)> {
        let mut steps: Vec<(EffectId, Span)> = Vec::new();
        for name in names {
            let Some(effect) = self.effect(name, place) else {
                continue;
            };
            match steps.iter().find(|(step, _)| *step == effect) {
                Some((_, first)) => self.sink.push(declared_twice::diagnostic(name, *first)),
                None => steps.push((effect, name.span())),
            }
        }
        steps
    }

    fn rpc(&mut self, name: &Ident) -> Option<csi::Rpc> {
        let text = name.to_string();
        let found = csi::Rpc::named(&text);
        if found.is_none() {
            let known = csi::Rpc::ALL.iter().map(|rpc| rpc.name());
            let instead = csi::why_undeclared(&text);
            let near = instead.map_or_else(|| unknown_name::nearest(&text, known), |_| None);
            let place = Item::section("rpc");
            let noun = instead.map_or("rpc", |_| "call to declare");
            let unknown = unknown_name::diagnostic(name, noun, &place, near, instead);
            self.lost(name, unknown);
        }
        found
    }

    fn code(&mut self, name: &Ident, place: &Item) -> Option<csi::Code> {
        let text = name.to_string();
        let found = csi::Code::named(&text);
        if found.is_none() {
            let known = csi::Code::ALL.iter().map(|code| code.name());
            let near = unknown_name::nearest(&text, known);
            let unknown = unknown_name::diagnostic(name, "code", place, near, None);
            self.lost(name, unknown);
        }
        found
    }

    /// Returns the fields of the request that a fact reads by themselves.
    pub(super) fn read_fields(&mut self, fields: &[Path], place: &Item) -> Vec<Use> {
        let mut uses = Vec::new();
        for path in fields {
            let request = self.source(path.root(), place);
            let (Some(Source::Request), Some(name)) = (request, path.parts.last()) else {
                continue;
            };
            match csi::RequestField::named(&name.to_string()) {
                Some(field) => uses.push(Use {
                    source: Source::Field(field),
                    name: name.clone(),
                }),
                None => {
                    let unknown = unknown_name::read_field(name, place);
                    self.lost(name, unknown);
                }
            }
        }
        uses
    }

    /// Of the request a lookup can go by a field that some call carries, and by nothing inside it.
    pub(super) fn request_path(&mut self, path: &Path, place: &Item) {
        let known = csi::key_fields();
        let wrong = match path.parts.as_slice() {
            [_, field] if known.iter().any(|name| field == name) => return,
            [_, field] => field,
            [_, _, deeper, ..] => deeper,
            _ => path.root(),
        };
        let near = unknown_name::nearest(&wrong.to_string(), known.iter().copied());
        let unknown = unknown_name::request_field(wrong, place, near, &known);
        self.lost(wrong, unknown);
    }
}
