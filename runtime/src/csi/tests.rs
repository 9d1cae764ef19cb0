//! What a driver may be called.

use super::Plugin;

#[test]
fn a_driver_has_the_name_of_a_domain_and_a_version() {
    let check = |name: &str, version: &str, fine: bool| {
        let wrong = Plugin::new(name, version).wrong();
        assert_eq!(wrong.is_none(), fine, "{name:?}: {wrong:?}");
    };
    check("listeners.stackable.tech", "1.0", true);
    check("a", "1", true);
    check(&"a".repeat(63), "1", true);
    check(&"a".repeat(64), "1", false);
    check("", "1", false);
    check("listeners.stackable.tech", "", false);
    check("1.example.org", "1", false);
    check("example.org1", "1", false);
    check("example/org", "1", false);
    check("exämple.org", "1", false);
}
