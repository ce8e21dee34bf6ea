//! Sums of products of two operands, one for each row and one for each column of results.

use crate::expression::{Expression, coefficient};
use crate::nest::{Nest, Point};
use crate::step::{Joining, Step, accumulated};
use autocomp_c_loops::affine::Affine;

/// An operand: which element goes into the product of a row or column and a depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    pub array: String,
    pub index: Affine,
    /// Whether elements lie side by side along the depth, or along the row or column.
    pub is_along_depth: bool,
    /// Type of the elements.
    pub kind: String,
}

/// A product of two matrices, or several of them.
#[derive(Clone, Debug)]
pub(crate) struct Product<'n> {
    /// Positions of the coordinates.
    pub row: usize,
    pub column: usize,
    /// The counter of the depth.
    pub depth: &'n str,
    pub rows: i64,
    pub columns: i64,
    pub depths: i64,
    /// The operand of the rows, and that of the columns.
    pub left: Operand,
    pub right: Operand,
    /// The variable that is summed up.
    pub sum: &'n str,
    /// What it begins with.
    pub first: Expression,
    /// What is done with a sum.
    pub after: &'n [Step],
}

/// Reads a product.
pub(crate) fn product(nest: &Nest) -> Option<Product<'_>> {
    let [
        Step::Let {
            name,
            value: Some(first),
            ..
        },
        Step::Loop {
            variable,
            start,
            end,
            step: 1,
            body,
        },
        after @ ..,
    ] = nest.steps.as_slice()
    else {
        return None;
    };
    let [Step::Assign { name: sum, value }] = body.as_slice() else {
        return None;
    };
    let (Joining::Sum, Expression::Binary(one, operator, other)) = accumulated(sum, value)? else {
        return None;
    };
    let is_plain = operator == "*"
        && sum == name
        && first.loads().is_empty()
        && start.as_constant() == Some(0);
    if !is_plain || nest.split.is_some() || nest.points.len() < 2 {
        return None;
    }
    let column = nest.points.len() - 1;
    let of = |value: &Expression| -> Option<(String, Affine)> {
        match value {
            Expression::Load(array, index) => Some((array.clone(), index.as_index()?.clone())),
            Expression::Call(name, arguments)
                if matches!(name.as_str(), "__half2float" | "__bfloat162float") =>
            {
                match arguments.as_slice() {
                    [Expression::Load(array, index)] => {
                        Some((array.clone(), index.as_index()?.clone()))
                    }
                    _ => None,
                }
            }
            Expression::Cast(kind, inner) if kind == "float" => match &**inner {
                Expression::Load(array, index) => Some((array.clone(), index.as_index()?.clone())),
                _ => None,
            },
            _ => None,
        }
    };
    let (mut left, mut right) = (of(one)?, of(other)?);
    if left.1.mentions(&nest.points[column].name) {
        std::mem::swap(&mut left, &mut right);
    }
    let mentions = |operand: &(String, Affine), point: &Point| operand.1.mentions(&point.name);
    let only_left = |it: &&(usize, &Point)| mentions(&left, it.1) && !mentions(&right, it.1);
    let points: Vec<(usize, &Point)> = nest.points.iter().enumerate().collect();
    let rows: Vec<usize> = points.iter().filter(only_left).map(|it| it.0).collect();
    let [row] = rows.as_slice() else {
        return None;
    };
    let columns: Vec<usize> = points
        .iter()
        .filter(|it| !mentions(&left, it.1) && mentions(&right, it.1))
        .map(|it| it.0)
        .collect();
    if columns != [column] {
        return None;
    }
    let written = nest.written();
    let operand = |(array, index): (String, Affine), along: usize| -> Option<Operand> {
        let depth = coefficient(&index, variable)?;
        let side = coefficient(&index, &nest.points[along].name)?;
        let kind = nest.kind_of(&array).to_owned();
        if written.contains(&array) || depth != 1 && side != 1 {
            return None;
        }
        Some(Operand {
            array,
            index,
            is_along_depth: depth == 1,
            kind,
        })
    };
    Some(Product {
        row: *row,
        column,
        depth: variable,
        rows: nest.points[*row].extent,
        columns: nest.points[column].extent,
        depths: end.as_constant()?,
        left: operand(left, *row)?,
        right: operand(right, column)?,
        sum,
        first: first.clone(),
        after: after_is_plain(after).then_some(after)?,
    })
}

fn after_is_plain(after: &[Step]) -> bool {
    after.iter().all(|it| {
        matches!(
            it,
            Step::Let { .. } | Step::Assign { .. } | Step::Store { .. }
        )
    })
}

impl Product<'_> {
    /// Returns how many elements of an operand can be loaded at once.
    pub(crate) fn width(&self, nest: &Nest, operand: &Operand, most: i64) -> i64 {
        let is_left = *operand == self.left;
        let side = if is_left { self.row } else { self.column };
        let along = match operand.is_along_depth {
            true => self.depths,
            false => nest.points[side].extent,
        };
        let own = match operand.is_along_depth {
            true => self.depth,
            false => nest.points[side].name.as_str(),
        };
        let mut fits = along % most == 0 && operand.index.constant_part() % most == 0;
        for (atom, factor) in operand.index.terms() {
            let mut single = Affine::default();
            single.push(atom.clone(), 1);
            fits &= factor % most == 0 || single == Affine::variable(own);
        }
        if fits { most } else { 1 }
    }
}
