//! Kernels with intrinsics, read as what they do to single elements.
//!
//! A kernel that asks for lengths is right for any length of registers, and so for one element in
//! a register: `vl` is 1 there, vectors are numbers, and a loop over what is left (`vsetvl`) is one
//! over elements. That is plain C, which rewriters of loop nests take further. What says how many
//! elements there are in another way is refused.

mod access;
mod call;
mod function;
mod name;
mod operation;
mod scalar;
mod statement;
mod step;
mod strip;

use autocomp_c_loops::casts::without_false_casts;
use autocomp_c_loops::syntax::{syntax_tree, too_deep};
use autocomp_nests::{OF_BITS, Refusal, expanded, without_punning};
use function::Function;
use name::{Kind, Name};
use std::collections::BTreeMap;
use strip::Strip;
use tree_sitter::Node;

/// The longest source that is read, in bytes, and the longest that is made.
const SOURCE_LIMIT: usize = 1 << 16;

/// How many nodes of the source are written at most.
const NODE_LIMIT: usize = 1 << 18;

/// Returns whether a kernel is written with intrinsics.
pub(crate) fn has_intrinsics(source: &str) -> bool {
    source.contains("__riscv_v")
}

/// Returns whether the last argument of an intrinsic says how many elements there are.
pub(crate) fn has_length(callee: &str) -> bool {
    Name::read(callee).is_some_and(|it| it.has_length())
}

/// Returns whether an intrinsic reads memory and whether it writes it; nothing for other functions.
pub(crate) fn reads_and_writes(callee: &str) -> Option<(bool, bool)> {
    let name = Name::read(callee)?;
    // Masks are stored by `vsm`.
    Some((name.is_load(), name.is_store() || name.operation == "vsm"))
}

/// Returns the plain kernel that does the same, line by line.
///
/// # Errors
/// What is not understood, with its line and what to write instead.
pub fn plain(source: &str) -> Result<String, Refusal> {
    if SOURCE_LIMIT < source.len() {
        return Err("the kernel is too long".into());
    }
    let text = without_false_casts(&expanded(source)?);
    let tree = syntax_tree(&text).ok_or("the kernel does not parse")?;
    let root = tree.root_node();
    if root.has_error() || too_deep(root) {
        return Err("the kernel does not parse as C".into());
    }
    let mut reader = Reader::new(&text, root);
    let mut made = reader.visit(root)?;
    for (name, text) in OF_BITS {
        if made.contains(&format!("{name}(")) {
            made.insert_str(0, text);
        }
    }
    Ok(without_punning(&made))
}

struct Reader<'s> {
    source: &'s str,
    /// Which parameters of the kernel's own functions are lengths.
    lengths_of: BTreeMap<&'s str, Vec<usize>>,
    types: scalar::Types<'s>,
    function: Function<'s>,
    /// Loops over what is left, from the outside.
    strips: Vec<Strip<'s>>,
    /// Where the loop begins that is read next, and where what is behind it and its rest does.
    behind: (usize, usize),
    /// What is written for variables that move along.
    moved: BTreeMap<&'s str, String>,
    /// What has to stand in front of the statement that is being read.
    before: Vec<String>,
    /// Whether what is read next is cut to the bits of its type anyway.
    is_kept: bool,
    /// How many more nodes are written.
    budget: usize,
    /// How many names were given.
    n_names: usize,
}

impl<'s> Reader<'s> {
    fn new(source: &'s str, root: Node<'s>) -> Self {
        Self {
            source,
            lengths_of: function::length_parameters(root, source),
            types: scalar::types(root, source),
            function: Function::default(),
            strips: Vec::new(),
            behind: (0, 0),
            moved: BTreeMap::new(),
            before: Vec::new(),
            is_kept: false,
            budget: NODE_LIMIT,
            n_names: 0,
        }
    }

    fn text(&self, node: Node<'_>) -> &'s str {
        &self.source[node.byte_range()]
    }

    fn refused<T>(&self, node: Node<'_>, why: &str) -> Result<T, Refusal> {
        Err(Refusal::of(self.source, node, why))
    }

    fn field<'t>(&self, node: Node<'t>, name: &str) -> Result<Node<'t>, Refusal> {
        match node.child_by_field_name(name) {
            Some(field) => Ok(field),
            None => self.refused(node, "is not understood"),
        }
    }

    /// Returns a name that stands nowhere in the kernel.
    fn fresh(&mut self, word: &str) -> String {
        loop {
            self.n_names += 1;
            let name = format!("{word}{}", self.n_names);
            if !self.source.contains(&name) {
                return name;
            }
        }
    }

    /// Returns what is written for a node, with as many lines.
    fn visit(&mut self, node: Node<'s>) -> Result<String, Refusal> {
        match self.budget.checked_sub(1) {
            Some(left) => self.budget = left,
            None => return self.refused(node, "is one node too many"),
        }
        let mut made = self.written(node)?;
        let lines = |text: &str| text.matches('\n').count();
        let (had, has) = (lines(self.text(node)), lines(&made));
        made.push_str(&"\n".repeat(had.saturating_sub(has)));
        match made.len() {
            ..=SOURCE_LIMIT => Ok(made),
            _ => self.refused(node, "becomes too long"),
        }
    }

    fn written(&mut self, node: Node<'s>) -> Result<String, Refusal> {
        let text = self.text(node);
        match node.kind() {
            "parameter_declaration" => Ok(self.parameter(node)),
            "identifier" if self.function.most.contains(text) => self.refused(
                node,
                "is how many elements fit, which is used for more than lengths: take what `vsetvl` gives in a loop over what is left",
            ),
            "identifier" if self.function.lengths.contains(text) => Ok("1".into()),
            "identifier" => Ok(self.moved.get(text).cloned().unwrap_or(text.to_owned())),
            "type_identifier" => Ok(Kind::of_type(text).map_or(text.to_owned(), Kind::to_c)),
            "function_definition" => {
                self.function = Function::of(node, self.source);
                let made = self.copied(node);
                self.moved.clear();
                made
            }
            "compound_statement" => self.block(node),
            "declaration" => self.statement(node, Self::declaration),
            "expression_statement" => self.statement(node, Self::effect),
            "return_statement" => self.statement(node, Self::copied),
            "for_statement" | "while_statement" | "do_statement" => self.looped(node),
            // The loop around is the innermost one that is being read.
            "continue_statement" | "break_statement" | "return"
                if self.strips.last().is_some_and(|it| it.is_by_length) =>
            {
                self.refused(
                    node,
                    "leaves an iteration of a loop over what is left early: let the loop run to its end, and choose values by masks",
                )
            }
            "call_expression" => self.call(node),
            _ => self.copied(node),
        }
    }

    /// Returns a node with what is in it written anew.
    fn copied(&mut self, node: Node<'s>) -> Result<String, Refusal> {
        let mut made = String::new();
        let mut at = node.start_byte();
        let mut cursor = node.walk();
        let all: Vec<Node<'s>> = node.children(&mut cursor).collect();
        for child in all {
            made += &self.source[at..child.start_byte()];
            made += &self.visit(child)?;
            at = child.end_byte();
        }
        made += &self.source[at..node.end_byte()];
        Ok(made)
    }

    /// Writes a statement behind what it needs.
    fn statement(
        &mut self,
        node: Node<'s>,
        write: fn(&mut Self, Node<'s>) -> Result<String, Refusal>,
    ) -> Result<String, Refusal> {
        let outside = std::mem::take(&mut self.before);
        let made = write(self, node)?;
        let before = std::mem::replace(&mut self.before, outside);
        let is_in_block = node
            .parent()
            .is_some_and(|it| it.kind() == "compound_statement");
        Ok(match (before.is_empty(), is_in_block) {
            (true, _) => made,
            (false, true) => format!("{} {made}", before.join(" ")),
            (false, false) => format!("{{ {} {made} }}", before.join(" ")),
        })
    }

    /// Returns the name of an intrinsic that is called.
    fn intrinsic_of(&self, node: Node<'s>) -> Option<(Name<'s>, Node<'s>)> {
        let callee = node.child_by_field_name("function")?;
        Some((
            Name::read(self.text(callee))?,
            node.child_by_field_name("arguments")?,
        ))
    }
}
