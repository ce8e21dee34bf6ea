//! Bare-metal programs that talk to a host: HTIF and the `mscratch` channel.

use crate::error::ProgramError;
use crate::machine::{Machine, Spin};
use crate::program::Program;
use autocomp_riscv::{Coprocessor, CoreConfig, Exit, Fault, Limits, Memory, Mode};

/// The most bytes of output that are kept.
const OUTPUT_LIMIT: usize = 16 << 20;

/// Instructions after which half a command is taken for a whole one.
const HALF_COMMAND_INSTRUCTIONS: u64 = 64;

const EBADF: u64 = 9;
const EFAULT: u64 = 14;
const ENOSYS: u64 = 38;

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramEnd {
    /// It exited with this code.
    Exited(u64),
    /// It did something illegal.
    Fault(Fault),
    /// A limit was reached.
    Limit(Spin),
}

/// What happened in one whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramReport {
    /// How it ended.
    pub end: ProgramEnd,
    /// What it printed, cut after 16 MiB.
    pub stdout: Vec<u8>,
    /// Instructions retired.
    pub instructions: u64,
    /// Cycles, until the program ended; in functional mode instructions.
    pub cycles: u64,
}

impl ProgramReport {
    /// Returns the exit code, if the program exited.
    #[must_use]
    pub fn exit_code(&self) -> Option<u64> {
        match self.end {
            ProgramEnd::Exited(code) => Some(code),
            ProgramEnd::Fault(_) | ProgramEnd::Limit(_) => None,
        }
    }
}

/// Runs a bare-metal program from its entry until it exits.
///
/// The program reaches its host through `tohost` and `fromhost`, if it has such
/// symbols, and through commands written to `mscratch`: operation in bits 63:56
/// (0xC0 print a character, 0xC1 exit with a code), argument below.
///
/// # Errors
/// If the bytes are no RISC-V program that fits into memory.
///
/// *Source*: HTIF as riscv-tests use it; README of the calibration suite.
pub fn run_program<C: Coprocessor>(
    elf: &[u8],
    config: &CoreConfig,
    accelerator: C,
    mode: Mode,
    limits: Limits,
) -> Result<ProgramReport, ProgramError> {
    let program = Program::parse(elf)?;
    let mut machine = Machine::new(config, accelerator, mode);
    run_loaded(&program, &mut machine, limits)
}

/// Loads and runs a program on a machine that can be looked at afterwards.
///
/// # Errors
/// As [`run_program`].
pub fn run_loaded<C: Coprocessor>(
    program: &Program,
    machine: &mut Machine<C>,
    limits: Limits,
) -> Result<ProgramReport, ProgramError> {
    machine.load(program)?;
    let tohost = program.symbol("tohost");
    let fromhost = program.symbol("fromhost");
    machine.hart().reset_registers();
    machine.hart().set_return_address(None);
    machine.hart().stop_on_scratch(true);
    machine.hart().set_pc(program.entry);
    if let Some(tohost) = tohost {
        machine.memory().hook(tohost);
    }
    let mut stdout = Vec::new();
    let mut half = None;
    let end = loop {
        let (hart, memory, accelerator) = machine.parts();
        let patience = half.map_or(u64::MAX, |half: HalfCommand| half.until);
        let limits_now = Limits {
            instructions: limits.instructions.min(patience),
            ..limits
        };
        match hart.run(memory, accelerator, limits_now) {
            Exit::Fault(fault) => break ProgramEnd::Fault(fault),
            Exit::Limit if half.is_some() && hart.instructions() < limits.instructions => {
                half = None;
                if let Some(code) =
                    tohost.and_then(|tohost| serve(memory, tohost, fromhost, &mut stdout))
                {
                    break ProgramEnd::Exited(code);
                }
            }
            Exit::Limit => {
                let mut report = report(machine, ProgramEnd::Exited(0), stdout);
                report.end = ProgramEnd::Limit(machine.spin());
                return Ok(report);
            }
            Exit::Returned => {}
            Exit::Scratch(value) => match value >> 56 {
                0xc0 => print(&mut stdout, &[value as u8]),
                0xc1 => break ProgramEnd::Exited(value & 0xffff_ffff),
                _ => {}
            },
            Exit::Hook => {
                let Some(tohost) = tohost else { continue };
                half =
                    HalfCommand::after(half, &memory.hooked_store(), tohost, hart.instructions());
                if half.is_some() {
                    continue;
                }
                if let Some(code) = serve(memory, tohost, fromhost, &mut stdout) {
                    break ProgramEnd::Exited(code);
                }
            }
        }
    };
    Ok(report(machine, end, stdout))
}

/// A command of which one half has been stored: programs that store 32 bits
/// at a time do so in either order, and a host that looks in between would see
/// another command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HalfCommand {
    /// Address of the half.
    stored: u64,
    /// Total of instructions at which the other half is no longer waited for.
    until: u64,
}

impl HalfCommand {
    /// Returns what is waited for after a store of the bytes `stored`, given
    /// what was waited for before.
    fn after(
        before: Option<Self>,
        stored: &std::ops::Range<u64>,
        tohost: u64,
        instructions: u64,
    ) -> Option<Self> {
        let is_half =
            stored.end - stored.start == 4 && (tohost..tohost + 8).contains(&stored.start);
        if !is_half {
            // Beside `tohost`, or all of it.
            return before.filter(|_| !stored.contains(&tohost));
        }
        match before {
            None => Some(Self {
                stored: stored.start,
                until: instructions.saturating_add(HALF_COMMAND_INSTRUCTIONS),
            }),
            Some(half) if half.stored == stored.start => Some(half),
            Some(_) => None,
        }
    }
}

fn report<C: Coprocessor>(
    machine: &mut Machine<C>,
    end: ProgramEnd,
    stdout: Vec<u8>,
) -> ProgramReport {
    let hart = machine.hart();
    ProgramReport {
        end,
        stdout,
        instructions: hart.instructions(),
        cycles: hart.cycle(),
    }
}

fn print(stdout: &mut Vec<u8>, bytes: &[u8]) {
    let room = OUTPUT_LIMIT - stdout.len().min(OUTPUT_LIMIT);
    stdout.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

/// Obeys the command in `tohost`, if there is one; returns the exit code if it
/// was the last.
fn serve(
    memory: &mut Memory,
    tohost: u64,
    fromhost: Option<u64>,
    stdout: &mut Vec<u8>,
) -> Option<u64> {
    let command = read_word(memory, tohost)?;
    if command == 0 {
        return None;
    }
    let (device, operation) = (command >> 56, command >> 48 & 0xff);
    let payload = command & 0xffff_ffff_ffff;
    let mut answer = None;
    match (device, operation) {
        (0, 0) if payload & 1 == 1 => return Some(payload >> 1),
        (0, 0) => {
            if let Err(code) = system_call(memory, payload, stdout) {
                return Some(code);
            }
            answer = Some(1);
        }
        (1, 1) => {
            print(stdout, &[payload as u8]);
            answer = Some(command & !0xffff_ffff_ffff);
        }
        // There is no input: the answer "no character".
        (1, 0) => answer = Some(command & !0xffff_ffff_ffff),
        _ => {}
    }
    write_word(memory, tohost, 0);
    if let (Some(fromhost), Some(answer)) = (fromhost, answer) {
        write_word(memory, fromhost, answer);
    }
    None
}

/// Performs the system call described at `address`; an error is the exit code
/// of a program that asked to end.
fn system_call(memory: &mut Memory, address: u64, stdout: &mut Vec<u8>) -> Result<(), u64> {
    let argument = |memory: &Memory, index: u64| {
        read_word(memory, address.wrapping_add(8 * index)).unwrap_or(0)
    };
    let number = argument(memory, 0);
    let (a0, a1, a2) = (
        argument(memory, 1),
        argument(memory, 2),
        argument(memory, 3),
    );
    let result = match number {
        93 | 94 => return Err(a0 & 0xffff_ffff),
        64 if a0 == 1 || a0 == 2 => {
            match usize::try_from(a2)
                .ok()
                .and_then(|len| memory.host(a1, len))
            {
                Some(bytes) => {
                    print(stdout, bytes);
                    a2
                }
                None => EFAULT.wrapping_neg(),
            }
        }
        // End of file: programs have no input.
        63 if a0 == 0 => 0,
        57 if a0 < 3 => 0,
        80 if a0 < 3 => match memory.host_mut(a1, 128) {
            Some(status) => {
                status.fill(0);
                // st_mode: a character device that may be read and written.
                status[16..20].copy_from_slice(&0o20666u32.to_le_bytes());
                0
            }
            None => EFAULT.wrapping_neg(),
        },
        57 | 63 | 64 | 80 => EBADF.wrapping_neg(),
        _ => ENOSYS.wrapping_neg(),
    };
    write_word(memory, address, result);
    Ok(())
}

fn read_word(memory: &Memory, address: u64) -> Option<u64> {
    memory
        .host(address, 8)?
        .try_into()
        .ok()
        .map(u64::from_le_bytes)
}

fn write_word(memory: &mut Memory, address: u64, value: u64) {
    if let Some(bytes) = memory.host_mut(address, 8) {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
}
