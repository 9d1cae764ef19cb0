//! Many calls at once, for many volumes and for one; callers that go away.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::time::Duration;

use anyhow::Result;
use futures::future::join_all;
use lifecycle_tests::volumes::client::Running;
use tonic::{Code, Request};

use super::code;

pub(crate) fn cases() -> Vec<Case> {
    named![case(&[]): two_hundred_volumes_are_published_at_once_and_given_back, one_volume_is_published_at_two_hundred_targets_at_once, two_hundred_calls_for_one_target_are_all_answered, a_caller_that_goes_away_is_served_when_it_comes_back]
}

const MANY: usize = 200;

async fn two_hundred_volumes_are_published_at_once_and_given_back() -> Result<()> {
    let driver = Running::start().await?;
    let names = (0..MANY).map(|n| format!("volume-{n}"));
    let way = async |target: String| {
        let mut node = driver.node.clone();
        let id = driver.make(&target).await?;
        node.node_stage_volume(driver.stage(&id)).await?;
        node.node_publish_volume(driver.publish(&id, &target))
            .await?;
        assert!(driver.path(&target).is_dir());
        node.node_unpublish_volume(driver.unpublish(&id, &target))
            .await?;
        assert!(!driver.path(&target).exists());
        node.node_unstage_volume(driver.unstage(&id)).await?;
        Ok::<_, tonic::Status>(id)
    };
    let mut ids = join_all(names.map(way))
        .await
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), MANY);
    driver.stop().await?;
    Ok(())
}

async fn one_volume_is_published_at_two_hundred_targets_at_once() -> Result<()> {
    let driver = Running::start().await?;
    let id = driver.make("one").await?;
    driver
        .node
        .clone()
        .node_stage_volume(driver.stage(&id))
        .await?;
    let targets: Vec<_> = (0..MANY).map(|n| format!("t{n}")).collect();
    let published = join_all(targets.iter().map(|target| async {
        let mut node = driver.node.clone();
        node.node_publish_volume(driver.publish(&id, target)).await
    }));
    for answer in published.await {
        assert_eq!(code(answer), None);
    }
    assert!(targets.iter().all(|target| driver.path(target).is_dir()));
    driver.stop().await?;
    Ok(())
}

/// The caller promises not to, and may break the promise: everybody is answered, and one of them publishes.
async fn two_hundred_calls_for_one_target_are_all_answered() -> Result<()> {
    let driver = Running::start().await?;
    let id = driver.make("one").await?;
    driver
        .node
        .clone()
        .node_stage_volume(driver.stage(&id))
        .await?;
    let calls = (0..MANY).map(|_| async {
        let mut node = driver.node.clone();
        node.node_publish_volume(driver.publish(&id, "t")).await
    });
    let answers: Vec<_> = join_all(calls).await.into_iter().map(code).collect();
    let fine = answers.iter().filter(|answer| answer.is_none()).count();
    let aborted = answers
        .iter()
        .filter(|answer| **answer == Some(Code::Aborted));
    assert_eq!(fine + aborted.count(), MANY, "{answers:?}");
    assert!(fine >= 1 && driver.path("t").is_dir());
    let mut node = driver.node.clone();
    node.node_publish_volume(driver.publish(&id, "t")).await?;
    driver.stop().await?;
    Ok(())
}

async fn a_caller_that_goes_away_is_served_when_it_comes_back() -> Result<()> {
    let driver = Running::start().await?;
    let mut node = driver.node.clone();
    let id = driver.make("one").await?;
    node.node_stage_volume(driver.stage(&id)).await?;
    for micros in (0..400).step_by(8) {
        let mut request = Request::new(driver.publish(&id, "t"));
        request.set_timeout(Duration::from_micros(micros));
        let _given_up = node.node_publish_volume(request).await;
        // An abandoned call may still be running, or be on its way to the driver.
        while let Err(status) = node.node_publish_volume(driver.publish(&id, "t")).await {
            assert_eq!(status.code(), Code::Aborted, "{status:?}");
            tokio::task::yield_now().await;
        }
        while driver.path("t").exists() {
            let answer = node.node_unpublish_volume(driver.unpublish(&id, "t")).await;
            let answer = code(answer);
            assert!(matches!(answer, None | Some(Code::Aborted)), "{answer:?}");
        }
    }
    driver.stop().await?;
    Ok(())
}
