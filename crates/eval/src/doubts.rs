//! What makes the tests of a problem doubtful, found when it is opened: a reference and
//! tolerances are believed, so whoever wrote them should hear what they let pass.

use crate::comparison::are_right;
use crate::evaluator::EvalError;
use crate::inputs::Case;
use autocomp_catalog::{Buffer, Problem, Role};
use autocomp_core::{Cost, Seed, Unit};

/// Returns a sentence for everything that is doubtful in a problem: in its tests by `cases`,
/// whose right answers are known, in its `work`, and in its timed calls.
#[must_use]
pub fn of_problem(problem: &Problem, cases: &[Case]) -> Vec<String> {
    let mut found = trivial_outputs(problem, cases);
    found.extend(too_little_work(problem));
    found.extend(one_timed_input(problem));
    found
}

/// Returns a sentence for each trivial output that would be right on all of `cases`, whose
/// right answers are known: a kernel that computes nothing would pass.
#[must_use]
pub fn trivial_outputs(problem: &Problem, cases: &[Case]) -> Vec<String> {
    let mut candidates = vec![
        Trivial::Constant(0.0),
        Trivial::Constant(1.0),
        Trivial::Mean,
        Trivial::Untouched,
    ];
    let inputs = problem.buffers.iter().enumerate();
    candidates.extend(
        inputs
            .filter(|(_, buffer)| buffer.is_read())
            .map(|(idx, _)| Trivial::Copy(idx)),
    );
    let right = candidates.into_iter().filter(|candidate| {
        !cases.is_empty() && cases.iter().all(|case| candidate.is_right(problem, case))
    });
    let mut found: Vec<String> = right
        .map(|candidate| {
            format!(
                "{} would be right on all input sets of {}: a kernel that does not compute passes its tests",
                candidate.name(problem),
                problem.name
            )
        })
        .collect();
    // A constant that is right is near its own mean.
    if 1 < found.len() {
        found.retain(|text| !text.starts_with("one number everywhere"));
    }
    found
}

/// An output that takes no computation.
enum Trivial {
    Constant(f64),
    /// The mean of the right answers, everywhere.
    Mean,
    /// What a buffer that is read and written held before.
    Untouched,
    /// The first elements of a buffer that is read.
    Copy(usize),
}

impl Trivial {
    fn name(&self, problem: &Problem) -> String {
        match self {
            Self::Constant(value) => format!("an output that is {value} everywhere"),
            Self::Mean => "one number everywhere, the mean of the right ones,".to_owned(),
            Self::Untouched => "leaving the output as it is".to_owned(),
            Self::Copy(idx) => format!("a copy of {}", problem.buffers[*idx].name),
        }
    }

    fn is_right(&self, problem: &Problem, case: &Case) -> bool {
        let mut written = problem.buffers.iter().zip(&case.after).enumerate();
        written.all(|(idx, (buffer, right))| {
            let Some(right) = right.as_ref().filter(|_| buffer.is_written()) else {
                return true;
            };
            let Some(output) = self.output(problem, case, idx, right) else {
                return false;
            };
            // No element is poison, so that a number that is none may be right.
            let poison: Vec<u8> = output.iter().map(|byte| byte ^ 0xff).collect();
            are_right(buffer, right, &output, &poison, problem.tolerance)
        })
    }

    fn output(&self, problem: &Problem, case: &Case, idx: usize, right: &[u8]) -> Option<Vec<u8>> {
        let buffer = &problem.buffers[idx];
        match self {
            Self::Constant(value) => Some(repeated(buffer, *value)),
            // The mean of one number is that number.
            Self::Mean if buffer.elements() == 1 => None,
            Self::Mean => {
                let width = buffer.dtype.bytes();
                let values = right.chunks_exact(width).map(|it| buffer.dtype.value(it));
                Some(repeated(
                    buffer,
                    values.sum::<f64>() / buffer.elements() as f64,
                ))
            }
            Self::Untouched => (buffer.role == Role::Inout)
                .then(|| case.before[idx].clone())
                .flatten(),
            Self::Copy(from) => {
                let content = case.before[*from].as_ref()?;
                let is_alike = problem.buffers[*from].dtype == buffer.dtype && idx != *from;
                Some(content.get(..buffer.bytes()).filter(|_| is_alike)?.to_vec())
            }
        }
    }
}

fn repeated(buffer: &Buffer, value: f64) -> Vec<u8> {
    let mut element = Vec::new();
    buffer.dtype.push(value, &mut element);
    element.repeat(buffer.elements())
}

/// Returns a sentence if `work` says that less is moved than the buffers have: then
/// percentages of peak and floors are too low for every kernel.
#[must_use]
pub fn too_little_work(problem: &Problem) -> Option<String> {
    let least: u64 = problem.buffers.iter().map(Buffer::least_bytes).sum();
    let bytes = problem.work.bytes;
    (bytes < least).then(|| {
        format!(
            "`work.bytes` in problem.toml of {} is {bytes}, but each buffer once is {least}: floor and percentage of peak are too low",
            problem.name
        )
    })
}

/// Returns a sentence if all timed calls get the same values: then a kernel that keeps its
/// answers from call to call is right, and costs next to nothing.
#[must_use]
pub fn one_timed_input(problem: &Problem) -> Option<String> {
    let set = problem.timed_set()?;
    let [one, other] = [0, 1].map(|seed| Case::draw(problem, set, Seed(seed)));
    let is_read = problem.buffers.iter().any(Buffer::is_read);
    (is_read && one.before == other.before).then(|| {
        format!(
            "all timed calls of {} get the same values, those of input set `{}`: a kernel that keeps answers from call to call passes its tests; let the last set be one that is drawn",
            problem.name, set.name
        )
    })
}

/// Where it stands what the machine can do at most, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peaks {
    /// The file, in words.
    pub file: String,
    /// Key, or keys, of multiply-accumulate steps at peak.
    pub macs: String,
    /// Key, or keys, of bytes at peak.
    pub bytes: String,
}

impl Peaks {
    /// Returns where the roofline of a target stands.
    #[must_use]
    pub fn of_roofline(target: &str, unit: Unit) -> Self {
        let unit = unit.singular();
        Self {
            file: format!("`[roofline]` of the target's file, {target}/target.toml"),
            macs: format!("`peak_macs_per_{unit}`"),
            bytes: format!("`bytes_per_{unit}`"),
        }
    }

    fn key(&self, field: WorkField) -> &str {
        match field {
            WorkField::Macs => &self.macs,
            WorkField::Bytes => &self.bytes,
        }
    }
}

/// A right kernel that costs less than `work` of its problem allows.
#[derive(Clone, Debug)]
pub struct Refutation<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// Fields of `work` that are refuted.
    pub fields: &'a [WorkField],
    /// Where it stands what the machine can do at most, which may be too little; `None` where it
    /// is measured.
    pub peaks: Option<Peaks>,
    /// What they ask for costs at least so much.
    pub floor: Cost,
    /// What the kernel costs.
    pub cost: Cost,
    /// What it did, if that was counted: ` with … steps`.
    pub did: String,
    /// The kernel, by the beginning of its key.
    pub kernel: String,
}

/// A field of `work` in `problem.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkField {
    /// Multiply-accumulate steps.
    Macs,
    /// Bytes moved.
    Bytes,
}

impl Refutation<'_> {
    /// Returns the error that ends an evaluation: the file of the problem is unusable, or that of
    /// the machine.
    #[must_use]
    pub fn error(&self) -> EvalError {
        let Self { floor, cost, .. } = self;
        let work = self.problem.work;
        let asked = self.fields.iter().map(|field| match field {
            WorkField::Macs => format!("`work.macs` is {}", work.macs),
            WorkField::Bytes => format!("`work.bytes` is {}", work.bytes),
        });
        let peaks = self.peaks.as_ref().map(|peaks| {
            let keys: Vec<&str> = self.fields.iter().map(|it| peaks.key(*it)).collect();
            format!("{} in {}", keys.join(" and "), peaks.file)
        });
        let mut remedies = vec![
            format!(
                "correct `work` ({}): the least that any kernel has to do; a multiplication with its addition is one step, and on narrower numbers than those whose peak the target tells a part of one",
                self.problem.work_place
            ),
            "if it is right, the kernel gets by without work that its tests do not ask for: add input sets".into(),
        ];
        let (mut or_else, mut at_peak) = (String::new(), String::new());
        if let Some(peaks) = peaks {
            or_else.push_str(", or the machine can do more than its peak");
            at_peak = format!(" by {peaks}");
            remedies.push(format!(
                "if the machine can do more than it says, raise {peaks}"
            ));
        }
        EvalError::Input {
            message: format!(
                "problem {} asks for more than has to be done{or_else}: {}, which takes at least {} {}{at_peak}, but a kernel is right in {}{} (kernel {})",
                self.problem.name,
                asked.collect::<Vec<_>>().join(" and "),
                floor.value,
                floor.unit,
                cost.value,
                self.did,
                self.kernel,
            ),
            remedies,
        }
    }
}
