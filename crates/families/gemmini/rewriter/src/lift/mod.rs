//! Finds out what a kernel computes, however it is written.
//!
//! The kernel is run without data: its loops, guards, helper functions and
//! address arithmetic are followed command by command, and every row of local
//! memory is traced back to the places in memory that it came from. If what is
//! stored is a matrix product, a convolution or an addition of arrays, it can
//! be scheduled anew.

mod array;
mod calls;
mod commands;
mod contents;
mod contraction;
mod declare;
mod distribute;
mod elementwise;
mod expressions;
mod group;
mod library;
mod machine;
mod operators;
mod parts;
mod pixel_rows;
mod plain;
mod program;
mod raise;
mod read;
mod recognize;
mod resident;
mod run;
mod sends;
mod statements;
mod sums;
mod trace;
mod transposition;
mod uses;
pub(crate) mod values;
mod versions;
mod walk;
mod windows;
mod work;

pub(crate) use contents::{HardwareLoop, Store};
pub use elementwise::Elementwise;
pub use work::{Bias, Convolution, Operand, Operation, Repeat, Work};

use crate::memory::Memory;
use crate::normalise::{Vocabulary, expand};
use autocomp_gemmini::{Elements, GemminiConfig};
use contents::{Numbered, Stored};
use machine::Machine;
use sends::Definitions;
use std::collections::BTreeMap;
use std::fmt;
use walk::Habits;

/// Why a kernel is not understood, with the line if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The line, from 1; 0 if unknown.
    pub(crate) line: usize,
    /// Why.
    pub(crate) text: String,
}

impl Reason {
    pub(crate) fn at(line: usize, text: &str) -> Self {
        Self {
            line,
            text: text.to_owned(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.text),
            line => write!(f, "line {line}: {}", self.text),
        }
    }
}

/// What a kernel computes, and what of its text is kept when it is written anew.
#[derive(Clone, Debug)]
pub struct Lifted {
    /// The arrays, by number.
    pub(crate) memories: Vec<Memory>,
    /// What is computed, one after the other.
    pub works: Vec<Work>,
    /// Text before the body of the entry function, with its opening brace.
    pub(crate) prefix: String,
    /// Statements that the core executes before the first command.
    pub(crate) before: String,
    /// The same between commands, by the number of the operation that comes behind it.
    pub(crate) between: BTreeMap<usize, String>,
    /// The same behind the last command.
    pub after: String,
    /// Text behind the body, from its closing brace.
    pub(crate) suffix: String,
    /// The first of the hardware's loops that it calls.
    pub hardware_loop: Option<HardwareLoop>,
}

impl Lifted {
    /// Returns the products of two elements that go into all results.
    fn products(&self) -> i64 {
        self.works.iter().map(Work::products).sum()
    }

    /// Returns whether two kernels compute the same, arrays compared by their names.
    pub fn is_same(&self, other: &Self) -> bool {
        let number = |array: usize| {
            let name = &self.memories.get(array)?.name;
            let memories = &mut other.memories.iter();
            memories.position(|memory| memory.name == *name)
        };
        let works = self.works.iter().map(|work| work.renumbered(&number));
        works.eq(other.works.iter().map(|work| Some(*work)))
    }
}

/// Finds out what a kernel computes.
///
/// # Errors
/// What is not understood.
pub fn lift(
    source: &str,
    config: &GemminiConfig,
    vocabulary: &Vocabulary,
) -> Result<Lifted, Reason> {
    read_twice(source, |text| lift_text(text, config, vocabulary))
}

/// Reads a source, and if that fails once more with its macros expanded: those with arguments
/// are read where they are used.
fn read_twice<T>(source: &str, read: impl Fn(&str) -> Result<T, Reason>) -> Result<T, Reason> {
    read(source).or_else(|why| match expand(source) {
        Ok(text) if text != source => match read(&text) {
            Err(other) if other.line == 0 => Err(other),
            other => other.map_err(|_| why),
        },
        _ => Err(why),
    })
}

fn lift_text(
    source: &str,
    config: &GemminiConfig,
    vocabulary: &Vocabulary,
) -> Result<Lifted, Reason> {
    let program = program(source, config, vocabulary)?;
    let is_plain = |habits: &Habits| !habits.commands;
    let mut habits: Vec<Habits> = program
        .body
        .iter()
        .map(|(statements, _)| Habits::of(statements, &program))
        .collect();
    if habits.iter().any(|it| it.refused) {
        let definitions = Definitions::of(source);
        for (habits, (_, range)) in habits.iter_mut().zip(&program.body) {
            if habits.refused {
                habits.refused = definitions.may_send(&source[range.clone()]);
                habits.commands |= habits.refused;
            }
        }
    }
    if habits.iter().all(is_plain) {
        let found = raise::raised(source, program, &habits, config);
        let is_whole = |it: &Lifted| it.between.is_empty() && it.products() != 0;
        if found.as_ref().is_ok_and(is_whole) {
            return found;
        }
        // A loop that does several things may be understood when each has a loop of its own.
        let split = distribute::distributed(source, &vocabulary.entry)
            .and_then(|text| lift_text(&text, config, vocabulary).ok());
        let found = match (found, split) {
            (Ok(found), Some(split)) if found.products() < split.products() => Ok(split),
            (Err(_), Some(split)) => Ok(split),
            (found, _) => found,
        };
        // So may sums that a loop does something with in each step.
        return found.or_else(|why| {
            let taken_out = sums::taken_out(source, &vocabulary.entry);
            let mut lifted = taken_out
                .iter()
                .filter_map(|text| lift_text(text, config, vocabulary).ok());
            lifted.next().ok_or(why)
        });
    }
    let whole = commanded(source, program.clone(), &habits, false, config);
    whole.or_else(|why| commanded(source, program, &habits, true, config).map_err(|_| why))
}

/// Finds out what a kernel's commands compute; `between`: what the core does between them is
/// left to it.
fn commanded(
    source: &str,
    program: program::Program,
    habits: &[Habits],
    between: bool,
    config: &GemminiConfig,
) -> Result<Lifted, Reason> {
    let (program, taken) = raise::without_core(program, habits, between);
    let mut machine = Machine::new(config, &program.memories);
    machine.cuts.clone_from(&taken);
    run::run(&program, &mut machine)?;
    let nowhere = |text: &str| Reason::at(0, text);
    let (Some(first), Some(last)) = (machine.issuing.first(), machine.issuing.last()) else {
        return Err(nowhere("it issues no command"));
    };
    // What is written anew ends with a fence, whether the kernel did or not.
    if machine.was_cut_unfenced {
        return Err(nowhere(
            "the core goes on without a fence behind its commands",
        ));
    }
    let (first, last) = (*first, *last);
    for (statement, array) in machine.writing.iter().chain(&machine.reading) {
        if (first..=last).contains(statement) {
            let begin = program.body[*statement].1.start;
            let line = source[..begin].matches('\n').count() + 1;
            let name = &program.memories[*array].name;
            let why = format!("the core reads or writes `{name}` between commands");
            return Err(Reason::at(line, &why));
        }
    }
    machine.cut();
    // Operations up to each statement of the core between them.
    let mut all = Vec::new();
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut kept_arrays = String::new();
    let mut memories = program.memories.clone();
    for (statement, stored) in &mut machine.segments {
        let arrays = resident::settle(stored, &machine.numbered, &mut memories, config);
        kept_arrays.push_str(&arrays.map_err(|why| Reason::at(0, &why))?);
        let stored =
            std::mem::take(stored).joined(&machine.numbered, config.element_bytes().into());
        let stored = stored.map_err(|why| Reason::at(0, &why))?;
        let stored = stored.iter().map(|(array, stored)| (*array, stored));
        all.extend(works(stored, &machine.numbered, &memories, config)?);
        ends.push((*statement, all.len()));
    }
    // Arrays are kept, and what the core does before the first command and behind the last.
    let writes = !taken.is_empty() || !machine.writing.is_empty();
    let own = |index: usize| &source[program.body[index].1.clone()];
    let is_array = |index: usize| {
        let text = own(index);
        program.body[index].0.is_empty() && !text.starts_with('/') && text.contains('[')
    };
    let text = |range: std::ops::Range<usize>, with_code: bool| {
        range
            .filter_map(|index| {
                let (statements, _) = &program.body[index];
                let is_code = !statements.is_empty() && with_code && writes;
                let is_kept = !machine.issuing.contains(&index) && (is_code || is_array(index));
                is_kept.then(|| format!("  {}\n", own(index)))
            })
            .collect::<String>()
    };
    let before = kept_arrays + &text(0..first, true) + &text(first..last + 1, false);
    let after = text(last + 1..program.body.len(), true);
    // What stands between two commands is kept if the core works there.
    let mut kept: BTreeMap<usize, String> = BTreeMap::new();
    for cut in taken.range(first..last) {
        let start = machine
            .issuing
            .range(..cut)
            .next_back()
            .map_or(0, |it| it + 1);
        let end = machine.issuing.range(cut..).next().copied().unwrap_or(last);
        let Some((_, number)) = ends.iter().rfind(|(statement, _)| statement <= cut) else {
            continue;
        };
        let code = (start..end).filter(|index| !is_array(*index) && !own(*index).starts_with('/'));
        let code: String = code.map(|index| format!("  {}\n", own(index))).collect();
        kept.insert(*number, code);
    }
    if kept.contains_key(&all.len()) || kept.contains_key(&0) {
        return Err(nowhere(
            "the core computes between commands that store nothing",
        ));
    }
    let mut lifted = Lifted {
        works: all,
        prefix: without_header(source, &program),
        before,
        between: kept,
        after,
        suffix: source[program.inside.end..].to_owned(),
        hardware_loop: machine.hardware_loop(),
        memories,
    };
    transposition::turn_inputs(&mut lifted);
    Ok(lifted)
}

/// Recognises what arrays are given, in the order in which they are begun.
fn works<'seen>(
    all: impl Iterator<Item = (usize, &'seen Stored)>,
    numbered: &Numbered,
    memories: &[Memory],
    config: &GemminiConfig,
) -> Result<Vec<Work>, Reason> {
    let facts = (i64::from(config.element_bytes()), i64::from(config.dim));
    let mut order: Vec<(usize, &Stored)> = all.collect();
    order.sort_by_key(|(array, stored)| (stored.first, *array));
    let mut works = Vec::new();
    for (array, stored) in order {
        let found = recognize::recognize(array, stored, numbered, memories, facts);
        works.extend(found.map_err(|why| {
            Reason::at(
                0,
                &format!("what `{}` is given: {why}", memories[array].name),
            )
        })?);
    }
    Ok(works)
}

fn program(
    source: &str,
    config: &GemminiConfig,
    vocabulary: &Vocabulary,
) -> Result<program::Program, Reason> {
    let mut sizes = vec![
        ("DIM", i64::from(config.dim)),
        ("BANK_NUM", i64::from(config.spad_banks)),
        ("BANK_ROWS", i64::from(config.spad_bank_rows())),
        ("ACC_ROWS", i64::from(config.acc_rows())),
        ("MAX_BLOCK_LEN", i64::from(config.max_block_len())),
        ("MAX_BLOCK_LEN_ACC", i64::from(config.max_block_len_acc())),
    ];
    let is_float = config.elements == Elements::Float32;
    if !is_float {
        sizes.extend([("elem_t_max", 127), ("elem_t_min", -128)]);
    }
    let library = &vocabulary.library;
    read::read(source, &sizes, is_float, library, &vocabulary.entry)
}

/// Returns the text before the body as far as it matters without the body: what
/// the preprocessor reads, types, the entry function's own head, and the declarations
/// that are kept.
fn head(source: &str, program: &program::Program, is_kept: &dyn Fn(&str) -> bool) -> String {
    let before = &source[..program.start];
    let mut kept = String::new();
    if let Some(tree) = crate::syntax::syntax_tree(before) {
        for node in crate::syntax::children(tree.root_node()) {
            let text = before[node.byte_range()].trim_end();
            let is_named = matches!(node.kind(), "declaration" | "enum_specifier");
            if node.kind().starts_with("preproc_")
                || node.kind() == "type_definition"
                || is_named && is_kept(text)
            {
                kept.push_str(text);
                kept.push('\n');
            }
        }
    }
    if !kept.is_empty() {
        kept.push('\n');
    }
    format!("{kept}{}", &source[program.start..program.inside.start])
}

/// Returns the text before the body, without the comment right above the entry
/// function: it describes how the kernel was written.
fn without_header(source: &str, program: &program::Program) -> String {
    let text = &source[..program.inside.start];
    let mut above = &text[..program.start];
    let kept = loop {
        let kept = above.trim_end();
        let is_right_above = above[kept.len()..].matches('\n').count() < 2;
        let line = kept.lines().last().unwrap_or_default();
        above = if line.trim_start().starts_with("//") {
            &kept[..kept.len() - line.len()]
        } else if let Some(begin) = kept.rfind("/*")
            && is_right_above
            && kept.ends_with("*/")
        {
            &kept[..begin]
        } else {
            break kept;
        };
    };
    let gap = if kept.is_empty() { "" } else { "\n\n" };
    format!("{kept}{gap}{}", &text[program.start..])
}
