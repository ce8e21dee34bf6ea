//! Reads a kernel in plain C: loops around declarations and assignments, in the
//! spellings that people use for them.
//!
//! What only names or arranges things is resolved here: macros, constants,
//! pointers into arrays, functions of the kernel's own, counters of any kind,
//! `if` around assignments. What is left are counted loops from zero, around
//! declarations and assignments to variables and elements of arrays.

mod aliases;
mod bits;
mod branches;
mod constants;
mod counters;
mod declarations;
mod expressions;
mod functions;
mod limits;
mod loops;
pub(crate) mod macros;
mod order;
mod places;
mod pointers;
pub(crate) mod punning;
mod searches;
mod structures;
mod walks;

use super::code::{Action, Element, Expression, Named, Parameter, Program, Statement};
use super::vectors::bytes_of;
use super::{normal, pieces, shape};
use crate::refusal::Refusal;
use crate::remedy::remedy;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::casts::without_false_casts;
use autocomp_c_loops::syntax::{block_statements, children, syntax_tree, too_deep};
use places::Place;
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::Node;

/// The longest source that is read, in bytes.
const SOURCE_LIMIT: usize = 1 << 16;
/// How many expressions are read: functions and loops can be read again and again.
const EXPRESSION_LIMIT: u32 = 100_000;
/// Greatest bound of a loop, and size of a dimension.
const EXTENT_LIMIT: i64 = 1 << 24;

/// Reads `source`.
///
/// # Errors
/// What is not as it has to be, in a sentence for people.
pub(super) fn read(source: &str) -> Result<Program, Refusal> {
    if SOURCE_LIMIT < source.len() {
        return Err("the kernel is too long".into());
    }
    let text = punning::without_punning(&macros::expanded(source)?);
    let text = structures::without_structures(&text);
    let text = searches::without_searches(&without_false_casts(&text));
    let tree = syntax_tree(&text).ok_or("the kernel does not parse")?;
    let root = tree.root_node();
    if root.has_error() || too_deep(root) {
        return Err("the kernel does not parse as C".into());
    }
    let mut reader = Reader::new(&text, root);
    let entry = reader.file(root)?;
    let body = entry
        .child_by_field_name("body")
        .ok_or("the function has no body")?;
    let parameters = reader.parameters(entry)?;
    let statements = reader.block(body)?;
    let head = text[entry.start_byte()..body.start_byte()].trim();
    let statements = match reader.doubt.take() {
        None => statements,
        Some(doubt) => {
            let cut = pieces::cut(&statements, true);
            if !expressions::is_safe(&cut, &reader.all, &mut BTreeMap::new()) {
                return Err(doubt);
            }
            cut
        }
    };
    let mut program = Program {
        head: head.split('(').next().unwrap_or("").trim().to_owned(),
        parameters,
        statics: reader.statics,
        names: reader.all,
        body: statements,
    };
    shape::give_dimensions(&mut program);
    normal::normalize(&mut program);
    let cut = pieces::cut(&program.body, false);
    program.body = normal::rolled(&cut);
    if program.body != cut {
        // Sums of single rows are such as they are written for one.
        normal::normalize(&mut program);
    }
    Ok(program)
}

/// What a name stands for that is no variable of its own.
#[derive(Clone, Debug, PartialEq)]
enum Binding {
    /// A whole number, known in terms of loop variables.
    Index(Affine),
    /// A value that is put wherever the name is read.
    Value(Expression),
    /// A variable that goes by another name.
    Renamed(String),
    /// A place in an array.
    Pointer(Place),
    /// A counter outside of its loop, and what it is if that is known.
    Counter(Option<i64>),
}

/// A loop around, with the least and the greatest value of its variable.
#[derive(Clone, Debug)]
struct Around {
    variable: String,
    least: i64,
    greatest: i64,
    /// Whether differences of it do not get negative.
    is_unsigned: bool,
}

struct Reader<'s> {
    source: &'s str,
    /// Variables and arrays in sight.
    names: BTreeMap<String, Named>,
    /// Variables and arrays of all blocks, those out of sight among them.
    all: BTreeMap<String, Named>,
    /// Names in sight that stand for something else.
    bindings: BTreeMap<String, Binding>,
    /// Names of the file that stand for something else.
    globals: BTreeMap<String, Binding>,
    loops: Vec<Around>,
    functions: BTreeMap<String, Node<'s>>,
    /// Functions that are being read.
    calls: Vec<String>,
    types: BTreeMap<String, String>,
    /// Variables and arrays that something may change.
    changed: BTreeSet<String>,
    /// Variables that count loops and are declared outside of them.
    counters: BTreeSet<String>,
    /// Declarations of the file's arrays.
    statics: String,
    /// How many blocks around become a part of the one around them.
    flat: u32,
    /// How many expressions may still be read.
    budget: u32,
    /// What the kernel gets.
    parameter_names: BTreeSet<String>,
    /// What has to be done before the statement that is being read.
    pending: Vec<Statement>,
    /// Where pointers stand behind the loop that was read last, if it moves them.
    behind: walks::Stands,
    /// Counters beside that of the loop that is read next: first values and steps.
    beside: Vec<(&'s str, i64, i64)>,
    /// Why a kernel is not understood unless a condition goes when loops are cut there.
    doubt: Option<Refusal>,
}

impl<'s> Reader<'s> {
    fn new(source: &'s str, root: Node<'s>) -> Self {
        Self {
            source,
            names: BTreeMap::new(),
            all: BTreeMap::new(),
            bindings: BTreeMap::new(),
            globals: BTreeMap::new(),
            loops: Vec::new(),
            functions: BTreeMap::new(),
            calls: Vec::new(),
            types: BTreeMap::new(),
            changed: constants::changed_names(root, source),
            counters: loops::outside_counters(root, source),
            statics: String::new(),
            flat: 0,
            budget: EXPRESSION_LIMIT,
            parameter_names: BTreeSet::new(),
            pending: Vec::new(),
            doubt: None,
            behind: Vec::new(),
            beside: Vec::new(),
        }
    }

    fn text(&self, node: Node<'_>) -> &'s str {
        &self.source[node.byte_range()]
    }

    fn field<'tree>(&self, node: Node<'tree>, name: &str) -> Result<Node<'tree>, Refusal> {
        match node.child_by_field_name(name) {
            Some(field) => Ok(field),
            None => self.not_understood(node),
        }
    }

    fn not_understood<T>(&self, node: Node<'_>) -> Result<T, Refusal> {
        self.refused_with(node, "is not understood", remedy(node, self.text(node)))
    }

    /// Refuses a node, and says what to write instead.
    fn refused_with<T>(&self, node: Node<'_>, why: &str, remedy: &str) -> Result<T, Refusal> {
        let refused = self.refused(node, why);
        refused.map_err(|refusal| refusal.with_remedy(remedy))
    }

    fn refused<T>(&self, node: Node<'_>, why: &str) -> Result<T, Refusal> {
        Err(Refusal::of(self.source, node, why))
    }

    /// Reads what stands outside of functions and returns the kernel's function.
    fn file(&mut self, root: Node<'s>) -> Result<Node<'s>, Refusal> {
        let mut own = Vec::new();
        let mut all = Vec::new();
        for node in children(root) {
            match node.kind() {
                "function_definition" => {
                    let name = self.function_name(node)?;
                    self.functions.insert(name, node);
                    let of_this_file = ["static", "inline"];
                    let is_own = children(node).iter().any(|it| {
                        it.kind() == "storage_class_specifier"
                            && of_this_file.contains(&self.text(*it))
                    });
                    all.push(node);
                    own.extend((!is_own).then_some(node));
                }
                _ => self.of_file(node)?,
            }
        }
        self.globals = self.bindings.clone();
        match (own.as_slice(), all.as_slice()) {
            ([entry], _) | ([], [entry]) => Ok(*entry),
            _ => Err("there is not exactly one function that is not `static`".into()),
        }
    }

    /// Returns a name that is used nowhere else, as near to `name` as can be.
    fn fresh(&self, name: &str) -> String {
        let taken = |name: &str| {
            is_reserved(name)
                || self.all.contains_key(name)
                || self.bindings.contains_key(name)
                || self.loops.iter().any(|it| it.variable == name)
        };
        // What is numbered behind a reserved name is reserved, too.
        let name = match is_reserved(name) {
            true => format!("own_{name}"),
            false => name.to_owned(),
        };
        let others = (2..).map(|number| format!("{}_n{number}", name.trim_end_matches('_')));
        let mut all = std::iter::once(name.clone()).chain(others);
        all.find(|it| !taken(it)).unwrap_or(name.clone())
    }

    /// Makes a name known and returns what it is called from now on.
    fn declare(&mut self, name: &str, named: Named) -> String {
        // One name means one thing wherever it is declared.
        let known = self.all.get(name);
        let free = !self.names.contains_key(name)
            && (self.flat == 0 || known.is_none())
            && !self.loops.iter().any(|it| it.variable == name)
            && !is_reserved(name)
            && known.is_none_or(|known| *known == named);
        let own = match free {
            true => name.to_owned(),
            false => self.fresh(name),
        };
        self.all.insert(own.clone(), named.clone());
        self.names.insert(own.clone(), named);
        match free {
            true => {
                self.bindings.remove(name);
            }
            false => {
                if self.changed.contains(name) {
                    self.changed.insert(own.clone());
                }
                let renamed = Binding::Renamed(own.clone());
                self.bindings.insert(name.to_owned(), renamed);
            }
        }
        own
    }

    fn parameters(&mut self, function: Node<'s>) -> Result<Vec<Parameter>, Refusal> {
        let declarator = self.field(function, "declarator")?;
        let list = declarator
            .child_by_field_name("parameters")
            .ok_or("the function has no parameters")?;
        let taken_for = self.taken_for(function);
        let mut found = Vec::new();
        for parameter in children(list) {
            let kind = self.kind(parameter)?;
            let declared = self.declarator(self.field(parameter, "declarator")?)?;
            let Some(extents) = declared.extents else {
                return self.not_understood(parameter);
            };
            if is_reserved(declared.name) {
                let why = format!("uses the name `{}`, which is wanted", declared.name);
                return self.refused(parameter, &why);
            }
            let text = self.text(parameter);
            let has = |word: &str| {
                text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .any(|it| it == word)
            };
            found.push(Parameter {
                name: declared.name.to_owned(),
                declared: Named {
                    kind: kind.clone(),
                    extents: extents.clone(),
                },
                is_const: has("const"),
                is_restrict: has("restrict") || has("__restrict") || has("__restrict__"),
            });
            self.parameter_names.insert(declared.name.to_owned());
            let kind = match taken_for.get(declared.name) {
                Some(other) if bytes_of(other) == bytes_of(&kind) => other.clone(),
                _ => kind,
            };
            self.declare(declared.name, Named { kind, extents });
        }
        match found.is_empty() {
            true => Err("the function has no parameters".into()),
            false => Ok(found),
        }
    }

    /// Reads a block; what it declares is forgotten behind it.
    fn block(&mut self, block: Node<'s>) -> Result<Vec<Statement>, Refusal> {
        let nodes = block_statements(block);
        let outside = (self.names.clone(), self.bindings.clone());
        let mut statements = Vec::new();
        self.sequence(&nodes, &mut statements)?;
        let inside = std::mem::replace(&mut self.bindings, outside.1);
        self.names = outside.0;
        // It may have been left out, or have declared another of this name.
        for (name, binding) in &mut self.bindings {
            if matches!(binding, Binding::Counter(_)) && inside.get(name) != Some(binding) {
                *binding = Binding::Counter(None);
            }
        }
        let is_lost = |name: &String, it: &mut Binding| {
            matches!(it, Binding::Pointer(_)) && inside.get(name) != Some(it)
        };
        self.bindings.retain(|name, it| !is_lost(name, it));
        Ok(statements)
    }

    /// Reads a block whose statements become a part of what is around it.
    fn flat_block(&mut self, block: Node<'s>) -> Result<Vec<Statement>, Refusal> {
        self.flat += 1;
        let read = self.block(block);
        self.flat -= 1;
        read
    }

    fn sequence(&mut self, nodes: &[Node<'s>], to: &mut Vec<Statement>) -> Result<(), Refusal> {
        for (idx, node) in nodes.iter().enumerate() {
            if let Some(condition) = self.skips(*node)? {
                if !self.walking(&nodes[idx + 1..]).is_empty() {
                    return self.refused(*node, "moves a pointer in some iterations only");
                }
                let mut rest = Vec::new();
                self.sequence(&nodes[idx + 1..], &mut rest)?;
                let made = self.guarded(*node, &condition, rest.clone());
                to.extend(self.or_guarded(made, &condition, rest, Vec::new())?);
                return Ok(());
            }
            self.statement(*node, to)?;
        }
        Ok(())
    }

    fn statement(&mut self, node: Node<'s>, to: &mut Vec<Statement>) -> Result<(), Refusal> {
        let mut own = Vec::new();
        match node.kind() {
            "comment" | ";" => {}
            "for_statement" => self.counted(node, &mut own)?,
            "while_statement" | "do_statement" => self.counted_while(node, &mut own)?,
            "declaration" => self.declaration(node, &mut own)?,
            "compound_statement" => own = self.flat_block(node)?,
            "if_statement" => self.branch(node, &mut own)?,
            "return_statement" if node.named_child(0).is_none() && self.calls.is_empty() => {
                // At the end it says nothing.
                if node.next_named_sibling().is_some() || !self.loops.is_empty() {
                    return self.not_understood(node);
                }
            }
            "expression_statement" => {
                if let Some(inner) = node.named_child(0) {
                    self.effect(inner, &mut own)?;
                }
            }
            // Of the head of a loop.
            "update_expression" | "assignment_expression" => self.effect(node, &mut own)?,
            _ => return self.not_understood(node),
        }
        to.append(&mut self.pending);
        to.append(&mut own);
        Ok(())
    }

    /// Reads an expression for what it does.
    fn effect(&mut self, node: Node<'s>, to: &mut Vec<Statement>) -> Result<(), Refusal> {
        match node.kind() {
            "parenthesized_expression" | "comma_expression" => {
                for inner in children(node) {
                    self.effect(inner, to)?;
                    let mut before = std::mem::take(&mut self.pending);
                    let at = to.len().saturating_sub(1);
                    before.extend(to.drain(at..));
                    to.append(&mut before);
                }
                Ok(())
            }
            "update_expression" | "assignment_expression" => {
                if self.moves(node)? {
                    return Ok(());
                }
                if let Some(action) = self.assignment(node, to)? {
                    to.push(Statement::Command(action));
                }
                Ok(())
            }
            "call_expression" => self.call_for_effect(node, to),
            // `(void)x;`
            "cast_expression" if self.text(node).starts_with("(void)") => Ok(()),
            _ => self.not_understood(node),
        }
    }

    fn assignment(
        &mut self,
        node: Node<'s>,
        to: &mut Vec<Statement>,
    ) -> Result<Option<Action>, Refusal> {
        let is_update = node.kind() == "update_expression";
        let left = self.field(node, if is_update { "argument" } else { "left" })?;
        let operator = self.text(self.field(node, "operator")?);
        if let Some(Binding::Counter(_)) = self.bindings.get(self.text(left)) {
            let value = match (is_update, operator) {
                (false, "=") => self.affine(self.field(node, "right")?),
                _ => None,
            };
            let Some(value) = value.and_then(|it| it.as_constant()) else {
                return self.not_understood(node);
            };
            let known = Binding::Counter(Some(value));
            self.bindings.insert(self.text(left).to_owned(), known);
            return Ok(None);
        }
        let target = self.element(left)?;
        if self
            .names
            .get(&target.name)
            .is_none_or(|it| it.extents.len() != target.indices.len())
        {
            return self.not_understood(node);
        }
        if is_update {
            return Ok(Some(Action::Assign {
                target,
                operator: Some(if operator == "++" { '+' } else { '-' }),
                value: Expression::Number("1".into()),
            }));
        }
        let right = self.field(node, "right")?;
        let value = match right.kind() {
            // `a = b = 0`
            "assignment_expression" => {
                let Some(inner) = self.assignment(right, to)? else {
                    return self.not_understood(node);
                };
                let Action::Assign { target: read, .. } = &inner else {
                    return self.not_understood(node);
                };
                let value = Expression::Element(read.clone());
                to.push(Statement::Command(inner));
                value
            }
            _ => self.expression(right)?,
        };
        let operator = match operator {
            "=" => return Ok(Some(normal::updated(target, value))),
            "+=" => '+',
            "-=" => '-',
            "*=" => '*',
            "/=" => '/',
            // The others are written out.
            ">>=" | "<<=" | "&=" | "|=" | "^=" | "%=" => {
                let own = Box::new(Expression::Element(target.clone()));
                let operator = operator.trim_end_matches('=').to_owned();
                let value = Expression::Binary(own, operator, Box::new(value));
                return Ok(Some(normal::updated(target, value)));
            }
            _ => return self.not_understood(node),
        };
        Ok(Some(Action::Assign {
            target,
            operator: Some(operator),
            value,
        }))
    }

    /// Returns an element of the name of a variable.
    fn variable(&self, name: &str) -> Element {
        Element::variable(match self.bindings.get(name) {
            Some(Binding::Renamed(own)) => own,
            _ => name,
        })
    }
}

/// Returns whether a name is one that scheduled kernels use themselves.
fn is_reserved(name: &str) -> bool {
    let numbered = |prefix: &str| {
        let rest = name.strip_prefix(prefix).unwrap_or("");
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '_')
    };
    let ours = [
        "lane", "vector", "narrow", "strip", "each_", "at_", "end_", "from_", "last_",
    ];
    ours.into_iter().any(|prefix| name.starts_with(prefix))
        || ["s", "v", "x", "panels", "rows", "tables", "shifts", "carry"]
            .into_iter()
            .any(numbered)
}
