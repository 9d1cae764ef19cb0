//! Limits, turns and holds of one provider, on paused time.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::*;

fn asker(object: &str, lane: Lane) -> Requester {
    Requester {
        lifecycle: "L".to_owned(),
        object: object.to_owned(),
        lane,
    }
}

/// Waits for a turn, as a driver does.
async fn wait_for_turn(provider: &Arc<Provider>, object: &str, lane: Lane) -> InFlight {
    let (says, mut said) = tokio::sync::mpsc::unbounded_channel();
    let mut turn = provider.queue(asker(object, lane), move |at| {
        let _ = says.send(at);
    });
    loop {
        let at = match turn.take(Instant::now()) {
            Ok(place) => return place,
            Err((rest, at)) => {
                turn = rest;
                at
            }
        };
        match at {
            Some(at) => tokio::time::sleep_until(at).await,
            None => drop(said.recv().await),
        }
    }
}

/// Runs askers in this order, each for a while. Returns the order in which they left, and the
/// times.
async fn run(
    provider: &Arc<Provider>,
    askers: &[(&'static str, Lane)],
    takes: Duration,
) -> Vec<(&'static str, Duration)> {
    let (began, mut all) = (Instant::now(), JoinSet::new());
    let now_on = Arc::new(AtomicUsize::new(0));
    for (object, lane) in askers.iter().copied() {
        let (provider, now_on) = (Arc::clone(provider), Arc::clone(&now_on));
        all.spawn(async move {
            let place = wait_for_turn(&provider, object, lane).await;
            let left = began.elapsed();
            now_on.fetch_add(1, Ordering::SeqCst);
            sleep(takes).await;
            now_on.fetch_sub(1, Ordering::SeqCst);
            place.record_outcome(&Ok::<_, CallError>(()));
            (left, object)
        });
        // In the order of the list.
        tokio::task::yield_now().await;
    }
    let mut left = all.join_all().await;
    left.sort_by_key(|(at, _)| *at);
    assert_eq!(now_on.load(Ordering::SeqCst), 0);
    left.into_iter().map(|(at, object)| (object, at)).collect()
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn never_more_are_on_their_way_than_the_limit_says() {
    let provider = Provider::new("cloud", Limit::new().in_flight(3));
    let left = run(&provider, &[("a", Lane::Poll); 20], SECOND).await;
    let starts: Vec<_> = left.iter().map(|(_, at)| at.as_secs()).collect();
    let expected: Vec<u64> = (0..20).map(|n| n / 3).collect();
    assert_eq!(starts, expected);
    assert_eq!(provider.counts().most_in_flight, 3);
    assert_eq!(provider.counts().in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn in_no_second_more_leave_than_the_limit_says() {
    let check = async |limit: Limit, most: usize| {
        let provider = Provider::new("cloud", limit);
        sleep(SECOND * 5).await;
        let left = run(
            &provider,
            &[("a", Lane::Poll); 50],
            Duration::from_millis(1),
        )
        .await;
        let within = |from: Duration| {
            let all = left.iter().filter(|(_, at)| *at >= from);
            all.filter(|(_, at)| *at < from + SECOND).count()
        };
        let fullest = left.iter().map(|(_, at)| within(*at)).max();
        assert_eq!(fullest, Some(most));
    };
    check(Limit::new().per_second(7), 7).await;
    check(Limit::new().per_second(7).burst(4), 7 + 4 - 1).await;
    check(Limit::new().per_minute(60), 1).await;
    check(Limit::new().in_flight(2).per_second(10), 10).await;
}

#[tokio::test(start_paused = true)]
async fn each_object_is_served_once_before_any_is_served_twice() {
    let provider = Provider::new("cloud", Limit::new().in_flight(1));
    let mut askers = vec![("greedy", Lane::Poll); 1_000];
    let modest = ["a", "b", "c", "d", "e"];
    askers.extend(modest.map(|object| (object, Lane::Poll)));
    let left = run(&provider, &askers, SECOND).await;
    for object in modest {
        let at = left.iter().position(|(other, _)| *other == object);
        assert!(
            at.is_some_and(|at| at <= modest.len() + 1),
            "{object}: {at:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn calls_go_first_and_of_four_turns_one_is_left_to_questions() {
    let provider = Provider::new("cloud", Limit::new().in_flight(1));
    let mut askers = vec![("poll", Lane::Poll); 30];
    askers.extend([("call", Lane::Call); 30]);
    let left = run(&provider, &askers, SECOND).await;
    let order: String = left.iter().map(|(object, _)| &object[..1]).collect();
    // The first poll found an empty queue.
    assert_eq!(&order[..17], "pcccpcccpcccpcccp");
    assert!(order.ends_with("ppp"), "{order}");
    assert_eq!((provider.counts().calls, provider.counts().polls), (30, 30));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_wants_to_be_left_alone_is_and_then_one_tries() {
    for limit in [Limit::new(), Limit::new().in_flight(8).per_second(100)] {
        let provider = Provider::new("cloud", limit);
        let (began, later) = (Instant::now(), Duration::from_secs(30));
        let first = wait_for_turn(&provider, "a", Lane::Call).await;
        let why = "too many requests".to_owned();
        first.record_outcome(&Err::<(), _>(CallError::Later { why, after: later }));
        drop(first);
        assert!(!provider.is_free(Instant::now()));
        let left = run(&provider, &[("b", Lane::Poll); 5], SECOND).await;
        let first = left[0].1;
        assert_eq!(first, later, "{limit:?}");
        assert!(left[1].1 >= later + SECOND, "one tries: {left:?}");
        assert!(left[4].1 < later + SECOND * 2, "then all come: {left:?}");
        assert_eq!(provider.counts().held, 1);
        assert!(began.elapsed() < later + SECOND * 3);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_before_does_not_end_what_the_provider_asked_for() {
    let provider = Provider::new("cloud", Limit::new().in_flight(2));
    let early = wait_for_turn(&provider, "a", Lane::Poll).await;
    let told = wait_for_turn(&provider, "b", Lane::Poll).await;
    sleep(SECOND).await;
    let (why, after) = ("too many".to_owned(), SECOND * 10);
    told.record_outcome(&Err::<(), _>(CallError::Later { why, after }));
    early.record_outcome(&Ok::<_, CallError>(()));
    drop((early, told));
    let left = run(&provider, &[("c", Lane::Poll)], SECOND).await;
    assert_eq!(left, [("c", SECOND * 10)]);
}

#[tokio::test(start_paused = true)]
async fn who_leaves_gives_its_place_back() {
    let provider = Provider::new("cloud", Limit::new().in_flight(1));
    let gone = tokio::spawn({
        let provider = Arc::clone(&provider);
        async move {
            let _place = wait_for_turn(&provider, "gone", Lane::Call).await;
            std::future::pending::<()>().await;
        }
    });
    let waits = tokio::spawn({
        let provider = Arc::clone(&provider);
        async move { drop(wait_for_turn(&provider, "waits", Lane::Call).await) }
    });
    sleep(SECOND).await;
    assert_eq!(
        (provider.counts().in_flight, provider.counts().waiting),
        (1, 1)
    );
    waits.abort();
    gone.abort();
    sleep(SECOND).await;
    assert_eq!(
        (provider.counts().in_flight, provider.counts().waiting),
        (0, 0)
    );
    let left = run(&provider, &[("here", Lane::Call)], SECOND).await;
    assert_eq!(left, [("here", Duration::ZERO)]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_nobody_takes_goes_to_the_next() {
    let provider = Provider::new("cloud", Limit::new().in_flight(1));
    let mut sleeper = provider.queue(asker("sleeper", Lane::Call), |_| ());
    assert!(!provider.is_free(Instant::now()));
    sleep(SECOND).await;
    let awake = wait_for_turn(&provider, "awake", Lane::Call).await;
    assert_eq!(sleeper.is_due(Instant::now()), Err(None));
    assert!(!sleeper.is_news(Instant::now()));
    drop(awake);
    assert!(
        sleeper.is_due(Instant::now()).is_ok(),
        "it comes last, but it comes"
    );
    sleep(LONG).await;
    let now = Instant::now();
    assert!(sleeper.is_news(now) && !sleeper.is_news(now), "told once");
}

#[test]
fn a_limit_for_what_nothing_names_is_told_with_what_is_named() {
    let providers = Providers::default();
    providers.limit("cloud", Limit::new().in_flight(8));
    let cloud = providers.named("cloud");
    assert_eq!(cloud.name(), "cloud");
    assert!(providers.check().is_ok());
    providers.limit("clowd", Limit::new().in_flight(8));
    let error = providers.check().expect_err("nothing names it").to_string();
    assert_eq!(
        error,
        "a limit is set for the provider `clowd`, which nothing names that runs here; providers in use: `cloud`"
    );
}
