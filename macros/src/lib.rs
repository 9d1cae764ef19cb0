//! The `lifecycle!` and `fragment!` macros: a shell around `lifecycle_macros_core`, and who reads the file of a lock for it.

#![deny(missing_docs)]

use std::path::{Path, PathBuf};

use lifecycle_macros_core::{LockText, lock};
use proc_macro::TokenStream;
use quote::quote;

/// Declares the lifecycle of a resource or of a volume: its observations, their meaning, its
/// effects, and its status. The declaration is checked in every combination of facts. It is
/// rejected with a counterexample if it could get stuck, run in circles, or report something
/// untrue.
///
/// ```text
/// lifecycle! {
///     /// Keeps a copy of a ConfigMap under its own name.
///     resource Mirror;
///
///     observe {
///         source: ConfigMap       by name spec.source;
///         copy:   owned ConfigMap by name meta.name;
///     }
///     states {                                         // read like a match: the first that fits
///         NoSource  when !source                    => Error wakes source, self;
///         Taken     when copy == Foreign            => Error wakes copy, self;
///         Draining  when copy == Terminating        => Pending;
///         Copying   when copy in { Absent, Stale }  => Pending;
///         goal Done when copy == Current            => Ready;
///     }
///     effects { apply copy from source; }              // one effect is one write
///     status {
///         condition Copied {
///             True when source && copy == Current;
///             False "NoSource"  when !source;
///             False "NameTaken" when copy == Foreign;
///             Unknown "Copying" otherwise;
///         }
///         ready from Copied;
///     }
/// }
/// ```
///
/// # Sections
///
/// Each at most once, in any order.
///
/// | section | an item of it |
/// | --- | --- |
/// | `observe` | `name: K by name spec.other;` with `owned`, `shared`, `part`, `record`, `poll`, `probe` before the type; `[K]` is a set; `by ref`, `by labels { .. }`, `by namespace` and others; `given ..` last |
/// | `facts` | `name: { A, B } from input given predicate else Value;`, `held name: { No \| Yes } ..`, `name: count { .. } of set;`, `name = predicate;`, `let name: Type from input;`, `mint name: Type in keeper;`, `never predicate;` |
/// | `states` | `Name when predicate => Pending;`, `goal` before the name, `wakes input, self` or `overdue 10min` behind the phase: `Pending`, `Ready`, `Error`, `Ignored`, `Suspended` |
/// | `effects` | `apply input from other when predicate;`, `delete input;`, `adopt input when predicate;`, `name: call input when predicate sets { fact = Value } undo other key meta.uid;` |
/// | `promises` | `name: predicate sets { fact = Value } or { fact = Other };` |
/// | `transitions` | `From \| Other -> To;`, `_ -> Failed;` |
/// | `status` | `condition Name { .. }`, `ready from Name;`, `field name: Type from input;`, `column Age;`, `kstatus;` |
/// | `teardown` | `effect until predicate;`, `abandoned when predicate "why";` |
/// | `properties` | `always predicate in State;`, `never effect while predicate;`, `first before then;`, `reaches State from Other;` |
/// | `rpc` | of a volume: `NodePublishVolume -> Published by publish { predicate => CODE "why"; }` |
/// | `retired` | what an older version left; beside it `lock "file.lock";` |
/// | | `allow LC064 item "why";`, `use fragment;` |
///
/// # What an input can be
///
/// | input | values |
/// | --- | --- |
/// | read only | `Absent`, `Present`; with `by name path?` also `Unnamed` |
/// | `owned` | `Absent`, `Foreign`, `Terminating`, `Stale`, `Current`; where an effect adopts it also `Adoptable` |
/// | `shared` | `Absent`, `Terminating`, `Stale`, `Current` |
/// | a set that is ours | `Behind`, `Surplus`, `Draining`, `Foreign`, `Current` |
/// | `part`, `record` | `Absent`, `Stale`, `Current` |
/// | `poll` | `Unknown`, `Known` |
///
/// A bare name is `true`, `Present` or `Known`. A question that is not evaluated, because its
/// `given` does not hold, has its first value or the one after `else`.
///
/// # What is generated
///
/// The macro generates a type for each fact with values, `Facts`, `State`, `Seen`, and a type for
/// the arguments of each builder. It also generates the trait `<Resource>Logic` that you implement,
/// the constant `IR`, and `machine(logic)`, which an `Operator` runs. Therefore give each lifecycle
/// a module of its own.
///
/// # More
///
/// The pages of the repository, `docs/language.md` and those below it, describe all of this in
/// full. `docs/rules/` explains each code, and `lifecycle-operator check --explain LC021` prints
/// the same.
#[proc_macro]
pub fn lifecycle(declaration: TokenStream) -> TokenStream {
    let declaration = proc_macro2::TokenStream::from(declaration);
    if let Some(refused) = crowded(&declaration) {
        return refused.into();
    }
    // An expansion for an editor has no file, and checks no lock.
    let Some(path) = lock_path(&declaration) else {
        return lifecycle_macros_core::expand(declaration).into();
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => LockText::Read(text),
        Err(why) => LockText::Unreadable(why.to_string()),
    };
    let rebuilt = rebuilt(&path, &text);
    let items = lifecycle_macros_core::expand_locked(declaration, text);
    quote!(#items #rebuilt).into()
}

/// Declares items that several lifecycles share: inputs, facts, states, promises and parts of the
/// status. Its `needs` lists the items that each of them has to declare. `use name;` in a lifecycle
/// inserts it. `docs/fragments.md` describes the details.
#[proc_macro]
pub fn fragment(declaration: TokenStream) -> TokenStream {
    lifecycle_macros_core::expand_fragment(declaration.into()).into()
}

/// The expansion of a second lifecycle of a module.
fn crowded(declaration: &proc_macro2::TokenStream) -> Option<proc_macro2::TokenStream> {
    let first = declaration.clone().into_iter().next()?;
    let source = first.span().unwrap().local_file()?;
    let source = std::fs::read_to_string(source).ok()?;
    lifecycle_macros_core::expand_crowded(&source, declaration)
}

/// The file of the lock, where the lifecycle names one: beside the source that names it.
fn lock_path(declaration: &proc_macro2::TokenStream) -> Option<PathBuf> {
    let (path, span) = lock::named(declaration)?;
    let source = span.unwrap().local_file()?;
    let folder = source.parent().unwrap_or(Path::new("."));
    std::path::absolute(folder.join(path)).ok()
}

/// Returns the tokens that make rustc look again when the file changes.
fn rebuilt(path: &Path, text: &LockText) -> Option<proc_macro2::TokenStream> {
    let path = path.to_str()?;
    let is_there = matches!(text, LockText::Read(_));
    is_there.then(|| {
        quote!(
            const _: &str = ::core::include_str!(#path);
        )
    })
}
