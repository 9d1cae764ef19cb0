//! Runs the commands of `docs/deploy.md` in order on a simulated cluster. The operator's own parser
//! reads its commands. For kubectl, the test checks that applied manifests are accepted and that
//! named objects exist. Nothing is built.

use std::path::Path;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams};
use lifecycle_cli::Program;
use lifecycle_cli::cluster::manifests::{self, Manifest};
use lifecycle_cli::cluster::{Cluster, Options};
use website_operator::lifecycle;

use super::new::create_crate;

const PAGE: &str = include_str!("../../../docs/deploy.md");
const NAME: &str = "gadget-operator";

/// Returns the contents of the code blocks in a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let rest = PAGE.split(&fence).skip(1);
    rest.map(|rest| rest.split("```").next().unwrap().trim_end())
        .collect()
}

fn commands() -> Vec<Vec<&'static str>> {
    let lines = blocks("sh").into_iter().flat_map(str::lines);
    let lines = lines.map(|line| line.split(" #").next().unwrap());
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.filter(|words| !words.is_empty()).collect()
}

/// The command line of the new crate, which is that of each program of `lifecycle_cli`.
fn program() -> clap::Command {
    Program::new(NAME, "0.1.0").command()
}

#[track_caller]
fn check_taken(words: &[&str]) {
    let words = [&[NAME], words].concat();
    let read = program().try_get_matches_from(&words);
    read.unwrap_or_else(|error| panic!("{words:?}: {error}"));
}

/// Returns the definitions of the new crate. The crate is a copy of the template with other names.
fn definitions() -> String {
    let text = serde_json::to_string(&lifecycle::definitions()[0]).unwrap();
    let text = text.replace("web.example.org", "gadgets.acme.test");
    text.replace("website", "gadget")
        .replace("Website", "Gadget")
}

/// Environment in which the commands of the page run.
struct DeployTest<'a> {
    cluster: &'a Cluster,
    folder: &'a Path,
}

impl DeployTest<'_> {
    async fn apply(&self, name: &str, text: &str) {
        let all = Manifest::parse(Path::new(name), text).unwrap();
        assert!(!all.is_empty(), "{name} holds nothing");
        manifests::apply(&self.cluster.client(), &all)
            .await
            .unwrap();
    }

    async fn deployment(&self, words: &str) -> Deployment {
        let name = words.strip_prefix("deployment/").unwrap();
        let all: Api<Deployment> = Api::namespaced(self.cluster.client(), NAME);
        all.get(name).await.unwrap()
    }

    async fn run(&self, words: &[&str]) {
        match words {
            ["cargo", "run", "--", rest @ ..] => {
                check_taken(rest);
                if rest == ["crds", "--install"] {
                    self.apply("definitions", &definitions()).await;
                }
            }
            ["cargo", "generate-lockfile"] => {}
            ["podman", "build", "--tag", image, "."] => self.check_image(image),
            ["podman", "push", image] => assert!(image.ends_with(&format!("/{NAME}:0.1.0"))),
            ["kubectl", "--namespace", NAME, rest @ ..] => self.check_own(rest).await,
            ["kubectl", "apply", "--filename", file] => {
                let text = std::fs::read_to_string(self.folder.join(file));
                self.apply(file, &text.unwrap()).await;
            }
            ["kubectl", "get", plural] => {
                let all: Api<CustomResourceDefinition> = Api::all(self.cluster.client());
                let all = all.list(&ListParams::default()).await.unwrap();
                let plurals = all.items.into_iter().map(|one| one.spec.names.plural);
                assert!(plurals.into_iter().any(|one| one == *plural), "{plural}");
            }
            _ => panic!("nobody knows whether this works: {}", words.join(" ")),
        }
    }

    /// Checks a command of the page that queries the operator itself.
    async fn check_own(&self, words: &[&str]) {
        match words {
            ["rollout", "status" | "undo", deployment] | ["logs", deployment] => {
                self.deployment(deployment).await;
            }
            ["set", "image", deployment, image] => {
                let found = self.deployment(deployment).await;
                let (container, _) = image.split_once('=').unwrap();
                let pod = found.spec.unwrap().template.spec.unwrap();
                assert!(pod.containers.iter().any(|one| one.name == container));
            }
            _ => panic!("nobody knows whether this works: {}", words.join(" ")),
        }
    }

    /// The image runs the program of the crate, with a command that it has.
    fn check_image(&self, image: &str) {
        assert!(image.ends_with(&format!("/{NAME}:0.1.0")), "{image}");
        let text = std::fs::read_to_string(self.folder.join("Containerfile")).unwrap();
        let found = |line: &str| text.lines().any(|one| one == line);
        assert!(found(&format!("ENTRYPOINT [\"/{NAME}\"]")), "{text}");
        let (_, command) = text.split_once("CMD [\"").unwrap();
        check_taken(&[command.split('"').next().unwrap()]);
    }
}

#[tokio::test]
async fn each_command_and_each_manifest_of_the_page_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = &create_crate(folder.path());
    let cluster = &Cluster::open(Options::default()).await.unwrap();
    let tried = DeployTest { cluster, folder };
    let commands = commands();
    assert!(commands.len() > 8, "{commands:?}");
    for words in commands {
        tried.run(&words).await;
    }
    let manifests = blocks("yaml");
    assert!(manifests.len() > 1, "the page shows manifests");
    for text in manifests {
        tried.apply("docs/deploy.md", text).await;
    }
}

/// Each variable of the Deployment is one that the program reads, and its argument one that it takes.
#[test]
fn the_manifest_of_the_operator_sets_what_the_program_reads() {
    let folder = tempfile::tempdir().unwrap();
    let file = create_crate(folder.path()).join("deploy/operator.yaml");
    let all = Manifest::read_all(&[file]).unwrap();
    let pod = &all[0].spec()["template"]["spec"]["containers"][0];
    check_taken(&[pod["args"][0].as_str().unwrap()]);
    let mut command = program();
    command.build();
    let run = command.find_subcommand("run").unwrap();
    let mut known = run.get_arguments().filter_map(clap::Arg::get_env);
    let known: Vec<_> = known.by_ref().map(|name| name.to_str().unwrap()).collect();
    let set = pod["env"].as_array().unwrap();
    assert!(set.len() > 2);
    for one in set {
        let name = one["name"].as_str().unwrap();
        assert!(known.contains(&name), "the program reads no {name}");
    }
}

/// Checks that the names in the tables exist: items of the library in its pinned API, and reasons
/// in the sources that define them.
#[test]
fn what_the_tables_name_is_there() {
    let api = include_str!("../../../tests/tidy/api/lifecycle-runtime.txt");
    let report = include_str!("../../../runtime/src/controller/report.rs");
    let brake = include_str!("../../../runtime/src/controller/brake.rs");
    let health = include_str!("../../cli/src/process/health.rs");
    let named = [
        ("Operator::definitions", "Operator::definitions(", api),
        ("Operator::leadership", "Operator::leadership(", api),
        ("Operator::health", "Operator::health(", api),
        ("Contradiction", "\"Contradiction\"", report),
        ("Deleting", "\"Deleting\"", report),
        ("RepeatedWrites", "\"RepeatedWrites\"", brake),
        ("/livez", "/livez", health),
        ("/readyz", "/readyz", health),
    ];
    for (name, said, source) in named {
        assert!(
            PAGE.contains(&format!("`{name}`")),
            "the page does not name {name}"
        );
        assert!(source.contains(said), "nothing says {name}");
    }
}
