//! Tests of the machines of volumes: observations, answers and effects of a CSI call, step by step,
//! without any service.

#[allow(
    dead_code,
    reason = "that they compile is the point; few of them are run"
)]
mod sketches {
    pub(crate) mod provision;
    pub(crate) mod scratch;
    pub(crate) mod volume;
}

use std::sync::Arc;

use lifecycle_runtime::Machine;
use lifecycle_runtime::lifecycle::observation::Slot;
use lifecycle_runtime::lifecycle::request::{Access, AccessMode, Capability, Requested};
use lifecycle_runtime::lifecycle::{CreatedVolume, LookupKey, Observation, Once};
use lifecycle_runtime::machine::answer::{Answer, Misfit};
use lifecycle_runtime::machine::ir::{Code, Node, Origin, Rpc};

fn call_of(machine: &impl Machine, rpc: Rpc) -> usize {
    let mut calls = machine.ir().calls.iter();
    calls.position(|call| call.rpc == rpc).expect("declared")
}

/// Observes a volume that has only probes, as a call sees it.
async fn observe_call(machine: &impl Machine, rpc: Rpc, request: &Arc<Requested>) -> Observation {
    let ir = machine.ir();
    let call = &ir.calls[call_of(machine, rpc)];
    let mut observation = Observation::of_call(ir, Arc::clone(request));
    for node in ir.order {
        match *node {
            Node::Input(input) if !call.unseen_inputs.contains(&input) => {
                let probe = machine.poll(&observation, input).expect("it has a key");
                let reply = probe.await.expect("it answers");
                observation.found(input, Slot::Plain(Some(reply.answer)));
            }
            Node::Var(var) if ir.vars[var].origin == Origin::Fact => {
                let mut given = ir.vars[var].given.iter();
                let asked = given.all(|given| observation.world.holds(&given.pred));
                if asked && !call.unseen_vars.contains(&var) {
                    let answer = machine.fact(&observation, var).expect("it can be answered");
                    observation.world.set(var, answer.value);
                }
            }
            Node::Input(_) | Node::Value(_) | Node::Var(_) => {}
        }
    }
    observation
}

/// Runs a call to its end; answers with the effects that it ran, or with a code.
async fn run(
    machine: &impl Machine,
    rpc: Rpc,
    request: &Arc<Requested>,
) -> Result<Vec<&'static str>, Code> {
    let (ir, position) = (machine.ir(), call_of(machine, rpc));
    let call = &ir.calls[position];
    let mut ran = Vec::new();
    loop {
        let observation = observe_call(machine, rpc, request).await;
        match ir.answer(&observation.world, position) {
            Answer::Precondition(at) => return Err(call.preconditions[at].code),
            Answer::Refusal(refusal) => return Err(call.refusals[refusal].code),
            Answer::Done => return Ok(ran),
            Answer::Effect(effect) => {
                let key = machine.key(&observation, effect).expect("it has a key");
                let running = machine.call(&observation, effect, Once::new(&key));
                running.expect("it is a call").await.expect("it succeeds");
                ran.push(ir.effects[effect].name);
            }
            Answer::Wait | Answer::Contradiction => panic!("{}", observation.world.describe(ir)),
        }
    }
}

fn request(volume: &str) -> Requested {
    Requested {
        volume_id: volume.to_owned(),
        target_path: "/pods/1/mount".to_owned(),
        staging_target_path: "/staging/1".to_owned(),
        ..Requested::default()
    }
}

fn disk() -> impl Machine {
    sketches::scratch::machine(sketches::scratch::Disk {
        volumes: ["v".to_owned()].into(),
        ..Default::default()
    })
}

#[tokio::test]
async fn a_volume_goes_all_the_way_and_back_and_each_call_may_come_twice() {
    let (machine, request) = (disk(), Arc::new(request("v")));
    let way = [
        (Rpc::NodeStageVolume, "stage"),
        (Rpc::NodePublishVolume, "publish"),
        (Rpc::NodeUnpublishVolume, "unpublish"),
        (Rpc::NodeUnstageVolume, "unstage"),
    ];
    for (rpc, effect) in way {
        assert_eq!(run(&machine, rpc, &request).await, Ok(vec![effect]));
        assert_eq!(
            run(&machine, rpc, &request).await,
            Ok(vec![]),
            "{rpc:?} again"
        );
    }
}

#[tokio::test]
async fn words_answer_with_the_codes_of_the_interface() {
    let machine = disk();
    let known = Arc::new(request("v"));
    let unstaged = run(&machine, Rpc::NodePublishVolume, &known).await;
    assert_eq!(unstaged, Err(Code::FailedPrecondition));
    let unknown = Arc::new(request("w"));
    let not_there = run(&machine, Rpc::NodeStageVolume, &unknown).await;
    assert_eq!(not_there, Err(Code::NotFound));
    let teardown = run(&machine, Rpc::NodeUnstageVolume, &unknown).await;
    assert_eq!(teardown, Ok(vec![]), "teardown never asks `unknown`");
    let block = Capability {
        access: Access::Block,
        mode: AccessMode::SingleNodeWriter,
    };
    let unfit = Arc::new(Requested {
        capabilities: vec![block],
        ..request("v")
    });
    let not_supported = run(&machine, Rpc::NodeStageVolume, &unfit).await;
    assert_eq!(not_supported, Err(Code::FailedPrecondition));
    run(&machine, Rpc::NodeStageVolume, &known)
        .await
        .expect("it is there");
    let differs = Arc::new(Requested {
        readonly: true,
        ..request("v")
    });
    let other = run(&machine, Rpc::NodeStageVolume, &differs).await;
    assert_eq!(other, Err(Code::AlreadyExists));
}

#[tokio::test]
async fn what_is_published_cannot_be_unstaged() {
    let (machine, request) = (disk(), Arc::new(request("v")));
    for rpc in [Rpc::NodeStageVolume, Rpc::NodePublishVolume] {
        run(&machine, rpc, &request).await.expect("it is there");
    }
    let refused = run(&machine, Rpc::NodeUnstageVolume, &request).await;
    assert_eq!(refused, Err(Code::FailedPrecondition));
}

/// A driver that served the name before may have stored more than an answer may have, for ever.
#[test]
fn a_context_of_any_length_is_read_and_other_maps_are_bounded() {
    let machine = disk();
    let misfit = |rpc: Rpc, long: &str| {
        let size = |field: &str| if field == long { 200_000 } else { 1 };
        machine.ir().calls[call_of(&machine, rpc)].misfit(size)
    };
    for rpc in [Rpc::NodeStageVolume, Rpc::NodePublishVolume] {
        assert_eq!(misfit(rpc, "volume_context"), None);
        let (field, limit) = ("publish_context", 4096);
        assert_eq!(misfit(rpc, field), Some(Misfit::TooLong { field, limit }));
    }
}

#[test]
fn a_request_is_refused_for_what_it_lacks_before_anything_is_looked_at() {
    let machine = disk();
    let misfit = |rpc: Rpc, request: &Requested| {
        let request = lifecycle_runtime::lifecycle::Request::new(request);
        let capability = |field: &str| usize::from(field.starts_with("volume_capability"));
        let size = |field: &str| {
            request
                .text(field)
                .map_or_else(|| capability(field), str::len)
        };
        machine.ir().calls[call_of(&machine, rpc)].misfit(size)
    };
    assert_eq!(misfit(Rpc::NodePublishVolume, &request("v")), None);
    let missing = misfit(Rpc::NodePublishVolume, &request(""));
    assert_eq!(missing, Some(Misfit::Missing("volume_id")));
    let long = misfit(Rpc::NodeUnstageVolume, &request(&"v".repeat(129)));
    let (field, limit) = ("volume_id", 128);
    assert_eq!(long, Some(Misfit::TooLong { field, limit }));
    assert_eq!(
        misfit(Rpc::NodeStageVolume, &request(&"v".repeat(128))),
        None
    );
}

#[test]
fn inputs_are_found_through_the_request() {
    let machine = sketches::provision::machine(sketches::provision::Promises);
    let parameter =
        |key: &str, value: &str| (format!("csi.storage.k8s.io/pvc/{key}"), value.to_owned());
    let request = Arc::new(Requested {
        name: "pvc-1".to_owned(),
        parameters: [parameter("name", "data"), parameter("namespace", "ns")].into(),
        ..Requested::default()
    });
    let observation = Observation::of_call(machine.ir(), request);
    assert_eq!(
        machine.lookup(&observation, 0),
        Some(LookupKey::Nothing),
        "no id yet"
    );
    let claim = machine
        .lookup(&observation, 1)
        .expect("it can be asked for");
    let LookupKey::Ref(claim) = claim else {
        panic!("{claim:?}")
    };
    assert_eq!(
        (claim.name.as_str(), claim.namespace.as_deref()),
        ("data", Some("ns"))
    );
    assert_eq!(
        machine.created(&observation),
        Some(CreatedVolume::new("pvc-1"))
    );
    assert!(machine.subject().is_none(), "a volume has no object");
}

/// The call that takes a volume from a Pod knows the path and nothing of the Pod.
#[test]
fn a_call_knows_what_its_request_cannot_find() {
    let machine = sketches::volume::machine(sketches::volume::PlainLogic);
    let ir = machine.ir();
    let names = |rpc: Rpc| {
        let unseen = ir.calls[call_of(&machine, rpc)].unseen_inputs.iter();
        unseen
            .map(|input| ir.inputs[*input].name)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(Rpc::NodePublishVolume), [""; 0]);
    assert_eq!(
        names(Rpc::NodeUnpublishVolume),
        ["chosen", "pod", "listed", "node"]
    );
    assert_eq!(
        names(Rpc::NodeUnstageVolume),
        ["chosen", "pod", "listed", "node", "tree"]
    );
    let waits = ir.calls[call_of(&machine, Rpc::NodePublishVolume)].within;
    assert_eq!(
        waits.map(|waits| (waits.time, waits.code)),
        Some((90_000, Code::Unavailable))
    );
}
