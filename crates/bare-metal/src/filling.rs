//! What lies where nothing has been written, in calls whose results must not depend on it.

use crate::platform::Platform;
use crate::session::{Session, SessionKind};
use crate::trial::{Trial, depends_on, unwritten};
use autocomp_catalog::{Buffer, DataType, Problem};
use autocomp_eval::comparison::place;
use autocomp_eval::inputs::Case;
use autocomp_eval::{EvalError, Verdict};
use autocomp_native::{Numbers, Pattern};
use autocomp_riscv::{FILLING, FloatFormats, Mode};
use std::iter;
use std::ops::RangeInclusive;

/// Different elements of an input, above which none of them becomes a filling.
const MOST: usize = 3;

/// Bytes of which fillings that are no element of an input are chosen.
const STRANGERS: RangeInclusive<u8> = 0x41..=0x7d;

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
    /// own type and in all others whose numbers C may find equal to them: integers, and numbers of
    /// the `formats` that the program computes with.
    fn of_inputs(problem: &Problem, case: &Case, formats: FloatFormats) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for (buffer, content) in problem.buffers.iter().zip(&case.before) {
            let content = content.as_ref().map_or(&[][..], Vec::as_slice);
            for element in different(buffer, content) {
                let others = equal(buffer.dtype.value(element), formats);
                for bytes in iter::once(element.to_vec()).chain(others) {
                    let filling = Self::of(&bytes);
                    if !found.contains(&filling) {
                        found.push(filling);
                    }
                }
            }
        }
        found
    }

    /// Returns two that are none of `known`.
    fn strangers(known: &[Self]) -> impl Iterator<Item = Self> {
        let all = STRANGERS.map(|byte| Self::of(&[byte]));
        all.filter(|filling| !known.contains(filling)).take(2)
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

/// What a call has left in outputs, and where it was made.
type Filled<'a, P> = (Option<Vec<Vec<u8>>>, Box<Session<'a, P>>);

impl<'a, P: Platform> Trial<'a, P> {
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
        let fillings = Filling::of_inputs(problem, &case, self.program.float_formats());
        let mut first: Option<Option<Vec<Vec<u8>>>> = None;
        for filling in &fillings {
            let (left, mut session) = self.call_filled(&case, *filling)?;
            let Some(first) = &first else {
                first = Some(left);
                continue;
            };
            if *first == left {
                continue;
            }
            // Numbers of a table that were put in place of others need not fit each other, as those
            // of a permutation do: what nothing has written may then matter whatever it is.
            if set.has_table() && !self.is_same_for_strangers(&case, &fillings)? {
                return Ok(None);
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

    /// Returns whether the kernel comes to its end and leaves the same with two fillings that are
    /// none of `known`.
    fn is_same_for_strangers(&self, case: &Case, known: &[Filling]) -> Result<bool, EvalError> {
        let mut before: Option<Vec<Vec<u8>>> = None;
        for stranger in Filling::strangers(known) {
            let (Some(left), _) = self.call_filled(case, stranger)? else {
                return Ok(false);
            };
            if before.is_some_and(|before| before != left) {
                return Ok(false);
            }
            before = Some(left);
        }
        Ok(true)
    }

    /// Calls the kernel with a filling wherever nothing has been written. Returns what it leaves in
    /// outputs, nothing if it does not come to its end, and where it was called.
    fn call_filled(&self, case: &Case, filling: Filling) -> Result<Filled<'a, P>, EvalError> {
        let seed = self.seed.derive(&case.name);
        let mut session = self.session(SessionKind::plain(Mode::Functional), seed)?;
        session.place(case, seed)?;
        session.fill(filling)?;
        session.fill_rest(filling)?;
        let ended = session.call(self.evaluator.limits());
        let left = ended.is_ok().then(|| session.outputs());
        Ok((left, session))
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

/// Returns the bytes of a number in all types of C that have it exactly: integers of 8 to 64 bits,
/// and those of `formats`.
fn equal(number: f64, formats: FloatFormats) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    // Those beyond are in no input.
    let whole = number as i64;
    if whole as f64 == number && whole.unsigned_abs() < 1 << 62 {
        for width in [1, 2, 4, 8] {
            // With a sign or without.
            if -1 <= whole >> (8 * width - 1) && whole >> (8 * width - 1) <= 1 {
                found.push(whole.to_le_bytes()[..width].to_vec());
            }
        }
    }
    for (dtype, is_used) in [
        (DataType::Float16, formats.half),
        (DataType::Float32, formats.single),
    ] {
        let mut bytes = Vec::new();
        dtype.push(number, &mut bytes);
        if is_used && dtype.value(&bytes) == number {
            found.push(bytes);
        }
    }
    if formats.double {
        found.push(number.to_le_bytes().to_vec());
    }
    found
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
