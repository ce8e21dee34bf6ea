//! Terms that do not depend on the chain become values of their own, so that
//! they are computed beside it, and several of them at once.

use super::likeness::{Likeness, dependents, likes};
use crate::graph::{Addend, Graph, Statement, View};

/// Splits every statement whose like depends on it: what takes nothing of the
/// others is computed first, and added.
pub(super) fn split(graph: &Graph) -> Graph {
    let mut graph = graph.clone();
    for like in likes(&graph) {
        split_alike(&mut graph, &like);
    }
    graph.sort();
    graph
}

fn split_alike(graph: &mut Graph, like: &Likeness) {
    let reaches = dependents(graph, &like.statements);
    let depends = |view: View| reaches.iter().any(|dest| dest.meets(view));
    let count = graph.statements[like.statements[0]].products.len();
    let on_chain: Vec<bool> = (0..count)
        .map(|at| {
            let members = like.statements.iter();
            members
                .clone()
                .any(|member| depends(graph.statements[*member].products[at].right))
        })
        .collect();
    if on_chain.iter().all(|chained| *chained) || !on_chain.contains(&true) {
        return;
    }
    for member in &like.statements {
        let statement = graph.statements[*member].clone();
        let extents = statement.dest.extents;
        let number = graph.value(extents);
        let dest = View::whole(number, extents);
        let (mut chained, mut others) = (Vec::new(), Vec::new());
        for (product, on_chain) in statement.products.iter().zip(&on_chain) {
            if *on_chain {
                chained.push(*product);
            } else {
                others.push(*product);
            }
        }
        graph.statements[*member].products = chained;
        graph.statements[*member].addends = vec![Addend {
            factor: 1.0,
            view: dest,
        }];
        graph.statements.push(Statement {
            dest,
            products: others,
            addends: statement.addends,
            stores: Vec::new(),
        });
    }
}
