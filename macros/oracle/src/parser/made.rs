//! Parses minted values and the teardown.

use super::Parser;
use super::tokens::{Broken, Parsed};
use crate::syntax::{Let, Mint, Step};

impl Parser {
    pub(super) fn mint(&mut self) -> Parsed<()> {
        self.cursor.need("mint")?;
        let name = self.cursor.ident()?;
        self.cursor.need(":")?;
        self.cursor.skip_type()?;
        self.cursor.need("in")?;
        let keeper = self.cursor.ident()?;
        let mut from = vec![keeper.clone()];
        if self.cursor.eat("from") {
            from.extend(self.cursor.idents()?);
        }
        let until = match self.cursor.eat("until") {
            true => Some(self.cursor.pred()?),
            false => None,
        };
        self.life.lets.push(Let {
            name,
            from,
            given: None,
            mint: Some(Mint { keeper, until }),
        });
        self.cursor.need(";")
    }

    pub(super) fn teardown(&mut self) -> Parsed<()> {
        let effect = self.cursor.ident()?;
        let mut when = None;
        if self.cursor.eat("when") {
            when = Some(self.cursor.pred()?);
        }
        if self.cursor.eat("until") {
            let until = self.cursor.pred()?;
            self.life.steps.push(Step {
                effect,
                when,
                until,
            });
            return self.cursor.need(";");
        }
        let why = self.cursor.text();
        let why = why.filter(|why| effect == "abandoned" && !why.trim().is_empty());
        let (Some(when), Some(_)) = (when, why) else {
            return Err(Broken(format!("`{effect}` is over nowhere")));
        };
        self.life.abandoned.push(when);
        self.cursor.need(";")
    }
}
