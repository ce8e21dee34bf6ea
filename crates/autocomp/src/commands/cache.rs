//! `autocomp cache`: what the private cache holds, and making room.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_eval::cache::{Pruning, look, prune};
use autocomp_eval::text;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// Seconds of a day.
const DAY: u64 = 86_400;

/// Look at the private cache, or make room in it
///
/// Nothing in it is needed to resume or show a run: what is missing is made
/// again. Builds, answers and evaluations are kept below a size by themselves.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Remove what was not used for a while, compilers that are not used any more, leftovers
    #[arg(long)]
    prune: bool,
    /// How long; 0 removes everything but the compiler
    #[arg(long, value_name = "DAYS", default_value_t = 30, requires = "prune")]
    unused_for: u32,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct CacheReport {
    folder: PathBuf,
    bytes: u64,
    /// Null unless it was pruned.
    freed_bytes: Option<u64>,
    parts: Vec<PartReport>,
}

#[derive(Serialize)]
struct PartReport {
    name: &'static str,
    files: u64,
    bytes: u64,
    /// Null for what does not grow.
    most_bytes: Option<u64>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let workplace = Workplace::open(&arguments.workplace)?;
    let folder = &workplace.cache_folder;
    let total = |parts: &[PartReport]| parts.iter().map(|part| part.bytes).sum::<u64>();
    let mut parts = parts(&workplace);
    let mut freed_bytes = None;
    if arguments.prune {
        let before = total(&parts);
        prune(
            folder,
            &Pruning {
                unused_for: Duration::from_secs(u64::from(arguments.unused_for) * DAY),
                compilers: &autocomp_toolchain::pinned_folders(),
            },
        );
        parts = self::parts(&workplace);
        freed_bytes = Some(before.saturating_sub(total(&parts)));
    }
    let report = CacheReport {
        folder: folder.clone(),
        bytes: total(&parts),
        freed_bytes,
        parts,
    };
    output.result(&report, || report_text(&report))?;
    Ok(exit_code::SUCCESS)
}

fn parts(workplace: &Workplace) -> Vec<PartReport> {
    look(&workplace.cache_folder)
        .into_iter()
        .map(|part| PartReport {
            name: part.name,
            files: part.extent.files,
            bytes: part.extent.bytes,
            most_bytes: part.most_bytes,
        })
        .collect()
}

fn report_text(report: &CacheReport) -> String {
    let mut rows = vec![["", "files", "size", "at most"].map(str::to_owned).to_vec()];
    rows.extend(report.parts.iter().map(|part| {
        vec![
            part.name.to_owned(),
            text::grouped(part.files),
            mebibytes(part.bytes),
            part.most_bytes.map_or_else(String::new, mebibytes),
        ]
    }));
    rows.push(vec![
        "all".to_owned(),
        String::new(),
        mebibytes(report.bytes),
        String::new(),
    ]);
    let freed = report
        .freed_bytes
        .map_or_else(String::new, |bytes| format!("{} freed\n", mebibytes(bytes)));
    format!(
        "{}\n\n{}{freed}",
        report.folder.display(),
        text::table(&rows, &[1, 2, 3])
    )
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
