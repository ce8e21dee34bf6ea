//! Masks that keep everything are left out: kernels are written for sizes that do not come out even
//! and run on some that do.

use std::collections::BTreeMap;

use ruff_python_ast::{CmpOp, Expr, ExprCall, Operator, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::View;
use super::super::shapes::{Affine, Value};
use super::super::source::{Edits, name_of};
use super::{Change, each_place, each_site};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    if !view.source.first_dialect() {
        return Vec::new();
    }
    let mut ranges = Ranges {
        view,
        trips: BTreeMap::new(),
        made: BTreeMap::new(),
    };
    each_place(view, |place, _| match place.statement() {
        Stmt::For(it) => {
            if let Some(known) = view.shapes.get_loop(it) {
                let trips = ranges.trips.entry(known.variable.as_str()).or_insert(0);
                *trips = known.trips.max(*trips);
            }
        }
        Stmt::Assign(it) => {
            if let [target] = it.targets.as_slice()
                && let Some(name) = name_of(target)
                && view.shapes.bound_once(name)
            {
                ranges.made.insert(name, &it.value);
            }
        }
        _ => {}
    });
    let mut edits = Edits::default();
    let mut line = usize::MAX;
    each_site(view, |_, expression| {
        if let Expr::Call(call) = expression
            && let Some(range) = ranges.needless(call)
        {
            edits.replace(range, "");
            line = line.min(view.line(call));
        }
    });
    let change = view.source.finish(edits).map(|source| Change {
        line,
        variant: "masks".to_owned(),
        sentence: "Leave out masks that keep everything.".to_owned(),
        source,
    });
    change.into_iter().collect()
}

/// How far numbers and index expressions reach.
struct Ranges<'v, 's> {
    view: &'v View<'s>,
    /// Most iterations of the loops of each variable.
    trips: BTreeMap<&'v str, i64>,
    /// What names that are bound once stand for.
    made: BTreeMap<&'v str, &'v Expr>,
}

impl Ranges<'_, '_> {
    /// The text of a mask that keeps everything, with the comma before it.
    fn needless(&self, call: &ExprCall) -> Option<TextRange> {
        let keywords = &call.arguments.keywords;
        let at = keywords
            .iter()
            .position(|it| it.arg.as_deref() == Some("mask"))?;
        self.holds(&keywords[at].value).then_some(())?;
        let others = call.arguments.args.iter().map(Ranged::range);
        let others = others.chain(keywords.iter().map(Ranged::range));
        let before = others
            .map(|it| it.end())
            .filter(|it| *it <= keywords[at].start())
            .max()?;
        Some(TextRange::new(before, keywords[at].end()))
    }

    /// Whether a condition holds everywhere.
    fn holds(&self, mask: &Expr) -> bool {
        match mask {
            Expr::Name(it) => match self.made.get(it.id.as_str()) {
                Some(made) => self.holds(made),
                None => false,
            },
            Expr::BinOp(it) if it.op == Operator::BitAnd => {
                self.holds(&it.left) && self.holds(&it.right)
            }
            Expr::Compare(it) => {
                let ([op], [other]) = (it.ops.as_ref(), it.comparators.as_ref()) else {
                    return false;
                };
                let (Some(a), Some(b)) = (self.range(&it.left), self.range(other)) else {
                    return false;
                };
                match op {
                    CmpOp::Lt => a.1 < b.0,
                    CmpOp::LtE => a.1 <= b.0,
                    CmpOp::Gt => b.1 < a.0,
                    CmpOp::GtE => b.1 <= a.0,
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Least and largest value of a number or of the elements of an index expression.
    fn range(&self, it: &Expr) -> Option<(i64, i64)> {
        match self.view.shapes.value(it) {
            Value::Whole(number) => return self.whole(number),
            Value::Index(_) => {}
            _ => return None,
        }
        match it {
            Expr::Name(name) => self.range(self.made.get(name.id.as_str())?),
            Expr::BinOp(sum) => {
                let (a, b) = (self.range(&sum.left)?, self.range(&sum.right)?);
                match sum.op {
                    Operator::Add => Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?)),
                    Operator::Sub => Some((a.0.checked_sub(b.1)?, a.1.checked_sub(b.0)?)),
                    _ => None,
                }
            }
            // `nl.arange(n)[:, None]`
            Expr::Subscript(part) => {
                let Expr::Call(call) = part.value.as_ref() else {
                    return None;
                };
                let arange = self.view.source.path(&call.func)? == "nl.arange";
                let ([count], true) = (call.arguments.args.as_ref(), arange) else {
                    return None;
                };
                let count = self.view.shapes.value(count).whole()?;
                Some((0, count.checked_sub(1)?))
            }
            _ => None,
        }
    }

    fn whole(&self, number: &Affine) -> Option<(i64, i64)> {
        let mut range = (number.constant, number.constant);
        for (name, factor) in &number.terms {
            let last = self.trips.get(name.as_str())?.checked_sub(1)?;
            let end = factor.checked_mul(last)?;
            range.0 = range.0.checked_add(end.min(0))?;
            range.1 = range.1.checked_add(end.max(0))?;
        }
        Some(range)
    }
}
