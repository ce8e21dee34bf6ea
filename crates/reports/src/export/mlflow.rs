//! Runs in the file store of MLflow: folders of small text files, which `mlflow ui` shows.
//!
//! The layout is that of MLflow's documentation of its file store: an experiment is a folder
//! with `meta.yaml`, a run one below it with `meta.yaml`, and a file for each metric (lines of
//! time, value and step), parameter and tag.

use crate::run::RunData;
use autocomp_core::ContentHash;
use autocomp_runner::RunState;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// Writes runs into the file store in `store`: an experiment for each problem on each target.
/// A run that was written before is written anew.
///
/// # Errors
/// A file cannot be written.
pub fn write_mlflow(runs: &[RunData], store: &Path) -> io::Result<()> {
    for run in runs {
        let name = format!("{} on {}", run.report.problem, run.report.target);
        let experiment = number(&name);
        let place = store.join(&experiment);
        fs::create_dir_all(&place)?;
        let about = format!(
            "artifact_location: {}\nexperiment_id: '{experiment}'\nlifecycle_stage: active\nname: {}\n",
            quoted(&address(&place)?),
            quoted(&name)
        );
        fs::write(place.join("meta.yaml"), about)?;
        write_run(run, &experiment, &place)?;
    }
    Ok(())
}

fn write_run(run: &RunData, experiment: &str, place: &Path) -> io::Result<()> {
    let report = &run.report;
    let from = report.started_at_ms;
    let id = &ContentHash::of(format!("{}\n{from}\n{}", run.name, report.seed).as_bytes());
    let id = id.to_string()[..32].to_owned();
    let place = place.join(&id);
    match fs::remove_dir_all(&place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    for folder in ["metrics", "params", "tags", "artifacts"] {
        fs::create_dir_all(place.join(folder))?;
    }
    // Numbers of MLflow: 1 runs, 3 has ended, 4 has failed.
    let (status, end) = match report.status {
        RunState::Running { .. } => (1, "null".to_owned()),
        RunState::Broken => (4, (from + report.elapsed_ms).to_string()),
        _ => (3, (from + report.elapsed_ms).to_string()),
    };
    let about = format!(
        "artifact_uri: {}\nend_time: {end}\nentry_point_name: ''\nexperiment_id: '{experiment}'\n\
         lifecycle_stage: active\nrun_id: {id}\nrun_name: {}\nrun_uuid: {id}\nsource_name: ''\n\
         source_type: 4\nsource_version: ''\nstart_time: {from}\nstatus: {status}\ntags: []\n\
         user_id: autocomp\n",
        quoted(&address(&place.join("artifacts"))?),
        quoted(&run.name),
    );
    fs::write(place.join("meta.yaml"), about)?;

    let mut lines = [String::new(), String::new(), String::new(), String::new()];
    for kernel in &run.kernels {
        let at = from + kernel.elapsed_ms;
        let step = kernel.evaluation_number;
        if let Some(cost) = kernel.cost {
            let _ = writeln!(lines[0], "{at} {} {step}", cost.value);
        }
        if let Some(peak) = kernel.percent_of_peak {
            let _ = writeln!(lines[1], "{at} {peak} {step}");
        }
    }
    for it in &run.improvements {
        let (at, step) = (from + it.elapsed_ms, it.evaluations);
        if let Some(cost) = it.cost {
            let _ = writeln!(lines[2], "{at} {} {step}", cost.value);
        }
        let _ = writeln!(lines[3], "{at} {} {step}", it.usd_micros as f64 / 1e6);
    }
    let names = ["cost", "percent_of_peak", "best_cost", "usd"];
    for (name, lines) in names.iter().zip(&lines) {
        if !lines.is_empty() {
            fs::write(place.join("metrics").join(name), lines)?;
        }
    }
    let settings = serde_json::to_value(&run.started.settings).unwrap_or_default();
    let mut params = vec![
        ("problem".to_owned(), report.problem.clone()),
        ("target".to_owned(), report.target.clone()),
        ("seed".to_owned(), report.seed.to_string()),
        ("proposers".to_owned(), report.proposers.join(", ")),
        ("compiler".to_owned(), report.compiler.clone()),
    ];
    for (name, value) in settings.as_object().into_iter().flatten() {
        if value.is_object() || value.is_array() {
            continue;
        }
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        params.push((format!("search.{name}"), text));
    }
    for (name, value) in params {
        fs::write(place.join("params").join(name), value)?;
    }
    fs::write(place.join("tags").join("mlflow.runName"), &run.name)?;
    fs::write(
        place.join("tags").join("autocomp.version"),
        &run.started.program,
    )?;
    if let Some(source) = run.best().and_then(|best| run.texts.source(best).ok()) {
        fs::write(place.join("artifacts").join("best-kernel.txt"), source)?;
    }
    Ok(())
}

/// Returns a number of an experiment that is the same for the same name, as MLflow makes them.
fn number(name: &str) -> String {
    let hash = ContentHash::of(name.as_bytes());
    let bytes: [u8; 8] = std::array::from_fn(|idx| hash.0[idx]);
    format!(
        "{:018}",
        u64::from_le_bytes(bytes) % 1_000_000_000_000_000_000
    )
}

/// Returns the address of a folder, as a URI with everything unusual escaped.
fn address(folder: &Path) -> io::Result<String> {
    let mut out = "file://".to_owned();
    for byte in std::path::absolute(folder)?.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(*byte));
            }
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    Ok(out)
}

/// Returns a text as YAML has it: JSON's strings are its strings.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
