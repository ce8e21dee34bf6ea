//! Innermost loops on vectors as long as is asked for.

use super::roles::Role;
use super::{Preamble, Text, WideLoop};
use crate::code::{Element, Expression, Loop, Named};
use crate::lengths::{
    Groups, Kind, LENGTH, Line, Load, Local, NEXT_LENGTH, Strip, Value, interleaved, words,
};
use crate::schedule::Lengths;
use autocomp_c_loops::affine::Affine;
use std::collections::BTreeMap;

/// Bits of the widest elements that a loop may have.
const WIDTHS: [u32; 3] = [8, 16, 32];

impl WideLoop {
    /// Returns bits of the widest elements that are computed; nothing where the loop is not one that
    /// is written with such groups of registers.
    pub(crate) fn widest(&self, registers: u32, names: &BTreeMap<String, Named>) -> Option<u32> {
        let schedule = Lengths {
            registers,
            rows: 1,
            ahead: false,
            reciprocals: false,
        };
        let strip = self.strip(&schedule, None, 1, names)?;
        Some(strip.code.groups.widest)
    }

    /// Writes the loop; where `outer` is the loop around, which has nothing else inside, both.
    pub(crate) fn write_by_length(
        &self,
        schedule: &Lengths,
        outer: Option<&Loop>,
        names: &BTreeMap<String, Named>,
        preamble: &mut Preamble,
        text: &mut Text,
    ) -> Option<()> {
        let rows = i64::from(schedule.rows);
        if ![1, 2, 4, 8].contains(&schedule.registers)
            || !(1..=8).contains(&rows)
            || 1 < rows && self.is_chain()
        {
            return None;
        }
        let Some(outer) = outer else {
            (rows == 1).then_some(())?;
            return self.write_strips(schedule, None, 1, names, preamble, text);
        };
        let whole = outer.start + outer.trips() / rows * rows;
        for (start, end, rows) in [
            (outer.start, whole, rows),
            (whole, outer.end, outer.end - whole),
        ] {
            if start < end {
                let piece = Loop {
                    start,
                    end,
                    step: rows,
                    ..outer.clone()
                };
                text.open(&piece.head_to_c());
                self.write_strips(schedule, Some(outer), rows, names, preamble, text)?;
                text.close();
            }
        }
        Some(())
    }

    /// Translates a strip, for several iterations of the loop around, in the narrowest types that
    /// there are for it.
    fn strip<'p>(
        &'p self,
        schedule: &Lengths,
        outer: Option<&'p Loop>,
        rows: i64,
        names: &'p BTreeMap<String, Named>,
    ) -> Option<Strip<'p>> {
        WIDTHS.into_iter().find_map(|widest| {
            let groups = Groups {
                widest,
                registers: schedule.registers,
            };
            let v = &self.inner.variable;
            let mut strip = Strip::new(names, v, groups, schedule.reciprocals);
            for row in 0..rows {
                strip.shift = outer.map(|it| (it.variable.as_str(), row));
                strip.locals.clear();
                self.roles_of(&mut strip)?;
            }
            if 1 < rows {
                strip.code.lines = interleaved(std::mem::take(&mut strip.code.lines));
            }
            Some(strip)
        })
    }

    /// Translates what an iteration does.
    fn roles_of(&self, strip: &mut Strip<'_>) -> Option<()> {
        for (idx, role) in self.roles.iter().enumerate() {
            let own = self.kinds[idx].as_str();
            match role {
                Role::Local(name, value) => {
                    strip
                        .locals
                        .insert(name.clone(), Local::Later(own.to_owned(), value.clone()));
                    // What is stored to later has another value then.
                    if value.reads().iter().any(|it| self.stores_to(&it.name)) {
                        let now = strip.value(&Expression::Element(Element::variable(name)))?;
                        strip.locals.insert(name.clone(), Local::Now(now));
                    }
                }
                Role::Spread(target, value) => {
                    let value = strip.value(value)?;
                    let to = strip.access(target)?;
                    store(strip, &to, &value)?;
                }
                Role::Store(target, operator, value) => {
                    let value = match operator {
                        Some(operator) => Expression::Binary(
                            Box::new(Expression::Element(target.clone())),
                            operator.to_string(),
                            Box::new(value.clone()),
                        ),
                        None => value.clone(),
                    };
                    let value = strip.value(&value)?;
                    let to = strip.access(target)?;
                    store(strip, &to, &value)?;
                }
                Role::Sum(_, _, value) => {
                    let (sums, kind) = (format!("each_sum_{idx}"), Kind::of(own)?);
                    let suffix = strip.code.groups.suffix(kind)?;
                    match strip.product(kind, value) {
                        Some((name, [a, b])) => strip.code.line(format!(
                            "{sums} = __riscv_{name}_{suffix}_tu({sums}, {a}, {b}, {LENGTH});"
                        )),
                        None => {
                            let value = strip.value(value)?;
                            strip.added(&sums, kind, &value)?;
                        }
                    }
                }
                Role::Extreme(_, greatest, value) => {
                    let kind = Kind::of(own)?;
                    let value = strip.value(value)?;
                    strip.taken(&format!("each_sum_{idx}"), kind, *greatest, &value)?;
                }
                Role::Woven(..) | Role::Running(..) => return None,
            }
        }
        Some(())
    }

    fn stores_to(&self, array: &str) -> bool {
        self.roles.iter().any(|role| match role {
            Role::Store(target, ..) | Role::Woven(target, _) | Role::Spread(target, _) => {
                target.name == array
            }
            _ => false,
        })
    }

    /// Writes the loop over strips.
    fn write_strips(
        &self,
        schedule: &Lengths,
        outer: Option<&Loop>,
        rows: i64,
        names: &BTreeMap<String, Named>,
        preamble: &mut Preamble,
        text: &mut Text,
    ) -> Option<()> {
        let strip = self.strip(schedule, outer, rows, names)?;
        let groups = strip.code.groups;
        let (v, start, end) = (&self.inner.variable, self.inner.start, self.inner.end);
        let ask = groups.ask();
        text.open("");
        text.take(&strip.setup);
        for (idx, role) in self.roles.iter().enumerate() {
            if let Some(line) = begun(idx, role, &self.kinds[idx], groups) {
                text.line(&line?);
            }
        }
        match schedule.ahead {
            false => {
                text.open(&format!("for (long {v} = {start}; {v} < {end};)"));
                text.line(&format!("const size_t {LENGTH} = {ask}({end} - {v});"));
                strip.code.lines.iter().for_each(|it| text.line(&it.text));
                text.line(&format!("{v} += {LENGTH};"));
                text.close();
            }
            true => {
                text.line(&format!("long {v} = {start};"));
                text.line(&format!("size_t {LENGTH} = {ask}({end} - {v});"));
                write_ahead(&strip, end, text)?;
            }
        }
        for (idx, role) in self.roles.iter().enumerate() {
            if let Some(line) = ended(idx, role, &self.kinds[idx], groups) {
                text.line(&line?);
            }
        }
        text.close();
        preamble.by_length(strip.functions);
        Some(())
    }
}

/// Writes a loop whose strips load what the next one needs as soon as nothing of theirs is needed.
fn write_ahead(strip: &Strip<'_>, end: i64, text: &mut Text) -> Option<()> {
    let (groups, v) = (strip.code.groups, strip.variable);
    let lines = &strip.code.lines;
    let loads: Vec<&(String, String, Load)> =
        lines.iter().filter_map(|it| it.load.as_ref()).collect();
    if loads.is_empty() {
        return None;
    }
    for (kind, name, load) in &loads {
        let call = load.call(groups, LENGTH)?;
        text.line(&format!("{kind} {name}_next = {call};"));
    }
    text.open(&format!("while ({v} < {end})"));
    let uses = |line: &Line| {
        let words = words(&line.text);
        line.load.is_none()
            && loads
                .iter()
                .any(|(_, name, _)| words.contains(&name.as_str()))
    };
    let last = lines.iter().rposition(uses)?;
    for (idx, line) in lines.iter().enumerate() {
        match &line.load {
            Some((kind, name, _)) => {
                text.line(&format!("const {kind} {name} = {name}_next;"));
            }
            None => text.line(&line.text),
        }
        if idx == last {
            let ask = groups.ask();
            text.line(&format!(
                "const size_t {NEXT_LENGTH} = {ask}({end} - {v} - {LENGTH});"
            ));
            let behind = Affine::variable(v).plus(&Affine::variable(LENGTH))?;
            for (_, name, load) in &loads {
                let place = Expression::Element(load.first.clone()).substitute(v, &behind)?;
                let Expression::Element(first) = place else {
                    return None;
                };
                let next = Load {
                    first,
                    ..load.clone()
                };
                let call = next.call(groups, NEXT_LENGTH)?;
                text.line(&format!("{name}_next = {call};"));
            }
        }
    }
    text.line(&format!("{v} += {LENGTH};"));
    text.line(&format!("{LENGTH} = {NEXT_LENGTH};"));
    text.close();
    Some(())
}

/// Stores a value.
fn store(strip: &mut Strip<'_>, to: &Load, value: &Value) -> Option<()> {
    let name = strip.vector_of(value, to.kind)?;
    let groups = strip.code.groups;
    let (bits, suffix) = (to.kind.bits(), groups.suffix(to.kind)?);
    let place = to.first.to_c();
    let text = match to.stride {
        1 => format!("__riscv_vse{bits}_v_{suffix}(&{place}, {name}, {LENGTH});"),
        stride => format!(
            "__riscv_vsse{bits}_v_{suffix}(&{place}, {}, {name}, {LENGTH});",
            stride * i64::from(bits / 8)
        ),
    };
    strip.code.store(text, to, &name)
}

/// Returns the line that declares what all strips are gathered in, if a role gathers.
fn begun(idx: usize, role: &Role, kind: &str, groups: Groups) -> Option<Option<String>> {
    let first = match role {
        Role::Sum(..) => "0".to_owned(),
        Role::Extreme(target, ..) => target.to_c(),
        _ => return None,
    };
    let line = |kind: Kind| {
        let (vector, suffix) = (groups.vector(kind)?, groups.suffix(kind)?);
        let name = if kind.is_float() {
            "vfmv_v_f"
        } else {
            "vmv_v_x"
        };
        let most = groups.most();
        Some(format!(
            "{vector} each_sum_{idx} = __riscv_{name}_{suffix}({first}, {most});"
        ))
    };
    Some(Kind::of(kind).and_then(line))
}

/// Returns the line that gathers the elements of what all strips left, if a role gathers.
fn ended(idx: usize, role: &Role, kind: &str, groups: Groups) -> Option<Option<String>> {
    let (target, operator, is_sum, greatest) = match role {
        Role::Sum(target, operator, _) => (target, operator.to_string(), true, false),
        Role::Extreme(target, greatest, _) => (target, String::new(), false, *greatest),
        _ => return None,
    };
    let line = |kind: Kind| {
        let suffix = groups.suffix(kind)?;
        let (name, single, first, number) = match (kind, is_sum, greatest) {
            (Kind::Float(_), true, _) => ("vfredusum", "vfmv_f_s_f32m1_f32", "vfmv_s_f_f32m1", "0"),
            (Kind::Float(_), _, true) => ("vfredmax", "vfmv_f_s_f32m1_f32", "vfmv_s_f_f32m1", ""),
            (Kind::Float(_), ..) => ("vfredmin", "vfmv_f_s_f32m1_f32", "vfmv_s_f_f32m1", ""),
            (_, true, _) => ("vredsum", "vmv_x_s_i32m1_i32", "vmv_s_x_i32m1", "0"),
            (_, _, true) => ("vredmax", "vmv_x_s_i32m1_i32", "vmv_s_x_i32m1", ""),
            _ => ("vredmin", "vmv_x_s_i32m1_i32", "vmv_s_x_i32m1", ""),
        };
        (kind.bits() == 32).then_some(())?;
        let (target, most) = (target.to_c(), groups.most());
        let number = if number.is_empty() {
            target.as_str()
        } else {
            number
        };
        let single_kind = single.split('_').nth(3)?;
        Some(format!(
            "{target} {operator}= __riscv_{single}(__riscv_{name}_vs_{suffix}_{single_kind}(each_sum_{idx}, __riscv_{first}({number}, 1), {most}));"
        ))
    };
    Some(Kind::of(kind).and_then(line))
}
