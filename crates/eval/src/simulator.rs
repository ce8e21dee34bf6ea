//! What a family's simulator does by itself, without a problem: it runs whole programs, and
//! is compared with suites of what was measured.

use crate::Surroundings;
use crate::evaluator::EvalError;
use autocomp_catalog::Target;
use autocomp_core::Cost;
use std::collections::BTreeMap;
use std::path::Path;

/// A simulator that runs whole programs.
pub trait ProgramSimulator: Sync {
    /// Returns the target that is simulated unless the user names another.
    fn default_target(&self) -> &'static str;

    /// Runs a program until it ends, faults or reaches its limit.
    ///
    /// # Errors
    /// [`EvalError::Input`] if the file is no such program, or the machine's file is unusable.
    fn run(&self, request: ProgramRequest<'_>) -> Result<ProgramRun, EvalError>;
}

/// A program to run.
pub struct ProgramRequest<'a> {
    /// What to simulate.
    pub target: &'a Target,
    /// Name of the machine of the target.
    pub machine: &'a str,
    /// The program's file.
    pub program: &'a [u8],
    /// How the user names that file.
    pub path: &'a Path,
    /// Whether time is simulated; otherwise an instruction takes one unit of it.
    pub timed: bool,
    /// Whether what would be a warning stops the program.
    pub strict: bool,
    /// Instructions after which the program is stopped.
    pub max_instructions: u64,
    /// Takes what there is to say before the program runs.
    pub tell: &'a mut dyn FnMut(&str),
}

/// What came of a program.
#[derive(Clone, Debug)]
pub struct ProgramRun {
    /// None if the program did not exit.
    pub exit_code: Option<u64>,
    /// Instructions that were executed.
    pub instructions: u64,
    /// Simulated time, in the unit of the machine.
    pub cost: Cost,
    /// What the program has printed.
    pub stdout: Vec<u8>,
    /// Why the program was stopped, if it did not exit.
    pub stopped: Option<String>,
    /// What the hardware may get wrong, one entry for each rule and instruction.
    pub warnings: Vec<ProgramWarning>,
}

/// Something that the simulated hardware does not check and may get wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramWarning {
    /// Name of the rule.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
    /// Source line, or address if the program names no lines.
    pub place: String,
    /// Place of another instruction involved the first time.
    pub other_place: Option<String>,
    /// How often.
    pub count: u64,
}

/// A simulator that is compared with suites of measured programs.
pub trait Calibrated: Sync {
    /// Returns what a folder with such a suite holds (`kernels and a table`).
    fn suite(&self) -> &'static str;

    /// Returns the options of a comparison beside the folder, in the order of the help.
    fn options(&self) -> &'static [SuiteOption];

    /// Returns the name of the target whose machines are compared with the suite of a folder, or
    /// with the built-in one, unless machines lie with the suite or its files are at fault, which
    /// [`calibrate`](Self::calibrate) tells.
    fn target(&self, folder: Option<&Path>) -> Option<String> {
        let _ = folder;
        None
    }

    /// Returns whether the files of a folder say that its suite is one of these. A folder
    /// that no simulator recognizes goes to the first one with a built-in suite.
    fn recognizes(&self, folder: &Path) -> bool {
        let _ = folder;
        false
    }

    /// Returns whether there is a suite that needs no folder.
    fn has_built_in_suite(&self) -> bool {
        false
    }

    /// Compares the simulator with a suite.
    ///
    /// # Errors
    /// [`EvalError::Input`] with what is wrong in the suite, [`EvalError::Usage`] if an
    /// option names something that there is not.
    fn calibrate(&self, request: CalibrationRequest<'_>) -> Result<Calibration, EvalError>;
}

/// An option of a comparison; families that give one the same name share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuiteOption {
    /// Name on the command line, without dashes.
    pub name: &'static str,
    /// One sentence for the help, without a full stop.
    pub help: &'static str,
    /// Its value; a switch has none.
    pub value: Option<SuiteOptionValue>,
    /// Whether it makes sense only with the folder of a suite.
    pub needs_suite: bool,
}

/// The value of a [`SuiteOption`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuiteOptionValue {
    /// What it is, in capitals.
    pub name: &'static str,
    /// The value unless the user gives another.
    pub default: &'static str,
    /// The greatest number allowed, if the value is a whole number.
    pub most: Option<u64>,
}

/// A comparison to make.
pub struct CalibrationRequest<'a> {
    /// Folder of the suite; none for the built-in one.
    pub folder: Option<&'a Path>,
    /// The target that [`Calibrated::target`] names.
    pub target: Option<&'a Target>,
    /// What may be used of this computer, if [`Calibrated::target`] names a target.
    pub surroundings: Option<&'a Surroundings>,
    /// The values of the options by name; of switches those that are set, without a value.
    pub options: &'a BTreeMap<&'static str, String>,
    /// Takes what there is to say before the result.
    pub tell: &'a mut dyn FnMut(&str),
}

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// As data, an object whose fields the family's document lists.
    pub data: serde_json::Value,
    /// The result as text for people.
    pub text: String,
}
