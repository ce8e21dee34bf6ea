//! `autocomp sim calibrate`: simulated times beside those that were measured.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::registry;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_eval::simulator::{Calibrated, CalibrationRequest, SuiteOption};
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches, value_parser};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Compare the simulator's cycles with a suite of programs measured on hardware
#[derive(Debug, Args)]
pub struct CalibrateArguments {
    #[arg(long, value_name = "FOLDER", help = suite_help())]
    suite: Option<PathBuf>,
    #[command(flatten)]
    options: OptionsOfFamilies,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// The values of the options that families bring, by name.
#[derive(Debug, Default)]
struct OptionsOfFamilies(BTreeMap<&'static str, String>);

/// Returns the simulators of all families that are compared with suites.
fn simulators() -> impl Iterator<Item = &'static dyn Calibrated> {
    registry::families().filter_map(|family| family.calibrated())
}

/// Returns the options of all families; of those of one name, the first.
fn options() -> Vec<SuiteOption> {
    let mut options: Vec<SuiteOption> = Vec::new();
    for option in simulators().flat_map(|it| it.options()) {
        if options.iter().all(|known| known.name != option.name) {
            options.push(*option);
        }
    }
    options
}

fn suite_help() -> String {
    let kinds: Vec<&str> = simulators().map(Calibrated::suite).collect();
    let kinds = kinds.join(", or with ");
    format!("Folder with {kinds} [default: the built-in suite, calibrated with]")
}

impl Args for OptionsOfFamilies {
    fn augment_args(command: clap::Command) -> clap::Command {
        options().into_iter().fold(command, |command, option| {
            let mut arg = Arg::new(option.name).long(option.name).help(option.help);
            if option.needs_suite {
                arg = arg.requires("suite");
            }
            command.arg(match option.value {
                None => arg.action(ArgAction::SetTrue),
                Some(value) => {
                    arg = arg.value_name(value.name).default_value(value.default);
                    match value.most {
                        Some(most) => arg.value_parser(value_parser!(u64).range(..=most)),
                        None => arg,
                    }
                }
            })
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OptionsOfFamilies {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let value = |option: SuiteOption| {
            let name = option.name;
            let text = match option.value {
                None => matches.get_flag(name).then(String::new),
                Some(value) if value.most.is_some() => {
                    matches.get_one::<u64>(name).map(u64::to_string)
                }
                Some(_) => matches.get_one::<String>(name).cloned(),
            };
            text.map(|text| (name, text))
        };
        Ok(Self(options().into_iter().filter_map(value).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Runs the command.
pub fn run(arguments: &CalibrateArguments, output: Output) -> Result<u8, CliError> {
    let folder = arguments.suite.as_deref();
    let recognizes = |it: &&dyn Calibrated| folder.is_some_and(|folder| it.recognizes(folder));
    let simulator = simulators()
        .find(recognizes)
        .or_else(|| simulators().find(|it| it.has_built_in_suite()))
        .ok_or_else(|| {
            CliError::usage("this program knows no simulator that suites are compared with")
                .hint("build it with the feature of a family that has one")
        })?;
    let name = simulator.target(folder);
    let workplace = name
        .as_ref()
        .map(|_| Workplace::open(&arguments.workplace))
        .transpose()?;
    let named = workplace.as_ref().zip(name.as_deref());
    let target = named.map(|(workplace, name)| workplace.target(name));
    let target = target.transpose()?;
    let surroundings = workplace.as_ref().map(Workplace::surroundings);
    let calibration = simulator
        .calibrate(CalibrationRequest {
            folder,
            target: target.as_ref(),
            surroundings: surroundings.as_ref(),
            options: &arguments.options.0,
            tell: &mut |line| output.message(line),
        })
        .map_err(|error| eval_error(&error))?;
    output.result(&calibration.data, || calibration.text)?;
    Ok(exit_code::SUCCESS)
}
