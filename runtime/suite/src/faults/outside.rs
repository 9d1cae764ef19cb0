//! Mutations and queries outside Kubernetes on the same line. Providers that simulate external
//! systems go through here, so that plans reach them too.

use std::future::pending;
use std::time::Duration;

use super::FaultKind;
use super::line::Line;
use super::state::Class;
use lifecycle_runtime::lifecycle::CallError;

/// Retry-After duration of a provider that answers 429.
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
        self.carry(what, true, async { mutation() }, describe_result)
            .await
    }

    /// Queries a provider. Counts as a request.
    ///
    /// # Errors
    /// Those of the question and of faults.
    pub async fn query<R: std::fmt::Debug>(
        &self,
        what: &str,
        question: impl FnOnce() -> Result<R, CallError>,
    ) -> Result<R, CallError> {
        self.carry(what, false, async { question() }, describe_result)
            .await
    }

    /// Runs an operation that takes time: a mutation, which counts as a write, or a query.
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
        let number = self.next_number();
        self.record(number, &format!("OUTSIDE {what}"));
        let fault = self.begin(&format!("OUTSIDE {what}"), class, "");
        let broken = |why: &str| {
            self.record(number, &format!("-> {why}"));
            Err(CallError::Failed(why.to_owned()))
        };
        if self.is_cut() {
            return broken("the connection was broken by a fault");
        }
        match fault {
            Some(FaultKind::CrashBefore) => {
                self.crash();
                return pending().await;
            }
            Some(FaultKind::Timeout) => return pending().await,
            Some(FaultKind::Answer(422)) => {
                self.record(number, "-> refused");
                return Err(CallError::Refused(
                    "an injected fault rejects it".to_owned(),
                ));
            }
            Some(FaultKind::Answer(429)) => {
                self.record(number, "-> too many requests");
                return Err(CallError::Later {
                    why: "too many requests".to_owned(),
                    after: RETRY_AFTER,
                });
            }
            Some(FaultKind::Answer(code)) => {
                return broken(&format!("the provider answered {code}"));
            }
            Some(_) | None => {}
        }
        let done = operation.await;
        self.record(number, &format!("-> {}", said(&done)));
        match fault {
            Some(FaultKind::CrashAfter) => {
                self.crash();
                pending().await
            }
            Some(FaultKind::Silent) => pending().await,
            Some(FaultKind::Lost) => broken("the connection was broken by a fault"),
            Some(_) | None => done,
        }
    }
}

fn describe_result<R: std::fmt::Debug>(done: &Result<R, CallError>) -> String {
    format!("{done:?}")
}
