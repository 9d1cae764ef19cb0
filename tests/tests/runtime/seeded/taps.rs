//! Seeded bugs around a resource that is held outside Kubernetes and needs cleanup.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::sync::Arc;

use kube::CustomResourceExt;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::{Because, This};
use lifecycle_suite::faults::Line;
use lifecycle_suite::resources::{ExternalSystem, Invariant, Suite};

use super::found_by;
use super::tap::{
    self, CloseTap, CloseTapResult, Level, OpenTap, OpenTapResult, Tanks, Tap, TapLogic, Valve,
};

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): something_held_that_is_not_given_back_is_found, a_call_that_changes_two_things_is_found, a_call_that_sets_something_else_is_found, an_undo_that_does_nothing_is_found]
}

const FIXTURES: &str = "
variant: kitchen
apiVersion: tests.lifecycle/v1
kind: Tap
metadata: { name: t }
spec: { tank: big }
";

impl ExternalSystem for Tanks {
    fn changes(&self) -> u64 {
        self.with_state(|inner| inner.calls.len() as u64)
    }

    fn leftovers(&self) -> Vec<String> {
        let open = |inner: &mut tap::Inner| {
            let taps = inner.open.iter().flat_map(|(tank, taps)| {
                taps.iter()
                    .map(move |uid| format!("a tap of {tank} is open for {uid}"))
            });
            taps.collect()
        };
        self.with_state(open)
    }

    fn copy(&self) -> Option<Arc<dyn ExternalSystem>> {
        let again = Self::default();
        let inner = self.with_state(|inner| inner.clone());
        again.with_state(|other| *other = inner);
        Some(Arc::new(again))
    }

    fn answer(&self, up: bool) -> bool {
        self.with_state(|inner| inner.down = !up);
        true
    }

    fn meddlings(&self) -> Vec<String> {
        vec![
            "close all".to_owned(),
            "fill up".to_owned(),
            "make room".to_owned(),
        ]
    }

    fn perturb(&self, what: &str) {
        self.with_state(|inner| match what {
            "close all" => inner.open.clear(),
            "fill up" => inner.full = true,
            _ => inner.full = false,
        });
    }
}

/// Kind of seeded bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    /// The cleanup does nothing and reports success, and the object is released all the same.
    Leak,
    /// One call opens two.
    TwoTaps,
    /// The call opens a tap of another tank and reports that this one is open.
    Elsewhere,
    /// The cleanup does nothing and reports success.
    Idle,
}

struct Plumbing {
    tanks: Tanks,
    line: Line,
    mistake: Mistake,
}

impl Plumbing {
    fn open(&self, tank: String, key: &str) -> Result<(), CallError> {
        self.tanks.with_state(|inner| {
            inner.calls.push(format!("open {key}"));
            if inner.down {
                return Err(CallError::Failed("the tank does not answer".to_owned()));
            }
            let taps = inner.open.entry(tank).or_default();
            if inner.full && !taps.contains(key) {
                return Err(CallError::Refused("no tap is free".to_owned()));
            }
            taps.insert(key.to_owned());
            Ok(())
        })
    }

    fn close(&self, tank: String, key: &str) -> Result<(), CallError> {
        self.tanks.with_state(|inner| {
            inner.calls.push(format!("close {key}"));
            if inner.down {
                return Err(CallError::Failed("the tank does not answer".to_owned()));
            }
            inner.open.entry(tank).or_default().remove(key);
            Ok(())
        })
    }
}

impl TapLogic for Plumbing {
    fn valve(&self, this: This<'_, Tap>, level: &Level) -> Because<Valve> {
        let uid = this.meta.uid.clone().unwrap_or_default();
        let goes = self.mistake == Mistake::Leak && this.meta.deletion_timestamp.is_some();
        Because::plain(if level.open.contains(&uid) && !goes {
            Valve::Current
        } else {
            Valve::No
        })
    }

    async fn poll_tank(&self, this: This<'_, Tap>) -> Result<Level, CallError> {
        let tank = this.spec.tank.clone();
        let ask = || {
            self.tanks.with_state(|inner| {
                if inner.down {
                    return Err(CallError::Failed("the tank does not answer".to_owned()));
                }
                let open = inner.open.get(&tank).cloned().unwrap_or_default();
                Ok(Level { open })
            })
        };
        self.line.query("level", ask).await
    }

    async fn open_tap(&self, at: OpenTap<'_>, once: Once<'_>) -> Outcome<OpenTapResult> {
        let (key, tank) = (once.key().to_owned(), at.this.spec.tank.clone());
        once.spend(async {
            let open = || {
                if self.mistake == Mistake::TwoTaps {
                    self.open(tank.clone(), &format!("{key}-2"))?;
                }
                if self.mistake == Mistake::Elsewhere {
                    return self.open(format!("beside {tank}"), &key);
                }
                self.open(tank.clone(), &key)
            };
            self.line.mutate("open", open).await?;
            Ok(OpenTapResult::Current)
        })
        .await
    }

    async fn close_tap(&self, at: CloseTap<'_>, once: Once<'_>) -> Outcome<CloseTapResult> {
        let (key, tank) = (once.key().to_owned(), at.this.spec.tank.clone());
        once.spend(async {
            if !matches!(self.mistake, Mistake::Leak | Mistake::Idle) {
                self.line.mutate("close", || self.close(tank, &key)).await?;
            }
            Ok(CloseTapResult::No)
        })
        .await
    }
}

fn suite(mistake: Mistake) -> Suite {
    let machine = move |tanks, line| {
        tap::machine(Plumbing {
            tanks,
            line,
            mistake,
        })
    };
    Suite::outside(Tanks::default, machine)
        .define(&Tap::crd())
        .fixtures(FIXTURES)
        .depth(3)
        .faults(150, 20)
}

fn something_held_that_is_not_given_back_is_found() {
    found_by(Invariant::NoLeak, suite(Mistake::Leak));
}

fn a_call_that_changes_two_things_is_found() {
    found_by(Invariant::OneWrite, suite(Mistake::TwoTaps));
}

fn a_call_that_sets_something_else_is_found() {
    found_by(Invariant::DeclaredOutcome, suite(Mistake::Elsewhere));
}

fn an_undo_that_does_nothing_is_found() {
    found_by(Invariant::NoLeak, suite(Mistake::Idle));
}
