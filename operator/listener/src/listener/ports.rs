//! Ports of a Service: range, protocol, names, and clashes between entries. Nothing is lost
//! silently.

use std::collections::BTreeSet;

use lifecycle_specs_listener::listener::ListenerPort;

use super::flaw::{Flaw, Validity};

const PROTOCOLS: [&str; 3] = ["TCP", "UDP", "SCTP"];
const LONGEST_NAME: usize = 63;

/// One port of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) port: i32,
    pub(super) protocol: String,
}

/// Returns the ports to send, in order of declaration; equal entries become one.
pub(super) fn exposed(declared: &[ListenerPort]) -> Result<Vec<Port>, Flaw> {
    let mut ports: Vec<Port> = Vec::new();
    for entry in declared {
        let mut port = Port {
            name: entry.name.clone(),
            port: entry.port,
            protocol: protocol_of(entry),
        };
        if ports.contains(&port) {
            continue;
        }
        if is_generated(&port) && ports.iter().any(|p| p.name == port.name) {
            port.name = format!("{}-{}", port.name, port.protocol.to_lowercase());
        }
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
    accepted(&ports)?;
    Ok(ports)
}

/// Checks that one Service can have all of these ports.
pub(super) fn accepted(ports: &[Port]) -> Result<(), Flaw> {
    let (mut names, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    for port in ports {
        well_formed(port)?;
        if !names.insert(&port.name) {
            return Err(clash(format!(
                "port name `{}` is used more than once; give each port a name of its own",
                port.name
            )));
        }
        if !numbers.insert((port.port, &port.protocol)) {
            return Err(clash(format!(
                "port {} with protocol {} is declared under more than one name; keep one of them",
                port.port, port.protocol
            )));
        }
    }
    Ok(())
}

fn well_formed(port: &Port) -> Result<(), Flaw> {
    if !(1..=65_535).contains(&port.port) {
        return Err(invalid(format!(
            "port {} of `{}` is out of range; choose a number from 1 to 65535",
            port.port, port.name
        )));
    }
    if !PROTOCOLS.contains(&port.protocol.as_str()) {
        return Err(invalid(format!(
            "port {} of `{}` has protocol `{}`; choose TCP, UDP or SCTP",
            port.port, port.name, port.protocol
        )));
    }
    if is_label(&port.name) {
        return Ok(());
    }
    let (name, number) = (&port.name, port.port);
    Err(Flaw::new(
        Validity::BadName,
        format!(
            "port {number} is named `{name}`, which Kubernetes does not accept; \
             use up to {LONGEST_NAME} lower-case letters, digits and inner dashes"
        ),
    ))
}

/// No protocol means TCP.
fn protocol_of(entry: &ListenerPort) -> String {
    match entry.protocol.as_deref() {
        None | Some("") => "TCP".to_owned(),
        Some(protocol) => protocol.to_owned(),
    }
}

/// Returns true if the port has a generated name, because its container port has none.
fn is_generated(port: &Port) -> bool {
    port.name == format!("port-{}", port.port)
}

/// Returns true for a DNS label, which Kubernetes requires for port names.
fn is_label(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty()
        && name.len() <= LONGEST_NAME
        && name.chars().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

fn clash(sentence: String) -> Flaw {
    Flaw::new(Validity::PortClash, sentence)
}

fn invalid(sentence: String) -> Flaw {
    Flaw::new(Validity::BadPort, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, port: i32, protocol: Option<&str>) -> ListenerPort {
        ListenerPort {
            name: name.into(),
            port,
            protocol: protocol.map(Into::into),
        }
    }

    fn check(declared: &[ListenerPort], expected: Result<&[&str], Validity>) {
        let found = exposed(declared);
        let found = found.as_ref().map_err(|flaw| flaw.validity).map(|ports| {
            let line = |p: &Port| format!("{} {} {}", p.name, p.port, p.protocol);
            ports.iter().map(line).collect::<Vec<_>>()
        });
        assert_eq!(
            found,
            expected.map(|lines| lines.iter().map(|l| (*l).to_owned()).collect())
        );
    }

    #[test]
    fn m9_protocol_defaults_to_tcp_and_order_is_kept() {
        check(
            &[
                port("b", 2, None),
                port("a", 1, Some("UDP")),
                port("c", 3, Some("SCTP")),
            ],
            Ok(&["b 2 TCP", "a 1 UDP", "c 3 SCTP"]),
        );
    }

    #[test]
    fn m9_equal_entries_become_one() {
        check(
            &[
                port("a", 1, None),
                port("a", 1, Some("TCP")),
                port("a", 1, Some("")),
            ],
            Ok(&["a 1 TCP"]),
        );
    }

    #[test]
    fn one_number_with_two_protocols_is_fine_under_two_names() {
        check(
            &[port("dns", 53, None), port("dns-udp", 53, Some("UDP"))],
            Ok(&["dns 53 TCP", "dns-udp 53 UDP"]),
        );
    }

    #[test]
    fn a_generated_name_is_told_apart_by_protocol() {
        check(
            &[
                port("port-53", 53, None),
                port("port-53", 53, Some("UDP")),
                port("port-53", 53, Some("UDP")),
            ],
            Ok(&["port-53 53 TCP", "port-53-udp 53 UDP"]),
        );
        check(
            &[
                port("port-53-udp", 53, Some("SCTP")),
                port("port-53", 53, None),
                port("port-53", 53, Some("UDP")),
            ],
            Err(Validity::PortClash),
        );
    }

    #[test]
    fn b29_clashes_are_refused() {
        check(
            &[port("a", 1, None), port("a", 2, None)],
            Err(Validity::PortClash),
        );
        check(
            &[port("a", 1, None), port("a", 1, Some("UDP"))],
            Err(Validity::PortClash),
        );
        check(
            &[port("a", 1, None), port("b", 1, None)],
            Err(Validity::PortClash),
        );
    }

    #[test]
    fn range_and_protocol_are_checked_at_their_ends() {
        check(&[port("a", 0, None)], Err(Validity::BadPort));
        check(&[port("a", -1, None)], Err(Validity::BadPort));
        check(&[port("a", 1, None)], Ok(&["a 1 TCP"]));
        check(&[port("a", 65_535, None)], Ok(&["a 65535 TCP"]));
        check(&[port("a", 65_536, None)], Err(Validity::BadPort));
        check(&[port("a", 70_000, None)], Err(Validity::BadPort));
        check(&[port("a", 1, Some("tcp"))], Err(Validity::BadPort));
    }

    #[test]
    fn names_are_dns_labels() {
        for good in ["a", "9", "a-b", &"x".repeat(63)] {
            assert!(exposed(&[port(good, 1, None)]).is_ok(), "{good}");
        }
        for bad in ["", "A", "a_b", "-a", "a-", "a.b", "../x", &"x".repeat(64)] {
            check(&[port(bad, 1, None)], Err(Validity::BadName));
        }
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        let sentence = |ports: &[ListenerPort]| exposed(ports).unwrap_err().sentence;
        assert_eq!(
            sentence(&[port("a", 70_000, None)]),
            "port 70000 of `a` is out of range; choose a number from 1 to 65535"
        );
        assert_eq!(
            sentence(&[port("a", 80, Some("HTTP"))]),
            "port 80 of `a` has protocol `HTTP`; choose TCP, UDP or SCTP"
        );
        assert_eq!(
            sentence(&[port("a", 1, None), port("a", 2, None)]),
            "port name `a` is used more than once; give each port a name of its own"
        );
    }
}
