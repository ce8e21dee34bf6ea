//! Runs a calibration suite and compares its cycle counts with measured ones.
//!
//! A suite is a set of programs that measure cases three times each and leave
//! the counts in memory, with a table of the counts that real hardware gave.
//! Repetitions 1 and 2 are compared, in which caches are warm, and apart from them
//! repetition 0, in which code and data are mostly cold.

use crate::config::MachineConfig;
use autocomp_gemmini::{Checks, Gemmini, Severity};
use autocomp_riscv::{Limits, Memory, Mode};
use autocomp_riscv_machine::{Machine, Program, ProgramEnd, ProgramError, run_loaded};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// Most cases that a program of a suite can have.
const CASES: u64 = 128;
/// Repetitions of each case.
const REPETITIONS: u64 = 3;
/// Those with warm caches, and the one before.
const WARM: Range<usize> = 1..3;
const COLD: Range<usize> = 0..1;
/// Pairs that differ by less than this on hardware are not ordered.
const PAIR_DISTANCE: f64 = 0.03;
/// Most cycles that a case can take, on hardware as in the simulator.
const MOST_CYCLES: u64 = 1_000_000_000_000;
const LIMITS: Limits = Limits {
    instructions: 200_000_000,
    cycles: 1_000_000_000,
};

/// A suite: programs and the counts that hardware gave.
#[derive(Clone, Debug, Default)]
pub struct CalibrationSuite {
    /// File names and contents of the programs.
    pub programs: Vec<(String, Vec<u8>)>,
    /// Contents of the table of counts.
    pub counts: String,
}

/// What a calibration cannot do.
#[derive(Debug, thiserror::Error)]
pub enum CalibrationError {
    /// The table of counts cannot be read.
    #[error("counts, line {line}: {problem}")]
    Counts {
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// The table of counts lacks a repetition of a case that is compared.
    #[error("counts of {elf}, case {case}: repetition 1 or 2 is missing")]
    Repetitions {
        /// The program.
        elf: String,
        /// The case.
        case: String,
    },
    /// No program has a case that the table of counts has too.
    #[error(
        "nothing to compare: {programs} programs, {counts} cases in the table, and none in both"
    )]
    Nothing {
        /// Programs of the suite.
        programs: usize,
        /// Cases in the table.
        counts: usize,
    },
    /// A program cannot be loaded.
    #[error("{elf}: {source}")]
    Program {
        /// The program.
        elf: String,
        /// Why.
        source: ProgramError,
    },
    /// A program did not end as it should.
    #[error("{elf} did not run to its end: {problem}")]
    Stopped {
        /// The program.
        elf: String,
        /// How it ended.
        problem: String,
    },
    /// A program lacks a table that the suite's programs must have.
    #[error("{elf} has no readable `{symbol}`")]
    Symbol {
        /// The program.
        elf: String,
        /// The symbol.
        symbol: &'static str,
    },
    /// The machine cannot be built.
    #[error("accelerator: {0}")]
    Accelerator(String),
}

/// One case compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationRow {
    /// Program.
    pub elf: String,
    /// Case.
    pub case: String,
    /// Measured cycles, mean of the repetitions compared.
    pub rtl_cycles: u64,
    /// Simulated cycles, mean of the repetitions compared.
    pub sim_cycles: u64,
    /// Measured cycles until the last command had left the core.
    pub rtl_issue_cycles: u64,
    /// Simulated cycles until the last command had left the core.
    pub sim_issue_cycles: u64,
    /// Relative error: positive if the simulator is slower.
    pub error: f64,
    /// Whether the program found its own result right (`None`: not checked).
    pub checked: Option<bool>,
}

/// Cases of one kind compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationGroup {
    /// Number of cases.
    pub cases: usize,
    /// Median of the absolute relative errors.
    pub median_abs_error: f64,
    /// Largest absolute relative error.
    pub max_abs_error: f64,
    /// Share of the pairs of cases more than 3 % apart on hardware that the
    /// simulator orders the same way.
    pub pair_order: f64,
    /// The cases.
    pub rows: Vec<CalibrationRow>,
}

/// Outcome of a calibration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationReport {
    /// Whole kernels.
    pub kernels: CalibrationGroup,
    /// Small cases that isolate one mechanism each.
    pub micro: CalibrationGroup,
    /// The first repetition of those of which it was measured.
    pub cold: ColdRuns,
    /// Programs that did not run to their end on this machine, with how they ended.
    pub stopped: Vec<(String, String)>,
}

/// First repetitions, with cold code and data, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColdRuns {
    /// Whole kernels.
    pub kernels: CalibrationGroup,
    /// Small cases that isolate one mechanism each.
    pub micro: CalibrationGroup,
}

/// Counts of one case in one repetition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaseCounts {
    /// Cycles until the last command had left the core.
    pub issue: u64,
    /// Cycles until the accelerator was idle.
    pub total: u64,
}

/// What a program of a suite measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseResult {
    /// Name of the case.
    pub name: String,
    /// Counts by repetition.
    pub counts: [CaseCounts; REPETITIONS as usize],
    /// Whether the program found its own result right (`None`: not checked).
    pub checked: Option<bool>,
}

/// Runs every program of a suite and compares.
///
/// Programs without measured counts are left out, counts without a program too, and programs
/// that were made for another machine and stop on this one.
///
/// # Errors
/// If the table cannot be read, no program runs to its end, or no case is in both.
pub fn calibrate(
    suite: &CalibrationSuite,
    machine: &MachineConfig,
) -> Result<CalibrationReport, CalibrationError> {
    let measured = parse_counts(&suite.counts)?;
    // Kernels and small cases, and the same cold.
    let mut rows: [Vec<CalibrationRow>; 4] = Default::default();
    let mut stopped = Vec::new();
    for (elf, bytes) in &suite.programs {
        if !measured.keys().any(|(of, _)| of == elf) {
            continue;
        }
        let cases = match run_cases(elf, bytes, machine) {
            Ok(cases) => cases,
            Err(CalibrationError::Stopped { elf, problem }) => {
                stopped.push((elf, problem));
                continue;
            }
            Err(error) => return Err(error),
        };
        for case in cases {
            let Some(counts) = measured.get(&(elf.clone(), case.name.clone())) else {
                continue;
            };
            let kind = usize::from(!elf.starts_with("kern"));
            rows[kind].push(compare(elf, &case, counts, WARM));
            if counts[0].total > 0 {
                rows[2 + kind].push(compare(elf, &case, counts, COLD));
            }
        }
    }
    let [kernels, micro, cold_kernels, cold_micro] = rows;
    if kernels.is_empty() && micro.is_empty() {
        if let Some((elf, problem)) = stopped.into_iter().next() {
            return Err(CalibrationError::Stopped { elf, problem });
        }
        return Err(CalibrationError::Nothing {
            programs: suite.programs.len(),
            counts: measured.len(),
        });
    }
    Ok(CalibrationReport {
        kernels: group(kernels),
        micro: group(micro),
        cold: ColdRuns {
            kernels: group(cold_kernels),
            micro: group(cold_micro),
        },
        stopped,
    })
}

/// Compares some repetitions of a case.
fn compare(
    elf: &str,
    case: &CaseResult,
    measured: &[CaseCounts],
    repetitions: Range<usize>,
) -> CalibrationRow {
    let mean = |counts: &[CaseCounts], cycles: fn(&CaseCounts) -> u64| {
        let counts = &counts[repetitions.clone()];
        let sum: u64 = counts.iter().map(cycles).sum();
        sum.div_ceil(counts.len() as u64)
    };
    let rtl_cycles = mean(measured, |counts| counts.total);
    let sim_cycles = mean(&case.counts, |counts| counts.total);
    CalibrationRow {
        elf: elf.to_owned(),
        case: case.name.clone(),
        rtl_cycles,
        sim_cycles,
        rtl_issue_cycles: mean(measured, |counts| counts.issue),
        sim_issue_cycles: mean(&case.counts, |counts| counts.issue),
        error: sim_cycles as f64 / rtl_cycles.max(1) as f64 - 1.0,
        checked: case.checked,
    }
}

/// Runs one program of a suite and returns what it measured.
///
/// # Errors
/// If it does not run to its end or lacks its tables.
pub fn run_cases(
    elf: &str,
    bytes: &[u8],
    machine: &MachineConfig,
) -> Result<Vec<CaseResult>, CalibrationError> {
    let program = Program::parse(bytes).map_err(|source| CalibrationError::Program {
        elf: elf.to_owned(),
        source,
    })?;
    let mut accelerator = Gemmini::new(machine.accelerator.clone(), Some(&machine.timing))
        .map_err(|error| CalibrationError::Accelerator(error.to_string()))?;
    // The small cases measure commands on rows that nothing has written.
    accelerator.functional_mut().set_checks(Checks {
        uninitialized: Severity::Off,
        races: Severity::Off,
        hazards: Severity::Off,
    });
    let mut simulated = Machine::with_memory(&machine.core, accelerator, Mode::Timed, 64 << 20);
    let report = run_loaded(&program, &mut simulated, LIMITS).map_err(|source| {
        CalibrationError::Program {
            elf: elf.to_owned(),
            source,
        }
    })?;
    match report.end {
        ProgramEnd::Exited(0) => {}
        ProgramEnd::Exited(code) => return Err(stopped(elf, format!("exit code {code}"))),
        ProgramEnd::Fault(fault) => {
            let place = program.place(fault.pc);
            return Err(stopped(elf, format!("{} ({place})", fault.message)));
        }
        ProgramEnd::Limit(spin) => {
            let problem = format!(
                "no end after {} instructions or {} cycles ({})",
                LIMITS.instructions,
                LIMITS.cycles,
                program.place(spin.pc)
            );
            return Err(stopped(elf, problem));
        }
    }
    let symbol = |symbol: &'static str| {
        program.symbol(symbol).ok_or(CalibrationError::Symbol {
            elf: elf.to_owned(),
            symbol,
        })
    };
    let (count, names, results, status) = (
        symbol("cal_count")?,
        symbol("cal_names")?,
        symbol("cal_results")?,
        symbol("cal_status")?,
    );
    let memory = simulated.memory();
    let unreadable = |symbol: &'static str| CalibrationError::Symbol {
        elf: elf.to_owned(),
        symbol,
    };
    let count = word(memory, count)
        .filter(|count| *count <= CASES)
        .ok_or(unreadable("cal_count"))?;
    (0..count)
        .map(|case| {
            let name = word(memory, names.wrapping_add(case * 8))
                .and_then(|at| text(memory, at))
                .ok_or(unreadable("cal_names"))?;
            let mut counts = [CaseCounts::default(); REPETITIONS as usize];
            for (repetition, counts) in counts.iter_mut().enumerate() {
                let at = results.wrapping_add((case * REPETITIONS + repetition as u64) * 16);
                let read = |at| {
                    word(memory, at)
                        .filter(|cycles| *cycles <= MOST_CYCLES)
                        .ok_or(unreadable("cal_results"))
                };
                counts.issue = read(at)?;
                counts.total = read(at.wrapping_add(8))?;
            }
            let checked = match word(memory, status.wrapping_add(case * 8))
                .ok_or(unreadable("cal_status"))?
            {
                0 => None,
                status => Some(status == 1),
            };
            Ok(CaseResult {
                name,
                counts,
                checked,
            })
        })
        .collect()
}

fn stopped(elf: &str, problem: String) -> CalibrationError {
    CalibrationError::Stopped {
        elf: elf.to_owned(),
        problem,
    }
}

fn word(memory: &Memory, address: u64) -> Option<u64> {
    memory
        .host(address, 8)
        .map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
}

fn text(memory: &Memory, address: u64) -> Option<String> {
    let mut name = Vec::new();
    for at in 0..256 {
        match memory.host(address.wrapping_add(at), 1)?[0] {
            0 => return String::from_utf8(name).ok(),
            byte => name.push(byte),
        }
    }
    None
}

type Counts = BTreeMap<(String, String), [CaseCounts; REPETITIONS as usize]>;

/// Reads a table of counts: tab-separated, with a header that names at least
/// `elf`, `case`, `rep`, `issue_cycles` and `total_cycles`.
///
/// # Errors
/// If a column or a repetition is missing or there twice, a field is no number,
/// or a number is none that a run can have.
pub fn parse_counts(table: &str) -> Result<Counts, CalibrationError> {
    let error = |line: usize, problem: String| CalibrationError::Counts {
        line: line + 1,
        problem,
    };
    let mut lines = table.lines().enumerate();
    let header = lines.next().map_or("", |(_, line)| line);
    let column = |name: &str| {
        header
            .split('\t')
            .position(|field| field == name)
            .ok_or_else(|| error(0, format!("no column `{name}`")))
    };
    let (elf, case, rep) = (column("elf")?, column("case")?, column("rep")?);
    let (issue, total) = (column("issue_cycles")?, column("total_cycles")?);
    let mut counts = Counts::new();
    for (at, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |idx: usize| {
            fields
                .get(idx)
                .copied()
                .ok_or_else(|| error(at, format!("only {} fields", fields.len())))
        };
        let number = |idx: usize| {
            let field = field(idx)?;
            field
                .parse::<u64>()
                .map_err(|_| error(at, format!("`{field}` is no number")))
        };
        let repetition = number(rep)?;
        if repetition >= REPETITIONS {
            return Err(error(
                at,
                format!("repetition {repetition} of {REPETITIONS}"),
            ));
        }
        let entry = counts
            .entry((field(elf)?.to_owned(), field(case)?.to_owned()))
            .or_default();
        let measured = CaseCounts {
            issue: number(issue)?,
            total: number(total)?,
        };
        if !(1..=MOST_CYCLES).contains(&measured.total) || measured.issue > measured.total {
            return Err(error(
                at,
                format!(
                    "total_cycles {} and issue_cycles {}: totals of 1 to {MOST_CYCLES} cycles are possible, and issuing takes no longer than all",
                    measured.total, measured.issue
                ),
            ));
        }
        let slot = &mut entry[repetition as usize];
        if *slot != CaseCounts::default() {
            return Err(error(
                at,
                format!("repetition {repetition} of this case was there before"),
            ));
        }
        *slot = measured;
    }
    // The first one, with cold caches, may be missing.
    let is_partial = |counts: &[CaseCounts]| counts[1..].iter().any(|it| it.total == 0);
    if let Some(((elf, case), _)) = counts.iter().find(|(_, counts)| is_partial(&counts[..])) {
        return Err(CalibrationError::Repetitions {
            elf: elf.clone(),
            case: case.clone(),
        });
    }
    Ok(counts)
}

fn group(rows: Vec<CalibrationRow>) -> CalibrationGroup {
    let mut errors: Vec<f64> = rows.iter().map(|row| row.error.abs()).collect();
    errors.sort_by(f64::total_cmp);
    let median = match errors.len() {
        0 => 0.0,
        len if len % 2 == 1 => errors[len / 2],
        len => f64::midpoint(errors[len / 2 - 1], errors[len / 2]),
    };
    let (mut pairs, mut same) = (0u64, 0u64);
    for (idx, a) in rows.iter().enumerate() {
        for b in &rows[idx + 1..] {
            let (low, high) = if a.rtl_cycles < b.rtl_cycles {
                (a, b)
            } else {
                (b, a)
            };
            if high.rtl_cycles as f64 > low.rtl_cycles as f64 * (1.0 + PAIR_DISTANCE) {
                pairs += 1;
                same += u64::from(high.sim_cycles > low.sim_cycles);
            }
        }
    }
    CalibrationGroup {
        cases: rows.len(),
        median_abs_error: median,
        max_abs_error: errors.last().copied().unwrap_or(0.0),
        pair_order: if pairs == 0 {
            1.0
        } else {
            same as f64 / pairs as f64
        },
        rows,
    }
}
