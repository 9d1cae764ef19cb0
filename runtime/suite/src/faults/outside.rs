//! Mutations and questions outside Kubernetes on the same line: providers that stand in for the outside pass through here, so that plans reach them too.

use std::future::pending;
use std::time::Duration;

use super::What;
use super::line::Line;
use super::state::Class;
use lifecycle_runtime::lifecycle::CallError;

/// When a provider that answers 429 wants to be asked again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

impl Line {
    /// Applies a mutation at a provider: it counts as a write.
    ///
    /// # Errors
    /// Those of the mutation and of faults: 422 is a refusal, all others are failures.
    pub async fn mutate<R: std::fmt::Debug>(
        &self,
        what: &str,
        mutation: impl FnOnce() -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        self.carry(what, true, async { mutation() }, said).await
    }

    /// Asks a provider: it counts as a request.
    ///
    /// # Errors
    /// Those of the question and of faults.
    pub async fn ask<R: std::fmt::Debug>(
        &self,
        what: &str,
        question: impl FnOnce() -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        self.carry(what, false, async { question() }, said).await
    }

    /// Runs what takes its time: a mutation, which counts as a write, or a question.
    pub(crate) async fn carry<R>(
        &self,
        what: &str,
        is_mutation: bool,
        operation: impl Future<Output = Result<R, CallError>>,
        said: impl Fn(&Result<R, CallError>) -> String,
    ) -> Result<R, CallError> {
        let class = match is_mutation {
            true => Class::Write,
            false => Class::Read,
        };
        if self.is_dead() {
            return pending().await;
        }
        let number = self.number();
        self.note(number, &format!("OUTSIDE {what}"));
        let fault = self.begin(&format!("OUTSIDE {what}"), class, "");
        let broken = |why: &str| {
            self.note(number, &format!("-> {why}"));
            Err(CallError::Failed(why.to_owned()))
        };
        if self.is_cut() {
            return broken("the connection was broken by a fault");
        }
        match fault {
            Some(What::CrashBefore) => {
                self.crash();
                return pending().await;
            }
            Some(What::Timeout) => return pending().await,
            Some(What::Answer(422)) => {
                self.note(number, "-> refused");
                return Err(CallError::Refused(
                    "a fault does not let it pass".to_owned(),
                ));
            }
            Some(What::Answer(429)) => {
                self.note(number, "-> too many requests");
                return Err(CallError::Later {
                    why: "too many requests".to_owned(),
                    after: RETRY_AFTER,
                });
            }
            Some(What::Answer(code)) => return broken(&format!("the provider answered {code}")),
            Some(_) | None => {}
        }
        let done = operation.await;
        self.note(number, &format!("-> {}", said(&done)));
        match fault {
            Some(What::CrashAfter) => {
                self.crash();
                pending().await
            }
            Some(What::Silent) => pending().await,
            Some(What::Lost) => broken("the connection was broken by a fault"),
            Some(_) | None => done,
        }
    }
}

fn said<R: std::fmt::Debug>(done: &Result<R, CallError>) -> String {
    format!("{done:?}")
}
