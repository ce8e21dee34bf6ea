//! Loops that begin or end where a loop around says: triangles.

use super::super::code::{Expression, Statement};
use super::counters::Values;
use super::{Around, Reader};
use crate::refusal::Refusal;
use autocomp_c_loops::affine::Affine;
use tree_sitter::Node;

/// How a counter compares with a number of the loops around, in all iterations that do something.
pub(super) type Limit = (&'static str, Affine);

impl<'s> Reader<'s> {
    /// Makes a loop whose counter stays within numbers of the loops around: it takes all values that
    /// it may ever have, and does nothing with those beyond.
    pub(super) fn made_within(
        &mut self,
        node: Node<'s>,
        variable: &str,
        kind: &str,
        (values, limits): (Values, &[Limit]),
        body: &[Node<'s>],
    ) -> Result<Statement, Refusal> {
        let begins = limits.iter().any(|it| it.0 == ">=");
        let why = if begins { "begins" } else { "ends" };
        let refused = self.refused(node, &format!("{why} where no number says"));
        if values.step != 1 || values.descends || !self.walking(body).is_empty() {
            return refused;
        }
        let Ok(mut made) = self.with_values(variable, kind, values, false, body) else {
            return refused;
        };
        let counter = Affine::variable(&made.variable).plus_constant(values.least);
        let mut statements = std::mem::take(&mut made.body);
        for (operator, limit) in limits {
            let counter = counter.clone().ok_or("a loop counts too far")?;
            let sides = [counter, limit.clone()].map(|it| Box::new(Expression::Index(it)));
            let [left, right] = sides;
            let condition = Expression::Binary(left, (*operator).to_owned(), right);
            self.loops.push(Around {
                variable: made.variable.clone(),
                least: 0,
                greatest: values.trips - 1,
                is_unsigned: false,
            });
            let guarded = self.guarded(node, &condition, statements);
            self.loops.pop();
            match guarded {
                Ok(guarded) => statements = guarded,
                Err(_) => return refused,
            }
        }
        made.body = statements;
        self.checked(node, made)
    }
}
