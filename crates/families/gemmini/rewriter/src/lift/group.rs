//! Finds vectors and matrices among single elements.

mod statement;

use super::values::{Id, Value, Values};
use crate::graph::{Base, Graph, Statement, View};
use crate::memory::Memory;
use statement::statement;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Where an element lies.
type Place = (Base, i64);

/// An element that is stored: array, element, value.
pub(super) type Written = (usize, i64, Id);

/// Finds the graph that computes what is stored.
///
/// `written`: elements written, in order; `outputs`: what is left in parameters.
///
/// # Errors
/// What is no sum of products of matrices.
pub(super) fn group(
    values: &Values,
    written: &[Written],
    outputs: &BTreeMap<(usize, i64), Id>,
    memories: &[Memory],
) -> Result<Graph, String> {
    let mut groups = groups(values, written, outputs)?;
    let is_parameter = |array: usize| memories[array].is_parameter;
    let mut homes: HashMap<Id, Place> = HashMap::new();
    for (number, group) in groups.iter().enumerate() {
        note(&mut homes, number, group);
    }
    // What is stored nowhere gets its place from what takes it.
    let mut next = 0;
    while let Some(group) = groups.get(next).cloned() {
        for column in 0..group.columns {
            for new in orphans(values, &group.column(column), &homes) {
                note(&mut homes, groups.len(), &new);
                groups.push(new);
            }
        }
        next += 1;
    }
    let place = |id: Id| match values.get(id) {
        Value::Given { array, .. } if !is_parameter(*array) => {
            Err("it takes what an earlier call has left".to_owned())
        }
        Value::Given { array, element } => Ok((Base::Memory(*array), *element)),
        _ => homes
            .get(&id)
            .copied()
            .ok_or_else(|| "it takes a number that is no element".to_owned()),
    };
    let mut graph = Graph::default();
    for group in &groups {
        let extents = [
            (group.ids.len() / group.columns) as i64,
            group.columns as i64,
        ];
        let number = graph.value(extents);
        let columns: Result<Vec<Statement>, String> = (0..group.columns)
            .map(|column| statement(values, &group.column(column), &place))
            .collect();
        let mut statement = beside(columns?)?;
        statement.dest = View::whole(number, extents);
        if let Some((array, first)) = group.store {
            let memory = Base::Memory(array);
            statement
                .stores
                .push(View::new(memory, first, [1, 1], extents));
        }
        graph.statements.push(statement);
    }
    if graph.sort() {
        Ok(graph)
    } else {
        Err("results that need each other".to_owned())
    }
}

/// A vector or matrix.
#[derive(Clone, Debug)]
struct Group {
    /// Where it is stored, if it is.
    store: Option<(usize, i64)>,
    /// Its elements, row by row.
    ids: Vec<Id>,
    columns: usize,
}

impl Group {
    fn column(&self, column: usize) -> Vec<Id> {
        let ids = self.ids.iter().copied();
        ids.skip(column).step_by(self.columns).collect()
    }
}

fn note(homes: &mut HashMap<Id, Place>, number: usize, group: &Group) {
    for (index, id) in group.ids.iter().enumerate() {
        homes.insert(*id, (Base::Value(number), index as i64));
    }
}

/// Returns vectors and matrices that the elements of a vector are products of and
/// that have no place yet.
fn orphans(values: &Values, ids: &[Id], homes: &HashMap<Id, Place>) -> Vec<Group> {
    let pairs: Vec<Vec<[Id; 2]>> = ids
        .iter()
        .map(|id| match values.get(*id) {
            Value::Sum(terms) => {
                let pairs = terms.iter();
                pairs
                    .filter_map(|term| Some([term.value, term.times?]))
                    .collect()
            }
            _ => Vec::new(),
        })
        .collect();
    let factors = |row: &Vec<[Id; 2]>| -> BTreeSet<Id> { row.iter().flatten().copied().collect() };
    let mut shared = pairs.first().map(factors).unwrap_or_default();
    for row in &pairs {
        shared = shared.intersection(&factors(row)).copied().collect();
    }
    let place = |id: Id| match values.get(id) {
        Value::Given { array, element } => Some((Base::Memory(*array), *element)),
        _ => homes.get(&id).copied(),
    };
    let is_orphan = |id: Id| place(id).is_none() && matches!(values.get(id), Value::Sum(_));
    let partners = |row: usize, id: Id| {
        let pairs = pairs[row].iter();
        pairs.filter_map(move |[one, other]| match (*one == id, *other == id) {
            (true, _) => Some(*other),
            (_, true) => Some(*one),
            _ => None,
        })
    };
    // Vectors, in the order of the matrices' columns.
    let mut vectors: BTreeMap<Option<Base>, Vec<(i64, Id)>> = BTreeMap::new();
    for id in shared.iter().copied().filter(|id| is_orphan(*id)) {
        let column = partners(0, id).find_map(place);
        let (base, index) =
            column.map_or((None, i64::from(id)), |(base, index)| (Some(base), index));
        vectors.entry(base).or_default().push((index, id));
    }
    let mut found: Vec<Group> = Vec::new();
    for mut vector in vectors.into_values() {
        vector.sort_unstable();
        found.push(Group {
            store: None,
            ids: vector.into_iter().map(|(_, id)| id).collect(),
            columns: 1,
        });
    }
    // Matrices whose elements all lack a place, in the order of the vectors.
    let mut sorted: Vec<Id> = shared.iter().copied().collect();
    sorted.sort_by_key(|id| {
        let mut new = found.iter().flat_map(|group| &group.ids);
        (place(*id), new.position(|other| other == id))
    });
    let mut matrices: BTreeMap<Option<Base>, Vec<Vec<Id>>> = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for id in sorted {
        let rows = 0..ids.len();
        let orphan = |row| partners(row, id).find(|other| is_orphan(*other));
        let column: Option<Vec<Id>> = rows.map(orphan).collect();
        let column = column.filter(|column| {
            column.iter().all(|other| !shared.contains(other))
                && column.iter().collect::<BTreeSet<_>>().len() == column.len()
                && column.iter().all(|other| !taken.contains(other))
        });
        if let Some(column) = column {
            taken.extend(column.iter().copied());
            let base = place(id).map(|(base, _)| base);
            matrices.entry(base).or_default().push(column);
        }
    }
    for columns in matrices.values() {
        let elements = (0..ids.len()).flat_map(|row| columns.iter().map(move |column| column[row]));
        found.push(Group {
            store: None,
            ids: elements.collect(),
            columns: columns.len(),
        });
    }
    found
}

/// Makes one statement of those that compute a matrix's columns.
fn beside(columns: Vec<Statement>) -> Result<Statement, String> {
    let uneven = || "columns that form no matrix".to_owned();
    let mut all = columns.first().cloned().ok_or_else(uneven)?;
    if columns.len() == 1 {
        return Ok(all);
    }
    let even = |views: Vec<View>| {
        let (first, step) = (views[0], views[1].offset - views[0].offset);
        let is_even = views.iter().enumerate().all(|(at, view)| {
            let offset = first.offset + at as i64 * step;
            *view == View { offset, ..first }
        });
        let extents = [first.extents[0], views.len() as i64];
        is_even
            .then(|| View::new(first.base, first.offset, [first.strides[0], step], extents))
            .ok_or_else(uneven)
    };
    let is_alike = |column: &Statement| {
        let products = column.products.iter().zip(&all.products);
        let addends = column.addends.iter().zip(&all.addends);
        column.products.len() == all.products.len()
            && column.addends.len() == all.addends.len()
            && products
                .clone()
                .all(|(one, other)| (one.factor, one.left) == (other.factor, other.left))
            && addends
                .clone()
                .all(|(one, other)| one.factor == other.factor)
    };
    if !columns.iter().all(is_alike) {
        return Err(uneven());
    }
    for at in 0..all.products.len() {
        let rights = columns.iter().map(|column| column.products[at].right);
        all.products[at].right = even(rights.collect())?;
    }
    for at in 0..all.addends.len() {
        let views = columns.iter().map(|column| column.addends[at].view);
        all.addends[at].view = even(views.collect())?;
    }
    Ok(all)
}

/// Finds elements that form vectors: neighbours written one after the other, none
/// of which needs another.
fn groups(
    values: &Values,
    written: &[Written],
    outputs: &BTreeMap<(usize, i64), Id>,
) -> Result<Vec<Group>, String> {
    let mut homes: HashMap<Id, (usize, i64)> = HashMap::new();
    for (home, id) in outputs {
        if !matches!(values.get(*id), Value::Sum(_)) {
            return Err("an element that is only copied".to_owned());
        }
        if homes.insert(*id, *home).is_some() {
            return Err("one result in two places".to_owned());
        }
    }
    let needed = needed(values, outputs.values().copied());
    let mut seen = BTreeSet::new();
    let mut groups: Vec<Group> = Vec::new();
    // For each array the element that would be next, its group, and the factors
    // that all of the group have in common.
    let mut open: HashMap<usize, (i64, usize, BTreeSet<Id>)> = HashMap::new();
    for (array, element, id) in written {
        if !needed.contains(id)
            || !values.is_named(*id)
            || homes
                .get(id)
                .is_some_and(|home| *home != (*array, *element))
            || !seen.insert(*id)
        {
            continue;
        }
        let is_output = homes.contains_key(id);
        let own = factors(values, *id);
        if let Some((next, group, shared)) = open.get_mut(array)
            && *next == *element
            && (own.is_empty() && shared.is_empty() || !own.is_disjoint(shared))
            && groups[*group].store.is_some() == is_output
            && !groups[*group]
                .ids
                .iter()
                .any(|other| is_related(values, *other, *id))
        {
            *next += 1;
            shared.retain(|factor| own.contains(factor));
            groups[*group].ids.push(*id);
            continue;
        }
        open.insert(*array, (element + 1, groups.len(), own));
        groups.push(Group {
            store: is_output.then_some((*array, *element)),
            ids: vec![*id],
            columns: 1,
        });
    }
    Ok(groups)
}

/// Returns what is multiplied in a sum.
fn factors(values: &Values, id: Id) -> BTreeSet<Id> {
    let Value::Sum(terms) = values.get(id) else {
        return BTreeSet::new();
    };
    let products = terms
        .iter()
        .filter_map(|term| Some([term.value, term.times?]));
    products.flatten().collect()
}

/// Returns the sums that `outputs` are made of, and they themselves.
fn needed(values: &Values, outputs: impl Iterator<Item = Id>) -> BTreeSet<Id> {
    let mut found = BTreeSet::new();
    let mut stack: Vec<Id> = outputs.collect();
    while let Some(id) = stack.pop() {
        if let Value::Sum(terms) = values.get(id)
            && found.insert(id)
        {
            stack.extend(
                terms
                    .iter()
                    .flat_map(|term| [Some(term.value), term.times])
                    .flatten(),
            );
        }
    }
    found
}

fn is_related(values: &Values, one: Id, other: Id) -> bool {
    let (older, younger) = (one.min(other), one.max(other));
    needed(values, std::iter::once(younger)).contains(&older)
}
