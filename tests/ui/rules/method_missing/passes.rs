//! The logic has a method for each poll and for each fact.

use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::{Because, This, lifecycle};
use lifecycle_ui::*;

lifecycle! {
    resource Thing;

    observe {
        store: poll Info by meta.uid every 30s;
    }
    facts {
        entry: { No, Current } from store given store else Unseen;
        full: bool from store given store;
    }
    states {
        Unseen when entry == Unseen => Pending;
        Full when full => Error wakes store;
        Missing when entry == No => Error wakes store;
        goal Ready when entry == Current => Ready;
    }
}

struct Logic;

impl ThingLogic for Logic {
    async fn poll_store(&self, this: This<'_, Thing>) -> Result<Info, CallError> {
        let name = this.meta.name.clone().unwrap_or_default();
        Ok(Info { name })
    }

    fn entry(&self, _: This<'_, Thing>, store: &Info) -> Because<Entry> {
        Because::plain(if store.name.is_empty() {
            Entry::No
        } else {
            Entry::Current
        })
    }

    fn full(&self, this: This<'_, Thing>, store: &Info) -> Because<bool> {
        Because::plain(store.name == this.spec.class)
    }
}

fn main() {}
