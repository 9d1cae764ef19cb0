//! The turn of one call at a provider, taken before the call queries or changes something there. A
//! waiting call keeps its place while it observes again.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::step_error::StepError;
use lifecycle_runtime::provider::{InFlight, Lane, Provider, Requester, Turn};

/// Interval at which a waiting call checks for an unclaimed turn.
const LOOKS: Duration = Duration::from_secs(1);

/// Turn that a call waits for at a provider. A call waits at one provider at a time.
#[derive(Default)]
pub(super) struct CallTurn {
    turn: Option<Turn>,
    told: Arc<Notify>,
    /// From when on it may be taken, if that is known.
    at: Option<Instant>,
}

impl CallTurn {
    /// Takes a turn.
    ///
    /// # Errors
    /// Others are before it, or the provider wants to be left alone.
    pub(super) fn take(
        &mut self,
        provider: Option<&Arc<Provider>>,
        (lifecycle, volume): (&str, &str),
        lane: Lane,
    ) -> Result<Option<InFlight>, StepError> {
        let Some(provider) = provider else {
            return Ok(None);
        };
        let now = Instant::now();
        let is_meant = |turn: &Turn| Arc::ptr_eq(turn.provider(), provider) && turn.lane() == lane;
        let known = self.turn.take().filter(is_meant);
        let turn = known.unwrap_or_else(|| {
            self.told = Arc::default();
            let told = Arc::clone(&self.told);
            let asker = Requester {
                lifecycle: lifecycle.to_owned(),
                object: volume.to_owned(),
                lane,
            };
            provider.queue(asker, move |_| told.notify_one())
        });
        turn.take(now).map(Some).map_err(|(turn, at)| {
            (self.turn, self.at) = (Some(turn), at);
            StepError::InLine(provider.busy(now))
        })
    }

    /// Waits until it may be its turn.
    pub(super) fn comes(&self) -> impl Future<Output = ()> + use<> {
        let (told, at) = (Arc::clone(&self.told), self.at);
        let provider = self.turn.as_ref().map(|turn| Arc::clone(turn.provider()));
        async move {
            let Some(provider) = provider else {
                return pending().await;
            };
            loop {
                let looks = Instant::now() + LOOKS;
                tokio::select! {
                    biased;
                    () = told.notified() => return,
                    () = sleep_until(at.unwrap_or(looks)), if at.is_some() => return,
                    () = sleep_until(looks) => provider.advance(),
                }
            }
        }
    }

    /// Leaves the line.
    pub(super) fn leave(&mut self) {
        self.turn = None;
    }
}

#[cfg(test)]
mod tests {
    use lifecycle_runtime::lifecycle::call::CallError;
    use lifecycle_runtime::provider::{Limit, Providers};

    use super::*;

    fn cloud(limit: Limit) -> Arc<Provider> {
        let providers = Providers::default();
        providers.limit("cloud", limit);
        providers.named("cloud")
    }

    fn take(
        turn: &mut CallTurn,
        provider: &Arc<Provider>,
        lane: Lane,
    ) -> Result<Option<InFlight>, StepError> {
        turn.take(Some(provider), ("Disk", "v"), lane)
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_waits_comes_when_another_has_its_answer() {
        let (cloud, began) = (cloud(Limit::new().in_flight(1)), Instant::now());
        let (mut first, mut second) = (CallTurn::default(), CallTurn::default());
        let place = take(&mut first, &cloud, Lane::Call).expect("nobody is before it");
        let waits = take(&mut second, &cloud, Lane::Call);
        assert!(matches!(waits, Err(StepError::InLine(why)) if why.contains("`cloud`: 1 are on")));
        tokio::spawn(async move {
            sleep_until(began + Duration::from_secs(7)).await;
            drop(place);
        });
        second.comes().await;
        assert_eq!(began.elapsed(), Duration::from_secs(7));
        assert!(matches!(take(&mut second, &cloud, Lane::Call), Ok(Some(_))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_asks_first_leaves_its_turn_to_call() {
        let cloud = cloud(Limit::new().in_flight(1));
        let mut other = CallTurn::default();
        let place = take(&mut other, &cloud, Lane::Poll).expect("nobody is before it");
        let mut call = CallTurn::default();
        assert!(take(&mut call, &cloud, Lane::Call).is_err());
        drop(place);
        // With its own turn kept it would wait for itself.
        assert!(matches!(take(&mut call, &cloud, Lane::Poll), Ok(Some(_))));
        call.leave();
        assert!(matches!(take(&mut other, &cloud, Lane::Call), Ok(Some(_))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_provider_that_wants_to_be_left_alone_is_by_calls_as_well() {
        let (cloud, began) = (cloud(Limit::new()), Instant::now());
        let (mut first, mut second) = (CallTurn::default(), CallTurn::default());
        let place = take(&mut first, &cloud, Lane::Call).expect("nobody is before it");
        let (why, after) = ("too many requests".to_owned(), Duration::from_secs(20));
        let place = place.expect("it has a provider");
        place.record_outcome(&Err::<(), _>(CallError::Later { why, after }));
        drop(place);
        while take(&mut second, &cloud, Lane::Call).is_err() {
            second.comes().await;
        }
        assert_eq!(began.elapsed(), after);
    }

    #[tokio::test(start_paused = true)]
    async fn what_names_no_provider_takes_no_turn() {
        let none = CallTurn::default().take(None, ("Disk", "v"), Lane::Call);
        assert!(matches!(none, Ok(None)));
    }
}
