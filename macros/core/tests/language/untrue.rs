//! Findings that would be untrue: of each of these declarations the checker once said something that
//! cannot happen.

use super::page::{assert_finding, render_findings};

/// A tick does not make a ConfigMap of another controller.
const ABSENT_PART: &str = r#"
lifecycle! { resource Flag;
    observe { now: clock; flags: part ConfigMap by name spec.flags; }
    facts { share: { None, Some } from self, now; }
    states {
        NoFlags    when flags == Absent => Error wakes flags, self;
        Setting    when flags == Stale  => Pending;
        goal Set   when flags == Current => Ready;
    }
    effects {
        off: apply flags when share == None;
        on:  apply flags when share == Some;
    }
    status { condition Set { False "NoFlags" when flags == Absent; True when flags == Current; Unknown "Working" otherwise; } ready from Set; }
}
"#;

/// An expired grant stays expired. Only its owner can prolong it.
const ONE_WAY: &str = r#"
lifecycle! { resource Grant;
    observe { now: clock; page: owned ConfigMap by name meta.name; }
    facts { expired: bool from self, now; }
    states {
        Taken      when page == Foreign     => Error wakes page, self;
        Expired    when expired             => Error wakes self;
        Leaving    when page == Terminating => Pending;
        Writing    when page != Current     => Pending;
        goal Ready when page == Current     => Ready;
    }
    effects { apply page when !expired; }
    status { condition Granted { False "Taken" when page == Foreign; False "Expired" when expired; True when page == Current; Unknown "Working" otherwise; } ready from Granted; }
}
"#;

/// With `health == Bad` the builder is `off`, whatever the time is.
const SAME_BUILDER: &str = r#"
lifecycle! { resource Flag;
    observe { now: clock; flags: part ConfigMap by name spec.flags; errors: poll Rate by meta.uid every 1min; }
    facts { share: { None, Some } from self, now; health: { Good, Bad } from errors given errors else Unseen; }
    states {
        NoFlags    when flags == Absent  => Error wakes flags, self, now;
        Unseen     when health == Unseen => Pending;
        Setting    when flags == Stale   => Pending;
        Stopped    when health == Bad    => Error wakes errors, self;
        goal Set   when flags == Current => Ready;
    }
    effects {
        off: apply flags when health == Bad || share == None;
        on:  apply flags when health == Good && share == Some;
    }
    status { condition Set { False "NoFlags" when flags == Absent; Unknown "Unseen" when health == Unseen; False "Stopped" when health == Bad && flags == Current; True when flags == Current; Unknown "Working" otherwise; } ready from Set; }
}
"#;

/// A network that is gone took its server along, with all entries.
const GATEWAY: &str = r#"
lifecycle! { resource Peer;
    observe { network: Network by name spec.network; server: poll Table by network, meta.uid every 20s given network; }
    facts { held entry: { No | Yes } from server given network else No given server else Unknown; }
    states {
        NoNetwork  when !network         => Error wakes network, self;
        Unseen     when entry == Unknown => Pending;
        Entering   when entry == No      => Pending;
        goal Ready when entry == Yes     => Ready;
    }
    effects {
        enter: call server from network when entry == No sets { entry = Yes } undo leave key meta.uid;
        leave: call server sets { entry = No } key meta.uid;
    }
    status { condition In { False "NoNetwork" when !network; True when entry == Yes; Unknown "Working" otherwise; } ready from In; }
}
"#;

/// The builder decides between `Stale` and `Current`, and nothing else.
const BUILDERS: &str = r#"
lifecycle! { resource Flag;
    observe { stage: record Stage; flags: owned ConfigMap by name meta.name; }
    facts { phase: { A, B } from stage; }
    states {
        Taken      when flags == Foreign     => Error wakes flags, self;
        Going      when flags == Terminating => Pending;
        Noting     when stage != Current     => Pending;
        Setting    when flags != Current     => Pending;
        goal Set   when flags == Current     => Ready;
    }
    effects {
        apply stage;
        a: apply flags when phase == A && stage == Current;
        b: apply flags when phase == B && stage == Current;
    }
    transitions { Noting -> Setting | Set; Setting -> Set; Going -> Noting | Setting; }
}
"#;

/// Without an issuer only the issuer helps.
const ISSUER: &str = r#"
lifecycle! { resource Cert;
    observe { now: clock; issuer: Issuer by name spec.issuer; secret: owned Secret by name meta.name; }
    facts { valid: { No, Yes } from secret, now; }
    states {
        Taken      when secret == Foreign                   => Error wakes secret, self;
        goal Ready when valid == Yes && secret == Current   => Ready;
        Going      when secret == Terminating               => Pending;
        NoIssuer   when !issuer                             => Error wakes issuer, self;
        Writing    when secret != Current                   => Pending;
        Invalid    when valid == No                         => Error wakes secret, self, now;
    }
    effects { apply secret from issuer; }
}
"#;

/// A key that is exchanged in three steps.
const ROTATION: &str = r#"
lifecycle! {
    resource KeyRotation;
    observe {
        now:   clock;
        stage: record Stage;
        old:   owned Secret    by ref from self;
        new:   owned Secret    by ref from self;
        trust: owned ConfigMap by name meta.name;
        users: [Deployment]    by labels { USES = meta.name };
    }
    facts {
        due:    { No, Yes } from new, now;
        phase:  { Single, Trusting, Using } from stage;
        rolled: count { Empty, None, Some, All } of users;
        mint key: Key in new from now until due == Yes && phase == Single && stage == Current;
    }
    states {
        Taken      when any(old, new, trust) == Foreign         => Error wakes old, new, trust, self, now;
        Draining   when any(old, new, trust) == Terminating     => Pending;
        Staging    when stage != Current                        => Pending;
        Keying     when new in { Absent, Stale }                => Pending;
        Trusting   when trust in { Absent, Stale }              => Pending;
        Rolling    when phase == Using && rolled in { None, Some } => Pending overdue 1h;
        Stepping   when phase != Single                            => Pending wakes self;
        goal Ready when phase == Single                         => Ready;
    }
    effects {
        use_new: apply stage from stage when phase == Trusting && trust == Current;
        finish:  apply stage from stage when phase == Using && rolled in { Empty, All };
        begin:   apply stage from new when phase == Single;
        apply new from key;
        apply trust from old, new;
    }
    promises {
        rolls: rolled in { None, Some } sets { rolled = All };
    }
    status {
        condition Rotated {
            False "NameTaken" when any(old, new, trust) == Foreign;
            True when phase == Single && new == Current && trust == Current && stage == Current && old != Terminating;
            Unknown "Working" otherwise;
        }
        ready from Rotated;
    }
}
"#;

#[track_caller]
fn assert_silent(text: &str) {
    assert_eq!(render_findings(text), [""; 0]);
}

#[test]
fn a_tick_makes_no_object_of_others() {
    assert_silent(ABSENT_PART);
}

#[test]
fn a_flag_of_time_stays_true() {
    assert_silent(ONE_WAY);
}

#[test]
fn time_changes_nothing_that_the_same_builder_makes_of_other_things() {
    assert_silent(SAME_BUILDER);
}

#[test]
fn a_system_goes_with_the_object_that_it_is_in() {
    assert_silent(GATEWAY);
}

#[test]
fn another_builder_changes_no_owner() {
    assert_silent(BUILDERS);
}

#[test]
fn time_may_lead_on_by_a_fact_that_is_named() {
    let found = render_findings(ISSUER);
    let meant = [
        "warning: LC102",
        "with `secret == Current` time may change `valid`, and lead to `Ready`",
        "write `wakes issuer, self, now`",
    ];
    assert_finding(&found, &meant);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_record_makes_no_object_absent() {
    let found = render_findings(ROTATION);
    let untrue = |one: &&String| {
        let says = |text: &str| one.contains(text);
        says("-> `stage == Current && new == Absent`")
            || says("trust == Absent` (")
            || says("LC102")
    };
    assert_eq!(found.iter().find(untrue), None);
}

/// Tests that a lookup that reads the written record may lead to another object, in any condition.
#[test]
fn another_lookup_may_find_anything() {
    let text = BUILDERS.replace("by name meta.name", "by ref from stage");
    let meant = [
        "LC030",
        "Taken | Noting -> Going",
        "Going | Noting -> Taken",
    ];
    assert_finding(&render_findings(&text), &meant);
}

/// A page that is `Current` has the kind that the mode wants.
const CHOSEN: &str = r#"
lifecycle! { resource Flag;
    observe { page: owned ConfigMap by name meta.name; }
    facts {
        mode: { A, B } from self;
        kind: { X, Y } from page given page in { Stale, Current };
        never mode == A && page == Current && kind == Y;
    }
    states {
        Taken     when page == Foreign     => Error wakes page, self;
        Going     when page == Terminating => Pending;
        Setting   when page != Current     => Pending;
        goal Set  when page == Current     => Ready;
    }
    effects {
        a: apply page when mode == A;
        b: apply page when mode == B;
    }
}
"#;

#[test]
fn a_fact_that_chooses_the_builder_belongs_to_the_verdict() {
    assert_silent(CHOSEN);
    let alone = CHOSEN.replace("a: apply page when mode == A;", "");
    let alone = alone.replace("b: apply page when mode == B;", "apply page;");
    assert_finding(
        &render_findings(&alone),
        &["LC015", "`page`, `mode` and `kind`"],
    );
}

/// Tests that an object counts as gone with its home only if the author distinguishes silence.
#[test]
fn credentials_that_are_gone_take_nothing_along() {
    let meant = ["LC047", "held fact `entry` counts as released (`No`)"];
    let silent = GATEWAY.replace(
        "given network else No given server else Unknown",
        "given network else No",
    );
    assert_finding(&render_findings(&silent), &meant);
    let secret = GATEWAY.replace("network: Network", "network: Secret");
    assert_finding(&render_findings(&secret), &meant);
    let field = GATEWAY.replace("by network, meta.uid", "by network.spec.url, meta.uid");
    assert_finding(&render_findings(&field), &meant);
}
