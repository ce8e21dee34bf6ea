//! Vectors that are multiplied with the same matrices are taken side by side:
//! one product of matrices in place of several with vectors.

use super::likeness::{depends, likes};
use crate::graph::{Addend, Base, Graph, Product, Statement, View};

/// Batches statements that are alike, up to `width` at once, where none of them
/// depends on another.
///
/// `peels`: of vectors that are there from the beginning, the one that is needed
/// first stays by itself, for a part of a result cannot be waited for.
pub(super) fn batch(graph: &Graph, width: usize, peels: bool) -> Graph {
    let mut graph = graph.clone();
    loop {
        let next = likes(&graph).into_iter().find_map(|like| {
            let mut members = like.statements;
            members.retain(|member| graph.statements[*member].dest.extents[1] == 1);
            if peels && let Some(first) = needed_first(&graph, &members) {
                members.retain(|member| *member != first);
            }
            // In the order in which they lie in memory.
            members.sort_by_key(|member| place(&graph, *member));
            let mut chunks = members.chunks(width).filter(|chunk| 1 < chunk.len());
            chunks.find_map(|chunk| {
                let is_free = |member: &usize| !depends(&graph, *member, chunk);
                if !chunk.iter().all(is_free) {
                    return None;
                }
                batched(&graph, chunk)
            })
        });
        match next {
            Some(next) => graph = next,
            None => return graph,
        }
    }
}

/// Returns which of some statements is needed first, if others take their results
/// one after the other and all of them could be computed at once.
fn needed_first(graph: &Graph, members: &[usize]) -> Option<usize> {
    let takes = |at: usize, member: usize| {
        let dest = graph.statements[member].dest;
        graph.statements[at].operands().any(|view| view == dest)
    };
    let users = 0..graph.statements.len();
    let is_user = |at: &usize| members.iter().any(|member| takes(*at, *member));
    let users: Vec<usize> = users.filter(is_user).collect();
    let (first, last) = (*users.first()?, *users.last()?);
    let is_early = |member: &usize| !depends(graph, *member, &users);
    if !depends(graph, last, &[first]) || !members.iter().all(is_early) {
        return None;
    }
    members.iter().copied().find(|member| takes(first, *member))
}

/// Where the vectors of a statement lie in memory, for sorting.
fn place(graph: &Graph, statement: usize) -> Vec<(Base, i64)> {
    let statement = &graph.statements[statement];
    let stores = statement.stores.iter();
    let operands = statement.products.iter().map(|one| one.right);
    stores
        .copied()
        .chain(operands)
        .chain(statement.addends.iter().map(|one| one.view))
        .map(|view| (view.base, view.offset))
        .collect()
}

/// Makes one statement of several; `None` if their operands cannot lie side by side.
fn batched(graph: &Graph, members: &[usize]) -> Option<Graph> {
    let mut new = graph.clone();
    let of = |graph: &Graph, pick: &dyn Fn(&Statement) -> View| -> Vec<View> {
        members
            .iter()
            .map(|member| pick(&graph.statements[*member]))
            .collect()
    };
    let first = graph.statements[members[0]].clone();
    let mut statement = Statement {
        dest: first.dest,
        products: Vec::new(),
        addends: Vec::new(),
        stores: Vec::new(),
    };
    for (at, product) in first.products.iter().enumerate() {
        let views = of(&new, &|statement| statement.products[at].right);
        let right = beside(&mut new, &views)?;
        statement.products.push(Product { right, ..*product });
    }
    for (at, addend) in first.addends.iter().enumerate() {
        let views = of(&new, &|statement| statement.addends[at].view);
        let view = beside(&mut new, &views)?;
        statement.addends.push(Addend { view, ..*addend });
    }
    let dests = of(&new, &|statement| statement.dest);
    statement.dest = beside(&mut new, &dests)?;
    for (at, _) in first.stores.iter().enumerate() {
        let stores: Option<Vec<View>> = members
            .iter()
            .map(|member| new.statements[*member].stores.get(at).copied())
            .collect();
        statement.stores.push(evenly(&stores?)?);
    }
    let mut index = 0;
    new.statements.retain(|_| {
        index += 1;
        !members.contains(&(index - 1))
    });
    new.statements.push(statement);
    new.sort().then_some(new)
}

/// Returns the view of which vectors are the columns, if they lie evenly apart.
fn evenly(views: &[View]) -> Option<View> {
    let (first, second) = (views.first()?, views.get(1)?);
    let stride = second.offset - first.offset;
    let is_even = views.iter().enumerate().all(|(at, view)| {
        *view
            == View {
                offset: first.offset + at as i64 * stride,
                ..*first
            }
    });
    let extents = [first.extents[0], views.len() as i64];
    (is_even && 0 < stride).then(|| {
        View::new(
            first.base,
            first.offset,
            [first.strides[0], stride],
            extents,
        )
    })
}

/// Returns a view of which vectors are the columns; moves them side by side if
/// they are values of their own.
fn beside(graph: &mut Graph, views: &[View]) -> Option<View> {
    if let Some(view) = evenly(views) {
        // Columns of a value lie in neighbouring rows.
        let is_value = view.value().is_some();
        return (!is_value || view.strides[1] == 1).then_some(view);
    }
    let rows = views.first()?.extents[0];
    let extents = [rows, views.len() as i64];
    // Each must be a whole value, or in memory.
    for (at, view) in views.iter().enumerate() {
        if views[..at].contains(view) {
            return None;
        }
        match view.base {
            Base::Memory(_) => {}
            Base::Value(number) => {
                let whole = *graph.values.get(number)?;
                (whole == [rows, 1] && view.is_whole(whole)).then_some(())?;
            }
            Base::Identity => return None,
        }
    }
    let number = graph.value(extents);
    let column = |at: usize| {
        View::new(
            Base::Value(number),
            at as i64,
            [views.len() as i64, 1],
            [rows, 1],
        )
    };
    for (at, view) in views.iter().enumerate() {
        let to = column(at);
        let is_memory = matches!(view.base, Base::Memory(_));
        let change = |other: View| if other == *view { to } else { other };
        let is_within = |other: View| !is_memory && other != *view && other.meets(*view);
        let statements = graph.statements.iter();
        if statements.flat_map(|one| one.operands()).any(is_within) {
            return None;
        }
        for statement in &mut graph.statements {
            statement.rewrite(&change);
        }
        if is_memory {
            graph.statements.push(Statement {
                dest: to,
                products: Vec::new(),
                addends: vec![Addend {
                    factor: 1.0,
                    view: *view,
                }],
                stores: Vec::new(),
            });
        }
    }
    Some(View::new(
        Base::Value(number),
        0,
        [views.len() as i64, 1],
        extents,
    ))
}
