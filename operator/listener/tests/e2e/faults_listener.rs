//! The generated suite of the Listener on the simulated server: every world, every fault at every write, and none of it matters in the end.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::thread;

use crate::suites;
use lifecycle_suite::resources::{Fault, Move, Planned, Schedule};

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): b8_no_fault_changes_where_a_listener_ends, a_suite_does_the_same_on_one_thread_and_on_two, a_replay_gives_the_same_log_to_the_byte]
}

fn b8_no_fault_changes_where_a_listener_ends() {
    let report = suites::listener().faults(520, 60).run();
    let report = report.expect("the suite is complete");
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.unseen().is_empty(), "{report}");
    assert!(report.single >= 500, "{report}");
}

fn a_suite_does_the_same_on_one_thread_and_on_two() {
    let suite = |threads, seed| {
        let suite = suites::listener().depth(2).faults(40, 10);
        let report = suite.journal().threads(threads).seed(seed).run();
        report.expect("the suite is complete").digest
    };
    let (one, two) = (suite(1, 7), suite(2, 7));
    assert_eq!(one, two);
    assert_ne!(one, suite(2, 8), "the log does not depend on the seed");
}

fn a_replay_gives_the_same_log_to_the_byte() {
    let schedule = Schedule {
        moves: vec![
            Move::Create("Listener/plain".to_owned()),
            Move::Create("ListenerClass/balanced".to_owned()),
        ],
        calm: 1,
        faults: vec![
            Planned {
                of: 0,
                at: 1,
                fault: Fault::Line("crash-after".to_owned()),
            },
            Planned {
                of: 0,
                at: 2,
                fault: Fault::Line("503".to_owned()),
            },
            Planned {
                of: 0,
                at: 3,
                fault: Fault::Line("lag/5s".to_owned()),
            },
        ],
        lease: true,
    };
    let line = serde_json::to_string(&schedule).unwrap();
    let replay = || {
        suites::listener()
            .seed(7)
            .replay(&line)
            .expect("it can be replayed")
    };
    let (failures, log) = replay();
    assert!(failures.is_empty(), "{failures:?}");
    assert!(log.contains("crashes") && log.contains("-> 503"), "{log}");
    let logs = thread::scope(|scope| {
        let both = [scope.spawn(replay), scope.spawn(replay)];
        both.map(|thread| thread.join().unwrap().1)
    });
    assert!(logs.iter().all(|other| *other == log));
}
