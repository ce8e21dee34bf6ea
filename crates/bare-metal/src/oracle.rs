//! Right answers: the problem's reference, run on the host if it is in Python or computes with
//! integers only, where the answers cannot differ, and on the simulated core otherwise.

use crate::image::{Image, ImageError};
use crate::layout::Layout;
use crate::platform::Platform;
use autocomp_catalog::{InputSet, Problem, ReferenceLanguage};
use autocomp_core::{ContentHash, ContentHasher, Seed};
use autocomp_eval::EvalError;
use autocomp_eval::FileStore;
use autocomp_eval::comparison::place;
use autocomp_eval::inputs::Case;
use autocomp_native::{Reference, parts};
use autocomp_riscv::Limits;
use autocomp_riscv_machine::Stop;
use autocomp_toolchain::build::{Build, Builder, Loops, Rules, Source};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Instructions that a reference may take, per multiply-accumulate step.
const INSTRUCTIONS_PER_MAC: u64 = 200;

/// Multiply-accumulate steps of all calls from which on compiling for the host, which takes
/// about a second, costs less than running on the simulated core.
const WORTH_COMPILING: u64 = 64_000_000;

/// File name of references in messages.
const REFERENCE: &str = "reference.c";

/// Runs references, and keeps their answers.
pub struct Oracle<'a, P> {
    pub problem: &'a Problem,
    pub builder: &'a Builder,
    pub platform: &'a P,
    pub header: Option<&'a str>,
    pub macros: &'a [(String, String)],
    /// What decides answers beside the problem, where Python gives them.
    pub reference_key: &'a str,
    pub store: &'a FileStore,
    /// Where what is compiled for the host lies.
    pub cache_folder: &'a Path,
    /// The reference on the host, once it was asked for: a process may wait in it.
    pub host: &'a OnceLock<Arc<Reference>>,
    /// Threads that may compute at once.
    pub threads: usize,
}

/// A reference that can be asked.
pub enum Asked {
    Host(Arc<Reference>),
    Simulated(Box<Image>),
}

impl<P: Platform> Oracle<'_, P> {
    /// Returns one case for each of `sets`, drawn with `seed`. If answers have to be
    /// computed and `is_first` is set, the reference is checked with one of them.
    pub fn cases(
        &self,
        sets: &[InputSet],
        seed: Seed,
        is_first: bool,
    ) -> Result<Vec<Case>, EvalError> {
        let mut cases: Vec<Case> = sets
            .iter()
            .map(|set| Case::draw(self.problem, set, seed))
            .collect();
        let mut missing = Vec::new();
        for (case, set) in cases.iter_mut().zip(sets) {
            match self.stored(&self.key(set, seed)) {
                Some(after) => case.after = after,
                None => missing.push((case, self.key(set, seed))),
            }
        }
        if missing.is_empty() {
            return Ok(cases);
        }
        let is_script = self.problem.reference_language == ReferenceLanguage::Python;
        if is_script || self.platform.answers_on_host() {
            let host = Asked::Host(self.host()?);
            self.answer(&mut missing, is_first, &host)?;
            self.keep(&missing);
            return Ok(cases);
        }
        // What goes wrong on the host goes wrong on the simulated core, too, which says where.
        let work = (missing.len() as u64).saturating_mul(self.problem.work.macs);
        if WORTH_COMPILING <= work
            && let Ok(host) = self.on_host()
        {
            let host = Asked::Host(Arc::new(host));
            if self.answer(&mut missing, is_first, &host).is_ok() {
                self.keep(&missing);
                return Ok(cases);
            }
        }
        let elf = self.reference()?;
        let simulated = Asked::Simulated(Box::new(self.read(&elf)?));
        self.answer(&mut missing, is_first, &simulated)?;
        self.keep(&missing);
        Ok(cases)
    }

    fn host(&self) -> Result<Arc<Reference>, EvalError> {
        if let Some(host) = self.host.get() {
            return Ok(host.clone());
        }
        let toolchain = self.builder.toolchain().clone();
        let host = Reference::new(self.problem, toolchain, self.cache_folder)?;
        Ok(self.host.get_or_init(|| Arc::new(host)).clone())
    }

    fn keep(&self, answered: &[(&mut Case, ContentHash)]) {
        for (case, key) in answered {
            let written = case.after.iter().flatten().flatten();
            self.store.put(key, &written.copied().collect::<Vec<u8>>());
        }
    }

    /// Computes the answers of `missing` cases.
    fn answer(
        &self,
        missing: &mut [(&mut Case, ContentHash)],
        is_first: bool,
        reference: &Asked,
    ) -> Result<(), EvalError> {
        if let Asked::Host(host) = reference
            && self.problem.reference_language == ReferenceLanguage::Python
        {
            let mut cases: Vec<&mut Case> = missing.iter_mut().map(|it| &mut *it.0).collect();
            host.fill(&mut cases)?;
            return match missing.first().filter(|_| is_first) {
                Some((case, _)) => self.check(reference, case),
                None => Ok(()),
            };
        }
        let workers = self.threads.clamp(1, missing.len());
        let unchecked = AtomicBool::new(is_first);
        let panicked = |_| EvalError::Fault("a reference run panicked".into());
        let queue = Mutex::new(missing.iter_mut());
        let work = || -> Result<(), EvalError> {
            loop {
                let next = queue.lock().map_err(|_| panicked(()))?.next();
                let Some((case, _)) = next else {
                    return Ok(());
                };
                case.after = self.run(reference, case)?;
                if unchecked.swap(false, Ordering::Relaxed) {
                    self.check(reference, case)?;
                }
            }
        };
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            handles
                .into_iter()
                .try_for_each(|handle| handle.join().map_err(|_| panicked(()))?)
        })
    }

    fn key(&self, set: &InputSet, seed: Seed) -> ContentHash {
        let mut hasher = ContentHasher::new("autocomp answer");
        hasher.update(&self.problem.oracle_hash.0);
        hasher.update(&self.builder.runtime_key().0);
        hasher.update(self.reference_key.as_bytes());
        hasher.update(self.platform.sources().all.as_bytes());
        hasher.update(set.name.as_bytes());
        hasher.update(&seed.0.to_le_bytes());
        hasher.finish()
    }

    fn stored(&self, key: &ContentHash) -> Option<Vec<Option<Vec<u8>>>> {
        parts(self.problem, &self.store.get(key)?)
    }

    fn reference(&self) -> Result<Vec<u8>, EvalError> {
        let text = with_declaration(&self.problem.reference, self.problem);
        let lines = self.problem.reference.lines().count() as u32;
        let source = Source {
            name: REFERENCE,
            text: &text,
            header: self.header,
            macros: self.macros,
            loops: Loops::Unrolled,
            rules: Rules::Reference,
        };
        match self.builder.build(&source)? {
            Build::Built(program) => Ok(program.elf),
            Build::Failed(diagnostics) | Build::Refused(diagnostics) => {
                let first = diagnostics.first().map(|found| {
                    let place = found.location.as_ref();
                    let place = place.filter(|place| place.line <= lines);
                    let place = place.map(|place| format!("{place}: "));
                    format!("{}{}", place.unwrap_or_default(), found.message)
                });
                Err(self.broken(format!("does not build: {}", first.unwrap_or_default())))
            }
        }
    }

    /// Compiles the reference for the host.
    fn on_host(&self) -> Result<Reference, EvalError> {
        let toolchain = self.builder.toolchain().clone();
        Reference::of_integers(self.problem, toolchain, self.cache_folder)
    }

    /// Returns what the buffers that are written hold after a call; nothing for the others.
    pub fn run(&self, reference: &Asked, case: &Case) -> Result<Vec<Option<Vec<u8>>>, EvalError> {
        match reference {
            Asked::Host(host) => host.answer(case),
            Asked::Simulated(program) => self.simulate(program, case),
        }
    }

    fn simulate(&self, program: &Image, case: &Case) -> Result<Vec<Option<Vec<u8>>>, EvalError> {
        let buffers = &self.problem.buffers;
        let layout = Layout::new(program, buffers, Seed(0))?;
        let mut machine = self.platform.plain_machine(layout.memory_bytes);
        machine.load(program).map_err(|error| {
            EvalError::Fault(format!("the linked reference cannot be loaded: {error}"))
        })?;
        layout.protect(machine.memory(), buffers, false);
        for (before, address) in case.before.iter().zip(&layout.addresses) {
            // Outputs are zero.
            if let Some(content) = before {
                let bytes = machine
                    .memory()
                    .host_mut(*address, content.len())
                    .expect("buffers lie in memory");
                bytes.copy_from_slice(content);
            }
        }
        let entry = program.entry_function();
        let limits = Limits {
            instructions: (self.problem.work.macs + 1_000_000).saturating_mul(INSTRUCTIONS_PER_MAC),
            cycles: u64::MAX,
        };
        if let Err(stop) = machine.call(entry, &layout.addresses, layout.stack.end, limits) {
            return Err(self.broken(match stop {
                Stop::Limit(_) => {
                    format!("did not return within {} instructions", limits.instructions)
                }
                Stop::Fault(fault) => {
                    let line = program
                        .line(fault.pc, |_| false)
                        .map(|line| format!("{line}: "));
                    format!("stopped: {}{}", line.unwrap_or_default(), fault.message)
                }
            }));
        }
        for (idx, buffer) in buffers.iter().enumerate() {
            let Some(before) = case.before[idx].as_ref().filter(|_| !buffer.is_written()) else {
                continue;
            };
            let after = machine
                .memory()
                .host(layout.addresses[idx], before.len())
                .expect("buffers lie in memory");
            if let Some(at) = before.iter().zip(after).position(|(a, b)| a != b) {
                let at = place(buffer, at / buffer.dtype.bytes());
                return Err(self.broken(format!(
                    "changes its input {at} (with input set {}): a buffer that is written is `output` or `inout`",
                    case.name
                )));
            }
        }
        Ok(buffers
            .iter()
            .zip(&layout.addresses)
            .map(|(buffer, address)| {
                let content = machine
                    .memory()
                    .host(*address, buffer.bytes())
                    .expect("buffers lie in memory");
                buffer.is_written().then(|| content.to_vec())
            })
            .collect())
    }

    fn read(&self, elf: &[u8]) -> Result<Image, EvalError> {
        Image::read(elf, self.problem.entry_symbol())
            .map_err(|error: ImageError| self.broken(format!("cannot be run: {error}")))
    }

    pub fn broken(&self, what: String) -> EvalError {
        EvalError::Input {
            message: format!("the reference of problem {} {what}", self.problem.name),
            remedies: vec![format!(
                "correct {} in the problem's folder",
                self.problem.reference_language.file()
            )],
        }
    }
}

/// Returns `text` with the declaration of the problem's function behind it, which makes
/// the compiler compare types, and what calls it with arguments.
pub fn with_declaration(text: &str, problem: &Problem) -> String {
    format!("{text}\n{};\n{}", problem.signature, problem.wrapper())
}
