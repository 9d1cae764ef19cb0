//! One line cannot be read in a declaration whose logic is written: only that is said, and not that methods and types are unknown.

use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
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
        Making when entry == No => Pending;
        goal Ready when entry == Current => Ready;
    }
    transitions {
        Unseen - Making;
    }
    effects {
        put: call store when entry == No sets { entry = Current } key meta.uid;
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

    async fn put(&self, at: Put<'_>, once: Once<'_>) -> Outcome<PutResult> {
        once.spend(store(&at.this.spec.class)).await
    }
}

/// Stores an empty file.
async fn store(name: &str) -> Result<PutResult, CallError> {
    match name {
        "" => Err(CallError::Refused("a name is missing".to_owned())),
        _ => Ok(PutResult::Current),
    }
}

fn main() {}
