//! Loops over what is left become loops over elements.

use super::Reader;
use super::step::{Bound, Step};
use autocomp_nests::Refusal;
use tree_sitter::Node;

/// A loop over what is left, or one along which pointers move.
#[derive(Clone, Debug, Default)]
pub(super) struct Strip<'s> {
    /// What `vsetvl` may be asked for.
    left: Option<String>,
    /// Whether an iteration goes on by a length.
    pub is_by_length: bool,
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
        let mut rest_ends = 0;
        for (idx, child) in all.iter().enumerate() {
            if child.end_byte() <= at {
                continue;
            }
            made += &self.source[at..child.start_byte()];
            at = child.end_byte();
            if idx < rest_ends && child.kind() != "comment" {
                let lines = |node: Node<'s>| self.text(node).matches('\n').count();
                let other = child
                    .child_by_field_name("alternative")
                    .and_then(|it| it.named_child(0));
                let n_lines = lines(*child) - other.map_or(0, lines);
                // Nothing is left, so what is done instead is done.
                let other = other.map(|it| self.visit(it)).transpose()?;
                made += &("\n".repeat(n_lines) + &other.unwrap_or_default());
                continue;
            }
            let n_rest = self.n_rest(*child, &all[idx + 1..]);
            rest_ends = rest_ends.max(idx + 1 + n_rest);
            self.behind = (child.start_byte(), all[idx + n_rest].end_byte());
            made += &self.visit(*child)?;
        }
        Ok(made + &self.source[at..node.end_byte()])
    }

    /// Returns how many of the statements behind a loop over whole registers do what it left;
    /// comments between them count.
    fn n_rest(&self, node: Node<'s>, behind: &[Node<'s>]) -> usize {
        if !self.steps(node).iter().any(|it| it.is_by_length) {
            return 0;
        }
        let asked = |node: Node<'s>| {
            let bound = self.bound(node)?;
            Some((bound.counter, bound.end.map(|it| bare(self.text(it)))))
        };
        let Some(own) = asked(node) else {
            return 0;
        };
        let kinds = ["for_statement", "while_statement", "if_statement"];
        let is_rest = |node: Node<'s>| {
            kinds.contains(&node.kind())
                && node.child_by_field_name("initializer").is_none()
                && asked(node).as_ref() == Some(&own)
        };
        let mut found = 0;
        for (idx, node) in behind.iter().enumerate() {
            if is_rest(*node) {
                found = idx + 1;
            } else if node.kind() != "comment" {
                break;
            }
        }
        found
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
        let is_strip = steps.iter().any(|it| it.is_by_length);
        let mut strip = Strip {
            is_by_length: is_strip,
            ..Strip::default()
        };
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
        let mut behind = match self.behind {
            (begin, behind) if begin == node.start_byte() => behind,
            _ => node.end_byte(),
        };
        let uses = self.function.uses.get(name).map_or(&[][..], Vec::as_slice);
        let mut inner = node;
        while let Some(around) = inner.parent() {
            if around.kind() == "compound_statement" || around.kind() == "function_definition" {
                let next = uses.partition_point(|it| it.start_byte() < behind);
                if uses
                    .get(next)
                    .is_some_and(|it| it.start_byte() < around.end_byte())
                {
                    return self.refused(node, why);
                }
                let declared = self.function.declared.get(&(around.start_byte(), name));
                let is_declared = declared.is_some_and(|it| *it < inner.start_byte());
                if is_declared || around.kind() == "function_definition" {
                    return Ok(());
                }
            } else if ["for_statement", "while_statement", "do_statement"].contains(&around.kind())
            {
                return self.refused(node, why);
            }
            inner = around;
            behind = behind.max(around.end_byte());
        }
        Ok(())
    }
}
