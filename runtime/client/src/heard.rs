//! Time of the last response from an API server. A watch of a quiet kind is as silent as one whose
//! connection has died unnoticed.

use std::sync::{Arc, Mutex, PoisonError};

use http::Request;
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use tokio::time::Instant;

use crate::kube::client_of;

/// When something was last heard. Clones are the same.
#[derive(Clone, Debug)]
pub struct Heard(Arc<Mutex<Instant>>);

impl Heard {
    /// Counts from now on.
    pub fn now() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    /// Something was heard.
    fn mark(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// When that was, or when counting began.
    pub fn last_heard(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a client that records every response: its beginning, and each part that arrives
    /// later.
    pub fn by(&self, client: &Client) -> Client {
        let (client, heard) = (client.clone(), self.clone());
        client_of(tower::service_fn(move |request: Request<Body>| {
            let (client, heard) = (client.clone(), heard.clone());
            async move {
                let response = client.send(request).await?;
                heard.mark();
                let parts = heard.clone();
                let body = |body: Body| {
                    body.map_frame(move |frame| {
                        parts.mark();
                        frame
                    })
                };
                Ok::<_, kube::Error>(response.map(body))
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::Response;
    use tokio::time::{advance, sleep};

    use super::*;
    use crate::scripted;

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_heard_and_a_silent_server_is_not() {
        let (client, _) = scripted::recorded(|_, _| (200, serde_json::json!({})));
        let heard = Heard::now();
        let (began, client) = (heard.last_heard(), heard.by(&client));
        advance(Duration::from_secs(9)).await;
        assert_eq!(heard.last_heard(), began, "nothing was asked");
        let request = || Request::get("/version").body(Vec::new());
        client.request_text(request().unwrap()).await.unwrap();
        assert_eq!(heard.last_heard(), began + Duration::from_secs(9));
        let silent = client_of(tower::service_fn(async |_: Request<Body>| {
            sleep(Duration::from_secs(3600)).await;
            Ok::<_, kube::Error>(Response::new(Body::empty()))
        }));
        let (heard, limit) = (Heard::now(), Duration::from_secs(40));
        let (began, client) = (heard.last_heard(), heard.by(&silent));
        let asked = client.request_text(request().unwrap());
        assert!(tokio::time::timeout(limit, asked).await.is_err());
        assert_eq!(heard.last_heard(), began);
    }

    #[tokio::test]
    async fn an_error_of_the_api_server_stays_one() {
        let (client, _) = scripted::recorded(|_, _| scripted::failure(410, "Expired", "too old"));
        let client = Heard::now().by(&client);
        let asked = client.request_text(Request::get("/version").body(Vec::new()).unwrap());
        let code = match asked.await {
            Err(kube::Error::Api(status)) => status.code,
            other => panic!("{other:?}"),
        };
        assert_eq!(code, 410);
    }
}
