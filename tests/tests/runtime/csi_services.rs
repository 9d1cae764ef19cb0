//! CSI services over a socket, by the directory driver. Covers the view of callers, the effect of
//! bad input, and the check that nothing else is touched.

mod bad_input;
mod fuzz;
mod limits;
mod many;
mod sockets;

use anyhow::Result;
use lifecycle_proto::csi;
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use lifecycle_tests::volumes::client::{Running, create, mount};
use tonic::{Code, Status};

pub(crate) fn cases() -> Vec<Case> {
    let own = named![case(&[]): a_volume_goes_all_the_way_and_back_and_each_call_may_come_twice, words_answer_with_the_codes_of_the_interface, only_all_supported_capabilities_are_confirmed];
    let cases = [
        own,
        bad_input::cases(),
        fuzz::cases(),
        limits::cases(),
        many::cases(),
        sockets::cases(),
    ];
    cases.into_iter().flatten().collect()
}

/// Returns the result of a call: nothing, or a code. Checks that an error has a message and carries
/// no details.
pub(crate) fn code<T>(answer: Result<T, Status>) -> Option<Code> {
    let status = answer.err()?;
    assert!(!status.message().trim().is_empty(), "{status:?}");
    assert!(status.details().is_empty(), "{status:?}");
    Some(status.code())
}

async fn a_volume_goes_all_the_way_and_back_and_each_call_may_come_twice() -> Result<()> {
    let driver = Running::start().await?;
    let (mut controller, mut node) = (driver.controller.clone(), driver.node.clone());
    let id = driver.make("a").await?;
    assert_eq!(driver.make("a").await?, id, "the same volume");
    for _ in 0..2 {
        node.node_stage_volume(driver.stage(&id)).await?;
    }
    for _ in 0..2 {
        node.node_publish_volume(driver.publish(&id, "t")).await?;
    }
    std::fs::write(driver.path("t").join("file"), "kept")?;
    let in_use = csi::DeleteVolumeRequest {
        volume_id: id.clone(),
        ..Default::default()
    };
    let deleted = controller.delete_volume(in_use.clone()).await;
    assert_eq!(code(deleted), Some(Code::FailedPrecondition));
    for _ in 0..2 {
        node.node_unpublish_volume(driver.unpublish(&id, "t"))
            .await?;
        assert!(!driver.path("t").exists());
    }
    node.node_publish_volume(driver.publish(&id, "u")).await?;
    assert_eq!(std::fs::read(driver.path("u").join("file"))?, b"kept");
    node.node_unpublish_volume(driver.unpublish(&id, "u"))
        .await?;
    for _ in 0..2 {
        node.node_unstage_volume(driver.unstage(&id)).await?;
        controller.delete_volume(in_use.clone()).await?;
    }
    driver.stop().await?;
    Ok(())
}

async fn words_answer_with_the_codes_of_the_interface() -> Result<()> {
    let driver = Running::start().await?;
    let (mut controller, mut node) = (driver.controller.clone(), driver.node.clone());
    let id = driver.make("a").await?;
    let unknown = node.node_stage_volume(driver.stage("dir-0")).await;
    assert_eq!(code(unknown), Some(Code::NotFound));
    let unstaged = node.node_publish_volume(driver.publish(&id, "t")).await;
    assert_eq!(code(unstaged), Some(Code::FailedPrecondition));
    node.node_stage_volume(driver.stage(&id)).await?;
    let mut other = driver.stage(&id);
    other.staging_target_path.push_str("-elsewhere");
    let differs = node.node_stage_volume(other).await;
    assert_eq!(code(differs), Some(Code::AlreadyExists));
    let nowhere = csi::NodePublishVolumeRequest {
        staging_target_path: String::new(),
        ..driver.publish(&id, "t")
    };
    let nowhere = node.node_publish_volume(nowhere).await;
    assert_eq!(code(nowhere), Some(Code::FailedPrecondition));
    let read_only = csi::NodePublishVolumeRequest {
        readonly: true,
        ..driver.publish(&id, "t")
    };
    let read_only = node.node_publish_volume(read_only).await;
    assert_eq!(code(read_only), Some(Code::InvalidArgument));
    let larger = csi::CreateVolumeRequest {
        capacity_range: Some(csi::CapacityRange {
            required_bytes: 1,
            limit_bytes: 0,
        }),
        ..create("a")
    };
    let larger = controller.create_volume(larger).await;
    assert_eq!(code(larger), Some(Code::AlreadyExists));
    let too_large = csi::CreateVolumeRequest {
        capacity_range: Some(csi::CapacityRange {
            required_bytes: i64::MAX,
            limit_bytes: 0,
        }),
        ..create("b")
    };
    let too_large = controller.create_volume(too_large).await;
    assert_eq!(code(too_large), Some(Code::OutOfRange));
    let elsewhere = csi::Topology {
        segments: [("directory.example.org/node".to_owned(), "there".to_owned())].into(),
    };
    let elsewhere = csi::CreateVolumeRequest {
        accessibility_requirements: Some(csi::TopologyRequirement {
            requisite: vec![elsewhere.clone()],
            preferred: vec![elsewhere],
        }),
        ..create("b")
    };
    let elsewhere = controller.create_volume(elsewhere).await;
    assert_eq!(code(elsewhere), Some(Code::ResourceExhausted));
    driver.stop().await?;
    Ok(())
}

async fn only_all_supported_capabilities_are_confirmed() -> Result<()> {
    let driver = Running::start().await?;
    let mut controller = driver.controller.clone();
    let id = driver.make("a").await?;
    let block = csi::VolumeCapability {
        access_type: Some(csi::volume_capability::AccessType::Block(
            csi::volume_capability::BlockVolume {},
        )),
        ..mount()
    };
    let ask = |volume_id: &str, volume_capabilities: Vec<csi::VolumeCapability>| {
        csi::ValidateVolumeCapabilitiesRequest {
            volume_id: volume_id.to_owned(),
            volume_capabilities,
            ..Default::default()
        }
    };
    let fine = ask(&id, vec![mount(), mount()]);
    let answer = controller
        .validate_volume_capabilities(fine)
        .await?
        .into_inner();
    let confirmed = answer
        .confirmed
        .map(|confirmed| confirmed.volume_capabilities);
    assert_eq!(confirmed, Some(vec![mount(), mount()]));
    let unfit = ask(&id, vec![mount(), block.clone()]);
    let answer = controller
        .validate_volume_capabilities(unfit)
        .await?
        .into_inner();
    assert_eq!(answer.confirmed, None);
    assert!(!answer.message.is_empty());
    let unknown = controller
        .validate_volume_capabilities(ask("another", vec![mount()]))
        .await;
    assert_eq!(code(unknown), Some(Code::NotFound));
    let never = csi::CreateVolumeRequest {
        volume_capabilities: vec![mount(), block],
        ..create("b")
    };
    let never = controller.create_volume(never).await;
    assert_eq!(code(never), Some(Code::InvalidArgument));
    driver.stop().await?;
    Ok(())
}
