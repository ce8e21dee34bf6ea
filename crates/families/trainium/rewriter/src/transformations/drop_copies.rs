//! A copy that only rounds what an operation made is left out: the operation rounds.

use ruff_python_ast::Expr;
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument, is_elementwise, only};
use super::super::source::{Edits, base_of, name_of};
use super::{Change, drop_tile, each_place, each_site};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    if !view.source.first_dialect() {
        return written(view);
    }
    let mut found = Vec::new();
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

/// The same where instructions write to tiles: what only a copy reads is written to its target.
fn written(view: &View<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    each_place(view, |place, _| {
        let Some(copy) = view.written(place.statement()) else {
            return;
        };
        if copy.name != "tensor_copy" || !only(copy.call, &["dst", "src", "engine"]) {
            return;
        }
        let Some(source) = argument(copy.call, usize::MAX, "src") else {
            return;
        };
        let leave_out = || -> Option<Change> {
            let name = name_of(source)?;
            let target = base_of(copy.dst)?;
            let (made, statement) = view.made_by(place, source, true)?;
            let (statement, Expr::Call(call)) = (statement?, made) else {
                return None;
            };
            let path = view.source.path(&call.func)?;
            let written = view.written(statement)?;
            // The target must be there before, and be in nobody's hands in between.
            let between = TextRange::new(statement.start(), place.statement().start());
            let free = |map: &std::collections::BTreeMap<String, Vec<TextRange>>| {
                let mut at = map.get(target).into_iter().flatten();
                at.all(|at| !between.contains_range(*at))
            };
            let used =
                free(&view.shapes.read) && free(&view.shapes.bound) && free(&view.shapes.changed);
            if !used || !is_elementwise(&path) || path == "nisa.tensor_copy" {
                return None;
            }
            let mut edits = Edits::default();
            edits.replace(written.dst.range(), view.text(copy.dst));
            edits.replace(view.source.lines(place.statement())?, "");
            drop_tile(view, name, &mut edits);
            let line = view.line(place.statement());
            Some(Change {
                line,
                variant: name.to_owned(),
                sentence: format!(
                    "Leave out the copy of line {line}: what makes `{name}` writes where it goes."
                ),
                source: view.source.finish(edits)?,
            })
        };
        found.extend(leave_out());
    });
    found
}
