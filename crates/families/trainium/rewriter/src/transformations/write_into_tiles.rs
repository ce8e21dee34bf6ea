//! In the second dialect functions of `nl` return tiles, and instructions of `nisa` write to them.
//! Each function gives way to a tile and the instructions that fill it, so that whatever is done
//! to instructions is done to functions, too.
//!
//! Fact: the functions are these instructions; only the choice of an engine, which some of them
//! leave open, is made with an instruction.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::super::operation::{View, argument};
use super::super::shapes::{Memory, Value};
use super::super::source::{Edits, Place, base_of, each_expression, name_of, names_in};
use super::tile_functions::{Argument, Filled, Parts, filled};
use super::{Change, each_place, each_site};

pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    if view.source.first_dialect() {
        return Vec::new();
    }
    // Where the device refuses a product that is written out, the rest still is.
    let all = [
        (
            Parts::All,
            "functions",
            "Let instructions write the tiles that functions return.",
        ),
        (
            Parts::WithoutProducts,
            "functions but products",
            "Let instructions write the tiles that functions return, but for products.",
        ),
    ];
    let found = all.into_iter();
    found
        .filter_map(|(parts, variant, sentence)| {
            let mut writer = Writer {
                view,
                parts,
                taken: BTreeSet::new(),
                sizes: BTreeMap::new(),
            };
            let mut edits = Edits::default();
            let mut line = usize::MAX;
            each_place(view, |place, _| {
                if let Some((range, text)) = writer.statement(place) {
                    edits.replace(range, text);
                    line = line.min(view.line(place.statement()));
                }
            });
            (line != usize::MAX).then_some(())?;
            Some(Change {
                line,
                variant: variant.to_owned(),
                sentence: sentence.to_owned(),
                source: view.source.finish(edits)?,
            })
        })
        .collect()
}

/// Whether a name always stands for a tile that was made for it, and has no other name: every
/// binding is a function of `nl`, every read an operand of a function or instruction.
fn is_owned(view: &View<'_>, name: &str) -> bool {
    let views = ["nl.broadcast_to", "nl.expand_dims"];
    let makes = |it: &Expr| {
        let Expr::Call(call) = it else { return false };
        let path = view.source.path(&call.func).unwrap_or_default();
        path.starts_with("nl.") && !views.contains(&path.as_str())
    };
    let mut made = 0;
    let mut operands = 0;
    each_place(view, |place, _| {
        if let Stmt::Assign(it) = place.statement()
            && it.targets.len() == 1
            && name_of(&it.targets[0]) == Some(name)
            && makes(&it.value)
        {
            made += 1;
        }
    });
    each_site(view, |_, expression| {
        let Expr::Call(call) = expression else { return };
        let path = view.source.path(&call.func).unwrap_or_default();
        let plain = makes(expression) || path.starts_with("nisa.") || path == "nl.store";
        let named = call.arguments.keywords.iter().map(|it| &it.value);
        let all = call.arguments.args.iter().chain(named);
        if plain {
            operands += all.filter(|it| base_of(it) == Some(name)).count();
        }
    });
    view.shapes.bound.get(name).map(Vec::len) == Some(made) && view.shapes.reads(name) == operands
}

struct Writer<'v, 's> {
    view: &'v View<'s>,
    parts: Parts,
    /// Names of new tiles.
    taken: BTreeSet<String>,
    /// How the kernel spells the sizes of its tiles.
    sizes: BTreeMap<String, Vec<String>>,
}

impl Writer<'_, '_> {
    /// The lines of a statement with tiles and instructions in place of functions.
    fn statement(&mut self, place: Place<'_>) -> Option<(TextRange, String)> {
        let view = self.view;
        let statement = place.statement();
        let range = view.source.lines(statement)?;
        let (_, indent) = view.source.line_start(statement)?;
        let mut out = String::new();
        match statement {
            Stmt::Assign(it) => {
                if let ([target], value) = (it.targets.as_slice(), it.value.as_ref())
                    && let Some(name) = name_of(target)
                {
                    self.spelled(name, value);
                    if let Expr::Call(call) = value
                        && view.shapes.bound_once(name)
                        && let Some(found) = filled(view, call, self.parts)
                    {
                        self.fill(&found, name, indent, &mut out)?;
                        return Some((range, out));
                    }
                    if let Some(text) = self.in_place(name, value, indent, &mut out) {
                        out.push_str(&format!("{indent}{text}\n"));
                        return Some((range, out));
                    }
                }
                let value = self.rewritten(&it.value, indent, &mut out)?;
                let before = TextRange::new(statement.start(), it.value.start());
                out.push_str(&format!("{indent}{}{value}\n", view.source.slice(&before)));
            }
            Stmt::Expr(it) => {
                let text = match self.stored(&it.value, indent, &mut out) {
                    Some(text) => text,
                    None => self.rewritten(&it.value, indent, &mut out)?,
                };
                out.push_str(&format!("{indent}{text}\n"));
            }
            _ => return None,
        }
        Some((range, out))
    }

    /// A result that takes the place of one of its operands under the same name, as sums over a
    /// loop do: the instruction writes to the tile that it reads.
    fn in_place(
        &mut self,
        name: &str,
        value: &Expr,
        indent: &str,
        out: &mut String,
    ) -> Option<String> {
        let view = self.view;
        let Expr::Call(call) = value else { return None };
        let found = filled(view, call, self.parts)?;
        let [instruction] = found.instructions.as_slice() else {
            return None;
        };
        let elementwise = ["tensor_tensor", "tensor_scalar", "activation"];
        if !elementwise.contains(&instruction.name) || !is_owned(view, name) {
            return None;
        }
        let result = view.shapes.tile(value)?;
        let mut same = false;
        let mut text = format!("{}.{}(dst={name}", view.nisa, instruction.name);
        for (keyword, argument) in &instruction.arguments {
            let argument = match argument {
                Argument::Operand(it) if name_of(it) == Some(name) => {
                    let old = view.shapes.tile(it)?;
                    let fits = old.shape == result.shape && old.dtype == result.dtype;
                    fits.then_some(())?;
                    same = true;
                    name.to_owned()
                }
                Argument::Operand(it) if names_in(it).contains(&name) => return None,
                Argument::Operand(it) => self.operand(it, indent, out)?,
                Argument::Text(text) => text.clone(),
                Argument::Tile(_) => return None,
            };
            text.push_str(&format!(", {keyword}={argument}"));
        }
        same.then(|| format!("{text})"))
    }

    /// `nl.store(dst, value)` as the transfer that it is.
    fn stored(&mut self, value: &Expr, indent: &str, out: &mut String) -> Option<String> {
        let view = self.view;
        let Expr::Call(call) = value else { return None };
        let only = super::super::operation::only(call, &["dst", "value"]);
        if view.source.path(&call.func)? != "nl.store" || !only {
            return None;
        }
        let (dst, value) = (argument(call, 0, "dst")?, argument(call, 1, "value")?);
        let (to, from) = (view.shapes.tensor(dst)?, view.shapes.tile(value)?);
        if from.memory != Memory::Sbuf || to.shape != from.shape || to.memory != Memory::Main {
            return None;
        }
        let value = self.operand(value, indent, out)?;
        let dst = view.text(dst);
        Some(format!("{}.dma_copy(dst={dst}, src={value})", view.nisa))
    }

    /// An expression with names in place of the functions in it; `None` if there are none.
    fn rewritten(&mut self, root: &Expr, indent: &str, out: &mut String) -> Option<String> {
        let view = self.view;
        let mut calls: Vec<&ExprCall> = Vec::new();
        let mut closed: Vec<TextRange> = Vec::new();
        each_expression(root, &mut |it| {
            if closed.iter().any(|at| at.contains_range(it.range())) {
                return;
            }
            match it {
                // What runs more than once, or perhaps never, stays where it is.
                Expr::Lambda(_)
                | Expr::ListComp(_)
                | Expr::Generator(_)
                | Expr::DictComp(_)
                | Expr::SetComp(_)
                | Expr::If(_)
                | Expr::BoolOp(_) => closed.push(it.range()),
                Expr::Call(call) if filled(view, call, self.parts).is_some() => {
                    calls.push(call);
                    closed.push(it.range());
                }
                _ => {}
            }
        });
        let mut edits = Vec::new();
        for call in calls {
            let found = filled(view, call, self.parts)?;
            let name = self.fresh(found.stem);
            self.fill(&found, &name, indent, out)?;
            edits.push((call.range(), name));
        }
        if edits.is_empty() {
            return None;
        }
        view.source.edited(root.range(), &edits)
    }

    /// The same, or the text as it is.
    fn operand(&mut self, it: &Expr, indent: &str, out: &mut String) -> Option<String> {
        let text = self.rewritten(it, indent, out);
        let text = text.unwrap_or_else(|| self.view.text(it).to_owned());
        // What stays a function makes its tile once, and has a name that can be asked for.
        let function =
            it.is_call_expr() && !text.chars().all(|it| it.is_alphanumeric() || it == '_');
        if function && self.view.shapes.tile(it).is_some() {
            let name = self.fresh("made");
            out.push_str(&format!("{indent}{name} = {text}\n"));
            return Some(name);
        }
        Some(text)
    }

    /// A tile of this name and the instructions that fill it.
    fn fill(
        &mut self,
        found: &Filled<'_>,
        name: &str,
        indent: &str,
        out: &mut String,
    ) -> Option<()> {
        let View { nl, nisa, .. } = self.view;
        // Operands first: they may be functions, too.
        let mut instructions = Vec::new();
        let mut names: Vec<String> = vec![name.to_owned()];
        for tile in found.tiles.iter().skip(1) {
            names.push(self.fresh(&format!("{name}_{}", tile.stem)));
        }
        let mut known: BTreeMap<u32, String> = BTreeMap::new();
        for instruction in &found.instructions {
            let mut text = format!("{nisa}.{}(dst={}", instruction.name, names[instruction.dst]);
            for (keyword, argument) in &instruction.arguments {
                let value = match argument {
                    Argument::Operand(it) => match known.get(&it.start().into()) {
                        Some(text) => text.clone(),
                        None => {
                            let text = self.operand(it, indent, out)?;
                            known.insert(it.start().into(), text.clone());
                            text
                        }
                    },
                    Argument::Tile(at) => names[*at].clone(),
                    Argument::Text(text) => text.clone(),
                };
                text.push_str(&format!(", {keyword}={value}"));
            }
            text.push(')');
            instructions.push((instruction.dst, text));
        }
        // A tile stands before the first instruction that writes to it.
        let mut made = BTreeSet::new();
        for (dst, text) in instructions {
            if made.insert(dst) {
                let tile = &found.tiles[dst];
                let sizes = self.spelling(&tile.shape, tile.like);
                let memory = match tile.memory {
                    Memory::Psum => "psum",
                    _ => "sbuf",
                };
                out.push_str(&format!(
                    "{indent}{} = {nl}.ndarray(({}), dtype={}, buffer={nl}.{memory})\n",
                    names[dst],
                    sizes.join(", "),
                    tile.dtype
                ));
                self.sizes.insert(names[dst].clone(), sizes);
            }
            out.push_str(&format!("{indent}{text}\n"));
        }
        Some(())
    }

    fn fresh(&mut self, stem: &str) -> String {
        let mut number = 1;
        loop {
            let name = match number {
                1 => stem.to_owned(),
                _ => format!("{stem}_{number}"),
            };
            if self.view.source.fresh(&name) == name && self.taken.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }

    /// Remembers how the sizes of a tile or the length of a window of the kernel's own are written.
    fn spelled(&mut self, name: &str, made: &Expr) {
        let view = self.view;
        if let Value::Window(..) = view.shapes.value(made) {
            let length = self.length(made);
            self.sizes.insert(name.to_owned(), vec![length]);
        }
        let Expr::Call(call) = made else { return };
        let own = ["nl.ndarray", "nl.zeros", "nl.full", "nl.ones"];
        let path = view.source.path(&call.func).unwrap_or_default();
        let (true, Some(tile), Some(Expr::Tuple(sizes))) = (
            own.contains(&path.as_str()),
            view.shapes.tile(made),
            argument(call, 0, "shape"),
        ) else {
            return;
        };
        if tile.shape.len() == sizes.elts.len() {
            let texts = sizes.elts.iter().map(|it| view.text(it).to_owned());
            self.sizes.insert(name.to_owned(), texts.collect());
        }
    }

    /// The sizes of a new tile, as the kernel writes those of what it is made from.
    fn spelling(&self, shape: &[i64], like: Option<&Expr>) -> Vec<String> {
        let numbers: Vec<String> = shape.iter().map(i64::to_string).collect();
        let Some(like) = like else { return numbers };
        let texts = match like {
            Expr::Name(it) => self.sizes.get(it.id.as_str()).cloned(),
            Expr::Subscript(it) => {
                let parts: Vec<&Expr> = match it.slice.as_ref() {
                    Expr::Tuple(parts) => parts.elts.iter().collect(),
                    other => vec![other],
                };
                let windows = parts
                    .into_iter()
                    .filter(|it| matches!(self.view.shapes.value(it), Value::Window(..)));
                Some(windows.map(|it| self.length(it)).collect())
            }
            _ => None,
        };
        let mut texts = texts.unwrap_or_default();
        if numbers.len() < texts.len() {
            return numbers;
        }
        // Dimensions that are taken whole.
        texts.extend(numbers[texts.len()..].iter().cloned());
        texts
    }

    /// How the length of a window is written: a name or number in it that is this long.
    fn length(&self, window: &Expr) -> String {
        let Value::Window(_, length) = self.view.shapes.value(window) else {
            return String::new();
        };
        if let Some(name) = name_of(window)
            && let Some([length]) = self.sizes.get(name).map(Vec::as_slice)
        {
            return length.clone();
        }
        let mut spelled = None;
        each_expression(window, &mut |it| {
            let size = self.view.shapes.value(it).whole();
            if name_of(it).is_some() && size == Some(*length) {
                spelled = Some(self.view.text(it).to_owned());
            }
        });
        spelled.unwrap_or_else(|| length.to_string())
    }
}
