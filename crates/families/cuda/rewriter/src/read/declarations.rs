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
                    let (name, sizes) = self.sizes(declarator)?;
                    // All that the launch gives, for one array.
                    let size = match sizes.as_slice() {
                        [] if is_given => {
                            let bytes = self.shared_bytes.take();
                            let size = bytes.zip(bytes_of(&kind)).map(|(all, of_one)| all / of_one);
                            size.filter(|it| 0 < *it)
                        }
                        [] => None,
                        sizes => elements(sizes),
                    };
                    let (true, Some(size)) = (name.kind() == "identifier", size) else {
                        return self.refused(
                            node,
                            "is an array of a size that is not known; write one with a number",
                        );
                    };
                    let own = self.fresh(self.text(name));
                    let below = (1..sizes.len()).filter_map(|it| elements(&sizes[it..]));
                    let binding = match sizes.len() {
                        0 | 1 => Binding::Array(own.clone(), Expression::constant(0), self.depth),
                        _ => Binding::Table(own.clone(), below.collect()),
                    };
                    self.bindings.insert(self.text(name).to_owned(), binding);
                    self.shared.insert(own, (kind.clone(), size));
                }
                "pointer_declarator" => {
                    let name = self.field(declarator, "declarator")?;
                    let Some(value) = value else {
                        return self.refused(node, "is a pointer without a place");
                    };
                    let (array, base) = self.pointer(value)?;
                    self.settled(node, &base)?;
                    let binding = Binding::Array(array, base, self.depth);
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

    /// Returns the name that an array is declared by, and how many elements it has in each
    /// dimension; none of one whose size the launch gives.
    fn sizes(&mut self, declarator: Node<'f>) -> Result<(Node<'f>, Vec<i64>), Refusal> {
        let (mut name, mut sizes) = (declarator, Vec::new());
        while name.kind() == "array_declarator" {
            if let Some(size) = name.child_by_field_name("size") {
                let size = self.expression(size)?;
                match size.as_index().and_then(Affine::as_constant) {
                    Some(size) => sizes.insert(0, size),
                    None => {
                        return self.refused(
                            declarator,
                            "is an array of a size that is not known; write one with a number",
                        );
                    }
                }
            }
            name = self.field(name, "declarator")?;
        }
        Ok((name, sizes))
    }
}

/// Returns how many elements lie in so many dimensions.
fn elements(sizes: &[i64]) -> Option<i64> {
    let all = sizes.iter().try_fold(1_i64, |all, it| all.checked_mul(*it));
    all.filter(|_| sizes.iter().all(|it| 0 < *it))
}
