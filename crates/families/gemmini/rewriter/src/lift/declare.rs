//! Reads declarations: variables, arrays, parameters, types.

use super::Reason;
use super::operators::narrowed;
use super::plain::is_operand;
use super::program::{Expression, Statement};
use super::read::{ARRAY_LIMIT, Meaning, Reader};
use crate::memory::{Memory, Type};
use crate::syntax::children;
use tree_sitter::Node;

/// Elements that a constant table may have whose elements are known.
const TABLE_LIMIT: i64 = 1 << 16;

/// A name with its type.
pub(super) struct Declared<'tree> {
    pub(super) name: String,
    pub(super) kind: Type,
    /// Its first value.
    pub(super) value: Option<Node<'tree>>,
}

impl<'source> Reader<'source> {
    /// Reads a declaration of variables or arrays.
    pub(super) fn declaration(
        &mut self,
        node: Node<'source>,
        is_global: bool,
    ) -> Result<Vec<Statement>, Reason> {
        let base = node.child_by_field_name("type");
        let mut cursor = node.walk();
        let declarators: Vec<Node<'source>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        let is_static = is_global || self.text(node).trim_start().starts_with("static");
        let mut statements = Vec::new();
        for declarator in declarators {
            let Declared { name, kind, value } = self.declared(base, Some(declarator))?;
            if let Type::Array(..) = kind {
                self.fits(node, &Type::Pointer(Box::new(kind.clone())))?;
                let address = Memory::base(self.memories.len());
                let mut extents = Vec::new();
                let mut element = &kind;
                while let Type::Array(inner, count) = element {
                    extents.push(*count);
                    element = inner;
                }
                let is_constant = self.text(node).contains("const")
                    && matches!(element, Type::Float | Type::Integer(..))
                    && extents.iter().product::<i64>() <= TABLE_LIMIT;
                let contents = value
                    .filter(|_| is_constant)
                    .and_then(|list| self.contents(list, element, &extents));
                if let Some(list) = value.filter(|_| !is_static) {
                    statements.push(Statement::Clear(address, self.is_zero(list)));
                }
                self.memories.push(Memory {
                    name: name.clone(),
                    element: element.size(),
                    is_operand: is_operand(element, self.is_float),
                    kind: element.clone(),
                    extents,
                    is_parameter: false,
                    contents: contents.unwrap_or_default(),
                });
                self.scope.push((name, Meaning::Array(address, kind)));
                continue;
            }
            let value = match value {
                Some(value) => Some(narrowed(self.expression(value)?.0, &kind)),
                None => None,
            };
            if is_global || is_static {
                // Its value may change between calls, unless nothing can change it.
                let is_constant = self.text(node).contains("const") && kind.pointee().is_none();
                let Some(Expression::Integer(known)) = value.filter(|_| is_constant) else {
                    return Err(self.refuse(node, "a variable that outlives the call"));
                };
                self.constant_name(&name, known);
                continue;
            }
            let slot = self.variable(&name, kind);
            statements.push(Statement::Declare(slot, value));
        }
        Ok(statements)
    }

    /// Returns whether an array begins with zeros only.
    fn is_zero(&mut self, list: Node<'source>) -> bool {
        match list.kind() {
            "initializer_list" => children(list).into_iter().all(|part| self.is_zero(part)),
            "comment" => true,
            _ => match self.expression(list) {
                Ok((Expression::Integer(value), _)) => value == 0,
                Ok((Expression::Float(value), _)) => value == 0.0,
                _ => false,
            },
        }
    }

    /// Reads the elements of a constant array; what is not listed is zero.
    fn contents(&mut self, list: Node<'source>, kind: &Type, extents: &[i64]) -> Option<Vec<i64>> {
        let Some((count, inner)) = extents.split_first() else {
            let value = self.expression(list).ok()?.0;
            let value = match (kind, value) {
                (Type::Float, Expression::Integer(value)) => (value as f32).to_bits().into(),
                (Type::Float, Expression::Float(value)) => (value as f32).to_bits().into(),
                (kind, value) => match narrowed(value, kind) {
                    Expression::Integer(value) => value,
                    _ => return None,
                },
            };
            return Some(vec![value]);
        };
        (list.kind() == "initializer_list").then_some(())?;
        let each = usize::try_from(inner.iter().product::<i64>()).ok()?;
        let mut all = vec![0; each * usize::try_from(*count).ok()?];
        let parts = children(list)
            .into_iter()
            .filter(|part| part.kind() != "comment");
        for (index, part) in parts.enumerate() {
            let into = all.get_mut(index * each..(index + 1) * each)?;
            into.copy_from_slice(&self.contents(part, kind, inner)?);
        }
        Some(all)
    }

    /// Reads the parameters of a function; arrays are pointers.
    pub(super) fn parameters(
        &mut self,
        function: Node<'source>,
    ) -> Result<Vec<Declared<'source>>, Reason> {
        let mut declarator = function.child_by_field_name("declarator");
        while let Some(node) = declarator {
            if node.kind() == "function_declarator" {
                break;
            }
            declarator = node.child_by_field_name("declarator");
        }
        let list = declarator.and_then(|node| node.child_by_field_name("parameters"));
        let mut parameters = Vec::new();
        for node in list.map(children).unwrap_or_default() {
            if node.kind() != "parameter_declaration" {
                continue;
            }
            let Some(inner) = node.child_by_field_name("declarator") else {
                continue;
            };
            let mut declared = self.declared(node.child_by_field_name("type"), Some(inner))?;
            if let Type::Array(element, _) = declared.kind {
                declared.kind = Type::Pointer(element);
            }
            parameters.push(declared);
        }
        Ok(parameters)
    }

    /// Returns the outermost extent of an array parameter, if it has one.
    pub(super) fn outermost_extent(&mut self, function: Node<'source>, name: &str) -> Option<i64> {
        let list = function
            .child_by_field_name("declarator")?
            .child_by_field_name("parameters")?;
        for node in children(list) {
            let Some(inner) = node.child_by_field_name("declarator") else {
                continue;
            };
            let declared = self
                .declared(node.child_by_field_name("type"), Some(inner))
                .ok()?;
            if declared.name == name {
                return match declared.kind {
                    Type::Array(_, count) => Some(count),
                    _ => None,
                };
            }
        }
        None
    }

    /// Reads a name with its type.
    pub(super) fn declared(
        &mut self,
        base: Option<Node<'source>>,
        declarator: Option<Node<'source>>,
    ) -> Result<Declared<'source>, Reason> {
        let (Some(base), Some(declarator)) = (base, declarator) else {
            return Err(Reason::at(0, "a declaration without a type"));
        };
        let kind = self.base_type(base)?;
        let (declarator, value) = match declarator.kind() {
            "init_declarator" => (
                declarator
                    .child_by_field_name("declarator")
                    .ok_or_else(|| self.refuse(declarator, "no name"))?,
                declarator.child_by_field_name("value"),
            ),
            _ => (declarator, None),
        };
        let (name, kind) = self.declarator(declarator, kind)?;
        Ok(Declared { name, kind, value })
    }

    fn declarator(&mut self, node: Node<'source>, kind: Type) -> Result<(String, Type), Reason> {
        let inner = |reader: &Self| {
            node.child_by_field_name("declarator")
                .ok_or_else(|| reader.refuse(node, "no name"))
        };
        match node.kind() {
            "identifier" => Ok((self.text(node).to_owned(), kind)),
            "pointer_declarator" => {
                let inner = inner(self)?;
                self.declarator(inner, Type::Pointer(Box::new(kind)))
            }
            "array_declarator" => {
                let count = match node.child_by_field_name("size") {
                    Some(size) => self
                        .constant(size)
                        .filter(|count| (0..=ARRAY_LIMIT).contains(count))
                        .ok_or_else(|| self.refuse(node, "an array of unknown size"))?,
                    None => 0,
                };
                let inner = inner(self)?;
                self.declarator(inner, Type::Array(Box::new(kind), count))
            }
            "function_declarator" => {
                let inner = inner(self)?;
                self.declarator(inner, kind)
            }
            "parenthesized_declarator" | "attributed_declarator" => {
                let inner = children(node)
                    .into_iter()
                    .find(|child| {
                        child.kind().ends_with("declarator") || child.kind() == "identifier"
                    })
                    .ok_or_else(|| self.refuse(node, "no name"))?;
                self.declarator(inner, kind)
            }
            _ => Err(self.refuse(node, "a declaration of another kind")),
        }
    }

    /// Reads a type in a cast or `sizeof`.
    pub(super) fn type_name(&mut self, node: Node<'source>) -> Result<Type, Reason> {
        let base = node
            .child_by_field_name("type")
            .ok_or_else(|| self.refuse(node, "a type of another kind"))?;
        let mut kind = self.base_type(base)?;
        let mut declarator = node.child_by_field_name("declarator");
        let mut parts = Vec::new();
        while let Some(part) = declarator {
            parts.push(part);
            declarator = part.child_by_field_name("declarator").or_else(|| {
                (part.kind() == "abstract_parenthesized_declarator")
                    .then(|| children(part).into_iter().next())
                    .flatten()
            });
        }
        for part in parts {
            kind = match part.kind() {
                "abstract_pointer_declarator" => Type::Pointer(Box::new(kind)),
                "abstract_array_declarator" => {
                    let count = part.child_by_field_name("size");
                    let count = count.and_then(|size| self.constant(size));
                    let count = count.ok_or_else(|| self.refuse(node, "a type of another kind"))?;
                    Type::Array(Box::new(kind), count)
                }
                "abstract_parenthesized_declarator" => kind,
                _ => return Err(self.refuse(node, "a type of another kind")),
            };
        }
        Ok(kind)
    }

    pub(super) fn base_type(&self, node: Node<'_>) -> Result<Type, Reason> {
        let text = self.text(node);
        let signed = !text.contains("unsigned");
        Ok(match text {
            "void" => Type::Void,
            "float" | "scale_t" | "acc_scale_t" => Type::Float,
            "double" => Type::Double,
            "int8_t" => Type::Integer(1, true),
            "uint8_t" | "bool" | "_Bool" => Type::Integer(1, false),
            "int16_t" => Type::Integer(2, true),
            "uint16_t" => Type::Integer(2, false),
            "int32_t" => Type::Integer(4, true),
            "uint32_t" => Type::Integer(4, false),
            "int64_t" | "ptrdiff_t" | "intptr_t" => Type::Integer(8, true),
            "uint64_t" | "size_t" | "uintptr_t" => Type::Integer(8, false),
            "elem_t" => self.element_type(),
            "acc_t" => match self.element_type() {
                Type::Float => Type::Float,
                _ => Type::Integer(4, true),
            },
            _ if text.starts_with("enum") => Type::Integer(4, true),
            _ if self.types.contains_key(text) => self.types[text].clone(),
            _ if text.contains("char") => Type::Integer(1, signed),
            _ if text.contains("short") => Type::Integer(2, signed),
            _ if text.contains("long") => Type::Integer(8, signed),
            _ if text.contains("int") || text.contains("signed") => Type::Integer(4, signed),
            _ => return Err(self.refuse(node, "a type of another kind")),
        })
    }
}
