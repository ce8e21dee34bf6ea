//! Variables of a thread and of a block.

use super::{Binding, Reader};
use crate::expression::Expression;
use crate::kinds::{bytes_of, is_whole};
use crate::step::Step;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::syntax::children;
use autocomp_nests::Refusal;
use tree_sitter::Node;

impl<'f> Reader<'f> {
    pub(super) fn declaration(
        &mut self,
        node: Node<'f>,
        to: &mut Vec<Step>,
    ) -> Result<(), Refusal> {
        let kind = self.text(self.field(node, "type")?).to_owned();
        let words: Vec<&str> = self.text(node).split_whitespace().collect();
        let is_given = words.starts_with(&["extern", "register"]);
        let is_shared = is_given || words.first() == Some(&"register");
        for declared in children(node) {
            let (declarator, value) = match declared.kind() {
                "init_declarator" => (
                    self.field(declared, "declarator")?,
                    declared.child_by_field_name("value"),
                ),
                "identifier" | "array_declarator" | "pointer_declarator" => (declared, None),
                _ => continue,
            };
            match declarator.kind() {
                "identifier" => {
                    let name = self.text(declarator).to_owned();
                    let value = value.map(|it| self.expression(it)).transpose()?;
                    to.append(&mut self.pending);
                    match value {
                        Some(Expression::Index(index))
                            if is_whole(&kind) && !self.assigned.contains(&name) =>
                        {
                            let value = Binding::Value(Expression::Index(index));
                            self.bindings.insert(name, value);
                        }
                        value => {
                            let own = self.fresh(&name);
                            self.kinds.insert(own.clone(), kind.clone());
                            self.bindings.insert(name, Binding::Scalar(own.clone()));
                            to.push(Step::Let {
                                kind: kind.clone(),
                                name: own,
                                value,
                            });
                        }
                    }
                }
                "array_declarator" if is_shared && value.is_none() => {
                    let name = self.field(declarator, "declarator")?;
                    let size = match declarator.child_by_field_name("size") {
                        Some(size) => {
                            let size = self.expression(size)?;
                            size.as_index().and_then(Affine::as_constant)
                        }
                        // All that the launch gives, for one array.
                        None if is_given => {
                            let bytes = self.shared_bytes.take();
                            let size = bytes.zip(bytes_of(&kind)).map(|(all, of_one)| all / of_one);
                            size.filter(|it| 0 < *it)
                        }
                        None => None,
                    };
                    let (true, Some(size)) = (name.kind() == "identifier", size) else {
                        return self.refused(
                            node,
                            "is an array of several dimensions, or of a size that is not known; write one of one dimension, with a number",
                        );
                    };
                    let own = self.fresh(self.text(name));
                    let binding = Binding::Array(own.clone(), Expression::constant(0));
                    self.bindings.insert(self.text(name).to_owned(), binding);
                    self.shared.insert(own, (kind.clone(), size));
                }
                "pointer_declarator" => {
                    let name = self.field(declarator, "declarator")?;
                    let Some(value) = value else {
                        return self.refused(node, "is a pointer without a place");
                    };
                    if self.assigned.contains(self.text(name)) {
                        return self.refused(node, "is a pointer that moves; write an index");
                    }
                    let (array, base) = self.pointer(value)?;
                    let binding = Binding::Array(array, base);
                    self.bindings.insert(self.text(name).to_owned(), binding);
                }
                "array_declarator" => {
                    return self.refused(node, "is an array of the thread, which is not read; keep scalars, or change it by hand: where a thread keeps a list for a whole row, let each thread of a warp keep that of its part, and join them by shuffles");
                }
                _ => return self.refused(node, "is not understood"),
            }
        }
        Ok(())
    }
}
