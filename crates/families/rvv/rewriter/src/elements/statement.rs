//! Declarations and assignments of lengths, of vectors and of tuples of them.

use super::name::Kind;
use super::{Reader, function};
use autocomp_c_loops::syntax::children;
use autocomp_nests::Refusal;
use tree_sitter::Node;

impl<'s> Reader<'s> {
    /// Returns a parameter, of an element where it was a vector.
    pub(super) fn parameter(&self, node: Node<'s>) -> String {
        let text = self.text(node);
        let kind = node
            .child_by_field_name("type")
            .map_or("", |it| self.text(it));
        match Kind::of_type(kind) {
            Some(of_vectors) => text.replacen(kind, &of_vectors.to_c(), 1),
            None => text.to_owned(),
        }
    }

    pub(super) fn declaration(&mut self, node: Node<'s>) -> Result<String, Refusal> {
        let kind = self.field(node, "type")?;
        let of_vectors = Kind::of_type(self.text(kind));
        let mut cursor = node.walk();
        let all: Vec<Node<'s>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        if of_vectors.is_none() && !all.iter().any(|it| self.is_length(*it)) {
            return self.copied(node);
        }
        let mut made = Vec::new();
        for declarator in all {
            let name = declarator
                .child_by_field_name("declarator")
                .unwrap_or(declarator);
            let value = declarator.child_by_field_name("value");
            if self.is_length(declarator) {
                // What a load writes into it is asked for where it loads.
                if !self.function.got.contains(self.text(name)) {
                    self.length(value)?;
                }
                continue;
            }
            let Some(of_vectors) = of_vectors else {
                let kind = self.visit(kind)?;
                made.push(format!("{kind} {};", self.copied(declarator)?));
                continue;
            };
            if name.kind() != "identifier" {
                return self.refused(
                    declarator,
                    "is more than a vector: declare each vector by itself",
                );
            }
            if 1 < of_vectors.fields {
                let values = match value {
                    Some(value) => self.fields_of(value, of_vectors.fields)?,
                    None => Vec::new(),
                };
                for idx in 0..of_vectors.fields {
                    let value = values.get(idx).map(|it| format!(" = {it}"));
                    let (kind, name) = (of_vectors.to_c(), self.text(name));
                    made.push(format!("{kind} {name}_{idx}{};", value.unwrap_or_default()));
                }
                continue;
            }
            let name = self.text(name);
            let kind = match self.function.exact.contains(name) {
                true => "int32_t".into(),
                false => of_vectors.to_c(),
            };
            let value = match value {
                Some(value) => format!(" = {}", self.kept(name, value)?),
                None => String::new(),
            };
            made.push(format!("{kind} {name}{value};"));
        }
        Ok(made.join(" "))
    }

    /// Gives the fields of a tuple names before any of them is written, where one that is
    /// written may be read by another.
    pub(super) fn at_once(
        &mut self,
        values: Vec<String>,
        kind: Kind,
        written: &str,
    ) -> Vec<String> {
        if !values.iter().any(|it| it.contains(written)) {
            return values;
        }
        let named = |value: String| {
            let name = self.fresh("field");
            let made = format!("{} {name} = {value};", kind.to_c());
            self.before.push(made);
            name
        };
        values.into_iter().map(named).collect()
    }

    /// Reads the value of a variable, which cuts it to its bits.
    pub(super) fn kept(&mut self, name: &str, node: Node<'s>) -> Result<String, Refusal> {
        if self.function.indices.contains_key(name)
            && let Some((place, _)) = function::scaled(node, self.source)
        {
            return self.visit(place);
        }
        self.is_kept = true;
        let made = self.visit(node);
        self.is_kept = false;
        made
    }

    /// Returns whether a declarator or a variable is a length, and nothing else.
    pub(super) fn is_length(&self, node: Node<'s>) -> bool {
        let name = node.child_by_field_name("declarator").unwrap_or(node);
        let text = self.text(name);
        self.function.lengths.contains(text) || self.function.most.contains(text)
    }

    /// Looks at what a length is said to be.
    pub(super) fn length(&mut self, value: Option<Node<'s>>) -> Result<(), Refusal> {
        // A number is one that the first length takes the place of.
        let Some(value) = value.filter(|it| it.kind() != "number_literal") else {
            return Ok(());
        };
        if self.function.is_length(value, self.source) == Some(function::Length::Most) {
            return Ok(());
        }
        let asked = match value.child_by_field_name("arguments") {
            Some(arguments) => children(arguments).first().copied(),
            None => None,
        };
        let asked = asked.map_or("", |it| self.text(it));
        let fits = asked == "1" || self.strips.iter().any(|it| it.is_left(asked));
        match fits {
            true => Ok(()),
            false => self.refused(
                value,
                "asks for another number of elements than what is left in a loop: write `vl = vsetvl(n - i)` in a loop that goes on by `vl` while `i < n`",
            ),
        }
    }

    /// Reads an expression for what it does.
    pub(super) fn effect(&mut self, node: Node<'s>) -> Result<String, Refusal> {
        let Some(inner) = node.named_child(0) else {
            return self.copied(node);
        };
        if let Some(moved) = self
            .strips
            .last()
            .and_then(|it| it.moved_at(inner.start_byte()))
        {
            self.moved.insert(moved.0, moved.1);
            return Ok(String::new());
        }
        if inner.kind() == "assignment_expression" {
            let (left, right) = (self.field(inner, "left")?, self.field(inner, "right")?);
            if self.is_length(left) {
                self.length(Some(right))?;
                return Ok(String::new());
            }
            if let Some(kind) = self.function.tuples.get(self.text(left)).copied() {
                let name = self.text(left);
                if self.text(right).starts_with("__riscv_vset_") {
                    let arguments = children(self.field(right, "arguments")?);
                    if let [own, idx, value] = arguments.as_slice()
                        && self.text(*own) == name
                    {
                        let value = self.visit(*value)?;
                        return Ok(format!("{name}_{} = {value};", self.text(*idx)));
                    }
                }
                let values = self.fields_of(right, kind.fields)?;
                let values = self.at_once(values, kind, &format!("{name}_"));
                let each = values.iter().enumerate();
                let each = each.map(|(idx, value)| format!("{name}_{idx} = {value};"));
                return Ok(each.collect::<Vec<_>>().join(" "));
            }
            if left.kind() == "identifier" && self.text(self.field(inner, "operator")?) == "=" {
                let value = self.kept(self.text(left), right)?;
                return Ok(format!("{} = {value};", self.visit(left)?));
            }
        }
        if let Some((name, function)) = self.intrinsic_of(inner)
            && name.is_store()
        {
            return self.store(inner, function, &name);
        }
        self.copied(node)
    }
}
