//! Resolves conditions, the roll-up, fields and columns.

use proc_macro2::Ident;

use super::Builder;
use super::scope::Noun;
use crate::ast;
use crate::check::declared_twice;
use crate::errors::Item;
use crate::model::{Clause, Column, Condition, Field, FieldOf, Implicit, Ready, Source, Use};

impl Builder<'_> {
    pub(super) fn conditions(&mut self) -> Vec<Condition> {
        let ast = self.ast;
        let mut conditions = Vec::new();
        for condition in &ast.conditions {
            let place = Item::new("condition", &condition.name);
            let clauses = condition.clauses.iter();
            conditions.push(Condition {
                name: condition.name.clone(),
                doc: condition.doc.clone(),
                clauses: clauses.map(|c| self.clause(c, &place)).collect(),
            });
        }
        conditions
    }

    fn clause(&mut self, clause: &ast::Clause, place: &Item) -> Clause {
        Clause {
            status: clause.status,
            reason: clause.reason.clone(),
            message: clause.message.clone(),
            event: clause.event.clone(),
            when: clause.when.as_ref().map(|w| self.pred_or_true(w, place)),
            span: clause.span,
        }
    }

    pub(super) fn ready(&mut self) -> Option<Ready> {
        let written = self.ast.ready.as_ref()?;
        let same = self.ast.conditions.iter().find(|c| c.name == "Ready");
        if let Some(condition) = same {
            let twice = declared_twice::roll_up(&condition.name, written.span);
            self.sink.push(twice);
        }
        let mut from = Vec::new();
        for name in &written.from {
            let found = self.scope.conditions.get(&name.to_string()).copied();
            from.extend(self.found(found, name, Noun::Condition, &Item::section("ready")));
        }
        Some(Ready {
            reason: written.reason.clone(),
            message: written.message.clone(),
            from,
            span: written.span,
        })
    }

    pub(super) fn implicit(&mut self) -> Option<Implicit> {
        let written = self.ast.implicit.as_ref()?;
        let name = &written.condition;
        let found = self.scope.conditions.get(&name.to_string()).copied();
        let found = self.found(found, name, Noun::Condition, &Item::section("implicit"));
        Some(Implicit {
            condition: found?,
            reason: written.reason.clone(),
        })
    }

    pub(super) fn fields(&mut self) -> Vec<Field> {
        let ast = self.ast;
        let mut fields = Vec::new();
        for field in &ast.fields {
            let what = match &field.what {
                ast::FieldOf::Method {
                    ty,
                    from,
                    last_reported,
                } => FieldOf::Method {
                    ty: ty.clone(),
                    from: self.field_uses(from, &Item::new("field", &field.name)),
                    last_reported: *last_reported,
                },
                ast::FieldOf::Phase => FieldOf::Phase,
                ast::FieldOf::Reason => FieldOf::Reason,
                ast::FieldOf::Message => FieldOf::Message,
            };
            fields.push(Field {
                name: field.name.clone(),
                doc: field.doc.clone(),
                what,
            });
        }
        fields
    }

    /// The status is a projection of the facts, so fields may read facts too.
    fn field_uses(&mut self, names: &[Ident], place: &Item) -> Vec<Use> {
        let mut uses = Vec::new();
        for name in names {
            let known = self.scope.source(name, self.ast.kind);
            let fact = self.scope.facts.get(&name.to_string());
            match (known, fact) {
                (None, Some(fact)) => uses.push(Use {
                    source: Source::Fact(*fact),
                    name: name.clone(),
                }),
                _ => uses.extend(self.uses(std::slice::from_ref(name), place)),
            }
        }
        uses
    }

    pub(super) fn columns(&mut self) -> Vec<Column> {
        let columns = self.ast.columns.iter();
        columns
            .map(|column| Column {
                name: column.name.clone(),
                json_path: column.json_path.clone(),
            })
            .collect()
    }
}
