//! From the text of a kernel to PTX, and to the program that writes down what its host part
//! asks for.

mod host;

use crate::dialect::{
    BOTH, DEVICE, Dialect, HEADER, compiler, device_compiler, folder_in, unusable, write,
};
use crate::requests::Recording;
use crate::texts::TEXTS;
use autocomp_catalog::Problem;
use autocomp_core::{ContentHasher, Diagnostic, Stage};
use autocomp_cuda_sim::decode::{RANGE, buffer_address};
use autocomp_cuda_sim::timing::Machine;
use autocomp_eval::EvalError;
use autocomp_sandbox::{Limits, ProcessRule, SandboxPolicy, SandboxReport};
use autocomp_toolchain::{CompileTarget, Compiler, Toolchain};
pub(crate) use host::{CALLED_AGAIN, plain_name};
use host::{Symbols, Wanted, given_back, host_failure, keeps_state, symbols_of, wanted};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What defines the functions that the host part calls.
const RECORDER: &str = include_str!("../runtime/recorder.c");
/// Name of kernels in diagnostics.
pub(crate) const KERNEL_FILE: &str = "kernel.cu";
/// Name of the text that calls the host part.
const CALL_FILE: &str = "call-of-the-host-function";

/// Processor time of the host part, seconds.
const HOST_SECONDS: u64 = 5;
/// How much more time may pass, since others have the processor, too.
const WALL_PER_PROCESSOR_TIME: u64 = 20;
/// A compiled kernel: the code for the device, and what its host part asks for.
pub(crate) struct Compiled {
    pub(crate) ptx: String,
    pub(crate) recording: Recording,
}

/// Compiles kernels for one problem and one architecture.
#[derive(Debug)]
pub(crate) struct KernelCompiler {
    device: Compiler,
    host: Compiler,
    /// For the recorder, which is C.
    plain: Compiler,
    /// Folder with the headers.
    runtime: Dialect,
    is_recorder_made: Mutex<bool>,
    /// Definitions of the problem, as flags.
    macros: Vec<String>,
    /// What the host part may ask the machine, as flags.
    answers: Vec<String>,
    /// Where the memory lies that the host part asks for.
    memory: u64,
    /// The call of the host part.
    call: String,
}

impl KernelCompiler {
    /// Prepares to compile for a machine.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the compiler cannot do that.
    pub(crate) fn new(
        problem: &Problem,
        toolchain: Toolchain,
        machine: &Machine,
        cache_folder: &Path,
    ) -> Result<Self, EvalError> {
        let runtime = Dialect::new(cache_folder)?;
        let memory = buffer_address(problem.buffers.len() as u32);
        let recorder = RECORDER
            .replace("AUTOCOMP_SCRATCH", &format!("{memory:#x}"))
            .replace("AUTOCOMP_RANGE", &format!("{RANGE:#x}"));
        write(&runtime.path().join("recorder.c"), &recorder)?;
        let address = |it: usize| format!("autocomp_pointer{{{:#x}}}", buffer_address(it as u32));
        let call = format!(
            "struct autocomp_pointer {{ unsigned long autocomp_address; template <class autocomp_type> operator autocomp_type*() const {{ return (autocomp_type*)autocomp_address; }} }};\n#include \"{KERNEL_FILE}\"\n#line 1 \"{CALL_FILE}\"\nextern \"C\" void autocomp_call() {{ {} }}\n",
            problem.call_statements(address)
        );
        let macros = problem.macros.iter();
        let capability = machine.architecture.trim_start_matches("sm_");
        let answers = [
            ("CAPABILITY", capability.to_owned()),
            ("SMS", machine.sms.to_string()),
            ("WARPS", machine.warps.to_string()),
            ("BLOCKS", machine.blocks.to_string()),
            ("SHARED", machine.shared_bytes.to_string()),
            ("BLOCK_SHARED", machine.block_shared_bytes.to_string()),
        ];
        let architecture_here = std::env::consts::ARCH;
        let host = ["-x", "cuda", "--cuda-host-only"].map(str::to_owned);
        Ok(Self {
            device: device_compiler(&toolchain, &machine.architecture)?,
            host: compiler(&toolchain, CompileTarget::linux(architecture_here, &host))?,
            plain: compiler(&toolchain, CompileTarget::linux(architecture_here, &[]))?,
            runtime,
            is_recorder_made: Mutex::new(false),
            macros: macros
                .map(|(name, value)| format!("-D{name}={value}"))
                .collect(),
            answers: answers
                .map(|(name, value)| format!("-DAUTOCOMP_{name}={value}"))
                .to_vec(),
            memory,
            call,
        })
    }

    /// Returns everything that decides what a source becomes: compiler, flags, runtime.
    pub(crate) fn key(&self) -> String {
        let flags = [self.device.flags(), self.host.flags()].concat();
        let name = &self.device.toolchain().name;
        let own = [BOTH, DEVICE].concat().join(" ");
        format!("{name}\n{}\n{own}\n{HEADER}{RECORDER}", flags.join(" "))
    }

    pub(crate) fn name(&self) -> &str {
        &self.device.toolchain().name
    }

    /// Compiles one half of a kernel. What the compiler says of it is the error.
    fn half(
        &self,
        compiler: &Compiler,
        folder: &Path,
        made: (&str, &str, &str),
        flags: &[&str],
        source: &str,
    ) -> Result<Result<(), Vec<Diagnostic>>, EvalError> {
        let flags = flags.iter().map(|it| (*it).to_owned());
        let flags: Vec<String> = self.answers.iter().cloned().chain(flags).collect();
        let report = self
            .runtime
            .compile(compiler, folder, made, &flags, &self.macros)?;
        if report.succeeded() {
            return Ok(Ok(()));
        }
        self.blamed(compiler, &report, folder, source).map(Err)
    }

    fn blamed(
        &self,
        compiler: &Compiler,
        report: &SandboxReport,
        folder: &Path,
        source: &str,
    ) -> Result<Vec<Diagnostic>, EvalError> {
        // The file is included as `./kernel.cu`.
        let mut report = report.clone();
        let text = report.stderr.text().replace("./kernel.cu:", "kernel.cu:");
        // Headers of ours lie in a folder that is another one each time.
        report.stderr.bytes = self.runtime.with_short_names(&text).into_bytes();
        let scratch = self.runtime.scratch();
        let mut found = compiler.blamed(&report, (KERNEL_FILE, source), folder, scratch)?;
        for found in &mut found {
            if found.notes.iter().any(|note| note.contains(CALL_FILE)) {
                found.code = "entry-signature".into();
                found.message = format!(
                    "the host function cannot be called with a pointer for each buffer: {}",
                    found.message
                );
                found.remedy = TEXTS.remedy(&found.code);
                found.notes.clear();
            } else if let Some(instead) = TEXTS.instead_of_absent(&found.message) {
                found.code = "not-simulated".into();
                found.remedy = Some(instead.to_owned());
            }
        }
        Ok(found)
    }

    /// Compiles a kernel and lets its host part say what it wants.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow to build or run.
    pub(crate) fn compile(
        &self,
        source: &str,
    ) -> Result<Result<Compiled, Vec<Diagnostic>>, EvalError> {
        let folder = folder_in(self.runtime.scratch())?;
        let folder = folder.path();
        write(&folder.join(KERNEL_FILE), source)?;
        let made = ("-S", KERNEL_FILE, "kernel.ptx");
        if let Err(found) = self.half(&self.device, folder, made, DEVICE, source)? {
            return Ok(Err(found));
        }
        let ptx = fs::read(folder.join("kernel.ptx")).map_err(|error| unusable(folder, &error))?;
        write(&folder.join("call.cu"), &self.call)?;
        let made = ("-c", "call.cu", "call.o");
        if let Err(found) =
            self.half(&self.host, folder, made, &["-O1", "-femulated-tls"], source)?
        {
            return Ok(Err(found));
        }
        let report = self.link(folder)?;
        if !report.succeeded() {
            return self.blamed(&self.plain, &report, folder, source).map(Err);
        }
        let recording = self.record(folder, source)?;
        Ok(recording
            .map(|recording| Compiled {
                ptx: String::from_utf8_lossy(&ptx).into_owned(),
                recording,
            })
            .map_err(|found| vec![*found]))
    }

    /// Links the host part with what records, which is ours and compiled once.
    fn link(&self, folder: &Path) -> Result<SandboxReport, EvalError> {
        let runtime = self.runtime.path();
        let recorder = runtime.join("recorder.o");
        let mut is_made = self
            .is_recorder_made
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !*is_made {
            let source = runtime.join("recorder.c");
            let flags = ["-O1", "-fno-builtin"].map(str::to_owned);
            let text = fs::read(&source).map_err(|error| unusable(&source, &error))?;
            let mut hasher = ContentHasher::new("autocomp recorder of launches");
            hasher.update(format!("{} {:?}", self.name(), self.plain.flags()).as_bytes());
            hasher.update(flags.join(" ").as_bytes());
            hasher.update(&text);
            let store = self.runtime.compiled();
            store.restore(&hasher.finish(), &recorder, || {
                let policy = self.plain.policy(runtime, &[]);
                let made = ("-c", &*source, &*recorder);
                let report = self.plain.compile(&policy, made, runtime, &flags, None)?;
                if report.succeeded() {
                    return Ok(());
                }
                Err(EvalError::Fault(format!(
                    "{} does not compile the recorder of launches: {}",
                    self.name(),
                    report.stderr.text()
                )))
            })?;
            *is_made = true;
        }
        drop(is_made);
        let policy = self.plain.policy(folder, &[runtime]);
        let inputs = ["-static", "-z", "noexecstack", "call.o"].map(OsStr::new);
        let inputs = inputs.into_iter().chain([recorder.as_os_str()]);
        self.plain.link(&policy, inputs, "host")
    }

    /// Runs the host part, twice: it must want the same, in all calls that each run makes.
    fn record(
        &self,
        folder: &Path,
        source: &str,
    ) -> Result<Result<Recording, Box<Diagnostic>>, EvalError> {
        let program = folder.join("host");
        let Symbols { names, variables } = symbols_of(&program)?;
        let mut outputs = Vec::new();
        for _ in 0..2 {
            let policy = SandboxPolicy {
                working_folder: folder.to_owned(),
                readable: Vec::new(),
                executable: vec![program.clone()],
                writable: Vec::new(),
                environment: Vec::new(),
                limits: Limits {
                    wall: Duration::from_secs(HOST_SECONDS * WALL_PER_PROCESSOR_TIME),
                    cpu_seconds: HOST_SECONDS,
                    address_space_bytes: 1 << 30,
                    file_bytes: 0,
                    output_bytes: 8 << 20,
                    open_files: 16,
                    processes: ProcessRule::Single,
                },
            };
            let report =
                autocomp_sandbox::run::<&str>(&policy, &program, &[], b"").map_err(not_here)?;
            if !report.succeeded() {
                return Ok(Err(Box::new(host_failure(&report))));
            }
            outputs.push(report.stdout.text());
        }
        let [first, second] = &outputs[..] else {
            return Err(EvalError::Fault("the host part did not run twice".into()));
        };
        if first != second {
            let mut found = Diagnostic::error(
                Stage::Test,
                "host-part-varies",
                "the host part does not ask for the same each time",
            );
            found.remedy = TEXTS.remedy(&found.code);
            return Ok(Err(Box::new(found)));
        }
        let wanted = match wanted(first, &names, self.memory) {
            Err(message) => {
                return Ok(Err(Box::new(Diagnostic::error(
                    Stage::Test,
                    "host-part",
                    message,
                ))));
            }
            Ok(wanted) => wanted,
        };
        Ok(match wanted {
            Wanted::Always(recording) => Ok(Recording {
                variables,
                ..recording
            }),
            Wanted::Varying(changed) => {
                let name = changed.and_then(|it| names.range(..=it).next_back());
                Err(Box::new(keeps_state(source, name.map(|it| &**it.1))))
            }
            Wanted::GivenBack(bytes) => Err(Box::new(given_back(source, bytes))),
        })
    }
}

fn not_here(error: autocomp_sandbox::SandboxError) -> EvalError {
    EvalError::Environment {
        message: error.to_string(),
        remedies: vec!["run `autocomp doctor` to see what this machine allows".into()],
    }
}
