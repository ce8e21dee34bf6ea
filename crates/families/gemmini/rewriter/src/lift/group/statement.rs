//! Makes statements of a graph of elements that are computed alike.

use super::Place;
use crate::graph::{Addend, Base, Product, Statement, View};
use crate::lift::values::{Id, Value, Values};
use std::collections::{BTreeMap, BTreeSet};

/// A matrix that is being found: where its elements lie.
struct Block {
    factor: f32,
    left: View,
    right: View,
}

pub(super) fn statement(
    values: &Values,
    ids: &[Id],
    place: &dyn Fn(Id) -> Result<Place, String>,
) -> Result<Statement, String> {
    let mut linear: Vec<Vec<(Place, f32)>> = Vec::new();
    let mut products: Vec<Vec<(Place, Place, f32)>> = Vec::new();
    for id in ids {
        let (mut terms, mut pairs) = (Vec::new(), Vec::new());
        if let Value::Sum(sum) = values.get(*id) {
            for term in sum {
                match term.times {
                    None => terms.push((place(term.value)?, term.factor())),
                    Some(times) => {
                        pairs.push((place(term.value)?, place(times)?, term.factor()));
                    }
                }
            }
        }
        terms.sort_by_key(|term| term.0);
        linear.push(terms);
        products.push(pairs);
    }
    let dest = View::new(Base::Value(0), 0, [1, 1], [ids.len() as i64, 1]);
    Ok(Statement {
        dest,
        products: matrices(&products)?,
        addends: vectors(&linear)?,
        stores: Vec::new(),
    })
}

/// Returns where the first of evenly spaced places is, and their distance.
fn line(places: &[Place]) -> Option<(Place, i64)> {
    let (base, first) = *places.first()?;
    let stride = places.get(1).map_or(0, |second| second.1 - first);
    let is_even = places
        .iter()
        .enumerate()
        .all(|(at, place)| *place == (base, first + at as i64 * stride));
    is_even.then_some(((base, first), stride))
}

fn vectors(rows: &[Vec<(Place, f32)>]) -> Result<Vec<Addend>, String> {
    let uneven = || "addends that form no vector".to_owned();
    let count = rows.first().map_or(0, Vec::len);
    if rows.iter().any(|row| row.len() != count) {
        return Err(uneven());
    }
    (0..count)
        .map(|at| {
            let factor = rows[0][at].1;
            let places: Vec<Place> = rows.iter().map(|row| row[at].0).collect();
            let ((base, first), stride) = line(&places).ok_or_else(uneven)?;
            if rows.iter().any(|row| row[at].1 != factor) {
                return Err(uneven());
            }
            let extents = [rows.len() as i64, 1];
            let view = View::new(base, first, [stride, 1], extents);
            Ok(Addend { factor, view })
        })
        .collect()
}

fn matrices(rows: &[Vec<(Place, Place, f32)>]) -> Result<Vec<Product>, String> {
    let factors = |row: &Vec<(Place, Place, f32)>| -> BTreeSet<Place> {
        row.iter().flat_map(|(a, b, _)| [*a, *b]).collect()
    };
    let mut shared = rows.first().map(factors).unwrap_or_default();
    for row in rows {
        shared = shared.intersection(&factors(row)).copied().collect();
    }
    // For each element of a vector what it is multiplied by, row by row.
    let mut columns: BTreeMap<Place, Vec<Vec<(Place, f32)>>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        for (a, b, factor) in row {
            let is_vector = |place: &Place| shared.contains(place);
            let (vector, matrix) = match (is_vector(a), is_vector(b)) {
                (true, true) if matches!(b.0, Base::Value(_)) => (*b, *a),
                (true, _) => (*a, *b),
                (false, true) => (*b, *a),
                _ => return Err("products of elements, not of matrices".to_owned()),
            };
            let column = columns
                .entry(vector)
                .or_insert_with(|| vec![Vec::new(); rows.len()]);
            column[at].push((matrix, *factor));
        }
    }
    let extent = rows.len() as i64;
    let mut blocks: Vec<Block> = Vec::new();
    for ((base, index), mut column) in columns {
        let uneven = || "products that form no matrix".to_owned();
        for row in &mut column {
            row.sort_by_key(|one| one.0);
        }
        let count = column[0].len();
        if column.iter().any(|row| row.len() != count) {
            return Err(uneven());
        }
        for at in 0..count {
            let factor = column[0][at].1;
            let places: Vec<Place> = column.iter().map(|row| row[at].0).collect();
            let ((matrix, first), down) = line(&places).ok_or_else(uneven)?;
            if column.iter().any(|row| row[at].1 != factor) {
                return Err(uneven());
            }
            let is_next = |block: &Block| {
                let [_, inner] = block.left.extents;
                let (left, right) = (block.left, block.right);
                let across = first - left.offset;
                let step = index - right.offset;
                block.factor == factor
                    && left.base == matrix
                    && right.base == base
                    && (extent == 1 || left.strides[0] == down)
                    && step == inner
                    && (inner == 1 || across == inner * left.strides[1])
            };
            match blocks.iter_mut().rev().find(|block| is_next(block)) {
                Some(block) => {
                    let inner = block.left.extents[1];
                    let across = (first - block.left.offset) / inner;
                    let step = (index - block.right.offset) / inner;
                    let (left, right) = (block.left, block.right);
                    block.left =
                        View::new(matrix, left.offset, [down, across], [extent, inner + 1]);
                    block.right = View::new(base, right.offset, [step, 1], [inner + 1, 1]);
                }
                None => blocks.push(Block {
                    factor,
                    left: View::new(matrix, first, [down, 1], [extent, 1]),
                    right: View::new(base, index, [1, 1], [1, 1]),
                }),
            }
        }
    }
    let product = |block: Block| Product {
        factor: block.factor,
        left: block.left,
        right: block.right,
    };
    Ok(blocks.into_iter().map(product).collect())
}
