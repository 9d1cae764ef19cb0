//! The command line of a program: `run`, `explain`, `replay`, `crds`, `sandbox`, `plan` and the
//! commands derived from its lifecycles, with the implementation of each.

use std::process::ExitCode;

use crate::process::{exit_code, printed, until_done};
use clap::{ArgMatches, Args, Command, FromArgMatches};

use crate::{Program, args, definitions, explain, generate, replay, run, simulated};

impl Program {
    /// Runs the program: parses the command line, executes the command, and returns the exit code
    /// of the process.
    pub fn main(self) -> ExitCode {
        let matches = self.command().get_matches();
        exit_code(self.dispatch(&matches))
    }

    /// The command line.
    pub fn command(&self) -> Command {
        let run =
            Command::new("run").about("Run the operator until it is stopped (SIGTERM or SIGINT)");
        let run = run.long_about(
            "Run the operator until it is stopped (SIGTERM or SIGINT).\n\nThe cluster is that of KUBECONFIG or ~/.kube/config, or the one in which the process runs.",
        );
        let crds = Command::new("crds")
            .about("Print the CustomResourceDefinitions as YAML, or install them. Printing needs no cluster");
        let run = taking(run, args::Run::augment_args);
        let commands = [
            taking(run, self.options),
            taking(explain::command(), self.options),
            taking(replay::command(), self.options),
            taking(crds, args::Crds::augment_args),
        ];
        let simulated = simulated::commands().map(|one| taking(one, self.options));
        // They take the options of the author, too, for the operator is made of those.
        let generated = generate::commands().map(|one| taking(one, self.options));
        Command::new(self.name)
            .version(self.version)
            .about(self.about)
            .arg_required_else_help(true)
            .subcommand_required(true)
            .subcommands(commands)
            .subcommands(simulated)
            .subcommands(generated)
    }

    fn dispatch(self, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
        match matches.subcommand() {
            Some(("run", told)) => {
                let options = args::Run::from_arg_matches(told)?;
                until_done(run::run(self, options, told))??;
            }
            Some(asked @ ("sandbox" | "plan", _)) => return simulated::run_command(self, asked),
            Some(("explain", told)) => explain::run_command(self, told)?,
            Some(("replay", told)) => return replay::run_command(self, told),
            Some(("crds", told)) => {
                let options = args::Crds::from_arg_matches(told)?;
                let kinds = definitions::kinds(self.name, &self.definitions)?;
                let done = definitions::run_command(&kinds, &options).map(|()| ExitCode::SUCCESS);
                return match options.install {
                    true => done,
                    false => printed(done),
                };
            }
            Some((name, _)) if generate::is_one(name) => {
                return printed(generate::run_command(self, matches).map(|()| ExitCode::SUCCESS));
            }
            Some(_) | None => unreachable!("clap lets no other command through"),
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns a command with more options. The description of the options as a whole does not replace
/// the description of the command.
fn taking(command: Command, options: fn(Command) -> Command) -> Command {
    let about = command.get_about().cloned();
    let long_about = command.get_long_about().cloned().or(about.clone());
    let mut command = options(command);
    if let Some(about) = about {
        command = command.about(about);
    }
    if let Some(long_about) = long_about {
        command = command.long_about(long_about);
    }
    command
}

#[cfg(test)]
mod tests {
    use lifecycle_runtime::Operator;

    use super::*;
    use crate::Surroundings;

    /// Words of an author.
    #[derive(Args)]
    struct Own {
        /// Something of its own.
        #[arg(long, default_value_t = 1)]
        colour: u8,
    }

    fn program() -> Program {
        Program::new("thing-operator", "1.2.3").operator_with(|_, own: Own| {
            anyhow::ensure!(own.colour < 9, "there are nine colours");
            Ok(Operator::new("things.example.org"))
        })
    }

    #[test]
    fn the_command_line_is_consistent_and_run_takes_the_options_of_the_author() {
        program().command().debug_assert();
        let command = program().command();
        let matches = command.get_matches_from(["thing-operator", "run", "--colour", "7"]);
        let (_, told) = matches.subcommand().unwrap();
        assert_eq!(Own::from_arg_matches(told).unwrap().colour, 7);
        let options = args::Run::from_arg_matches(told).unwrap();
        assert!(options.metrics_bind_address.is_none());
        assert!(!options.cluster.disable_leader_election);
    }

    #[test]
    fn each_command_says_what_it_does_whatever_its_options_say() {
        let mut command = program().command();
        command.build();
        let begins = [
            ("run", "Run the operator"),
            ("explain", "Explain why an object"),
            ("crds", "Print the"),
        ];
        let simulated = [
            ("sandbox", "Try the operator out"),
            ("plan", "Show what this version would write"),
        ];
        // Without the simulated cluster, the help does not list these commands.
        let simulated = simulated.into_iter().filter(|_| cfg!(feature = "sandbox"));
        for (name, begins) in begins.into_iter().chain(simulated) {
            let command = command.find_subcommand_mut(name).unwrap();
            let about = command.get_about().unwrap().to_string();
            assert!(about.starts_with(begins), "{name}: {about}");
            let help = command.render_long_help().to_string();
            assert!(help.starts_with(begins), "{name}: {help}");
        }
    }

    #[test]
    fn each_option_of_run_has_the_environment_variable_of_its_name() {
        let mut command = Program::new("thing-operator", "1").command();
        command.build();
        let run = command.find_subcommand("run").unwrap();
        let options = run.get_arguments().filter(|one| one.get_id() != "help");
        let mut count = 0;
        for option in options {
            let expected = option.get_long().unwrap().to_uppercase().replace('-', "_");
            assert_eq!(
                option.get_env().and_then(|env| env.to_str()),
                Some(&*expected)
            );
            count += 1;
        }
        assert_eq!(count, 17);
    }

    #[tokio::test]
    async fn a_program_without_an_operator_says_how_it_gets_one() {
        let program = Program::new("thing-operator", "1");
        let nobody = lifecycle_runtime::kube::client(kube::Config::new(
            "http://127.0.0.1:1".parse().unwrap(),
        ));
        let surroundings = Surroundings {
            client: nobody.unwrap(),
            cluster_domain: "cluster.local".to_owned(),
            namespace: "default".to_owned(),
        };
        let made = program.build_operator(surroundings, &ArgMatches::default());
        let said = made.map(|_| ()).unwrap_err().to_string();
        assert!(said.contains("Program::operator"), "{said}");
    }
}
