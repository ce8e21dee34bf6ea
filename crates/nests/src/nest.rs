//! Nests of loops around a sum of products.

use super::code::{Action, Element, Expression, Loop, Named, Statement};
use super::vectors::is_narrow;
use std::collections::BTreeMap;

/// A loop from zero in steps of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// The variable.
    pub variable: String,
    /// The number of iterations.
    pub extent: u32,
}

impl Range {
    /// Returns the head of a loop over the whole range.
    pub(super) fn head(&self) -> String {
        let Self { variable, extent } = self;
        format!("for (int {variable} = 0; {variable} < {extent}; {variable}++)")
    }
}

/// A nest of loops, each iteration of the outer ones of which computes one
/// element of an output from a sum over the inner ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nest {
    /// Loops whose iterations do not depend on one another, outermost first.
    pub parallel: Vec<Range>,
    /// Loops that the sums run over, outermost first.
    pub reduction: Vec<Range>,
    /// The variable that sums up.
    pub sum: String,
    /// Its type (`float`, `int32_t`).
    pub sum_type: String,
    /// What it begins with.
    pub initial: Expression,
    /// What is added.
    pub term: Expression,
    /// Where the result goes.
    pub output: Element,
    /// Its type: that of the sum, or another that is known.
    pub output_type: String,
    /// The result, made of the sum.
    pub result: Expression,
}

impl Nest {
    /// Reads a loop as such a nest.
    pub(super) fn read(outer: &Loop, names: &BTreeMap<String, Named>) -> Option<Self> {
        let mut parallel = vec![range(outer)?];
        let mut body = outer.body.as_slice();
        while let [Statement::Loop(inner)] = body {
            parallel.push(range(inner)?);
            body = &inner.body;
        }
        let [
            Statement::Command(Action::Declare {
                kind,
                name: sum,
                extents,
                value: Some(initial),
            }),
            Statement::Loop(first),
            Statement::Command(Action::Assign {
                target: output,
                operator: None,
                value: result,
            }),
        ] = body
        else {
            return None;
        };
        let mut reduction = vec![range(first)?];
        let mut body = first.body.as_slice();
        while let [Statement::Loop(inner)] = body {
            reduction.push(range(inner)?);
            body = &inner.body;
        }
        let [
            Statement::Command(Action::Assign {
                target,
                operator: Some('+'),
                value: term,
            }),
        ] = body
        else {
            return None;
        };
        let nest = Self {
            parallel,
            reduction,
            sum: sum.clone(),
            sum_type: kind.clone(),
            initial: initial.clone(),
            term: term.clone(),
            output: output.clone(),
            output_type: names.get(&output.name)?.kind.clone(),
            result: result.clone(),
        };
        let adds = *target == Element::variable(sum) && extents.is_empty();
        (adds && nest.is_sound(names)).then_some(nest)
    }

    /// Returns whether the parts fit together: every element of the output is
    /// computed once, from what nothing in the nest changes.
    fn is_sound(&self, names: &BTreeMap<String, Named>) -> bool {
        let kind = |element: &Element| names.get(&element.name).map(|it| it.kind.as_str());
        let Some(indices) = self.output.affine() else {
            return false;
        };
        let sums_over = |variable: &str| self.reduction.iter().any(|it| it.variable == variable);
        let in_output = |it: &Range| {
            let mut own = indices.iter().filter(|index| index.mentions(&it.variable));
            // Alone in a dimension, so that no two iterations meet.
            own.next().is_some_and(|index| {
                let others = self.parallel.iter().filter(|other| *other != it);
                !others
                    .into_iter()
                    .any(|other| index.mentions(&other.variable))
            }) && own.next().is_none()
        };
        let plain_term = |expression: &Expression| is_ring(expression, &self.sum_type);
        let reads = self.term.reads();
        // Looked up where no vectors run: `x[places[i]][k]`.
        let looked_up = |element: &Element| {
            let innermost = self.parallel.last();
            element.affine().is_some()
                || innermost.is_some_and(|it| !element.mentions(&it.variable))
        };
        let steady = |element: &&Element| {
            element.name != self.output.name && element.name != self.sum && looked_up(element)
        };
        ["float", "int32_t"].contains(&self.sum_type.as_str())
            && kind(&self.output) == Some(self.output_type.as_str())
            && (["float", "int32_t"].contains(&self.output_type.as_str())
                || is_narrow(&self.output_type))
            && self.parallel.iter().all(in_output)
            && !indices
                .iter()
                .any(|index| self.reduction.iter().any(|it| index.mentions(&it.variable)))
            && plain_term(&self.term)
            && !reads.is_empty()
            && reads.iter().all(steady)
            && self.initial.reads().is_empty()
            && self
                .result
                .reads()
                .iter()
                .all(|it| it.name != self.output.name || **it == self.output)
            && !self
                .reduction
                .iter()
                .any(|it| self.result.mentions(&it.variable))
            && !self.parallel.iter().any(|it| sums_over(&it.variable))
    }

    /// Returns whether sums of whole numbers are made of products of numbers that 16 bits hold.
    pub(super) fn fits_halves(&self, names: &BTreeMap<String, Named>) -> bool {
        let held = ["int8_t", "uint8_t", "int16_t"];
        let is_held = |access: &&Element| {
            let kind = names.get(&access.name).map(|it| it.kind.as_str());
            kind.is_some_and(|kind| held.contains(&kind))
        };
        self.sum_type == "int32_t" && self.reads().iter().all(is_held)
    }

    /// Returns the operands of what is summed, in the order of the text; what is read to look
    /// them up belongs to them.
    pub(super) fn reads(&self) -> Vec<&Element> {
        self.term.operands()
    }

    /// Returns how many iterations a parallel loop has.
    pub(super) fn extent_of(&self, variable: &str) -> u32 {
        let mut loops = self.parallel.iter();
        loops
            .find(|it| it.variable == variable)
            .map_or(1, |it| it.extent)
    }

    /// Returns whether the result is the sum and nothing else, of its type.
    pub(super) fn is_plain(&self) -> bool {
        self.output_type == self.sum_type
            && self.result == Expression::Element(Element::variable(&self.sum))
    }

    /// Returns whether an operand can be copied into panels that run over one
    /// of the parallel loops: it depends on no other one.
    pub(super) fn is_packable(&self, access: &Element, variable: &str) -> bool {
        let mut others = self.parallel.iter().filter(|it| it.variable != variable);
        access.mentions(variable) && !others.any(|it| access.mentions(&it.variable))
    }

    /// Returns the loop that vectors may run over: outputs lie side by side in
    /// it; operands do so, too, or do not depend on it, or can be packed.
    pub(super) fn vector_loop(&self, names: &BTreeMap<String, Named>) -> Option<&Range> {
        let fits = |it: &&Range| {
            let variable = it.variable.as_str();
            let stride = |access: &Element| {
                let extents = &names.get(&access.name)?.extents;
                access.stride(variable, extents)
            };
            let mut reads = self.reads().into_iter();
            stride(&self.output) == Some(1)
                && self.reads().iter().any(|access| access.mentions(variable))
                && reads.all(|access| {
                    !access.mentions(variable)
                        || stride(access) == Some(1)
                        || self.is_packable(access, variable)
                })
        };
        self.parallel.iter().rev().find(fits)
    }

    /// Returns the loop that rows of a register tile are taken from: operands
    /// of the vector loop are used again in it.
    pub(super) fn row_loop(&self, vector: &Range) -> Option<&Range> {
        let reads = self.reads();
        let mut others = self.parallel.iter().rev().filter(|it| *it != vector);
        others.find(|it| {
            let mut vectors = reads
                .iter()
                .filter(|access| access.mentions(&vector.variable));
            vectors.all(|access| !access.mentions(&it.variable))
        })
    }
}

/// Returns whether an expression adds and multiplies only.
pub(super) fn is_ring(expression: &Expression, kind: &str) -> bool {
    match expression {
        Expression::Number(_) | Expression::Element(_) => true,
        Expression::Cast(to, inner) => to == kind && is_ring(inner, kind),
        Expression::Negative(inner) => is_ring(inner, kind),
        Expression::Binary(left, operator, right) => {
            ["+", "-", "*"].contains(&operator.as_str())
                && is_ring(left, kind)
                && is_ring(right, kind)
        }
        _ => false,
    }
}

fn range(it: &Loop) -> Option<Range> {
    let plain = it.start == 0 && it.step == 1;
    Some(Range {
        variable: it.variable.clone(),
        extent: u32::try_from(it.end).ok().filter(|_| plain)?,
    })
}
