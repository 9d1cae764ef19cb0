//! A fact decides by metadata and spec.

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
        Because::plain(this.meta.name.as_ref() == Some(&this.spec.class))
    }
}

fn main() {}
