//! Takes sums out of loops that do something with each: the maximum of a convolution's results
//! that is taken where they are computed becomes a convolution, and a loop that takes maxima.
//!
//! It is done to the text. A sum that a step of the loops begins, adds up in a loop of its own
//! and then uses gets a place for each step; loops in front compute all of them. That is the
//! same if nothing that the sum is made of is written in the loops.

use super::uses::{Loops, edited, leaves};
use crate::syntax::{block_statements, children};
use tree_sitter::Node;

/// Returns a kernel with sums taken out of its loops, in the ways in which their places can be
/// ordered; nothing if there are none.
pub(super) fn taken_out(source: &str, name: &str) -> Vec<String> {
    let by_use = with_places(source, name, true);
    let by_loop = with_places(source, name, false).filter(|text| by_use.as_ref() != Some(text));
    by_use.into_iter().chain(by_loop).collect()
}

fn with_places(source: &str, name: &str, by_use: bool) -> Option<String> {
    edited(source, name, |loops, body| {
        // Then what is written does not show what changes.
        if has_pointer(body) {
            return Vec::new();
        }
        let place = |node: Node<'_>| {
            let new = Found::below(loops, node)?.written(node, by_use)?;
            Some((node.byte_range(), new))
        };
        children(body).into_iter().filter_map(place).collect()
    })
}

/// A sum within loops.
struct Found<'loops, 'source, 'tree> {
    loops: &'loops Loops<'source>,
    /// Heads of the loops around it.
    heads: String,
    /// Their counters, and how many steps each has.
    counters: Vec<[&'source str; 2]>,
    kind: &'source str,
    name: &'source str,
    /// Where it is declared, with its first value.
    begins: Node<'tree>,
    /// Where it is added up.
    adds: Node<'tree>,
}

impl<'loops, 'source, 'tree> Found<'loops, 'source, 'tree> {
    /// Returns the sum that the steps of a loop use.
    fn below(loops: &'loops Loops<'source>, outermost: Node<'tree>) -> Option<Self> {
        let mut heads = String::new();
        let mut counters = Vec::new();
        let mut node = outermost;
        loop {
            if node.kind() != "for_statement" {
                return None;
            }
            counters.push(loops.counter(node)?);
            let body = node.child_by_field_name("body")?;
            heads.push_str(&loops.source[node.start_byte()..body.start_byte()]);
            let mut parts = block_statements(body);
            parts.retain(|it| it.kind() != "comment");
            let sum = parts.iter().zip(parts.iter().skip(1)).position(|(a, b)| {
                let is_alone = loops.declared(*a, "").len() == 1;
                a.kind() == "declaration"
                    && is_alone
                    && b.kind() == "for_statement"
                    && loops
                        .declared(*a, "")
                        .first()
                        .is_some_and(|(name, _)| is_added_up(loops, *b, name))
            });
            let others = |at: usize| sum.is_none_or(|sum| at != sum + 1);
            // What ends a step early may be there so that a sum is not computed.
            let mut loops_inside = parts.iter().filter(|it| it.kind() == "for_statement");
            if let Some(sum) = sum {
                let is_left = |(at, part): (usize, &Node<'_>)| others(at) && leaves(*part);
                if parts.iter().enumerate().any(is_left) || leaves(parts[sum + 1]) {
                    return None;
                }
                let (begins, adds) = (parts[sum], parts[sum + 1]);
                let name = loops.declared(begins, "").first()?.0;
                return Some(Self {
                    loops,
                    heads,
                    counters,
                    kind: loops.text(begins.child_by_field_name("type")?),
                    name,
                    begins,
                    adds,
                });
            }
            let next = *loops_inside.next()?;
            let is_left = |part: &Node<'_>| *part != next && leaves(*part);
            if loops_inside.next().is_some() || parts.iter().any(is_left) {
                return None;
            }
            node = next;
        }
    }

    /// Returns the loops with the sums before them, if they may be there: their places in the
    /// order in which the sum's operands name counters, or in that of the loops.
    fn written(&self, outermost: Node<'_>, by_use: bool) -> Option<String> {
        let loops = self.loops;
        let value = loops.text(self.begins);
        let places = format!("{}_all", self.name);
        let is_plain = value.contains('=') && !value.contains('{') && !value.starts_with("static");
        if !is_plain || loops.source.contains(&places) {
            return None;
        }
        let is_counter = |name: &str| self.counters.iter().any(|it| it[0] == name);
        let all = loops.uses(outermost, "");
        let inside = loops.text(outermost);
        if loops.macros.keys().any(|it| inside.contains(it)) {
            return None;
        }
        let mut taken = loops.uses(self.adds, "");
        taken.extend(loops.uses(self.begins, ""));
        for name in taken
            .keys()
            .filter(|it| **it != self.name && !is_counter(it))
        {
            // Other names that the loops declare, or write, may differ from step to step.
            if all.get(name).is_none_or(|it| it.is_written) {
                return None;
            }
        }
        let mut order = self.counters.clone();
        if by_use {
            let text = loops.text(self.adds);
            order.sort_by_key(|it| first_use(text, it[0]));
        }
        let [extents, place] = [1, 0].map(|at| {
            order
                .iter()
                .map(|it| format!("[{}]", it[at]))
                .collect::<String>()
        });
        let Self {
            heads, kind, name, ..
        } = self;
        let (begins, adds) = (loops.text(self.begins), loops.text(self.adds));
        let rest = inside.get(self.adds.end_byte() - outermost.start_byte()..)?;
        let before = inside.get(..self.begins.start_byte() - outermost.start_byte())?;
        Some(format!(
            "static {kind} {places}{extents};\n\n  {heads}{{\n    {begins}\n    {adds}\n    {places}{place} = {name};\n  }}\n  {before}{kind} {name} = {places}{place};{rest}"
        ))
    }
}

/// Returns whether something is declared that may name an array otherwise.
fn has_pointer(node: Node<'_>) -> bool {
    node.kind() == "pointer_declarator" || children(node).into_iter().any(has_pointer)
}

/// Returns whether a loop does nothing but add to a variable, and give values to names of its
/// own.
fn is_added_up(loops: &Loops<'_>, node: Node<'_>, name: &str) -> bool {
    let uses = loops.uses(node, "");
    let mut written = uses.iter().filter(|(_, it)| it.is_written);
    written.next().is_some_and(|it| *it.0 == name)
        && written.next().is_none()
        && only_adds(loops, node, name)
}

fn only_adds(loops: &Loops<'_>, node: Node<'_>, name: &str) -> bool {
    let field = |field: &str| node.child_by_field_name(field).map(|it| loops.text(it));
    let sets = node.kind() == "assignment_expression" && field("left") == Some(name);
    let adds = match field("operator") {
        Some("+=" | "-=") => true,
        Some("=") => field("right").is_some_and(|value| {
            let rest = value.strip_prefix(name).map(str::trim_start);
            rest.is_some_and(|rest| rest.starts_with(['+', '-']))
        }),
        _ => false,
    };
    (!sets || adds)
        && children(node)
            .into_iter()
            .all(|it| only_adds(loops, it, name))
}

/// Returns where a text first names something; its end if it never does.
fn first_use(text: &str, name: &str) -> usize {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut found = text.match_indices(name).filter(|(at, _)| {
        !text[..*at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part)
    });
    found.next().map_or(text.len(), |(at, _)| at)
}
