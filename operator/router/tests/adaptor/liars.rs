//! Answers with a wrong byte somewhere: the client may fail, but it neither panics nor takes longer than its limit.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::spawn;

use lifecycle_router::adaptor::amqp::{Client, Options};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;

use crate::support::{Agent, PROTON, SHORT};

pub(crate) fn cases() -> Vec<Case> {
    named![single_threaded(PROTON):
        a_wrong_byte_anywhere_is_an_error_at_most,
    ]
}

/// Forwards one connection to a port, and changes the byte at `at` of the response.
fn liar(to: u16, at: usize, change: u8) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // It ends with the agent at the latest.
    spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let agent = TcpStream::connect(("127.0.0.1", to)).unwrap();
        let (mut from, mut into) = (client.try_clone().unwrap(), agent.try_clone().unwrap());
        spawn(move || {
            // Either side may end it.
            let _copied = std::io::copy(&mut from, &mut into);
            let _shut = into.shutdown(Shutdown::Both);
        });
        pass(agent, client, at, change);
    });
    port
}

fn pass(mut from: TcpStream, mut into: TcpStream, at: usize, change: u8) {
    let (mut buffer, mut passed) = ([0; 4096], 0);
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if (passed..passed + length).contains(&at) {
            buffer[at - passed] ^= change;
        }
        passed += length;
        if into.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _shut = into.shutdown(Shutdown::Both);
}

async fn a_wrong_byte_anywhere_is_an_error_at_most() {
    let agent = Agent::start();
    let mut random = Pcg64::seed_from_u64(36);
    let mut failures = 0;
    for _ in 0..40 {
        let at = random.random_range(0..1500);
        let change = 1 << random.random_range(0..8);
        let port = liar(agent.port, at, change);
        let options = Options {
            port,
            limit: SHORT,
            ..agent.options()
        };
        let failed = match Client::connect(&options).await {
            Err(_) => true,
            Ok(mut client) => {
                let first = client.query("listener").await.is_err();
                let second = client.query("connector").await.is_err();
                client.close().await;
                first || second
            }
        };
        failures += usize::from(failed);
    }
    assert!(
        failures > 4,
        "{failures} of 40: the bytes are not those of answers"
    );
    let mut client = agent.client().await;
    assert_eq!(client.query("listener").await.unwrap().len(), 3);
}
