//! Raises statements of a kernel that are plain C, and leaves the others to the core.

use super::plain::{Arrangement, Follower, Left, Plain, stored};
use super::program::{Program, Statement};
use super::walk::{Habits, needs};
use super::{Lifted, Operation, Reason, Work, head, without_header, works};
use crate::memory::Memory;
use autocomp_gemmini::GemminiConfig;
use std::collections::BTreeSet;
use std::ops::Range;

/// Stretches of statements that are tried.
const TRIED: usize = 60;

/// Statements in a row that are raised.
struct Raised {
    stretch: Range<usize>,
    plain: Plain,
    works: Vec<Work>,
}

/// Raises a kernel that leaves everything to the core: all of it, or as many of its
/// statements as are understood, several of them in a row at once.
///
/// # Errors
/// Why not even one of them is raised.
pub(super) fn raised(
    source: &str,
    program: Program,
    habits: &[Habits],
    config: &GemminiConfig,
) -> Result<Lifted, Reason> {
    let working: Vec<usize> = (0..habits.len()).filter(|at| habits[*at].works).collect();
    let (Some(first), Some(last)) = (working.first(), working.last()) else {
        return Err(Reason::at(0, "it stores nothing"));
    };
    let whole = *first..*last + 1;
    let memories = &program.memories;
    let why = match attempt(source, &program, memories, whole.clone(), habits, config) {
        Ok((plain, works)) => {
            let all = Raised {
                stretch: whole,
                plain,
                works,
            };
            return Ok(lifted(source, &program, vec![all], true));
        }
        Err(why) => why,
    };
    let mut stretches: Vec<Range<usize>> = Vec::new();
    for (at, start) in working.iter().enumerate() {
        stretches.extend(working[at..].iter().map(|end| *start..end + 1));
    }
    stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.len()));
    let mut found: Vec<Raised> = Vec::new();
    let mut refused: Option<(usize, Reason)> = None;
    for stretch in stretches.into_iter().skip(1).take(TRIED) {
        let overlaps =
            |it: &Raised| it.stretch.start < stretch.end && stretch.start < it.stretch.end;
        if found.iter().any(overlaps) {
            continue;
        }
        let memories = found.last().map_or(memories, |it| &it.plain.memories);
        let tried = attempt(source, &program, memories, stretch.clone(), habits, config);
        let (plain, works) = match tried {
            Ok(found) => found,
            Err(why) => {
                if stretch.len() == 1 && refused.as_ref().is_none_or(|it| stretch.start < it.0) {
                    refused = Some((stretch.start, why));
                }
                continue;
            }
        };
        let is_worth_it = |work: &Work| !matches!(work.operation, Operation::Addition { .. });
        if works.iter().any(is_worth_it) {
            found.push(Raised {
                stretch,
                plain,
                works,
            });
        }
    }
    if !found.is_empty() {
        return Ok(lifted(source, &program, found, false));
    }
    // The first statement that is not understood by itself stands for all.
    let (line, text) = match (why.line, refused) {
        (0, Some((at, why))) => (line_of(source, program.body[at].1.start), why.text),
        (0, None) => (line_of(source, program.body[*first].1.start), why.text),
        (line, _) => (line, why.text),
    };
    Err(Reason::at(line, &format!("{text}{REMEDY}")))
}

/// What helps if nothing of plain C is understood.
const REMEDY: &str = "; sums of products of two arrays of the accelerator's operands are raised if \
                      they stand in statements of their own";

fn line_of(source: &str, start: usize) -> usize {
    source[..start].matches('\n').count() + 1
}

/// Raises statements in a row; `memories` are the arrays that there are by now.
fn attempt(
    source: &str,
    program: &Program,
    memories: &[Memory],
    stretch: Range<usize>,
    habits: &[Habits],
    config: &GemminiConfig,
) -> Result<(Plain, Vec<Work>), Reason> {
    let later: Vec<usize> = (stretch.end..habits.len())
        .filter(|at| habits[*at].works)
        .collect();
    let text = |at: &usize| &source[program.body[*at].1.clone()];
    // Functions that are called may name arrays of the file.
    let calls = later.iter().any(|at| text(at).contains('('));
    let is_wanted = |array: usize| {
        let memory = &program.memories[array];
        let is_named = |at: &usize| names(text(at), &memory.name);
        let is_of_file = program.globals.contains(&array);
        memory.is_parameter || later.iter().any(is_named) || calls && is_of_file
    };
    // What is raised sets no variables.
    let sets = stretch.clone().filter(|at| habits[*at].works);
    let sets: BTreeSet<usize> = sets.flat_map(|at| habits[at].sets.clone()).collect();
    let is_needed = |slot: &usize| later.iter().any(|at| needs(&program.body[*at].0, *slot));
    if sets.iter().any(is_needed) {
        return Err(Reason::at(
            0,
            "a variable that it sets is used by statements behind it",
        ));
    }
    let left = Follower::new(program).run(stretch, habits)?;
    let mut first = None;
    for laying in Arrangement::all() {
        match understood(memories, &left, &is_wanted, laying, config) {
            Ok((_, works)) if laying.columns && !is_of_columns(&works) => {}
            Ok(found) => return Ok(found),
            Err(_) if laying.columns => {}
            Err(why) => {
                first.get_or_insert(why);
            }
        }
    }
    Err(first.unwrap_or_else(|| Reason::at(0, "it stores nothing")))
}

/// Returns what statements store, as operations that have schedules.
fn understood(
    memories: &[Memory],
    left: &Left,
    is_wanted: &dyn Fn(usize) -> bool,
    laying: Arrangement,
    config: &GemminiConfig,
) -> Result<(Plain, Vec<Work>), Reason> {
    let plain = stored(memories, left, is_wanted, laying, config)?;
    let stored = plain.stored.iter().map(|(array, stored)| (*array, stored));
    let works = works(stored, &plain.numbered, &plain.memories, config);
    match (works, &plain.why) {
        (Ok(works), _) if works.iter().any(is_turned) => Err(Reason::at(
            0,
            "an input and weights that are both transposed",
        )),
        (Ok(works), _) => Ok((plain, works)),
        // With the accelerator's way from sums to results it might have been understood.
        (Err(_), Some(why)) => Err(why.clone()),
        (Err(why), None) => Err(why),
    }
}

/// Returns whether both operands of a product lie in memory transposed.
fn is_turned(work: &Work) -> bool {
    matches!(work.operation, Operation::Product { turned, .. } if turned == [true; 2])
}

/// Returns whether single columns of results are products of matrices as they lie in memory.
fn is_of_columns(works: &[Work]) -> bool {
    let mut columns = works.iter().filter(|it| it.columns == 1 && 1 < it.rows);
    let is_product = |work: &Work| matches!(work.operation, Operation::Product { turned, .. } if turned == [false; 2]);
    columns.next().is_some_and(is_product) && columns.all(is_product)
}

/// Returns whether a text has a name in it.
fn names(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part)
    })
}

/// Returns a kernel of which some statements are raised, or all of them.
fn lifted(source: &str, program: &Program, mut found: Vec<Raised>, is_whole: bool) -> Lifted {
    let memories = found
        .last()
        .map_or_else(Vec::new, |it| it.plain.memories.clone());
    let new: String = memories[program.memories.len()..]
        .iter()
        .map(declaration)
        .collect();
    found.sort_by_key(|it| it.stretch.start);
    // Of the arrays, those are kept that lie between operations.
    let between = |text: &str| {
        let stored = found.iter().flat_map(|it| it.plain.stored.keys());
        let mut arrays = stored.map(|array| &memories[*array]);
        arrays.any(|array| !array.is_parameter && names(text, &array.name))
    };
    let text = |at: usize| format!("  {}\n", &source[program.body[at].1.clone()]);
    let is_declared = |at: usize| {
        let (statements, _) = &program.body[at];
        let declares = |it: &Statement| matches!(it, Statement::Clear(..) | Statement::Declare(..));
        !text(at).trim_start().starts_with('/')
            && statements.iter().all(declares)
            && (!is_whole || between(&text(at)))
    };
    let mut works: Vec<Work> = Vec::new();
    let mut texts: Vec<(usize, String)> = Vec::new();
    let mut done = 0;
    let mut core = new;
    for Raised {
        stretch,
        plain,
        works: own,
    } in &found
    {
        let ahead =
            (done..stretch.end).filter(|at| !is_whole && *at < stretch.start || is_declared(*at));
        core.push_str(&ahead.map(text).collect::<String>());
        core.push_str(&plain.preparation);
        texts.push((works.len(), std::mem::take(&mut core)));
        works.extend(own);
        core.push_str(&plain.remainder);
        done = stretch.end;
    }
    let rest = (done..program.body.len()).map(text);
    let after = core + &rest.collect::<String>();
    let prefix = match is_whole {
        false => without_header(source, program),
        true => head(source, program, &|text| {
            !text.contains('[') || between(text)
        }),
    };
    let before = texts.remove(0).1;
    Lifted {
        works,
        prefix,
        before,
        between: texts.into_iter().collect(),
        after,
        suffix: source[program.inside.end..].to_owned(),
        hardware_loop: None,
        memories,
    }
}

/// Returns the declaration of an array.
pub(super) fn declaration(memory: &Memory) -> String {
    let extents: String = memory
        .extents
        .iter()
        .map(|extent| format!("[{extent}]"))
        .collect();
    let kind = memory.kind_in_c();
    format!("  static {kind} {}{extents};\n", memory.name)
}

/// Takes out what the core does before the first command and behind the last, and, if
/// `between`, also what it does between them: it stays as it is. Returns the statements.
pub(super) fn without_core(
    mut program: Program,
    habits: &[Habits],
    between: bool,
) -> (Program, BTreeSet<usize>) {
    let mut taken = BTreeSet::new();
    let sends = |it: &Habits| it.commands || it.refused;
    let (Some(first), Some(last)) = (
        habits.iter().position(sends),
        habits.iter().rposition(sends),
    ) else {
        return (program, taken);
    };
    for (at, habits) in habits.iter().enumerate() {
        let (statements, _) = &mut program.body[at];
        let declares = |it: &Statement| matches!(it, Statement::Clear(..) | Statement::Declare(..));
        let stays = (first..=last).contains(&at) && (!between || sends(habits));
        if stays || !habits.works || statements.iter().all(declares) {
            continue;
        }
        // What variables hold then is not known.
        let unknown = habits
            .sets
            .iter()
            .map(|slot| Statement::Declare(*slot, None));
        *statements = vec![Statement::Block(unknown.collect())];
        taken.insert(at);
    }
    (program, taken)
}
