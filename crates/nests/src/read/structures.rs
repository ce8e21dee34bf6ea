//! Structures of members of one type: arrays of them become arrays of the members, and variables
//! become one for each member. Lines keep their numbers.
//!
//! What is not understood stays, and is refused later with its line.

use autocomp_c_loops::syntax::{children, syntax_tree, too_deep};
use std::collections::BTreeMap;
use tree_sitter::Node;

/// A structure: the type of its members, and their names.
#[derive(Clone, Debug)]
struct Structure {
    kind: String,
    members: Vec<String>,
}

/// What a name of the file is.
#[derive(Clone, Debug)]
enum Known {
    /// A variable.
    Variable(Structure),
    /// A pointer, or an array of one dimension.
    Many(Structure),
}

/// Returns `text` without structures; as it is if it has none that is understood.
pub(super) fn without_structures(text: &str) -> String {
    let found = syntax_tree(text).filter(|it| {
        text.contains("struct") && !it.root_node().has_error() && !too_deep(it.root_node())
    });
    let Some(tree) = found else {
        return text.to_owned();
    };
    let mut pass = Pass {
        text,
        structures: BTreeMap::new(),
        known: BTreeMap::new(),
        edits: Vec::new(),
    };
    for node in children(tree.root_node()) {
        pass.define(node);
    }
    if pass.structures.is_empty() || pass.names(tree.root_node()).is_none() {
        return text.to_owned();
    }
    match pass.rewrite(tree.root_node()) {
        Some(()) => pass.finished(),
        None => text.to_owned(),
    }
}

struct Pass<'s> {
    text: &'s str,
    structures: BTreeMap<String, Structure>,
    known: BTreeMap<String, Known>,
    /// Stretches of the text, with what stands there instead.
    edits: Vec<(usize, usize, String)>,
}

impl<'s> Pass<'s> {
    fn slice(&self, node: Node<'_>) -> &'s str {
        &self.text[node.byte_range()]
    }

    fn put(&mut self, node: Node<'_>, new: String) {
        // As many lines as before.
        let lines = self.slice(node).matches('\n').count();
        let missing = lines.saturating_sub(new.matches('\n').count());
        self.edits.push((
            node.start_byte(),
            node.end_byte(),
            new + &"\n".repeat(missing),
        ));
    }

    /// Reads the definition of a structure.
    fn define(&mut self, node: Node<'_>) {
        let place = match node.kind() {
            "type_definition" | "declaration" => node.child_by_field_name("type"),
            "struct_specifier" => Some(node),
            _ => None,
        };
        let Some(place) = place.filter(|it| it.kind() == "struct_specifier") else {
            return;
        };
        let Some(body) = place.child_by_field_name("body") else {
            return;
        };
        let mut members = Vec::new();
        let mut kinds: Vec<&str> = Vec::new();
        for field in children(body) {
            if field.kind() != "field_declaration" {
                continue;
            }
            let mut cursor = field.walk();
            let names: Vec<Node<'_>> = field
                .children_by_field_name("declarator", &mut cursor)
                .collect();
            let plain = names.iter().all(|it| it.kind() == "field_identifier");
            let Some(kind) = field.child_by_field_name("type").filter(|_| plain) else {
                return;
            };
            kinds.push(self.slice(kind));
            members.extend(names.iter().map(|it| self.slice(*it).to_owned()));
        }
        let Some(kind) = kinds
            .first()
            .filter(|it| kinds.iter().all(|kind| kind == *it))
        else {
            return;
        };
        let structure = Structure {
            kind: (*kind).to_owned(),
            members,
        };
        if let Some(name) = place.child_by_field_name("name") {
            let name = format!("struct {}", self.slice(name));
            self.structures.insert(name, structure.clone());
        }
        if node.kind() == "type_definition"
            && let Some(name) = node.child_by_field_name("declarator")
        {
            self.structures
                .insert(self.slice(name).to_owned(), structure);
        }
        if node.kind() != "declaration" || node.child_by_field_name("declarator").is_none() {
            // The `;` behind a bare structure is a statement of its own.
            self.put(node, String::new());
        }
    }

    /// Returns the structure that a type names.
    fn structure(&self, kind: Node<'_>) -> Option<Structure> {
        let words: Vec<&str> = self.slice(kind).split_whitespace().collect();
        self.structures.get(&words.join(" ")).cloned()
    }

    /// Gathers variables, pointers and arrays of structures; nothing if one is not understood, or
    /// a name means two things.
    fn names(&mut self, node: Node<'_>) -> Option<()> {
        if ["declaration", "parameter_declaration"].contains(&node.kind())
            && let Some(kind) = node.child_by_field_name("type")
        {
            let structure = self.structure(kind);
            let mut cursor = node.walk();
            let declarators: Vec<Node<'_>> = node
                .children_by_field_name("declarator", &mut cursor)
                .collect();
            for declarator in declarators {
                let place = match declarator.kind() {
                    "init_declarator" => declarator.child_by_field_name("declarator")?,
                    _ => declarator,
                };
                let mut inner = place;
                let mut depth = 0;
                while inner.kind() != "identifier" {
                    depth += 1;
                    let next = inner.child_by_field_name("declarator");
                    let Some(next) = next.or_else(|| inner.named_child(0)) else {
                        break;
                    };
                    inner = next;
                }
                let name = self.slice(inner).to_owned();
                let Some(structure) = structure.clone() else {
                    if self.known.contains_key(&name) {
                        return None;
                    }
                    continue;
                };
                let known = match depth {
                    0 => Known::Variable(structure),
                    1 => Known::Many(structure),
                    _ => return None,
                };
                if let Some(before) = self.known.get(&name) {
                    let same = std::mem::discriminant(before) == std::mem::discriminant(&known);
                    same.then_some(())?;
                }
                self.known.insert(name, known);
            }
        }
        for child in children(node) {
            self.names(child)?;
        }
        Some(())
    }

    /// Gathers the edits of a node; nothing if a structure is used in another way.
    fn rewrite(&mut self, node: Node<'_>) -> Option<()> {
        match node.kind() {
            "field_expression" => {
                let new = self.member(node)?;
                self.put(node, new);
                return Some(());
            }
            "declaration" => {
                if let Some(structure) = node
                    .child_by_field_name("type")
                    .and_then(|it| self.structure(it))
                {
                    return self.declaration(node, &structure);
                }
            }
            "parameter_declaration" | "type_descriptor" | "sizeof_expression" => {
                if let Some(kind) = node.child_by_field_name("type")
                    && let Some(structure) = self.structure(kind)
                {
                    // A pointer to a structure points at its members.
                    let declarator = node.child_by_field_name("declarator")?;
                    declarator.kind().contains("pointer").then_some(())?;
                    self.put(kind, structure.kind);
                    return Some(());
                }
            }
            "assignment_expression" => {
                let left = node.child_by_field_name("left")?;
                if let Some(targets) = self.all_members(left) {
                    let operator = node.child_by_field_name("operator")?;
                    (self.slice(operator) == "=").then_some(())?;
                    let values = self.all_members(node.child_by_field_name("right")?)?;
                    let each = targets.iter().zip(&values);
                    let each: Vec<String> =
                        each.map(|(to, from)| format!("{to} = {from}")).collect();
                    self.put(node, each.join(", "));
                    return Some(());
                }
            }
            "identifier" => {
                // Pointers stand for themselves; variables do not.
                let known = self.known.get(self.slice(node));
                return (!matches!(known, Some(Known::Variable(_)))).then_some(());
            }
            "subscript_expression" => {
                // An element of an array of structures, as a whole.
                self.all_members(node).is_none().then_some(())?;
            }
            "struct_specifier" | "type_definition" => return Some(()),
            _ => {}
        }
        for child in children(node) {
            self.rewrite(child)?;
        }
        Some(())
    }

    fn declaration(&mut self, node: Node<'_>, structure: &Structure) -> Option<()> {
        let kind = node.child_by_field_name("type")?;
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        let is_many = |it: &Node<'_>| it.kind().contains("pointer") || it.kind().contains("array");
        let mut texts = Vec::new();
        for declarator in &declarators {
            let (place, value) = match declarator.kind() {
                "init_declarator" => (
                    declarator.child_by_field_name("declarator")?,
                    declarator.child_by_field_name("value"),
                ),
                _ => (*declarator, None),
            };
            if is_many(&place) {
                // A declaration of pointers only keeps its form.
                place.kind().contains("pointer").then_some(())?;
                if let Some(value) = value {
                    self.rewrite(value)?;
                }
                continue;
            }
            let name = self.slice(place);
            let values = match value {
                Some(value) => self.all_members(value)?.into_iter().map(Some).collect(),
                None => vec![None; structure.members.len()],
            };
            for (member, value) in structure.members.iter().zip(values) {
                let value = value.map(|it| format!(" = {it}")).unwrap_or_default();
                texts.push(format!("{} {name}_{member}{value};", structure.kind));
            }
        }
        if texts.is_empty() {
            self.put(kind, structure.kind.clone());
            return Some(());
        }
        if texts.len() != structure.members.len() * declarators.len() {
            return None;
        }
        self.put(node, texts.join(" "));
        Some(())
    }

    /// Returns `p[i * 2 + 1]` for `p[i].im`, and `u_im` for `u.im`.
    fn member(&mut self, node: Node<'_>) -> Option<String> {
        let argument = node.child_by_field_name("argument")?;
        let member = self.slice(node.child_by_field_name("field")?).to_owned();
        let structure = self.structure_of(argument, self.slice(node).contains("->"))?;
        let at = structure.members.iter().position(|it| *it == member)?;
        self.all_of(argument)?.get(at).cloned()
    }

    fn structure_of(&self, node: Node<'_>, through_pointer: bool) -> Option<Structure> {
        match (node.kind(), through_pointer) {
            ("parenthesized_expression", _) => {
                self.structure_of(node.named_child(0)?, through_pointer)
            }
            ("identifier", through) => match (self.known.get(self.slice(node))?, through) {
                (Known::Variable(it), false) | (Known::Many(it), true) => Some(it.clone()),
                _ => None,
            },
            ("subscript_expression", false) => {
                let array = node.child_by_field_name("argument")?;
                match self.known.get(self.slice(array))? {
                    Known::Many(it) => Some(it.clone()),
                    Known::Variable(_) => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the members of a structure as a value, if a node is one.
    fn all_members(&self, node: Node<'_>) -> Option<Vec<String>> {
        match node.kind() {
            "initializer_list" => {
                let items = children(node).into_iter();
                items.map(|it| self.rewritten(it)).collect()
            }
            "compound_literal_expression" => {
                let kind = node
                    .child_by_field_name("type")?
                    .child_by_field_name("type")?;
                let structure = self.structure(kind)?;
                let all = self.all_members(node.child_by_field_name("value")?)?;
                (all.len() == structure.members.len()).then_some(all)
            }
            _ => {
                self.structure_of(node, false)?;
                self.all_of(node)
            }
        }
    }

    fn all_of(&self, node: Node<'_>) -> Option<Vec<String>> {
        match node.kind() {
            "parenthesized_expression" => self.all_of(node.named_child(0)?),
            "identifier" => {
                let name = self.slice(node);
                Some(match self.known.get(name)? {
                    Known::Variable(it) => {
                        it.members.iter().map(|it| format!("{name}_{it}")).collect()
                    }
                    Known::Many(it) => {
                        let each = 0..it.members.len();
                        each.map(|at| format!("{name}[{at}]")).collect()
                    }
                })
            }
            "subscript_expression" => {
                let array = self.slice(node.child_by_field_name("argument")?);
                let Known::Many(structure) = self.known.get(array)? else {
                    return None;
                };
                let index = self.rewritten(node.child_by_field_name("index")?)?;
                let count = structure.members.len();
                let each = 0..count;
                Some(
                    each.map(|at| format!("{array}[({index}) * {count} + {at}]"))
                        .collect(),
                )
            }
            _ => None,
        }
    }

    /// Returns the text of an expression without structures.
    fn rewritten(&self, node: Node<'_>) -> Option<String> {
        let mut own = Pass {
            text: self.text,
            structures: self.structures.clone(),
            known: self.known.clone(),
            edits: Vec::new(),
        };
        own.rewrite(node)?;
        own.edits.sort();
        let mut text = self.slice(node).to_owned();
        for (start, end, new) in own.edits.iter().rev() {
            let from = node.start_byte();
            text.replace_range(start - from..end - from, new);
        }
        Some(text)
    }

    fn finished(mut self) -> String {
        self.edits.sort();
        let mut text = self.text.to_owned();
        for (start, end, new) in self.edits.iter().rev() {
            text.replace_range(*start..*end, new);
        }
        text
    }
}
