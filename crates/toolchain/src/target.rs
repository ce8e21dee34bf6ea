//! What programs are built for, and the flags that follow from it.

use crate::toolchain::{Family, Toolchain};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// A processor that programs are built for, and what is around them there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileTarget {
    /// As Clang names it (`riscv64-unknown-elf`).
    triple: String,
    /// Flags that choose instructions and calls (`-march=rv64gc`, `-mabi=lp64d`).
    machine: Vec<String>,
    /// Further flags of every source.
    sources: &'static [&'static str],
    /// Flags of the linkers of Clang.
    link: &'static [&'static str],
    /// Whether products and sums are fused.
    is_fused: bool,
    /// Flags of every source behind all others.
    last: Vec<String>,
}

/// Flags of every source of every target: free-standing C without hidden calls, code that
/// depends on nothing but the source. Nothing else on the machine is included, and dates are
/// not either. Line tables do not change the code and give diagnostics their source lines.
const COMMON: &[&str] = &[
    "-std=gnu11",
    "-ffreestanding",
    "-fno-common",
    "-fno-pic",
    "-fno-stack-protector",
    "-fomit-frame-pointer",
    "-fno-asynchronous-unwind-tables",
    "-fno-unwind-tables",
    "-nostdinc",
    "-Werror=date-time",
];

/// Clang: a bounded number of errors, one line each.
const CLANG: &[&str] = &[
    "-gline-tables-only",
    "-gdwarf-4",
    "-ffile-compilation-dir=.",
    "-ferror-limit=20",
    "-fno-caret-diagnostics",
    "-fno-color-diagnostics",
    "-Wno-unused-command-line-argument",
];

/// GCC: the same; loops stay loops instead of becoming library calls, as in
/// the harnesses that published numbers come from.
const GCC: &[&str] = &[
    "-g1",
    "-gdwarf-4",
    "-fno-tree-loop-distribute-patterns",
    "-fmax-errors=20",
    "-fno-diagnostics-show-caret",
    "-fdiagnostics-color=never",
];

/// Bare metal: the code of a plain `-O2` program; `-ffp-contract=off` keeps references
/// bit-stable.
const BARE_METAL: &[&str] = &[
    "-O2",
    "-ffp-contract=off",
    // Arrays of rows are passed for arrays of elements, as published kernels do: a
    // warning for the compilers that these were written for.
    "-Wno-error=incompatible-pointer-types",
];

impl CompileTarget {
    /// Bare metal on a RISC-V core of 64 bits with the instructions that `march` names
    /// (`rv64gc`).
    #[must_use]
    pub fn rv64(march: &str) -> Self {
        let machine = [&format!("-march={march}"), "-mabi=lp64d", "-mcmodel=medany"];
        Self {
            triple: "riscv64-unknown-elf".into(),
            machine: machine.map(str::to_owned).to_vec(),
            sources: BARE_METAL,
            link: &[
                "-m",
                "elf64lriscv",
                "-static",
                "--threads=1",
                "--build-id=none",
                // Objects name no libraries.
                "--no-dependent-libraries",
            ],
            is_fused: false,
            last: Vec::new(),
        }
    }

    /// The same with products and sums fused, also of several statements, but where a pragma of the
    /// source says otherwise, which GCC does not read.
    #[must_use]
    pub fn fused(mut self) -> Self {
        self.is_fused = true;
        self
    }

    /// The same with a flag more, which counts where an earlier one says otherwise.
    #[must_use]
    pub fn with_flag(mut self, flag: &str) -> Self {
        self.last.push(flag.to_owned());
        self
    }

    /// A process of Linux on `architecture` (`x86_64`) without a C library, with `machine`
    /// flags. Sources and programs have further flags of their own.
    #[must_use]
    pub fn linux(architecture: &str, machine: &[String]) -> Self {
        Self {
            triple: format!("{architecture}-unknown-linux-gnu"),
            machine: machine.to_vec(),
            sources: &["-fno-math-errno"],
            link: &["--threads=1", "--build-id=none"],
            is_fused: false,
            last: Vec::new(),
        }
    }

    /// Returns whether a compiler of this family makes programs for it.
    pub(crate) fn is_of(&self, family: Family) -> bool {
        // GCCs are cross compilers for RISC-V.
        family != Family::Gcc || self.triple.starts_with("riscv64")
    }

    /// Returns the flags that every source file is compiled with, the same on
    /// every machine: they are part of cache keys.
    pub(crate) fn flags(&self, family: Family) -> Vec<String> {
        let own = match family {
            Family::Zig | Family::Clang => CLANG,
            Family::Gcc => GCC,
        };
        let triple = format!("--target={}", self.triple);
        let first = (family != Family::Gcc).then_some(triple);
        let fused: &[&str] = match (self.is_fused, family) {
            (false, _) => &[],
            // Where `fast` is asked for, pragmas change nothing.
            (true, Family::Zig | Family::Clang) => &["-ffp-contract=fast-honor-pragmas"],
            (true, Family::Gcc) => &["-ffp-contract=fast"],
        };
        let fixed = [COMMON, self.sources, own, fused].concat();
        first
            .into_iter()
            .chain(self.machine.iter().cloned())
            .chain(fixed.into_iter().map(str::to_owned))
            .chain(self.last.iter().cloned())
            .collect()
    }

    /// Returns the arguments that make `result` of `source` (`action` is `-c`, `-E` or `-S`),
    /// which may include what is in `folder`.
    pub(crate) fn source_args(
        &self,
        toolchain: &Toolchain,
        (action, source, result): (&str, &Path, &Path),
        folder: &Path,
        extra: &[String],
    ) -> Vec<OsString> {
        let mut args = toolchain.compile.args(self.flags(toolchain.family));
        args.extend([
            "-isystem".into(),
            toolchain.headers.clone().into_os_string(),
        ]);
        args.extend(["-I".into(), folder.as_os_str().to_owned()]);
        args.extend(extra.iter().map(OsString::from));
        args.extend([action.into(), source.into(), "-o".into(), result.into()]);
        args
    }

    /// Returns the arguments that link `program` with what `inputs` say.
    pub(crate) fn link_args<'i>(
        &self,
        toolchain: &Toolchain,
        inputs: impl IntoIterator<Item = &'i OsStr>,
        program: &str,
    ) -> Vec<OsString> {
        let mut args = match toolchain.family {
            Family::Zig | Family::Clang => toolchain.link.args(self.link),
            Family::Gcc => {
                let mut args = toolchain.link.args(&self.machine[..2]);
                let own = [
                    "-nostdlib",
                    "-nostartfiles",
                    "-static",
                    "-Wl,--build-id=none",
                    "-Wl,--no-warn-rwx-segments",
                    // Kernels are called without start code that sets `gp`.
                    "-Wl,--no-relax",
                ];
                args.extend(own.map(OsString::from));
                args
            }
        };
        args.extend(inputs.into_iter().map(OsStr::to_owned));
        args.extend(["-o", program].map(OsString::from));
        args
    }
}
