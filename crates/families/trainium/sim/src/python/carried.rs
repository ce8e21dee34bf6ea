//! What Python keeps from one iteration of a loop on the device to the next.
//!
//! Facts: a compiler reads the body of such a loop once, so that a counter or a list of Python is
//! the same in all iterations there.

use std::rc::Rc;

use super::interpreter::Interpreter;
use super::value::{Frame, Value};
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::trace::mix;

/// Most values of which a change is seen.
const VALUES: usize = 20_000;
/// Most levels of lists within lists that are looked into.
const LEVELS: u32 = 8;

/// Variables around the body of a loop as they were before an iteration.
pub(super) struct Carried {
    frames: Vec<Rc<Frame>>,
    /// What containers held before the loop.
    containers: Vec<Option<u64>>,
    /// Numbers and texts after the last iteration.
    plain: Option<Vec<Option<u64>>>,
}

impl Interpreter {
    /// Notes what the variables of a frame, of those around it and of the file hold.
    pub(super) fn carried(&self, frame: Option<&Rc<Frame>>) -> Carried {
        let mut frames = vec![Rc::clone(&self.globals)];
        let mut next = frame.cloned();
        while let Some(frame) = next {
            next = frame.parent.clone();
            if !Rc::ptr_eq(&frame, &self.globals) {
                frames.push(frame);
            }
        }
        let mut carried = Carried {
            frames,
            containers: Vec::new(),
            plain: None,
        };
        carried.containers = carried.hashes(true);
        carried
    }

    /// Refuses an iteration that has changed what a later one finds.
    pub(super) fn check_carried(&self, carried: &mut Carried, line: u32) -> Outcome<()> {
        let containers = carried.hashes(true);
        let plain = carried.hashes(false);
        let changed = |old: &[Option<u64>], new: &[Option<u64>]| {
            let pairs = old.iter().zip(new);
            let mut pairs = pairs.map(|(old, new)| old.is_some() && new.is_some() && old != new);
            pairs.position(|it| it)
        };
        let old = carried.plain.replace(plain);
        let (Some(new), old) = (&carried.plain, old) else {
            return Ok(());
        };
        let slot = changed(&carried.containers, &containers)
            .or_else(|| old.and_then(|old| changed(&old, new)));
        let Some(slot) = slot else {
            return Ok(());
        };
        let name = carried.name(slot, &self.module.names);
        Err(Failure::new(
            FailureKind::Rejected,
            "carried-by-python",
            format!(
                "`{name}` changes from iteration to iteration of a loop on the device, whose body is compiled once"
            ),
            "compute with the loop's number (nisa.scalar_load, registers), or loop with range",
        )
        .at(line))
    }
}

impl Carried {
    /// A fingerprint of each variable: of containers, or of numbers and texts; none of others.
    fn hashes(&self, of_containers: bool) -> Vec<Option<u64>> {
        let mut room = VALUES;
        let mut found = Vec::new();
        for frame in &self.frames {
            let slots = frame.slots.borrow();
            found.extend(slots.0.iter().map(|value| {
                let is_container = matches!(
                    value,
                    Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Object(_)
                );
                let wanted = is_container == of_containers;
                let hash = wanted.then(|| hash(value, LEVELS, &mut room)).flatten();
                hash.filter(|_| 0 < room)
            }));
        }
        found
    }

    fn name(&self, slot: usize, names: &[Rc<str>]) -> Rc<str> {
        let mut rest = slot;
        for frame in &self.frames {
            let length = frame.slots.borrow().0.len();
            if rest < length {
                let own = frame.code.as_ref().map_or(names, |code| &code.names);
                return own.get(rest).map_or_else(|| "?".into(), Rc::clone);
            }
            rest -= length;
        }
        "?".into()
    }
}

/// A fingerprint of numbers, texts and what holds them; none of what is of the device.
fn hash(value: &Value, levels: u32, room: &mut usize) -> Option<u64> {
    *room = room.saturating_sub(1);
    if levels == 0 || *room == 0 {
        return None;
    }
    let mut all = |kind: u64, items: &mut dyn Iterator<Item = &Value>| {
        let mut found = kind;
        for item in items {
            found = mix(found, hash(item, levels - 1, room).unwrap_or(0));
        }
        Some(found)
    };
    match value {
        Value::Bool(value) => Some(mix(1, u64::from(*value))),
        Value::Int(value) => Some(mix(2, *value as u64)),
        Value::Float(value) => Some(mix(3, value.to_bits())),
        Value::Str(text) => Some(text.bytes().fold(4, |hash, it| mix(hash, u64::from(it)))),
        Value::Tuple(items) => all(5, &mut items.0.iter()),
        Value::List(list) => all(6, &mut list.borrow().0.iter()),
        Value::Dict(dict) | Value::Set(dict) => {
            let dict = dict.borrow();
            all(
                7,
                &mut dict.entries.iter().flat_map(|(key, value)| [key, value]),
            )
        }
        Value::Object(object) => {
            let fields = object.fields.borrow();
            all(8, &mut fields.entries.iter().map(|(_, value)| value))
        }
        _ => None,
    }
}
