//! How the types are called that are generated for facts.

/// Checks that no generated type has the name of an item that the expansion mentions by its name
/// alone. Such items are in scope beside the generated types.
#[test]
fn a_fact_has_another_type_than_what_is_mentioned_beside_it() {
    let generated = |field: &str| {
        let body = format!(
            "resource Thing;
            facts {{ leader: {{ Up, Down }} from self; }}
            states {{ goal Ready when leader == Up => Ready; Waiting when leader == Down => Error wakes self; }}
            status {{ condition Fine {{ True when leader == Up; False otherwise; }} ready from Fine; {field} }}"
        );
        let tokens: proc_macro2::TokenStream = body.parse().expect("tokens");
        let text = lifecycle_macros_core::expand(tokens).to_string();
        let named = |name: &str| text.contains(&format!("enum {name} "));
        (named("Leader"), named("LeaderValue"))
    };
    for mentioned in [
        "field told: Leader from self;",
        "field told: Option<Leader> from self;",
        "field told: Vec<(String, Leader)> from self;",
        "field told: std::collections::BTreeMap<String, Leader> from self;",
    ] {
        assert_eq!(generated(mentioned), (false, true), "{mentioned}");
    }
    for elsewhere in [
        "field told: other::Leader from self;",
        "field now: Option<Leaders>;",
    ] {
        assert_eq!(generated(elsewhere), (true, false), "{elsewhere}");
    }
}
