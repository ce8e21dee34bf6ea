//! The same kernel with larger or smaller groups of registers.
//!
//! A kernel that asks for lengths is right for groups of any size, as long as all of them keep
//! their ratios: types of vectors and masks, and intrinsics that name them, are written anew. What
//! holds a single element (first values and results of sums) stays as it is.
//!
//! Source: RISC-V Vector Intrinsics, version 1.0, "Naming scheme".

use crate::elements::has_length;
use autocomp_c_loops::syntax::{assigned_names, below, children, syntax_tree, too_deep};
use std::collections::BTreeSet;
use tree_sitter::{Node, Tree};

/// The longest source that is changed, in bytes.
const SOURCE_LIMIT: usize = 1 << 16;

/// Parses a source that may be changed.
pub(crate) fn tree_of(source: &str) -> Option<Tree> {
    if SOURCE_LIMIT < source.len() {
        return None;
    }
    let tree = syntax_tree(source)?;
    let root = tree.root_node();
    (!root.has_error() && !too_deep(root)).then_some(tree)
}

/// Returns a kernel whose groups have as many registers times two to the power of `by`; nothing
/// where there are no such groups, or where it is not seen to do the same.
pub fn resized(source: &str, by: i32) -> Option<String> {
    let tree = tree_of(source)?;
    let root = tree.root_node();
    let nodes = below(root);
    let text = |node: Node<'_>| &source[node.byte_range()];
    let singles = singles(&nodes, source)?;
    // A number may be more than smaller groups hold.
    let numbers = (by < 0).then(|| fixed_lengths(&nodes, source));
    if by < 0 && asks_for_a_number(root, &nodes, source) {
        return None;
    }
    let mut edits: Vec<(Node<'_>, String)> = Vec::new();
    for node in nodes {
        match node.kind() {
            // Macros are not looked into.
            "preproc_arg" if text(node).contains("__riscv_") => return None,
            "type_identifier" if !declares(node, &singles, source) => {
                if let Some(made) = resized_type(text(node), by) {
                    edits.push((node, made?));
                }
            }
            "call_expression" => {
                let callee = node.child_by_field_name("function")?;
                let call = Call::read(node, source).filter(|it| !it.is_single);
                if let Some(call) =
                    call.filter(|it| !it.is_splat() || !gives(node, &singles, source))
                {
                    let last = call.arguments.last().map(|it| text(*it));
                    let is_fixed = |it: &BTreeSet<&str>| last.is_some_and(|last| it.contains(last));
                    if has_length(text(callee)) && numbers.as_ref().is_some_and(is_fixed) {
                        return None;
                    }
                    edits.push((callee, call.resized(by)?));
                }
            }
            _ => {}
        }
    }
    let mut made = source.to_owned();
    edits.sort_by_key(|it| std::cmp::Reverse(it.0.start_byte()));
    for (node, text) in &edits {
        made.replace_range(node.byte_range(), text);
    }
    (made != source).then_some(made)
}

/// Returns whether two kernels call the same intrinsics with the same arguments, in the same order.
pub(crate) fn has_same_intrinsics(one: &str, other: &str) -> bool {
    if SOURCE_LIMIT < one.len().max(other.len()) {
        return false;
    }
    let [Some(a), Some(b)] = [one, other].map(syntax_tree) else {
        return false;
    };
    let calls = |root: Node<'_>, source: &str| -> Vec<String> {
        let is_call = |it: &Node<'_>| {
            it.kind() == "call_expression" && source[it.byte_range()].starts_with("__riscv_")
        };
        let calls = below(root).into_iter().filter(is_call);
        calls.map(|it| source[it.byte_range()].to_owned()).collect()
    };
    calls(a.root_node(), one) == calls(b.root_node(), other)
}

/// Returns whether a length is asked for that stays the same: nothing comes back for the elements
/// that do not fit.
fn asks_for_a_number(root: Node<'_>, nodes: &[Node<'_>], source: &str) -> bool {
    let changed = assigned_names(root, source);
    let asks = nodes.iter().filter(|it| {
        let callee = it.child_by_field_name("function");
        callee.is_some_and(|it| source[it.byte_range()].starts_with("__riscv_vsetvl_"))
    });
    let mut asked = asks.filter_map(|it| it.child_by_field_name("arguments"));
    asked.any(|it| {
        let all = below(it);
        let mut names = all.iter().map(|it| &source[it.byte_range()]);
        !names.any(|it| changed.contains(it))
    })
}

/// Returns numbers, and variables that are given one where they are declared.
fn fixed_lengths<'s>(nodes: &[Node<'_>], source: &'s str) -> BTreeSet<&'s str> {
    let text = |node: Node<'_>| &source[node.byte_range()];
    let is_number = |node: &Node<'_>| node.kind() == "number_literal";
    let named = nodes.iter().filter(|it| it.kind() == "init_declarator");
    let named = named.filter(|it| {
        it.child_by_field_name("value")
            .as_ref()
            .is_some_and(is_number)
    });
    let names = named.filter_map(|it| it.child_by_field_name("declarator"));
    let numbers = nodes.iter().copied().filter(is_number);
    names.chain(numbers).map(text).collect()
}

/// A call of an intrinsic.
struct Call<'s, 't> {
    words: Vec<&'s str>,
    arguments: Vec<Node<'t>>,
    is_reduction: bool,
    /// Whether it is about a single element.
    is_single: bool,
    /// Whether it gives a vector of which a single element counts.
    gives_single: bool,
}

impl<'s, 't> Call<'s, 't> {
    fn read(node: Node<'t>, source: &'s str) -> Option<Self> {
        let callee = node.child_by_field_name("function")?;
        let callee = &source[callee.byte_range()];
        let words: Vec<&str> = callee.strip_prefix("__riscv_")?.split('_').collect();
        let arguments = children(node.child_by_field_name("arguments")?);
        let last = arguments.last().map(|it| &source[it.byte_range()]);
        let is_reduction = words[0].contains("red");
        let is_of_one = has_length(callee) && last == Some("1");
        Some(Self {
            is_reduction,
            is_single: words.contains(&"s") || is_of_one,
            gives_single: is_reduction
                || words.get(1) == Some(&"s")
                || is_of_one && !words.contains(&"s"),
            words,
            arguments,
        })
    }

    /// Whether it gives one value to all elements.
    fn is_splat(&self) -> bool {
        let [operation, to, of] = [0, 1, 2].map(|at| self.words.get(at).copied());
        matches!(operation, Some("vmv" | "vfmv"))
            && to == Some("v")
            && matches!(of, Some("x" | "f"))
    }

    /// Returns the first value of a reduction.
    fn first_value(&self) -> Option<Node<'t>> {
        self.arguments
            .len()
            .checked_sub(2)
            .map(|at| self.arguments[at])
    }

    /// Returns the name with groups of another size; nothing if there are none.
    fn resized(&self, by: i32) -> Option<String> {
        // Parts of groups have other sizes than the rest.
        let is_part = ["vget", "vset", "vcreate"].contains(&self.words[0])
            && !self
                .words
                .iter()
                .any(|it| it.contains('x') && it.contains('m'));
        // A mask is a register whatever the groups are.
        let is_mask_of_bytes =
            self.words[0] == "vreinterpret" && self.words.iter().any(|it| ratio(it).is_some());
        if is_part || is_mask_of_bytes || self.words[0].starts_with("vlmul") {
            return None;
        }
        let mut made = String::from("__riscv");
        let mut n_groups = 0;
        for word in &self.words {
            made.push('_');
            let group = Group::read(word);
            n_groups += usize::from(group.is_some());
            made += &match (group, ratio(word)) {
                (Some(_), _) if self.is_reduction && 1 < n_groups => (*word).to_owned(),
                (Some(group), _) => group.resized(by)?,
                (None, Some(ratio)) => format!("b{}", resized_ratio(ratio, by)?),
                (None, None) => (*word).to_owned(),
            };
        }
        Some(made)
    }
}

/// A word such as `f32m4`, `e8mf2` or `u16m1x3`.
pub(crate) struct Group<'s> {
    /// What stands in front of the group.
    element: &'s str,
    pub bits: u32,
    /// The logarithm of how many registers it has.
    pub registers: i32,
    pub fields: u32,
}

impl<'s> Group<'s> {
    pub(crate) fn read(word: &'s str) -> Option<Self> {
        let (element, group) = word.split_at(word.find('m')?);
        let bits = element.strip_prefix(['f', 'i', 'u', 'e'])?.parse().ok()?;
        let is_width = |it: &u32| [8, 16, 32, 64].contains(it);
        let (size, fields) = group[1..].split_once('x').unwrap_or((&group[1..], "1"));
        let registers = match size {
            "f8" => -3,
            "f4" => -2,
            "f2" => -1,
            "1" => 0,
            "2" => 1,
            "4" => 2,
            "8" => 3,
            _ => return None,
        };
        Some(Self {
            element,
            bits: Some(bits).filter(is_width)?,
            registers,
            fields: fields.parse().ok().filter(|it| (1..=8).contains(it))?,
        })
    }

    /// Returns it with another size; nothing if there is none.
    fn resized(&self, by: i32) -> Option<String> {
        let registers = self.registers + by;
        // An element of 64 bits fits into a register, and eight registers are most.
        let least = i32::try_from(self.bits.ilog2()).ok()? - 6;
        let whole = 1_u32 << registers.max(0);
        if registers < least || 8 < whole * self.fields {
            return None;
        }
        let size = match registers {
            0.. => whole.to_string(),
            _ => format!("f{}", 1 << -registers),
        };
        let fields = match self.fields {
            1 => String::new(),
            fields => format!("x{fields}"),
        };
        Some(format!("{}m{size}{fields}", self.element))
    }
}

/// Returns the ratio of bits to registers that a word for a mask names.
fn ratio(word: &str) -> Option<u32> {
    let ratio = word.strip_prefix('b')?.parse().ok()?;
    (1..=64).contains(&ratio).then_some(ratio)
}

fn resized_ratio(ratio: u32, by: i32) -> Option<u32> {
    let made = match by {
        0.. => ratio >> by,
        _ => ratio << -by,
    };
    (1..=64).contains(&made).then_some(made)
}

/// Returns a type of vectors with another size, or nothing where there is none of that size;
/// nothing at all for other types.
fn resized_type(text: &str, by: i32) -> Option<Option<String>> {
    let inner = text.strip_prefix('v')?.strip_suffix("_t")?;
    if let Some(ratio) = inner.strip_prefix("bool") {
        let ratio = ratio.parse().ok()?;
        return Some(resized_ratio(ratio, by).map(|it| format!("vbool{it}_t")));
    }
    let digits = inner.find(|it: char| it.is_ascii_digit())?;
    let (kind, rest) = inner.split_at(digits);
    let word = format!("e{rest}");
    let group = Group::read(&word).filter(|_| ["float", "int", "uint"].contains(&kind))?;
    let made = group.resized(by);
    Some(made.map(|it| format!("v{kind}{}_t", &it[1..])))
}

/// Returns the variables that hold single elements; nothing where one of them is used as a group,
/// too.
fn singles<'s>(nodes: &[Node<'_>], source: &'s str) -> Option<BTreeSet<&'s str>> {
    let text = |node: Node<'_>| &source[node.byte_range()];
    let mut found = BTreeSet::new();
    for node in nodes {
        let fields = match node.kind() {
            "init_declarator" => ["declarator", "value"],
            "assignment_expression" => ["left", "right"],
            "call_expression" => {
                let Some(call) = Call::read(*node, source).filter(|it| it.is_reduction) else {
                    continue;
                };
                let first = call.first_value()?;
                if first.kind() == "identifier" {
                    found.insert(text(first));
                } else if !Call::read(first, source)
                    .is_some_and(|it| it.is_single || it.is_reduction)
                {
                    return None;
                }
                continue;
            }
            _ => continue,
        };
        let [name, value] = fields.map(|it| node.child_by_field_name(it));
        let call = value.and_then(|it| Call::read(it, source));
        if call.is_some_and(|it| it.gives_single) {
            found.extend(name.map(text));
        }
    }
    let is_used_well = |node: &&Node<'_>| {
        let Some(around) = node.parent() else {
            return false;
        };
        if ["declaration", "init_declarator", "assignment_expression"].contains(&around.kind()) {
            return true;
        }
        let call = around.parent().and_then(|it| Call::read(it, source));
        call.is_some_and(|it| it.is_single || it.is_reduction && it.first_value() == Some(**node))
    };
    let mut uses = nodes
        .iter()
        .filter(|it| it.kind() == "identifier" && found.contains(text(**it)));
    uses.all(|it| is_used_well(&it)).then_some(found)
}

/// Returns whether a value is given to such a variable.
fn gives(node: Node<'_>, singles: &BTreeSet<&str>, source: &str) -> bool {
    let name = node.parent().and_then(|around| match around.kind() {
        "init_declarator" => around.child_by_field_name("declarator"),
        "assignment_expression" => around.child_by_field_name("left"),
        _ => None,
    });
    name.is_some_and(|it| singles.contains(&source[it.byte_range()]))
}

/// Returns whether a type stands in a declaration of such variables.
fn declares(node: Node<'_>, singles: &BTreeSet<&str>, source: &str) -> bool {
    let Some(declaration) = node.parent() else {
        return false;
    };
    let mut cursor = declaration.walk();
    let mut names = declaration
        .children_by_field_name("declarator", &mut cursor)
        .map(|it| it.child_by_field_name("declarator").unwrap_or(it));
    names.any(|it| singles.contains(&source[it.byte_range()]))
}
