//! Raises statements of a kernel that are plain C, and leaves the others to the core.

use super::plain::{Follower, Left, Plain, stored};
use super::program::{Memory, Program, Statement};
use super::walk::Habits;
use super::{Lifted, Operation, Reason, Work, head, without_header, works};
use autocomp_gemmini::GemminiConfig;
use std::ops::Range;

/// Stretches of statements that are tried.
const TRIED: usize = 40;

/// Raises a kernel that leaves everything to the core: all of it, or as many of its
/// statements in a row as are understood.
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
    let why = match attempt(source, &program, whole, habits, config) {
        Ok((plain, works)) => return Ok(lifted(source, &program, &plain, works, None)),
        Err(why) => why,
    };
    let mut stretches: Vec<Range<usize>> = Vec::new();
    for (at, start) in working.iter().enumerate() {
        stretches.extend(working[at..].iter().map(|end| *start..end + 1));
    }
    stretches.sort_by_key(|stretch| std::cmp::Reverse(stretch.len()));
    for stretch in stretches.into_iter().skip(1).take(TRIED) {
        let Ok((plain, works)) = attempt(source, &program, stretch.clone(), habits, config) else {
            continue;
        };
        let is_worth_it = |work: &Work| !matches!(work.operation, Operation::Addition { .. });
        if works.iter().any(is_worth_it) {
            return Ok(lifted(source, &program, &plain, works, Some(stretch)));
        }
    }
    Err(why)
}

fn attempt(
    source: &str,
    program: &Program,
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
    let left = Follower::new(program).run(stretch, habits)?;
    let tried = understood(program, &left, &is_wanted, false, config);
    tried.or_else(|why| understood(program, &left, &is_wanted, true, config).map_err(|_| why))
}

/// Returns what statements store, as operations that have schedules.
fn understood(
    program: &Program,
    left: &Left,
    is_wanted: &dyn Fn(usize) -> bool,
    lays_weights: bool,
    config: &GemminiConfig,
) -> Result<(Plain, Vec<Work>), Reason> {
    let plain = stored(program, left, is_wanted, lays_weights, config)?;
    let works = works(&plain.stored, &plain.numbered, &plain.memories, config);
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

/// Returns whether a text has a name in it.
fn names(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part)
    })
}

/// Returns a kernel of which some statements are raised, all if `stretch` is none.
fn lifted(
    source: &str,
    program: &Program,
    plain: &Plain,
    works: Vec<Work>,
    stretch: Option<Range<usize>>,
) -> Lifted {
    // Of the arrays, those are kept that lie between operations.
    let between = |text: &str| {
        let arrays = plain.stored.keys().map(|array| &plain.memories[*array]);
        let mut arrays = arrays.filter(|it| !it.is_parameter);
        arrays.any(|array| names(text, &array.name))
    };
    let text = |at: usize| format!("  {}\n", &source[program.body[at].1.clone()]);
    let is_declared = |at: usize| {
        let (statements, _) = &program.body[at];
        let declares = |it: &Statement| matches!(it, Statement::Clear(..) | Statement::Declare(..));
        !text(at).trim_start().starts_with('/')
            && statements.iter().all(declares)
            && (stretch.is_some() || between(&text(at)))
    };
    let all = 0..program.body.len();
    let inside = stretch.clone().unwrap_or(all.clone());
    let before = all.clone().filter(|at| *at < inside.end);
    let before = before.filter(|at| *at < inside.start || is_declared(*at));
    let after = all.filter(|at| inside.end <= *at);
    let prefix = match stretch {
        Some(_) => without_header(source, program),
        None => head(source, program, &|text| {
            !text.contains('[') || between(text)
        }),
    };
    let new: String = plain.memories[plain.new.clone()]
        .iter()
        .map(declaration)
        .collect();
    Lifted {
        works,
        prefix,
        before: new + &before.map(text).collect::<String>() + &plain.preparation,
        after: plain.remainder.clone() + &after.map(text).collect::<String>(),
        suffix: source[program.inside.end..].to_owned(),
        hardware_loop: None,
        memories: plain.memories.clone(),
    }
}

/// Returns the declaration of an array of integers.
fn declaration(memory: &Memory) -> String {
    let extents: String = memory
        .extents
        .iter()
        .map(|extent| format!("[{extent}]"))
        .collect();
    let bits = 8 * memory.element;
    format!("  static int{bits}_t {}{extents};\n", memory.name)
}

/// Takes out what the core does before the first command and behind the last: it stays as
/// it is. Returns whether there was any of that.
pub(super) fn without_core(mut program: Program, habits: &[Habits]) -> (Program, bool) {
    let sends = |it: &Habits| it.commands || it.refused;
    let (Some(first), Some(last)) = (
        habits.iter().position(sends),
        habits.iter().rposition(sends),
    ) else {
        return (program, false);
    };
    let mut is_reduced = false;
    for (at, habits) in habits.iter().enumerate() {
        let (statements, _) = &mut program.body[at];
        let declares = |it: &Statement| matches!(it, Statement::Clear(..) | Statement::Declare(..));
        if (first..=last).contains(&at) || !habits.works || statements.iter().all(declares) {
            continue;
        }
        // What variables hold then is not known.
        let unknown = habits
            .sets
            .iter()
            .map(|slot| Statement::Declare(*slot, None));
        *statements = vec![Statement::Block(unknown.collect())];
        is_reduced = true;
    }
    (program, is_reduced)
}
