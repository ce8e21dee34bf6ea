//! Reads functions of the target's headers when a kernel names one.
//!
//! What such a call computes is what the header's own text says: it is followed
//! like a helper function of the kernel's.

use super::read::Reader;
use crate::normalise::expand;
use crate::syntax::{syntax_tree, too_deep};
use autocomp_c_loops::casts::without_false_casts;
use std::collections::BTreeMap;

impl Reader<'_> {
    /// Reads the library if it may explain `name`; returns whether it was read now.
    pub(super) fn reads_library(&mut self, name: &str) -> bool {
        if self.library.is_empty() || !self.library.contains(name) {
            return false;
        }
        let text = std::mem::take(&mut self.library);
        let Ok(expanded) = expand(text) else {
            return false;
        };
        let expanded = without_false_casts(&expanded);
        let Some(tree) = syntax_tree(&expanded).filter(|it| !too_deep(it.root_node())) else {
            return false;
        };
        // The header stands above the kernel: the kernel's own names do not reach it.
        let mut reader = Reader {
            memories: std::mem::take(&mut self.memories),
            functions: std::mem::take(&mut self.functions),
            is_library: true,
            ..Reader::of(&expanded, self.constants.clone(), self.is_float)
        };
        reader.definitions(tree.root_node(), None);
        let Reader {
            memories,
            functions,
            known,
            macros,
            types,
            refused,
            ..
        } = reader;
        (self.memories, self.functions) = (memories, functions);
        add(&mut self.known, known);
        add(&mut self.macros, macros);
        add(&mut self.types, types);
        let placeless = refused.into_iter().map(|(name, mut why)| {
            why.line = 0;
            (name, why)
        });
        add(&mut self.refused, placeless.collect());
        true
    }
}

/// Adds what is new.
fn add<T>(to: &mut BTreeMap<String, T>, from: BTreeMap<String, T>) {
    for (name, value) in from {
        to.entry(name).or_insert(value);
    }
}
