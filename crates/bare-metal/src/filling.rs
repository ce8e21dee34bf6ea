//! What lies where nothing has been written, in calls whose results must not depend on it.

use crate::platform::Platform;
use crate::session::SessionKind;
use crate::trial::{Trial, depends_on, unwritten};
use autocomp_catalog::{Buffer, DataType, Problem};
use autocomp_eval::comparison::place;
use autocomp_eval::inputs::Case;
use autocomp_eval::{EvalError, Verdict};
use autocomp_native::{Numbers, Pattern};
use autocomp_riscv::{FILLING, Mode};

/// Different elements of an input, above which none of them becomes a filling.
const MOST: usize = 3;

/// What lies in memory and in registers where nothing has been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filling {
    /// In memory and in vectors, repeated.
    pub bytes: [u8; FILLING],
    /// In registers of the core, for integers and for floating-point numbers.
    pub registers: [u64; 2],
}

impl Filling {
    /// Returns ordinary numbers: some that lie beyond those of `case`, some that hardly do, and
    /// some of its own; nothing where it has none.
    pub fn among(problem: &Problem, case: &Case) -> Option<Self> {
        let mut buffers = problem.buffers.iter().zip(&case.before);
        let content = buffers.find_map(|(buffer, content)| Some((buffer, content.as_ref()?)));
        let (buffer, content) = content?;
        let numbers = Numbers::ALL.map(|it| Pattern::ordinary(buffer, content, it).bytes());
        let mut bytes = [0; FILLING];
        for (place, number) in bytes.chunks_mut(8).zip(numbers.iter().cycle()) {
            place.copy_from_slice(number);
        }
        let registers = registers(&bytes[..buffer.dtype.bytes()]);
        Some(Self { bytes, registers })
    }

    /// Returns the elements of inputs that have few different ones, each as a filling, in their
    /// own type and in the one that C computes in.
    fn of_inputs(problem: &Problem, case: &Case) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for (buffer, content) in problem.buffers.iter().zip(&case.before) {
            let content = content.as_ref().map_or(&[][..], Vec::as_slice);
            for element in different(buffer, content) {
                for filling in [
                    Self::of(element),
                    Self::of(&promoted(buffer.dtype, element)),
                ] {
                    if !found.contains(&filling) {
                        found.push(filling);
                    }
                }
            }
        }
        found
    }

    /// Fills `bytes`.
    pub fn repeat(self, bytes: &mut [u8]) {
        for place in bytes.chunks_mut(FILLING) {
            place.copy_from_slice(&self.bytes[..place.len()]);
        }
    }

    /// Returns one element everywhere.
    fn of(element: &[u8]) -> Self {
        let mut bytes = [0; FILLING];
        for (byte, own) in bytes.iter_mut().zip(element.iter().cycle()) {
            *byte = *own;
        }
        Self {
            bytes,
            registers: registers(element),
        }
    }
}

impl<P: Platform> Trial<'_, P> {
    /// Calls the kernel, which is right, several times with the same inputs of few different
    /// numbers, and one of these numbers wherever nothing has been written. Whichever element of an
    /// input is compared with what lies there, they are equal in one of the calls and differ in
    /// another one. Returns the verdict on a kernel that does not leave the same in all.
    ///
    /// What is right is not asked: of numbers that are equal, a kernel may choose another one than
    /// the reference does.
    pub fn test_fillings(&self) -> Result<Option<Verdict>, EvalError> {
        let evaluator = self.evaluator;
        let problem = &evaluator.problem;
        let Some(set) = problem.timed_set() else {
            return Ok(None);
        };
        let set = set.of_few_numbers(&problem.buffers);
        let case = Case::draw(problem, &set, evaluator.problem_seed());
        let seed = self.seed.derive(&case.name);
        let mut first: Option<Option<Vec<Vec<u8>>>> = None;
        for filling in Filling::of_inputs(problem, &case) {
            let mut session = self.session(SessionKind::plain(Mode::Functional), seed)?;
            session.place(&case, seed)?;
            session.fill(filling)?;
            session.fill_rest(filling)?;
            let ended = session.call(evaluator.limits());
            let left = ended.is_ok().then(|| session.outputs());
            let Some(first) = &first else {
                first = Some(left);
                continue;
            };
            if *first == left {
                continue;
            }
            let mut verdict = unwritten(depends_on(&mut session).into(), &case);
            let note = differing(problem, first.as_deref(), left.as_deref());
            let found = verdict.diagnostics.first_mut();
            if let Some((found, note)) = found.zip(note) {
                found.notes.push(note);
            }
            return Ok(Some(verdict));
        }
        Ok(None)
    }
}

/// Says where two calls have left different outputs.
fn differing(
    problem: &Problem,
    one: Option<&[Vec<u8>]>,
    other: Option<&[Vec<u8>]>,
) -> Option<String> {
    let written = problem.buffers.iter().filter(|buffer| buffer.is_written());
    let pairs = written.zip(one?.iter().zip(other?));
    let mut places = pairs.filter_map(|(buffer, (one, other))| {
        let width = buffer.dtype.bytes();
        let mut elements = one.chunks(width).zip(other.chunks(width));
        let element = elements.position(|(one, other)| one != other)?;
        Some(place(buffer, element))
    });
    Some(format!(
        "{} changes when a number of the inputs lies where nothing was written",
        places.next()?
    ))
}

/// Returns an element in the type that C computes such elements in.
fn promoted(dtype: DataType, element: &[u8]) -> Vec<u8> {
    let wider = match dtype {
        DataType::Int8 | DataType::UInt8 | DataType::Bool | DataType::Int16 | DataType::UInt16 => {
            DataType::Int32
        }
        DataType::Float16
        | DataType::BFloat16
        | DataType::Float8E4M3
        | DataType::Float8E4M3Fn
        | DataType::Float8E5M2 => DataType::Float32,
        DataType::Int32 | DataType::UInt32 | DataType::Float32 => return element.to_vec(),
    };
    let mut bytes = Vec::new();
    wider.push(dtype.value(element), &mut bytes);
    bytes
}

/// Returns the different elements of a buffer, nothing where they are more than [`MOST`].
fn different<'c>(buffer: &Buffer, content: &'c [u8]) -> Vec<&'c [u8]> {
    let mut found: Vec<&[u8]> = Vec::new();
    for element in content.chunks_exact(buffer.dtype.bytes()) {
        if !found.contains(&element) {
            found.push(element);
        }
        if MOST < found.len() {
            return Vec::new();
        }
    }
    found
}

/// Returns an element as registers hold it: extended by its sign, and behind ones.
fn registers(element: &[u8]) -> [u64; 2] {
    let is_negative = element.last().is_some_and(|it| it >> 7 == 1);
    let within = |rest: u8| {
        let mut bytes = [rest; 8];
        bytes[..element.len()].copy_from_slice(element);
        u64::from_le_bytes(bytes)
    };
    [
        within(if is_negative { u8::MAX } else { 0 }),
        within(u8::MAX),
    ]
}
