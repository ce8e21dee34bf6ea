//! Running a compiler or linker in a sandbox.

use crate::Toolchain;
use autocomp_eval::EvalError;
use autocomp_sandbox::{Limits, ProcessRule, SandboxPolicy, SandboxReport};
use std::ffi::{OsStr, OsString};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Wall time of one tool in processor times, room for busy machines.
const WALL_PER_PROCESSOR_TIME: u64 = 4;
/// Largest file that a tool may write, bytes.
const FILE_BYTES: u64 = 64 << 20;
/// Address space of a tool, bytes.
const ADDRESS_SPACE_BYTES: u64 = 4 << 30;
/// Output kept of a tool, bytes.
const OUTPUT_BYTES: usize = 64 << 10;

/// Returns what a tool may see when it works in `folder` for a source that
/// may include what is in `readable`, with `cpu_seconds` of processor time.
pub(super) fn policy(
    toolchain: &Toolchain,
    folder: &Path,
    readable: &[&Path],
    cpu_seconds: u64,
) -> SandboxPolicy {
    let mut readable: Vec<PathBuf> = readable.iter().map(|path| (*path).to_owned()).collect();
    readable.push(toolchain.headers.clone());
    SandboxPolicy {
        working_folder: folder.to_owned(),
        readable,
        executable: toolchain.executable.clone(),
        writable: vec![folder.to_owned()],
        environment: [
            ("LC_ALL", "C".into()),
            ("TMPDIR", folder.as_os_str().to_owned()),
        ]
        .into_iter()
        .chain([("PATH", OsString::from("/usr/bin:/bin"))])
        .map(|(name, value)| (name.into(), value))
        .collect(),
        limits: Limits {
            wall: Duration::from_secs(cpu_seconds * WALL_PER_PROCESSOR_TIME),
            cpu_seconds,
            address_space_bytes: ADDRESS_SPACE_BYTES,
            file_bytes: FILE_BYTES,
            output_bytes: OUTPUT_BYTES,
            open_files: 256,
            // The drivers start the compiler proper, assembler and linker; zig
            // starts itself for assembly.
            processes: ProcessRule::Children,
        },
    }
}

/// Runs a tool; its failure is in the report.
pub(super) fn run(
    policy: &SandboxPolicy,
    program: &Path,
    args: &[OsString],
) -> Result<SandboxReport, EvalError> {
    run_while(policy, program, args, None)
}

/// Runs a tool as long as its result is wanted, see [`autocomp_sandbox::run_while`].
pub(super) fn run_while(
    policy: &SandboxPolicy,
    program: &Path,
    args: &[OsString],
    wanted: Option<BorrowedFd<'_>>,
) -> Result<SandboxReport, EvalError> {
    autocomp_sandbox::run_while(policy, program, args, b"", wanted).map_err(|error| {
        let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
        EvalError::Environment {
            message: format!("{error}{}", source.unwrap_or_default()),
            remedies: vec!["run `autocomp doctor` to see what this machine allows".into()],
        }
    })
}

/// A program that needs what kernels need: integer types, an accelerator
/// command, floating point.
const TRIAL: &str = "#include <stdint.h>\n#include <stddef.h>\n#include <stdbool.h>\n\
    float scale;\n\
    void _start(void) {\n\
      register uint64_t x __asm__(\"x11\") = (uint64_t)&scale;\n\
      __asm__ volatile(\".insn r CUSTOM_3, 0x3, 7, x0, %0, %0\" : : \"r\"(x) : \"memory\");\n\
      scale = scale * 2.0f + 1.0f;\n\
      for (;;) {}\n\
    }\n";

/// Compiles and links a small program.
///
/// # Errors
/// Why the toolchain is unusable, one line.
pub(crate) fn try_toolchain(toolchain: &Toolchain) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no folder to try it in: {error}"))?;
    let path = folder.path();
    let write = |name: &str, text: &str| {
        std::fs::write(path.join(name), text)
            .map_err(|error| format!("cannot write {name}: {error}"))
    };
    write("trial.c", TRIAL)?;
    write(
        "trial.ld",
        "ENTRY(_start)\nSECTIONS { . = 0x80000000; .text : { *(.text*) } .bss : { *(.bss* .sbss*) } }\n",
    )?;
    let policy = policy(toolchain, path, &[], 10);
    let compile = toolchain.compile_args("trial.c", "trial.o", path, &[]);
    let link = toolchain.link_args(
        &[OsStr::new("trial.o")],
        &path.join("trial.ld"),
        "trial.elf",
    );
    for (program, args) in [
        (&toolchain.compile.program, compile),
        (&toolchain.link.program, link),
    ] {
        let report = run(&policy, program, &args).map_err(|error| error.to_string())?;
        if !report.succeeded() {
            let text = report.stderr.text();
            let line = text
                .lines()
                .find(|line| line.contains("error"))
                .or(text.lines().next())
                .unwrap_or("");
            return Err(format!(
                "cannot build a trial program ({:?}): {line}",
                report.exit
            ));
        }
    }
    Ok(())
}
