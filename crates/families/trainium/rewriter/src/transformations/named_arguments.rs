//! In the second dialect instructions may be given their arguments by place, the target first.
//! All are named, so that one form of every instruction is left.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::super::operation::View;
use super::super::source::Edits;
use super::{Change, each_site};
use autocomp_trainium_sim::{Dialect, interfaces};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    if view.source.first_dialect() {
        return Vec::new();
    }
    let mut edits = Edits::default();
    let mut line = usize::MAX;
    each_site(view, |_, expression| {
        let Expr::Call(call) = expression else { return };
        let Some(path) = view.source.path(&call.func) else {
            return;
        };
        let given = &call.arguments.args;
        if !path.starts_with("nisa.") || given.is_empty() || given.iter().any(Expr::is_starred_expr)
        {
            return;
        }
        let Some((_, parameters)) = interfaces(Dialect::V2).find(|it| it.0 == path) else {
            return;
        };
        let names: Vec<&str> = parameters
            .split_whitespace()
            .take_while(|it| *it != "*")
            .collect();
        if names.len() < given.len() {
            return;
        }
        for (argument, name) in given.iter().zip(names) {
            edits.insert(argument.start().into(), format!("{name}="));
        }
        line = line.min(view.line(expression));
    });
    let change = view.source.finish(edits).map(|source| Change {
        line,
        variant: "arguments".to_owned(),
        sentence: "Name the arguments of all instructions.".to_owned(),
        source,
    });
    change.into_iter().collect()
}
