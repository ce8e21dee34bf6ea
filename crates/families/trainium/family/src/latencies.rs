//! Kernels with measured latencies beside the timing model.

use autocomp_eval::EvalError;
use autocomp_eval::given_file::read_text;
use autocomp_eval::simulator::{Calibrated, Calibration, CalibrationRequest, SuiteOption};
use autocomp_trainium_sim::calibrate::{Report, calibrate, parse_cases};
use autocomp_trainium_sim::refit::{LeftOut, leave_one_out};
use autocomp_trainium_sim::timing::Machine;
use autocomp_trainium_sim::{Failure, FailureKind};
use serde::Serialize;
use std::fmt::Write as _;
use std::io;
use std::path::{Component, Path};

/// Name of the table in the folder of a suite.
const TABLE: &str = "latencies.tsv";

const LEAVE_ONE_OUT: SuiteOption = SuiteOption {
    name: "leave-one-out",
    help: "For `latencies.tsv`: also fit the machine's constants without each group in turn, and \
           show the error of that group then",
    value: None,
    needs_suite: true,
};

/// Compares with suites of kernels.
#[derive(Debug)]
pub(crate) struct Latencies;

/// The result; field names are stable.
#[derive(Serialize)]
struct Compared {
    kernels: Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<Vec<LeftOut>>,
}

impl Calibrated for Latencies {
    fn suite(&self) -> &'static str {
        "kernels and `latencies.tsv`"
    }

    fn options(&self) -> &'static [SuiteOption] {
        &[LEAVE_ONE_OUT]
    }

    fn recognizes(&self, folder: &Path) -> bool {
        folder.join(TABLE).exists()
    }

    /// Compares the kernels of a folder with its table; if asked for, with each group left out
    /// of a fit of the machine's constants in turn.
    fn calibrate(&self, request: CalibrationRequest<'_>) -> Result<Calibration, EvalError> {
        let folder = request.folder.ok_or_else(|| EvalError::Usage {
            message: "there is no built-in suite of kernels".to_owned(),
            remedies: vec![format!("name a folder with `{TABLE}`: `--suite FOLDER`")],
        })?;
        let table = folder.join(TABLE);
        let text = read_text(&table).map_err(|error| EvalError::Input {
            message: format!("failed to read {}: {error}", table.display()),
            remedies: Vec::new(),
        })?;
        let cases = parse_cases(&text).map_err(|failure| EvalError::Input {
            message: format!("{}: {}", table.display(), failure.message),
            remedies: vec![failure.remedy],
        })?;
        let source = |file: &str| {
            text_within(folder, file).map_err(|error| {
                Failure::new(
                    FailureKind::Input,
                    "kernel-file",
                    format!("`{file}`: {error}"),
                    "put the kernel into the folder of the table, under the name that it gives",
                )
            })
        };
        // A machine of the user's own lies beside the table.
        let machine = |name: &str| match text_within(folder, &format!("{name}.toml")) {
            Ok(text) if !name.contains('/') => Machine::parse(&text),
            _ => Machine::built_in(name),
        };
        let kernels = calibrate(&cases, source, machine, |_| {});
        let is_left_out = request.options.contains_key(LEAVE_ONE_OUT.name);
        let left_out = is_left_out.then(|| leave_one_out(&cases, source, machine));
        let left_out = left_out.transpose().map_err(|failure| EvalError::Input {
            message: failure.message.clone(),
            remedies: vec![failure.remedy.clone()],
        })?;
        let compared = Compared { kernels, left_out };
        let table = compared.left_out.as_deref().map(left_out_table);
        let data = serde_json::to_value(&compared);
        Ok(Calibration {
            data: data.map_err(|error| EvalError::Fault(error.to_string()))?,
            text: shown(&compared.kernels) + &table.unwrap_or_default(),
        })
    }
}

/// The error of each group, with the constants as they are and fitted to the other groups.
fn left_out_table(rows: &[LeftOut]) -> String {
    let width = rows.iter().map(|row| row.group.len()).max();
    let width = width.unwrap_or(0).max(5);
    let mut out = format!(
        "\n{:width$}  {:7}  {:>7}  {:>6}  {:>8}  {:>6}  constants moved\n",
        "group", "machine", "kernels", "as is", "left out", "others"
    );
    let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |it| format!("{it:.3}"));
    for row in rows {
        let moved = row
            .moved
            .iter()
            .map(|(name, factor)| format!("{name} x{factor:.2}"));
        let moved = moved.collect::<Vec<_>>().join(", ");
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:width$}  {:7}  {:>7}  {:>6.3}  {:>8}  {:>6}  {moved}",
            row.group,
            row.machine,
            row.cases,
            row.geomean_error,
            figure(row.refitted_error),
            figure(row.others_error),
        );
    }
    out
}

fn shown(report: &Report) -> String {
    let width = report.rows.iter().map(|row| row.id.len()).max();
    let width = width.unwrap_or(0).max(6);
    let mut out = format!(
        "{:width$}  {:>12}  {:>12}  {:>6}\n",
        "kernel", "measured us", "simulated us", "ratio"
    );
    // Writing to a string cannot fail.
    for row in &report.rows {
        let _ = match (row.simulated_us, row.ratio) {
            (Some(simulated), Some(ratio)) => {
                let interval = match row.plain_us {
                    Some(plain) if simulated * 1.3 < plain => {
                        format!("  up to {plain:.1} if the compiler does not merge loops")
                    }
                    _ => String::new(),
                };
                writeln!(
                    out,
                    "{:width$}  {:>12.1}  {simulated:>12.1}  {ratio:>6.2}{interval}",
                    row.id, row.measured_us
                )
            }
            _ => writeln!(
                out,
                "{:width$}  {:>12.1}  {}",
                row.id,
                row.measured_us,
                row.failure.as_deref().unwrap_or("failed")
            ),
        };
    }
    if 1 < report.groups.len() {
        out.push_str(&groups_table(report));
    }
    let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |it| format!("{it:.3}"));
    if report.busy_within_ten.is_some() {
        out.push_str(&busy_table(report));
    }
    let _ = writeln!(
        out,
        "\n{} of {} kernels ran; error: geometric mean {}, largest {}; pairs in the right order: {}",
        report.cases,
        report.rows.len(),
        figure(report.geomean_error),
        figure(report.max_error),
        figure(report.pair_order)
    );
    out
}

/// Errors of each group, and what its fastest kernel by the simulation costs.
fn groups_table(report: &Report) -> String {
    let width = report.groups.iter().map(|it| it.group.len()).max();
    let width = width.unwrap_or(0).max(5);
    let mut out = format!(
        "\n{:width$}  {:>7}  {:>6}  {:>6}  {:>12}  {:>6}\n",
        "group", "kernels", "mean", "worst", "pairs", "regret"
    );
    for it in &report.groups {
        let (pairs, alike) = it.pairs;
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:width$}  {:>7}  {:>6.3}  {:>6.3}  {:>12}  {:>6.3}",
            it.group,
            it.cases,
            it.geomean_error,
            it.max_error,
            format!("{alike} of {pairs}"),
            it.regret,
        );
    }
    out
}

/// Busy shares of engines and transfers, measured and simulated.
fn busy_table(report: &Report) -> String {
    let width = report.rows.iter().map(|row| row.id.len()).max();
    let width = width.unwrap_or(0).max(6);
    let mut out = format!(
        "\n{:width$}  busy share in %, measured/simulated\n",
        "kernel"
    );
    for row in report.rows.iter().filter(|row| !row.busy.is_empty()) {
        let _ = write!(out, "{:width$}", row.id);
        for it in &row.busy {
            let _ = write!(
                out,
                "  {} {:.0}/{:.0}",
                it.engine.name(),
                it.measured,
                it.simulated
            );
        }
        out.push('\n');
    }
    let near = report.busy_within_ten.unwrap_or(0.0);
    let _ = writeln!(out, "{:.1} % of them within 10 points", 100.0 * near);
    out
}

/// Reads a file that a row of a table names: in the folder of the table or below it, links
/// followed.
fn text_within(folder: &Path, file: &str) -> io::Result<String> {
    let outside = || io::Error::other("it is no path within the folder of the table");
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if file.is_empty() || !Path::new(file).components().all(is_plain) {
        return Err(outside());
    }
    let path = folder.join(file).canonicalize()?;
    if !path.starts_with(folder.canonicalize()?) {
        return Err(outside());
    }
    read_text(&path)
}
