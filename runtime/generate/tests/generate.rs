//! Tests of the texts generated from lifecycles that third-party operators have.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod generate {
    mod diagrams;
}

use std::collections::BTreeSet;

use lifecycle_generate::command::{Error, Generate, ManifestKind};
use lifecycle_generate::rights::{Account, Object, Rights, Verb};
use lifecycle_generate::{Format, Part, Program, Purpose, diagram, list, page};
use lifecycle_runtime::Machine;
use lifecycle_runtime::machine::ir::{Lifecycle, Mode, Origin};
use lifecycle_tests::lifecycles::{account, canary, leaf, login, machine, quota, tenant, topic};

const ALL: [&Lifecycle; 8] = [
    account::IR,
    canary::IR,
    leaf::IR,
    login::IR,
    machine::IR,
    quota::IR,
    tenant::IR,
    topic::IR,
];

#[test]
fn a_page_says_all_that_is_declared() {
    for lifecycle in ALL {
        let page = page::render(lifecycle).unwrap();
        let states = lifecycle.states.iter().map(|state| state.name);
        let inputs = lifecycle.inputs.iter().map(|input| input.name);
        let facts = lifecycle.vars.iter();
        let facts = facts
            .filter(|var| var.origin == Origin::Fact)
            .map(|var| var.name);
        let effects = lifecycle.effects.iter().map(|effect| effect.name);
        let promises = lifecycle.promises.iter().map(|promise| promise.name);
        let clauses = lifecycle.conditions.iter().flat_map(|one| one.clauses);
        let reasons = clauses
            .map(|clause| clause.reason)
            .filter(|one| !one.is_empty());
        let steps = lifecycle.steps.iter();
        let steps = steps.map(|step| lifecycle.effects[step.effect].name);
        let all = states.chain(inputs).chain(facts).chain(effects);
        for name in all.chain(promises).chain(reasons).chain(steps) {
            assert!(page.contains(&format!("`{name}`")), "`{name}` in\n{page}");
        }
    }
}

#[test]
fn rows_of_a_table_have_as_many_cells_as_its_head() {
    for lifecycle in ALL {
        let page = page::render(lifecycle).unwrap();
        let mut head = None;
        for line in page.lines() {
            let cells = line.replace("\\|", "").matches('|').count();
            match head {
                _ if !line.starts_with('|') => head = None,
                None => head = Some(cells),
                Some(head) => assert_eq!(cells, head, "{line}"),
            }
        }
    }
}

#[test]
fn the_list_has_a_line_for_each() {
    let list = list::render(&ALL);
    assert_eq!(list.lines().count(), ALL.len() + 1);
    for (line, lifecycle) in list.lines().skip(1).zip(ALL) {
        assert!(line.starts_with(lifecycle.name), "{line}");
        let states = format!("   {}   ", lifecycle.states.len());
        assert!(line.contains(&states), "{line}");
    }
}

fn allowed(rights: &Rights) -> BTreeSet<(String, String, &'static str)> {
    let each = rights.each();
    each.map(|(object, verb)| (object.group.clone(), object.resource.clone(), verb.as_str()))
        .collect()
}

fn rights_set<const N: usize>(
    rights: [(&str, &str, &'static str); N],
) -> BTreeSet<(String, String, &'static str)> {
    let rights =
        rights.map(|(group, resource, verb)| (group.to_owned(), resource.to_owned(), verb));
    BTreeSet::from(rights)
}

fn login() -> impl Machine {
    login::machine(login::LoginOperator)
}

#[test]
fn a_login_may_do_what_it_does_and_nothing_else() {
    let machine = login();
    let rights = Rights::for_lifecycles([&machine as &dyn Machine]);
    let expected = rights_set([
        ("", "secrets", "create"),
        ("", "secrets", "delete"),
        ("", "secrets", "list"),
        ("", "secrets", "patch"),
        ("", "secrets", "watch"),
        ("events.k8s.io", "events", "create"),
        ("login.tests", "logins", "list"),
        ("login.tests", "logins", "watch"),
        ("login.tests", "logins/finalizers", "update"),
        ("login.tests", "logins/status", "patch"),
    ]);
    assert_eq!(allowed(&rights), expected);
}

#[test]
fn what_a_wider_rule_gives_is_said_once_with_all_that_needs_it() {
    let secrets = || Object::all("", "secrets");
    let rights = Rights::default()
        .and(secrets(), &[Verb::Get], "all of them")
        .and(
            secrets().own().named(["key"]),
            &[Verb::Get, Verb::Patch],
            "the key",
        )
        .and(
            Object::all("", "configmaps").own(),
            &[Verb::Get],
            "another kind",
        );
    let each: Vec<_> = rights
        .each()
        .map(|(object, verb)| (object.resource.as_str(), verb))
        .collect();
    assert_eq!(
        each,
        [
            ("secrets", Verb::Get),
            ("configmaps", Verb::Get),
            ("secrets", Verb::Patch)
        ]
    );
    let whys: Vec<_> = rights.reasons(&secrets(), Verb::Get).into_iter().collect();
    assert_eq!(whys, ["all of them", "the key"]);
}

/// A document as a cluster reads it.
#[derive(serde::Deserialize)]
struct Document {
    kind: String,
    metadata: Metadata,
    #[serde(default)]
    rules: Vec<Rule>,
}

#[derive(serde::Deserialize)]
struct Metadata {
    name: String,
    namespace: Option<String>,
}

#[derive(serde::Deserialize)]
struct Rule {
    #[serde(rename = "apiGroups")]
    groups: Vec<String>,
    resources: Vec<String>,
    #[serde(default, rename = "resourceNames")]
    names: Vec<String>,
    verbs: Vec<String>,
}

#[test]
fn manifests_say_the_same_rights_each_with_what_needs_it() {
    let machine = login();
    let rights = Rights::for_lifecycles([&machine as &dyn Machine]).leading("login-lease");
    let account = Account {
        name: "login-operator".to_owned(),
        namespace: "logins".to_owned(),
        role: "login-role".to_owned(),
    };
    let text = rights.manifests(&account);
    let documents: Vec<Document> = serde_saphyr::from_multiple(&text).unwrap();
    let kinds: Vec<_> = documents.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!(
        kinds,
        ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]
    );
    let mut read = BTreeSet::new();
    for document in &documents {
        assert_eq!(document.metadata.name, "login-role");
        let own = document.kind.starts_with("Role");
        assert_eq!(
            document.metadata.namespace.as_deref(),
            own.then_some("logins")
        );
        for rule in &document.rules {
            for verb in &rule.verbs {
                let object = [
                    rule.groups.concat(),
                    rule.resources.concat(),
                    rule.names.concat(),
                ];
                read.insert((own, object, verb.clone()));
            }
        }
    }
    let meant = rights.each().map(|(object, verb)| {
        let own = object.scope == lifecycle_generate::rights::Scope::Own;
        let object = [
            object.group.clone(),
            object.resource.clone(),
            object.names.concat(),
        ];
        (own, object, verb.as_str().to_owned())
    });
    assert_eq!(read, meant.collect());
    let owned = login::IR
        .inputs
        .iter()
        .filter(|input| input.mode == Mode::Owned);
    for input in owned {
        let why = format!("# list, watch: input `{}` of Login\n", input.name);
        assert!(text.contains(&why), "{text}");
    }
    assert!(
        text.contains("    resourceNames: [login-lease]\n    verbs: [get, update]\n"),
        "{text}"
    );
    assert_eq!(text.matches("namespace: logins\n").count(), 4, "{text}");
}

fn program() -> Program {
    let controller = Part::new("controller", "login-operator", "logins")
        .runs(login())
        .installs(vec![<login::Login as kube::CustomResourceExt>::crd()])
        .leads_by("login-lease");
    let other = Part::new("other", "quota-operator", "quotas").runs(quota::machine(quota::Counted));
    Program::new().part(controller).part(other)
}

fn generate_output(generate: &Generate) -> Result<String, Error> {
    let mut out = Vec::new();
    generate.run(&program(), &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

fn diagram_of(lifecycle: Option<&str>) -> Result<String, Error> {
    let lifecycle = lifecycle.map(str::to_owned);
    let format = Format::Mermaid;
    generate_output(&Generate::Diagram { lifecycle, format })
}

#[test]
fn a_lifecycle_is_named_by_its_kind_its_resource_or_the_end_of_its_path() {
    let wanted = diagram::render(login::IR, Format::Mermaid).unwrap();
    for name in [
        "Login",
        "logins.login.tests",
        login::IR.path,
        "login::Login",
    ] {
        assert_eq!(diagram_of(Some(name)).unwrap(), wanted, "{name}");
    }
    let unknown = diagram_of(Some("ogin")).unwrap_err().to_string();
    assert_eq!(
        unknown,
        "no lifecycle is called `ogin`; there are: logins.login.tests, quotas.quota.tests"
    );
    let file = diagram_of(Some("src/login.rs")).unwrap_err().to_string();
    assert_eq!(
        file,
        "`src/login.rs` is a source file, and this command knows the lifecycles that the program was built with: name one that the subcommand `lifecycles` lists. `lifecycle-operator check src/login.rs` checks one that is not built"
    );
    let several = diagram_of(None).unwrap_err().to_string();
    assert_eq!(
        several,
        "there are several lifecycles; specify one of: logins.login.tests, quotas.quota.tests"
    );
}

fn manifests(
    what: ManifestKind,
    part: Option<&str>,
    namespace: Option<&str>,
) -> Result<String, Error> {
    generate_output(&Generate::Manifests {
        what,
        part: part.map(str::to_owned),
        purpose: Purpose::Run,
        user: None,
        namespace: namespace.map(str::to_owned),
        watched: None,
        check: None,
    })
}

fn kinds(text: &str) -> Vec<(String, String)> {
    let documents: Vec<Document> = serde_saphyr::from_multiple(text).unwrap();
    let documents = documents.into_iter();
    documents.map(|one| (one.kind, one.metadata.name)).collect()
}

#[test]
fn manifests_are_of_all_parts_or_of_one_in_any_namespace() {
    let all = kinds(&manifests(ManifestKind::All, None, None).unwrap());
    let crds = kinds(&manifests(ManifestKind::Crd, None, None).unwrap());
    let rbac = kinds(&manifests(ManifestKind::Rbac, None, None).unwrap());
    assert_eq!(
        crds,
        [(
            "CustomResourceDefinition".to_owned(),
            "logins.login.tests".to_owned()
        )]
    );
    assert_eq!(rbac.len(), 6);
    assert_eq!(all, [crds, rbac].concat());
    let other = manifests(ManifestKind::Rbac, Some("other"), Some("far")).unwrap();
    assert_eq!(kinds(&other).len(), 2);
    assert!(
        other.contains("namespace: far\n") && !other.contains("login"),
        "{other}"
    );
    let unknown = manifests(ManifestKind::Rbac, Some("node"), None)
        .unwrap_err()
        .to_string();
    assert_eq!(
        unknown,
        "the program has no part `node`; it has: controller, other"
    );
}

#[test]
fn where_only_some_namespaces_are_watched_rights_to_what_is_in_one_count_there_alone() {
    let text = generate_output(&Generate::Manifests {
        what: ManifestKind::Rbac,
        part: Some("controller".to_owned()),
        purpose: Purpose::Run,
        user: None,
        namespace: None,
        watched: Some(["west", "east"].map(str::to_owned).into()),
        check: None,
    });
    let text = text.unwrap();
    let documents: Vec<&str> = text.split("---\n").collect();
    let of = |kind: &str, place: &str| {
        let head = format!("kind: {kind}\n");
        let is_one = |text: &&&str| text.contains(&head) && text.contains(place);
        documents.iter().find(is_one).copied().unwrap_or_default()
    };
    for namespace in ["west", "east"] {
        let role = of("Role", &format!("  namespace: {namespace}\nrules:"));
        assert!(role.contains("name: login-operator-watched\n"), "{text}");
        assert!(role.contains("resources: [logins]"), "{text}");
        let binding = of(
            "RoleBinding",
            &format!("  namespace: {namespace}\nroleRef:"),
        );
        assert!(binding.contains("    namespace: logins\n"), "{text}");
    }
    let cluster = of("ClusterRole", "rules:");
    assert!(!cluster.contains("resources: [logins]"), "{text}");
    assert!(
        cluster.contains("resources: [customresourcedefinitions]"),
        "{text}"
    );
}

fn rights_of_a_person(purpose: Purpose, user: Option<&str>) -> String {
    let made = generate_output(&Generate::Manifests {
        what: ManifestKind::Rbac,
        part: None,
        purpose,
        user: user.map(str::to_owned),
        namespace: None,
        watched: None,
        check: None,
    });
    made.unwrap()
}

#[test]
fn rights_of_a_person_are_bound_to_whom_is_named_and_read_alone() {
    for (purpose, suffix) in [(Purpose::Explain, "explain"), (Purpose::Plan, "plan")] {
        let bound = rights_of_a_person(purpose, Some("support: team"));
        let roles = ["login-operator", "quota-operator"].map(|name| format!("{name}-{suffix}"));
        let expected = roles.clone().map(|role| {
            let kinds = ["ClusterRole", "ClusterRoleBinding"];
            kinds.map(|kind| (kind.to_owned(), role.clone()))
        });
        assert_eq!(kinds(&bound), expected.as_flattened());
        assert!(
            bound.contains("    kind: User\n    name: \"support: team\"\n"),
            "{bound}"
        );
        let verbs = bound.lines().filter(|line| line.contains("verbs:"));
        let mut words = verbs.flat_map(|line| line.split([' ', ',', '[', ']']).skip(5));
        assert!(
            words.all(|word| ["verbs:", "get", "list", ""].contains(&word)),
            "{bound}"
        );
        let alone = rights_of_a_person(purpose, None);
        let expected = roles.map(|role| ("ClusterRole".to_owned(), role));
        assert_eq!(kinds(&alone), expected);
    }
    let asking = rights_of_a_person(Purpose::DryRun, None);
    assert!(asking.contains("login-operator-dry-run\n"), "{asking}");
    assert!(
        asking.contains("patch") && !asking.contains("watch"),
        "{asking}"
    );
}

/// Returns the result of `--check` for a file with this text.
fn checked(what: ManifestKind, text: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.yaml");
    std::fs::write(&path, text).unwrap();
    let said = generate_output(&Generate::Manifests {
        what,
        part: Some("controller".to_owned()),
        purpose: Purpose::Run,
        user: None,
        namespace: None,
        watched: None,
        check: Some(path),
    });
    said.map_err(|error| error.to_string())
}

#[test]
fn a_file_that_allows_or_defines_the_same_is_kept_whatever_it_looks_like() {
    let rights = manifests(ManifestKind::Rbac, Some("controller"), None).unwrap();
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: somebody}\n";
    assert_eq!(
        checked(ManifestKind::Rbac, &format!("{account}{rights}")),
        Ok(String::new())
    );
    assert_eq!(
        checked(ManifestKind::Rbac, &wordless(&rights)),
        Ok(String::new())
    );
    let all = manifests(ManifestKind::All, Some("controller"), None).unwrap();
    assert_eq!(checked(ManifestKind::All, &all), Ok(String::new()));
}

#[test]
fn a_file_is_told_what_it_lacks_and_what_it_needs_no_more() {
    let rights = manifests(ManifestKind::Rbac, Some("controller"), None).unwrap();
    let less = rights.replacen("watch, create, patch", "watch, create, deletecollection", 1);
    assert_ne!(less, rights);
    let said = checked(ManifestKind::Rbac, &less).unwrap_err();
    assert!(said.contains("lacks: patch "), "{said}");
    assert!(said.contains("needs no more: deletecollection "), "{said}");
    let said = checked(ManifestKind::Rbac, "").unwrap_err();
    assert!(said.contains("is not there"), "{said}");
    let other = rights.replace("    name: login-operator\n", "    name: other\n");
    assert_ne!(other, rights);
    let said = checked(ManifestKind::Rbac, &other).unwrap_err();
    assert!(
        said.contains("Binding ") && said.contains("differs"),
        "{said}"
    );
    let crd = manifests(ManifestKind::Crd, Some("controller"), None).unwrap();
    let said = checked(ManifestKind::Crd, &crd.replace("Namespaced", "Cluster")).unwrap_err();
    assert!(
        said.contains("CustomResourceDefinition logins.login.tests differs"),
        "{said}"
    );
    assert!(
        checked(ManifestKind::Rbac, "a: [")
            .unwrap_err()
            .contains("is not YAML")
    );
}

#[test]
fn what_a_role_allows_is_told_wherever_in_the_file_it_stands() {
    let rights = manifests(ManifestKind::Rbac, Some("controller"), None).unwrap();
    let more = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: login-operator}\n";
    let nodes = "rules: [{apiGroups: [\"\"], resources: [nodes], verbs: [delete]}]\n";
    let said = checked(ManifestKind::Rbac, &format!("{rights}---\n{more}{nodes}")).unwrap_err();
    assert!(
        said.contains("ClusterRole login-operator is there 2 times")
            && said.contains("needs no more: delete nodes"),
        "{said}"
    );
    let indented = |text: &str| text.replace('\n', "\n  ");
    let list = |items: &[&str]| {
        let items = items
            .iter()
            .map(|one| format!("- {}\n", indented(one.trim_end())));
        format!(
            "apiVersion: v1\nkind: List\nitems:\n{}",
            items.collect::<String>()
        )
    };
    let documents: Vec<&str> = rights
        .split("---\n")
        .filter(|one| one.contains("kind:"))
        .collect();
    let documents: Vec<String> = documents.iter().map(|one| wordless(one)).collect();
    let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
    assert_eq!(
        checked(ManifestKind::Rbac, &list(&documents)),
        Ok(String::new())
    );
    let more = format!("{more}{nodes}");
    let listed = list(&[&documents[..], &[more.as_str()]].concat());
    let said = checked(ManifestKind::Rbac, &listed).unwrap_err();
    assert!(said.contains("needs no more: delete nodes"), "{said}");
    let inner = format!("{rights}---\n{}", list(&[&listed]));
    let said = checked(ManifestKind::Rbac, &inner).unwrap_err();
    assert!(said.contains("is there 3 times"), "{said}");
}

#[test]
fn what_a_role_allows_besides_resources_of_its_own_rules_is_told() {
    let rights = manifests(ManifestKind::Rbac, Some("controller"), None).unwrap();
    let paths = rights.replacen(
        "rules:\n",
        "rules:\n  - nonResourceURLs: [/logs]\n    verbs: [get]\n",
        1,
    );
    let said = checked(ManifestKind::Rbac, &paths).unwrap_err();
    assert!(said.contains("needs no more: get /logs;"), "{said}");
    let gathered = rights.replacen(
        "rules:\n",
        "aggregationRule: {clusterRoleSelectors: []}\nrules:\n",
        1,
    );
    let said = checked(ManifestKind::Rbac, &gathered).unwrap_err();
    assert!(
        said.contains("ClusterRole login-operator gathers what other roles allow;"),
        "{said}"
    );
}

/// Without its comments.
fn wordless(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn pages_are_written_with_a_picture_of_each_and_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("lifecycles");
    let generate = Generate::Docs {
        lifecycle: None,
        directory: Some(directory.clone()),
    };
    let said = generate_output(&generate).unwrap();
    let mut found: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(&directory).unwrap() {
        found.push(entry.unwrap().path().display().to_string());
    }
    found.sort();
    let mut told: Vec<&str> = said.lines().collect();
    told.sort_unstable();
    assert_eq!(told, found);
    assert_eq!(found.len(), 5);
    let list = std::fs::read_to_string(directory.join("README.md")).unwrap();
    for file in ["logins.login.tests", "quotas.quota.tests"] {
        assert!(list.contains(&format!("({file}.md)")), "{list}");
        assert!(list.contains(&format!("({file}.svg)")), "{list}");
    }
    let page = std::fs::read_to_string(directory.join("logins.login.tests.md")).unwrap();
    assert_eq!(page, page::render(login::IR).unwrap());
}

/// A server or renderer of the folder reads each page in its old or its new form.
#[test]
fn a_page_that_is_written_anew_takes_the_place_of_the_old_one_as_a_whole() {
    use std::io::Read as _;

    let folder = tempfile::tempdir().unwrap();
    let generate = Generate::Docs {
        lifecycle: None,
        directory: Some(folder.path().to_owned()),
    };
    let path = folder.path().join("README.md");
    std::fs::write(&path, "old").unwrap();
    let mut open = std::fs::File::open(&path).unwrap();
    generate_output(&generate).unwrap();
    let mut read = String::new();
    open.read_to_string(&mut read).unwrap();
    assert_eq!(read, "old");
    let new = std::fs::read_to_string(&path).unwrap();
    assert!(new.contains("logins.login.tests.md"), "{new}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 5);
}
