//! What is done with the sums of a product, by threads that have several neighbours each.

use crate::expression::{Along, Expression, along};
use crate::launch_text::{WideStore, vector_type};
use crate::nest::Nest;
use crate::points::plain;
use crate::product::Product;
use crate::step::Step;
use crate::tiles::unrolled;
use autocomp_c_loops::affine::Affine;
use autocomp_nests::Text;

/// Sums of one row that lie side by side, counted by `e`.
pub(crate) struct Sums<'n> {
    pub nest: &'n Nest,
    pub found: &'n Product<'n>,
    /// The sum as the thread has it.
    pub own: &'n str,
    /// Their row, and the column of the first.
    pub row: Affine,
    pub column: Affine,
    /// How many there are.
    pub count: i64,
    /// Whether all of them are results, wherever they lie.
    pub is_whole: bool,
    /// What must hold for one to be a result, if that has to be asked.
    pub guard: Option<String>,
}

impl Sums<'_> {
    /// Puts the thread's sum and the thread's place into an expression.
    fn moved(&self, it: &Expression, column_at: &Affine) -> Expression {
        let [row, column] = [self.found.row, self.found.column].map(|it| &self.nest.points[it]);
        // Both at once: the new places name the coordinates themselves.
        let it = it.map(&|part| match part {
            Expression::Scalar(name) if name == self.found.sum => {
                Some(Expression::Text(self.own.into()))
            }
            _ => None,
        });
        let it = it
            .with_index(&row.name, &Affine::variable("@row"))
            .with_index(&column.name, &Affine::variable("@column"));
        it.with_index("@row", &self.row)
            .with_index("@column", column_at)
    }

    /// Writes the steps; neighbours are stored at once where memory has them side by side.
    pub(crate) fn write(&self, text: &mut Text) -> Option<()> {
        let count = self.count;
        let column = &self.nest.points[self.found.column];
        let each = self.column.plus(&Affine::variable("e"))?;
        let mut steps = Vec::new();
        let mut behind = Vec::new();
        for (at, step) in self.found.after.iter().enumerate() {
            if let Step::Store {
                array,
                index: Expression::Index(index),
                value,
            } = step
                && self.is_whole
                && along(index, &column.name, column.extent, count) == Along::Beside
                && let Some(wide) = vector_type(self.nest.kind_of(array), count)
            {
                let place = format!("v{at}");
                let store = WideStore {
                    array,
                    kind: self.nest.kind_of(array),
                    wide: &wide,
                    place: &place,
                    count,
                    align: 4 * count,
                };
                text.line(&store.declaration());
                let to = self.moved(&Expression::Index(index.clone()), &self.column);
                behind.push(store.statement(&to.to_c()));
                steps.push(store.of_one(value));
            } else {
                steps.push(step.clone());
            }
        }
        unrolled(text, "e", count);
        if let Some(guard) = &self.guard {
            text.open(guard);
        }
        let sum_name = |name: &str| match name == self.found.sum {
            true => self.own.to_owned(),
            false => name.to_owned(),
        };
        plain(&steps, &|it| self.moved(it, &each), &sum_name, &[], text);
        if self.guard.is_some() {
            text.close();
        }
        text.close();
        text.take(&behind);
        Some(())
    }
}
