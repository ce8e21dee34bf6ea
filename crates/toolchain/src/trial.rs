//! Whether a compiler works here at all.

use crate::target::CompileTarget;
use crate::toolchain::Toolchain;
use crate::tools;
use autocomp_eval::EvalError;
use std::ffi::OsStr;
use std::path::Path;

impl Toolchain {
    /// Has it build a small program, unless that was done. Who builds with it asks for this
    /// when a build has failed, so that no source is blamed for a compiler that does not work
    /// here. To try every compiler before it is used would take longer than most commands do.
    ///
    /// # Errors
    /// [`EvalError::Environment`] with the reason and the remedies.
    pub fn confirm(&self) -> Result<(), EvalError> {
        self.tried().map_err(|reason| EvalError::Environment {
            message: format!(
                "the C compiler {} in {} does not work here: {reason}",
                self.name,
                self.compile.program.display()
            ),
            remedies: vec![
                "run `autocomp doctor` to see what this machine allows".into(),
                "or name another compiler with `--compiler PATH`; its costs differ".into(),
            ],
        })
    }

    /// Has it build a small program, unless that was done.
    ///
    /// # Errors
    /// Why it does not, one line.
    pub(crate) fn tried(&self) -> Result<(), String> {
        self.trial.get_or_init(|| try_toolchain(self)).clone()
    }
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
fn try_toolchain(toolchain: &Toolchain) -> Result<(), String> {
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
    let policy = tools::policy(toolchain, path, &[], 10);
    let target = CompileTarget::rv64("rv64gc");
    let made = ("-c", Path::new("trial.c"), Path::new("trial.o"));
    let compile = target.source_args(toolchain, made, path, &[]);
    let inputs = ["-T", "trial.ld", "trial.o"].map(OsStr::new);
    let link = target.link_args(toolchain, inputs, "trial.elf");
    for (program, args) in [
        (&toolchain.compile.program, compile),
        (&toolchain.link.program, link),
    ] {
        let report = tools::run(&policy, program, &args).map_err(|error| error.to_string())?;
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
