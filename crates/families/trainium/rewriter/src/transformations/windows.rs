//! Parts of tensors in main memory, as loads and stores name them.

use ruff_python_ast::{Expr, ExprSubscript};
use ruff_text_size::Ranged;

use super::super::operation::View;
use super::super::shapes::{Affine, Value};
use super::super::source::{name_of, names_in};

/// One index of a subscript.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// A whole number.
    At(Affine),
    /// A stretch.
    Window(Affine, i64),
}

impl Part {
    pub(super) fn start(&self) -> &Affine {
        match self {
            Self::At(start) | Self::Window(start, _) => start,
        }
    }

    /// As text of a kernel.
    pub(super) fn text(&self, nl: &str) -> String {
        match self {
            Self::At(start) => start.text(),
            Self::Window(start, size) => format!("{nl}.ds({}, {size})", start.text()),
        }
    }
}

/// A part of a tensor.
#[derive(Clone, Debug)]
pub(super) struct Windows<'t> {
    pub(super) tensor: &'t str,
    pub(super) parts: Vec<Part>,
}

impl Windows<'_> {
    /// Position of the index that gives the partitions.
    pub(super) fn partitions(&self) -> Option<usize> {
        self.parts
            .iter()
            .position(|it| matches!(it, Part::Window(..)))
    }

    /// Sizes of the stretches: partitions first.
    pub(super) fn sizes(&self) -> Vec<i64> {
        let size = |it: &Part| match it {
            Part::Window(_, size) => Some(*size),
            Part::At(_) => None,
        };
        self.parts.iter().filter_map(size).collect()
    }

    /// The same with stretch `at` as one of `size` that a loop's variable moves by its own length.
    pub(super) fn moving(&self, at: usize, variable: &str, size: i64) -> Self {
        let mut moving = self.clone();
        let mut start = self.parts[at].start().clone();
        start.terms.insert(variable.to_owned(), size);
        moving.parts[at] = Part::Window(start, size);
        moving
    }

    pub(super) fn text(&self, nl: &str) -> String {
        let parts: Vec<String> = self.parts.iter().map(|it| it.text(nl)).collect();
        format!("{}[{}]", self.tensor, parts.join(", "))
    }
}

/// Reads `tensor[...]`; `None` for masks, index expressions and the like.
pub(super) fn windows<'t>(view: &View<'_>, subscript: &'t ExprSubscript) -> Option<Windows<'t>> {
    let tensor = name_of(&subscript.value)?;
    let shape = &view.shapes.tensor(&subscript.value)?.shape;
    let parts: Vec<&Expr> = match subscript.slice.as_ref() {
        Expr::Tuple(it) => it.elts.iter().collect(),
        other => vec![other],
    };
    let mut out = Vec::new();
    for part in &parts {
        out.push(match view.shapes.value(part) {
            Value::Whole(at) => Part::At(at.clone()),
            Value::Window(start, size) => Part::Window(start.clone(), *size),
            _ => return None,
        });
    }
    for size in shape.get(out.len()..)? {
        out.push(Part::Window(Affine::default(), *size));
    }
    Some(Windows { tensor, parts: out })
}

/// Whether what a subscript names moves, within a part of the text, with the loops of `free` only.
///
/// A name that is bound there once, to a number or a window, is as good as what it stands for.
pub(super) fn settled(
    view: &View<'_>,
    subscript: &ExprSubscript,
    within: &impl Ranged,
    free: &[&str],
) -> bool {
    let shapes = &view.shapes;
    let stays = |name: &str| free.contains(&name) || !shapes.touched(name, within.range());
    let once = |name: &str| shapes.bound_once(name) && !shapes.changed.contains_key(name);
    let names = names_in(&subscript.slice).into_iter();
    // How a quotient moves with a loop is not known.
    let terms = |it: &Part| {
        it.start().terms.keys().all(|it| {
            let own = free.contains(&it.as_str());
            own || Affine::names_in(it).all(|it| !free.contains(&it) && stays(it))
        })
    };
    names.into_iter().all(|it| stays(it) || once(it))
        && windows(view, subscript).is_some_and(|it| it.parts.iter().all(terms))
}
