//! Services: the values that the API server allocates, keeps, releases and refuses.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::api::{Api, MERGE, cases, unchanged};

cases![
    a_service_gets_an_address,
    a_node_port_service_gets_ports,
    a_load_balancer_gets_ports,
    a_load_balancer_can_do_without_ports,
    a_local_load_balancer_gets_a_health_check_port,
    a_headless_service_gets_none,
    an_external_name_gets_none,
    an_address_that_is_taken_is_refused,
    an_address_out_of_range_is_refused,
    a_node_port_that_is_taken_is_refused,
    a_node_port_out_of_range_is_refused,
    a_deleted_service_gives_back_what_it_had,
    the_address_never_changes,
    an_update_that_names_no_address_keeps_it,
    an_update_that_names_no_node_ports_keeps_them,
    becoming_internal_gives_node_ports_back,
    becoming_a_load_balancer_keeps_the_address,
    one_port_of_two_protocols_shares_a_node_port,
    ports_need_names_where_there_are_several,
    equal_ports_are_refused,
    equal_names_of_ports_are_refused,
    a_service_without_ports_is_refused,
    unknown_types_are_refused,
    unknown_protocols_are_refused,
    node_ports_need_a_type_that_has_them,
    affinity_has_its_configuration,
    target_ports_are_filled_in,
    external_traffic_policy_needs_a_type_that_has_it,
    the_class_of_a_load_balancer_never_changes,
    a_dry_run_takes_nothing,
];

async fn make(api: &Api, spec: &Value) -> Result<Value> {
    let body = json!({"metadata": {"name": "a"}, "spec": spec});
    api.post(&api.core("services"), &body).await?.is(201)
}

async fn refused(api: &Api, spec: &Value, words: &str) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}, "spec": spec});
    api.post(&api.core("services"), &body)
        .await?
        .refuses(422, "Invalid", words)?;
    Ok(())
}

async fn patch(api: &Api, spec: &Value) -> Result<Value> {
    api.patch(MERGE, &api.core("services/a"), &json!({"spec": spec}))
        .await?
        .is(200)
}

fn node_port(service: &Value, index: usize) -> Result<u64> {
    service["spec"]["ports"][index]["nodePort"]
        .as_u64()
        .with_context(|| format!("no node port: {service}"))
}

fn one_port() -> Value {
    json!([{"port": 80}])
}

async fn a_service_gets_an_address(api: Api) -> Result<()> {
    let made = make(
        &api,
        &json!({"ports": one_port(), "selector": {"app": "a"}}),
    )
    .await?;
    let ip = made["spec"]["clusterIP"].as_str().unwrap_or_default();
    ensure!(
        ip.starts_with("10.96.") && made["spec"]["clusterIPs"] == json!([ip]),
        "{made}"
    );
    Ok(())
}

async fn a_node_port_service_gets_ports(api: Api) -> Result<()> {
    let made = make(&api, &json!({"type": "NodePort", "ports": one_port()})).await?;
    ensure!((30000..32768).contains(&node_port(&made, 0)?));
    Ok(())
}

async fn a_load_balancer_gets_ports(api: Api) -> Result<()> {
    let made = make(&api, &json!({"type": "LoadBalancer", "ports": one_port()})).await?;
    node_port(&made, 0)?;
    ensure!(made["status"] == json!({"loadBalancer": {}}), "{made}");
    Ok(())
}

async fn a_load_balancer_can_do_without_ports(api: Api) -> Result<()> {
    let made = make(
        &api,
        &json!({
            "type": "LoadBalancer", "ports": one_port(), "allocateLoadBalancerNodePorts": false,
        }),
    )
    .await?;
    ensure!(node_port(&made, 0).is_err(), "{made}");
    Ok(())
}

async fn a_local_load_balancer_gets_a_health_check_port(api: Api) -> Result<()> {
    let made = make(
        &api,
        &json!({
            "type": "LoadBalancer", "ports": one_port(), "externalTrafficPolicy": "Local",
        }),
    )
    .await?;
    ensure!(
        made["spec"]["healthCheckNodePort"].as_u64().is_some(),
        "{made}"
    );
    let changed = patch(&api, &json!({"externalTrafficPolicy": "Cluster"})).await?;
    ensure!(
        changed["spec"].get("healthCheckNodePort").is_none(),
        "{changed}"
    );
    Ok(())
}

async fn a_headless_service_gets_none(api: Api) -> Result<()> {
    let made = make(
        &api,
        &json!({"clusterIP": "None", "ports": one_port(), "selector": {"app": "a"}}),
    )
    .await?;
    ensure!(made["spec"]["clusterIPs"] == json!(["None"]), "{made}");
    Ok(())
}

async fn an_external_name_gets_none(api: Api) -> Result<()> {
    let made = make(
        &api,
        &json!({"type": "ExternalName", "externalName": "example.com"}),
    )
    .await?;
    ensure!(made["spec"].get("clusterIP").is_none(), "{made}");
    Ok(())
}

async fn an_address_that_is_taken_is_refused(api: Api) -> Result<()> {
    let made = make(&api, &json!({"ports": one_port()})).await?;
    let body = json!({"metadata": {"name": "b"}, "spec": {"ports": one_port(), "clusterIP": made["spec"]["clusterIP"]}});
    let refused = api.silently().post(&api.core("services"), &body).await?;
    refused.refuses(422, "Invalid", "provided IP is already allocated")?;
    Ok(())
}

async fn an_address_out_of_range_is_refused(api: Api) -> Result<()> {
    refused(
        &api,
        &json!({"ports": one_port(), "clusterIP": "192.0.2.1"}),
        "the provided network does not match the current range",
    )
    .await
}

async fn a_node_port_that_is_taken_is_refused(api: Api) -> Result<()> {
    let made = make(&api, &json!({"type": "NodePort", "ports": one_port()})).await?;
    let ports = json!([{"port": 80, "nodePort": node_port(&made, 0)?}]);
    let body = json!({"metadata": {"name": "b"}, "spec": {"type": "NodePort", "ports": ports}});
    let refused = api.silently().post(&api.core("services"), &body).await?;
    refused.refuses(422, "Invalid", "provided port is already allocated")?;
    Ok(())
}

async fn a_node_port_out_of_range_is_refused(api: Api) -> Result<()> {
    let spec = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]});
    refused(&api, &spec, "The range of valid ports is 30000-32767").await
}

async fn a_deleted_service_gives_back_what_it_had(api: Api) -> Result<()> {
    let made = make(&api, &json!({"type": "NodePort", "ports": one_port()})).await?;
    api.silently()
        .delete(&api.core("services/a"), &json!({}))
        .await?
        .is(200)?;
    let ports = json!([{"port": 80, "nodePort": node_port(&made, 0)?}]);
    let spec = json!({"type": "NodePort", "ports": ports, "clusterIP": made["spec"]["clusterIP"]});
    make(&api, &spec).await?;
    Ok(())
}

async fn the_address_never_changes(api: Api) -> Result<()> {
    make(&api, &json!({"ports": one_port()})).await?;
    let patch = json!({"spec": {"clusterIP": "10.96.0.77", "clusterIPs": ["10.96.0.77"]}});
    let refused = api.patch(MERGE, &api.core("services/a"), &patch).await?;
    refused.refuses(422, "Invalid", "may not change once set")?;
    Ok(())
}

async fn an_update_that_names_no_address_keeps_it(api: Api) -> Result<()> {
    let made = make(&api, &json!({"ports": one_port()})).await?;
    let body = json!({"metadata": {"name": "a"}, "spec": {"ports": one_port()}});
    let again = api.put(&api.core("services/a"), &body).await?.is(200)?;
    unchanged(&made, &again)
}

async fn an_update_that_names_no_node_ports_keeps_them(api: Api) -> Result<()> {
    let made = make(
        &api,
        &json!({"type": "NodePort", "ports": [{"name": "a", "port": 80}]}),
    )
    .await?;
    let spec = json!({"type": "NodePort", "ports": [{"name": "a", "port": 81}, {"name": "b", "port": 82}]});
    let body = json!({"metadata": {"name": "a"}, "spec": spec});
    let new = api.put(&api.core("services/a"), &body).await?.is(200)?;
    ensure!(node_port(&new, 0)? == node_port(&made, 0)?);
    ensure!(node_port(&new, 1)? != node_port(&made, 0)?);
    Ok(())
}

async fn becoming_internal_gives_node_ports_back(api: Api) -> Result<()> {
    let made = make(&api, &json!({"type": "NodePort", "ports": one_port()})).await?;
    let new = patch(&api, &json!({"type": "ClusterIP"})).await?;
    ensure!(
        node_port(&new, 0).is_err() && new["spec"].get("externalTrafficPolicy").is_none(),
        "{new}"
    );
    let ports = json!([{"port": 80, "nodePort": node_port(&made, 0)?}]);
    let body = json!({"metadata": {"name": "b"}, "spec": {"type": "NodePort", "ports": ports}});
    api.silently()
        .post(&api.core("services"), &body)
        .await?
        .is(201)?;
    Ok(())
}

async fn becoming_a_load_balancer_keeps_the_address(api: Api) -> Result<()> {
    let made = make(&api, &json!({"ports": one_port()})).await?;
    let new = patch(&api, &json!({"type": "LoadBalancer"})).await?;
    ensure!(new["spec"]["clusterIP"] == made["spec"]["clusterIP"]);
    node_port(&new, 0)?;
    ensure!(
        new["spec"]["allocateLoadBalancerNodePorts"] == true,
        "{new}"
    );
    Ok(())
}

async fn one_port_of_two_protocols_shares_a_node_port(api: Api) -> Result<()> {
    let ports = json!([
        {"name": "tcp", "port": 53, "protocol": "TCP"}, {"name": "udp", "port": 53, "protocol": "UDP"},
    ]);
    let made = make(&api, &json!({"type": "NodePort", "ports": ports})).await?;
    ensure!(node_port(&made, 0)? == node_port(&made, 1)?, "{made}");
    Ok(())
}

async fn ports_need_names_where_there_are_several(api: Api) -> Result<()> {
    refused(
        &api,
        &json!({"ports": [{"port": 80}, {"name": "b", "port": 81}]}),
        "spec.ports[0].name: Required value",
    )
    .await
}

async fn equal_ports_are_refused(api: Api) -> Result<()> {
    let spec = json!({"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 80}]});
    let body = json!({"metadata": {"name": "a"}, "spec": spec});
    api.silently()
        .post(&api.core("services"), &body)
        .await?
        .refuses(422, "Invalid", "Duplicate value")?;
    Ok(())
}

async fn equal_names_of_ports_are_refused(api: Api) -> Result<()> {
    let spec = json!({"ports": [{"name": "a", "port": 80}, {"name": "a", "port": 81}]});
    refused(&api, &spec, "spec.ports[1].name: Duplicate value: \"a\"").await
}

async fn a_service_without_ports_is_refused(api: Api) -> Result<()> {
    refused(
        &api,
        &json!({"selector": {"app": "a"}}),
        "spec.ports: Required value",
    )
    .await
}

async fn unknown_types_are_refused(api: Api) -> Result<()> {
    refused(
        &api,
        &json!({"type": "Odd", "ports": one_port()}),
        "Unsupported value: \"Odd\"",
    )
    .await
}

async fn unknown_protocols_are_refused(api: Api) -> Result<()> {
    let spec = json!({"ports": [{"port": 80, "protocol": "ODD"}]});
    refused(
        &api,
        &spec,
        "spec.ports[0].protocol: Unsupported value: \"ODD\"",
    )
    .await
}

async fn node_ports_need_a_type_that_has_them(api: Api) -> Result<()> {
    let spec = json!({"ports": [{"port": 80, "nodePort": 30080}]});
    refused(
        &api,
        &spec,
        "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
    )
    .await
}

async fn affinity_has_its_configuration(api: Api) -> Result<()> {
    let made = make(
        &api,
        &json!({"ports": one_port(), "sessionAffinity": "ClientIP"}),
    )
    .await?;
    ensure!(
        made["spec"]["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"] == 10800,
        "{made}"
    );
    let new = patch(&api, &json!({"sessionAffinity": "None"})).await?;
    ensure!(new["spec"].get("sessionAffinityConfig").is_none(), "{new}");
    Ok(())
}

async fn target_ports_are_filled_in(api: Api) -> Result<()> {
    let ports = json!([{"name": "a", "port": 80}, {"name": "b", "port": 81, "targetPort": "web"}]);
    let made = make(&api, &json!({"ports": ports})).await?;
    ensure!(
        made["spec"]["ports"][0]["targetPort"] == 80
            && made["spec"]["ports"][1]["targetPort"] == "web"
    );
    Ok(())
}

async fn external_traffic_policy_needs_a_type_that_has_it(api: Api) -> Result<()> {
    let spec = json!({"ports": one_port(), "externalTrafficPolicy": "Local"});
    refused(
        &api,
        &spec,
        "may only be set for externally-accessible services",
    )
    .await
}

async fn the_class_of_a_load_balancer_never_changes(api: Api) -> Result<()> {
    make(
        &api,
        &json!({"type": "LoadBalancer", "loadBalancerClass": "example.com/a", "ports": one_port()}),
    )
    .await?;
    let patch = json!({"spec": {"loadBalancerClass": "example.com/b"}});
    let refused = api.patch(MERGE, &api.core("services/a"), &patch).await?;
    refused.refuses(422, "Invalid", "may not change once set")?;
    Ok(())
}

/// Of the range 30000 to 32767 the first 86 ports are for those who choose one: others of this server are given them last.
async fn a_dry_run_takes_nothing(api: Api) -> Result<()> {
    let spec = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30067}]});
    let body = json!({"metadata": {"name": "a"}, "spec": spec});
    api.silently()
        .post(&format!("{}?dryRun=All", api.core("services")), &body)
        .await?
        .is(201)?;
    api.silently()
        .post(&api.core("services"), &body)
        .await?
        .is(201)?;
    Ok(())
}
