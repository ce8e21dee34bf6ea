//! Products of matrices first: where a vector is multiplied by one matrix and
//! then by another, the matrices are multiplied once, and the chain of vectors
//! that wait for each other becomes shorter.

use super::likeness::likes;
use crate::graph::{Addend, Graph, Product, Statement, View};
use std::collections::HashMap;

/// A matrix that is a sum: factor, matrix, matrix that it is multiplied with.
type Sum = Vec<(u32, View, Option<View>)>;

/// Puts what a result is made of in its place, where the sum that takes it also
/// takes what the result is made of.
pub(super) fn bypass(graph: &Graph) -> Graph {
    let mut new = graph.clone();
    let mut matrices = HashMap::new();
    for at in 0..graph.statements.len() {
        let statement = &graph.statements[at];
        let found = statement.products.iter().find_map(|product| {
            let other = graph.producer(product.right)?;
            let rights: Vec<View> = statement.products.iter().map(|one| one.right).collect();
            let inner = &graph.statements[other].products;
            inner
                .iter()
                .any(|one| rights.contains(&one.right))
                .then_some(graph.statements[other].clone())
        });
        if let Some(inner) = found {
            replace(&mut new, at, &inner, &mut matrices);
        }
    }
    new.sort();
    new.prune();
    new
}

/// In chains whose vectors are each the product of the one before with the same
/// matrix, every vector is computed from the one `steps` before it.
pub(super) fn stride(graph: &Graph, steps: usize) -> Graph {
    let mut new = graph.clone();
    let mut matrices = HashMap::new();
    for like in likes(graph) {
        // Each member with the one that it takes.
        let members = &like.statements;
        let before = |member: usize| {
            let products = graph.statements[member].products.iter();
            products
                .filter_map(|product| graph.producer(product.right))
                .find(|other| members.contains(other))
        };
        // Members that open a stretch: their likes are computed from them alone.
        let mut places: HashMap<usize, usize> = HashMap::new();
        for member in members {
            let place = before(*member).map_or(0, |other| places[&other] + 1);
            places.insert(*member, place);
        }
        for member in members {
            if places[member].is_multiple_of(steps) {
                continue;
            }
            // As far back as the beginning of its stretch.
            let mut other = before(*member);
            for _ in 0..places[member] % steps {
                let Some(inner) = other else {
                    break;
                };
                let inner_statement = graph.statements[inner].clone();
                replace(&mut new, *member, &inner_statement, &mut matrices);
                other = before(inner);
            }
        }
    }
    new.sort();
    new.prune();
    new
}

/// Puts the sum that `inner` is in its place in statement `at`.
fn replace(graph: &mut Graph, at: usize, inner: &Statement, matrices: &mut HashMap<Sum, View>) {
    let statement = graph.statements[at].clone();
    // For each vector the matrices that it is multiplied with.
    let mut sums: Vec<(View, Sum)> = Vec::new();
    let mut add = |right: View, factor: f32, left: View, second: Option<View>| {
        let term = (factor.to_bits(), left, second);
        match sums.iter_mut().find(|(view, _)| *view == right) {
            Some((_, sum)) => sum.push(term),
            None => sums.push((right, vec![term])),
        }
    };
    for product in &statement.products {
        if product.right != inner.dest {
            add(product.right, product.factor, product.left, None);
            continue;
        }
        for one in &inner.products {
            let factor = product.factor * one.factor;
            add(one.right, factor, product.left, Some(one.left));
        }
        for one in &inner.addends {
            add(one.view, product.factor * one.factor, product.left, None);
        }
    }
    let mut products = Vec::new();
    for (right, mut sum) in sums {
        if let [(factor, left, None)] = sum.as_slice() {
            products.push(Product {
                factor: f32::from_bits(*factor),
                left: *left,
                right,
            });
            continue;
        }
        sum.sort_unstable();
        let extents = [statement.dest.extents[0], right.extents[0]];
        let left = *matrices.entry(sum.clone()).or_insert_with(|| {
            let dest = View::whole(graph.value(extents), extents);
            let mut matrix = Statement {
                dest,
                products: Vec::new(),
                addends: Vec::new(),
                stores: Vec::new(),
            };
            for (factor, left, second) in sum {
                let factor = f32::from_bits(factor);
                match second {
                    Some(right) => matrix.products.push(Product {
                        factor,
                        left,
                        right,
                    }),
                    None => matrix.addends.push(Addend { factor, view: left }),
                }
            }
            graph.statements.push(matrix);
            dest
        });
        products.push(Product {
            factor: 1.0,
            left,
            right,
        });
    }
    graph.statements[at].products = products;
}
