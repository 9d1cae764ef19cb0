//! Pieces about objects of the cluster: some are only read, some are ours to write.

use super::draft::Draft;
use crate::random::sketch::{Effect, Let, alternatives, to_strings};

pub(super) fn class(draft: &mut Draft<'_>) {
    let optional = draft.dice.one_in(2);
    let class = draft.input(
        "class",
        "Class",
        if optional {
            "name spec.class?"
        } else {
            "name spec.class"
        },
    );
    let mut bad = vec![(format!("{class} == Absent"), "NoClass")];
    if optional {
        draft.state("NoName", &format!("{class} == Unnamed"), "Error", &["self"]);
        bad.push((format!("{class} == Unnamed"), "NoName"));
    }
    draft.state(
        "NoClass",
        &format!("{class} == Absent"),
        "Error",
        &[&class, "self"],
    );
    let mut right = class.clone();
    if draft.dice.one_in(2) {
        let domain = draft
            .dice
            .pick_word(&["{ Fine, Bad }", "{ Fine, BadPort, BadHost }"]);
        let validity = draft.fact("validity", &domain, &[&class]);
        draft.given(&[&class], None);
        draft.state(
            "Invalid",
            &format!("{validity} != Fine"),
            "Error",
            &["self", &class],
        );
        bad.push((format!("{validity} != Fine"), "Invalid"));
        right = format!("{validity} == Fine");
    }
    let bad: Vec<(&str, &str)> = bad
        .iter()
        .map(|(when, reason)| (when.as_str(), *reason))
        .collect();
    draft.condition("Accepted", &bad, &right);
    if right != class {
        draft.right.push(class.clone());
    }
    draft.there.push(class);
}

pub(super) fn secret(draft: &mut Draft<'_>) {
    let secret = draft.input("secret", "Secret", "name spec.tls.secret?");
    let missing = format!("{secret} == Absent");
    draft.state("NoSecret", &missing, "Error", &[&secret, "self"]);
    draft.condition(
        "Trusted",
        &[(&missing, "NoSecret")],
        &format!("{secret} in {{ Unnamed, Present }}"),
    );
}

pub(super) fn listed(draft: &mut Draft<'_>) {
    let sites = draft.input("sites", "[Site]", "namespace");
    let site = draft.fact("site", "bool", &[&sites]);
    draft.state("NoSite", &format!("!{site}"), "Error", &[&sites]);
    draft.condition("Sited", &[(&format!("!{site}"), "NoSite")], &site);
    draft.there.push(sites);
}

/// A written object with its states, up to the point where it is Current.
fn written(draft: &mut Draft<'_>) -> String {
    let lookup = draft
        .dice
        .pick_word(&["name meta.name", "name spec.host", "ref"]);
    let owner = draft.owner();
    let of = owner.map_or_else(String::new, |name| format!(" of {name}"));
    let service = draft.input("service", &format!("owned Service{of}"), &lookup);
    let foreign = format!("{service} == Foreign");
    draft.state("Conflict", &foreign, "Error", &[&service, "self"]);
    let guard = draft.leaning();
    draft.effect(&format!("apply {service}"), guard);
    let refused = format!("refused(apply_{service})");
    let mut bad = vec![(foreign.as_str(), "Foreign")];
    if draft.dice.one_in(2) {
        draft.state("Rejected", &refused, "Error", &["self", &service]);
        bad.push((&refused, "Refused"));
    }
    if draft.dice.one_in(2) {
        draft.state(
            "Draining",
            &format!("{service} == Terminating"),
            "Pending",
            &[],
        );
        draft.state(
            "Applying",
            &format!("{service} in {{ Absent, Stale }}"),
            "Pending",
            &[],
        );
    } else {
        draft.state("Applying", &format!("{service} != Current"), "Pending", &[]);
    }
    draft.condition("Programmed", &bad, &format!("{service} == Current"));
    service
}

pub(super) fn owned(draft: &mut Draft<'_>) {
    let service = written(draft);
    draft.there.push(service);
}

pub(super) fn rollout(draft: &mut Draft<'_>) {
    let service = written(draft);
    let rolled = draft.fact("rolled", "{ Waiting, Yes, Stuck }", &[&service]);
    draft.given(&[&format!("{service} == Current")], None);
    let (waiting, stuck) = (format!("{rolled} == Waiting"), format!("{rolled} == Stuck"));
    draft.state("Settling", &waiting, "Pending", &[]);
    draft.state("Stuck", &stuck, "Error", &["self", &service]);
    let ends: &[&str] = if draft.dice.one_in(3) {
        &["Yes"]
    } else {
        &["Yes", "Stuck"]
    };
    draft.promise("rolls", &waiting, alternatives(&rolled, ends));
    draft.condition(
        "Available",
        &[(&stuck, "RolloutStuck")],
        &format!("{rolled} == Yes"),
    );
}

/// Of several that are only read, by the number of inputs so far: the dice fall as they would otherwise.
fn names_or_refs(draft: &Draft<'_>) -> &'static str {
    if draft.sketch.inputs.len().is_multiple_of(2) {
        "names"
    } else {
        "refs"
    }
}

pub(super) fn addressed(draft: &mut Draft<'_>) {
    let service = written(draft);
    let volumes = draft.input("volumes", "[Volume]", "labels { OWNER = meta.name }");
    let many = names_or_refs(draft);
    let nodes = draft.input("nodes", "[Node]", &format!("{many} of {volumes}"));
    let there = format!("{service} in {{ Stale, Current }}");
    let reach = draft.name("reach");
    let from = to_strings(&[&service, &volumes, &nodes]);
    draft.sketch.lets.push(Let {
        name: reach.clone(),
        from,
        given: to_strings(&[&there]),
        keeper: None,
    });
    let address = draft.fact(
        "address",
        "{ NoPod, NoBalancer, NodeGone, Full }",
        &[&reach],
    );
    draft.given(&[&there], None);
    let gone = format!("{address} == NodeGone");
    draft.state("Stranded", &gone, "Error", &[&nodes, &volumes]);
    draft.state(
        "Idle",
        &format!("{address} == NoPod"),
        "Pending",
        &[&volumes],
    );
    let provisioning = format!("{address} == NoBalancer");
    draft.state("Provisioning", &provisioning, "Pending", &[]);
    draft.promise("balanced", &provisioning, alternatives(&address, &["Full"]));
    draft.condition(
        "Addressed",
        &[(&gone, "NodeGone")],
        &format!("{address} == Full"),
    );
}

pub(super) fn shared(draft: &mut Draft<'_>) {
    let config = draft.input("config", "shared Config", "name meta.namespace");
    let guard = draft.leaning();
    draft.effect(&format!("apply {config}"), guard);
    let refused = format!("refused(apply_{config})");
    let mut bad = Vec::new();
    if draft.dice.one_in(2) {
        draft.state("Denied", &refused, "Error", &["self", &config]);
        bad.push((refused.as_str(), "Denied"));
    }
    draft.state("Sharing", &format!("{config} != Current"), "Pending", &[]);
    draft.condition("Shared", &bad, &format!("{config} == Current"));
    draft.there.push(config);
}

pub(super) fn part(draft: &mut Draft<'_>) {
    let through = draft
        .there
        .first()
        .cloned()
        .filter(|_| draft.dice.one_in(2));
    let lookup = through.map_or("ref".to_owned(), |name| format!("ref from {name}"));
    let volume = draft.input("volume", "part Volume", &lookup);
    let absent = format!("{volume} == Absent");
    draft.state("NoVolume", &absent, "Error", &[&volume, "self"]);
    let guard = draft.leaning();
    draft.effect(&format!("apply {volume}"), guard);
    draft.state("Labelling", &format!("{volume} == Stale"), "Pending", &[]);
    let mut right = format!("{volume} == Current");
    if draft.dice.one_in(2) {
        let many = names_or_refs(draft);
        let slices = draft.input("slices", "[Slice]", &format!("{many} of {volume}"));
        let near = draft.fact("near", "{ Near, Far }", &[&slices]);
        draft.state("Far", &format!("{near} == Far"), "Pending", &[&slices]);
        right = format!("{right} && {near} == Near");
    }
    draft.condition("Labelled", &[(&absent, "NoVolume")], &right);
}

const COUNT: &str = "count { Empty, None, Some, All }";

/// How many of several that others make are as they should be.
pub(super) fn counted(draft: &mut Draft<'_>) {
    let lookup = draft
        .dice
        .pick_word(&["namespace", "labels { OWNER = meta.name }"]);
    let lamps = draft.input("lamps", "[Lamp]", &lookup);
    let lit = draft.fact("lit", COUNT, &[&lamps]);
    let (empty, dark) = (
        format!("{lit} == Empty"),
        format!("{lit} in {{ None, Some }}"),
    );
    draft.state("NoLamp", &empty, "Error", &[&lamps, "self"]);
    if draft.dice.one_in(2) {
        draft.state("Kindling", &dark, "Pending", &[]);
        draft.promise("kindles", &dark, alternatives(&lit, &["All"]));
    } else {
        draft.state("Dark", &dark, "Error", &[&lamps]);
    }
    draft.condition(
        "Lit",
        &[(&empty, "NoLamp"), (&dark, "Dark")],
        &format!("{lit} == All"),
    );
    draft.there.push(lamps);
}

pub(super) fn members(draft: &mut Draft<'_>) {
    let owner = draft.dice.pick_word(&["owned", "shared"]);
    let pods = draft.input(
        "pods",
        &format!("{owner} [Pod]"),
        "labels { OWNER = meta.name }",
    );
    let guard = draft.leaning();
    draft.effect(&format!("apply each {pods}"), guard);
    draft.sketch.effects.push(Effect {
        head: format!("delete each {pods}"),
        ..Effect::default()
    });
    let refused = format!("refused(apply_{pods})");
    let foreign = format!("{pods} == Foreign");
    let mut bad = vec![(foreign.as_str(), "Foreign")];
    if draft.dice.one_in(2) {
        draft.state("Barred", &refused, "Error", &["self", &pods]);
        bad.insert(0, (&refused, "Barred"));
    }
    draft.state(
        "Serving",
        &format!("{pods} in {{ Behind, Surplus, Draining }}"),
        "Pending",
        &[],
    );
    draft.state("Taken", &foreign, "Error", &[&pods, "self"]);
    let mut right = format!("{pods} == Current");
    if draft.dice.one_in(2) {
        let up = draft.fact("up", COUNT, &[&pods]);
        let cold = format!("{up} in {{ None, Some }}");
        draft.state("Cold", &cold, "Error", &[&pods, "self"]);
        right = format!("{right} && {up} in {{ Empty, All }}");
    }
    draft.condition("Populated", &bad, &right);
}

/// A fact behind several questions, each with its own answer where it fails.
pub(super) fn chained(draft: &mut Draft<'_>) {
    let plan = draft.input("plan", "Plan", "name spec.plan");
    let peers = draft.input("peers", "[Peer]", "spec.host = spec.host");
    let open = draft.fact("open", "bool", &[&peers]);
    let mode = draft.fact("mode", "{ Fine, Odd }", &[&plan]);
    draft.given(&[&plan], Some("NoPlan"));
    draft.given(&[&open], Some("Closed"));
    let (missing, closed, odd) = (
        format!("{mode} == NoPlan"),
        format!("{mode} == Closed"),
        format!("{mode} == Odd"),
    );
    draft.state("NoPlan", &missing, "Error", &[&plan]);
    draft.state("Closed", &closed, "Error", &[&peers]);
    draft.state("Odd", &odd, "Error", &["self", &plan]);
    draft.condition(
        "Planned",
        &[(&missing, "NoPlan"), (&closed, "Closed"), (&odd, "Odd")],
        &format!("{mode} == Fine"),
    );
    draft.there.push(plan);
}

/// Adds something that is made once and then kept, built from existing objects.
pub(super) fn minted(draft: &mut Draft<'_>) {
    let secret = draft.input("minted", "owned Secret", "name meta.name");
    let password = draft.name("password");
    draft.sketch.lets.push(Let {
        name: password.clone(),
        from: to_strings(&[&secret]),
        given: Vec::new(),
        keeper: None,
    });
    let foreign = format!("{secret} == Foreign");
    draft.state("Seized", &foreign, "Error", &[&secret, "self"]);
    let guard = draft.leaning();
    let effect = draft.effect(&format!("apply {secret}"), guard);
    effect.from = vec![password];
    draft.state("Minting", &format!("{secret} != Current"), "Pending", &[]);
    draft.condition(
        "Minted",
        &[(&foreign, "Foreign")],
        &format!("{secret} == Current"),
    );
    draft.there.push(secret);
}

/// Adds a record of an object that is observed only if the user of the record exists.
pub(super) fn guarded_record(draft: &mut Draft<'_>) {
    let target = draft.input("target", "part Volume", "ref");
    let metrics = draft.input("metrics", "Class", "name meta.name");
    let there = format!("{target} in {{ Stale, Current }}");
    draft.sketch.inputs.last_mut().expect("just pushed").given = to_strings(&[&there]);
    let wanted = draft.input("wanted", "record String", "");
    let missing = format!("{target} == Absent");
    draft.state("NoTarget", &missing, "Error", &[&target, "self"]);
    let unmeasured = format!("{metrics} == Absent");
    draft.state("NoMetrics", &unmeasured, "Error", &[&metrics]);
    draft.state("Noting", &format!("{wanted} != Current"), "Pending", &[]);
    draft.state("Setting", &format!("{target} == Stale"), "Pending", &[]);
    let effect = draft.effect(&format!("apply {wanted}"), Vec::new());
    effect.from = vec![metrics];
    let effect = draft.effect(&format!("apply {target}"), Vec::new());
    effect.from = vec![wanted.clone()];
    draft.condition(
        "Scaled",
        &[(&missing, "NoTarget"), (&unmeasured, "NoMetrics")],
        &format!("{target} == Current && {wanted} == Current"),
    );
}

/// One object that is built in either of two ways.
pub(super) fn either(draft: &mut Draft<'_>) {
    let service = draft.input("either", "owned Service", "name meta.name");
    let size = draft.fact("size", "{ Small, Large }", &["self"]);
    let foreign = format!("{service} == Foreign");
    draft.state("Blocked", &foreign, "Error", &[&service, "self"]);
    for way in ["Small", "Large"] {
        let mut guard = draft.leaning();
        guard.push(format!("{size} == {way}"));
        let name = draft.name(&format!("as_{}", way.to_lowercase()));
        let effect = draft.effect(&format!("apply {service}"), guard);
        effect.name = Some(name);
    }
    draft.state("Shaping", &format!("{service} != Current"), "Pending", &[]);
    draft.condition(
        "Shaped",
        &[(&foreign, "Foreign")],
        &format!("{service} == Current"),
    );
    draft.there.push(service);
}
