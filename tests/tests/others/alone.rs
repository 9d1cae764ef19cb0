//! Network namespace for this program and all programs that it starts. It has loopback and no route
//! out.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use lifecycle_tests::harness::{Case, Need, case};

/// Address reserved for documentation, which no host uses.
const SOMEWHERE: &str = "192.0.2.1:443";

const BEGIN: &str = "ip link set lo up && exec \"$0\" \"$@\"";

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "nothing_but_loopback_is_reached_from_here",
        &[Need::Root],
        there_is_no_way_out,
    )]
}

/// Re-executes the program in such a namespace. Without root, the program stays in its namespace
/// and its tests are ignored.
///
/// # Errors
/// The namespace cannot be made.
pub(crate) fn enter() -> Result<()> {
    if !rustix::process::geteuid().is_root() || interfaces()? == ["lo"] {
        return Ok(());
    }
    let mut command = Command::new("unshare");
    command.args(["--net", "--", "sh", "-c", BEGIN]);
    command
        .arg(env::current_exe()?)
        .args(env::args_os().skip(1));
    bail!("cannot run unshare: {}", command.exec())
}

fn interfaces() -> Result<Vec<String>> {
    let text = fs::read_to_string("/proc/net/dev").context("cannot read /proc/net/dev")?;
    let names = text.lines().filter_map(|line| line.split_once(':'));
    Ok(names.map(|(name, _)| name.trim().to_owned()).collect())
}

async fn there_is_no_way_out() -> Result<()> {
    ensure!(interfaces()? == ["lo"], "there is {:?}", interfaces()?);
    let somewhere: SocketAddr = SOMEWHERE.parse()?;
    let asked = TcpStream::connect_timeout(&somewhere, Duration::from_secs(5));
    let refused = asked.err().context("somebody answers")?;
    ensure!(
        refused.kind() == ErrorKind::NetworkUnreachable,
        "it is another error: {refused}"
    );
    Ok(())
}
