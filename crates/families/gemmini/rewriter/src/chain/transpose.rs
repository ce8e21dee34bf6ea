//! Matrices that lie in memory the other way round than the array takes them are
//! transposed once, in the scratchpad.

use super::lower::is_movable;
use crate::graph::{Addend, Base, Graph, Statement, View};
use std::collections::HashMap;

/// Adds transposed copies of what moves cannot bring as it is needed.
///
/// `is_turned`: values lie transposed.
pub(super) fn transpose(graph: &Graph, is_turned: bool) -> Graph {
    let mut new = graph.clone();
    let mut copies: HashMap<(View, u32), View> = HashMap::new();
    let lies = |view: View| if is_turned { view.turned() } else { view };
    let fits = |view: View| !matches!(view.base, Base::Memory(_)) || is_movable(lies(view));
    for statement in &graph.statements {
        let fits_all = statement.operands().all(fits);
        // The array can transpose both operands of a product, if both lie so.
        let fits_turned = statement
            .operands()
            .all(|view| matches!(view.base, Base::Memory(_)) && is_movable(lies(view).turned()));
        if fits_all || fits_turned {
            continue;
        }
        let mut copy = |graph: &mut Graph, factor: f32, view: View| {
            *copies.entry((view, factor.to_bits())).or_insert_with(|| {
                let dest = View::whole(graph.value(view.extents), view.extents);
                graph.statements.push(Statement {
                    dest,
                    products: Vec::new(),
                    addends: vec![Addend { factor, view }],
                    stores: Vec::new(),
                });
                dest
            })
        };
        let mut changed = statement.clone();
        for product in &mut changed.products {
            for at in 0..2 {
                let view = if at == 0 { product.left } else { product.right };
                if fits(view) {
                    continue;
                }
                let view = copy(&mut new, product.factor, view);
                product.factor = 1.0;
                if at == 0 {
                    product.left = view;
                } else {
                    product.right = view;
                }
            }
        }
        for addend in &mut changed.addends {
            if !fits(addend.view) {
                addend.view = copy(&mut new, addend.factor, addend.view);
                addend.factor = 1.0;
            }
        }
        if let Some(old) = new
            .statements
            .iter_mut()
            .find(|old| old.dest == changed.dest)
        {
            *old = changed;
        }
    }
    new.sort();
    new
}
