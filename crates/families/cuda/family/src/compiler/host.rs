//! What is known of the program of a host part, and what is said of one that goes wrong.

use super::KERNEL_FILE;
use crate::dialect::unusable;
use crate::requests::{Allowed, HostVariable, Recording, Request};
use autocomp_core::{Diagnostic, SourceLocation, Stage};
use autocomp_cuda_sim::decode::RANGE;
use autocomp_eval::EvalError;
use autocomp_sandbox::SandboxReport;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The code of what is right once.
pub(crate) const CALLED_AGAIN: &str = "differs-when-called-again";

/// What a host part wants.
pub(super) enum Wanted {
    /// In each call.
    Always(Recording),
    /// Something else in a later call, or perhaps so: the address of a variable that such a call
    /// has changed, if one is known.
    Varying(Option<u64>),
    /// In a later call, a piece of memory of so many bytes that the first call has given back.
    GivenBack(u64),
}

/// Reads what the three calls of a host part have asked for; pieces of memory lie from `scratch`
/// on. What allows kernels more shared memory may stand in the first call alone, and so may pieces
/// of memory that are kept: each call begins with pieces that hold nothing, whoever asked for them.
///
/// # Errors
/// What is wrong with the first call.
pub(super) fn wanted(
    text: &str,
    names: &BTreeMap<u64, String>,
    scratch: u64,
) -> Result<Wanted, String> {
    const END: &str = "end\n";
    let mut calls = text.split_inclusive(END);
    let mut allowed = Allowed::new();
    let mut call = || Recording::parse_after(calls.next().unwrap_or_default(), names, &mut allowed);
    let first = call()?;
    let later = [call(), call()];
    let rest = calls.next().unwrap_or_default();
    let changed = rest.lines().find_map(|it| it.strip_prefix("changed "));
    let varying = Wanted::Varying(changed.and_then(|it| it.parse().ok()));
    let [Ok(second), Ok(third)] = &later else {
        return Ok(varying);
    };
    let mut pieces = Pieces {
        scratch,
        sizes: [&first, second].map(|it| it.memory.clone()).concat(),
        count: first.memory.len(),
        of_first: BTreeMap::new(),
    };
    if second != third || !rest.is_empty() || !pieces.are_alike(&first, second) {
        return Ok(varying);
    }
    let given_back = first.requests.iter().find_map(|request| {
        match request {
            Request::Free { address } => pieces.number(*address),
            _ => None,
        }
        .filter(|it| pieces.of_first.contains_key(it))
    });
    Ok(match given_back {
        Some(piece) => Wanted::GivenBack(first.memory[piece]),
        None => Wanted::Always(first),
    })
}

/// Pieces of memory of the first call, and behind them those of a later one.
struct Pieces {
    /// Where the first one lies.
    scratch: u64,
    sizes: Vec<u64>,
    /// How many are those of the first call.
    count: usize,
    /// Of each piece that the later call uses, the one that the first call uses in its place.
    of_first: BTreeMap<usize, usize>,
}

impl Pieces {
    /// Returns the number of the piece that lies at an address.
    fn number(&self, address: u64) -> Option<usize> {
        let number = address.checked_sub(self.scratch - RANGE / 2)? / RANGE;
        usize::try_from(number)
            .ok()
            .filter(|it| *it < self.sizes.len())
    }

    /// Returns whether two calls ask for the same, the later one with pieces of its own in place
    /// of those that it asks for, and with the same ones that it has kept.
    fn are_alike(&mut self, first: &Recording, later: &Recording) -> bool {
        let mut both = first.requests.iter().zip(&later.requests);
        let is_alike = |(first, later): (&Request, &Request)| {
            let (first, later) = (first.without_addresses(), later.without_addresses());
            let mut words = first.1.iter().zip(&later.1);
            first.0 == later.0 && words.all(|it| self.is_same(*it.0, *it.1))
        };
        first.requests.len() == later.requests.len()
            && both.all(is_alike)
            && self.of_first.values().collect::<BTreeSet<_>>().len() == self.of_first.len()
    }

    fn is_same(&mut self, first: u64, later: u64) -> bool {
        let (Some(of_first), Some(of_later)) = (self.number(first), self.number(later)) else {
            return first == later;
        };
        let place = *self.of_first.entry(of_later).or_insert(of_first);
        first % RANGE == later % RANGE
            && place == of_first
            && self.sizes[of_first] == self.sizes[of_later]
            && (self.count <= of_later || of_later == of_first)
    }
}

/// Says that the host function keeps something from call to call, in the variable `name`.
pub(super) fn keeps_state(source: &str, name: Option<&str>) -> Diagnostic {
    let name = name.map(plain_name);
    let holds = name.map_or_else(String::new, |name| {
        format!(": `{name}` holds what the call before has left")
    });
    let mut found = Diagnostic::error(
        Stage::Test,
        CALLED_AGAIN,
        format!(
            "the host function asks for something else when it is called again, or may do so later{holds}"
        ),
    );
    found.location = name.and_then(|name| line_with(source, name));
    found.remedy = Some("let `solution` keep nothing from call to call: no `static` variables that count or remember, but for memory asked for once (unset in each call) and shared memory allowed once; every call does the whole work".into());
    found
}

/// Says that a later call uses memory of so many bytes that the first one has given back.
pub(super) fn given_back(source: &str, bytes: u64) -> Diagnostic {
    let mut found = Diagnostic::error(
        Stage::Test,
        CALLED_AGAIN,
        format!(
            "the second call uses memory after it was given back: the first call asks for {bytes} bytes (`cudaMalloc`) and gives them back (`cudaFree`), and later calls go on with the same address"
        ),
    );
    found.location = line_with(source, "cudaFree");
    found.remedy =
        Some("ask for the memory in each call that gives it back, or give it back in none".into());
    found
}

/// Returns the first line of the kernel in which a name stands.
fn line_with(source: &str, name: &str) -> Option<SourceLocation> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let names = |line: &str| line.split(|it| !is_part(it)).any(|it| it == name);
    source.lines().position(names).map(|line| SourceLocation {
        file: KERNEL_FILE.to_owned(),
        line: line as u32 + 1,
        column: None,
    })
}

/// Returns the name that a variable has in its source: `n` for `_ZL1n` and `_ZZ8solutionvE1n`.
pub(crate) fn plain_name(mangled: &str) -> &str {
    let whole = match mangled.rsplit_once('_') {
        Some((whole, digits)) if digits.bytes().all(|it| it.is_ascii_digit()) => whole,
        _ => mangled,
    };
    let ends_here = |(at, _): (usize, char)| {
        let rest = &whole[at..];
        let name = rest.trim_start_matches(|it: char| it.is_ascii_digit());
        let length = rest[..rest.len() - name.len()].parse();
        (length == Ok(name.len())).then_some(name)
    };
    let found = whole
        .starts_with("_Z")
        .then(|| whole.char_indices().find_map(ends_here));
    found.flatten().unwrap_or(mangled)
}

/// What the program of a host part has.
pub(super) struct Symbols {
    /// Names of kernels by the addresses of the functions that stand for them, and those of
    /// variables.
    pub(super) names: BTreeMap<u64, String>,
    /// The variables alone.
    pub(super) variables: Vec<HostVariable>,
}

/// Reads what the program of a host part has.
pub(super) fn symbols_of(program: &Path) -> Result<Symbols, EvalError> {
    use object::{Object, ObjectSymbol, SymbolKind};
    let bytes = fs::read(program).map_err(|error| unusable(program, &error))?;
    let file = object::File::parse(&*bytes).map_err(|error| {
        EvalError::Fault(format!(
            "the program of the host part cannot be read: {error}"
        ))
    })?;
    let (mut names, mut variables) = (BTreeMap::new(), Vec::new());
    for symbol in file.symbols() {
        let Ok(name) = symbol.name() else {
            continue;
        };
        if symbol.kind() == SymbolKind::Data {
            names.insert(symbol.address(), name.to_owned());
            variables.push(HostVariable {
                addresses: symbol.address()..symbol.address() + symbol.size(),
                name: name.to_owned(),
            });
        } else if let Some(name) = kernel_name(name) {
            names.insert(symbol.address(), name);
        }
    }
    Ok(Symbols { names, variables })
}

/// Returns the kernel that the function `name` stands for: `_Z17__device_stub__addPf` for
/// `_Z3addPf`.
fn kernel_name(name: &str) -> Option<String> {
    const MARK: &str = "__device_stub__";
    let at = name.find(MARK)?;
    let before = &name[..at];
    let digits = before.len()
        - before
            .trim_end_matches(|it: char| it.is_ascii_digit())
            .len();
    if digits == 0 {
        // A function with C linkage.
        return Some(name.replacen(MARK, "", 1));
    }
    let (head, length) = before.split_at(before.len() - digits);
    let length = length.parse::<usize>().ok()?.checked_sub(MARK.len())?;
    Some(format!("{head}{length}{}", &name[at + MARK.len()..]))
}

pub(super) fn host_failure(report: &SandboxReport) -> Diagnostic {
    use autocomp_sandbox::Exit;
    if report.timed_out || matches!(report.exit, Exit::Signal(24 | 9)) {
        return Diagnostic::error(
            Stage::Test,
            "host-part-endless",
            "the host part does not end",
        );
    }
    let mut found = match report.exit {
        Exit::Signal(11 | 7) => Diagnostic::error(
            Stage::Test,
            "host-part-crashed",
            "the host part reads or writes memory that it does not have: buffers lie on the device, their contents are not there for `solution`",
        ),
        Exit::Signal(signal) => Diagnostic::error(
            Stage::Test,
            "host-part-crashed",
            format!("signal {signal} ends the host part"),
        ),
        Exit::Code(code) => Diagnostic::error(
            Stage::Test,
            "host-part-crashed",
            format!("the host part ends with the code {code}"),
        ),
    };
    found.remedy = Some(
        "let `solution` compute sizes, ask for memory and launch kernels, nothing else".into(),
    );
    found
}
