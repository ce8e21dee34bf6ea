//! Runs a kernel's control flow and addresses, without data.
//!
//! A kernel is first lowered: variables become slots and arrays become
//! numbers, so that following tens of thousands of commands is quick.

use crate::affine::{Affine, Atom};
use crate::condition::{Condition, Relation};
use crate::kernel::{Command, Dram, Kernel, Local, Statement};

/// What happens while a kernel runs.
#[derive(Clone, Copy, Debug)]
pub enum Event<'kernel> {
    /// A loop begins another iteration.
    Iteration,
    /// A guard is tested.
    Test,
    /// A command is issued.
    Issue(Issue<'kernel>),
}

/// A command with its addresses.
#[derive(Clone, Copy, Debug)]
pub struct Issue<'kernel> {
    /// The command.
    pub command: &'kernel Command,
    /// Rows of the local operands, in the order of the call; none for garbage.
    pub rows: [Option<usize>; 2],
    /// Whether the written operand replaces what its rows hold.
    pub overwrites: bool,
    /// Where in memory, if the command names an element of an array.
    pub place: Option<Place>,
}

/// A place in an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Number of the array among the kernel's parameters.
    pub array: usize,
    /// All indices but the last, as one number.
    pub row: i64,
    /// The last index.
    pub column: i64,
}

/// A lowered kernel.
pub struct Program<'kernel> {
    body: Vec<Node<'kernel>>,
    slots: usize,
}

enum Node<'kernel> {
    Loop {
        slot: usize,
        start: i64,
        end: i64,
        step: i64,
        body: Vec<Self>,
    },
    Guard {
        condition: Test,
        then: Vec<Self>,
        otherwise: Vec<Self>,
    },
    Command(Box<Lowered<'kernel>>),
}

struct Lowered<'kernel> {
    command: &'kernel Command,
    rows: [Option<Sum>; 2],
    overwrites: Test,
    array: Option<usize>,
    indices: Vec<Sum>,
}

/// A lowered affine expression.
struct Sum {
    constant: i64,
    terms: Vec<(i64, Term)>,
}

enum Term {
    Slot(usize),
    Quotient(Box<Sum>, i64),
    Remainder(Box<Sum>, i64),
}

/// A lowered condition.
enum Test {
    Constant(bool),
    Compare(Sum, Relation),
    All(Vec<Test>),
    Any(Vec<Test>),
}

impl Sum {
    fn of(expression: &Affine, names: &[&str]) -> Option<Self> {
        let terms = expression
            .terms()
            .map(|(atom, coefficient)| {
                let term = match atom {
                    Atom::Variable(name) => {
                        Term::Slot(names.iter().rposition(|other| other == name)?)
                    }
                    Atom::Quotient(inner, divisor) => {
                        Term::Quotient(Box::new(Self::of(inner, names)?), *divisor)
                    }
                    Atom::Remainder(inner, divisor) => {
                        Term::Remainder(Box::new(Self::of(inner, names)?), *divisor)
                    }
                };
                Some((coefficient, term))
            })
            .collect::<Option<Vec<_>>>()?;
        Some(Self {
            constant: expression.constant_part(),
            terms,
        })
    }

    /// Wraps on overflow; whoever uses rows checks their range.
    fn value(&self, values: &[i64]) -> i64 {
        let mut sum = self.constant;
        for (coefficient, term) in &self.terms {
            let value = match term {
                Term::Slot(slot) => values[*slot],
                Term::Quotient(inner, divisor) => inner.value(values).wrapping_div(*divisor),
                Term::Remainder(inner, divisor) => inner.value(values).wrapping_rem(*divisor),
            };
            sum = sum.wrapping_add(coefficient.wrapping_mul(value));
        }
        sum
    }
}

impl Test {
    fn of(condition: &Condition, names: &[&str]) -> Option<Self> {
        let all = |parts: &[Condition]| {
            parts
                .iter()
                .map(|part| Self::of(part, names))
                .collect::<Option<Vec<_>>>()
        };
        Some(match condition {
            Condition::Constant(value) => Self::Constant(*value),
            Condition::Compare(expression, relation) => {
                Self::Compare(Sum::of(expression, names)?, *relation)
            }
            Condition::All(parts) => Self::All(all(parts)?),
            Condition::Any(parts) => Self::Any(all(parts)?),
        })
    }

    fn holds(&self, values: &[i64]) -> bool {
        match self {
            Self::Constant(value) => *value,
            Self::Compare(sum, relation) => relation.holds(sum.value(values)),
            Self::All(parts) => parts.iter().all(|part| part.holds(values)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(values)),
        }
    }
}

impl<'kernel> Program<'kernel> {
    /// Lowers a kernel; `None` if something in it is not understood.
    pub fn of(kernel: &'kernel Kernel) -> Option<Self> {
        let mut slots = 0;
        let body = lower(kernel, &kernel.body, &mut Vec::new(), &mut slots)?;
        Some(Self { body, slots })
    }

    /// Visits events in the order in which they happen.
    ///
    /// Stops with `None` when `budget` events have happened, or when `visit`
    /// returns `None`.
    pub fn run(
        &self,
        budget: &mut usize,
        visit: &mut dyn FnMut(Event<'kernel>) -> Option<()>,
    ) -> Option<()> {
        run(&self.body, &mut vec![0; self.slots], budget, visit)
    }
}

fn lower<'kernel>(
    kernel: &'kernel Kernel,
    statements: &'kernel [Statement],
    names: &mut Vec<&'kernel str>,
    slots: &mut usize,
) -> Option<Vec<Node<'kernel>>> {
    let mut nodes = Vec::with_capacity(statements.len());
    for statement in statements {
        match statement {
            Statement::Loop(inner) => {
                let slot = names.len();
                names.push(&inner.variable);
                *slots = (*slots).max(names.len());
                let body = lower(kernel, &inner.body, names, slots)?;
                names.pop();
                let (start, end, step) = (inner.start, inner.end, inner.step);
                nodes.push(Node::Loop {
                    slot,
                    start,
                    end,
                    step,
                    body,
                });
            }
            Statement::Guard(guard) => nodes.push(Node::Guard {
                condition: Test::of(&guard.condition, names)?,
                then: lower(kernel, &guard.then, names, slots)?,
                otherwise: lower(kernel, &guard.otherwise, names, slots)?,
            }),
            Statement::Command(command) => {
                nodes.push(Node::Command(Box::new(lower_command(
                    kernel, command, names,
                )?)));
            }
            Statement::Comment(_) => {}
            // A declaration does nothing; other text may do anything.
            Statement::Opaque(text) if text.contains(['(', '{', '#']) => return None,
            Statement::Opaque(_) => {}
        }
    }
    Some(nodes)
}

fn lower_command<'kernel>(
    kernel: &Kernel,
    command: &'kernel Command,
    names: &[&str],
) -> Option<Lowered<'kernel>> {
    let mut rows = [None, None];
    let mut overwrites = Test::Constant(true);
    for (place, local) in rows.iter_mut().zip(command.locals()) {
        if let Local::Row(row) = local {
            *place = Some(Sum::of(&row.row, names)?);
            // Reads always say `true`, so this is the written operand's.
            if row.overwrites != Condition::Constant(true) {
                overwrites = Test::of(&row.overwrites, names)?;
            }
        }
    }
    let mut array = None;
    let mut indices = Vec::new();
    match command.dram() {
        Some(Dram::Element {
            array: name,
            indices: expressions,
        }) => {
            array = Some(kernel.arrays.iter().position(|other| other.name == *name)?);
            for expression in expressions {
                indices.push(Sum::of(expression, names)?);
            }
        }
        Some(Dram::Opaque(_)) => return None,
        Some(Dram::Zero) | None => {}
    }
    Some(Lowered {
        command,
        rows,
        overwrites,
        array,
        indices,
    })
}

fn run<'kernel>(
    nodes: &[Node<'kernel>],
    values: &mut Vec<i64>,
    budget: &mut usize,
    visit: &mut dyn FnMut(Event<'kernel>) -> Option<()>,
) -> Option<()> {
    for node in nodes {
        match node {
            Node::Loop {
                slot,
                start,
                end,
                step,
                body,
            } => {
                let mut value = *start;
                while value < *end {
                    *budget = budget.checked_sub(1)?;
                    values[*slot] = value;
                    visit(Event::Iteration)?;
                    run(body, values, budget, visit)?;
                    value += step;
                }
            }
            Node::Guard {
                condition,
                then,
                otherwise,
            } => {
                *budget = budget.checked_sub(1)?;
                visit(Event::Test)?;
                let branch = if condition.holds(values) {
                    then
                } else {
                    otherwise
                };
                run(branch, values, budget, visit)?;
            }
            Node::Command(lowered) => {
                *budget = budget.checked_sub(1)?;
                visit(Event::Issue(lowered.issue(values)?))?;
            }
        }
    }
    Some(())
}

impl<'kernel> Lowered<'kernel> {
    /// Returns the command with its addresses; `None` if a row is negative.
    fn issue(&self, values: &[i64]) -> Option<Issue<'kernel>> {
        let mut rows = [None, None];
        for (row, sum) in rows.iter_mut().zip(&self.rows) {
            if let Some(sum) = sum {
                *row = Some(usize::try_from(sum.value(values)).ok()?);
            }
        }
        let place = self.array.and_then(|array| {
            let (column, rest) = self.indices.split_last()?;
            let row = rest.iter().fold(0i64, |row, index| {
                row.wrapping_mul(1 << 20).wrapping_add(index.value(values))
            });
            Some(Place {
                array,
                row,
                column: column.value(values),
            })
        });
        let overwrites = self.overwrites.holds(values);
        Some(Issue {
            command: self.command,
            rows,
            overwrites,
            place,
        })
    }
}
