//! Transpositions by segments: what lies side by side in several rows is loaded row by row, and stored
//! as one field of a segment each.

use super::TurnNest;
use crate::code::{Loop, Named};
use crate::lengths::{Groups, Kind, LENGTH, Strip};
use crate::schedule::Turn;
use crate::text::Text;
use std::collections::BTreeMap;

/// Rows and columns of a block: as many elements as a line of a cache holds, so that lines are
/// written whole while they are there.
const BLOCK: i64 = 16;
/// Registers that all fields of a segment may have.
const MOST_REGISTERS: u32 = 8;

impl TurnNest {
    /// Writes loops over blocks, in which `schedule.segments` rows at a time are stored as segments.
    pub(super) fn write_segments(
        &self,
        schedule: &Turn,
        names: &BTreeMap<String, Named>,
        text: &mut Text,
    ) -> Option<()> {
        let fields = schedule.segments;
        let registers = MOST_REGISTERS / fields.max(1);
        if ![2, 4, 8].contains(&fields) {
            return None;
        }
        let (written, read) = self.written_and_read();
        let groups = Groups {
            widest: 32,
            registers,
        };
        let kind = Kind::of(&self.kind)?;
        let suffix = groups.suffix(kind)?;
        let named = names.get(&self.target.name)?;
        let apart = self.target.stride(&read.variable, &named.extents)?;
        let bytes = apart * i64::from(kind.bits() / 8);
        let (w, r) = (&written.variable, &read.variable);
        let head = |it: &Loop| {
            let (v, start, end) = (&it.variable, it.start, it.end);
            format!("for (int {v}_block = {start}; {v}_block < {end}; {v}_block += {BLOCK})")
        };
        let (first, second) = match schedule.columns_outside {
            true => (read, written),
            false => (written, read),
        };
        text.open(&head(first));
        text.open(&head(second));
        for it in [written, read] {
            let (v, end) = (&it.variable, it.end);
            text.line(&format!(
                "const int {v}_end = {v}_block + {BLOCK} < {end} ? {v}_block + {BLOCK} : {end};"
            ));
        }
        text.open(&format!("for (long {r} = {r}_block; {r} < {r}_end;)"));
        let ask = groups.ask();
        text.line(&format!("const size_t {LENGTH} = {ask}({r}_end - {r});"));
        text.line(&format!("int {w} = {w}_block;"));
        // All fields at once, and what is left one by one.
        for fields in [fields, 1] {
            text.open(&format!(
                "for (; {w} + {fields} <= {w}_end; {w} += {fields})"
            ));
            let mut strip = Strip::new(names, r, groups, false);
            let mut values = Vec::new();
            for field in 0..fields {
                strip.shift = Some((w.as_str(), i64::from(field)));
                let value = strip.value(&self.value)?;
                values.push(strip.vector_of(&value, kind)?);
            }
            strip.code.lines.iter().for_each(|it| text.line(&it.text));
            let place = self.target.to_c();
            let values = values.join(", ");
            text.line(&match fields {
                1 => format!("__riscv_vsse32_v_{suffix}(&{place}, {bytes}, {values}, {LENGTH});"),
                _ => format!(
                    "__riscv_vssseg{fields}e32_v_{suffix}x{fields}(&{place}, {bytes}, __riscv_vcreate_v_{suffix}x{fields}({values}), {LENGTH});"
                ),
            });
            text.close();
        }
        text.line(&format!("{r} += {LENGTH};"));
        text.close();
        text.close();
        text.close();
        Some(())
    }
}
