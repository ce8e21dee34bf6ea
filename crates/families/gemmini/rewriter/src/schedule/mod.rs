//! Schedules anew what a kernel was found to compute.
//!
//! A schedule is a few numbers: sizes of blocks, order of loops, what stays in
//! local memory. A bound on the cycles that it takes ranks all that are
//! possible; the evaluator has the last word.

mod addition;
mod address;
mod convolution;
mod names;
mod product;

use crate::costs::RankingCosts;
use crate::lift::{HardwareLoop, Lifted, Operation, Store, Work};
use crate::limits::HardwareLimits;
use addition::Strips;
use address::Code;

use convolution::Tiling;
use product::Product;

/// Schedules that are offered at most.
const OFFERED: usize = 600;

/// Returns how many blocks of `size` cover `extent`.
fn blocks_of(extent: i64, size: i64) -> i64 {
    (extent + size - 1) / size
}

/// Sizes of the accelerator.
struct Machine {
    dim: i64,
    /// Bytes of an operand.
    element: i64,
    scratchpad_rows: i64,
    accumulator_rows: i64,
    /// Rows of a scratchpad bank.
    bank_rows: i64,
    /// Bytes of the widest move's row.
    line: i64,
    /// Whether pixels can lie side by side in a row of the scratchpad.
    repeats_pixels: bool,
    /// Bytes that the L2 holds.
    cache: f64,
    /// Bytes that come from behind the L2 in a cycle.
    behind: f64,
    ranking: RankingCosts,
}

impl Machine {
    fn of(limits: &HardwareLimits) -> Self {
        let config = &limits.accelerator;
        Self {
            dim: config.dim.into(),
            element: config.element_bytes().into(),
            scratchpad_rows: config.spad_rows().into(),
            accumulator_rows: config.acc_rows().into(),
            bank_rows: config.spad_bank_rows().into(),
            line: config.dma_max_bytes.into(),
            repeats_pixels: config.features.first_layer,
            cache: limits.costs.l2_bytes as f64,
            behind: limits.costs.behind_l2.max(1) as f64,
            ranking: limits.costs.ranking,
        }
    }

    /// Returns how many times the bytes of a block's row are moved, for parts of
    /// lines are moved as whole ones.
    fn waste(&self, width: i64, whole: i64) -> f64 {
        if width % self.line == 0 || whole <= width {
            1.0
        } else {
            1.0 + self.line as f64 / width as f64
        }
    }
}

/// What a schedule does, by which it is ranked. Bytes and cycles.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    /// Cycles of the array.
    mesh: f64,
    /// Bytes moved in.
    bytes_in: f64,
    /// Bytes of all inputs.
    distinct_in: f64,
    bytes_out: f64,
    /// Bytes that come in before the first product.
    first: f64,
    /// Bytes that go out behind the last product.
    last: f64,
    /// Cycles that calls of the hardware's loop take beside.
    calls: f64,
}

/// Bytes of a line of the L2.
const LINE_BYTES: f64 = 64.0;

impl Traffic {
    /// Returns whether the L2 holds everything.
    fn is_cached(&self, machine: &Machine) -> bool {
        self.distinct_in + self.bytes_out < machine.cache
    }

    /// Returns a bound on the cycles, coarse where the bottleneck is not the array.
    fn cycles(&self, machine: &Machine) -> f64 {
        let costs = &machine.ranking;
        let again = (self.bytes_in - self.distinct_in).max(0.0);
        let behind = if self.is_cached(machine) {
            0.0
        } else {
            (self.distinct_in + costs.lost_share * again) / LINE_BYTES * costs.clean_line_cycles
                + self.bytes_out / LINE_BYTES * costs.dirty_line_cycles
        };
        let port = self.bytes_in / costs.port_bytes_per_cycle;
        let all = self.mesh + port + behind;
        let busiest = self.mesh.max(port).max(behind);
        busiest
            + costs.hindrance_share * (all - busiest)
            + self.first / machine.behind
            + self.last / costs.port_bytes_per_cycle
            + self.calls
    }
}

/// A schedule of everything that a kernel computes.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The numbers that it is made of.
    pub parameters: Vec<i64>,
    /// A bound on its cycles.
    pub(crate) cycles: f64,
    /// It in words.
    pub text: String,
}

/// A schedule of one operation.
#[derive(Clone, Copy, Debug)]
enum Single {
    Product(Product),
    Convolution(Tiling),
    Addition(Strips),
}

impl Single {
    fn parameters(self) -> Vec<i64> {
        match self {
            Self::Product(product) => product.parameters(),
            Self::Convolution(tiling) => tiling.parameters(),
            Self::Addition(strips) => strips.parameters(),
        }
    }

    /// Takes a schedule of `work` off the front of `parameters`.
    fn take(work: &Work, parameters: &mut &[i64], machine: &Machine) -> Option<Self> {
        let (single, fits) = match work.operation {
            Operation::Product { .. } => {
                let product = Product::of(parameters)?;
                let fits = product::is_possible(work, &product, machine);
                parameters.split_off(..product::PARAMETERS)?;
                (Self::Product(product), fits)
            }
            Operation::Convolution { .. } => {
                let tiling = Tiling::take(parameters)?;
                let fits = convolution::is_possible(work, &tiling, machine);
                (Self::Convolution(tiling), fits)
            }
            Operation::Addition { .. } => {
                let strips = Strips::of(parameters)?;
                let fits = addition::is_possible(work, &strips, machine);
                parameters.split_off(..addition::PARAMETERS)?;
                (Self::Addition(strips), fits)
            }
        };
        fits.then_some(single)
    }

    fn text(self, lifted: &Lifted, work: &Work, machine: &Machine) -> String {
        match self {
            Self::Product(product) => product::text(lifted, work, &product, machine),
            Self::Convolution(tiling) => convolution::text(lifted, work, &tiling),
            Self::Addition(strips) => addition::text(lifted, work, &strips),
        }
    }

    /// Returns the sizes of a call and of a kernel's call, if they are comparable.
    fn compared(self, other: HardwareLoop) -> Option<Vec<(i64, i64)>> {
        let (new, old) = match (&self, other) {
            (Self::Product(product), HardwareLoop::Matmul(tiles)) => {
                (product.tiles.to_vec(), tiles.to_vec())
            }
            (Self::Addition(strips), HardwareLoop::Matmul(tiles)) => {
                (strips.tiles.to_vec(), tiles.to_vec())
            }
            (Self::Convolution(tiling), HardwareLoop::Convolution(sizes)) => {
                (tiling.sizes.to_vec(), sizes.to_vec())
            }
            _ => return None,
        };
        Some(
            new.into_iter()
                .zip(old.into_iter().map(i64::from))
                .collect(),
        )
    }
}

/// Returns schedules of one operation, the most promising first.
fn ranked(work: &Work, machine: &Machine) -> Vec<(f64, Single)> {
    let mut all: Vec<(f64, Single)> = match work.operation {
        Operation::Product { .. } => product::schedules(work, machine)
            .into_iter()
            .filter_map(|schedule| {
                let traffic = product::traffic(work, &schedule, machine)?;
                Some((traffic.cycles(machine), Single::Product(schedule)))
            })
            .collect(),
        Operation::Convolution { .. } => convolution::schedules(work, machine)
            .into_iter()
            .filter_map(|schedule| {
                let traffic = convolution::traffic(work, &schedule, machine)?;
                Some((traffic.cycles(machine), Single::Convolution(schedule)))
            })
            .collect(),
        Operation::Addition { .. } => addition::schedules(work, machine)
            .into_iter()
            .map(|schedule| {
                let traffic = addition::traffic(work, &schedule, machine);
                (traffic.cycles(machine), Single::Addition(schedule))
            })
            .collect(),
    };
    all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    all.truncate(OFFERED);
    all
}

/// Returns schedules of what a kernel computes, the most promising first.
pub fn schedules(lifted: &Lifted, limits: &HardwareLimits) -> Vec<Schedule> {
    let machine = Machine::of(limits);
    let ranked: Vec<_> = lifted
        .works
        .iter()
        .map(|work| ranked(work, &machine))
        .collect();
    let most = ranked.iter().map(Vec::len).max().unwrap_or(0);
    if ranked.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    (0..most)
        .map(|rank| {
            let mut schedule = Schedule {
                parameters: Vec::new(),
                cycles: 0.0,
                text: String::new(),
            };
            for (work, ranked) in lifted.works.iter().zip(&ranked) {
                let (cycles, single) = ranked[rank.min(ranked.len() - 1)];
                schedule.cycles += cycles;
                schedule.parameters.extend(single.parameters());
                if !schedule.text.is_empty() {
                    schedule.text.push(' ');
                }
                schedule.text.push_str(&single.text(lifted, work, &machine));
            }
            schedule
        })
        .collect()
}

/// Writes a kernel with a schedule; `None` if the schedule is not for it.
pub fn write(lifted: &Lifted, parameters: &[i64], limits: &HardwareLimits) -> Option<String> {
    let machine = Machine::of(limits);
    let marked = names::marked(lifted);
    let (lifted, unmarked) = (&marked, lifted);
    let mut rest = parameters;
    let mut body = String::new();
    for (index, work) in lifted.works.iter().enumerate() {
        let single = Single::take(work, &mut rest, &machine)?;
        let mut code = Code::default();
        if 0 < index {
            body.push_str("  fence();\n");
        }
        if let Some(core) = lifted.between.get(&index) {
            body.push_str(core);
        }
        code.comment(&single.text(unmarked, work, &machine));
        let stride = match work.operation {
            Operation::Convolution { sizes, .. } => sizes.stride,
            _ => 1,
        };
        let [input_turned, weights_turned] = match work.operation {
            Operation::Product { turned, .. } => turned,
            _ => [false; 2],
        };
        code.line(&format!(
            "config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, {stride}, {input_turned}, {weights_turned});"
        ));
        code.line(&store(work));
        match &single {
            Single::Product(product) => product::write(lifted, work, product, &machine, &mut code),
            Single::Convolution(tiling) => {
                convolution::write(lifted, work, tiling, &machine, &mut code)
            }
            Single::Addition(strips) => addition::write(lifted, work, strips, &machine, &mut code),
        }?;
        body.push_str(&names::apart(&code.text));
    }
    if !rest.is_empty() {
        return None;
    }
    Some(format!(
        "{}\n{}{body}  fence();\n{}{}",
        lifted.prefix, lifted.before, lifted.after, lifted.suffix
    ))
}

fn store(work: &Work) -> String {
    let Store {
        is_relu,
        scale,
        pitch,
        ..
    } = work.store;
    let scale = f32::from_bits(scale);
    if !is_relu && scale == 1.0 {
        return format!("config_st({pitch});");
    }
    let activation = if is_relu { "RELU" } else { "NO_ACTIVATION" };
    format!(
        "gemmini_extended_config_st({pitch}, {activation}, {});",
        float(scale)
    )
}

/// Returns a number as a C constant that is exactly it.
fn float(value: f32) -> String {
    let text = format!("{value:?}");
    format!("{text}f")
}

/// Returns whether a schedule differs in at most one size from what the kernel
/// does, if that calls the hardware's loop.
pub(crate) fn is_near(lifted: &Lifted, parameters: &[i64], limits: &HardwareLimits) -> bool {
    let machine = Machine::of(limits);
    let mut rest = parameters;
    let (Some(work), Some(now)) = (lifted.works.first(), lifted.hardware_loop) else {
        return false;
    };
    Single::take(work, &mut rest, &machine)
        .and_then(|single| single.compared(now))
        .is_some_and(|sizes| sizes.iter().filter(|(new, old)| new != old).count() <= 1)
}
