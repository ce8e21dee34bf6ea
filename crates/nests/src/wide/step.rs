//! What a vector of iterations does: one line of C or a few for each role.

use super::WideLoop;
use super::gather::{extreme, extreme_name};
use super::roles::Role;
use crate::code::{Expression, Named};
use crate::schedule::Wide;
use crate::text::Text;
use crate::translation::{Half, Halves, Translation, shifted};
use crate::vectors::{Preamble, computed_in, gnu, is_narrow};
use std::collections::BTreeMap;

impl WideLoop {
    /// Writes one vector's worth of iterations.
    pub(super) fn step(
        &self,
        schedule: &Wide,
        names: &BTreeMap<String, Named>,
        preamble: &mut Preamble,
        text: &mut Text,
        copy: u32,
    ) -> Option<()> {
        if schedule.halves {
            return self.step_in_halves(schedule, names, preamble, text, copy);
        }
        let lanes = schedule.lanes;
        let v = &self.inner.variable;
        let shifts = [(v.as_str(), i64::from(copy * lanes))];
        let mut locals: BTreeMap<String, String> = BTreeMap::new();
        for (idx, role) in self.roles.iter().enumerate() {
            let kind = computed_in(&self.kinds[idx]);
            let vector = preamble.vector(lanes, kind);
            let translate = |expression: &Expression, preamble: &mut Preamble| {
                let mut vectors = Translation {
                    preamble,
                    names,
                    lanes,
                    kind,
                    variable: v,
                    shifts: &shifts,
                    locals: &locals,
                    reciprocals: schedule.reciprocals,
                    strided: schedule.strided,
                };
                vectors.vector(expression)
            };
            match role {
                Role::Local(name, value) => {
                    let value = match is_narrow(&self.kinds[idx]) {
                        true => Expression::Cast(self.kinds[idx].clone(), Box::new(value.clone())),
                        false => value.clone(),
                    };
                    let value = translate(&value, preamble)?;
                    let local = format!("v{idx}_{copy}");
                    text.line(&format!("const {vector} {local} = {value};"));
                    locals.insert(name.clone(), local);
                }
                Role::Store(target, Some('/'), value)
                    if schedule.reciprocals && kind == "float" =>
                {
                    let mut vectors = Translation {
                        preamble,
                        names,
                        lanes,
                        kind,
                        variable: v,
                        shifts: &shifts,
                        locals: &locals,
                        reciprocals: true,
                        strided: schedule.strided,
                    };
                    let value = vectors.value(value)?;
                    let reciprocal = vectors.reciprocal(value)?;
                    let place = shifted(target, &shifts)?.to_c();
                    let place = gnu::stored(&gnu::anywhere(&vector), &place);
                    text.line(&format!("{place} *= {reciprocal};"));
                }
                Role::Store(target, operator, value) => {
                    let value = translate(value, preamble)?;
                    let place = shifted(target, &shifts)?.to_c();
                    if is_narrow(&self.kinds[idx]) {
                        let narrow = preamble.narrow(lanes, &self.kinds[idx]);
                        text.line(&format!(
                            "{} = {};",
                            gnu::stored(&narrow, &place),
                            gnu::converted(&value, &narrow)
                        ));
                        continue;
                    }
                    let place = gnu::stored(&gnu::anywhere(&vector), &place);
                    let operator = operator.map_or(String::new(), String::from);
                    text.line(&format!("{place} {operator}= {value};"));
                }
                Role::Woven(target, value) => {
                    let value = translate(value, preamble)?;
                    text.line(&format!("const {vector} v{idx}_{copy} = {value};"));
                    self.weave(idx, target, (lanes, copy), names, (kind, preamble), text)?;
                }
                Role::Spread(..) => return None,
                Role::Sum(_, _, value) => {
                    let value = translate(value, preamble)?;
                    text.line(&format!("s{idx}_{copy} += {value};"));
                }
                Role::Extreme(_, greatest, value) => {
                    let value = translate(value, preamble)?;
                    if kind == "float" {
                        preamble.function(lanes, extreme_name(*greatest))?;
                    }
                    let best = format!("s{idx}_{copy}");
                    let of = extreme(kind, *greatest, lanes, &value, &best);
                    text.line(&format!("{best} = {of};"));
                }
                Role::Running(target, value) => {
                    let value = translate(value, preamble)?;
                    let local = format!("v{idx}_{copy}");
                    text.line(&format!("{vector} x{idx}_{copy} = {value};"));
                    let mut reach = 1;
                    while reach < lanes {
                        // Each lane gets the sum of the lanes up to `reach` below it.
                        let moved = (0..lanes).map(|lane| match lane.checked_sub(reach) {
                            Some(from) => lanes + from,
                            None => 0,
                        });
                        let sum = format!("x{idx}_{copy}");
                        let moved = gnu::shuffled(&gnu::zero(&vector), &sum, moved);
                        text.line(&format!("{sum} += {moved};"));
                        reach *= 2;
                    }
                    text.line(&format!(
                        "const {vector} {local} = x{idx}_{copy} + carry{idx};"
                    ));
                    let sum = format!("x{idx}_{copy}");
                    let last = gnu::shuffled(&sum, &sum, (0..lanes).map(|_| lanes - 1));
                    text.line(&format!("carry{idx} += {last};"));
                    locals.insert(target.name.clone(), local);
                }
            }
        }
        Some(())
    }

    /// Writes one vector's worth of iterations, computed in 16 bits.
    pub(super) fn step_in_halves(
        &self,
        schedule: &Wide,
        names: &BTreeMap<String, Named>,
        preamble: &mut Preamble,
        text: &mut Text,
        copy: u32,
    ) -> Option<()> {
        let lanes = schedule.lanes;
        let v = &self.inner.variable;
        let shifts = [(v.as_str(), i64::from(copy * lanes))];
        let mut locals: BTreeMap<String, Half> = BTreeMap::new();
        for (idx, role) in self.roles.iter().enumerate() {
            let (Role::Local(_, value) | Role::Store(_, None, value) | Role::Woven(_, value)) =
                role
            else {
                return None;
            };
            let mut halves = Halves {
                of: Translation {
                    preamble,
                    names,
                    lanes,
                    kind: "int16_t",
                    variable: v,
                    shifts: &shifts,
                    locals: &BTreeMap::new(),
                    reciprocals: false,
                    strided: schedule.strided,
                },
                locals: &locals,
            };
            let value = halves.vector(value)?;
            let kind = value.kind()?;
            let vector = preamble.vector(lanes, kind);
            let own = self.kinds[idx].as_str();
            match role {
                Role::Local(name, _) => {
                    let local = format!("v{idx}_{copy}");
                    text.line(&format!("const {vector} {local} = {};", value.text));
                    let value = value.within(own)?;
                    locals.insert(name.clone(), value.called(local));
                }
                Role::Woven(target, _) => {
                    is_narrow(own).then_some(())?;
                    text.line(&format!("const {vector} v{idx}_{copy} = {};", value.text));
                    self.weave(idx, target, (lanes, copy), names, (kind, preamble), text)?;
                }
                Role::Store(target, ..) => {
                    is_narrow(own).then_some(())?;
                    let place = shifted(target, &shifts)?.to_c();
                    let narrow = preamble.narrow(lanes, own);
                    text.line(&format!(
                        "{} = {};",
                        gnu::stored(&narrow, &place),
                        gnu::converted(&value.text, &narrow)
                    ));
                }
                _ => return None,
            }
        }
        Some(())
    }
}
