//! Transpositions: what lies side by side in one loop is written side by side
//! in the other one. Square tiles are turned in registers.

mod segments;

use super::code::{Action, Element, Expression, Loop, Named, Statement};
use super::schedule::Turn;
use super::text::Text;
use super::translation::{Translation, shifted};
use super::vectors::{Preamble, WIDTHS, gnu};
use autocomp_c_loops::statement::only_loop;
use std::collections::BTreeMap;

/// Lanes of a tile at most: its text grows with their square.
const MOST_LANES: u32 = 16;

/// Two loops around an assignment that transposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TurnNest {
    outer: Loop,
    inner: Loop,
    /// Whether what is read lies side by side in the inner loop.
    reads_inner: bool,
    target: Element,
    value: Expression,
    kind: String,
}

impl TurnNest {
    /// Reads a loop as the outer one of such a nest.
    pub(super) fn read(outer: &Loop, names: &BTreeMap<String, Named>) -> Option<Self> {
        let inner = only_loop(outer)?;
        let [
            Statement::Command(Action::Assign {
                target,
                operator: None,
                value,
            }),
        ] = inner.body.as_slice()
        else {
            return None;
        };
        let stride = |element: &Element, variable: &str| {
            element.stride(variable, &names.get(&element.name)?.extents)
        };
        let (o, i) = (&outer.variable, &inner.variable);
        let reads_inner = stride(target, o) == Some(1);
        let (written, read) = if reads_inner { (o, i) } else { (i, o) };
        let reads = value.reads();
        let kind = &names.get(&target.name)?.kind;
        let turned = stride(target, written) == Some(1)
            && stride(target, read).is_some_and(|it| it != 0)
            && reads.iter().any(|it| it.mentions(read))
            && reads.iter().all(|it| {
                let apart = it.name != target.name;
                apart
                    && stride(it, read) == Some(1)
                    && stride(it, written).is_some_and(|it| it != 1)
            });
        let plain =
            outer.step == 1 && inner.step == 1 && ["float", "int32_t"].contains(&kind.as_str());
        (turned && plain).then(|| Self {
            outer: outer.clone(),
            inner: inner.clone(),
            reads_inner,
            target: target.clone(),
            value: value.clone(),
            kind: kind.clone(),
        })
    }

    /// Returns how many elements are moved.
    pub(super) fn elements(&self) -> f64 {
        (self.outer.trips() * self.inner.trips()) as f64
    }

    /// Returns how many elements lie side by side where they are written.
    pub(super) fn written(&self) -> u32 {
        let written = if self.reads_inner {
            &self.outer
        } else {
            &self.inner
        };
        u32::try_from(written.trips()).unwrap_or(u32::MAX)
    }

    /// Returns the loop over what is written side by side, and that over what is read so.
    fn written_and_read(&self) -> (&Loop, &Loop) {
        match self.reads_inner {
            true => (&self.outer, &self.inner),
            false => (&self.inner, &self.outer),
        }
    }

    /// Returns the smaller side.
    pub(super) fn side(&self) -> u32 {
        u32::try_from(self.outer.trips().min(self.inner.trips())).unwrap_or(u32::MAX)
    }

    /// Writes the loops; nothing if that is not possible.
    pub(super) fn write(
        &self,
        schedule: &Turn,
        names: &BTreeMap<String, Named>,
        preamble: &mut Preamble,
        text: &mut Text,
    ) -> Option<()> {
        if 0 < schedule.segments {
            return self.write_segments(schedule, names, text);
        }
        if schedule.strided {
            return self.write_strided(schedule, names, preamble, text);
        }
        let lanes = schedule.lanes;
        if !lanes.is_power_of_two() || !(4..=MOST_LANES).contains(&lanes) || self.side() < lanes {
            return None;
        }
        let (written, read) = self.written_and_read();
        let vector = preamble.vector(lanes, &self.kind);
        let whole = |it: &Loop| it.start + it.trips() / i64::from(lanes) * i64::from(lanes);
        let head = |it: &Loop| {
            let (v, start) = (&it.variable, it.start);
            format!(
                "for (int {v} = {start}; {v} < {}; {v} += {lanes})",
                whole(it)
            )
        };
        let (first, second) = match schedule.columns_outside {
            true => (read, written),
            false => (written, read),
        };
        text.open(&head(first));
        text.open(&head(second));
        for row in 0..lanes {
            let shifts = [(written.variable.as_str(), i64::from(row))];
            let locals = BTreeMap::new();
            let mut vectors = Translation {
                preamble,
                names,
                lanes,
                kind: &self.kind,
                variable: &read.variable,
                shifts: &shifts,
                locals: &locals,
                reciprocals: false,
                strided: false,
            };
            let value = vectors.vector(&self.value)?;
            text.line(&format!("const {vector} v0_{row} = {value};"));
        }
        // Each stage interleaves rows that are half of them apart; after as many
        // stages as halves fit, rows are columns.
        let (stages, half) = (lanes.ilog2(), lanes / 2);
        for stage in 0..stages {
            for pair in 0..half {
                let (one, other) = (
                    format!("v{stage}_{pair}"),
                    format!("v{stage}_{}", pair + half),
                );
                for upper in [false, true] {
                    let offset = if upper { half } else { 0 };
                    let order = (0..half).flat_map(|lane| [offset + lane, lanes + offset + lane]);
                    let row = 2 * pair + u32::from(upper);
                    text.line(&format!(
                        "const {vector} v{}_{row} = {};",
                        stage + 1,
                        gnu::shuffled(&one, &other, order)
                    ));
                }
            }
        }
        for row in 0..lanes {
            let place = shifted(&self.target, &[(&read.variable, i64::from(row))])?.to_c();
            let place = gnu::stored(&gnu::anywhere(&vector), &place);
            text.line(&format!("{place} = v{stages}_{row};"));
        }
        text.close();
        text.close();
        // What is left at both edges.
        let plain = |text: &mut Text, rows: (i64, i64), columns: (i64, i64)| {
            if rows.1 <= rows.0 || columns.1 <= columns.0 {
                return;
            }
            let head = |it: &Loop, (from, to): (i64, i64)| {
                format!("for (int {0} = {from}; {0} < {to}; {0}++)", it.variable)
            };
            text.open(&head(written, rows));
            text.open(&head(read, columns));
            text.line(&format!("{} = {};", self.target.to_c(), self.value.to_c()));
            text.close();
            text.close();
        };
        plain(text, (written.start, written.end), (whole(read), read.end));
        plain(
            text,
            (whole(written), written.end),
            (read.start, whole(read)),
        );
        Some(())
    }

    /// Writes loops that load columns with a stride and write them side by side.
    fn write_strided(
        &self,
        schedule: &Turn,
        names: &BTreeMap<String, Named>,
        preamble: &mut Preamble,
        text: &mut Text,
    ) -> Option<()> {
        let lanes = schedule.lanes;
        let (written, read) = self.written_and_read();
        if !lanes.is_power_of_two() || !WIDTHS.contains(&lanes) || self.written() < lanes {
            return None;
        }
        let locals = BTreeMap::new();
        let vector = preamble.vector(lanes, &self.kind);
        let mut vectors = Translation {
            preamble,
            names,
            lanes,
            kind: &self.kind,
            variable: &written.variable,
            shifts: &[],
            locals: &locals,
            reciprocals: false,
            strided: true,
        };
        let value = vectors.vector(&self.value)?;
        let place = gnu::stored(&gnu::anywhere(&vector), &self.target.to_c());
        let (v, start, end) = (&written.variable, written.start, written.end);
        let whole = start + written.trips() / i64::from(lanes) * i64::from(lanes);
        let steps = format!("for (int {v} = {start}; {v} < {whole}; {v} += {lanes})");
        // The last vector does some elements once more.
        let last = format!(
            "for (int {v} = {}; {v} < {end}; {v} += {lanes})",
            end - i64::from(lanes)
        );
        let mut write = |heads: &[&str]| {
            heads.iter().for_each(|head| text.open(head));
            text.line(&format!("{place} = {value};"));
            heads.iter().for_each(|_| text.close());
        };
        let columns = read.head_to_c();
        let order = |steps| match schedule.columns_outside {
            true => [columns.as_str(), steps],
            false => [steps, columns.as_str()],
        };
        write(&order(steps.as_str()));
        if whole < end {
            write(&order(last.as_str()));
        }
        Some(())
    }
}
