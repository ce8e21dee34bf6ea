//! How far the model of a core is from what has been measured on it.

mod loops;
mod suites;

use crate::Machine;
use loops::Loops;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
pub(crate) use suites::Suites;

/// What has been measured on a core.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The target with the machine that models the core.
    pub target: String,
    /// The machine.
    pub machine: String,
    /// Loops of one instruction.
    pub instruction: Vec<Instruction>,
    /// Loops that copy or fill.
    #[serde(default)]
    pub curve: Vec<Curve>,
    /// Whole kernels whose cycles were published, rebuilt.
    #[serde(default)]
    pub kernel: Vec<Kernel>,
}

/// Cycles of one instruction in a loop of independent ones.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instruction {
    /// For people.
    pub text: String,
    /// The instruction; its destination is varied.
    pub word: u32,
    /// Bits of an element, 0 for scalar instructions.
    pub sew: u32,
    /// Cycles at LMUL 1, 2, 4 and 8; not a number where that is not known or does not exist.
    pub cycles: Vec<f64>,
}

/// Bytes per cycle that a strip-mined loop moves.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Whether the loop copies; otherwise it fills.
    pub copies: bool,
    /// Registers of a group.
    pub lmul: u32,
    /// Bytes moved by a call; all calls but the first are timed.
    pub bytes: usize,
    /// Bytes of a cycle.
    pub bytes_per_cycle: f64,
    /// Whether a number of the model was fitted to this one.
    pub fitted: bool,
}

/// A product of two matrices of 128x128 numbers of 32 bits, C = A B with B stored transposed, as
/// a program of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// What was published.
    pub name: String,
    /// Cycles of a call on the board.
    pub cycles: f64,
    /// What is known of the published code, and what was assumed.
    pub rebuilt: String,
    /// The code, without a return: a word in hexadecimal digits and its text on each line. A, B
    /// and C are where `a0`, `a1` and `a2` point. Empty for code of which too little is known.
    pub code: String,
}

impl Kernel {
    /// Returns the instructions, unless a line begins with none.
    fn words(&self) -> Option<Vec<u32>> {
        let words = self.code.lines().map(|line| {
            let word = line.split_whitespace().next()?;
            u32::from_str_radix(word, 16).ok()
        });
        words.collect()
    }
}

/// A measured number and what the model says.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// What was measured.
    pub name: String,
    /// The number measured.
    pub measured: f64,
    /// The number of the model.
    pub modelled: f64,
}

impl Compared {
    /// Returns the error of the model, as a part of what was measured.
    #[must_use]
    pub fn error(&self) -> f64 {
        (self.modelled / self.measured - 1.0).abs()
    }
}

impl Measured {
    /// Reads a table.
    ///
    /// # Errors
    /// What is wrong in it.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// Returns all instructions, measured and modelled.
    #[must_use]
    pub fn instructions(&self, machine: &Machine) -> Vec<Compared> {
        let mut all = Vec::new();
        for row in &self.instruction {
            for (log, measured) in row.cycles.iter().enumerate() {
                if measured.is_nan() {
                    continue;
                }
                let mut loops = Loops::new(machine);
                let name = match row.sew {
                    0 => row.text.clone(),
                    sew => format!("e{sew} m{}  {}", 1 << log, row.text),
                };
                all.push(Compared {
                    name,
                    measured: *measured,
                    modelled: loops.instruction(row.word, row.sew, log as u32),
                });
            }
        }
        all
    }

    /// Returns the loops that copy and fill, measured and modelled, and whether they are fitted.
    #[must_use]
    pub fn curves(&self, machine: &Machine) -> Vec<(Compared, bool)> {
        let of = |curve: &Curve| {
            let what = if curve.copies { "copy" } else { "fill" };
            let compared = Compared {
                name: format!("{what} m{} {} bytes", curve.lmul, curve.bytes),
                measured: curve.bytes_per_cycle,
                modelled: Loops::new(machine).curve(curve.copies, curve.lmul, curve.bytes),
            };
            (compared, curve.fitted)
        };
        self.curve.iter().map(of).collect()
    }

    /// Returns the kernels that could be rebuilt, measured and modelled.
    #[must_use]
    pub fn kernels(&self, machine: &Machine) -> Vec<Compared> {
        let known = self.kernel.iter().filter(|it| !it.code.is_empty());
        let of = |kernel: &Kernel| Compared {
            name: kernel.name.clone(),
            measured: kernel.cycles,
            modelled: match kernel.words() {
                Some(words) => Loops::new(machine).kernel(&words),
                None => f64::NAN,
            },
        };
        known.map(of).collect()
    }

    /// Compares a machine with everything.
    #[must_use]
    pub fn compare(&self, machine: &Machine) -> Report {
        let mut instructions = self.instructions(machine);
        instructions.sort_by(|a, b| b.error().total_cmp(&a.error()));
        let (fitted, others): (Vec<_>, Vec<_>) =
            self.curves(machine).into_iter().partition(|it| it.1);
        let without = |rows: Vec<(Compared, bool)>| rows.into_iter().map(|it| it.0).collect();
        Report {
            instructions,
            fitted_loops: without(fitted),
            other_loops: without(others),
            kernels: self.kernels(machine),
            notes: self
                .kernel
                .iter()
                .map(|it| format!("{}, {:.0} cycles: {}", it.name, it.cycles, it.rebuilt))
                .collect(),
        }
    }
}

/// What a machine is off by.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Loops of one instruction, the largest error first.
    pub instructions: Vec<Compared>,
    /// Loops that copy and fill to which numbers of the model were fitted, in bytes per cycle.
    pub fitted_loops: Vec<Compared>,
    /// Other such loops.
    pub other_loops: Vec<Compared>,
    /// Whole kernels, in cycles.
    pub kernels: Vec<Compared>,
    /// How each published kernel was rebuilt, or why it was not.
    pub notes: Vec<String>,
}

impl Report {
    /// Returns a table for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a text cannot fail.
        let parts = [
            (
                "instructions, cycles; the model takes over the table",
                &self.instructions,
                12,
            ),
            (
                "loops that the model was fitted to, bytes per cycle",
                &self.fitted_loops,
                99,
            ),
            ("other loops, bytes per cycle", &self.other_loops, 99),
            ("published kernels, rebuilt, cycles", &self.kernels, 99),
        ];
        for (title, rows, most) in parts {
            if rows.is_empty() {
                continue;
            }
            let _ = writeln!(text, "{} {title}: {}", rows.len(), summary(rows));
            for it in rows.iter().take(most) {
                line(&mut text, it);
            }
            if most < rows.len() {
                let _ = writeln!(text, "  {} more are nearer", rows.len() - most);
            }
        }
        for note in &self.notes {
            let _ = writeln!(text, "  {note}");
        }
        text
    }
}

fn line(text: &mut String, it: &Compared) {
    let Compared {
        name,
        measured,
        modelled,
    } = it;
    let percent = (modelled / measured - 1.0) * 100.0;
    let _ = writeln!(
        text,
        "  {name:44} measured {measured:8.2} model {modelled:8.2} {percent:+6.1} %"
    );
}

/// Returns the median and the largest error of some numbers.
#[must_use]
pub fn errors(all: &[Compared]) -> (f64, f64) {
    let mut errors: Vec<f64> = all.iter().map(Compared::error).collect();
    errors.sort_by(f64::total_cmp);
    match errors.last() {
        Some(worst) => (errors[errors.len() / 2], *worst),
        None => (0.0, 0.0),
    }
}

fn summary(all: &[Compared]) -> String {
    let (median, worst) = errors(all);
    format!(
        "error {:.1} % median, {:.1} % at worst",
        median * 100.0,
        worst * 100.0
    )
}
