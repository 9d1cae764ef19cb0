//! LC063: a fact decides by the status that we wrote ourselves.

use lifecycle_runtime::{Because, This, lifecycle};
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    facts {
        named: bool from self;
    }
    states {
        Nameless when !named => Error wakes self;
        goal Ready when named => Ready;
    }
}

struct Logic;

impl ThingLogic for Logic {
    fn named(&self, this: This<'_, Thing>) -> Because<bool> {
        Because::plain(this.status.is_some())
    }
}

fn main() {}
