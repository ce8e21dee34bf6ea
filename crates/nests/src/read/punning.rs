//! Numbers of 32 bits taken for others by their bits: unions, `memcpy` of a variable, `*(int *)&x`.
//! They become calls of two functions. Lines keep their numbers.
//!
//! What is not understood stays, and is refused later with its line.

use autocomp_c_loops::syntax::{below, children, syntax_tree, too_deep};
use std::collections::BTreeMap;
use tree_sitter::Node;

/// Functions between numbers and their bits, for texts that need them.
pub const OF_BITS: [(&str, &str); 2] = [
    (
        "float_of_bits",
        "static inline float float_of_bits(int32_t own_bits) { float own_value; memcpy(&own_value, &own_bits, 4); return own_value; } ",
    ),
    (
        "bits_of_float",
        "static inline int32_t bits_of_float(float own_value) { int32_t own_bits; memcpy(&own_bits, &own_value, 4); return own_bits; } ",
    ),
];

/// A type of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Float,
    Int,
    Unsigned,
}

impl Kind {
    fn read(text: &str) -> Option<Self> {
        let words = text.split_whitespace().filter(|it| *it != "const");
        Some(match words.collect::<Vec<_>>().join(" ").as_str() {
            "float" => Self::Float,
            "int" | "int32_t" | "signed" | "signed int" => Self::Int,
            "uint32_t" | "unsigned" | "unsigned int" => Self::Unsigned,
            _ => return None,
        })
    }

    /// Returns a number of this type by its bits.
    fn of_bits(self, bits: &str) -> String {
        match self {
            Self::Float => format!("float_of_bits({bits})"),
            Self::Int => bits.to_owned(),
            Self::Unsigned => format!("((uint32_t)({bits}))"),
        }
    }

    /// Returns the bits of a number of this type.
    fn to_bits(self, value: &str) -> String {
        match self {
            Self::Float => format!("bits_of_float({value})"),
            Self::Int => format!("({value})"),
            Self::Unsigned => format!("((int32_t)({value}))"),
        }
    }
}

/// The members of a union, in their order.
type Members = Vec<(String, Kind)>;

/// Returns `text` with functions in place of unions and pointers that take bits for others.
#[must_use]
pub fn without_punning(text: &str) -> String {
    let mut text = text.to_owned();
    // A value may stand within another one.
    for _ in 0..4 {
        let tree = syntax_tree(&text);
        let Some(tree) = tree.filter(|it| !it.root_node().has_error() && !too_deep(it.root_node()))
        else {
            return text;
        };
        let mut pass = Pass::new(&text, tree.root_node());
        pass.rewrite(tree.root_node());
        if pass.edits.is_empty() {
            return text;
        }
        let mut made = text.clone();
        for (from, to, new) in pass.edits.iter().rev() {
            let new = as_many_lines(new.clone(), &text[*from..*to]);
            made.replace_range(*from..*to, &new);
        }
        for (name, function) in OF_BITS {
            if made.contains(&format!("{name}(")) && !made.contains(function) {
                made.insert_str(0, function);
            }
        }
        text = made;
    }
    text
}

/// Returns a text with as many lines as the one in whose place it stands.
pub(super) fn as_many_lines(mut new: String, old: &str) -> String {
    let [has, had] = [&new, old].map(|it| it.matches('\n').count());
    new.push_str(&"\n".repeat(had.saturating_sub(has)));
    new
}

struct Pass<'s> {
    text: &'s str,
    /// Unions by the names of their types, and variables that are some.
    types: BTreeMap<&'s str, Members>,
    unions: BTreeMap<&'s str, Members>,
    /// Types of the elements of names; nothing where two differ.
    kinds: BTreeMap<&'s str, Option<Kind>>,
    /// Stretches of the text that do not overlap, in order, with what stands there instead.
    edits: Vec<(usize, usize, String)>,
}

impl<'s> Pass<'s> {
    fn new(text: &'s str, root: Node<'_>) -> Self {
        let mut pass = Self {
            text,
            types: BTreeMap::new(),
            unions: BTreeMap::new(),
            kinds: BTreeMap::new(),
            edits: Vec::new(),
        };
        for node in below(root) {
            if let (Some(members), Some(name)) =
                (pass.members(node), node.child_by_field_name("name"))
            {
                pass.types.insert(pass.slice(name), members);
            }
            let declares = ["declaration", "parameter_declaration", "type_definition"];
            if !declares.contains(&node.kind()) {
                continue;
            }
            let Some(kind) = node.child_by_field_name("type") else {
                continue;
            };
            let members = pass.members(kind);
            let read = Kind::read(pass.slice(kind));
            let mut cursor = node.walk();
            for declarator in node.children_by_field_name("declarator", &mut cursor) {
                let mut name = declarator;
                while let Some(inner) = name.child_by_field_name("declarator") {
                    name = inner;
                }
                let name = pass.slice(name);
                match (&members, node.kind()) {
                    (Some(members), "type_definition") => {
                        drop(pass.types.insert(name, members.clone()));
                    }
                    (Some(members), _) => drop(pass.unions.insert(name, members.clone())),
                    _ => {
                        let known = pass.kinds.entry(name).or_insert(read);
                        if *known != read {
                            *known = None;
                        }
                    }
                }
            }
        }
        pass
    }

    fn slice(&self, node: Node<'_>) -> &'s str {
        &self.text[node.byte_range()]
    }

    /// Returns the members of a union of numbers of 32 bits, if a type is one.
    fn members(&self, kind: Node<'_>) -> Option<Members> {
        if kind.kind() != "union_specifier" {
            (kind.kind() == "type_identifier").then_some(())?;
            return self.types.get(self.slice(kind)).cloned();
        }
        let Some(body) = kind.child_by_field_name("body") else {
            let name = self.slice(kind.child_by_field_name("name")?);
            return self.types.get(name).cloned();
        };
        let mut found = Vec::new();
        for field in children(body) {
            let kind = Kind::read(self.slice(field.child_by_field_name("type")?))?;
            let mut cursor = field.walk();
            for name in field.children_by_field_name("declarator", &mut cursor) {
                if name.kind() != "field_identifier" {
                    return None;
                }
                found.push((self.slice(name).to_owned(), kind));
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// Returns what a member of a union variable is of, and its type.
    fn member(&self, node: Node<'_>) -> Option<(&'s str, Kind)> {
        if node.kind() != "field_expression" {
            return None;
        }
        let name = self.slice(node.child_by_field_name("argument")?);
        let field = self.slice(node.child_by_field_name("field")?);
        let members = self.unions.get(name)?;
        let member = members.iter().find(|it| it.0 == field)?;
        Some((name, member.1))
    }

    fn put(&mut self, node: Node<'_>, new: String) {
        self.edits.push((node.start_byte(), node.end_byte(), new));
    }

    /// Gathers the outermost stretches to be written anew.
    fn rewrite(&mut self, node: Node<'_>) {
        let made = match node.kind() {
            "declaration" => self.declaration(node),
            "type_definition" => {
                let kind = node.child_by_field_name("type");
                kind.and_then(|it| self.members(it)).map(|_| String::new())
            }
            "assignment_expression" => self.assignment(node),
            "union_specifier" if node.parent().is_some_and(|it| it.parent().is_none()) => {
                self.members(node).map(|_| String::new())
            }
            "call_expression" => self.copied(node),
            "pointer_expression" | "subscript_expression" => self.taken(node),
            "field_expression" => self.member(node).map(|(name, kind)| kind.of_bits(name)),
            _ => None,
        };
        match made {
            Some(made) => self.put(node, made),
            None => children(node).into_iter().for_each(|it| self.rewrite(it)),
        }
    }

    /// Returns the text of what stands within, written anew.
    fn written(&self, node: Node<'_>) -> String {
        let mut own = Self {
            text: self.text,
            types: BTreeMap::new(),
            unions: self.unions.clone(),
            kinds: self.kinds.clone(),
            edits: Vec::new(),
        };
        own.rewrite(node);
        let mut made = self.slice(node).to_owned();
        for (from, to, new) in own.edits.iter().rev() {
            let begin = node.start_byte();
            made.replace_range(from - begin..to - begin, new);
        }
        made
    }

    /// Returns a variable for the bits in place of a union.
    fn declaration(&self, node: Node<'_>) -> Option<String> {
        let members = self.members(node.child_by_field_name("type")?)?;
        let mut cursor = node.walk();
        let mut made = String::new();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let value = match declarator.kind() {
                "identifier" => None,
                "init_declarator" => Some(declarator.child_by_field_name("value")?),
                _ => return None,
            };
            let name = declarator.child_by_field_name("declarator");
            let name = self.slice(name.unwrap_or(declarator));
            let Some(value) = value else {
                made += &format!("int32_t {name};");
                continue;
            };
            let [value] = children(value)[..] else {
                return None;
            };
            let (kind, value) = match value.kind() {
                "initializer_pair" => {
                    let field = self.slice(value.child_by_field_name("designator")?);
                    let field = field.trim_start_matches('.');
                    let member = members.iter().find(|it| it.0 == field)?;
                    (member.1, value.child_by_field_name("value")?)
                }
                _ => (members.first()?.1, value),
            };
            let bits = kind.to_bits(&self.written(value));
            made += &format!("int32_t {name} = {bits};");
        }
        Some(made)
    }

    fn assignment(&self, node: Node<'_>) -> Option<String> {
        let (name, kind) = self.member(node.child_by_field_name("left")?)?;
        let operator = self.slice(node.child_by_field_name("operator")?);
        let right = self.written(node.child_by_field_name("right")?);
        let value = match operator.strip_suffix('=')? {
            "" => right,
            operator => format!("{} {operator} ({right})", kind.of_bits(name)),
        };
        Some(format!("{name} = {}", kind.to_bits(&value)))
    }

    /// Returns the type of a variable or an element.
    fn kind(&self, node: Node<'_>) -> Option<Kind> {
        match node.kind() {
            "parenthesized_expression" => self.kind(node.named_child(0)?),
            "subscript_expression" => self.kind(node.child_by_field_name("argument")?),
            "identifier" => *self.kinds.get(self.slice(node))?,
            _ => None,
        }
    }

    /// Returns what `&x` points at.
    fn pointed<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        let is_address = node.kind() == "pointer_expression" && self.slice(node).starts_with('&');
        let inner = node.child_by_field_name("argument")?;
        is_address.then_some(inner)
    }

    /// Returns an assignment in place of `memcpy(&bits, &x, 4)`.
    fn copied(&self, node: Node<'_>) -> Option<String> {
        let callee = self.slice(node.child_by_field_name("function")?);
        if callee.trim_start_matches("__builtin_") != "memcpy" {
            return None;
        }
        let arguments = children(node.child_by_field_name("arguments")?);
        let [to, from, bytes] = arguments.as_slice() else {
            return None;
        };
        let (to, from) = (self.pointed(*to)?, self.pointed(*from)?);
        let (into, of) = (self.kind(to)?, self.kind(from)?);
        let whole: String = self.slice(*bytes).split_whitespace().collect();
        let of_both = [
            self.slice(to),
            self.slice(from),
            "float",
            "int32_t",
            "uint32_t",
            "int",
        ];
        let is_whole = whole == "4"
            || of_both
                .iter()
                .any(|it| [format!("sizeof({it})"), format!("sizeof{it}")].contains(&whole));
        let is_statement = node.parent()?.kind() == "expression_statement";
        // A function that does nothing else is read as it is.
        let next = node.parent()?.next_named_sibling();
        let returned = next.filter(|it| it.kind() == "return_statement");
        let returned = returned.and_then(|it| it.named_child(0));
        let is_own = returned.is_some_and(|it| self.slice(it) == self.slice(to))
            && node
                .parent()?
                .parent()
                .is_some_and(|it| children(it).len() == 3);
        let is_read = is_whole && is_statement && into != of && !is_own;
        let value = into.of_bits(&of.to_bits(&self.written(from)));
        is_read.then(|| format!("{} = {value}", self.slice(to)))
    }

    /// Returns the value of `*(int32_t *)&x`, which is read.
    fn taken(&self, node: Node<'_>) -> Option<String> {
        let is_element = node.kind() == "subscript_expression";
        if !is_element && !self.slice(node).starts_with('*') {
            return None;
        }
        let around = node.parent()?;
        let is_written = around.child_by_field_name("left") == Some(node)
            && around.kind() == "assignment_expression"
            || around.kind() == "update_expression";
        let mut cast = node.child_by_field_name("argument")?;
        while cast.kind() == "parenthesized_expression" {
            cast = cast.named_child(0)?;
        }
        // `((uint32_t *)x)[i]` and `*((uint32_t *)x + i)`
        let mut index = node.child_by_field_name("index");
        if !is_element
            && cast.kind() == "binary_expression"
            && self.slice(cast.child_by_field_name("operator")?) == "+"
        {
            index = cast.child_by_field_name("right");
            cast = cast.child_by_field_name("left")?;
        }
        if is_written || cast.kind() != "cast_expression" {
            return None;
        }
        let into = self.slice(cast.child_by_field_name("type")?);
        let into = Kind::read(into.trim_end().strip_suffix('*')?)?;
        let value = cast.child_by_field_name("value")?;
        let (of, from) = match (index, self.pointed(value)) {
            (None, Some(from)) => (self.kind(from)?, self.written(from)),
            (index, None) if value.kind() == "identifier" => {
                let index = index.map_or("0".to_owned(), |it| self.written(it));
                let from = format!("{}[{index}]", self.slice(value));
                (self.kind(value)?, from)
            }
            _ => return None,
        };
        (into != of).then(|| into.of_bits(&of.to_bits(&from)))
    }
}
