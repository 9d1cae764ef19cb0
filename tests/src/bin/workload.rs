//! `workload`: program that runs in the Pods of the tests, and that queries them from elsewhere. It
//! is built as an image `FROM scratch`. It uses only the standard library, because it is compiled
//! alone.

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

const USAGE: &str = "usage:
  workload pause                 wait for ever
  workload serve PORT            answer HTTP: / with our host name and the address of whoever asks, any other path with the file of that name
  workload get HOST:PORT[/PATH]  ask such a server once, and print its answer
  workload dial HOST:PORT...     ask such servers, each some twenty times a second, until standard input ends; then print a line for
                                 each: how often it answered and how often it did not, and why
  workload echo PORT             tell our host name in a line to whoever connects, then send back what comes until it ends
  workload exchange HOST:PORT    ask such a server: random bytes, at least a mebibyte and until standard input ends; then our half is
                                 closed. Print its host name if exactly these bytes came back and then the end, and fail otherwise
  workload cat FILE...           print files
  workload cp FROM TO            copy a file, keeping neither owner nor mode
  workload ls DIRECTORY          print the names in a directory, sorted
  workload env                   print the environment";

/// Longer than a connection takes on a machine that compiles beside it, and short enough to ask again.
const PATIENCE: Duration = Duration::from_secs(5);

/// Longer than an answer takes on any machine, so that only a failure is one.
const LONG: Duration = Duration::from_secs(30);
/// Between an answer and the next question.
const BETWEEN: Duration = Duration::from_millis(50);
/// Maximum number of failures that are reported for one server.
const TOLD: usize = 10;

/// Of random bytes, which are sent one after the other.
const CHUNK: usize = 32 * 1024;
/// At least as many of them.
const CHUNKS: usize = 32;
/// So that who waits for the end of something long does not keep a machine busy with it.
const PAUSE: Duration = Duration::from_millis(5);

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["pause"] => loop {
            thread::park();
        },
        ["serve", port] => serve(port),
        ["get", address] => get(address),
        ["dial", addresses @ ..] => dial(addresses),
        ["echo", port] => echo(port),
        ["exchange", address] => exchange(address),
        ["cat", files @ ..] => files.iter().try_for_each(|file| print(&fs::read(file)?)),
        ["cp", from, to] => fs::read(from).and_then(|content| fs::write(to, content)),
        ["ls", folder] => list(folder),
        ["env"] => {
            env::vars().try_for_each(|(name, value)| print(format!("{name}={value}\n").as_bytes()))
        }
        _ => Err(io::Error::other(USAGE)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", words.join(" "));
            ExitCode::FAILURE
        }
    }
}

fn serve(port: &str) -> io::Result<()> {
    let port = port.parse().map_err(io::Error::other)?;
    for stream in TcpListener::bind(("0.0.0.0", port))?.incoming() {
        let stream = stream?;
        // A client that leaves in the middle of a request is ignored.
        thread::spawn(move || answer(&stream));
    }
    Ok(())
}

fn answer(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    let path = request.split(' ').nth(1).unwrap_or("/");
    let (status, body) = match path {
        "/" => ("200 OK", whoami(stream)?.into_bytes()),
        _ => match fs::read(path) {
            Ok(content) => ("200 OK", content),
            Err(error) => ("404 Not Found", format!("{path}: {error}\n").into_bytes()),
        },
    };
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}

fn whoami(stream: &TcpStream) -> io::Result<String> {
    let name = fs::read_to_string("/etc/hostname")?;
    Ok(format!(
        "{} answers {}\n",
        name.trim(),
        stream.peer_addr()?.ip()
    ))
}

fn get(address: &str) -> io::Result<()> {
    let (head, body) = fetch_once(address, PATIENCE)?;
    print(body.as_bytes())?;
    accepted(&head)
}

/// Sends one request and returns the head and the body of the answer.
fn fetch_once(address: &str, patience: Duration) -> io::Result<(String, String)> {
    let (host, path) = address.split_once('/').unwrap_or((address, ""));
    let resolved = host.to_socket_addrs()?.next();
    let resolved = resolved.ok_or_else(|| io::Error::other("no such host"))?;
    let mut stream = TcpStream::connect_timeout(&resolved, patience)?;
    stream.set_read_timeout(Some(patience))?;
    write!(
        stream,
        "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let text = String::from_utf8_lossy(&answer);
    let (head, body) = text
        .split_once("\r\n\r\n")
        .ok_or_else(|| io::Error::other("no HTTP answer"))?;
    Ok((head.to_owned(), body.to_owned()))
}

fn accepted(head: &str) -> io::Result<()> {
    match head.split(' ').nth(1) {
        Some("200") => Ok(()),
        _ => Err(io::Error::other(
            head.lines().next().unwrap_or_default().to_owned(),
        )),
    }
}

fn dial(addresses: &[&str]) -> io::Result<()> {
    let ended = Arc::new(AtomicBool::new(false));
    let mut all = Vec::new();
    for address in addresses {
        let (address, is_ended) = ((*address).to_owned(), Arc::clone(&ended));
        all.push(thread::spawn(move || dialled(&address, &is_ended)));
    }
    // The end of the input and a read error have the same effect here.
    let _rest = io::copy(&mut io::stdin(), &mut io::sink());
    ended.store(true, Ordering::Relaxed);
    for one in all {
        let line = one.join();
        print(
            line.map_err(|_| io::Error::other("a thread panicked"))?
                .as_bytes(),
        )?;
    }
    Ok(())
}

/// Sends requests repeatedly, and returns the line that is printed at the end.
fn dialled(address: &str, is_ended: &AtomicBool) -> String {
    let (mut answered, mut failed, mut why) = (0_u32, 0_u32, Vec::new());
    let began = Instant::now();
    while !is_ended.load(Ordering::Relaxed) {
        match fetch_once(address, LONG).and_then(|(head, _)| accepted(&head)) {
            Ok(()) => answered += 1,
            Err(error) => {
                failed += 1;
                if why.len() < TOLD {
                    why.push(format!("after {:.1?}: {error}", began.elapsed()));
                }
            }
        }
        thread::sleep(BETWEEN);
    }
    format!("{address} answered {answered} failed {failed} {why:?}\n")
}

fn echo(port: &str) -> io::Result<()> {
    let port = port.parse().map_err(io::Error::other)?;
    for stream in TcpListener::bind(("0.0.0.0", port))?.incoming() {
        let stream = stream?;
        // A client that leaves in the middle is ignored.
        thread::spawn(move || -> io::Result<()> {
            let name = fs::read_to_string("/etc/hostname")?;
            (&stream).write_all(format!("{}\n", name.trim()).as_bytes())?;
            io::copy(&mut &stream, &mut &stream)?;
            stream.shutdown(Shutdown::Write)
        });
    }
    Ok(())
}

fn exchange(address: &str) -> io::Result<()> {
    let resolved = address.to_socket_addrs()?.next();
    let resolved = resolved.ok_or_else(|| io::Error::other("no such host"))?;
    let stream = TcpStream::connect_timeout(&resolved, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut back = BufReader::new(stream.try_clone()?);
    let mut name = String::new();
    back.read_line(&mut name)?;
    // The channel bounds the bytes in flight, so that missing bytes are noticed soon.
    let (sent, expected) = sync_channel(64);
    let reader = thread::spawn(move || same(back, &expected));
    let ended = Arc::new(AtomicBool::new(false));
    let is_ended = Arc::clone(&ended);
    thread::spawn(move || {
        // The end of the input and a read error have the same effect here.
        let _rest = io::copy(&mut io::stdin(), &mut io::sink());
        is_ended.store(true, Ordering::Relaxed);
    });
    let mut random = fs::File::open("/dev/urandom")?;
    let mut chunks = 0;
    while chunks < CHUNKS || !ended.load(Ordering::Relaxed) {
        let mut chunk = vec![0; CHUNK];
        random.read_exact(&mut chunk)?;
        (&stream).write_all(&chunk)?;
        if sent.send(chunk).is_err() {
            break;
        }
        chunks += 1;
        thread::sleep(PAUSE);
    }
    drop(sent);
    stream.shutdown(Shutdown::Write)?;
    let compared = reader.join();
    compared.map_err(|_| io::Error::other("the reader panicked"))??;
    print(name.as_bytes())
}

/// Reads the same bytes, and then the end.
fn same(mut back: impl Read, expected: &Receiver<Vec<u8>>) -> io::Result<()> {
    let mut read = vec![0; CHUNK];
    for chunk in expected {
        back.read_exact(&mut read)?;
        if read != chunk {
            return Err(io::Error::other("other bytes came back"));
        }
    }
    match back.read(&mut read)? {
        0 => Ok(()),
        more => Err(io::Error::other(format!("{more} bytes too many came back"))),
    }
}

fn list(folder: &str) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    names
        .iter()
        .try_for_each(|name| print(format!("{name}\n").as_bytes()))
}

fn print(text: &[u8]) -> io::Result<()> {
    io::stdout().write_all(text)
}
