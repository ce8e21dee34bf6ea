//! Kernels with intrinsics, read as what they do to single elements.
//!
//! A kernel that asks for lengths is right for any length of registers, and so for one element in
//! a register: `vl` is 1 there, vectors are numbers, and a loop over what is left (`vsetvl`) is one
//! over elements. That is plain C, which rewriters of loop nests take further. What says how many
//! elements there are in another way is refused.

mod access;
mod function;
mod name;
mod operation;
mod statement;
mod step;
mod strip;

use autocomp_c_loops::syntax::{children, syntax_tree, too_deep};
use autocomp_nests::{Refusal, expanded};
use function::Function;
use name::{Kind, Name};
use operation::Operation;
use std::collections::BTreeMap;
use strip::Strip;
use tree_sitter::Node;

/// The longest source that is read, in bytes, and the longest that is made.
const SOURCE_LIMIT: usize = 1 << 16;

/// Functions between numbers and their bits, for kernels that need them.
const BITS: [(&str, &str); 2] = [
    (
        "float_of_bits",
        "static inline float float_of_bits(int32_t bits) { float value; memcpy(&value, &bits, 4); return value; } ",
    ),
    (
        "bits_of_float",
        "static inline int32_t bits_of_float(float value) { int32_t bits; memcpy(&bits, &value, 4); return bits; } ",
    ),
];

/// Returns whether a kernel is written with intrinsics.
pub(crate) fn has_intrinsics(source: &str) -> bool {
    source.contains("__riscv_v")
}

/// Returns the plain kernel that does the same, line by line.
///
/// # Errors
/// What is not understood, with its line and what to write instead.
pub fn plain(source: &str) -> Result<String, Refusal> {
    if SOURCE_LIMIT < source.len() {
        return Err("the kernel is too long".into());
    }
    let text = expanded(source)?;
    let tree = syntax_tree(&text).ok_or("the kernel does not parse")?;
    let root = tree.root_node();
    if root.has_error() || too_deep(root) {
        return Err("the kernel does not parse as C".into());
    }
    let mut reader = Reader::new(&text, root);
    let mut made = reader.visit(root)?;
    for (name, text) in BITS {
        if made.contains(&format!("{name}(")) {
            made.insert_str(0, text);
        }
    }
    Ok(made)
}

struct Reader<'s> {
    source: &'s str,
    /// Which parameters of the kernel's own functions are lengths.
    lengths_of: BTreeMap<&'s str, Vec<usize>>,
    function: Function<'s>,
    /// Loops over what is left, from the outside.
    strips: Vec<Strip<'s>>,
    /// What is written for variables that move along.
    moved: BTreeMap<&'s str, String>,
    /// What has to stand in front of the statement that is being read.
    before: Vec<String>,
    /// Whether what is read next is cut to the bits of its type anyway.
    is_kept: bool,
    /// How many names were given.
    n_names: usize,
}

impl<'s> Reader<'s> {
    fn new(source: &'s str, root: Node<'s>) -> Self {
        Self {
            source,
            lengths_of: function::length_parameters(root, source),
            function: Function::default(),
            strips: Vec::new(),
            moved: BTreeMap::new(),
            before: Vec::new(),
            is_kept: false,
            n_names: 0,
        }
    }

    fn text(&self, node: Node<'_>) -> &'s str {
        &self.source[node.byte_range()]
    }

    fn refused<T>(&self, node: Node<'_>, why: &str) -> Result<T, Refusal> {
        let first = self.text(node).lines().next().unwrap_or("");
        let shown: String = first.chars().take(60).collect();
        Err(Refusal {
            line: Some(1 + node.start_position().row),
            why: format!("{why}: {shown}"),
        })
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
            "continue_statement" | "break_statement" | "return" if self.is_left(node) => self
                .refused(
                    node,
                    "leaves an iteration of a loop over what is left early",
                ),
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

    /// Returns the arguments of an intrinsic without the length, which must be that of a strip.
    fn arguments(
        &mut self,
        node: Node<'s>,
        list: Node<'s>,
        name: &Name<'s>,
    ) -> Result<Vec<Node<'s>>, Refusal> {
        let mut arguments = children(list);
        if !name.has_length() {
            return Ok(arguments);
        }
        let Some(length) = arguments.pop() else {
            return self.refused(node, "is not understood");
        };
        let text = self.text(length);
        let is_length = text == "1"
            || self.function.lengths.contains(text)
            || self.function.most.contains(text)
            || self.function.is_length(length, self.source).is_some();
        match is_length {
            true => Ok(arguments),
            false => self.refused(
                length,
                "is a number of elements that does not follow from what is left: take what `vsetvl` gives in a loop over what is left",
            ),
        }
    }

    fn call(&mut self, node: Node<'s>) -> Result<String, Refusal> {
        let Some((name, list)) = self.intrinsic_of(node) else {
            return self.own_call(node);
        };
        let is_kept = std::mem::take(&mut self.is_kept);
        let unknown = "is an intrinsic that is not read as what it does to single elements";
        if self.function.is_length(node, self.source).is_some() {
            return self.refused(node, "is a length without a name: write `size_t vl = …`");
        }
        if name.operation == "vget" {
            let arguments = children(list);
            return match arguments.as_slice() {
                [tuple, idx] if self.function.tuples.contains_key(self.text(*tuple)) => {
                    Ok(format!("{}_{}", self.text(*tuple), self.text(*idx)))
                }
                _ => self.refused(node, unknown),
            };
        }
        if name.kinds.is_empty() && name.operation != "vcpop" && !name.operation.starts_with("vm") {
            return self.refused(node, "leaves types to its arguments: write its full name");
        }
        let mut arguments = self.arguments(node, list, &name)?;
        let mask = match name.policy {
            "" | "tu" => None,
            _ => Some(arguments.remove(0)),
        };
        let mask = mask.map(|it| self.visit(it)).transpose()?;
        let is_fused = name.operation.ends_with("acc")
            || name.operation.ends_with("sac")
            || name.operation.ends_with("accu")
            || name.operation.ends_with("accsu")
            || name.operation.ends_with("accus")
            || name.operation.ends_with("madd")
            || name.operation.ends_with("msub");
        let keeps = ["tu", "mu", "tum", "tumu"].contains(&name.policy);
        let old = match keeps && !arguments.is_empty() {
            true if is_fused => Some(self.visit(arguments[0])?),
            true => Some(self.visit(arguments.remove(0))?),
            false => None,
        };
        let is_fixed = [
            "vnclip", "vnclipu", "vssra", "vssrl", "vaadd", "vaaddu", "vasub", "vasubu",
        ];
        let rounding = match name.is_rounded || is_fixed.contains(&name.operation) {
            true => arguments.pop().map_or("?", |it| self.text(it)),
            false => "",
        };
        let value = match name.is_load() {
            true => self.place(node, &arguments, 0, &name)?,
            false => {
                let operands: Vec<String> = arguments
                    .iter()
                    .map(|it| self.operand(self.uncast(*it, &name)))
                    .collect::<Result<_, _>>()?;
                let operation = Operation {
                    name: &name,
                    operands: &operands.iter().map(|it| self.known(it)).collect::<Vec<_>>(),
                    rounding,
                };
                let mut made = Vec::new();
                let value = operation.value(&mut |kind, text| {
                    let is_short = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
                    if text.trim_start_matches('-').chars().all(is_short) {
                        return text.to_owned();
                    }
                    let name = self.fresh("element");
                    made.push(format!("{kind} {name} = {text};"));
                    name
                });
                self.before.append(&mut made);
                match value {
                    Some(value) => value,
                    None => return self.refused(node, unknown),
                }
            }
        };
        let is_reduction = name.operation.contains("red");
        let value = match (mask, name.policy) {
            (None, _) => value,
            (Some(mask), "m" | "tum") if name.is_load() => format!("({mask} ? {value} : 0)"),
            (Some(mask), _) if is_reduction => match arguments.last() {
                Some(first) => format!("({mask} ? {value} : {})", self.visit(*first)?),
                None => return self.refused(node, unknown),
            },
            (Some(mask), _) if name.operation == "vcpop" => format!("({mask} && {value})"),
            // What others hold is nobody's to know.
            (Some(_), "m" | "tum") => value,
            (Some(mask), _) => {
                format!("({mask} ? {value} : {})", old.unwrap_or_else(|| "0".into()))
            }
        };
        let narrow = name.kinds.last().filter(|it| it.is_narrow());
        Ok(match narrow {
            Some(kind) if !is_kept && !name.is_exact() && !is_copy(&name) => {
                format!("({})({value})", kind.to_c())
            }
            _ => value,
        })
    }

    /// Returns what may stand beside an operator.
    fn operand(&mut self, node: Node<'s>) -> Result<String, Refusal> {
        let made = self.visit(node)?;
        let binds_less = [
            "binary_expression",
            "conditional_expression",
            "cast_expression",
        ];
        Ok(match binds_less.contains(&node.kind()) {
            true => format!("({made})"),
            false => made,
        })
    }

    /// Returns a number without a conversion to the type of the elements, which an intrinsic makes
    /// of it anyway: numbers are taken to fit.
    fn uncast(&self, node: Node<'s>, name: &Name<'s>) -> Node<'s> {
        let is_number = name.form.iter().any(|it| ["vx", "wx"].contains(it));
        match node.child_by_field_name("value") {
            Some(value) if is_number && node.kind() == "cast_expression" => value,
            _ => node,
        }
    }

    /// Returns the value of a name that is one number throughout.
    fn known(&self, text: &str) -> String {
        let value = self.function.zeros.get(text);
        value.map_or(text, |it| *it).to_owned()
    }

    /// Reads a call of one of the kernel's own functions.
    fn own_call(&mut self, node: Node<'s>) -> Result<String, Refusal> {
        let callee = self.text(self.field(node, "function")?);
        let Some(lengths) = self.lengths_of.get(callee).cloned() else {
            return self.copied(node);
        };
        let mut made = Vec::new();
        for (idx, argument) in children(self.field(node, "arguments")?)
            .into_iter()
            .enumerate()
        {
            let text = self.text(argument);
            let is_known =
                self.function.lengths.contains(text) || self.function.most.contains(text);
            made.push(match (lengths.contains(&idx), is_known) {
                (true, true) => "1".into(),
                (true, false) => {
                    return self.refused(
                        argument,
                        "is a number of elements that does not follow from what is left",
                    );
                }
                (false, _) => self.visit(argument)?,
            });
        }
        Ok(format!("{callee}({})", made.join(", ")))
    }
}

/// Returns whether an intrinsic gives what it gets.
fn is_copy(name: &Name<'_>) -> bool {
    ["vmv", "vfmv", "vundefined", "vid", "vget"].contains(&name.operation)
}
