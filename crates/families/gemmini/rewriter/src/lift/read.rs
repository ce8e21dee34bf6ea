//! Reads C into a program.

use super::Reason;
use super::declare::Declared;
use super::plain::is_operand;
use super::program::{Expression, Function, Program, Statement};
use crate::memory::{Memory, Type};
use crate::syntax::{children, entry, syntax_tree, too_deep};
use autocomp_c_loops::casts::without_false_casts;
use std::collections::BTreeMap;
use tree_sitter::Node;

/// Names that headers define, with their values; sizes of the accelerator come with the reader.
const NAMES: &[(&str, i64)] = &[
    ("true", 1),
    ("false", 0),
    ("NULL", 0),
    ("INT8_MAX", 127),
    ("INT8_MIN", -128),
    ("UINT8_MAX", 255),
    ("INT16_MAX", 32_767),
    ("INT16_MIN", -32_768),
    ("UINT16_MAX", 65_535),
    ("INT32_MAX", 2_147_483_647),
    ("INT32_MIN", -2_147_483_648),
    ("UINT32_MAX", 4_294_967_295),
    ("OUTPUT_STATIONARY", 0),
    ("WEIGHT_STATIONARY", 1),
    ("NO_ACTIVATION", 0),
    ("RELU", 1),
    ("LAYERNORM", 2),
    ("IGELU", 3),
    ("SOFTMAX", 4),
    ("GARBAGE_ADDR", 0xffff_ffff),
    // Functions of bare instructions, as headers name them.
    ("GEMMINI_FUNCT_CONFIG", 0),
    ("GEMMINI_FUNCT_MVIN2", 1),
    ("GEMMINI_FUNCT_MVIN", 2),
    ("GEMMINI_FUNCT_MVOUT", 3),
    ("GEMMINI_FUNCT_COMPUTE_PRELOADED", 4),
    ("GEMMINI_FUNCT_COMPUTE_ACCUMULATED", 5),
    ("GEMMINI_FUNCT_PRELOAD", 6),
    ("GEMMINI_FUNCT_FLUSH", 7),
    ("GEMMINI_FUNCT_MVIN3", 14),
    ("k_CONFIG", 0),
    ("k_MVIN2", 1),
    ("k_MVIN", 2),
    ("k_MVOUT", 3),
    ("k_COMPUTE_PRELOADED", 4),
    ("k_COMPUTE_ACCUMULATE", 5),
    ("k_PRELOAD", 6),
    ("k_FLUSH", 7),
    ("k_MVIN3", 14),
    ("XCUSTOM_ACC", 3),
];

/// Bytes that an array may have.
pub(super) const ARRAY_LIMIT: i64 = 1 << 32;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    Variable(usize, Type),
    /// An array: its address.
    Array(u64, Type),
}

/// Reads one file.
pub(super) struct Reader<'source> {
    pub(super) source: &'source str,
    pub(super) memories: Vec<Memory>,
    pub(super) functions: Vec<Function>,
    /// Functions by name: number and result.
    pub(super) known: BTreeMap<String, (usize, Type)>,
    pub(super) macros: BTreeMap<String, String>,
    pub(super) constants: BTreeMap<&'static str, i64>,
    /// Names in scope, innermost last.
    pub(super) scope: Vec<(String, Meaning)>,
    pub(super) slots: usize,
    pub(super) macro_depth: usize,
    pub(super) is_float: bool,
    /// Types that have names.
    pub(super) types: BTreeMap<String, Type>,
    /// Functions that are not understood, and why.
    pub(super) refused: BTreeMap<String, Reason>,
    /// Text of functions that kernels may call, until one is.
    pub(super) library: &'source str,
    pub(super) is_library: bool,
}

/// Reads a kernel, the function `name`, for an accelerator whose headers define `sizes`
/// and the functions of `library`.
///
/// # Errors
/// The line that is not understood, and why.
pub(super) fn read(
    source: &str,
    sizes: &[(&'static str, i64)],
    is_float: bool,
    library: &str,
    name: &str,
) -> Result<Program, Reason> {
    let nowhere = |text: &str| Reason::at(0, text);
    let source = &without_false_casts(source);
    let tree = syntax_tree(source).ok_or_else(|| nowhere("it does not parse as C"))?;
    let root = tree.root_node();
    if root.has_error() || too_deep(root) {
        return Err(nowhere("it does not parse as C"));
    }
    let main = entry(root, source, name)
        .ok_or_else(|| nowhere(&format!("it has no function `{name}`")))?;
    let constants = NAMES.iter().chain(sizes).copied().collect();
    let mut reader = Reader {
        library,
        ..Reader::of(source, constants, is_float)
    };
    reader.definitions(root, Some(main));
    reader.main(main)
}

impl<'source> Reader<'source> {
    /// Returns a reader of `source` that knows nothing but `constants`.
    pub(super) fn of(
        source: &'source str,
        constants: BTreeMap<&'static str, i64>,
        is_float: bool,
    ) -> Self {
        Self {
            source,
            memories: Vec::new(),
            functions: Vec::new(),
            known: BTreeMap::new(),
            macros: BTreeMap::new(),
            constants,
            scope: Vec::new(),
            slots: 0,
            macro_depth: 0,
            is_float,
            types: BTreeMap::new(),
            refused: BTreeMap::new(),
            library: "",
            is_library: false,
        }
    }

    /// Reads what a file defines, but for the function `main`.
    pub(super) fn definitions(&mut self, root: Node<'source>, main: Option<Node<'source>>) {
        let reader = self;
        for node in children(root) {
            match node.kind() {
                "type_definition" => {
                    let base = node.child_by_field_name("type");
                    let name = node.child_by_field_name("declarator");
                    if let (Some(base), Some(name)) = (base, name)
                        && let Ok(kind) = reader.base_type(base)
                    {
                        let name = reader.text(name).to_owned();
                        reader.types.insert(name, kind);
                    }
                }
                "preproc_def" => {
                    let name = node
                        .child_by_field_name("name")
                        .map(|name| reader.text(name));
                    let value = node
                        .child_by_field_name("value")
                        .map(|value| reader.text(value));
                    if let (Some(name), Some(value)) = (name, value) {
                        reader.macros.insert(name.to_owned(), value.to_owned());
                    }
                }
                "declaration" => {
                    // What is not understood may never be used.
                    let _ = reader.declaration(node, true);
                }
                "enum_specifier" => reader.enumerators(node),
                "function_definition" if Some(node) != main => reader.function(node),
                _ => {}
            }
        }
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'source str {
        &self.source[node.byte_range()]
    }

    pub(super) fn refuse(&self, node: Node<'_>, why: &str) -> Reason {
        let line = self.text(node).lines().next().unwrap_or_default().trim();
        Reason::at(node.start_position().row + 1, &format!("{why}: `{line}`"))
    }

    fn main(mut self, node: Node<'source>) -> Result<Program, Reason> {
        self.slots = 0;
        let globals = 0..self.memories.len();
        let mut parameters = Vec::new();
        for Declared { name, kind, .. } in self.parameters(node)? {
            let (element, mut extents) = match &kind {
                Type::Pointer(inner) => innermost(inner),
                _ => (kind.clone(), Vec::new()),
            };
            let slot = self.variable(&name, kind.clone());
            if kind.pointee().is_some() {
                self.fits(node, &kind)?;
                extents.insert(0, self.outermost_extent(node, &name).unwrap_or(0));
                parameters.push((slot, Memory::base(self.memories.len())));
                let memory = Memory {
                    name,
                    element: element.size(),
                    is_operand: is_operand(&element, self.is_float),
                    kind: element,
                    extents,
                    is_parameter: true,
                    contents: Vec::new(),
                };
                if memory.bytes().is_none() && memory.extents[0] != 0 {
                    return Err(self.refuse(node, "an array that is too large"));
                }
                self.memories.push(memory);
            }
        }
        let block = node
            .child_by_field_name("body")
            .ok_or_else(|| self.refuse(node, "it has no body"))?;
        let mut body = Vec::new();
        for child in children(block) {
            let depth = self.scope.len();
            let statement = self.statement(child).unwrap_or_else(|why| {
                // It matters only if it is reached, or what it declares is used.
                self.scope.truncate(depth);
                vec![Statement::Expression(Expression::Refused(why))]
            });
            body.push((statement, child.byte_range()));
        }
        Ok(Program {
            functions: self.functions,
            memories: self.memories,
            globals,
            body,
            slots: self.slots,
            parameters,
            start: node.start_byte(),
            inside: block.start_byte() + 1..block.end_byte() - 1,
        })
    }

    fn function(&mut self, node: Node<'source>) {
        let outer = (std::mem::take(&mut self.slots), self.scope.len());
        let declared = self.declared(
            node.child_by_field_name("type"),
            node.child_by_field_name("declarator"),
        );
        let mut kinds = Vec::new();
        let result = self.parameters(node).and_then(|parameters| {
            for Declared { name, kind, .. } in parameters {
                kinds.push(kind.clone());
                self.variable(&name, kind);
            }
            let block = node
                .child_by_field_name("body")
                .ok_or_else(|| self.refuse(node, "it has no body"))?;
            self.block(block)
        });
        self.scope.truncate(outer.1);
        let slots = std::mem::replace(&mut self.slots, outer.0);
        let Ok(Declared { name, kind, .. }) = declared else {
            return;
        };
        match result {
            Ok(body) => {
                self.known
                    .insert(name.clone(), (self.functions.len(), kind));
                self.functions.push(Function {
                    name,
                    is_library: self.is_library,
                    parameters: kinds,
                    slots,
                    body,
                });
            }
            Err(why) => {
                self.refused.insert(name, why);
            }
        }
    }

    /// Gives the constants of an enumeration their names.
    pub(super) fn enumerators(&mut self, node: Node<'source>) {
        let list = node.child_by_field_name("body");
        let mut next = 0;
        for item in list.map(children).unwrap_or_default() {
            let Some(name) = item.child_by_field_name("name") else {
                continue;
            };
            if let Some(value) = item.child_by_field_name("value") {
                match self.constant(value) {
                    Some(value) => next = value,
                    None => return,
                }
            }
            self.constant_name(self.text(name), next);
            next += 1;
        }
    }

    /// Checks that what a type refers to is of a sensible size.
    pub(super) fn fits(&self, node: Node<'_>, kind: &Type) -> Result<(), Reason> {
        let size = kind.pointee().unwrap_or(kind).size();
        if (0..=ARRAY_LIMIT).contains(&size) {
            Ok(())
        } else {
            Err(self.refuse(node, "an array that is too large"))
        }
    }

    /// Returns the type of the accelerator's operands.
    pub(super) fn element_type(&self) -> Type {
        if self.is_float {
            Type::Float
        } else {
            Type::Integer(1, true)
        }
    }

    /// Gives a constant a name.
    pub(super) fn constant_name(&mut self, name: &str, value: i64) {
        self.macros.insert(name.to_owned(), value.to_string());
    }

    pub(super) fn variable(&mut self, name: &str, kind: Type) -> usize {
        let slot = self.slots;
        self.slots += 1;
        self.scope
            .push((name.to_owned(), Meaning::Variable(slot, kind)));
        slot
    }
}

/// Returns the type inside all arrays, and their extents.
fn innermost(kind: &Type) -> (Type, Vec<i64>) {
    match kind {
        Type::Array(element, count) => {
            let (inner, mut extents) = innermost(element);
            extents.insert(0, *count);
            (inner, extents)
        }
        _ => (kind.clone(), Vec::new()),
    }
}
