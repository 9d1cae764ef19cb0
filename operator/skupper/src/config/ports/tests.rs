//! Allocation of hosts and ports, for small cases and for arbitrary ones.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn request(name: &str, second: i64, host: &str, port: u16) -> PortRequest {
    PortRequest {
        holder: Holder::Listener,
        uid: format!("uid-{name}"),
        name: name.to_owned(),
        pod: None,
        created: Timestamp::from_second(second).expect("it is a time"),
        host: host.to_owned(),
        port,
        size: 100,
    }
}

fn again(allocations: Vec<PortAllocation>) -> PriorDecision {
    PriorDecision {
        allocations,
        ..PriorDecision::default()
    }
}

/// `name:router port` of all that were given something.
fn given(decided: &Decided) -> Vec<String> {
    let allocations = decided.allocations.iter();
    allocations
        .map(|c| format!("{}:{}", c.name, c.router_port))
        .collect()
}

const ROOM: usize = 900 * 1024;

#[test]
fn who_was_created_first_is_served_first() {
    let requests = [
        request("late", 2, "db", 1),
        request("early", 1, "db", 1),
        request("other", 3, "db", 2),
    ];
    let decided = decide(&PriorDecision::default(), &requests, ROOM);
    assert_eq!(given(&decided), ["early:1024", "other:1025"]);
}

#[test]
fn an_edit_evicts_nobody() {
    let first = [request("old", 1, "a", 1), request("new", 2, "b", 1)];
    let before = again(decide(&PriorDecision::default(), &first, ROOM).allocations);
    let edited = [request("old", 1, "b", 1), request("new", 2, "b", 1)];
    let decided = decide(&before, &edited, ROOM);
    assert_eq!(given(&decided), ["new:1025"]);
    let back = decide(
        &again(decided.allocations),
        &[request("old", 1, "b", 1)],
        ROOM,
    );
    assert_eq!(given(&back), ["old:1024"], "the holder is gone");
}

#[test]
fn an_edited_listener_keeps_its_port_of_the_router() {
    let first = [request("a", 1, "a", 1), request("b", 2, "b", 1)];
    let before = again(decide(&PriorDecision::default(), &first, ROOM).allocations);
    let edited = [
        request("z", 0, "z", 1),
        request("a", 1, "c", 7),
        request("b", 2, "b", 1),
    ];
    let decided = decide(&before, &edited, ROOM);
    assert_eq!(given(&decided), ["a:1024", "b:1025", "z:1026"]);
}

/// As the existing implementation fills gaps.
#[test]
fn the_lowest_free_port_is_given() {
    let names = ["a", "b", "c", "d", "e"];
    let requests: Vec<_> = (0..)
        .zip(names)
        .map(|(n, name)| request(name, n, name, 1))
        .collect();
    let before = again(decide(&PriorDecision::default(), &requests, ROOM).allocations);
    let left: Vec<_> = requests
        .into_iter()
        .filter(|request| request.name != "c")
        .collect();
    let before = again(decide(&before, &left, ROOM).allocations);
    let more = [
        left,
        vec![request("x", 9, "x", 1), request("y", 10, "y", 1)],
    ]
    .concat();
    let decided = decide(&before, &more, ROOM);
    assert_eq!(
        given(&decided),
        ["a:1024", "b:1025", "x:1026", "d:1027", "e:1028", "y:1029"]
    );
}

#[test]
fn ports_of_the_router_itself_are_not_given() {
    let requests: Vec<_> = (0..5_000)
        .map(|n| request(&format!("l{n}"), n, &format!("h{n}"), 1))
        .collect();
    let decided = decide(&PriorDecision::default(), &requests, usize::MAX);
    assert_eq!(decided.allocations.len(), 5_000);
    let ports: BTreeSet<u16> = decided.allocations.iter().map(|c| c.router_port).collect();
    assert!(RESERVED.iter().all(|port| !ports.contains(port)));
    assert_eq!(ports.last(), Some(&6_025), "two were left out");
}

#[test]
fn ports_of_a_replaced_controller_are_taken_over() {
    let before = PriorDecision {
        recovered: [
            ("listener/b", 1024),
            ("listener/a", 1030),
            ("listener/gone", 1025),
            ("listener/bad", 5672),
        ]
        .map(|(name, port)| (name.to_owned(), port))
        .into(),
        ..PriorDecision::default()
    };
    let requests = [
        request("a", 1, "a", 1),
        request("b", 2, "b", 1),
        request("bad", 3, "bad", 1),
    ];
    assert_eq!(
        given(&decide(&before, &requests, ROOM)),
        ["b:1024", "bad:1025", "a:1030"]
    );
}

#[test]
fn ports_that_services_lead_to_are_kept_where_nothing_else_is_known() {
    let before = PriorDecision {
        recovered: [("listener/a".to_owned(), 1030)].into(),
        offered: [("a", 1040), ("b", 1030), ("c", 1050), ("d", 80)]
            .map(|(host, port)| ((host.to_owned(), 1), port))
            .into(),
        ..PriorDecision::default()
    };
    let requests = [
        request("a", 1, "a", 1),
        request("b", 2, "b", 1),
        request("c", 3, "c", 1),
        request("other", 4, "c", 2),
        request("d", 5, "d", 1),
    ];
    // The port of `b` is that of `a`, one below 1024 is not a valid router port, and `other`
    // requests another port of `c`.
    assert_eq!(
        given(&decide(&before, &requests, ROOM)),
        ["b:1024", "other:1025", "d:1026", "a:1030", "c:1050"]
    );
}

#[test]
fn what_does_not_fit_is_full_and_takes_nothing_from_others() {
    let mut big = request("big", 1, "big", 1);
    big.size = 950;
    let requests = [request("a", 0, "a", 1), big, request("b", 2, "b", 1)];
    let decided = decide(&PriorDecision::default(), &requests, 1000);
    assert_eq!(given(&decided), ["a:1024", "b:1025"]);
    assert_eq!(decided.full, ["uid-big".to_owned()].into());
}

/// Of two Pods that do not fit one loses its place to a smaller one of another Listener: the other still does not fit.
#[test]
fn what_somebody_smaller_got_does_not_hide_what_does_not_fit() {
    let (a, b) = (request("a", 1, "a", 80), request("b", 2, "b", 80));
    let big = ["p-1", "p-2"].map(|name| PortRequest {
        size: 900,
        ..pod(&a, name)
    });
    let [first, second] = big;
    let small = pod(&b, "p-2");
    let decided = decide(
        &PriorDecision::default(),
        &[a, first, second, b, small],
        1000,
    );
    assert_eq!(given(&decided), ["a:1024", "b:1025", "b:1026"]);
    assert_eq!(decided.full, ["uid-a".to_owned()].into());
}

/// A Pod of a Listener, under its own name.
fn pod(of: &PortRequest, name: &str) -> PortRequest {
    PortRequest {
        pod: Some(name.to_owned()),
        host: name.to_owned(),
        ..of.clone()
    }
}

#[test]
fn pods_have_ports_of_their_own_and_go_with_their_listener() {
    let first = [request("a", 1, "a", 80), request("b", 2, "b", 80)];
    let (one, two) = (pod(&first[0], "p-0"), pod(&first[0], "p-1"));
    let [a, b] = first;
    let all = [a.clone(), b.clone(), one.clone(), two.clone()];
    let decided = decide(&PriorDecision::default(), &all, ROOM);
    assert_eq!(given(&decided), ["a:1024", "b:1025", "a:1026", "a:1027"]);
    // One Listener is replaced by another, which gets the port that became free.
    let before = again(decided.allocations);
    let decided = decide(&before, &[a.clone(), b.clone(), pod(&a, "p-2"), two], ROOM);
    let ports: Vec<_> = decided
        .allocations
        .iter()
        .map(|c| (c.pod.as_deref(), c.router_port))
        .collect();
    assert_eq!(
        ports,
        [
            (None, 1024),
            (None, 1025),
            (Some("p-2"), 1026),
            (Some("p-1"), 1027)
        ]
    );
    let lost = request("a", 1, "b", 80);
    let decided = decide(
        &again(decided.allocations),
        &[lost.clone(), b, pod(&lost, "p-2")],
        ROOM,
    );
    assert_eq!(given(&decided), ["b:1025"]);
}

/// The holder of a name keeps it: a Pod does not take the Service of a Listener, nor the other way
/// round.
#[test]
fn a_pod_and_a_host_of_one_name_do_not_evict_each_other() {
    let a = request("a", 1, "a", 80);
    let decided = decide(
        &PriorDecision::default(),
        &[a.clone(), pod(&a, "p-0")],
        ROOM,
    );
    let late = request("late", 0, "p-0", 80);
    let decided = decide(
        &again(decided.allocations),
        &[a.clone(), pod(&a, "p-0"), late],
        ROOM,
    );
    assert_eq!(given(&decided), ["a:1024", "a:1025"]);
}

/// Times are whole seconds, and which of two Listeners is seen first is chance: the same one has the Pod in the end.
#[test]
fn of_two_that_expose_the_same_pods_the_same_one_always_has_them() {
    let (mut a, mut b) = (request("a", 1, "a", 80), request("b", 1, "b", 80));
    for uids in [("1", "2"), ("2", "1")] {
        (a.uid, b.uid) = (uids.0.to_owned(), uids.1.to_owned());
        let (of_a, of_b) = (pod(&a, "p-0"), pod(&b, "p-0"));
        let both = [b.clone(), of_b.clone(), a.clone(), of_a.clone()];
        for seen in [&both[..2], &both[2..], &both[..0]] {
            let before = again(decide(&PriorDecision::default(), seen, ROOM).allocations);
            let decided = decide(&before, &both, ROOM);
            let has = decided.allocations.iter().find(|c| c.pod.is_some());
            assert_eq!(has.map(|c| c.name.as_str()), Some("a"), "{decided:?}");
            let lost = LostPods {
                first: "p-0".to_owned(),
                count: 1,
            };
            assert_eq!(decided.lost, [(b.uid.clone(), lost)].into());
        }
    }
    // The Listener that was created a second earlier keeps it, whatever its name is.
    a.created = Timestamp::from_second(2).expect("it is a time");
    let all = [b.clone(), pod(&b, "p-0"), a.clone(), pod(&a, "p-0")];
    let decided = decide(&PriorDecision::default(), &all, ROOM);
    assert!(decided.lost.contains_key(&a.uid), "{decided:?}");
}

#[test]
fn pods_that_have_not_got_their_names_are_told_of_each_listener() {
    let (a, b) = (request("a", 1, "a", 80), request("b", 2, "p-1", 80));
    let more = request("more", 3, "p-2", 80);
    let pods = ["p-2", "p-0", "p-1"].map(|name| pod(&a, name));
    let all = [vec![a, b, more], pods.to_vec()].concat();
    let decided = decide(&PriorDecision::default(), &all, ROOM);
    let lost = LostPods {
        first: "p-1".to_owned(),
        count: 2,
    };
    assert_eq!(decided.lost, [("uid-a".to_owned(), lost)].into());
    let again = again(decided.allocations.clone());
    assert_eq!(decide(&again, &all, ROOM), decided);
}

proptest! {
    /// Whatever existed before, written by the operator or by hand: all invariants hold, and
    /// deciding again changes nothing.
    #[test]
    fn deciding_again_changes_nothing(
        asked in vec((0..3_i64, 0..3_u8, 1..4_u16, 1..400_usize, vec(0..4_u8, 0..3)), 0..8),
        several in vec(0..4_u8, 8),
        held in vec((0..10_u8, 0..4_u8, 1..4_u16, 1022..1032_u16, 0..2_u8), 0..8),
    ) {
        let requests = asked.into_iter().enumerate().flat_map(|(n, (created, host, port, size, pods))| {
            let is_one = several.get(n) != Some(&0);
            let holder = if is_one { Holder::Listener } else { Holder::MultiKeyListener };
            let whole = PortRequest { size, holder, ..request(&format!("l{n}"), created, &format!("h{host}"), port) };
            let pods: BTreeSet<u8> = pods.into_iter().filter(|_| is_one).collect();
            let pods: Vec<_> = pods.into_iter().map(|p| pod(&whole, &format!("h{p}"))).collect();
            [whole].into_iter().chain(pods)
        });
        let requests: Vec<PortRequest> = requests.collect();
        let allocations = held.into_iter().map(|(name, host, port, router_port, pod)| PortAllocation {
            holder: Holder::Listener,
            uid: format!("uid-l{name}"),
            name: format!("l{name}"),
            pod: (pod == 1).then(|| format!("h{host}")),
            host: format!("h{host}"),
            port,
            router_port,
        });
        let decided = decide(&again(allocations.collect()), &requests, 1000);
        let places: BTreeSet<_> = decided.allocations.iter().map(|c| (&c.host, c.port)).collect();
        let ports: BTreeSet<_> = decided.allocations.iter().map(|c| c.router_port).collect();
        let count = decided.allocations.len();
        prop_assert_eq!((places.len(), ports.len()), (count, count));
        let kinds: BTreeSet<_> = decided.allocations.iter().map(|c| (&c.host, c.holder)).collect();
        let hosts: BTreeSet<_> = decided.allocations.iter().map(|c| &c.host).collect();
        prop_assert_eq!(kinds.len(), hosts.len(), "a host is of one kind");
        let served = |uid: &str| decided.allocations.iter().any(|c| c.uid == uid && c.pod.is_none());
        for request in &requests {
            let place = (&request.host, request.port);
            let mut of_host = decided.allocations.iter().filter(|c| c.host == request.host);
            let is_of_others = of_host.any(|c| c.holder != request.holder);
            if request.pod.is_none() || served(&request.uid) {
                let is_decided = places.contains(&place) || is_of_others;
                prop_assert!(is_decided || decided.full.contains(&request.uid));
            } else {
                prop_assert!(!decided.allocations.iter().any(|c| c.uid == request.uid));
            }
        }
        prop_assert_eq!(decide(&again(decided.allocations.clone()), &requests, 1000), decided);
    }
}
