//! What Python keeps from one iteration of a loop on the device to the next.
//!
//! Facts: a compiler reads the body of such a loop once, so that a counter or a list of Python is
//! the same in all iterations there. The numbers of `affine_range` and `sequential_range` are
//! Python's here, so a variable that the body computes from them may change; read before the body
//! has set it again, it is what it was before the loop.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::interpreter::Interpreter;
use super::value::{Frame, Value, mix};
use crate::device::Device;
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::foreign::Foreign;

/// Most values in lists and objects of which a change is seen.
const VALUES: usize = 20_000;
/// Most values of one tuple, and bytes of one text, of which a change is seen.
const ITEMS: usize = 64;
/// Most levels of lists within lists that are looked into.
const LEVELS: u32 = 8;

/// Variables around the body of a loop, as the loop found them.
pub struct Surroundings<F: Foreign> {
    frames: Vec<Rc<Frame<F>>>,
    /// Containers before the loop, with fingerprints of what they hold; none any more once
    /// iterations were compared.
    containers: Vec<Option<(Value<F>, u64)>>,
    /// Numbers and texts, and what has no value yet, with fingerprints.
    plain: Vec<Option<(Value<F>, Option<u64>)>>,
    iterations: u32,
    /// Frames and slots that hold what an iteration has left.
    left: BTreeSet<(usize, usize)>,
}

impl<F: Foreign> Interpreter<F> {
    /// Notes what the variables of a frame, of those around it and of the file hold.
    pub fn surroundings(&self, frame: Option<&Rc<Frame<F>>>) -> Surroundings<F> {
        let mut frames = vec![Rc::clone(&self.globals)];
        let mut next = frame.cloned();
        while let Some(frame) = next {
            next = frame.parent.clone();
            if !Rc::ptr_eq(&frame, &self.globals) {
                frames.push(frame);
            }
        }
        let mut carried = Surroundings {
            frames,
            containers: Vec::new(),
            plain: Vec::new(),
            iterations: 0,
            left: BTreeSet::new(),
        };
        let mut room = VALUES;
        carried.containers = carried.each(|value| {
            let hash = is_shared(value).then(|| hash(value, LEVELS, &mut room));
            hash.flatten().map(|hash| (value.clone(), hash))
        });
        carried.plain = carried.each(|value| {
            let hash = plain(value);
            let is_kept = hash.is_some() || matches!(value, Value::Unbound | Value::Left(_));
            is_kept.then(|| (value.clone(), hash))
        });
        carried
    }

    /// Ends an iteration: the next one finds in variables what the loop has found in them. Refuses
    /// lists and objects that change.
    pub fn close_iteration(&mut self, carried: &mut Surroundings<F>, line: u32) -> Outcome<()> {
        self.charge(carried.plain.len(), line)?;
        carried.iterations += 1;
        if carried.iterations == 2 {
            let containers = std::mem::take(&mut carried.containers);
            let mut room = VALUES;
            let changed = containers.iter().position(|it| {
                let now = it.as_ref().map(|(value, _)| hash(value, LEVELS, &mut room));
                let before = it.as_ref().map(|(_, hash)| *hash);
                now.flatten().is_some_and(|now| Some(now) != before)
            });
            if let Some(slot) = changed {
                let name = carried.name(slot, &self.module.names);
                return Err(refused::<F>(&name).at(line));
            }
        }
        let mut at = 0;
        for (number, frame) in carried.frames.iter().enumerate() {
            for (slot, value) in frame.slots.borrow_mut().0.iter_mut().enumerate() {
                if let Some(now) = plain(value)
                    && let Some(Some((found, before))) = carried.plain.get(at)
                    && *before != Some(now)
                {
                    let left = std::mem::replace(value, Value::Unbound);
                    *value = Value::Left(Rc::new((found.clone(), left)));
                    carried.left.insert((number, slot));
                }
                at += 1;
            }
        }
        Ok(())
    }

    /// What an iteration reads of a variable that an earlier one has left something in.
    pub(super) fn read_left(
        &mut self,
        found: &Value<F>,
        name: &str,
        line: u32,
    ) -> Outcome<Value<F>> {
        match found {
            Value::Left(outer) => self.read_left(&outer.0, name, line),
            Value::Unbound => Err(refused::<F>(name).at(line)),
            found => {
                self.device.set_line(line);
                if !self.device.reads_as_before(name) {
                    return Err(refused::<F>(name).at(line));
                }
                Ok(found.clone())
            }
        }
    }
}

/// The refusal of a variable that an iteration would hand to the next one.
pub(super) fn refused<F: Foreign>(name: &str) -> Box<Failure> {
    Failure::new(
        FailureKind::Rejected,
        "carried-by-python",
        format!(
            "`{name}` changes from iteration to iteration of a loop on the device, whose body is compiled once"
        ),
        F::CARRIED,
    )
}

impl<F: Foreign> Surroundings<F> {
    /// Ends the loop: what follows it reads what the last iteration has left.
    pub fn close(self) {
        for (frame, slot) in self.left {
            if let Some(value) = self.frames[frame].slots.borrow_mut().0.get_mut(slot)
                && let Value::Left(left) = value
            {
                let left = left.1.clone();
                *value = left;
            }
        }
    }

    /// Something of each variable.
    fn each<T>(&self, mut of: impl FnMut(&Value<F>) -> T) -> Vec<T> {
        let mut found = Vec::new();
        for frame in &self.frames {
            found.extend(frame.slots.borrow().0.iter().map(&mut of));
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

/// Whether a value may change without being set again.
fn is_shared<F: Foreign>(value: &Value<F>) -> bool {
    matches!(
        value,
        Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Object(_)
    )
}

/// A fingerprint of a number, a text or what holds such; none of others.
#[inline]
pub(super) fn plain<F: Foreign>(value: &Value<F>) -> Option<u64> {
    match value {
        Value::Int(value) => Some(of_int(*value)),
        Value::Bool(_)
        | Value::Float(_)
        | Value::Str(_)
        | Value::Tuple(_)
        | Value::Slice(_)
        | Value::Window(..)
        | Value::DeviceWindow(..) => hash(value, LEVELS, &mut ITEMS.clone()),
        _ => None,
    }
}

fn of_int(value: i64) -> u64 {
    mix(2, value as u64)
}

/// A fingerprint of numbers, texts and what holds them; none of what is of the device.
fn hash<F: Foreign>(value: &Value<F>, levels: u32, room: &mut usize) -> Option<u64> {
    *room = room.saturating_sub(1);
    if levels == 0 || *room == 0 {
        return None;
    }
    let mut all = |kind: u64, items: &mut dyn Iterator<Item = &Value<F>>| {
        let mut found = kind;
        for item in items {
            found = mix(found, hash(item, levels - 1, room).unwrap_or(0));
        }
        Some(found)
    };
    match value {
        Value::Bool(value) => Some(mix(1, u64::from(*value))),
        Value::Int(value) => Some(of_int(*value)),
        Value::Float(value) => Some(mix(3, value.to_bits())),
        Value::Str(text) => {
            let bytes = text.bytes().take(ITEMS);
            let start = mix(4, text.len() as u64);
            Some(bytes.fold(start, |hash, it| mix(hash, u64::from(it))))
        }
        Value::Tuple(items) | Value::Slice(items) => all(5, &mut items.0.iter()),
        Value::Window(start, size) | Value::DeviceWindow(start, size) => {
            Some(mix(mix(9, *start as u64), *size as u64))
        }
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
