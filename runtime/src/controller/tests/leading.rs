//! The end of a Lease while writes wait for their connection.

use super::*;
use tokio::time::advance;

/// How long a request waits until it leaves.
const CONNECTING: Duration = Duration::from_secs(8);

/// Returns a client whose requests reach the server late.
fn late(server: &Server) -> Client {
    let server = server.clone();
    scripted::client(move |method, uri, body| {
        let server = server.clone();
        async move {
            sleep(CONNECTING).await;
            server.serve(&method, &uri, &body).await
        }
    })
}

/// The process is suspended while a write waits, and goes on when another leads: nothing may reach the server then.
#[tokio::test(start_paused = true)]
async fn what_was_queued_before_the_lease_ended_does_not_leave_after_it() {
    let mut sim = Sim::with_thing(1, |_| Answer::Do);
    sim.controller.client = late(&sim.server);
    let server = sim.server.clone();
    let (until, lease) = watch::channel(Some(Instant::now() + Duration::from_secs(5)));
    let (trigger, shutdown) = Shutdown::pair();
    let running = tokio::spawn(sim.controller.run(shutdown, Some(lease)));
    sleep(Duration::from_secs(1)).await;
    advance(Duration::from_secs(20)).await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(
        server.lines(),
        [] as [&str; 0],
        "it left after the end of the lease"
    );
    until.send_replace(Some(Instant::now() + HOUR));
    sleep(Duration::from_secs(60)).await;
    assert_eq!(server.lines(), ["PATCH /api/v1/namespaces/ns/configmaps/t"]);
    trigger.stop();
    running.await.expect("it ends without a panic");
}
