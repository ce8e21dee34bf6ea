//! Compares simulated with measured latencies: `calibrate FOLDER [MACHINE.toml]`, where the folder
//! holds `latencies.tsv` and the kernels that it names.

use std::io::Write as _;

use autocomp_trainium::calibrate::{calibrate, parse_cases};
use autocomp_trainium::timing::Machine;
use autocomp_trainium::{Failure, FailureKind};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = std::path::PathBuf::from(
        arguments
            .next()
            .ok_or("usage: calibrate FOLDER [MACHINE.toml]")?,
    );
    let own = arguments.next().map(std::fs::read_to_string).transpose()?;
    let cases = parse_cases(&std::fs::read_to_string(folder.join("latencies.tsv"))?)?;
    let report = calibrate(
        &cases,
        |file| {
            std::fs::read_to_string(folder.join(file)).map_err(|error| {
                Failure::new(
                    FailureKind::Input,
                    "kernel-file",
                    format!("{file}: {error}"),
                    "put the kernel beside latencies.tsv",
                )
            })
        },
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
