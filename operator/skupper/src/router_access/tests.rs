//! Tests of the objects and the status that a RouterAccess derives from its Site and from its
//! SecuredAccess.

use super::*;
use crate::data_plane::DataPlane;

fn access(status: Value) -> SecuredAccess {
    let access = json!({ "metadata": { "name": "door" }, "spec": {}, "status": status });
    serde_json::from_value(access).expect("it is a SecuredAccess")
}

#[test]
fn it_is_reached_where_its_secured_access_is() {
    let told = endpoints(&access(json!({ "endpoints": [
        { "name": "edge", "host": "192.0.2.1", "port": "45671" },
    ] })));
    let expected = json!([{ "name": "edge", "host": "192.0.2.1", "port": "45671", "group": "skupper-router" }]);
    assert_eq!(json!(told), expected);
    assert_eq!(endpoints(&access(json!({ "endpoints": [] }))), None);
    assert_eq!(endpoints(&access(json!({}))), None);
}

#[test]
fn what_the_router_cannot_do_is_told() {
    let check = |spec: Value, site: Value, expected: Validity, sentence: &str| {
        let mut whole =
            json!({ "roles": [{ "name": "inter-router" }], "tlsCredentials": "server" });
        for (key, value) in spec.as_object().into_iter().flatten() {
            whole[key] = value.clone();
        }
        let spec = serde_json::from_value(whole).expect("it is a spec");
        let site = json!({ "metadata": { "name": "west" }, "spec": site });
        let site: Site = serde_json::from_value(site).expect("it is a Site");
        let answer = validity::router_access(&spec, &site, DataPlane::Embedded);
        assert_eq!(
            (answer.value, answer.sentence.as_str()),
            (expected, sentence)
        );
        let served = expected == Validity::Fine || expected == Validity::Edge;
        assert_eq!(validity::is_served(&spec, DataPlane::Embedded), served);
    };
    check(json!({}), json!({}), Validity::Fine, "");
    let lacks = "spec.roles is required\nspec.tlsCredentials is required";
    check(
        json!({ "roles": [], "tlsCredentials": "" }),
        json!({}),
        Validity::Incomplete,
        lacks,
    );
    let edge = "Edge sites cannot accept incoming links from remote sites";
    check(json!({}), json!({ "edge": true }), Validity::Edge, edge);
    let roles = |roles: Value| json!({ "roles": roles });
    let normal = "spec.roles has \"normal\", which is no role: use inter-router or edge";
    check(
        roles(json!([{ "name": "normal" }])),
        json!({}),
        Validity::BadRole,
        normal,
    );
    let twice = "spec.roles has \"edge\" twice: leave one out";
    check(
        roles(json!([{ "name": "edge" }, { "name": "edge" }])),
        json!({}),
        Validity::BadRole,
        twice,
    );
    let port = |port: i64| roles(json!([{ "name": "edge", "port": port }]));
    let number = "spec.roles: port 70000 of \"edge\" is no port: it must be between 1 and 65535";
    check(port(70000), json!({}), Validity::BadPort, number);
    let own = "spec.roles: port 9090 of \"edge\" is used by the router itself: choose another one";
    check(port(9090), json!({}), Validity::BadPort, own);
    let same = roles(json!([{ "name": "edge", "port": 55671 }, { "name": "inter-router" }]));
    let said = "spec.roles: port 55671 is that of two roles: give \"inter-router\" another one";
    check(same, json!({}), Validity::BadPort, said);
}
