//! Loops over what is left become loops over elements.

use super::Reader;
use super::function::below;
use super::step::{Bound, Step};
use autocomp_nests::Refusal;
use tree_sitter::Node;

/// A loop over what is left, or one along which pointers move.
#[derive(Clone, Debug, Default)]
pub(super) struct Strip<'s> {
    /// What `vsetvl` may be asked for.
    left: Option<String>,
    /// What is written for a variable behind the place where it moves.
    behind: Vec<(usize, &'s str, String)>,
}

impl<'s> Strip<'s> {
    /// Returns whether this is how many elements are left.
    pub(super) fn is_left(&self, asked: &str) -> bool {
        self.left.as_ref().is_some_and(|it| *it == bare(asked))
    }

    /// Returns the variable that is moved by what begins at a place, and what is written for it
    /// from there on.
    pub(super) fn moved_at(&self, at: usize) -> Option<(&'s str, String)> {
        let found = self.behind.iter().find(|it| it.0 == at)?;
        Some((found.1, found.2.clone()))
    }
}

/// Returns an expression without spaces, casts to whole numbers and parentheses around all of it.
fn bare(text: &str) -> String {
    let mut text: String = text.split_whitespace().collect();
    loop {
        let inner = ["(size_t)", "(int)", "(unsigned)"]
            .iter()
            .find_map(|it| text.strip_prefix(it));
        let inner = match (inner, text.strip_prefix('(')) {
            (Some(inner), _) => Some(inner),
            (None, Some(rest)) => rest.strip_suffix(')').filter(|it| !it.contains(')')),
            _ => None,
        };
        match inner {
            Some(inner) => text = inner.to_owned(),
            None => return text,
        }
    }
}

impl<'s> Reader<'s> {
    /// Returns whether a jump leaves an iteration of a loop over what is left.
    pub(super) fn is_left(&self, node: Node<'s>) -> bool {
        let mut around = node.parent();
        while let Some(it) = around {
            if ["for_statement", "while_statement", "do_statement"].contains(&it.kind()) {
                return self.steps(it).iter().any(|step| step.is_by_length);
            }
            around = it.parent();
        }
        false
    }

    /// Writes a block without what is behind a loop over what is left for the last elements.
    pub(super) fn block(&mut self, node: Node<'s>) -> Result<String, Refusal> {
        let mut made = String::new();
        let mut at = node.start_byte();
        if node
            .parent()
            .is_some_and(|it| it.kind() == "function_definition")
        {
            // Parameters stay what they are.
            made.push('{');
            at += 1;
            for (name, kind) in self.function.changed.clone() {
                let own = self.fresh(name);
                made += &format!(" {} {own} = {name};", kind.to_c());
                self.moved.insert(name, own);
            }
        }
        let mut cursor = node.walk();
        let all: Vec<Node<'s>> = node.children(&mut cursor).collect();
        for (idx, child) in all.iter().enumerate() {
            if child.end_byte() <= at {
                continue;
            }
            made += &self.source[at..child.start_byte()];
            at = child.end_byte();
            let tail = all[..idx]
                .iter()
                .rev()
                .find(|it| it.kind() != "comment" && !self.is_tail(**it, &all[..idx]));
            made += &match tail {
                Some(before) if self.ends(*before, *child) => {
                    let lines = |node: Node<'s>| self.text(node).matches('\n').count();
                    let other = child
                        .child_by_field_name("alternative")
                        .and_then(|it| it.named_child(0));
                    let n_lines = lines(*child) - other.map_or(0, lines);
                    // Nothing is left, so what is done instead is done.
                    let other = other.map(|it| self.visit(it)).transpose()?;
                    "\n".repeat(n_lines) + &other.unwrap_or_default()
                }
                _ => self.visit(*child)?,
            };
        }
        Ok(made + &self.source[at..node.end_byte()])
    }

    /// Returns whether a statement is the rest of a loop in front of it.
    fn is_tail(&self, node: Node<'s>, before: &[Node<'s>]) -> bool {
        let own = before.iter().position(|it| it.id() == node.id());
        let before = &before[..own.unwrap_or(0)];
        before.last().is_some_and(|it| self.ends(*it, node))
    }

    /// Returns whether a statement does what a loop over whole registers in front of it left.
    fn ends(&self, before: Node<'s>, node: Node<'s>) -> bool {
        let is_strip = self.steps(before).iter().any(|it| it.is_by_length);
        if !is_strip || node.child_by_field_name("initializer").is_some() {
            return false;
        }
        if !["for_statement", "while_statement", "if_statement"].contains(&node.kind()) {
            return false;
        }
        match (self.bound(before), self.bound(node)) {
            (Some(one), Some(other)) => {
                let text = |it: Option<Node<'s>>| it.map(|it| bare(self.text(it)));
                one.counter == other.counter && text(one.end) == text(other.end)
            }
            _ => false,
        }
    }

    pub(super) fn looped(&mut self, node: Node<'s>) -> Result<String, Refusal> {
        let steps = self.steps(node);
        let is_strip = steps.iter().any(|it| it.is_by_length);
        let walks = steps
            .iter()
            .any(|it| self.function.pointers.contains(it.name));
        let counter = self.bound(node).and_then(|bound| {
            let step = steps.iter().find(|it| it.name == bound.counter)?;
            let same = bound.whole.is_none_or(|it| {
                let text = self.text(it);
                step.is_by_length
                    && (self.function.lengths.contains(text) || self.function.most.contains(text))
            });
            (same && step.is_back == bound.end.is_none()).then(|| (bound, step.clone()))
        });
        let Some((bound, step)) = counter.filter(|_| is_strip || walks) else {
            return match is_strip {
                true => self.refused(
                    node,
                    "does not go on by `vl` while something is left: write `i < n` or `n > 0`",
                ),
                false => self.within(node, Strip::default()),
            };
        };
        if is_strip && (step.by != "1" || !step.is_by_length) {
            return self.refused(node, "goes on by more than `vl`, or by something else");
        }
        let outside = self.moved.clone();
        let made = self.over_elements(node, &bound, &step, &steps);
        self.moved = outside;
        made
    }

    /// Writes a loop as it is, but for what is in it.
    fn within(&mut self, node: Node<'s>, strip: Strip<'s>) -> Result<String, Refusal> {
        let n_before = self.before.len();
        self.strips.push(strip);
        let made = self.copied(node);
        self.strips.pop();
        match self.before.len() == n_before {
            true => made,
            false => self.refused(node, "computes vectors in its head"),
        }
    }

    fn over_elements(
        &mut self,
        node: Node<'s>,
        bound: &Bound<'s>,
        counter: &Step<'s>,
        steps: &[Step<'s>],
    ) -> Result<String, Refusal> {
        let first = node.child_by_field_name("initializer");
        let name = counter.name;
        // `for (size_t vl; n > 0; n -= vl)` says nothing of `n`.
        let first_value = first.and_then(|it| {
            let declared = it.child_by_field_name("declarator").unwrap_or(it);
            let place = declared
                .child_by_field_name("declarator")
                .or(it.child_by_field_name("left"))?;
            let value = declared.child_by_field_name("value");
            let value = value.or(it.child_by_field_name("right"));
            value.filter(|_| self.text(place) == name)
        });
        let mut strip = Strip::default();
        // How many elements are behind, and the head of the loop.
        let (behind, head) = match bound.end {
            Some(end) => {
                strip.left = Some(format!("{}-{name}", bare(self.text(end))));
                let start = first_value.map(|it| self.text(it));
                let head = match first {
                    Some(first) => self.visit(first)?,
                    None => ";".into(),
                };
                let head = format!("{}; ", head.trim_end_matches([';', ' ']));
                let (end, by) = (self.visit(end)?, &counter.by);
                let behind = match (start, by.as_str()) {
                    (Some("0"), "1") => Some(name.to_owned()),
                    (Some(start), "1") => Some(format!("({name} - ({start}))")),
                    _ => None,
                };
                (behind, format!("{head}{name} < {end}; {name} += {by}"))
            }
            None => {
                strip.left = Some(name.to_owned());
                let end = match first_value {
                    Some(value) => format!("({})", self.visit(value)?),
                    None => self.visit_name(name),
                };
                let element = self.fresh("element");
                let (end, left) = match counter.by.as_str() {
                    "1" => (end.clone(), format!("({end} - {element})")),
                    by => (
                        format!("{end} / ({by})"),
                        format!("({end} - {element} * ({by}))"),
                    ),
                };
                self.moved.insert(name, left.clone());
                if counter.is_in_body {
                    let next = format!("({left} - {})", counter.by);
                    strip.behind.push((counter.at, name, next));
                }
                if first_value.is_none() {
                    self.stays(node, name)?;
                }
                let head = format!("size_t {element} = 0; {element} < {end}; {element}++");
                (Some(element), head)
            }
        };
        if bound.end.is_some() && counter.is_in_body {
            strip
                .behind
                .push((counter.at, name, format!("({name} + {})", counter.by)));
        }
        let is_strip = steps.iter().any(|it| it.is_by_length);
        for step in steps.iter().filter(|it| it.name != name) {
            let is_pointer = self.function.pointers.contains(step.name);
            if !step.is_by_length && !is_pointer {
                continue;
            }
            if is_strip && !step.is_by_length {
                return self.refused(node, "moves a pointer by another number than `vl`");
            }
            let Some(behind) = &behind else {
                return self.refused(
                    node,
                    "moves pointers, with a counter whose first value stands elsewhere",
                );
            };
            self.stays(node, step.name)?;
            if steps.iter().filter(|it| it.name == step.name).count() != 1 {
                return self.refused(node, "moves a pointer twice");
            }
            let sign = if step.is_back { '-' } else { '+' };
            let own = self.visit_name(step.name);
            let by = match step.by.as_str() {
                "1" => String::new(),
                by => format!(" * ({by})"),
            };
            let now = format!("({own} {sign} {behind}{by})");
            let next = format!("({own} {sign} ({behind} + 1){by})");
            self.moved.insert(step.name, now);
            if step.is_in_body {
                strip.behind.push((step.at, step.name, next));
            }
        }
        let body = match node.child_by_field_name("body") {
            Some(body) => body,
            None => return self.refused(node, "is not understood"),
        };
        self.strips.push(strip);
        let made = self.visit(body);
        self.strips.pop();
        Ok(format!("for ({head}) {}", made?))
    }

    fn visit_name(&self, name: &str) -> String {
        self.moved.get(name).cloned().unwrap_or(name.to_owned())
    }

    /// Looks whether anybody asks behind a loop where a variable has got to.
    fn stays(&self, node: Node<'s>, name: &str) -> Result<(), Refusal> {
        let why = "moves a variable that is used again behind it: take one of the loop's own";
        let mut inner = node;
        while let Some(around) = inner.parent() {
            if around.kind() == "compound_statement" || around.kind() == "function_definition" {
                let mut cursor = around.walk();
                let all: Vec<Node<'s>> = around.children(&mut cursor).collect();
                let own = all.iter().position(|it| it.id() == inner.id()).unwrap_or(0);
                let behind = all[own + 1..].iter().filter(|it| !self.ends(inner, **it));
                let is_used = behind
                    .flat_map(|it| below(*it))
                    .any(|it| it.kind() == "identifier" && self.text(it) == name);
                if is_used {
                    return self.refused(node, why);
                }
                let is_declared = all[..own].iter().any(|it| {
                    it.kind() == "declaration"
                        && below(*it)
                            .into_iter()
                            .any(|it| it.kind() == "identifier" && self.text(it) == name)
                });
                if is_declared || around.kind() == "function_definition" {
                    return Ok(());
                }
            } else if ["for_statement", "while_statement", "do_statement"].contains(&around.kind())
            {
                return self.refused(node, why);
            }
            inner = around;
        }
        Ok(())
    }
}
