//! Reads what a thread of a launch does.
//!
//! Coordinates become variables (`bx`, `tx`), functions of the file become a part of the kernel,
//! whole numbers that never change are put where they are used.

mod declarations;
mod expressions;
mod pointers;
mod statements;

use crate::expression::Expression;
use crate::source::{Argument, File, Launch, refused};
use crate::step::Step;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::syntax::assigned_names;
use autocomp_nests::Refusal;
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::Node;

/// Axes of blocks and threads.
pub(crate) const AXES: [char; 3] = ['x', 'y', 'z'];
/// How many statements and expressions are read: functions can be read again and again.
const BUDGET: u32 = 20_000;
/// How deep functions may call one another.
const CALL_LIMIT: usize = 16;

/// What one thread of a launch does.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    /// Line of the kernel, from 1.
    pub line: usize,
    pub grid: [i64; 3],
    pub block: [i64; 3],
    pub parameters: Vec<Parameter>,
    pub steps: Vec<Step>,
    /// Arrays of the block: type and elements.
    pub shared: BTreeMap<String, (String, i64)>,
    /// Types of variables.
    pub kinds: BTreeMap<String, String>,
}

/// An array that a kernel is given, or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// Name in what is written.
    pub name: String,
    /// Name in the host function.
    pub given: String,
    /// Type of the elements, or of the number.
    pub kind: String,
    pub is_array: bool,
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum Binding {
    /// A value that never changes.
    Value(Expression),
    /// A variable, by its name in the result.
    Scalar(String),
    /// A place in an array, and how deep in blocks it was named: a pointer moves there alone.
    Array(String, Expression, u32),
    /// An array of several dimensions, with the elements below each but the last.
    Table(String, Vec<i64>),
}

struct Reader<'f> {
    file: &'f File,
    functions: BTreeMap<String, Node<'f>>,
    bindings: BTreeMap<String, Binding>,
    assigned: BTreeSet<String>,
    grid: [i64; 3],
    block: [i64; 3],
    taken: BTreeSet<String>,
    shared: BTreeMap<String, (String, i64)>,
    /// Bytes of shared memory whose size the launch gives, until an array has them.
    shared_bytes: Option<i64>,
    kinds: BTreeMap<String, String>,
    /// What has to be done before the statement that is being read.
    pending: Vec<Step>,
    calls: Vec<String>,
    /// Blocks around what is being read; 1 is the body of the kernel.
    depth: u32,
    budget: u32,
}

/// Reads the kernel of a launch.
///
/// `taken` are names that other launches use, to which those of this one are added.
///
/// # Errors
/// What is not understood.
pub(crate) fn thread(
    file: &File,
    launch: &Launch,
    taken: &mut BTreeSet<String>,
) -> Result<Thread, Refusal> {
    let functions: BTreeMap<String, Node<'_>> = file.functions().into_iter().collect();
    let Some(function) = functions.get(&launch.kernel).copied() else {
        return Err(Refusal {
            line: Some(launch.line),
            why: format!(
                "launches `{}`, which the file does not define",
                launch.kernel
            ),
        });
    };
    let Some(body) = function.child_by_field_name("body") else {
        return refused(function, &file.plain, "has no body");
    };
    let mut reader = Reader {
        file,
        assigned: assigned_names(body, &file.text),
        bindings: BTreeMap::new(),
        grid: launch.grid,
        block: launch.block,
        taken: taken.clone(),
        shared: BTreeMap::new(),
        shared_bytes: Some(launch.shared_bytes),
        kinds: BTreeMap::new(),
        pending: Vec::new(),
        calls: Vec::new(),
        depth: 0,
        budget: BUDGET,
        functions,
    };
    for (name, value) in file.constants() {
        let value = Binding::Value(Expression::constant(value));
        reader.bindings.insert(name, value);
    }
    let mut parameters = Vec::new();
    let declared = file.parameters(function)?;
    if declared.len() != launch.arguments.len() {
        return Err(Refusal {
            line: Some(launch.line),
            why: format!(
                "gives `{}` another number of arguments than it takes",
                launch.kernel
            ),
        });
    }
    for ((name, kind, is_array), argument) in declared.into_iter().zip(&launch.arguments) {
        let binding = match (is_array, argument) {
            (true, Argument::Array(given, _)) => {
                // Writers give some names themselves.
                let own = match is_reserved(given) {
                    true => format!("{given}_given"),
                    false => given.clone(),
                };
                reader.taken.insert(own.clone());
                let parameter = Parameter {
                    name: own.clone(),
                    given: given.clone(),
                    kind,
                    is_array: true,
                };
                if !parameters.contains(&parameter) {
                    parameters.push(parameter);
                }
                Binding::Array(own, Expression::Index(Affine::default()), 1)
            }
            (false, _) if reader.assigned.contains(&name) => {
                return refused(function, &file.plain, "changes what it was given");
            }
            (false, Argument::Number(number)) => Binding::Value(Expression::constant(*number)),
            (false, Argument::Text(text)) if is_float(&kind) => {
                let is_same = kind == "float" && text.ends_with(['f', 'F']);
                Binding::Value(Expression::Text(match is_same {
                    true => text.clone(),
                    false => format!("(({kind}){text})"),
                }))
            }
            (false, Argument::Scalar(given)) if is_float(&kind) => {
                let own = reader.fresh(&name);
                parameters.push(Parameter {
                    name: own.clone(),
                    given: given.clone(),
                    kind,
                    is_array: false,
                });
                Binding::Value(Expression::Text(own))
            }
            _ => {
                return Err(Refusal {
                    line: Some(launch.line),
                    why: format!("gives `{name}` something of another kind"),
                });
            }
        };
        reader.bindings.insert(name, binding);
    }
    let mut steps = Vec::new();
    reader.block(body, &mut steps)?;
    taken.extend(reader.taken);
    Ok(Thread {
        line: 1 + function.start_position().row,
        grid: launch.grid,
        block: launch.block,
        parameters,
        steps,
        shared: reader.shared,
        kinds: reader.kinds,
    })
}

impl<'f> Reader<'f> {
    fn text(&self, node: Node<'_>) -> &'f str {
        &self.file.text[node.byte_range()]
    }

    fn refused<T>(&self, node: Node<'_>, why: &str) -> Result<T, Refusal> {
        refused(node, &self.file.plain, why)
    }

    fn field(&self, node: Node<'f>, name: &str) -> Result<Node<'f>, Refusal> {
        match node.child_by_field_name(name) {
            Some(field) => Ok(field),
            None => self.refused(node, "is not understood"),
        }
    }

    /// Returns a name that nothing else has.
    fn fresh(&mut self, name: &str) -> String {
        let all = std::iter::once(name.to_owned()).chain((2..).map(|it| format!("{name}_{it}")));
        let mut free = all.filter(|it| !self.taken.contains(it) && !is_reserved(it));
        let found = free.next().unwrap_or_default();
        self.taken.insert(found.clone());
        found
    }

    fn spend(&mut self, node: Node<'_>) -> Result<(), Refusal> {
        self.budget = self.budget.saturating_sub(1);
        match self.budget {
            0 => self.refused(node, "is more than is read"),
            _ => Ok(()),
        }
    }
}

fn is_float(kind: &str) -> bool {
    ["float", "double"].contains(&kind)
}

/// Returns whether a name is one that writers give, or that something else has.
fn is_reserved(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "e",
        "item",
        "lane",
        "unit",
        "own",
        "place",
        "copy",
        "tile",
        "down",
        "across",
        "distance",
        "warp",
        "thread",
        "block",
        "dim3",
        "stage",
        "depth",
        "part",
        "from",
        "left",
        "right",
        "sums",
        "next_left",
        "next_right",
        "row_of",
        "memory",
        "left0",
        "right0",
        "column_of",
        "inside",
    ];
    /// Words that a number follows.
    const NUMBERED: &[&str] = &[
        "v", "m", "partial", "inverse", "first", "left", "right", "sums",
    ];
    let is_coordinate = name.strip_prefix(['b', 't', 'g']).is_some_and(|it| {
        !it.is_empty()
            && it
                .chars()
                .all(|it| AXES.contains(&it) || matches!(it, 'b' | 't' | 'g'))
    });
    let stem = name.trim_end_matches(|it: char| it.is_ascii_digit());
    NAMES.contains(&name) || is_coordinate || stem.len() < name.len() && NUMBERED.contains(&stem)
}
