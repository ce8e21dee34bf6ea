//! What a chain of small products computes: matrices that are sums of products
//! of others, one after the other.

use crate::memory::Memory;

/// What a chain of small products computes, and what of its text is kept.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The arrays, by number.
    pub(crate) memories: Vec<Memory>,
    /// What is computed.
    pub graph: Graph,
    /// Text up to the opening brace of the entry function.
    pub(crate) head: String,
}

/// Where a matrix lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Base {
    /// An array, by number.
    Memory(usize),
    /// A value of the graph, by number.
    Value(usize),
    /// The identity, of any size.
    Identity,
}

/// A matrix inside another one: where its elements lie, counted in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct View {
    pub(crate) base: Base,
    pub(crate) offset: i64,
    /// Distance of rows and of columns; 0 where there is only one.
    pub(crate) strides: [i64; 2],
    /// Rows and columns.
    pub(crate) extents: [i64; 2],
}

impl View {
    /// Returns a view; distances that mean nothing become 0.
    pub(crate) fn new(base: Base, offset: i64, strides: [i64; 2], extents: [i64; 2]) -> Self {
        let stride = |at: usize| if extents[at] == 1 { 0 } else { strides[at] };
        Self {
            base,
            offset,
            strides: [stride(0), stride(1)],
            extents,
        }
    }

    /// Returns the whole of value `number`.
    pub(crate) fn whole(number: usize, extents: [i64; 2]) -> Self {
        Self::new(Base::Value(number), 0, [extents[1], 1], extents)
    }

    /// Returns the transposed matrix.
    pub(crate) fn turned(self) -> Self {
        let Self {
            strides: [down, across],
            extents: [rows, columns],
            ..
        } = self;
        Self {
            strides: [across, down],
            extents: [columns, rows],
            ..self
        }
    }

    /// Returns the identity of so many rows.
    pub(crate) fn identity(rows: i64) -> Self {
        Self::new(Base::Identity, 0, [0, 0], [rows, rows])
    }

    /// Returns the value that it lies in.
    pub(crate) fn value(self) -> Option<usize> {
        match self.base {
            Base::Value(number) => Some(number),
            _ => None,
        }
    }

    /// Returns whether it is all of a value of these extents.
    pub(crate) fn is_whole(self, extents: [i64; 2]) -> bool {
        self.value()
            .is_some_and(|number| self == Self::whole(number, extents))
    }

    /// Returns where all elements lie, row by row.
    pub(crate) fn elements(self) -> impl Iterator<Item = i64> {
        let [rows, columns] = self.extents;
        (0..rows).flat_map(move |row| {
            (0..columns)
                .map(move |column| self.offset + row * self.strides[0] + column * self.strides[1])
        })
    }

    /// Returns whether it shares an element with another view.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.base == other.base
            && self
                .elements()
                .any(|element| other.elements().any(|another| another == element))
    }
}

/// A factor times the product of two matrices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Product {
    pub(crate) factor: f32,
    pub(crate) left: View,
    pub(crate) right: View,
}

/// A factor times a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Addend {
    pub(crate) factor: f32,
    pub(crate) view: View,
}

/// A sum that becomes a value, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub(crate) dest: View,
    pub(crate) products: Vec<Product>,
    pub(crate) addends: Vec<Addend>,
    /// Where it goes in memory.
    pub(crate) stores: Vec<View>,
}

impl Statement {
    /// Returns all operands.
    pub(crate) fn operands(&self) -> impl Iterator<Item = View> {
        let products = self.products.iter().flat_map(|one| [one.left, one.right]);
        products.chain(self.addends.iter().map(|one| one.view))
    }

    /// Replaces operands and where the result goes.
    pub(crate) fn rewrite(&mut self, change: &dyn Fn(View) -> View) {
        for product in &mut self.products {
            product.left = change(product.left);
            product.right = change(product.right);
        }
        for addend in &mut self.addends {
            addend.view = change(addend.view);
        }
        self.dest = change(self.dest);
    }
}

/// Everything that a kernel computes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Rows and columns of each value.
    pub(crate) values: Vec<[i64; 2]>,
    /// In an order in which they can be computed.
    pub statements: Vec<Statement>,
}

impl Graph {
    /// Adds a value.
    pub(crate) fn value(&mut self, extents: [i64; 2]) -> usize {
        self.values.push(extents);
        self.values.len() - 1
    }

    /// Returns the statement that computes all of a view.
    pub(crate) fn producer(&self, view: View) -> Option<usize> {
        self.statements
            .iter()
            .position(|statement| statement.dest == view)
    }

    /// For each statement those that compute what it takes.
    pub(crate) fn dependencies(&self) -> Vec<Vec<usize>> {
        let writes = |view: View| {
            let dests = self.statements.iter().enumerate();
            dests
                .filter(move |(_, other)| other.dest.meets(view))
                .map(|(index, _)| index)
        };
        let of = |statement: &Statement| {
            let operands = statement.operands();
            let values = operands.filter(|view| view.value().is_some());
            let mut found: Vec<usize> = values.flat_map(writes).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        self.statements.iter().map(of).collect()
    }

    /// Puts statements behind what they take; `false` if that is impossible.
    pub(crate) fn sort(&mut self) -> bool {
        let dependencies = self.dependencies();
        let mut order: Vec<usize> = Vec::new();
        let mut is_done = vec![false; self.statements.len()];
        while order.len() < self.statements.len() {
            let next = (0..self.statements.len())
                .find(|at| !is_done[*at] && dependencies[*at].iter().all(|other| is_done[*other]));
            let Some(next) = next else {
                return false;
            };
            is_done[next] = true;
            order.push(next);
        }
        let mut old: Vec<Option<Statement>> = std::mem::take(&mut self.statements)
            .into_iter()
            .map(Some)
            .collect();
        self.statements = order.into_iter().filter_map(|at| old[at].take()).collect();
        true
    }

    /// Removes statements whose results nobody takes.
    pub(crate) fn prune(&mut self) {
        loop {
            let is_used = |statement: &Statement| {
                !statement.stores.is_empty()
                    || self
                        .statements
                        .iter()
                        .any(|other| other.operands().any(|view| view.meets(statement.dest)))
            };
            let kept: Vec<bool> = self.statements.iter().map(is_used).collect();
            if kept.iter().all(|kept| *kept) {
                return;
            }
            let mut kept = kept.into_iter();
            self.statements.retain(|_| kept.next().unwrap_or(true));
        }
    }
}
