//! What a worker may do, and what it is told before it starts.

use super::WorkerSettings;
use crate::library;
use crate::shared_memory::{SETUP_BYTES, SharedMemory};
use autocomp_sandbox::{Limits, ProcessRule, SandboxPolicy};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;
use std::path::Path;

/// First word of a setup; the runtime has the same.
const MAGIC: u64 = 0x616d_6f74_756f_6361;
/// Flag of a setup: the kernel uses the state of matrix tiles.
const TILE_STATE: u64 = 1;
/// Address space of a worker beyond its buffers, bytes: program, stack, static data.
pub(super) const OWN_BYTES: u64 = 1 << 30;

pub(super) fn policy(
    (program, is_library): (&Path, bool),
    memory: &SharedMemory,
    settings: WorkerSettings,
) -> SandboxPolicy {
    let buffers: usize = memory
        .places()
        .iter()
        .flatten()
        .map(|p| p.region_bytes)
        .sum();
    let mut executable = vec![program.to_owned()];
    let mut environment = Vec::new();
    if is_library {
        executable.extend(library::folders());
        let one_thread = ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"];
        environment.extend(one_thread.map(|name| (name.into(), "1".into())));
    }
    SandboxPolicy {
        working_folder: "/".into(),
        readable: Vec::new(),
        executable,
        writable: Vec::new(),
        environment,
        limits: Limits {
            wall: settings.command_time,
            // Of all commands together; the parent watches the single ones.
            cpu_seconds: 600,
            address_space_bytes: OWN_BYTES + SETUP_BYTES as u64 + buffers as u64,
            file_bytes: 0,
            output_bytes: 0,
            open_files: 64,
            processes: ProcessRule::Single,
        },
    }
}

/// Returns the filter that a worker confines itself with before it runs the
/// kernel: it may wait for commands, answer, and end.
pub(super) fn filter(
    commands: i32,
    answers: i32,
    is_library: bool,
) -> Result<BpfProgram, seccompiler::Error> {
    let on = |descriptor: i32| -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
        let is = SeccompCondition::new(
            0,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Eq,
            descriptor as u64,
        )?;
        Ok(vec![SeccompRule::new(vec![is])?])
    };
    let mut rules = BTreeMap::from([
        (libc::SYS_read, on(commands)?),
        (libc::SYS_write, on(answers)?),
        (libc::SYS_exit_group, Vec::new()),
    ]);
    if is_library {
        // Libraries get memory for themselves; files and network stay out of reach.
        let memory = [
            libc::SYS_mmap,
            libc::SYS_munmap,
            libc::SYS_mprotect,
            libc::SYS_madvise,
            libc::SYS_brk,
            libc::SYS_futex,
            libc::SYS_sched_yield,
            libc::SYS_get_mempolicy,
            libc::SYS_mbind,
        ];
        rules.extend(memory.map(|call| (call, Vec::new())));
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Trap, SeccompAction::Allow, arch)?;
    Ok(BpfProgram::try_from(filter)?)
}

/// Writes what a worker needs to know.
pub(super) fn write_setup(
    memory: &mut SharedMemory,
    filter: &BpfProgram,
    tile_state: bool,
) -> Result<(), &'static str> {
    let places = memory.places().to_vec();
    let n_places = places.iter().flatten().count();
    let page = memory.page();
    let words = 5 + 4 * n_places + filter.len();
    let bytes = (words * 8).next_multiple_of(page);
    if SETUP_BYTES < bytes {
        return Err("too many sets of buffers for one worker");
    }
    let mut setup: Vec<u64> = vec![
        MAGIC,
        bytes as u64,
        n_places as u64,
        filter.len() as u64,
        if tile_state { TILE_STATE } else { 0 },
    ];
    for place in places.iter().flatten() {
        setup.extend([
            place.address,
            place.region as u64,
            place.region_bytes as u64,
            u64::from(place.writable),
        ]);
    }
    let mut text: Vec<u8> = setup.iter().flat_map(|word| word.to_ne_bytes()).collect();
    for instruction in filter {
        text.extend(instruction.code.to_ne_bytes());
        text.extend([instruction.jt, instruction.jf]);
        text.extend(instruction.k.to_ne_bytes());
    }
    memory.setup_mut()[..text.len()].copy_from_slice(&text);
    Ok(())
}
