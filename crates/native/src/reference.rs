//! Right answers: the problem's reference, compiled for the host and run in a
//! worker like any kernel, or run by Python.

use crate::builder::{Builder, Program, built};
use crate::calls::{Calls, Offence};
use crate::kind::Kind;
use crate::offences;
use crate::script::Script;
use crate::shared_memory::Placement;
use crate::worker::{Death, WorkerSettings};
use autocomp_catalog::{InputSet, Problem, ReferenceLanguage, Role};
use autocomp_core::{ContentHash, Seed};
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_eval::symmetry::{self, Answer};
use autocomp_toolchain::Toolchain;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Processor time that a call of a reference may take.
const REFERENCE_TIME: Duration = Duration::from_secs(30);

/// What gives right answers.
#[derive(Debug)]
pub enum Oracle {
    /// A program of this processor.
    Program(Program),
    /// A function in Python.
    Script(Box<Script>),
}

impl Oracle {
    /// Makes the reference of `problem` ready to be asked; in C, it is compiled as `kind`.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if this machine does not allow it, [`EvalError::Input`] if
    /// the compiler refuses it.
    pub fn new(
        problem: &Problem,
        builder: &Builder,
        kind: Kind,
        cache_folder: &Path,
    ) -> Result<Self, EvalError> {
        let language = problem.reference_language;
        Ok(match language {
            ReferenceLanguage::C => {
                let text = format!("{}\n{}", problem.reference, problem.wrapper());
                Self::Program(built(builder, language.file(), &text, kind)?)
            }
            ReferenceLanguage::Python => {
                let path = builder.toolchain().path();
                Self::Script(Box::new(Script::new(problem, path, cache_folder)?))
            }
        })
    }
}

impl Oracle {
    /// Checks that the axes of `problem` are symmetries, by the first of `cases`, which have
    /// their answers.
    ///
    /// # Errors
    /// [`EvalError::Input`] if they are not, or it does not return.
    pub fn check_axes<'c>(
        &self,
        problem: &Problem,
        settings: WorkerSettings,
        cases: impl IntoIterator<Item = &'c Case>,
    ) -> Result<(), EvalError> {
        let Some(case) = cases.into_iter().next() else {
            return Ok(());
        };
        symmetry::check(problem, case, 1, |case| self.left(problem, settings, case))
    }

    /// Returns what a call in a process of its own leaves in the buffers that are written; in
    /// Python, what is kept of such a call on equal inputs.
    fn left(
        &self,
        problem: &Problem,
        settings: WorkerSettings,
        case: &Case,
    ) -> Result<Answer, EvalError> {
        let program = match self {
            Self::Program(program) => program,
            Self::Script(script) => {
                let mut case = case.clone();
                script.answer(problem, &mut [&mut case])?;
                return Ok(case.after);
            }
        };
        let mut calls = started(problem, program, settings)?;
        calls.fill(0, case);
        calls
            .run(0..1, REFERENCE_TIME)
            .map_err(|offence| unanswered(problem, &case.name, &offence))?;
        let written = |idx: usize| calls.content(0, idx).to_vec();
        let kept = problem.buffers.iter().enumerate();
        Ok(kept
            .map(|(idx, buffer)| buffer.is_written().then(|| written(idx)))
            .collect())
    }
}

/// Starts a worker of a reference with memory for one call at a time.
fn started<'p>(
    problem: &'p Problem,
    reference: &Program,
    settings: WorkerSettings,
) -> Result<Calls<'p>, EvalError> {
    let settings = WorkerSettings {
        command_time: REFERENCE_TIME,
        ..settings
    };
    match Calls::start(
        problem,
        reference,
        &[Placement::AtTheStart],
        settings,
        Seed(0),
    )? {
        Ok(calls) => Ok(calls),
        Err(Death::TooLarge { bytes, most }) => Err(EvalError::Input {
            message: format!(
                "reference.c of {} has {bytes} bytes of static memory, of which it may have {most}",
                problem.name
            ),
            remedies: vec!["make its static arrays smaller".into()],
        }),
        Err(_) => Err(EvalError::Environment {
            message: format!("reference.c of {} cannot be started here", problem.name),
            remedies: vec![
                "make memory free: other programs may have it".into(),
                "run `autocomp doctor` to see what this machine allows".into(),
            ],
        }),
    }
}

/// Returns what is said of a reference that did not come back with an answer.
fn unanswered(problem: &Problem, set: &str, offence: &Offence) -> EvalError {
    let name = &problem.name;
    let (what, remedy) = match offence {
        Offence::Died {
            death: Death::TimedOut,
            ..
        } => (
            format!(
                "does not end within {} s of processor time",
                REFERENCE_TIME.as_secs()
            ),
            "correct the bounds of its loops, or make the problem smaller".to_owned(),
        ),
        other => {
            let (_, found) = offences::verdict_on(other.clone(), None, "");
            let told = found.message.replace("the kernel", "it");
            (
                format!("gives no answer: {told}"),
                "correct reference.c of the problem".to_owned(),
            )
        }
    };
    EvalError::Input {
        message: format!("reference.c of {name} {what} on input set `{set}`"),
        remedies: vec![remedy],
    }
}

/// Fills in the right answers of `cases`.
///
/// # Errors
/// [`EvalError::Input`] if the reference does not run, or gives another answer
/// when it is asked again.
pub fn answer(
    problem: &Problem,
    reference: &Oracle,
    settings: WorkerSettings,
    cases: &mut [Case],
) -> Result<(), EvalError> {
    if cases.is_empty() {
        return Ok(());
    }
    match reference {
        Oracle::Program(program) => answer_by_program(problem, program, settings, cases)?,
        Oracle::Script(script) => {
            script.answer(problem, &mut cases.iter_mut().collect::<Vec<_>>())?;
        }
    }
    for case in cases {
        for (idx, buffer) in problem.buffers.iter().enumerate() {
            if let (Role::Output, Some(right)) = (buffer.role, &case.after[idx]) {
                let poison = case.before[idx].as_deref_mut().unwrap_or(&mut []);
                keep_apart(poison, right, buffer.dtype.bytes());
            }
        }
    }
    Ok(())
}

/// Changes a poison so that it has the right value nowhere, and no element left out is right
/// by chance. Most differ in their first byte already, and there are millions of them.
fn keep_apart(poison: &mut [u8], right: &[u8], width: usize) {
    let mut at = 0;
    while at < poison.len() {
        let element = at..at + width;
        if poison[at] == right[at] && poison[element.clone()] == right[element] {
            poison[at] ^= 0x55;
        }
        at += width;
    }
}

fn answer_by_program(
    problem: &Problem,
    reference: &Program,
    settings: WorkerSettings,
    cases: &mut [Case],
) -> Result<(), EvalError> {
    let mut calls = started(problem, reference, settings)?;
    for case in cases.iter_mut() {
        calls.fill(0, case);
        calls
            .run(0..1, REFERENCE_TIME)
            .map_err(|offence| unanswered(problem, &case.name, &offence))?;
        for (idx, buffer) in problem.buffers.iter().enumerate() {
            if buffer.is_written() {
                case.after[idx] = Some(calls.content(0, idx).to_vec());
            }
        }
    }
    // A reference that keeps something from call to call is found by asking another process, in
    // the opposite order, and there once more at last: whatever it counts or has kept of the
    // first call, it is something else there.
    let mut calls = started(problem, reference, settings)?;
    for case in cases.iter().rev().chain(cases.last()) {
        calls.fill(0, case);
        let again = calls.call(0, &[case], REFERENCE_TIME);
        again.map_err(|offence| match offence {
            Offence::Wrong(found) => EvalError::Input {
                message: format!(
                    "reference.c of {} contradicts itself: called again on input set `{}`, {}",
                    problem.name, case.name, found.message
                ),
                remedies: vec![
                    "correct reference.c of the problem: it must keep nothing from call to call"
                        .into(),
                ],
            },
            other => unanswered(problem, &case.name, &other),
        })?;
    }
    Ok(())
}

/// The reference of a problem, for families whose kernels do not run on the host.
#[derive(Debug)]
pub struct Reference {
    problem: Problem,
    /// What compiled it, if anything did.
    builder: Option<Builder>,
    oracle: Oracle,
    settings: WorkerSettings,
    /// The cases of sets that are not fresh, with the seed that they were drawn by.
    fixed: Mutex<Option<(Seed, Vec<Arc<Case>>)>>,
    /// Whether the axes of the problem are known to be symmetries.
    are_axes_right: Mutex<bool>,
}

impl Reference {
    /// Compiles the reference of `problem` for this computer.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if it cannot be compiled here, [`EvalError::Input`] if the
    /// compiler refuses it.
    pub fn new(
        problem: &Problem,
        toolchain: Toolchain,
        cache_folder: &Path,
    ) -> Result<Self, EvalError> {
        Self::compiled(problem, toolchain, cache_folder, Kind::Reference)
    }

    /// Compiles a reference that computes with integers only, so that it gives the same
    /// answers here as on any other processor.
    ///
    /// # Errors
    /// As for [`Reference::new`]; [`EvalError::Input`] for one that needs floating point, too.
    pub fn of_integers(
        problem: &Problem,
        toolchain: Toolchain,
        cache_folder: &Path,
    ) -> Result<Self, EvalError> {
        Self::compiled(problem, toolchain, cache_folder, Kind::IntegerReference)
    }

    /// Makes a reference in Python ready, which needs no compiler, with the Python on `path`.
    ///
    /// # Errors
    /// As for [`Script::new`].
    pub fn in_python(
        problem: &Problem,
        path: Option<&OsStr>,
        cache_folder: &Path,
    ) -> Result<Self, EvalError> {
        let script = Script::new(problem, path, cache_folder)?;
        Ok(Self::of(problem, Oracle::Script(Box::new(script)), None))
    }

    fn compiled(
        problem: &Problem,
        toolchain: Toolchain,
        cache_folder: &Path,
        kind: Kind,
    ) -> Result<Self, EvalError> {
        let architecture = std::env::consts::ARCH;
        // The runtime rounds with one instruction, which x86-64 has from SSE4.1 on.
        let flags: &[String] = match architecture {
            "x86_64" => &["-msse4.1".to_owned()],
            _ => &[],
        };
        let builder = Builder::new(toolchain, architecture, flags, problem, cache_folder)?;
        let oracle = Oracle::new(problem, &builder, kind, cache_folder)?;
        Ok(Self::of(problem, oracle, Some(builder)))
    }

    fn of(problem: &Problem, oracle: Oracle, builder: Option<Builder>) -> Self {
        Self {
            problem: problem.clone(),
            builder,
            oracle,
            settings: WorkerSettings {
                core: None,
                tile_state: false,
                command_time: REFERENCE_TIME,
            },
            fixed: Mutex::default(),
            are_axes_right: Mutex::default(),
        }
    }

    /// Returns the name of what compiled it.
    #[must_use]
    pub fn compiler(&self) -> &str {
        self.builder
            .as_ref()
            .map_or("no compiler", Builder::compiler)
    }

    /// Returns everything that decides what is answered, beside the problem.
    #[must_use]
    pub fn key(&self) -> String {
        match &self.oracle {
            Oracle::Program(_) => self.builder.as_ref().map_or_else(String::new, Builder::key),
            Oracle::Script(script) => script.key(),
        }
    }

    /// Returns what the buffers that are written hold after a call in a process of its own on
    /// what they hold in `case`, zeros where it has nothing.
    ///
    /// # Errors
    /// [`EvalError::Input`] if it does not return.
    pub fn answer(&self, case: &Case) -> Result<Answer, EvalError> {
        self.oracle.left(&self.problem, self.settings, case)
    }

    /// Fills in the right answers of `cases`, as [`Reference::answer`] gives them; in Python by
    /// few processes for all of them.
    ///
    /// # Errors
    /// As for [`Reference::answer`].
    pub fn fill(&self, cases: &mut [&mut Case]) -> Result<(), EvalError> {
        if let Oracle::Script(script) = &self.oracle {
            return script.answer(&self.problem, cases);
        }
        for case in cases {
            case.after = self.answer(case)?;
        }
        Ok(())
    }

    /// Draws the inputs of `set` and computes the right answers.
    ///
    /// # Errors
    /// [`EvalError::Input`] if the reference does not run or contradicts itself.
    pub fn case(&self, set: &InputSet, seed: Seed) -> Result<Case, EvalError> {
        let mut cases = self.drawn([set], seed)?;
        cases
            .pop()
            .ok_or_else(|| EvalError::Fault("no answer".into()))
    }

    /// Does so for several sets.
    fn drawn<'s>(
        &self,
        sets: impl IntoIterator<Item = &'s InputSet>,
        seed: Seed,
    ) -> Result<Vec<Case>, EvalError> {
        let problem = &self.problem;
        let poisoned = |set| Case::draw(problem, set, seed).poisoned(problem, seed);
        let mut cases: Vec<Case> = sets.into_iter().map(poisoned).collect();
        answer(problem, &self.oracle, self.settings, &mut cases)?;
        let cases = cases.into_iter();
        Ok(cases.map(|case| case.without_poison(problem)).collect())
    }

    /// Returns the cases of a kernel: those that are the same
    /// for every kernel, computed once for a `seed`, then those of fresh sets, which are the
    /// kernel's own, so that no kernel can hold their answers, and drawn when they are asked for.
    ///
    /// # Errors
    /// As for [`Reference::case`].
    pub fn cases(
        &self,
        source: &str,
        seed: Seed,
    ) -> Result<impl Iterator<Item = Result<Arc<Case>, EvalError>>, EvalError> {
        self.check_axes(seed)?;
        let own = seed.derive(&ContentHash::of(source.as_bytes()).to_string());
        let fresh = self.problem.input_sets.iter().filter(|set| set.fresh);
        let fresh = fresh.map(move |set| self.case(set, own).map(Arc::new));
        Ok(self.fixed(seed)?.into_iter().map(Ok).chain(fresh))
    }

    /// Checks once that the axes of the problem are symmetries of it.
    fn check_axes(&self, seed: Seed) -> Result<(), EvalError> {
        let mut are_right = self
            .are_axes_right
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let set = self.problem.input_sets.first();
        if let Some(set) = set.filter(|_| !*are_right && !self.problem.axes.is_empty()) {
            let case = self.case(set, seed)?;
            self.oracle
                .check_axes(&self.problem, self.settings, [&case])?;
        }
        *are_right = true;
        Ok(())
    }

    fn fixed(&self, seed: Seed) -> Result<Vec<Arc<Case>>, EvalError> {
        let mut known = self.fixed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, cases)) = known.as_ref().filter(|(by, _)| *by == seed) {
            return Ok(cases.clone());
        }
        let sets = self.problem.input_sets.iter().filter(|set| !set.fresh);
        let cases = self.drawn(sets, seed)?;
        let cases: Vec<Arc<Case>> = cases.into_iter().map(Arc::new).collect();
        *known = Some((seed, cases.clone()));
        Ok(cases)
    }
}
