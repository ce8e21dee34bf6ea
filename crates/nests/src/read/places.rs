//! Places in arrays: what pointers point at, and elements.

use super::super::code::{Element, Expression, Index, UNKNOWN};
use super::super::shape;
use super::{Binding, EXTENT_LIMIT, Reader};
use crate::refusal::Refusal;
use autocomp_c_loops::affine::Affine;
use std::collections::BTreeMap;
use tree_sitter::Node;

/// A place in an array from which elements are counted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    /// The array.
    pub name: String,
    /// Indices of the outer dimensions.
    pub lead: Vec<Index>,
    /// What is added to the index of the next one.
    pub offset: Affine,
    /// Sizes of the arrays that a pointer points to (`float (*)[128]`) where the next dimension
    /// is the last one, in which their elements lie one behind the other.
    pub rows: Vec<i64>,
}

impl Place {
    fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            lead: Vec::new(),
            offset: Affine::constant(0),
            rows: Vec::new(),
        }
    }

    /// Returns the place so many elements behind this one, or rows where the array has rows.
    pub(super) fn plus(mut self, offset: &Affine) -> Option<Self> {
        self.offset = self.offset.plus(offset)?;
        Some(self)
    }

    /// Returns the place so many of what is pointed to behind this one.
    pub(super) fn ahead(self, count: &Affine) -> Option<Self> {
        let elements = self.rows.iter().product();
        self.plus(&count.times(elements)?)
    }

    /// Returns the first place in the row at `index`.
    fn row(mut self, index: Index) -> Option<Self> {
        if !self.rows.is_empty() {
            let moved = match &index {
                Index::Affine(affine) => self.ahead(affine),
                Index::Value(_) => None,
            };
            return moved.map(|mut it| {
                it.rows.remove(0);
                it
            });
        }
        self.lead.push(behind(&self.offset, index)?);
        self.offset = Affine::constant(0);
        Some(self)
    }
}

/// Returns an index counted from a place.
fn behind(offset: &Affine, index: Index) -> Option<Index> {
    Some(match index {
        Index::Affine(affine) => Index::Affine(offset.plus(&affine)?),
        Index::Value(value) if *offset == Affine::constant(0) => Index::Value(value),
        Index::Value(value) => Index::Value(Box::new(Expression::Binary(
            Box::new(Expression::Index(offset.clone())),
            "+".into(),
            value,
        ))),
    })
}

/// Returns the index of an element in rows of `size` that lie one behind the other.
fn in_row(row: Index, size: i64, index: Index) -> Option<Index> {
    if let (Index::Affine(row), Index::Affine(index)) = (&row, &index) {
        return Some(Index::Affine(row.times(size)?.plus(index)?));
    }
    let value = |index| match index {
        Index::Affine(affine) => Box::new(Expression::Index(affine)),
        Index::Value(value) => value,
    };
    let size = Box::new(Expression::Index(Affine::constant(size)));
    let first = Expression::Binary(value(row), "*".into(), size);
    let sum = Expression::Binary(Box::new(first), "+".into(), value(index));
    Some(Index::Value(Box::new(sum)))
}

impl<'s> Reader<'s> {
    /// Reads a pointer, or an array taken as one; nothing if it is neither.
    pub(super) fn place(&mut self, node: Node<'s>) -> Option<Place> {
        let field = |name: &str| node.child_by_field_name(name);
        match node.kind() {
            "parenthesized_expression" => self.place(node.named_child(0)?),
            "identifier" => match self.bindings.get(self.text(node)) {
                Some(Binding::Pointer(place)) => Some(place.clone()),
                Some(Binding::Renamed(name)) => self.array(name),
                Some(_) => None,
                None => self.array(self.text(node)),
            },
            "subscript_expression" => {
                let place = self.place(field("argument")?)?;
                let dimensions = self.names.get(&place.name)?.extents.len();
                if place.rows.is_empty() && dimensions < place.lead.len() + 2 {
                    return None;
                }
                let index = self.steady_index(field("index")?)?;
                place.row(index)
            }
            "pointer_expression" if self.text(node).starts_with('&') => {
                let mut inner = field("argument")?;
                while inner.kind() == "parenthesized_expression" {
                    inner = inner.named_child(0)?;
                }
                if inner.kind() != "subscript_expression" {
                    return None;
                }
                let place = self.place(inner.child_by_field_name("argument")?)?;
                place.ahead(&self.affine(inner.child_by_field_name("index")?)?)
            }
            "binary_expression" => {
                let (left, right) = (field("left")?, field("right")?);
                match (self.text(field("operator")?), self.place(left)) {
                    ("+", Some(place)) => place.ahead(&self.affine(right)?),
                    ("-", Some(place)) => place.ahead(&self.affine(right)?.times(-1)?),
                    ("+", None) => self.place(right)?.ahead(&self.affine(left)?),
                    _ => None,
                }
            }
            "cast_expression" => {
                let mut place = self.place(field("value")?)?;
                let kind = field("type")?.child_by_field_name("type")?;
                let rows = self.pointed_to(field("type")?)?;
                let array = self.names.get(&place.name)?;
                if self.type_name(self.text(kind)) != array.kind {
                    return None;
                }
                let own = array.extents.get(place.lead.len() + 1..)?;
                if place.rows.is_empty() && own == rows {
                    return Some(place);
                }
                // Elements one after the other, whatever the dimensions.
                let dimensions = array.extents.len();
                while place.lead.len() + 1 < dimensions {
                    place = place.row(Index::Affine(Affine::constant(0)))?;
                }
                Some(Place { rows, ..place })
            }
            _ => None,
        }
    }

    /// Returns the sizes of the arrays that a type of pointers points to: none for `float *`.
    fn pointed_to(&self, kind: Node<'s>) -> Option<Vec<i64>> {
        let text: String = self.text(kind).split_whitespace().collect();
        let mut inner = kind.child_by_field_name("declarator")?;
        let mut rows = Vec::new();
        while inner.kind() == "abstract_array_declarator" {
            let size = self.affine(inner.child_by_field_name("size")?)?;
            let size = size.as_constant()?;
            rows.push(Some(size).filter(|it| (1..=EXTENT_LIMIT).contains(it))?);
            inner = inner.child_by_field_name("declarator")?;
        }
        rows.reverse();
        let is_pointer = text.ends_with('*') && !text.ends_with("**");
        (is_pointer || !rows.is_empty() && text.contains("(*)[")).then_some(rows)
    }

    fn array(&self, name: &str) -> Option<Place> {
        let known = self.names.get(name)?;
        (!known.extents.is_empty()).then(|| Place::of(name))
    }

    /// Reads what can be assigned to: a variable or an element.
    pub(super) fn element(&mut self, node: Node<'s>) -> Result<Element, Refusal> {
        let mut indices = Vec::new();
        let mut inner = node;
        let mut walked = None;
        loop {
            match inner.kind() {
                "subscript_expression" => {
                    indices.push(self.index(self.field(inner, "index")?)?);
                    inner = self.field(inner, "argument")?;
                }
                "pointer_expression" if self.text(inner).starts_with('*') => {
                    indices.push(Index::Affine(Affine::constant(0)));
                    inner = self.field(inner, "argument")?;
                    let mut within = inner;
                    while within.kind() == "parenthesized_expression" {
                        within = self.field_or(within)?;
                    }
                    if within.kind() == "update_expression" {
                        walked = Some(self.walked(within)?);
                        break;
                    }
                }
                "parenthesized_expression" => {
                    let within = self.field_or(inner)?;
                    let is_element =
                        ["pointer_expression", "subscript_expression"].contains(&within.kind());
                    if !is_element || self.place(within).is_some() {
                        break;
                    }
                    inner = within;
                }
                _ => break,
            }
        }
        indices.reverse();
        if indices.is_empty() {
            let name = self.text(inner);
            let variable = self.variable(name);
            return match self.names.get(&variable.name) {
                Some(named) if named.extents.is_empty() && inner.kind() == "identifier" => {
                    Ok(variable)
                }
                _ => self.not_understood(node),
            };
        }
        let Some(place) = walked.or_else(|| self.place(inner)) else {
            return self.not_understood(node);
        };
        match self.at(&place, indices) {
            Some(element) => Ok(element),
            None => self.not_understood(node),
        }
    }

    fn field_or<'t>(&self, node: Node<'t>) -> Result<Node<'t>, Refusal> {
        match node.named_child(0) {
            Some(inner) => Ok(inner),
            None => self.not_understood(node),
        }
    }

    /// Reads an index of a pointer, which is looked up where the pointer is declared; nothing if
    /// it may be another one where the pointer is used.
    fn steady_index(&mut self, node: Node<'s>) -> Option<Index> {
        if let Some(affine) = self.affine(node) {
            return Some(Index::Affine(affine));
        }
        let (n_pending, doubt) = (self.pending.len(), self.doubt.clone());
        let value = self.expression(node).ok();
        let is_alone = self.pending.len() == n_pending && self.doubt == doubt;
        self.pending.truncate(n_pending);
        self.doubt = doubt;
        let value = value.filter(|it| is_alone && self.is_stable(it))?;
        Some(Index::Value(Box::new(value)))
    }

    fn index(&mut self, node: Node<'s>) -> Result<Index, Refusal> {
        Ok(match self.affine(node) {
            Some(affine) => Index::Affine(affine),
            None => Index::Value(Box::new(self.expression(node)?)),
        })
    }

    /// Returns the element that `indices` name, counted from a place.
    fn at(&self, place: &Place, indices: Vec<Index>) -> Option<Element> {
        let extents = &self.names.get(&place.name)?.extents;
        let mut all = place.lead.clone();
        let mut indices = indices;
        if !place.rows.is_empty() {
            if indices.len() != place.rows.len() + 1 {
                return None;
            }
            let mut within = indices.into_iter();
            let first = within.next()?;
            let mut sizes = place.rows.iter().zip(within);
            let index = sizes.try_fold(first, |row, (size, index)| in_row(row, *size, index))?;
            indices = vec![index];
        }
        for (idx, index) in indices.into_iter().enumerate() {
            all.push(match idx {
                0 => behind(&place.offset, index)?,
                _ => index,
            });
        }
        if all.len() != extents.len() {
            return None;
        }
        let element = Element {
            name: place.name.clone(),
            indices: all,
        };
        match place.lead.is_empty() {
            true => Some(element),
            false => self.within_rows(element, extents),
        }
    }

    /// Returns the same element with every index inside its dimension: through a
    /// pointer, rows can be left.
    fn within_rows(&self, element: Element, extents: &[i64]) -> Option<Element> {
        let ranges = self.ranges();
        let is_inside = |(index, extent): (&Index, &i64)| match index {
            Index::Affine(affine) => shape::range(affine, &ranges)
                .is_some_and(|(least, most)| 0 <= least && most < *extent),
            // What is looked up is taken to be meant.
            Index::Value(_) => true,
        };
        if element.indices.iter().zip(extents).skip(1).all(is_inside) {
            return Some(element);
        }
        let indices = element.affine()?;
        let mut flat = Affine::constant(0);
        for (index, extent) in indices.iter().zip(extents) {
            flat = match extent {
                &UNKNOWN => (*index).clone(),
                extent => flat.times(*extent)?.plus(index)?,
            };
        }
        let indices = shape::divided(&flat, &extents[1..], &ranges)?;
        Some(Element {
            name: element.name.clone(),
            indices: indices.into_iter().map(Index::Affine).collect(),
        })
    }

    /// Returns the least and the greatest value of each loop variable.
    pub(super) fn ranges(&self) -> BTreeMap<String, (i64, i64)> {
        let of = |it: &super::Around| (it.variable.clone(), (it.least, it.greatest));
        self.loops.iter().map(of).collect()
    }
}
