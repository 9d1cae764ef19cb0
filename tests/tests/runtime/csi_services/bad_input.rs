//! Requests that lack something, are too large, or try to lead elsewhere: each has its code, and nothing is touched.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::os::unix::fs::symlink;

use anyhow::Result;
use lifecycle_proto::csi;
use lifecycle_tests::volumes::client::{Running, create};
use tonic::Code;

use super::code;

pub(crate) fn cases() -> Vec<Case> {
    named![case(&[]): empty_requests_are_invalid, paths_that_lead_elsewhere_are_invalid, ids_of_other_drivers_are_unknown_and_given_back, huge_requests_are_refused_and_the_next_one_is_served, what_is_at_a_target_already_stays_there]
}

const INVALID: Option<Code> = Some(Code::InvalidArgument);

async fn empty_requests_are_invalid() -> Result<()> {
    let driver = Running::start().await?;
    let (mut controller, mut node) = (driver.controller.clone(), driver.node.clone());
    assert_eq!(
        code(
            controller
                .create_volume(csi::CreateVolumeRequest::default())
                .await
        ),
        INVALID
    );
    assert_eq!(
        code(
            controller
                .delete_volume(csi::DeleteVolumeRequest::default())
                .await
        ),
        INVALID
    );
    let empty = csi::ValidateVolumeCapabilitiesRequest::default();
    assert_eq!(
        code(controller.validate_volume_capabilities(empty).await),
        INVALID
    );
    let empty = csi::NodeStageVolumeRequest::default();
    assert_eq!(code(node.node_stage_volume(empty).await), INVALID);
    let empty = csi::NodeUnstageVolumeRequest::default();
    assert_eq!(code(node.node_unstage_volume(empty).await), INVALID);
    let empty = csi::NodePublishVolumeRequest::default();
    assert_eq!(code(node.node_publish_volume(empty).await), INVALID);
    let empty = csi::NodeUnpublishVolumeRequest::default();
    assert_eq!(code(node.node_unpublish_volume(empty).await), INVALID);
    let empty = csi::NodeGetVolumeStatsRequest::default();
    assert_eq!(code(node.node_get_volume_stats(empty).await), INVALID);
    driver.stop().await?;
    Ok(())
}

async fn paths_that_lead_elsewhere_are_invalid() -> Result<()> {
    let driver = Running::start().await?;
    let mut node = driver.node.clone();
    let id = driver.make("a").await?;
    node.node_stage_volume(driver.stage(&id)).await?;
    let inside = driver.text("x");
    let bad = [
        "relative".to_owned(),
        "../up".to_owned(),
        format!("{inside}/../../up"),
        format!("{inside}/.."),
        format!("{inside}\0y"),
        format!("/{}", "p".repeat(4096)),
        "\u{202e}".to_owned(),
    ];
    for path in bad {
        let publish = csi::NodePublishVolumeRequest {
            target_path: path.clone(),
            ..driver.publish(&id, "x")
        };
        assert_eq!(
            code(node.node_publish_volume(publish).await),
            INVALID,
            "{path:?}"
        );
        let unpublish = csi::NodeUnpublishVolumeRequest {
            target_path: path.clone(),
            ..driver.unpublish(&id, "x")
        };
        assert_eq!(
            code(node.node_unpublish_volume(unpublish).await),
            INVALID,
            "{path:?}"
        );
        let stage = csi::NodeStageVolumeRequest {
            staging_target_path: path.clone(),
            ..driver.stage(&id)
        };
        assert_eq!(
            code(node.node_stage_volume(stage).await),
            INVALID,
            "{path:?}"
        );
        let unstage = csi::NodeUnstageVolumeRequest {
            staging_target_path: path.clone(),
            ..driver.unstage(&id)
        };
        assert_eq!(
            code(node.node_unstage_volume(unstage).await),
            INVALID,
            "{path:?}"
        );
    }
    driver.stop().await?;
    Ok(())
}

async fn ids_of_other_drivers_are_unknown_and_given_back() -> Result<()> {
    let driver = Running::start().await?;
    let (mut controller, mut node) = (driver.controller.clone(), driver.node.clone());
    for id in [
        "pvc-1",
        "../../etc",
        "/etc/passwd",
        "dir-../../../../../x",
        "a b",
        "é",
    ] {
        let stage = node.node_stage_volume(driver.stage(id)).await;
        assert_eq!(code(stage), Some(Code::NotFound), "{id:?}");
        let publish = node.node_publish_volume(driver.publish(id, "t")).await;
        assert_eq!(code(publish), Some(Code::NotFound), "{id:?}");
        node.node_unpublish_volume(driver.unpublish(id, "t"))
            .await?;
        node.node_unstage_volume(driver.unstage(id)).await?;
        let delete = csi::DeleteVolumeRequest {
            volume_id: id.to_owned(),
            ..Default::default()
        };
        controller.delete_volume(delete).await?;
    }
    for id in ["a\0b".to_owned(), "\u{1}".to_owned(), "i".repeat(129)] {
        assert_eq!(
            code(node.node_stage_volume(driver.stage(&id)).await),
            INVALID
        );
        let mut delete = csi::DeleteVolumeRequest::default();
        delete.volume_id.clone_from(&id);
        assert_eq!(code(controller.delete_volume(delete).await), INVALID);
        assert_eq!(code(controller.create_volume(create(&id)).await), INVALID);
    }
    driver.stop().await?;
    Ok(())
}

async fn huge_requests_are_refused_and_the_next_one_is_served() -> Result<()> {
    let driver = Running::start().await?;
    let mut controller = driver.controller.clone();
    let map = |bytes: usize| [("key".to_owned(), "v".repeat(bytes))].into();
    for bytes in [4096, 1 << 20] {
        let large = csi::CreateVolumeRequest {
            parameters: map(bytes),
            ..create("a")
        };
        assert_eq!(code(controller.create_volume(large).await), INVALID);
        let secret = csi::CreateVolumeRequest {
            secrets: map(bytes),
            ..create("a")
        };
        assert_eq!(code(controller.create_volume(secret).await), INVALID);
    }
    let huge = csi::CreateVolumeRequest {
        parameters: map(16 << 20),
        ..create("a")
    };
    assert!(controller.create_volume(huge).await.is_err());
    driver.make("a").await?;
    driver.stop().await?;
    Ok(())
}

async fn what_is_at_a_target_already_stays_there() -> Result<()> {
    let driver = Running::start().await?;
    let mut node = driver.node.clone();
    let id = driver.make("a").await?;
    node.node_stage_volume(driver.stage(&id)).await?;
    std::fs::write(driver.path("file"), "precious")?;
    std::fs::create_dir(driver.path("full"))?;
    std::fs::write(driver.path("full").join("file"), "precious")?;
    symlink(driver.path("full"), driver.path("link"))?;
    for target in ["file", "full", "link", "nowhere/t"] {
        let publish = node.node_publish_volume(driver.publish(&id, target)).await;
        assert_eq!(code(publish), Some(Code::Internal), "{target}");
        node.node_unpublish_volume(driver.unpublish(&id, target))
            .await?;
    }
    assert_eq!(std::fs::read(driver.path("file"))?, b"precious");
    assert_eq!(
        std::fs::read(driver.path("link").join("file"))?,
        b"precious"
    );
    std::fs::remove_file(driver.path("file"))?;
    node.node_publish_volume(driver.publish(&id, "file"))
        .await?;
    std::fs::create_dir(driver.path("empty"))?;
    node.node_publish_volume(driver.publish(&id, "empty"))
        .await?;
    let other = driver.make("b").await?;
    let theirs = node
        .node_unpublish_volume(driver.unpublish(&other, "file"))
        .await;
    assert_eq!(code(theirs), Some(Code::Internal));
    assert!(
        driver.path("file").is_dir(),
        "the volume of another id stays"
    );
    driver.stop().await?;
    Ok(())
}
