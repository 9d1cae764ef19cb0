//! The program: its directory, its signals, its memory and its HTTP.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::authority::{Authority, files, profile, server_name};
use crate::program::{Process, entry, get, write};
use crate::support::{
    Server, address, and, connector, echo, eventually, is_reset, listener, many_files, ping, port,
    random_bytes, with_timeout,
};

#[tokio::test]
async fn s53_a_restart_serves_again_what_is_stored() {
    let server = Server::echo().await;
    let document = json!([
        listener("l", port(0), "k"),
        connector("c", server.address, "k")
    ]);
    let mut process = Process::new(&document);
    process.up("l").await;
    let first = process.until(|_| true).await;
    ping(&mut process.connect(port(0)).await, 1).await;
    for seed in 0..3 {
        process.restart();
        let same = |state: &Value| state["configuration"] == first["configuration"];
        process
            .until(|state| state["instance"] != first["instance"] && same(state))
            .await;
        process.up("l").await;
        ping(&mut process.connect(port(0)).await, seed).await;
    }
}

#[tokio::test]
async fn s56_s57_files_that_arrive_and_are_replaced_count_without_a_restart() {
    let server = Server::echo().await;
    let document = json!([
        profile("web"),
        and(listener("tls", port(0), "k"), &json!({"sslProfile": "web"})),
        listener("plain", port(1), "k"),
        connector("c", server.address, "k"),
    ]);
    let process = Process::new(&document);
    process.up("plain").await;
    let state = process
        .until(|state| entry(state, "tls")["state"] == "Failed")
        .await;
    let message = entry(&state, "tls")["message"].as_str().unwrap();
    assert!(message.contains("web/ca.crt"), "{message}");
    let mut open = process.connect(port(1)).await;
    let authority = Authority::new("a");
    let mut before = Value::Null;
    for _ in 0..2 {
        let pair = authority.issue(&process.address.to_string());
        // The key last, so that for a while nothing fits.
        for (path, bytes) in files("web", &authority, &pair) {
            process.write(
                &format!("certs/{path}"),
                &String::from_utf8(bytes.unwrap()).unwrap(),
            );
            sleep(Duration::from_millis(100)).await;
        }
        with_timeout(async {
            loop {
                let name = server_name(process.address);
                if let Ok(stream) = TcpStream::connect((process.address, port(0))).await
                    && let Ok(mut stream) = authority.client(None).connect(name, stream).await
                    && stream.get_ref().1.peer_certificates().unwrap()[0] == pair.certificates()[0]
                {
                    return ping(&mut stream, 5).await;
                }
                sleep(Duration::from_millis(50)).await;
            }
        })
        .await;
        let is_new = |state: &Value| {
            let profile = entry(state, "web");
            profile["state"] == "Up" && profile["material"] != before
        };
        let now = process.until(is_new).await;
        before = entry(&now, "web")["material"].clone();
        ping(&mut open, 9).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s46_a_slow_reader_of_a_gigabyte_costs_no_memory_and_slows_nobody() {
    const BLOCK: usize = (8 << 20) + 13;
    const BLOCKS: usize = 128;
    let source = Server::new(|mut stream: TcpStream| async move {
        let block = random_bytes(BLOCK, 46);
        for _ in 0..BLOCKS {
            stream.write_all(&block).await.unwrap();
        }
    })
    .await;
    let other = Server::echo().await;
    let document = json!([
        listener("source", port(0), "source"),
        listener("echo", port(1), "echo"),
        connector("source", source.address, "source"),
        connector("echo", other.address, "echo"),
    ]);
    let process = Process::new(&document);
    process.up("source").await;
    let mut slow = process.connect(port(0)).await;
    let mut others = [
        process.connect(port(1)).await,
        process.connect(port(1)).await,
    ];
    // The client reads nothing for a while: the source must stall, but no other connection.
    for seed in 0..100 {
        ping(&mut others[seed as usize % 2], seed).await;
        sleep(Duration::from_millis(10)).await;
    }
    let expected = random_bytes(BLOCK, 46);
    let mut random = Pcg64::seed_from_u64(1);
    let mut chunk = vec![0; 1 << 20];
    let mut at = 0_usize;
    loop {
        let length = random.random_range(1..=chunk.len());
        let read = with_timeout(slow.read(&mut chunk[..length])).await.unwrap();
        if read == 0 {
            break;
        }
        let mut rest = &chunk[..read];
        while !rest.is_empty() {
            let inside = at % BLOCK;
            let (part, after) = rest.split_at(rest.len().min(BLOCK - inside));
            assert!(
                part == &expected[inside..inside + part.len()],
                "at byte {at}"
            );
            at += part.len();
            rest = after;
        }
        if random.random_ratio(1, 200) {
            ping(&mut others[0], at as u64 % 1000).await;
            sleep(Duration::from_millis(5)).await;
        }
    }
    assert_eq!(at, BLOCK * BLOCKS);
    let peak = process.memory("VmHWM");
    assert!(peak < 64 * 1024, "{peak} KiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_after_fifty_rounds_is_that_after_five() {
    let server = Server::echo().await;
    let authority = Authority::new("a");
    let process = Process::new(&json!([]));
    let pair = authority.issue(&process.address.to_string());
    for (path, bytes) in files("web", &authority, &pair) {
        process.write(
            &format!("certs/{path}"),
            &String::from_utf8(bytes.unwrap()).unwrap(),
        );
    }
    let document = json!([
        profile("web"),
        and(listener("tls", port(0), "k"), &json!({"sslProfile": "web"})),
        listener("plain", port(1), "k"),
        connector("c", server.address, "k"),
    ]);
    process.write("skrouterd.json", &document.to_string());
    process.up("tls").await;
    let mut resident = Vec::new();
    for round in 0..50_u64 {
        let mut plain = Vec::new();
        let mut secure = Vec::new();
        for seed in 0..10 {
            let mut stream = process.connect(port(1)).await;
            for more in 0..4 {
                ping(&mut stream, 2999 + 3000 * (round + seed + more)).await;
            }
            plain.push(stream);
            if seed % 3 == 0 {
                let name = server_name(process.address);
                let stream = process.connect(port(0)).await;
                let mut stream = authority.client(None).connect(name, stream).await.unwrap();
                ping(&mut stream, seed).await;
                secure.push(stream);
            }
        }
        for (number, stream) in plain.into_iter().enumerate() {
            if number % 2 == 0 {
                stream.set_zero_linger().unwrap();
            }
        }
        drop(secure);
        process.open(0).await;
        resident.push(process.memory("VmRSS"));
    }
    let (early, late) = (resident[4], resident[49]);
    assert!(late * 10 <= early * 11, "{early} KiB, then {late} KiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_connections_opened_and_abandoned_leave_nothing_behind() {
    many_files();
    let server = Server::echo().await;
    // It never answers, and never reads.
    let mute = Server::new(async |stream: TcpStream| {
        sleep(Duration::from_secs(3600)).await;
        drop(stream);
    })
    .await;
    let document = json!([
        listener("l", port(0), "k"),
        listener("mute", port(1), "mute"),
        connector("c", server.address, "k"),
        connector("mute", mute.address, "mute"),
    ]);
    let process = Process::new(&document);
    process.up("mute").await;
    let mut well = process.connect(port(0)).await;
    for round in 0..10 {
        let mut abandoned = Vec::new();
        for number in 0..300 {
            let mut stream = process.connect(port(number % 2)).await;
            if number % 3 == 0 {
                stream.write_all(&random_bytes(100, round)).await.unwrap();
            }
            stream.set_zero_linger().unwrap();
            abandoned.push(stream);
        }
        ping(&mut well, round).await;
        drop(abandoned);
    }
    process.open(1).await;
    let peak = process.memory("VmHWM");
    assert!(peak < 64 * 1024, "{peak} KiB");
    ping(&mut well, 1).await;
}

#[tokio::test]
async fn sigterm_closes_sockets_lets_connections_end_and_ends_well() {
    let server = Server::echo().await;
    let document = json!([
        listener("l", port(0), "k"),
        connector("c", server.address, "k")
    ]);
    for (grace, ends) in [("100", true), ("1", false)] {
        let mut process = Process::with_args(&document, &["--grace", grace]);
        process.up("l").await;
        let mut stream = process.connect(port(0)).await;
        ping(&mut stream, 1).await;
        process.terminate();
        with_timeout(async {
            while TcpStream::connect((process.address, port(0))).await.is_ok() {
                sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
        if ends {
            ping(&mut stream, 2).await;
            drop(stream);
        } else {
            assert!(is_reset(&mut stream).await);
        }
        let ended = with_timeout(async {
            loop {
                if let Some(status) = process.child.try_wait().unwrap() {
                    return status;
                }
                sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
        assert!(ended.success(), "{ended}");
    }
}

#[tokio::test]
async fn the_state_is_told_to_clients_with_a_certificate_of_the_profile_only() {
    let authority = Authority::new("controllers");
    let (ours, theirs) = (address(), authority.issue("controller"));
    let at = format!("{ours}:{}", port(7));
    let metrics = format!("{ours}:{}", port(8));
    let document = json!([profile("local")]);
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "skrouterd.json", &document.to_string());
    for (path, bytes) in files("local", &authority, &authority.issue(&ours.to_string())) {
        write(
            directory.path(),
            &format!("certs/{path}"),
            &String::from_utf8(bytes.unwrap()).unwrap(),
        );
    }
    let child = Command::new(env!("CARGO_BIN_EXE_lifecycle-router"))
        .arg("--directory")
        .arg(directory.path())
        .args([
            "--state",
            &at,
            "--state-profile",
            "local",
            "--metrics",
            &metrics,
        ])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _process = Process {
        child,
        directory,
        address: ours,
    };
    let health = with_timeout(async {
        loop {
            if let Ok(stream) = TcpStream::connect(&metrics).await
                && let Ok(body) = get(stream, "/healthz").await
                && body == "ok\n"
            {
                return body;
            }
            sleep(Duration::from_millis(20)).await;
        }
    });
    assert_eq!(health.await, "ok\n");
    let hidden = get(TcpStream::connect(&metrics).await.unwrap(), "/v1/state").await;
    assert_eq!(hidden.unwrap(), "not found\n");
    let ask = async |pair| {
        let stream = TcpStream::connect(&at).await.unwrap();
        let client = authority.client(pair);
        let stream = client.connect(server_name(ours), stream).await?;
        get(stream, "/v1/state").await
    };
    assert!(ask(None).await.is_err());
    let stranger = Authority::new("others").issue("controller");
    assert!(ask(Some(&stranger)).await.is_err());
    let state: Value = serde_json::from_str(&ask(Some(&theirs)).await.unwrap()).unwrap();
    assert_eq!(entry(&state, "local")["state"], "Up");
}

#[test]
fn arguments_that_cannot_be_are_told() {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_lifecycle-router"))
            .args(arguments)
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path().to_str().unwrap();
    for (arguments, words) in [
        (&["--directory", "/nowhere"][..], "/nowhere is no directory"),
        (
            &["--directory", here, "--state", "0.0.0.0:1"],
            "only with --state-profile",
        ),
        (
            &["--directory", here, "--state", "somewhere"],
            "neither IP:PORT nor unix:PATH",
        ),
        (
            &["--directory", here, "--state", "unix:/nowhere/at/all"],
            "cannot listen on /nowhere/at/all",
        ),
        (
            &["--directory", here, "--metrics", "192.0.2.1:1"],
            "cannot listen on 192.0.2.1:1",
        ),
        (
            &["--directory", here, "--grace", "0"],
            "it is not from 1 to 86400",
        ),
        (
            &["--directory", here, "--max-connections", "0"],
            "it is no number above 0",
        ),
        (&[], "--directory"),
    ] {
        let told = run(arguments);
        assert!(told.contains(words), "{arguments:?}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s52_rewriting_the_same_document_mid_transfer_loses_no_byte() {
    let server = Server::new(async |stream: TcpStream| echo(stream).await).await;
    let document = json!([
        listener("l", port(0), "k"),
        connector("c", server.address, "k")
    ]);
    let process = Process::new(&document);
    process.up("l").await;
    let (mut from, mut to) = process.connect(port(0)).await.into_split();
    let bytes = random_bytes(32 << 20, 8);
    let sent = bytes.clone();
    let writing = tokio::spawn(async move {
        for piece in sent.chunks(1 << 20) {
            to.write_all(piece).await.unwrap();
            sleep(Duration::from_millis(20)).await;
        }
        to.shutdown().await.unwrap();
    });
    // As a controller does that starts again, now with another writing of the same.
    let again = format!("  {document}\n");
    for number in 0..6 {
        let text = if number % 2 == 0 {
            &again
        } else {
            &document.to_string()
        };
        process.write("skrouterd.json", text);
        sleep(Duration::from_millis(100)).await;
    }
    let mut heard = Vec::new();
    with_timeout(from.read_to_end(&mut heard)).await.unwrap();
    writing.await.unwrap();
    assert!(heard == bytes);
    let state = process.until(|_| true).await;
    assert_eq!(entry(&state, "l")["state"], "Up");
    eventually("one connection was served", || server.accepted() == 1).await;
}

#[tokio::test]
async fn a_pipe_in_the_place_of_a_file_is_told_and_a_signal_ends_the_router() {
    let mut process = Process::new(&json!([["router", {"id": "west"}]]));
    process.until(|state| state["router"] == "west").await;
    let pipe = process.directory.path().join("pipe");
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, &pipe, FileType::Fifo, mode, 0).unwrap();
    fs::rename(pipe, process.directory.path().join("skrouterd.json")).unwrap();
    let error = |state: &Value| state["error"].as_str().unwrap_or_default().to_owned();
    let is_told = |state: &Value| error(state).contains("skrouterd.json: it is no file");
    assert_eq!(process.until(is_told).await["router"], "west");
    process.terminate();
    with_timeout(async {
        while process.child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}
