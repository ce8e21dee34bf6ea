//! The comparison with measured numbers as a command.

use super::Measured;
use crate::machine::Machine;
use autocomp_eval::simulator::{Calibrated, Calibration, CalibrationRequest, SuiteOption};
use autocomp_eval::{EvalError, read_machine};
use std::path::Path;

/// Compares a machine with a table of what was measured on it.
#[derive(Debug)]
pub(crate) struct Suites;

/// The table in the folder of a suite.
const TABLE: &str = "measured.toml";

/// Reads the table in the folder of a suite.
fn read(folder: Option<&Path>) -> Result<Measured, EvalError> {
    let path = folder.unwrap_or(Path::new(".")).join(TABLE);
    let unusable = |what: String| EvalError::Input {
        message: format!("{}: {what}", path.display()),
        remedies: vec![
            "see crates/families/rvv/family/calibration/k230 for a table that can be read".into(),
        ],
    };
    let text =
        autocomp_eval::given_file::read_text(&path).map_err(|error| unusable(error.to_string()))?;
    Measured::parse(&text).map_err(|error| unusable(error.to_string()))
}

impl Calibrated for Suites {
    fn suite(&self) -> &'static str {
        "`measured.toml`"
    }

    fn options(&self) -> &'static [SuiteOption] {
        &[]
    }

    fn target(&self, folder: Option<&Path>) -> Option<String> {
        read(folder).ok().map(|measured| measured.target)
    }

    fn recognizes(&self, folder: &Path) -> bool {
        folder.join(TABLE).is_file()
    }

    fn calibrate(&self, request: CalibrationRequest<'_>) -> Result<Calibration, EvalError> {
        let measured = read(request.folder)?;
        let target = request
            .target
            .ok_or_else(|| EvalError::Fault("no target to compare".into()))?;
        let machine = read_machine(target, &measured.machine, Machine::parse)?;
        let report = measured.compare(&machine);
        Ok(Calibration {
            data: serde_json::to_value(&report)
                .map_err(|error| EvalError::Fault(error.to_string()))?,
            text: report.text(),
        })
    }
}
