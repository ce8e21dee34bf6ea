//! Declarations: variables, arrays, and names for what is there already.

use super::super::code::{Action, Element, Expression, Index, Loop, Named, Statement, UNKNOWN};
use super::super::vectors::is_narrow;
use super::constants::is_index;
use super::{Binding, EXTENT_LIMIT, Reader};
use crate::refusal::Refusal;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::syntax::children;
use tree_sitter::Node;

/// Reads of a value that is put where its name is read, at most.
const MOST_READS: usize = 3;

/// What a declarator says.
pub(super) struct Declared<'s> {
    pub name: &'s str,
    /// Sizes; none for what is a pointer here.
    pub extents: Option<Vec<i64>>,
    pub is_pointer: bool,
}

impl<'s> Reader<'s> {
    /// Reads the type in front of declarators.
    pub(super) fn kind(&self, node: Node<'s>) -> Result<String, Refusal> {
        let kind = self.field(node, "type")?;
        Ok(match kind.kind() {
            "enum_specifier" => "int32_t".into(),
            _ => self.type_name(self.text(kind)),
        })
    }

    /// Reads `x[4][n]`, `*x` or `(*x)[n]`. A pointer is an array whose first size is
    /// not known.
    pub(super) fn declarator(&self, node: Node<'s>) -> Result<Declared<'s>, Refusal> {
        let mut extents = Vec::new();
        let mut inner = node;
        let mut is_pointer = false;
        loop {
            match inner.kind() {
                "array_declarator" if !is_pointer => {
                    let size = inner.child_by_field_name("size");
                    let value = size.map(|it| self.affine(it).and_then(|it| it.as_constant()));
                    extents.push(match value {
                        Some(Some(extent)) if (1..=EXTENT_LIMIT).contains(&extent) => extent,
                        None => UNKNOWN,
                        _ => return self.refused(node, "has a size that is no number"),
                    });
                    inner = self.field(inner, "declarator")?;
                }
                "parenthesized_declarator" => match inner.named_child(0) {
                    Some(next) => inner = next,
                    None => return self.not_understood(node),
                },
                "pointer_declarator" if !is_pointer => {
                    is_pointer = true;
                    extents.push(UNKNOWN);
                    inner = self.field(inner, "declarator")?;
                }
                "identifier" => break,
                _ => return self.not_understood(node),
            }
        }
        extents.reverse();
        // Only the first size may be open.
        if extents.iter().skip(1).any(|it| *it == UNKNOWN) {
            return self.not_understood(node);
        }
        Ok(Declared {
            name: self.text(inner),
            extents: (!extents.is_empty()).then_some(extents),
            is_pointer,
        })
    }

    /// Reads a declaration in a function.
    pub(super) fn declaration(
        &mut self,
        node: Node<'s>,
        to: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        if let Some(kind) = node.child_by_field_name("type")
            && kind.kind() == "enum_specifier"
        {
            self.of_file(kind)?;
        }
        let kind = self.kind(node)?;
        let is_static = children(node)
            .iter()
            .any(|it| it.kind() == "storage_class_specifier" && self.text(*it) == "static");
        let mut cursor = node.walk();
        let declarators: Vec<Node<'s>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        for declarator in declarators {
            let (place, value) = match declarator.kind() {
                "init_declarator" => (
                    self.field(declarator, "declarator")?,
                    Some(self.field(declarator, "value")?),
                ),
                _ => (declarator, None),
            };
            let declared = self.declarator(place)?;
            let name = declared.name;
            if declared.is_pointer {
                let place = value.and_then(|it| self.place(it));
                let rows = declared.extents.as_deref().and_then(|it| it.get(1..));
                // One that takes elements for what they are not is no other name of them.
                let is_same = |place: &super::Place| {
                    self.names.get(&place.name).is_some_and(|it| {
                        let behind = it.extents.get(place.lead.len() + 1..);
                        let own = match place.rows.is_empty() {
                            true => behind,
                            false => Some(&place.rows[..]),
                        };
                        it.kind == kind && own == rows
                    })
                };
                match place {
                    Some(place) if is_same(&place) => {
                        self.bindings
                            .insert(name.to_owned(), Binding::Pointer(place));
                        self.names.remove(name);
                    }
                    _ => {
                        return self.refused(
                            declarator,
                            "is a pointer that is not followed; write an index",
                        );
                    }
                }
                continue;
            }
            match declared.extents {
                Some(mut extents) => {
                    if let (UNKNOWN, Some(value)) = (extents[0], value) {
                        extents[0] = entries(value).len() as i64;
                    }
                    if extents[0] <= 0 {
                        return self.not_understood(declarator);
                    }
                    self.own_array(node, name, (kind.clone(), is_static), extents, value, to)?;
                }
                None => self.scalar(node, name, &kind, is_static, value, to)?,
            }
        }
        Ok(())
    }

    fn own_array(
        &mut self,
        node: Node<'s>,
        name: &str,
        (kind, is_static): (String, bool),
        extents: Vec<i64>,
        value: Option<Node<'s>>,
        to: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        let is_zero = |it: Node<'s>| {
            let text: String = self.text(it).split_whitespace().collect();
            ["{}", "{0}", "{0.0f}", "{0.f}", "{0.0}"].contains(&text.as_str())
        };
        if let Some(value) = value.filter(|it| !is_zero(*it) && is_table(*it))
            && !self.changed.contains(name)
            && (["float", "int32_t"].contains(&kind.as_str()) || is_narrow(&kind))
        {
            let sizes: String = extents.iter().map(|it| format!("[{it}]")).collect();
            let numbers = self.text(value);
            let name = self.declare(
                name,
                Named {
                    kind: kind.clone(),
                    extents,
                },
            );
            self.statics += &format!("static const {kind} {name}{sizes} = {numbers};\n");
            return Ok(());
        }
        let zeros = value.is_some();
        if !value.is_none_or(is_zero) || is_static && zeros {
            return self.not_understood(node);
        }
        let named = Named {
            kind: kind.clone(),
            extents: extents.clone(),
        };
        let name = self.declare(name, named);
        to.push(Statement::Command(Action::Declare {
            kind: match is_static {
                true => format!("static {kind}"),
                false => kind,
            },
            name: name.clone(),
            extents: extents.clone(),
            value: None,
        }));
        if zeros {
            to.push(self.filled(&name, &extents, Expression::Number("0".into())));
        }
        Ok(())
    }

    /// Returns loops that set all elements of an array.
    pub(super) fn filled(&mut self, name: &str, extents: &[i64], value: Expression) -> Statement {
        let variables: Vec<String> = (0..extents.len())
            .map(|idx| self.fresh(&format!("each{idx}_{name}").replace("each", "k")))
            .collect();
        let indices = variables
            .iter()
            .map(|it| Index::Affine(Affine::variable(it)));
        let mut statement = Statement::Command(Action::Assign {
            target: Element {
                name: name.to_owned(),
                indices: indices.collect(),
            },
            operator: None,
            value,
        });
        for (variable, extent) in variables.iter().zip(extents).rev() {
            statement = Statement::Loop(Loop {
                variable: variable.clone(),
                start: 0,
                end: *extent,
                step: 1,
                body: vec![statement],
            });
        }
        statement
    }

    fn scalar(
        &mut self,
        node: Node<'s>,
        name: &str,
        kind: &str,
        is_static: bool,
        value: Option<Node<'s>>,
        to: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        let known = value.and_then(|it| self.affine(it));
        if self.counters.contains(name) && is_index(kind) {
            let start = match (value, &known) {
                (None, _) => Some(None),
                (Some(_), Some(known)) => known.as_constant().map(Some),
                (Some(_), None) => None,
            };
            if let Some(start) = start {
                self.names.remove(name);
                self.bindings
                    .insert(name.to_owned(), Binding::Counter(start));
                return Ok(());
            }
        }
        let steady = !self.changed.contains(name);
        if let (Some(known), true, true) = (known, steady, is_index(kind)) {
            self.names.remove(name);
            self.bindings.insert(name.to_owned(), Binding::Index(known));
            return Ok(());
        }
        let value = match value {
            Some(value) => Some(self.expression(value)?),
            None => None,
        };
        to.append(&mut self.pending);
        if let Some(value) = &value
            && steady
            && self.is_put_in_place(value, kind)
        {
            let value = match value {
                Expression::Number(text) if kind == "float" && !text.ends_with(['f', 'F']) => {
                    Expression::Cast(kind.to_owned(), Box::new(value.clone()))
                }
                other => other.clone(),
            };
            self.names.remove(name);
            self.bindings.insert(name.to_owned(), Binding::Value(value));
            return Ok(());
        }
        if is_static {
            return self.refused(node, "keeps a value from call to call");
        }
        let named = Named {
            kind: kind.to_owned(),
            extents: Vec::new(),
        };
        let name = self.declare(name, named);
        to.push(Statement::Command(Action::Declare {
            kind: kind.to_owned(),
            name,
            extents: Vec::new(),
            value,
        }));
        Ok(())
    }

    /// Returns whether a value can stand wherever its name is read: it is cheap, of
    /// the name's type, and the same everywhere.
    fn is_put_in_place(&self, value: &Expression, kind: &str) -> bool {
        fn is_cheap(expression: &Expression) -> bool {
            match expression {
                Expression::Number(_) | Expression::Element(_) => true,
                Expression::Negative(inner) => is_cheap(inner),
                Expression::Binary(left, operator, right) => {
                    ["+", "-", "*"].contains(&operator.as_str())
                        && is_cheap(left)
                        && is_cheap(right)
                }
                _ => false,
            }
        }
        let fits = |element: &&Element| {
            let read = self.names.get(&element.name).map(|it| it.kind.as_str());
            match kind {
                "float" => read == Some("float"),
                // Others are rounded before they get the name.
                "_Float16" => read == Some(kind) && matches!(value, Expression::Element(_)),
                "int32_t" => ["int8_t", "uint8_t", "int16_t", "int32_t"]
                    .map(Some)
                    .contains(&read),
                _ => false,
            }
        };
        let reads = value.reads();
        let numbers = matches!(value, Expression::Number(_)) || !reads.is_empty();
        is_cheap(value)
            && numbers
            && reads.len() <= MOST_READS
            && reads.iter().all(fits)
            && self.is_stable(value)
    }

    /// Reads a declaration outside of functions: constants, and arrays to work in.
    pub(super) fn file_declaration(&mut self, node: Node<'s>) -> Result<(), Refusal> {
        let mut statements = Vec::new();
        let before = self.names.len();
        self.declaration(node, &mut statements)?;
        for statement in &statements {
            match statement {
                Statement::Command(Action::Declare {
                    kind,
                    name,
                    extents,
                    value: None,
                }) if !extents.is_empty() => {
                    let sizes: String = extents.iter().map(|it| format!("[{it}]")).collect();
                    let kind = kind.trim_start_matches("static ");
                    self.statics +=
                        &format!("static {kind} {name}{sizes} __attribute__((aligned(64)));\n");
                }
                _ => return self.refused(node, "is a variable outside of the function"),
            }
        }
        debug_assert!(before <= self.names.len());
        Ok(())
    }
}

/// Returns what stands in the braces of an array's values.
fn entries(value: Node<'_>) -> Vec<Node<'_>> {
    match value.kind() {
        "initializer_list" => children(value),
        _ => Vec::new(),
    }
}

/// Returns whether values of an array are numbers, in as many braces as there are dimensions.
fn is_table(value: Node<'_>) -> bool {
    match value.kind() {
        "initializer_list" => children(value).into_iter().all(is_table),
        "number_literal" | "char_literal" => true,
        "unary_expression" => value.child_by_field_name("argument").is_some_and(is_table),
        _ => false,
    }
}
