//! Random requests over all calls. Each is answered with a code of the interface and one sentence,
//! and nothing outside is touched. `LIFECYCLE_CSI_REQUESTS=1000000` makes it longer,
//! `LIFECYCLE_CSI_SEED=7` selects another run.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use futures::StreamExt;
use lifecycle_proto::csi;
use lifecycle_proto::csi::volume_capability::{AccessMode, AccessType, BlockVolume, MountVolume};
use lifecycle_tests::volumes::client::{Running, mount};
use lifecycle_tests::volumes::disk::id_of;
use rand::rand_core::SeedableRng;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};
use rand_pcg::Pcg64Mcg;
use tonic::{Code, Status};

pub(crate) fn cases() -> Vec<Case> {
    named![case(&[]): random_requests_are_answered_and_touch_nothing_else]
}

const REQUESTS: u64 = 10_000;
const AT_ONCE: usize = 16;

/// Codes that a driver may return at all.
const CODES: [Code; 9] = [
    Code::InvalidArgument,
    Code::NotFound,
    Code::AlreadyExists,
    Code::FailedPrecondition,
    Code::Aborted,
    Code::OutOfRange,
    Code::ResourceExhausted,
    Code::Internal,
    Code::Unavailable,
];

fn env_number(name: &str, otherwise: u64) -> Result<u64> {
    match env::var(name) {
        Ok(text) => text.parse().with_context(|| format!("{name}={text}")),
        Err(_) => Ok(otherwise),
    }
}

/// Makes requests of a few volumes and targets, and of everything that is wrong.
struct Dice {
    random: Pcg64Mcg,
    inside: String,
}

impl Dice {
    fn one_in(&mut self, n: u32) -> bool {
        self.random.next_u32().is_multiple_of(n)
    }

    fn junk(&mut self) -> String {
        let junk = [
            "",
            "..",
            "../../x",
            "/",
            "a\0b",
            "\u{7f}",
            "é",
            "%2e%2e",
            "/etc/passwd",
            "dir-",
        ];
        let long = [
            "x".repeat(128),
            "x".repeat(129),
            format!("/{}", "y".repeat(4096)),
        ];
        let all: Vec<&str> = junk
            .into_iter()
            .chain(long.iter().map(String::as_str))
            .collect();
        (*all.choose(&mut self.random).unwrap_or(&"")).to_owned()
    }

    fn name(&mut self) -> String {
        if self.one_in(8) {
            return self.junk();
        }
        format!("volume-{}", self.random.next_u32() % 6)
    }

    fn id(&mut self) -> String {
        let name = self.name();
        if self.one_in(10) { name } else { id_of(&name) }
    }

    fn target(&mut self) -> String {
        if self.one_in(8) {
            let junk = self.junk();
            return if self.one_in(2) {
                junk
            } else {
                format!("{}/{junk}", self.inside)
            };
        }
        format!("{}/target-{}", self.inside, self.random.next_u32() % 4)
    }

    /// A volume and a target, which mostly belong together.
    fn volume_and_target(&mut self) -> (String, String) {
        if self.one_in(4) {
            return (self.id(), self.target());
        }
        let n = self.random.next_u32() % 6;
        (
            id_of(&format!("volume-{n}")),
            format!("{}/target-{n}", self.inside),
        )
    }

    fn capability(&mut self) -> csi::VolumeCapability {
        if !self.one_in(6) {
            return mount();
        }
        let access_type = match self.random.next_u32() % 3 {
            0 => None,
            1 => Some(AccessType::Block(BlockVolume {})),
            _ => Some(AccessType::Mount(MountVolume {
                fs_type: self.junk(),
                mount_flags: vec![self.junk()],
                volume_mount_group: self.junk(),
            })),
        };
        let mode = self.random.random_range(-1..9);
        let access_mode = (!self.one_in(4)).then_some(AccessMode { mode });
        csi::VolumeCapability {
            access_mode,
            access_type,
        }
    }

    fn map(&mut self) -> BTreeMap<String, String> {
        if !self.one_in(12) {
            return BTreeMap::new();
        }
        BTreeMap::from([(self.junk(), self.junk())])
    }

    fn create(&mut self) -> csi::CreateVolumeRequest {
        let ranges = [0, 0, 0, 1, 1 << 30, -1, i64::MAX, i64::MIN];
        let mut bytes = || *ranges.choose(&mut self.random).unwrap_or(&0);
        let capacity_range = Some(csi::CapacityRange {
            required_bytes: bytes(),
            limit_bytes: bytes(),
        });
        csi::CreateVolumeRequest {
            name: self.name(),
            capacity_range: capacity_range.filter(|_| self.one_in(4)),
            volume_capabilities: (0..self.random.next_u32() % 3)
                .map(|_| self.capability())
                .collect(),
            parameters: self.map(),
            secrets: self.map(),
            ..Default::default()
        }
    }
}

type Answer = (&'static str, Result<(), Status>);

/// Sends one random request. Returns its call and its answer.
async fn send(driver: &Running, seed: u64) -> Answer {
    let random = Pcg64Mcg::seed_from_u64(seed);
    let inside = driver.text("targets");
    let mut dice = Dice { random, inside };
    match dice.random.next_u32() % 16 {
        0..=3 => send_to_controller(driver, &mut dice).await,
        4..=7 => send_about_staging(driver, &mut dice).await,
        _ => send_about_target(driver, &mut dice).await,
    }
}

async fn send_to_controller(driver: &Running, dice: &mut Dice) -> Answer {
    let mut controller = driver.controller.clone();
    match dice.random.next_u32() % 4 {
        0 | 1 => {
            let answer = controller.create_volume(dice.create()).await;
            ("create", answer.map(drop))
        }
        2 => {
            let request = csi::DeleteVolumeRequest {
                volume_id: dice.id(),
                secrets: dice.map(),
            };
            ("delete", controller.delete_volume(request).await.map(drop))
        }
        _ => {
            let request = csi::ValidateVolumeCapabilitiesRequest {
                volume_id: dice.id(),
                volume_capabilities: vec![dice.capability()],
                volume_context: dice.map(),
                ..Default::default()
            };
            let answer = controller.validate_volume_capabilities(request).await;
            ("validate", answer.map(drop))
        }
    }
}

impl Dice {
    fn staging(&mut self) -> String {
        if self.one_in(12) {
            return self.junk();
        }
        format!("{}/staging", self.inside)
    }
}

async fn send_about_staging(driver: &Running, dice: &mut Dice) -> Answer {
    let mut node = driver.node.clone();
    if dice.one_in(4) {
        let request = csi::NodeUnstageVolumeRequest {
            volume_id: dice.id(),
            staging_target_path: dice.staging(),
        };
        return ("unstage", node.node_unstage_volume(request).await.map(drop));
    }
    let request = csi::NodeStageVolumeRequest {
        volume_id: dice.id(),
        staging_target_path: dice.staging(),
        volume_capability: Some(dice.capability()),
        secrets: dice.map(),
        ..Default::default()
    };
    ("stage", node.node_stage_volume(request).await.map(drop))
}

async fn send_about_target(driver: &Running, dice: &mut Dice) -> Answer {
    let mut node = driver.node.clone();
    let (volume_id, target_path) = dice.volume_and_target();
    match dice.random.next_u32() % 8 {
        0..=3 => {
            let request = csi::NodePublishVolumeRequest {
                volume_id,
                target_path,
                staging_target_path: dice.staging(),
                volume_capability: Some(dice.capability()),
                readonly: dice.one_in(8),
                volume_context: dice.map(),
                ..Default::default()
            };
            ("publish", node.node_publish_volume(request).await.map(drop))
        }
        4..=6 => {
            let request = csi::NodeUnpublishVolumeRequest {
                volume_id,
                target_path,
            };
            let answer = node.node_unpublish_volume(request).await;
            ("unpublish", answer.map(drop))
        }
        _ => {
            let request = csi::NodeGetVolumeStatsRequest {
                volume_id,
                volume_path: target_path,
                ..Default::default()
            };
            ("stats", node.node_get_volume_stats(request).await.map(drop))
        }
    }
}

/// Every name below a folder, without following links.
fn tree(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        names.push(path.display().to_string());
        if path.is_dir() && !path.is_symlink() {
            names.extend(tree(&path)?);
        }
    }
    names.sort();
    Ok(names)
}

async fn random_requests_are_answered_and_touch_nothing_else() -> Result<()> {
    let (requests, seed) = (
        env_number("LIFECYCLE_CSI_REQUESTS", REQUESTS)?,
        env_number("LIFECYCLE_CSI_SEED", 1)?,
    );
    let driver = Running::start().await?;
    fs::create_dir(driver.path("targets"))?;
    // Never empty, so that no request may take it for a target.
    fs::write(driver.path("targets").join(".keep"), "")?;
    fs::create_dir(driver.path("precious"))?;
    fs::write(driver.path("precious").join("file"), "precious")?;
    let seeds = futures::stream::iter((0..requests).map(|n| seed.wrapping_mul(1 << 40) + n));
    let mut answers = seeds
        .map(|seed| {
            let driver = &driver;
            async move { (seed, send(driver, seed).await) }
        })
        .buffer_unordered(AT_ONCE);
    let mut seen: BTreeMap<(&str, String), u64> = BTreeMap::new();
    while let Some((seed, (call, answer))) = answers.next().await {
        let said = match &answer {
            Ok(()) => "OK".to_owned(),
            Err(status) => {
                assert!(CODES.contains(&status.code()), "{seed}: {call}: {status:?}");
                assert!(!status.message().is_empty(), "{seed}: {call}: {status:?}");
                assert!(status.details().is_empty(), "{seed}: {call}: {status:?}");
                format!("{:?}", status.code())
            }
        };
        *seen.entry((call, said)).or_default() += 1;
    }
    drop(answers);
    for ((call, said), count) in &seen {
        eprintln!("{call:>10} {said:<18} {count}");
    }
    for call in [
        "create",
        "delete",
        "stage",
        "unstage",
        "publish",
        "unpublish",
        "stats",
    ] {
        let fine = seen.contains_key(&(call, "OK".to_owned()));
        assert!(fine, "`{call}` never went well, so it was not tested");
    }
    assert_eq!(fs::read(driver.path("precious").join("file"))?, b"precious");
    let names = tree(&driver.path("targets"))?;
    let known = |name: &String| name.contains("/targets/target-") && !name.ends_with("/..");
    let strange: Vec<_> = names.iter().filter(|name| !known(name)).collect();
    assert!(strange.iter().all(|name| is_junk(name)), "{strange:?}");
    let folder = driver.stop().await?;
    let mut top = fs::read_dir(folder.path())?
        .map(|entry| Ok(entry?.file_name().display().to_string()))
        .collect::<Result<Vec<_>>>()?;
    top.sort();
    assert_eq!(top, ["disk", "precious", "targets"]);
    Ok(())
}

/// A strange name is fine where it is one name inside the folder of targets.
fn is_junk(name: &str) -> bool {
    let below = name.split_once("/targets/").map(|(_, below)| below);
    below.is_some_and(|below| !below.contains('/'))
}
