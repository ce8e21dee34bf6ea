//! Commands of a chain as C, and the settings that they need.

use super::tiles::{Group, Move, Tile};
use crate::memory::Memory;
use std::fmt::Write;

/// Lines of code, and what the machine is configured to.
pub(super) struct Code {
    pub(super) text: String,
    /// First row of each container.
    pub(super) rows: Vec<i64>,
    /// Bytes between rows and bits of the factor, for each kind of move in.
    pub(super) channels: [Option<(i64, u32)>; 3],
    /// When each was used last.
    pub(super) used: [usize; 3],
    pub(super) count: usize,
    /// Bytes between rows of moves out.
    pub(super) stride: Option<i64>,
    pub(super) is_turned: Option<bool>,
}

impl Code {
    pub(super) fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    pub(super) fn configure(&mut self, is_turned: bool) {
        if self.is_turned != Some(is_turned) {
            self.is_turned = Some(is_turned);
            self.line(&format!(
                "config_ex(OUTPUT_STATIONARY, NO_ACTIVATION, 1, {is_turned}, {is_turned});"
            ));
        }
    }

    fn row(&self, tile: &Tile) -> i64 {
        self.rows.get(tile.container).copied().unwrap_or(0) + tile.row
    }

    pub(super) fn group(&mut self, group: &Group) {
        let count = group.steps.len();
        let [rows, columns] = group.dest.extents;
        for (at, [left, right]) in group.steps.iter().enumerate() {
            let first = match &group.first {
                Some(tile) if at == 0 => self.row(tile).to_string(),
                _ => "GARBAGE_ADDR".to_owned(),
            };
            let dest = if at + 1 == count {
                self.row(&group.dest).to_string()
            } else {
                "GARBAGE_ADDR".to_owned()
            };
            self.line(&format!(
                "preload({first}, {dest}, {columns}, {rows}, {columns}, {rows});"
            ));
            let name = if at == 0 { "preloaded" } else { "accumulated" };
            self.line(&format!(
                "compute_{name}({}, {}, {}, {}, {}, {});",
                self.row(left),
                self.row(right),
                left.extents[1],
                left.extents[0],
                right.extents[1],
                right.extents[0]
            ));
        }
    }

    pub(super) fn load(&mut self, memories: &[Memory], load: &Move, dim: i64) {
        let factor = load.factor.to_bits();
        let stride = load.stride * 4;
        let is_single = load.tile.rows == 1;
        let fits = |channel: &Option<(i64, u32)>| {
            channel.is_some_and(|one| one.1 == factor && (is_single || one.0 == stride))
        };
        self.count += 1;
        let channel = match self.channels.iter().position(fits) {
            Some(channel) => channel,
            None => {
                let oldest = (0..3).min_by_key(|at| self.used[*at]).unwrap_or(0);
                self.channels[oldest] = Some((stride, factor));
                self.line(&format!(
                    "config_ld({stride}, {:?}f, {dim}, {oldest});",
                    load.factor
                ));
                oldest
            }
        };
        self.used[channel] = self.count;
        let name = ["mvin", "mvin2", "mvin3"][channel];
        let source = match load.array {
            Some(array) => address(&memories[array], load.offset),
            None => "&one[0][0]".to_owned(),
        };
        let [rows, columns] = load.tile.extents;
        self.line(&format!(
            "{name}({source}, {}, {columns}, {rows});",
            self.row(&load.tile)
        ));
    }

    pub(super) fn store(&mut self, memories: &[Memory], store: &Move) {
        let stride = store.stride * 4;
        if self.stride.is_none() || store.tile.rows != 1 && self.stride != Some(stride) {
            self.stride = Some(stride);
            self.line(&format!("config_st({stride});"));
        }
        let [rows, columns] = store.tile.extents;
        let target = store
            .array
            .map(|array| address(&memories[array], store.offset));
        self.line(&format!(
            "mvout({}, {}, {columns}, {rows});",
            target.unwrap_or_default(),
            self.row(&store.tile)
        ));
    }
}

/// Returns the address of an element as C.
fn address(memory: &Memory, element: i64) -> String {
    let mut rest = element;
    let mut text = format!("&{}", memory.name);
    for at in 0..memory.extents.len() {
        let pitch: i64 = memory.extents[at + 1..].iter().product();
        let pitch = pitch.max(1);
        let _ = write!(text, "[{}]", rest / pitch);
        rest %= pitch;
    }
    text
}
