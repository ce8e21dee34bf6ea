//! Times that a device measured beside those of the model.

use crate::dialect::{DEVICE, Dialect, device_compiler, folder_in, unusable, write};
use autocomp_catalog::Target;
use autocomp_cuda_sim::calibration::{
    Case, Compiled, Estimated, Half, Report, Suite, Total, compare, estimate,
};
use autocomp_cuda_sim::timing::Machine;
use autocomp_cuda_sim::{decode, parse};
use autocomp_eval::given_file::read_text;
use autocomp_eval::simulator::{
    Calibrated, Calibration, CalibrationRequest, SuiteOption, SuiteOptionValue,
};
use autocomp_eval::{EvalError, Surroundings};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Name of the table that says what is launched.
const LAUNCHES: &str = "launches.tsv";
/// Name of the machine's file, if it lies with the suite.
const OWN_MACHINE: &str = "machine.toml";

const GPU: SuiteOption = SuiteOption {
    name: "gpu",
    help: "For `launches.tsv`: machine of target cuda-sm90 whose times are estimated, unless \
           `machine.toml` lies in the folder",
    value: Some(SuiteOptionValue {
        name: "NAME",
        default: "h100-sxm",
        most: None,
    }),
    needs_suite: false,
};

const HALF: SuiteOption = SuiteOption {
    name: "half",
    help: "For `launches.tsv`: groups that are estimated: `mending`, `examination` or `both`",
    value: Some(SuiteOptionValue {
        name: "HALF",
        default: "both",
        most: None,
    }),
    needs_suite: false,
};

/// Compares with suites that a device measured.
#[derive(Debug)]
pub(crate) struct Measured;

impl Calibrated for Measured {
    fn suite(&self) -> &'static str {
        "CUDA kernels, `launches.tsv` and `results.tsv`"
    }

    fn options(&self) -> &'static [SuiteOption] {
        &[GPU, HALF]
    }

    fn target(&self, _: Option<&Path>) -> Option<String> {
        Some("cuda-sm90".to_owned())
    }

    fn recognizes(&self, folder: &Path) -> bool {
        folder.join(LAUNCHES).exists()
    }

    fn calibrate(&self, request: CalibrationRequest<'_>) -> Result<Calibration, EvalError> {
        let (Some(folder), Some(target), Some(surroundings)) =
            (request.folder, request.target, request.surroundings)
        else {
            return Err(EvalError::Usage {
                message: "there is no built-in suite of CUDA kernels".to_owned(),
                remedies: vec![format!("name a folder with `{LAUNCHES}`: `--suite FOLDER`")],
            });
        };
        let option = |name: &str| request.options.get(name).map_or("", String::as_str);
        let half = match option(HALF.name) {
            "mending" => Some(Half::Mending),
            "examination" => Some(Half::Examination),
            "both" | "" => None,
            other => {
                return Err(EvalError::Usage {
                    message: format!("`--half {other}` names no half of a suite"),
                    remedies: vec!["say `mending`, `examination` or `both`".to_owned()],
                });
            }
        };
        let machine = machine(folder, target, option(GPU.name))?;
        let suite = suite(folder)?;
        let toolchain = autocomp_toolchain::find_toolchain(surroundings, request.tell)?;
        let compilation = Compilation::new(folder, surroundings, toolchain, &machine)?;
        let groups: BTreeSet<String> = suite.cases.iter().map(|it| it.group().to_owned()).collect();
        let mut compiled = BTreeMap::new();
        let mut estimated: Vec<(Case, Estimated)> = Vec::new();
        for case in suite.cases {
            if half.is_some_and(|half| Half::of(case.group(), &groups) != half) {
                continue;
            }
            if !compiled.contains_key(&case.file) {
                (request.tell)(&format!("estimating {}.cu", case.file));
                compiled.insert(case.file.clone(), compilation.file(&case.file)?);
            }
            let result = match &compiled[&case.file] {
                Ok(compiled) => estimate(&case, compiled, &machine).map(|it| it.summary()),
                Err(message) => Err(message.clone()),
            };
            estimated.push((case, result));
        }
        let report = compare(&estimated, &groups);
        let data = serde_json::to_value(&report);
        Ok(Calibration {
            data: data.map_err(|error| EvalError::Fault(error.to_string()))?,
            text: shown(&report),
        })
    }
}

/// Reads the machine: the suite's own, or the one of the target that is named.
fn machine(folder: &Path, target: &Target, name: &str) -> Result<Machine, EvalError> {
    let path = folder.join(OWN_MACHINE);
    if !path.exists() {
        return crate::machine_of(target, name);
    }
    let text = read_text(&path).map_err(|error| error.to_string());
    text.and_then(|text| Machine::parse(&text))
        .map_err(|message| wrong(folder, &format!("{OWN_MACHINE}: {message}")))
}

fn suite(folder: &Path) -> Result<Suite, EvalError> {
    let read = |name: &str| {
        read_text(&folder.join(name)).map_err(|error| wrong(folder, &format!("{name}: {error}")))
    };
    let counters = folder.join("counters.tsv").exists();
    let counters = counters.then(|| read("counters.tsv")).transpose()?;
    Suite::parse(&read(LAUNCHES)?, &read("results.tsv")?, counters.as_deref())
        .map_err(|message| wrong(folder, &message))
}

fn wrong(folder: &Path, message: &str) -> EvalError {
    EvalError::Input {
        message: format!("{}: {message}", folder.display()),
        remedies: vec![format!(
            "a suite has `{LAUNCHES}`, `results.tsv`, `kernels/` and, if there are counters, `counters.tsv`"
        )],
    }
}

/// Compiles the files of a suite.
struct Compilation {
    dialect: Dialect,
    compiler: autocomp_toolchain::Compiler,
    /// A copy of the files.
    folder: tempfile::TempDir,
}

impl Compilation {
    fn new(
        suite: &Path,
        surroundings: &Surroundings,
        toolchain: autocomp_toolchain::Toolchain,
        machine: &Machine,
    ) -> Result<Self, EvalError> {
        let dialect = Dialect::new(&surroundings.cache_folder)?;
        let folder = folder_in(dialect.scratch())?;
        let kernels = suite.join("kernels");
        let unread = |error: std::io::Error| wrong(suite, &format!("kernels: {error}"));
        for entry in fs::read_dir(&kernels).map_err(unread)? {
            let path = entry.map_err(unread)?.path();
            let is_source = path.extension().is_some_and(|it| it == "cu" || it == "cuh");
            if let Some(name) = path.file_name().filter(|_| is_source) {
                let text = read_text(&path).map_err(unread)?;
                write(&folder.path().join(name), &text)?;
            }
        }
        Ok(Self {
            dialect,
            compiler: device_compiler(&toolchain, &machine.architecture)?,
            folder,
        })
    }

    /// Compiles a file. Why that does not work is the inner error.
    fn file(&self, name: &str) -> Result<Result<Compiled, String>, EvalError> {
        let folder = self.folder.path();
        if !name
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || it == '_')
        {
            return Ok(Err(format!("`{name}` is no name of a file")));
        }
        let made = ("-S", &*format!("{name}.cu"), "kernel.ptx");
        let flags: Vec<String> = DEVICE.iter().map(|it| (*it).to_owned()).collect();
        let report = self
            .dialect
            .compile(&self.compiler, folder, made, &flags, &[])?;
        if !report.succeeded() {
            let text = report.stderr.text();
            let line = text.lines().find(|it| it.contains("error"));
            return Ok(Err(line.unwrap_or("it does not compile").to_owned()));
        }
        let path = folder.join("kernel.ptx");
        let ptx = fs::read_to_string(&path).map_err(|error| unusable(&path, &error))?;
        let module = parse(&ptx, name);
        let read = module.and_then(|module| {
            let kernels = decode(&module)?;
            Ok(Compiled { module, kernels })
        });
        Ok(read.map_err(|error| error.to_string()))
    }
}

fn shown(report: &Report) -> String {
    let width = report.rows.iter().map(|row| row.id.len()).max();
    let width = width.unwrap_or(0).max(11);
    let mut out = format!(
        "{:width$}  {:>12} {:>12} {:>6}  {:>12} {:>12} {:>6}  limit\n",
        "case", "cold us", "estimate", "ratio", "warm us", "estimate", "ratio"
    );
    let pair = |measured: Option<f64>, estimate: Option<f64>| match (measured, estimate) {
        (Some(measured), Some(estimate)) => format!(
            "{measured:>12.2} {estimate:>12.2} {:>6.2}",
            estimate / measured
        ),
        _ => format!("{:>12} {:>12} {:>6}", "-", "-", "-"),
    };
    // Writing to a string cannot fail.
    for row in &report.rows {
        let told = row.failure.as_deref().or(row.limit.as_deref());
        let _ = writeln!(
            out,
            "{:width$}  {}  {}  {}{}",
            row.id,
            pair(Some(row.cold_us), row.cold_estimate_us),
            pair(row.warm_us, row.warm_estimate_us),
            told.unwrap_or_default(),
            if row.is_counted { ", counted" } else { "" }
        );
    }
    let _ = writeln!(
        out,
        "\n{:width$}  {:>5}  {:>6}  {:>7}  {:>11}  {:>9}  {:>11}  {:>11}  {:>6}",
        "group",
        "times",
        "error",
        "largest",
        "within 20 %",
        "pairs",
        "mean regret",
        "max regret",
        "spread"
    );
    let mut line = |name: &str, total: &Total| {
        let figure = |value: Option<f64>, digits: usize| {
            value.map_or_else(|| "-".to_owned(), |it| format!("{it:.digits$}"))
        };
        let percent = |value: Option<f64>| {
            value.map_or_else(|| "-".to_owned(), |it| format!("{:.1} %", it * 100.0))
        };
        let _ = writeln!(
            out,
            "{name:width$}  {:>5}  {:>6}  {:>7}  {:>11}  {:>9}  {:>11}  {:>11}  {:>6}",
            total.times,
            figure(total.geomean_error, 3),
            figure(total.max_error, 2),
            percent(total.within_20_percent),
            format!("{}/{}", total.pairs_right, total.pairs),
            percent(total.mean_regret),
            percent(total.max_regret),
            figure(total.spread_percent, 0),
        );
    };
    for group in &report.groups {
        let mark = match group.half {
            Half::Mending => "",
            Half::Examination => "*",
        };
        line(&format!("{}{mark}", group.group), &group.total);
    }
    line("mending", &report.mending);
    line("examination*", &report.examination);
    out
}
