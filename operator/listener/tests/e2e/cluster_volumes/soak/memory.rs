//! Memory of the operator's processes over the time: they run in containers on this machine, below the process that keeps the cluster.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

/// Between two samples.
const PAUSE: Duration = Duration::from_secs(2);
/// A process with fewer samples in the second half has no slope.
const FEW: usize = 8;
/// Seconds of a minute.
const MINUTE: f64 = 60.0;

/// Minutes since the beginning, and KiB.
type Sample = (f64, u32);

/// Samples of each process, by its mode and pid.
pub(super) struct Memory {
    init: u32,
    samples: BTreeMap<(&'static str, u32), Vec<Sample>>,
    lasts: Duration,
}

impl Memory {
    /// `init` is the process that keeps the cluster, `lasts` the length of the soak.
    pub(super) fn new(init: u32, lasts: Duration) -> Self {
        Self {
            init,
            samples: BTreeMap::new(),
            lasts,
        }
    }

    /// Takes samples until the time is over.
    pub(super) async fn go_on(&mut self, began: Instant) -> Result<()> {
        while began.elapsed() < self.lasts {
            let minutes = began.elapsed().as_secs_f64() / MINUTE;
            for (mode, pid) in operators(self.init) {
                // It may have ended meanwhile.
                if let Some(resident) = resident(pid) {
                    let samples = self.samples.entry((mode, pid)).or_default();
                    samples.push((minutes, resident));
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Fails if a mode has no samples, or a process had more than this many KiB.
    pub(super) fn is_below(&self, most: u32) -> Result<()> {
        for mode in MODES {
            let peak = self.peak(mode);
            ensure!(peak > 0, "no process of the operator runs as `{mode}`");
            ensure!(peak < most, "{mode} had {peak} KiB, more than {most}");
        }
        Ok(())
    }

    fn samples_for(&self, mode: &str) -> impl Iterator<Item = &Vec<Sample>> {
        let all = self.samples.iter();
        let of_mode = all.filter(move |((of, _), _)| *of == mode);
        of_mode.map(|(_, samples)| samples)
    }

    fn peak(&self, mode: &str) -> u32 {
        let all = self
            .samples_for(mode)
            .flatten()
            .map(|(_, resident)| *resident);
        all.max().unwrap_or_default()
    }

    /// The steepest slope of a process in the second half, in KiB a minute.
    fn slope(&self, mode: &str) -> Option<f64> {
        let half = self.lasts.as_secs_f64() / MINUTE / 2.0;
        let late = self.samples_for(mode).map(|samples| {
            let late = samples.iter().filter(|(minutes, _)| *minutes >= half);
            late.copied().collect::<Vec<Sample>>()
        });
        let late = late.filter(|samples| samples.len() >= FEW);
        late.filter_map(|samples| slope(&samples))
            .max_by(f64::total_cmp)
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, mode) in MODES.into_iter().enumerate() {
            let comma = if number > 0 { "; " } else { "" };
            write!(f, "{comma}{mode} has {} KiB at most", self.peak(mode))?;
            match self.slope(mode) {
                Some(slope) => write!(f, " and grows by {slope:.0} KiB a minute")?,
                None => write!(f, " and lived too shortly for a slope")?,
            }
        }
        Ok(())
    }
}

/// The two modes of the program.
const MODES: [&str; 2] = ["controller", "node"];

/// The processes of the operator below a process, with their modes.
fn operators(init: u32) -> Vec<(&'static str, u32)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let operators = pids.filter_map(|pid| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        let mut words = line.split('\0');
        let is_operator = words.next()?.ends_with("/listener-operator");
        let words: Vec<&str> = words.collect();
        let mode = MODES.into_iter().find(|mode| words.contains(mode))?;
        (is_operator && is_below(pid, init)).then_some((mode, pid))
    });
    operators.collect()
}

/// Returns true if a process is a descendant of another one. An orphan in a PID namespace gets the
/// first process of the namespace as its parent.
fn is_below(pid: u32, init: u32) -> bool {
    let mut parents = std::iter::successors(Some(pid), |pid| {
        let parent = read_status_field(*pid, "PPid:")?;
        (parent > 0).then_some(parent)
    });
    parents.any(|pid| pid == init)
}

fn resident(pid: u32) -> Option<u32> {
    read_status_field(pid, "VmRSS:")
}

fn read_status_field(pid: u32, field: &str) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line?.split_whitespace().next()?.parse().ok()
}

/// The slope of the line that fits best, by least squares; `None` if all samples are of one moment.
pub(super) fn slope(samples: &[Sample]) -> Option<f64> {
    let many = f64::from(u32::try_from(samples.len()).ok()?);
    let minutes = samples.iter().map(|(minutes, _)| minutes).sum::<f64>() / many;
    let residents = samples.iter().map(|(_, resident)| f64::from(*resident));
    let resident = residents.sum::<f64>() / many;
    let (mut together, mut squares) = (0.0, 0.0);
    for (x, y) in samples {
        together += (x - minutes) * (f64::from(*y) - resident);
        squares += (x - minutes) * (x - minutes);
    }
    (squares > 0.0).then(|| together / squares)
}
