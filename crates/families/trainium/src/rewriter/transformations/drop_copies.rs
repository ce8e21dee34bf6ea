//! A copy that only rounds what an operation made is left out: the operation rounds.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::super::operation::{View, argument, is_elementwise, only};
use super::super::source::Edits;
use super::{Change, each_site};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    if !view.source.first_dialect() {
        return found;
    }
    each_site(view, |_, expression| {
        let Expr::Call(copy) = expression else { return };
        let path = view.source.path(&copy.func);
        if !matches!(path.as_deref(), Some("nl.copy" | "nisa.tensor_copy"))
            || !only(copy, &["src", "dtype"])
        {
            return;
        }
        let Some(source @ Expr::Call(made)) = argument(copy, 0, "src") else {
            return;
        };
        let computed = view
            .source
            .path(&made.func)
            .is_some_and(|it| is_elementwise(&it) && it != "nl.where");
        let typed = argument(made, usize::MAX, "dtype").is_some();
        if !computed || typed {
            return;
        }
        let mut text = view.text(source).to_owned();
        if let Some(dtype) = argument(copy, usize::MAX, "dtype") {
            text.truncate(text.len() - 1);
            text.push_str(&format!(", dtype={})", view.text(dtype)));
        }
        let mut edits = Edits::default();
        edits.replace(expression.range(), text);
        let line = view.line(expression);
        found.extend(view.source.finish(edits).map(|source| Change {
            line,
            variant: view.text(made.func.as_ref()).to_owned(),
            sentence: format!("Leave out the copy of line {line}: the operation below it rounds."),
            source,
        }));
    });
    found
}
