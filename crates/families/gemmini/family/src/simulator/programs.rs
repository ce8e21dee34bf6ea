//! One bare-metal program on the simulated machine.

use crate::family::machine_config;
use autocomp_core::{Cost, Unit};
use autocomp_eval::simulator::{ProgramRequest, ProgramRun, ProgramSimulator, ProgramWarning};
use autocomp_eval::{EvalError, text};
use autocomp_gemmini::{Checks, Gemmini, Severity, Warning};
use autocomp_riscv::{Limits, Mode};
use autocomp_riscv_machine::{
    Machine, Program, ProgramEnd, ProgramError, ProgramReport, run_loaded,
};
use std::path::Path;

/// Runs programs on a core with a Gemmini accelerator.
#[derive(Debug)]
pub(crate) struct Programs;

impl ProgramSimulator for Programs {
    fn default_target(&self) -> &'static str {
        super::TARGET
    }

    fn run(&self, request: ProgramRequest<'_>) -> Result<ProgramRun, EvalError> {
        let config = machine_config(request.target, request.machine)?;
        let mode = if request.timed {
            Mode::Timed
        } else {
            Mode::Functional
        };
        let limits = Limits {
            instructions: request.max_instructions,
            cycles: u64::MAX,
        };
        let timing = (mode == Mode::Timed).then_some(&config.timing);
        let mut accelerator =
            Gemmini::new(config.accelerator.clone(), timing).map_err(|message| {
                EvalError::Input {
                    message: message.to_string(),
                    remedies: Vec::new(),
                }
            })?;
        accelerator
            .functional_mut()
            .set_checks(program_checks(request.strict));
        let unusable = |error: ProgramError| elf_error(&error, request.path);
        let program = Program::parse(request.program).map_err(unusable)?;
        if program.symbol("tohost").is_none() {
            (request.tell)(&format!(
                "note: the program has no symbol `tohost`, so it can print and exit through `mscratch` only: \
                 link it without stripping; if it does not exit, it is stopped after {} instructions \
                 (--max-instructions)",
                text::grouped(request.max_instructions),
            ));
        }
        let mut machine = Machine::new(&config.core, accelerator, mode);
        let report = run_loaded(&program, &mut machine, limits).map_err(unusable)?;
        Ok(ProgramRun {
            exit_code: report.exit_code(),
            instructions: report.instructions,
            cost: Cost {
                value: report.cycles,
                unit: Unit::Cycles,
                spread_ppm: 0,
            },
            stopped: stopped(&report, &program, request.max_instructions),
            warnings: warnings(machine.accelerator().functional().warnings(), &program),
            stdout: report.stdout,
        })
    }
}

fn elf_error(error: &ProgramError, path: &Path) -> EvalError {
    let hint = match error {
        ProgramError::NoSegments => {
            "link it with a script that puts its sections into memory at 0x80000000; `readelf -l` lists the segments"
        }
        ProgramError::Entry { .. } => {
            "link it with `-e SYMBOL`, which names its first instruction, or with `ENTRY(SYMBOL)` in the linker script"
        }
        _ => "a statically linked bare-metal RV64 program is needed, loaded at 0x80000000",
    };
    EvalError::Input {
        message: format!("{}: {error}", path.display()),
        remedies: vec![hint.to_owned()],
    }
}

/// Returns how severe the checks are for a program that may have been written
/// for hardware, which has none of them.
fn program_checks(strict: bool) -> Checks {
    let severity = if strict {
        Severity::Fault
    } else {
        Severity::Warn
    };
    Checks {
        uninitialized: severity,
        races: severity,
        hazards: severity,
    }
}

fn warnings(found: &[Warning], program: &Program) -> Vec<ProgramWarning> {
    found
        .iter()
        .map(|warning| ProgramWarning {
            rule: warning.rule,
            message: warning.message.clone(),
            place: program.place(warning.pc),
            other_place: warning.other_pc.map(|pc| program.place(pc)),
            count: warning.count,
        })
        .collect()
}

/// Says why the program was stopped, with the source line if the file has one.
fn stopped(report: &ProgramReport, program: &Program, max_instructions: u64) -> Option<String> {
    let place = |pc| program.place(pc);
    match &report.end {
        ProgramEnd::Exited(_) => None,
        ProgramEnd::Fault(fault) => {
            let other = fault
                .other_pc
                .map_or_else(String::new, |pc| format!("; the other at {}", place(pc)));
            Some(format!("{} ({}{other})", fault.message, place(fault.pc)))
        }
        ProgramEnd::Limit(spin) => {
            let (first, last) = (place(spin.first), place(spin.last));
            let span = if first == last {
                String::new()
            } else {
                format!(", between {first} and {last}")
            };
            let at = program.line(spin.pc, |_| false).map_or_else(
                || place(spin.pc),
                |line| match line.function {
                    Some(ref function) => format!("{line} in {function}, pc {:#x}", spin.pc),
                    None => format!("{line}, pc {:#x}", spin.pc),
                },
            );
            Some(format!(
                "the limit of {} instructions (--max-instructions) was reached at {at}{span}",
                text::grouped(max_instructions),
            ))
        }
    }
}
