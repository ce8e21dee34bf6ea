//! The intermediate form of a kernel: loops, guards and accelerator commands.
//!
//! Whatever the parser does not understand stays verbatim as
//! [`Statement::Opaque`] or [`Dram::Opaque`], and no transformation touches a
//! subtree that holds it.

use crate::affine::Affine;
use crate::condition::Condition;
use crate::print::command_to_c;
use autocomp_c_loops::statement;
pub use autocomp_c_loops::statement::{count_commands, substitute};
use autocomp_core::NotUnderstood;

/// A kernel file: the body of the entry function in structured form, the rest verbatim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Text before the body of the entry function, up to its opening brace.
    pub prefix: String,
    /// Text after the body, from its closing brace.
    pub suffix: String,
    /// Array parameters of the entry function.
    pub arrays: Vec<Array>,
    /// The body.
    pub body: Vec<Statement>,
    /// What of the source was not understood, and stays verbatim.
    pub unread: Vec<NotUnderstood>,
}

/// An array parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// Its extents, outermost first; empty if they are not constants.
    pub extents: Vec<i64>,
}

/// A statement.
pub type Statement = statement::Statement<Command>;
/// A loop with constant bounds.
pub type Loop = statement::Loop<Command>;
/// An `if` with a condition over loop variables.
pub type Guard = statement::Guard<Command>;

/// An accelerator command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `config_ex`, arguments verbatim: five, or all nine of the longest form.
    ConfigExecute(Vec<String>),
    /// `config_ld`.
    ConfigLoad {
        /// DRAM row stride in bytes, verbatim.
        stride: String,
        /// Scale, verbatim.
        scale: String,
        /// Local rows between column blocks.
        block_stride: i64,
        /// Which of the three load channels it configures.
        channel: usize,
        /// Whether moves to the accumulator read elements of operand width.
        shrunk: bool,
        /// How often each row is repeated, normally 1.
        repeats: i64,
    },
    /// `config_st`, arguments verbatim: stride and scale, with an activation
    /// between them, or all twelve of the longest form.
    ConfigStore(Vec<String>),
    /// `mvin`, `mvin2`, `mvin3`.
    MoveIn(MoveIn),
    /// `mvout`.
    MoveOut(MoveOut),
    /// `preload`.
    Preload(Preload),
    /// `compute_preloaded`, `compute_accumulated`.
    Compute(Compute),
    /// `fence`.
    Fence,
}

/// A move from memory into local memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveIn {
    /// The load channel: 0 for `mvin`, 1 for `mvin2`, 2 for `mvin3`.
    pub channel: usize,
    /// Where from.
    pub source: Dram,
    /// Where to.
    pub target: Local,
    /// Columns, in elements.
    pub columns: i64,
    /// Rows.
    pub rows: i64,
}

/// A move from local memory to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveOut {
    /// Where to.
    pub target: Dram,
    /// Where from.
    pub source: Local,
    /// Columns, in elements.
    pub columns: i64,
    /// Rows.
    pub rows: i64,
}

/// Names the weights of the next compute and where its result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preload {
    /// The stationary tile (weights).
    pub weights: Local,
    /// The result tile.
    pub target: Local,
    /// Columns and rows of the weights.
    pub weights_size: (i64, i64),
    /// Columns and rows of the result.
    pub target_size: (i64, i64),
}

/// Streams a tile through the array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compute {
    /// Whether the weights of the preceding preload replace those in the array.
    pub weights: Weights,
    /// The moving tile.
    pub input: Local,
    /// The addend.
    pub addend: Local,
    /// Columns and rows of the input.
    pub input_size: (i64, i64),
    /// Columns and rows of the addend.
    pub addend_size: (i64, i64),
}

/// Which weights a compute uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Those just preloaded (`compute_preloaded`).
    Preloaded,
    /// Those already in the array (`compute_accumulated`).
    Kept,
}

/// An address in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dram {
    /// Address zero: zeros are moved in.
    Zero,
    /// The address of an element of an array parameter.
    Element {
        /// The array.
        array: String,
        /// One index per extent.
        indices: Vec<Affine>,
    },
    /// Something else, verbatim.
    Opaque(String),
}

/// A local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// The scratchpad: operands.
    Scratchpad,
    /// The accumulator: results.
    Accumulator,
}

/// A local address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Local {
    /// The address that stands for no operand.
    Garbage,
    /// A row of a local memory.
    Row(LocalRow),
}

/// A row of a local memory, with the flags of the accumulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalRow {
    /// Which memory.
    pub memory: Memory,
    /// The row.
    pub row: Affine,
    /// When a write replaces the row instead of adding to it; of no meaning
    /// for the scratchpad and for reads.
    pub overwrites: Condition,
    /// Whether a read returns accumulator-wide values.
    pub full_width: bool,
}

/// Bit of a local address that selects the accumulator.
pub const ACCUMULATOR_BIT: i64 = 1 << 31;
/// Bit of a local address that adds to the accumulator.
pub const ACCUMULATE_BIT: i64 = 1 << 30;
/// Bit of a local address that reads accumulator-wide values.
pub const FULL_WIDTH_BIT: i64 = 1 << 29;

impl Local {
    /// Returns the row, unless there is no operand.
    #[must_use]
    pub fn as_row(&self) -> Option<&LocalRow> {
        match self {
            Self::Garbage => None,
            Self::Row(row) => Some(row),
        }
    }
}

impl Command {
    /// Returns the local operands in the order of the call.
    #[must_use]
    pub fn locals(&self) -> Vec<&Local> {
        match self {
            Self::MoveIn(command) => vec![&command.target],
            Self::MoveOut(command) => vec![&command.source],
            Self::Preload(command) => vec![&command.weights, &command.target],
            Self::Compute(command) => vec![&command.input, &command.addend],
            _ => Vec::new(),
        }
    }

    /// Returns the local operands in the order of the call, to change them.
    pub fn locals_mut(&mut self) -> Vec<&mut Local> {
        match self {
            Self::MoveIn(command) => vec![&mut command.target],
            Self::MoveOut(command) => vec![&mut command.source],
            Self::Preload(command) => vec![&mut command.weights, &mut command.target],
            Self::Compute(command) => vec![&mut command.input, &mut command.addend],
            _ => Vec::new(),
        }
    }

    /// Returns the address in memory, if the command has one.
    #[must_use]
    pub fn dram(&self) -> Option<&Dram> {
        match self {
            Self::MoveIn(command) => Some(&command.source),
            Self::MoveOut(command) => Some(&command.target),
            _ => None,
        }
    }

    /// Returns whether the variable `name` occurs.
    #[must_use]
    pub fn mentions(&self, name: &str) -> bool {
        let in_locals = self.locals().into_iter().any(|local| {
            local
                .as_row()
                .is_some_and(|row| row.row.mentions(name) || row.overwrites.mentions(name))
        });
        in_locals || self.dram().is_some_and(|dram| dram.mentions(name))
    }
}

impl Dram {
    /// Returns whether the variable `name` may occur.
    #[must_use]
    pub fn mentions(&self, name: &str) -> bool {
        match self {
            Self::Zero => false,
            Self::Element { indices, .. } => indices.iter().any(|index| index.mentions(name)),
            Self::Opaque(_) => true,
        }
    }
}

impl autocomp_c_loops::statement::Command for Command {
    fn mentions(&self, name: &str) -> bool {
        Self::mentions(self, name)
    }

    fn substitute(&self, name: &str, value: &Affine) -> Option<Self> {
        let mut replaced = self.clone();
        for local in replaced.locals_mut() {
            if let Local::Row(row) = local {
                row.row = row.row.substitute(name, value)?;
                row.overwrites = row.overwrites.substitute(name, value)?;
            }
        }
        let dram = match &mut replaced {
            Self::MoveIn(command) => Some(&mut command.source),
            Self::MoveOut(command) => Some(&mut command.target),
            _ => None,
        };
        match dram {
            Some(Dram::Element { indices, .. }) => {
                for index in indices {
                    *index = index.substitute(name, value)?;
                }
            }
            Some(Dram::Opaque(_)) => return None,
            Some(Dram::Zero) | None => {}
        }
        Some(replaced)
    }

    fn is_opaque(&self) -> bool {
        matches!(self.dram(), Some(Dram::Opaque(_)))
    }

    fn to_c(&self) -> String {
        command_to_c(self)
    }
}

/// Returns whether the core reads or writes arrays between commands, in text that
/// is kept verbatim: moves may not change places with that.
#[must_use]
pub fn core_interferes(statements: &[Statement]) -> bool {
    interferes(statements, false)
}

fn interferes(statements: &[Statement], is_repeated: bool) -> bool {
    let issues = |statement: &Statement| count_commands(std::slice::from_ref(statement)) != 0;
    let first = statements.iter().position(issues);
    let last = statements.iter().rposition(issues);
    let (Some(first), Some(last)) = (first, last) else {
        return false;
    };
    statements.iter().enumerate().any(|(at, statement)| {
        let is_between = is_repeated || first < at && at < last;
        match statement {
            Statement::Loop(inner) if issues(statement) => interferes(&inner.body, true),
            Statement::Guard(guard) if issues(statement) => {
                let is_repeated = is_repeated || first != last;
                interferes(&guard.then, is_repeated) || interferes(&guard.otherwise, is_repeated)
            }
            _ => is_between && touches_arrays(statement),
        }
    })
}

fn touches_arrays(statement: &Statement) -> bool {
    match statement {
        Statement::Loop(inner) => inner.body.iter().any(touches_arrays),
        Statement::Guard(guard) => {
            let mut both = guard.then.iter().chain(&guard.otherwise);
            both.any(touches_arrays)
        }
        Statement::Opaque(text) => text.contains('=') && text.contains(['[', '*']),
        Statement::Command(_) | Statement::Comment(_) => false,
    }
}
