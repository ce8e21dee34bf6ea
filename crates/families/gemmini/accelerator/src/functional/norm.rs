//! Normalisation: statistics over rows and the activations that use them.
//!
//! Source: the functional reference model of Gemmini; the hardware unit exists
//! only with `normalizations`.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use super::Functional;
use super::arithmetic::{ExpConstants, iexp, igelu};
use super::faults::Site;
use super::local::column_mask;
use crate::address::{NormCommand, Tile};
use crate::isa::Activation;
use autocomp_riscv::Fault;

/// Statistics of one set.
#[derive(Clone, Copy, Debug)]
pub struct NormStatistics {
    sum: i32,
    count: i32,
    pub running_max: i32,
    pub mean: i32,
    pub inv_std: f32,
    pub max: i32,
    pub inv_sum_exp: f32,
    reset: bool,
}

impl Default for NormStatistics {
    fn default() -> Self {
        Self {
            sum: 0,
            count: 0,
            running_max: i32::MIN,
            mean: 0,
            inv_std: 1.0,
            max: 0,
            inv_sum_exp: 1.0,
            reset: true,
        }
    }
}

/// Activations that need more than a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Special {
    LayerNorm,
    IGelu,
    Softmax,
}

impl Functional {
    /// Returns the activation in force, if it is a special one.
    pub(super) fn special_activation(&self) -> Option<Special> {
        if !self.config.features.normalizations {
            return None;
        }
        if self.configured.norm.act_msb {
            return Some(Special::Softmax);
        }
        match self.configured.store.activation {
            Activation::LayerNorm => Some(Special::LayerNorm),
            Activation::IGelu => Some(Special::IGelu),
            Activation::None | Activation::Relu => None,
        }
    }

    /// Applies a special activation to one accumulator element.
    pub(super) fn activate(&self, special: Special, q: i32) -> f32 {
        let norm = &self.configured.norm;
        let statistics = &self.norm[usize::from(norm.stats_id & 1)];
        match special {
            Special::IGelu => igelu(q, norm.qb, norm.qc) as f32,
            Special::LayerNorm => q.wrapping_sub(statistics.mean) as f32 * statistics.inv_std,
            Special::Softmax => {
                iexp(q.wrapping_sub(statistics.max), self.exp_constants()) as f32
                    * statistics.inv_sum_exp
            }
        }
    }

    fn exp_constants(&self) -> ExpConstants {
        let norm = &self.configured.norm;
        ExpConstants {
            qln2: norm.qln2,
            qln2_inv: norm.qln2_inv,
            qb: norm.qb,
            qc: norm.qc,
        }
    }

    /// A store without normalisation command ends the statistics in use.
    pub(super) fn reset_statistics_of_norm(&mut self) {
        let statistics = &mut self.norm[usize::from(self.configured.norm.stats_id & 1)];
        if statistics.reset {
            (statistics.sum, statistics.count, statistics.running_max) = (0, 0, i32::MIN);
        }
        statistics.reset = true;
    }

    /// A store with a normalisation command: statistics instead of bytes.
    pub(super) fn normalize(
        &mut self,
        site: Site,
        tile: Tile,
        command: NormCommand,
    ) -> Result<(), Box<Fault>> {
        if !self.config.features.normalizations {
            return Err(site.illegal(
                "norm-unsupported",
                format!("{} carries a normalisation command; this accelerator has no normalisation unit", tile.address),
            ));
        }
        let (dim, cols, rows) = (self.config.dim, u32::from(tile.cols), u32::from(tile.rows));
        if rows == 0 || rows > dim {
            return Err(site.illegal(
                "mvout-rows",
                format!("{rows} rows; 1 to {dim} are possible"),
            ));
        }
        let blocks = cols.div_ceil(dim);
        let last = u64::from(tile.address.row()) + u64::from((blocks - 1) * dim + rows - 1);
        if last >= u64::from(self.config.acc_rows()) {
            return Err(site.illegal(
                "mvout-range",
                format!(
                    "reads rows up to {last}; the last accumulator row is {}",
                    self.config.acc_rows() - 1
                ),
            ));
        }
        if !self.with_values {
            return Ok(());
        }
        let constants = self.exp_constants();
        let set = usize::from(self.configured.norm.stats_id & 1);
        for row in 0..rows {
            for block in 0..blocks {
                let at = tile.address.row() + block * dim + row;
                let count = (cols - block * dim).min(dim);
                self.require_acc(site, "normalises", at, 1, column_mask(count))?;
                let command = if block + 1 == blocks {
                    command
                } else {
                    open_ended(command)
                };
                let elements = &self.local.acc_row(at)[..count as usize];
                self.norm[set].apply(command, elements, constants);
            }
        }
        Ok(())
    }
}

/// The form of a command for a block that is not the last.
fn open_ended(command: NormCommand) -> NormCommand {
    match command {
        NormCommand::Mean => NormCommand::Sum,
        NormCommand::InvStdDev => NormCommand::Variance,
        NormCommand::InvSumExp => NormCommand::SumExp,
        other => other,
    }
}

impl NormStatistics {
    pub fn apply(&mut self, command: NormCommand, elements: &[i32], constants: ExpConstants) {
        if self.reset {
            (self.sum, self.count, self.running_max) = (0, 0, i32::MIN);
        }
        self.reset = matches!(
            command,
            NormCommand::Reset | NormCommand::Mean | NormCommand::InvStdDev
        );
        let count = elements.len() as i32;
        match command {
            NormCommand::Reset => {}
            NormCommand::Sum | NormCommand::Mean => {
                self.sum = elements
                    .iter()
                    .fold(self.sum, |sum, x| sum.wrapping_add(*x));
                self.count = self.count.wrapping_add(count);
            }
            NormCommand::Variance | NormCommand::InvStdDev => {
                let mean = self.mean;
                self.sum = elements.iter().fold(self.sum, |sum, x| {
                    let distance = x.wrapping_sub(mean);
                    sum.wrapping_add(distance.wrapping_mul(distance))
                });
                self.count = self.count.wrapping_add(count);
            }
            NormCommand::Max => {
                self.running_max = elements.iter().fold(self.running_max, |max, x| max.max(*x));
            }
            NormCommand::SumExp | NormCommand::InvSumExp => {
                self.max = self.running_max;
                let max = self.max;
                self.sum = elements.iter().fold(self.sum, |sum, x| {
                    sum.wrapping_add(iexp(x.wrapping_sub(max), constants))
                });
            }
        }
        match command {
            NormCommand::Mean => self.mean = self.sum.checked_div(self.count).unwrap_or(0),
            NormCommand::InvStdDev => {
                let variance = self.sum.checked_div(self.count).unwrap_or(0);
                let deviation = u32::try_from(variance).map_or(0, u32::isqrt).max(1);
                self.inv_std = 1.0 / deviation as f32;
            }
            NormCommand::InvSumExp => {
                self.running_max = i32::MIN;
                self.inv_sum_exp = 127.0 / self.sum as f32;
            }
            _ => {}
        }
    }
}
