//! Reads the parameters of the entry function.

use super::declarations::declared_name;
use super::scope::{Binding, Entry, Pointer, Quantity};
use super::{Reader, UNKNOWN_EXTENT, calls};
use crate::kernel::Array;
use crate::normalise::{Expanded, Vocabulary};
use tree_sitter::Node;

impl<'tree> Reader<'tree> {
    /// Enters the parameters of the entry function; returns where they are declared that
    /// need other declarators, and those.
    pub(super) fn parameters(
        &mut self,
        function: Node<'tree>,
    ) -> Vec<(std::ops::Range<usize>, String)> {
        let mut declarators = Vec::new();
        let known = signature_extents(self.vocabulary);
        for (place, parameter) in calls::parameters(function).into_iter().enumerate() {
            let Some(declared) = declared_name(parameter) else {
                continue;
            };
            let name = self.text(declared.name).to_owned();
            let kind = parameter
                .child_by_field_name("type")
                .map_or("", |kind| self.text(kind));
            let key = declared.name.start_byte();
            if declared.extents.is_empty() && !declared.pointer {
                self.scope.push(Entry {
                    name,
                    key,
                    binding: Binding::Kept("it is a parameter".to_owned()),
                    orbit: None,
                });
                continue;
            }
            let mut extents: Vec<Option<i64>> = Vec::new();
            for extent in declared.extents.iter().rev() {
                extents.push(extent.and_then(|extent| self.constant(extent).ok()));
            }
            if declared.pointer {
                extents.insert(0, None);
            }
            let listed = known.get(place).filter(|known| !known.is_empty());
            let extents = match listed {
                Some(known) if extents.contains(&None) => {
                    if known.len() != extents.len()
                        && let Some(declarator) = parameter.child_by_field_name("declarator")
                    {
                        let text: String =
                            known.iter().map(|extent| format!("[{extent}]")).collect();
                        declarators.push((declarator.byte_range(), format!("{name}{text}")));
                    }
                    known.clone()
                }
                _ if extents.iter().skip(1).any(Option::is_none) => continue,
                _ => extents
                    .into_iter()
                    .map(|extent| extent.unwrap_or(UNKNOWN_EXTENT))
                    .collect(),
            };
            let indices = extents.iter().map(|_| crate::value::Value::constant(0));
            let pointer = Pointer {
                array: self.arrays.len(),
                indices: indices.collect(),
                level: 1,
                bytes: false,
            };
            self.arrays.push(Array {
                name: name.clone(),
                extents,
            });
            self.bytes.push(self.scalar_bytes(kind).unwrap_or(1));
            let rows = declared.extents.len() - usize::from(!declared.pointer);
            self.scope.push(Entry {
                name,
                key,
                binding: Binding::Known(Quantity::Pointer(self.with_rows(pointer, rows, kind))),
                orbit: None,
            });
        }
        declarators
    }
}

/// Returns the extents of the parameters of the problem's signature, in order;
/// none for those that are no arrays.
fn signature_extents(vocabulary: &Vocabulary) -> Vec<Vec<i64>> {
    let signature = vocabulary.signature.trim().trim_end_matches(';');
    let list = signature
        .split_once('(')
        .and_then(|(_, rest)| rest.rsplit_once(')'))
        .map_or("", |(list, _)| list);
    let extents = |parameter: &str| -> Vec<i64> {
        let sizes = parameter.split('[').skip(1);
        let sizes = sizes.map(|size| size.split(']').next()?.trim().parse().ok());
        sizes.collect::<Option<Vec<i64>>>().unwrap_or_default()
    };
    list.split(',').map(extents).collect()
}

/// Returns the source before and after the body, with other declarators for
/// parameters whose extents the problem tells.
pub(super) fn around(
    source: &str,
    expanded: &Expanded,
    body: Node<'_>,
    declarators: &[(std::ops::Range<usize>, String)],
) -> Option<(String, String)> {
    let open = expanded.origin(body.start_byte())?;
    let close = expanded.origin(body.end_byte() - 1)?;
    let mut prefix = String::new();
    let mut position = 0;
    for (range, text) in declarators {
        let start = expanded.origin(range.start)?;
        let end = expanded.origin(range.end - 1)? + 1;
        prefix.push_str(source.get(position..start)?);
        prefix.push_str(text);
        position = end;
    }
    prefix.push_str(source.get(position..=open)?);
    Some((prefix, source.get(close..)?.to_owned()))
}
