//! Dimensions of arrays that are indexed by one number: `a[i * 512 + k]` is
//! `a[i][k]` if `k` stays below 512. Analyses need to know.

use super::code::{
    Action, Element, Expression, Index, Loop, Named, Program, Statement, UNKNOWN, with_elements,
};
use autocomp_c_loops::affine::{Affine, Atom};
use std::collections::{BTreeMap, BTreeSet};

/// Least and greatest values of loop variables.
pub(super) type Ranges = BTreeMap<String, (i64, i64)>;

/// Most different strides of an array that is looked at.
const MOST_STRIDES: usize = 7;

/// Returns the least and the greatest value of a sum of loop variables.
pub(super) fn range(affine: &Affine, ranges: &Ranges) -> Option<(i64, i64)> {
    let (mut least, mut most) = (affine.constant_part(), affine.constant_part());
    for (atom, coefficient) in affine.terms() {
        let (low, high) = match atom {
            Atom::Variable(name) => *ranges.get(name)?,
            Atom::Remainder(_, divisor) => (0, divisor - 1),
            Atom::Quotient(inner, divisor) => {
                let (low, high) = range(inner, ranges)?;
                (low.div_euclid(*divisor), high.div_euclid(*divisor))
            }
        };
        let ends = [
            coefficient.checked_mul(low)?,
            coefficient.checked_mul(high)?,
        ];
        least = least.checked_add(ends[0].min(ends[1]))?;
        most = most.checked_add(ends[0].max(ends[1]))?;
    }
    Some((least, most))
}

/// Divides the number of an element into one index for each dimension, of which
/// all but the first have these `extents`; nothing if an index would leave its dimension.
pub(super) fn divided(flat: &Affine, extents: &[i64], ranges: &Ranges) -> Option<Vec<Affine>> {
    let mut strides = vec![1_i64];
    for extent in extents.iter().rev() {
        strides.push(strides.last()?.checked_mul(*extent)?);
    }
    strides.reverse();
    let mut parts = vec![Affine::constant(0); strides.len()];
    for (atom, coefficient) in flat.terms() {
        let at = strides
            .iter()
            .position(|stride| coefficient % stride == 0)?;
        parts[at].push(atom.clone(), coefficient / strides[at]);
    }
    // The constant goes where every index is within its dimension then.
    fn place(
        at: usize,
        rest: i64,
        strides: &[i64],
        extents: &[i64],
        ranges: &Ranges,
        parts: &mut [Affine],
    ) -> Option<()> {
        let stride = strides[at];
        let fits = |part: &Affine| match at {
            0 => true,
            _ => range(part, ranges)
                .is_some_and(|(least, most)| 0 <= least && most < extents[at - 1]),
        };
        let own = parts[at].clone();
        if at + 1 == strides.len() {
            parts[at] = own.plus_constant(rest)?;
            return fits(&parts[at]).then_some(());
        }
        let low = rest.div_euclid(stride);
        for share in [low, low + 1] {
            parts[at] = own.plus_constant(share)?;
            let left = rest.checked_sub(share.checked_mul(stride)?)?;
            if fits(&parts[at]) && place(at + 1, left, strides, extents, ranges, parts).is_some() {
                return Some(());
            }
        }
        parts[at] = own;
        None
    }
    place(
        0,
        flat.constant_part(),
        &strides,
        extents,
        ranges,
        &mut parts,
    )?;
    Some(parts)
}

/// Gives arrays of one dimension as many as their indices are made of.
pub(super) fn give_dimensions(program: &mut Program) {
    let mut found: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for (name, named) in &program.names {
        let [extent] = named.extents.as_slice() else {
            continue;
        };
        let mut uses = Uses::default();
        let understood = collect(&program.body, name, &mut Ranges::new(), &mut uses);
        if !understood || program.statics.contains(&format!(" {name}[")) {
            continue;
        }
        if let Some(inner) = dimensions(*extent, &uses) {
            found.insert(name.clone(), inner);
        }
    }
    if found.is_empty() {
        return;
    }
    for (name, inner) in &found {
        if let Some(named) = program.names.get_mut(name) {
            named.extents = extents(named.extents[0], inner);
        }
    }
    let body = std::mem::take(&mut program.body);
    program.body = reshaped(&body, &found, &mut Ranges::new());
}

fn extents(all: i64, inner: &[i64]) -> Vec<i64> {
    let row: i64 = inner.iter().product();
    let outer = if all == UNKNOWN { UNKNOWN } else { all / row };
    std::iter::once(outer)
        .chain(inner.iter().copied())
        .collect()
}

/// Where an array of one dimension is used.
#[derive(Default)]
struct Uses {
    /// Single elements, with the loops around.
    one: Vec<(Affine, Ranges)>,
    /// How many elements loops over all of them have.
    flat: Vec<i64>,
}

/// Returns the array that a loop runs over from its first element on, if all that it
/// does is to change one element of it after the other.
fn flat_array(inner: &Loop) -> Option<&str> {
    let [Statement::Command(Action::Assign { target, value, .. })] = inner.body.as_slice() else {
        return None;
    };
    let own = [Index::Affine(Affine::variable(&inner.variable))];
    let whole = |it: &Element| it.name == target.name && it.indices == own;
    // Nothing else in the value may depend on the loop.
    let rest = value.map(&mut |it| match whole(it) {
        true => Expression::Number("0".into()),
        false => Expression::Element(it.clone()),
    });
    let plain = inner.start == 0 && inner.step == 1 && whole(target);
    let apart = !rest.mentions(&inner.variable) && !rest.mentions(&target.name);
    (plain && apart).then_some(target.name.as_str())
}

/// Collects the indices of an array with the ranges of the loops around; returns
/// whether all of them are sums of loop variables.
fn collect(statements: &[Statement], name: &str, ranges: &mut Ranges, uses: &mut Uses) -> bool {
    statements.iter().all(|statement| match statement {
        Statement::Loop(inner) if flat_array(inner) == Some(name) => {
            uses.flat.push(inner.end);
            true
        }
        Statement::Loop(inner) => {
            let last = inner.start + (inner.trips() - 1) * inner.step;
            ranges.insert(inner.variable.clone(), (inner.start, last));
            let understood = collect(&inner.body, name, ranges, uses);
            ranges.remove(&inner.variable);
            understood
        }
        Statement::Command(action) => {
            let target = match action {
                Action::Assign { target, .. } => Some(target),
                Action::Declare { .. } => None,
            };
            let all = action.reads().into_iter().chain(target);
            let mut own = all.filter(|it| it.name == name);
            own.all(|element| match element.indices.as_slice() {
                [Index::Affine(affine)] => {
                    uses.one.push((affine.clone(), ranges.clone()));
                    true
                }
                _ => false,
            })
        }
        _ => false,
    })
}

/// Returns the inner dimensions of an array that is used like this, as many as can be.
fn dimensions(extent: i64, uses: &Uses) -> Option<Vec<i64>> {
    let mut strides: BTreeSet<i64> = BTreeSet::new();
    for (affine, ranges) in &uses.one {
        for (atom, coefficient) in affine.terms() {
            let Atom::Variable(name) = atom else {
                return None;
            };
            let (low, high) = ranges.get(name)?;
            if low < high && 1 < coefficient.abs() {
                strides.insert(coefficient.abs());
            }
        }
    }
    if strides.is_empty() || MOST_STRIDES < strides.len() {
        return None;
    }
    let strides: Vec<i64> = strides.into_iter().collect();
    let mut choices: Vec<u32> = (1..1 << strides.len()).collect();
    choices.sort_by_key(|bits| std::cmp::Reverse(bits.count_ones()));
    choices.into_iter().find_map(|bits| {
        let mut inner = Vec::new();
        let mut below = 1;
        for (idx, stride) in strides.iter().enumerate() {
            if bits & (1 << idx) != 0 {
                if stride % below != 0 {
                    return None;
                }
                inner.push(stride / below);
                below = *stride;
            }
        }
        inner.reverse();
        let whole = (extent == UNKNOWN || extent % below == 0)
            && uses.flat.iter().all(|it| it % below == 0);
        let fit = uses
            .one
            .iter()
            .all(|(affine, ranges)| divided(affine, &inner, ranges).is_some());
        (whole && fit).then_some(inner)
    })
}

/// Returns loops over the dimensions of an array in place of one over all elements.
fn split_flat(inner: &Loop, found: &BTreeMap<String, Vec<i64>>) -> Option<Statement> {
    let sizes = found.get(flat_array(inner)?)?;
    let row: i64 = sizes.iter().product();
    let extents: Vec<i64> = std::iter::once(inner.end / row)
        .chain(sizes.iter().copied())
        .collect();
    let variables: Vec<String> = (0..extents.len())
        .map(|dimension| match dimension {
            0 => inner.variable.clone(),
            _ => format!("{}_d{dimension}", inner.variable),
        })
        .collect();
    let indices = variables
        .iter()
        .map(|it| Index::Affine(Affine::variable(it)));
    let indices: Vec<Index> = indices.collect();
    let name = flat_array(inner)?;
    let change = |element: &Element| match element.name == name {
        true => Element {
            name: element.name.clone(),
            indices: indices.clone(),
        },
        false => element.clone(),
    };
    let mut body = with_elements(&inner.body, &change);
    for (variable, extent) in variables.iter().zip(&extents).rev() {
        body = vec![Statement::Loop(Loop {
            variable: variable.clone(),
            start: 0,
            end: *extent,
            step: 1,
            body,
        })];
    }
    body.pop()
}

/// Returns statements in which the arrays have their dimensions.
fn reshaped(
    statements: &[Statement],
    found: &BTreeMap<String, Vec<i64>>,
    ranges: &mut Ranges,
) -> Vec<Statement> {
    let mut result = Vec::new();
    for statement in statements {
        match statement {
            Statement::Loop(inner) => {
                if let Some(split) = split_flat(inner, found) {
                    result.push(split);
                    continue;
                }
                let last = inner.start + (inner.trips() - 1) * inner.step;
                ranges.insert(inner.variable.clone(), (inner.start, last));
                let body = reshaped(&inner.body, found, ranges);
                ranges.remove(&inner.variable);
                let mut inner = inner.clone();
                inner.body = body;
                result.push(Statement::Loop(inner));
            }
            other => {
                let change = |element: &Element| {
                    let inner = found.get(&element.name);
                    let parts = match (inner, element.indices.as_slice()) {
                        (Some(inner), [Index::Affine(flat)]) => divided(flat, inner, ranges),
                        _ => None,
                    };
                    Element {
                        name: element.name.clone(),
                        indices: match parts {
                            Some(parts) => parts.into_iter().map(Index::Affine).collect(),
                            None => element.indices.clone(),
                        },
                    }
                };
                let mut changed = with_elements(std::slice::from_ref(other), &change);
                for statement in &mut changed {
                    if let Statement::Command(Action::Declare {
                        name,
                        extents: sizes,
                        ..
                    }) = statement
                        && let (Some(inner), [all]) = (found.get(name), sizes.as_slice())
                    {
                        *sizes = extents(*all, inner);
                    }
                }
                result.extend(changed);
            }
        }
    }
    result
}

/// Returns whether every element that an expression reads lies inside its array.
pub(super) fn is_inside(
    expression: &Expression,
    names: &BTreeMap<String, Named>,
    ranges: &Ranges,
) -> bool {
    expression.reads().iter().all(|element| {
        let extents = names.get(&element.name).map_or(&[][..], |it| &it.extents);
        element
            .indices
            .iter()
            .zip(extents)
            .all(|(index, extent)| match index {
                Index::Affine(affine) => {
                    range(affine, ranges).is_some_and(|(least, most)| 0 <= least && most < *extent)
                }
                Index::Value(_) => false,
            })
    })
}
