//! The sections about the status of an object and about the operations of calls.

use super::tokens::{Broken, Parsed};
use super::{PRECONDITIONS, Parser};
use crate::syntax::{Call, Clause, Condition};

impl Parser {
    pub(super) fn rpc(&mut self) -> Parsed<()> {
        let name = self.cursor.ident()?;
        if PRECONDITIONS.contains(&name.as_str()) {
            let meaning = if self.cursor.eat("never") {
                self.cursor.text();
                None
            } else {
                self.cursor.need("when")?;
                Some(self.cursor.pred()?)
            };
            self.life.preconditions.push((name, meaning));
            return self.cursor.need(";");
        }
        let mut call = Call {
            name,
            ..Call::default()
        };
        if self.cursor.eat("->") {
            call.to = Some(self.cursor.pred()?);
        }
        if self.cursor.eat("by") {
            call.by = self.cursor.idents()?;
        }
        if self.cursor.eat("within") {
            self.cursor.next()?;
            self.cursor.need("else")?;
            call.within = Some(self.cursor.ident()?);
        }
        if self.cursor.eat("{") {
            while !self.cursor.eat("}") {
                let when = self.cursor.pred()?;
                self.cursor.need("=>")?;
                call.refusals.push((when, self.cursor.ident()?));
                self.cursor.text();
                self.cursor.need(";")?;
            }
        } else {
            self.cursor.need(";")?;
        }
        self.life.calls.push(call);
        Ok(())
    }

    pub(super) fn status(&mut self) -> Parsed<()> {
        match self.cursor.ident()?.as_str() {
            "condition" => self.condition(),
            "ready" => {
                let reason = self.cursor.text();
                self.life
                    .reasons
                    .extend(reason.map(|reason| ("ready", reason)));
                self.cursor.text();
                self.cursor.need("from")?;
                let ready = self.cursor.idents()?;
                self.life.ready = Some(ready);
                self.cursor.need(";")
            }
            "implicit" => {
                self.cursor.need("in")?;
                self.life.implicit = Some(self.cursor.ident()?);
                let reason = self.cursor.text();
                self.life
                    .reasons
                    .extend(reason.map(|reason| ("implicit", reason)));
                self.cursor.need(";")
            }
            "kstatus" => {
                if std::mem::replace(&mut self.life.kstatus, true) {
                    self.life.misused.push(("LC003", "kstatus".to_owned()));
                }
                self.cursor.need(";")
            }
            "field" => {
                let name = self.cursor.ident()?;
                let mut from = Vec::new();
                if self.cursor.eat("=") {
                    self.cursor.ident()?;
                } else {
                    self.cursor.need(":")?;
                    self.cursor.skip_type()?;
                    self.cursor.need("from")?;
                    from = self.cursor.idents()?;
                    self.cursor.eat("last_reported");
                }
                self.life.fields.push((name, from));
                self.cursor.need(";")
            }
            "column" => {
                let name = self.cursor.ident()?;
                let path = self.cursor.text();
                self.life.columns.extend(path.map(|path| (name, path)));
                self.cursor.need(";")
            }
            other => Err(Broken(format!("`{other}` is no line of `status`"))),
        }
    }

    fn condition(&mut self) -> Parsed<()> {
        let name = self.cursor.ident()?;
        let mut clauses = Vec::new();
        self.cursor.need("{")?;
        while !self.cursor.eat("}") {
            if self.cursor.eat("use") {
                clauses.extend(self.shared_clauses(&name)?);
                continue;
            }
            let value = self.cursor.ident()?;
            let reason = self.cursor.text();
            self.cursor.text();
            let event = match self.cursor.eat("event") {
                true => self.cursor.text(),
                false => None,
            };
            let mut when = None;
            if !self.cursor.eat("otherwise") {
                self.cursor.need("when")?;
                when = Some(self.cursor.pred()?);
            }
            self.cursor.need(";")?;
            clauses.push(Clause {
                value,
                reason,
                event,
                when,
            });
        }
        self.life.conditions.push(Condition { name, clauses });
        Ok(())
    }
}
