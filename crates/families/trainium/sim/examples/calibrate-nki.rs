//! Compares simulated with measured latencies: `calibrate-nki FOLDER [MACHINE.toml]`, where the folder
//! holds `latencies.tsv` and the kernels that it names; `calibrate-nki FOLDER --leave-one-out` fits the
//! constants without each group in turn. `calibrate-nki FOLDER --traffic` compares bytes instead, with
//! the columns `hbm_read_bytes` and `hbm_write_bytes`.

use std::io::Write as _;

use autocomp_trainium_sim::calibrate::{calibrate, parse_cases};
use autocomp_trainium_sim::feedback::report;
use autocomp_trainium_sim::refit::leave_one_out;
use autocomp_trainium_sim::timing::{Machine, Passes, time};
use autocomp_trainium_sim::{Failure, FailureKind, Options, evaluate, parse_inputs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = std::path::PathBuf::from(
        arguments
            .next()
            .ok_or("usage: calibrate-nki FOLDER [MACHINE.toml]")?,
    );
    let more = arguments.next();
    let table = std::fs::read_to_string(folder.join("latencies.tsv"))?;
    let cases = parse_cases(&table)?;
    let source = |file: &str| {
        std::fs::read_to_string(folder.join(file)).map_err(|error| {
            Failure::new(
                FailureKind::Input,
                "kernel-file",
                format!("{file}: {error}"),
                "put the kernel beside latencies.tsv",
            )
        })
    };
    if more.as_deref() == Some("--leave-one-out") {
        let mut out = std::io::stdout().lock();
        for row in leave_one_out(&cases, source, Machine::built_in)? {
            writeln!(out, "{}", serde_json::to_string(&row)?)?;
        }
        return Ok(());
    }
    if more.as_deref() == Some("--traffic") {
        let mut rows = table.lines();
        let header: Vec<&str> = rows.next().unwrap_or_default().split('\t').collect();
        let place = |name: &str| header.iter().position(|it| it.trim() == name);
        let places = [place("hbm_read_bytes"), place("hbm_write_bytes")];
        let mut out = std::io::stdout().lock();
        for row in rows {
            let fields: Vec<&str> = row.split('\t').collect();
            let figure = |at: Option<usize>| fields.get(at?)?.trim().parse::<u64>().ok();
            let [Some(read), Some(written)] = places.map(figure) else {
                continue;
            };
            let Some(case) = cases.iter().find(|case| fields.contains(&case.id.as_str())) else {
                continue;
            };
            let machine = Machine::built_in(&case.machine)?;
            let options = Options {
                functional: false,
                generation: machine.generation,
                ..Options::default()
            };
            let inputs = parse_inputs(&case.inputs, None)?;
            let evaluation = evaluate(&source(&case.file)?, &case.entry, &inputs, &options)?;
            let timeline = time(&evaluation.trace, &machine, Passes::of(&evaluation));
            let own = report(&evaluation.trace, &timeline, &machine);
            let total = own.hbm_read_bytes + own.hbm_write_bytes;
            writeln!(
                out,
                "{:40} read {:>11} of {read:>11}  written {:>11} of {written:>11}  together {:.3}  {:>10.1} us of {:>10.1}",
                case.id,
                own.hbm_read_bytes,
                own.hbm_write_bytes,
                total as f64 / (read + written) as f64,
                timeline.latency_ns / 1000.0,
                case.latency_us
            )?;
        }
        return Ok(());
    }
    let own = more.map(std::fs::read_to_string).transpose()?;
    let report = calibrate(
        &cases,
        source,
        |name| match &own {
            Some(text) => Machine::parse(text),
            None => Machine::built_in(name),
        },
        |_| {},
    );
    let mut out = std::io::stdout().lock();
    for row in &report.rows {
        match (row.simulated_us, row.plain_us, row.ratio) {
            (Some(simulated), Some(plain), Some(ratio)) => writeln!(
                out,
                "{:40} {:>10.1} {simulated:>10.1} {ratio:>6.2}  plain {plain:>10.1}",
                row.id, row.measured_us
            )?,
            _ => writeln!(
                out,
                "{:40} {:>10.1} {}",
                row.id,
                row.measured_us,
                row.failure.as_deref().unwrap_or("")
            )?,
        }
    }
    writeln!(
        out,
        "cases {} geomean {:.3} max {:.2} pair order {:.3}",
        report.cases,
        report.geomean_error.unwrap_or(f64::NAN),
        report.max_error.unwrap_or(f64::NAN),
        report.pair_order.unwrap_or(f64::NAN)
    )?;
    Ok(())
}
