//! Requests to the API, good and bad.

use http_body_util::BodyExt as _;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::router::{Options, Router};

async fn send_request(api: &Api, method: Method, uri: &str) -> (StatusCode, String) {
    let request = Request::builder().method(method).uri(uri).body(()).unwrap();
    let response = api.answer(&request, None).await;
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn api(offer: Offer) -> Api {
    Api::new(Router::new(Options::default()), offer)
}

#[tokio::test(start_paused = true)]
async fn requests_that_make_no_sense_are_answered_so() {
    let api = api(Offer::All);
    for (method, uri, status, words) in [
        (Method::GET, "/", 404, "not found"),
        (Method::GET, "/v1/state/", 404, "not found"),
        (Method::POST, "/v1/state", 405, "only GET"),
        (
            Method::GET,
            "/v1/state?wait=soon",
            400,
            "wait `soon` is no number of seconds",
        ),
        (Method::GET, "/v1/state?wait=-1", 400, "wait `-1`"),
        (
            Method::GET,
            "/v1/state?revision=1",
            400,
            "unknown parameter `revision`",
        ),
        (Method::GET, "/healthz", 503, "no configuration yet"),
        (Method::GET, "/metrics", 200, "router_connections_open 0"),
        (Method::GET, "/v1/state", 200, "\"instance\""),
        (
            Method::GET,
            "/v1/state?after=other&wait=10s",
            200,
            "\"revision\"",
        ),
        (
            Method::GET,
            "/v1/state?after=other&wait=99999999999",
            200,
            "\"revision\"",
        ),
    ] {
        let (answered, text) = send_request(&api, method, uri).await;
        assert_eq!(answered.as_u16(), status, "{uri}: {text}");
        assert!(text.contains(words), "{uri}: {text}");
    }
    let (status, _) = send_request(&self::api(Offer::Metrics), Method::GET, "/v1/state").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_longer_than_a_minute() {
    let api = api(Offer::All);
    let revision = api.router.state().now().revision;
    let began = tokio::time::Instant::now();
    let uri = format!("/v1/state?after={revision}&wait=100000s");
    assert_eq!(
        send_request(&api, Method::GET, &uri).await.0,
        StatusCode::OK
    );
    assert_eq!(began.elapsed(), LONGEST);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, rng_seed: RngSeed::Fixed(6), ..ProptestConfig::default() })]

    #[test]
    fn any_query_is_answered(query in "[ -~]{0,60}") {
        match question(&query) {
            Ok((_, wait)) => prop_assert!(wait <= LONGEST),
            Err(why) => prop_assert!(!why.is_empty()),
        }
    }
}
