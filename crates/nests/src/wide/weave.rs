//! Elements that are written side by side by several actions: real and imaginary parts,
//! colours of a picture.

use super::{Role, WideLoop};
use crate::code::{Element, Named};
use crate::text::Text;
use crate::translation::shifted;
use crate::vectors::{Preamble, gnu, is_narrow};
use std::collections::BTreeMap;

impl WideLoop {
    /// Returns the actions that write to an array a few elements apart, in the order of the
    /// elements: numbers of roles and places.
    fn woven_into(&self, array: &str, extents: &[i64]) -> Option<Vec<(usize, &Element)>> {
        let roles = self.roles.iter().enumerate();
        let targets = roles.filter_map(|(idx, role)| match role {
            Role::Woven(target, _) if target.name == array => Some((idx, target)),
            _ => None,
        });
        let targets: Vec<(usize, &Element)> = targets.collect();
        let (_, first) = targets.first()?;
        let placed = targets
            .iter()
            .map(|(idx, target)| Some((target.behind(first, extents)?, (*idx, *target))));
        let mut placed: Vec<(i64, (usize, &Element))> = placed.collect::<Option<_>>()?;
        placed.sort_by_key(|(place, _)| *place);
        let (least, _) = *placed.first()?;
        let mut follow = placed.iter().zip(least..);
        let is_dense = follow.all(|((place, _), wanted)| *place == wanted);
        is_dense.then(|| placed.into_iter().map(|(_, target)| target).collect())
    }

    /// Returns whether arrays that are written a few elements apart are written everywhere.
    pub(super) fn is_woven_whole(&self, names: &BTreeMap<String, Named>) -> bool {
        self.roles.iter().all(|role| {
            let Role::Woven(target, _) = role else {
                return true;
            };
            let extents = names.get(&target.name).map_or(&[][..], |it| &it.extents);
            let stride = target.stride(&self.inner.variable, extents);
            let woven = self.woven_into(&target.name, extents);
            woven.is_some_and(|woven| i64::try_from(woven.len()).ok() == stride)
        })
    }

    /// Writes the vectors of all actions that write to the array of `target`, once the last one
    /// of them, that of role `idx`, is computed.
    pub(super) fn weave(
        &self,
        idx: usize,
        target: &Element,
        (lanes, copy): (u32, u32),
        names: &BTreeMap<String, Named>,
        (kind, preamble): (&str, &mut Preamble),
        text: &mut Text,
    ) -> Option<()> {
        let named = names.get(&target.name)?;
        let woven = self.woven_into(&target.name, &named.extents)?;
        if woven.iter().any(|(other, _)| idx < *other) {
            return Some(());
        }
        let count = woven.len() as u32;
        let vector = preamble.vector(lanes, kind);
        let shift = i64::from(copy * lanes);
        let (_, first) = woven.first()?;
        let first = shifted(first, &[(self.inner.variable.as_str(), shift)])?.to_c();
        for part in 0..count {
            // Each lane comes from the vector of one action.
            let from = |lane: u32| {
                let place = part * lanes + lane;
                (place % count, place / count)
            };
            let mut value = format!("(({vector})v{}_{copy})", woven[0].0);
            for (next, (role, _)) in (0..).zip(&woven).skip(1) {
                let order = (0..lanes).map(|lane| match from(lane) {
                    (source, at) if source == next => lanes + at,
                    (0, at) if next == 1 => at,
                    _ => lane,
                });
                value = gnu::shuffled(&value, &format!("(({vector})v{role}_{copy})"), order);
            }
            let place = format!("(&{first})[{}]", part * lanes);
            text.line(&match is_narrow(&named.kind) {
                true => {
                    let narrow = preamble.narrow(lanes, &named.kind);
                    let value = gnu::converted(&value, &narrow);
                    format!("{} = {value};", gnu::stored(&narrow, &place))
                }
                false => {
                    let place = gnu::stored(&gnu::anywhere(&vector), &place);
                    format!("{place} = {value};")
                }
            });
        }
        Some(())
    }
}
