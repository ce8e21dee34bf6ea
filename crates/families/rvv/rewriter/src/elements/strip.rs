//! Loops over what is left become loops over elements.

use super::Reader;
use super::scalar::declared_name;
use super::step::{Bound, Step};
use autocomp_c_loops::syntax::{assigned_names, below, between_commas, children};
use autocomp_nests::Refusal;
use std::collections::BTreeMap;
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

/// Returns whether this is a type of whole numbers that counters have.
fn is_whole(kind: &str) -> bool {
    ["size_t", "int", "unsigned", "long", "int32_t", "uint32_t"].contains(&kind.trim())
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
            return self.refused(
                step.node,
                "goes on by more than `vl`, or by something else: write `i += vl`",
            );
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
            false => self.refused(
                node,
                "computes vectors in its head: compute them in its body",
            ),
        }
    }

    fn over_elements(
        &mut self,
        node: Node<'s>,
        bound: &Bound<'s>,
        counter: &Step<'s>,
        steps: &[Step<'s>],
    ) -> Result<String, Refusal> {
        let name = counter.name;
        let firsts = self.first_values(node);
        // `for (size_t vl; n > 0; n -= vl)` says nothing of `n`.
        let first_value = firsts.get(name).copied();
        let is_strip = steps.iter().any(|it| it.is_by_length);
        // What else is in the head would be left out.
        let n_updates = match node.child_by_field_name("update") {
            Some(update) => between_commas(update).len(),
            None => 0,
        };
        let moving = steps.iter().filter(|it| {
            it.name == name || it.is_by_length || self.function.pointers.contains(it.name)
        });
        let moving: Vec<&Step<'s>> = moving.collect();
        if moving.iter().filter(|it| !it.is_in_body).count() != n_updates {
            return self.refused(
                node,
                "changes something in its head that does not go on by `vl`: change it in the body",
            );
        }
        let mut strip = Strip {
            is_by_length: is_strip,
            ..Strip::default()
        };
        // How many elements are behind, and the head of the loop.
        let (behind, head) = match bound.end {
            Some(end) => {
                strip.left = Some(format!("{}-{name}", bare(self.text(end))));
                let start = first_value.map(|it| self.visit(it)).transpose()?;
                let own = start.as_ref().map(|it| format!("{name} = {it}"));
                let head = self.head(node, own, &moving)?;
                let (end, by) = (self.visit(end)?, &counter.by);
                let behind = match (start.as_deref(), by.as_str()) {
                    (Some("0"), "1") => Some(name.to_owned()),
                    (Some(start), "1") => Some(format!("({name} - ({start}))")),
                    _ => None,
                };
                (behind, format!("{head}{name} < {end}; {name} += {by}"))
            }
            None => {
                strip.left = Some(name.to_owned());
                let end = match first_value {
                    Some(value) => self.first_of(node, value)?,
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
                    strip.behind.push((counter.node.start_byte(), name, next));
                }
                if first_value.is_none() {
                    self.stays(node, name)?;
                }
                let head = self.head(node, Some(format!("size_t {element} = 0")), &moving)?;
                let head = format!("{head}{element} < {end}; {element}++");
                (Some(element), head)
            }
        };
        if bound.end.is_some() && counter.is_in_body {
            strip.behind.push((
                counter.node.start_byte(),
                name,
                format!("({name} + {})", counter.by),
            ));
        }
        for step in moving.iter().filter(|it| it.name != name) {
            if is_strip && !step.is_by_length {
                return self.refused(
                    step.node,
                    "moves a pointer by another number than `vl`: how many elements a mask takes is not followed, write to `y[i]` what the loop's variable says",
                );
            }
            let Some(behind) = &behind else {
                return self.refused(
                    node,
                    "moves pointers, with a counter whose first value stands elsewhere: write it in the head, `for (size_t i = 0; …)`",
                );
            };
            let own = match firsts.get(step.name) {
                Some(value) => self.first_of(node, *value)?,
                None => self.visit_name(step.name),
            };
            self.stays(node, step.name)?;
            if moving.iter().filter(|it| it.name == step.name).count() != 1 {
                return self.refused(
                    step.node,
                    "moves a pointer twice in a loop: move it once, at the end",
                );
            }
            let sign = if step.is_back { '-' } else { '+' };
            let by = match step.by.as_str() {
                "1" => String::new(),
                by => format!(" * ({by})"),
            };
            let from = match own.as_str() {
                "(0)" if !step.is_back => String::new(),
                own => format!("{own} {sign} "),
            };
            let now = format!("({from}{behind}{by})");
            let next = format!("({from}({behind} + 1){by})");
            self.moved.insert(step.name, now);
            if step.is_in_body {
                strip.behind.push((step.node.start_byte(), step.name, next));
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

    /// Returns what the head of a loop says that variables begin with.
    fn first_values(&self, node: Node<'s>) -> BTreeMap<&'s str, Node<'s>> {
        let Some(first) = node.child_by_field_name("initializer") else {
            return BTreeMap::new();
        };
        let all = match first.kind() {
            "declaration" => children(first),
            _ => between_commas(first),
        };
        let value = |it: Node<'s>| {
            let sides = match it.kind() {
                "init_declarator" => ["declarator", "value"],
                "assignment_expression" => ["left", "right"],
                _ => return None,
            };
            let [name, value] = sides.map(|side| it.child_by_field_name(side));
            Some((self.text(name?), value?))
        };
        all.into_iter().filter_map(value).collect()
    }

    /// Writes what a variable begins with, wherever it is read in a loop.
    fn first_of(&mut self, node: Node<'s>, value: Node<'s>) -> Result<String, Refusal> {
        let changed = assigned_names(node, self.source);
        if below(value)
            .iter()
            .any(|it| changed.contains(self.text(*it)))
        {
            return self.refused(value, "is what a variable of a loop begins with, and changes in the loop: give it a name of its own in front of the loop");
        }
        Ok(format!("({})", self.visit(value)?))
    }

    /// Writes the first part of the head of a loop over elements: its counter and what else stands
    /// there, but for what moves along, whose first value is written where it is read.
    fn head(
        &mut self,
        node: Node<'s>,
        own: Option<String>,
        moving: &[&Step<'s>],
    ) -> Result<String, Refusal> {
        let Some(first) = node.child_by_field_name("initializer") else {
            return Ok(own.unwrap_or_default() + "; ");
        };
        let is_declared = first.kind() == "declaration";
        let mut cursor = first.walk();
        let all: Vec<Node<'s>> = match is_declared {
            true => first
                .children_by_field_name("declarator", &mut cursor)
                .collect(),
            false => between_commas(first),
        };
        let mut others = Vec::new();
        for each in &all {
            let name = match is_declared {
                true => declared_name(*each).0,
                false => each.child_by_field_name("left").unwrap_or(*each),
            };
            let [value, right] = ["value", "right"].map(|it| each.child_by_field_name(it));
            if self.is_length(name) {
                if !self.function.got.contains(self.text(name)) {
                    self.length(value.or(right))?;
                }
            } else if !moving.iter().any(|it| it.name == self.text(name)) {
                others.push(self.copied(*each)?);
            }
        }
        let of_head = |it: &Node<'s>| &self.source[first.start_byte()..it.start_byte()];
        let kind = all.first().filter(|_| is_declared).map_or("", of_head);
        // The counter of elements brings its own type.
        let own = match own.as_deref().map(|it| (it, it.strip_prefix("size_t "))) {
            Some((_, Some(own))) if is_whole(kind) => Some(format!("{kind}{own}")),
            Some((own, Some(_))) => Some(own.to_owned()),
            Some((own, None)) => Some(format!("{kind}{own}")),
            None => None,
        };
        Ok(match (own, others.is_empty()) {
            (own, true) => own.unwrap_or_default() + "; ",
            (Some(own), false) if is_whole(kind) => format!("{own}, {}; ", others.join(", ")),
            (None, false) if is_declared => format!("{kind}{}; ", others.join(", ")),
            _ => {
                return self.refused(
                    first,
                    "sets another variable in the head of a loop: set it in front of the loop",
                );
            }
        })
    }

    fn visit_name(&self, name: &str) -> String {
        self.moved.get(name).cloned().unwrap_or(name.to_owned())
    }

    /// Looks whether anybody asks behind a loop where a variable has got to.
    fn stays(&self, node: Node<'s>, name: &'s str) -> Result<(), Refusal> {
        let is_own = (node.start_byte(), name);
        if self.function.declared.contains_key(&is_own) {
            return Ok(());
        }
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
                if let Some(next) = uses
                    .get(next)
                    .filter(|it| it.start_byte() < around.end_byte())
                {
                    return match self.is_set_anew(*next, around) {
                        true => Ok(()),
                        false => self.refused(node, why),
                    };
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

    /// Returns whether a name stands where a statement of a block gives it another value.
    fn is_set_anew(&self, name: Node<'s>, block: Node<'s>) -> bool {
        let Some(set) = name.parent().filter(|it| {
            it.kind() == "assignment_expression"
                && it.child_by_field_name("left") == Some(name)
                && it.child_by_field_name("operator").map(|it| self.text(it)) == Some("=")
        }) else {
            return false;
        };
        let right = set.child_by_field_name("right");
        let is_read = |it: &Node<'s>| self.text(*it) == self.text(name);
        if right.is_some_and(|it| below(it).iter().any(is_read)) {
            return false;
        }
        let mut inner = set;
        while let Some(around) = inner.parent() {
            match around.kind() {
                "comma_expression" | "expression_statement" => {}
                "for_statement" if around.child_by_field_name("initializer") == Some(inner) => {}
                _ => return around == block,
            }
            inner = around;
        }
        false
    }
}
