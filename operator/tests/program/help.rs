//! Pins the output of `--help` word for word, as an administrator sees it. `BLESS=1 cargo test
//! --workspace --test program help` writes it anew.

use std::path::PathBuf;

use clap::CommandFactory;
use lifecycle_operator::args::Arguments;

const WIDTH: usize = 100;

/// Returns the help text, independent of the environment variables of the user who runs the test.
fn help(words: &[&str]) -> String {
    let mut command = Arguments::command()
        .term_width(WIDTH)
        .mut_subcommands(plain);
    command.build();
    let mut found = &mut command;
    for word in words {
        found = found
            .find_subcommand_mut(word)
            .expect("the command is declared");
    }
    let text = found
        .clone()
        .term_width(WIDTH)
        .render_long_help()
        .to_string();
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

fn plain(command: clap::Command) -> clap::Command {
    command
        .term_width(WIDTH)
        .mut_args(|argument| argument.hide_env_values(true))
        .mut_subcommands(plain)
}

fn check(name: &str, words: &[&str]) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/help")
        .join(name);
    let found = help(words);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &found).expect("the snapshot can be written");
    }
    let expected = std::fs::read_to_string(&file).expect("the snapshot is there");
    assert_eq!(found, expected, "{}", file.display());
}

#[test]
fn help_names_the_commands() {
    check("root.txt", &[]);
}

#[test]
fn help_of_run_skupper_says_whose_namespaces_are_its_own() {
    check("skupper.txt", &["run", "skupper"]);
}

#[test]
fn b13_help_of_run_lists_options_variables_and_possible_values() {
    check("run.txt", &["run"]);
}

#[test]
fn b13_help_of_controller_explains_the_presets() {
    check("controller.txt", &["run", "controller"]);
}

#[test]
fn b13_help_of_node_is_short() {
    check("node.txt", &["run", "node"]);
}

#[test]
fn help_of_site_shows_the_layout() {
    check("site.txt", &["run", "site"]);
}

#[test]
fn help_of_token_says_what_must_be_there_before() {
    check("token.txt", &["token", "issue"]);
    check("redeem.txt", &["token", "redeem"]);
}

#[test]
fn help_of_network_says_where_it_is_read_from() {
    check("network.txt", &["network"]);
}

#[test]
fn help_of_check_explains_exit_codes() {
    check("check.txt", &["check"]);
}

#[test]
fn help_of_lock_explains_exit_codes() {
    check("lock.txt", &["lock"]);
}

#[test]
fn help_of_explain_says_how_it_ends() {
    check("explain.txt", &["explain"]);
}

#[test]
fn help_of_plan_says_how_it_ends() {
    check("plan.txt", &["plan"]);
}

#[test]
fn help_of_takeover_says_how_it_ends() {
    check("takeover.txt", &["takeover"]);
    check("takeover-skupper.txt", &["takeover", "skupper"]);
}

#[test]
fn help_of_replay_says_how_it_ends() {
    check("replay.txt", &["replay"]);
}

#[test]
fn help_of_sandbox_explains_exit_codes() {
    check("sandbox.txt", &["sandbox"]);
}

#[test]
fn help_of_cluster_says_what_is_in_it() {
    check("cluster.txt", &["cluster"]);
}

#[test]
fn help_of_new_says_what_is_written() {
    check("new.txt", &["new"]);
}

#[test]
fn help_of_what_is_made_from_lifecycles_says_what_it_is_good_for() {
    for command in ["lifecycles", "diagram", "docs", "manifests"] {
        check(&format!("{command}.txt"), &[command]);
    }
}
