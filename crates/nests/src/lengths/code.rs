//! Lines of one strip: each intrinsic gives its result a name, and what is computed twice has one.

use super::kind::{Groups, Kind, Range};
use crate::code::Element;
use std::collections::BTreeMap;

/// Names of the lengths of a strip and of the one behind it.
pub(crate) const LENGTH: &str = "each_length";
pub(crate) const NEXT_LENGTH: &str = "each_next_length";

/// A translated expression.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// The name of a vector, or a number in C.
    pub text: String,
    /// Type of the elements of a vector; nothing for a number.
    pub kind: Option<Kind>,
    /// Least and greatest value; nothing for floats.
    pub range: Option<Range>,
}

impl Value {
    /// Returns a vector by its name.
    pub(crate) fn vector(text: String, kind: Kind, range: Option<Range>) -> Self {
        Self {
            text,
            kind: Some(kind),
            range,
        }
    }

    /// Returns a whole number that is known.
    pub(crate) fn of(number: i64) -> Self {
        Self {
            text: number.to_string(),
            kind: None,
            range: Some((number, number)),
        }
    }

    /// Returns a number as an operand of elements of a type.
    pub(crate) fn number(&self, kind: Kind) -> String {
        match (self.constant(), kind.is_float()) {
            (Some(constant), false) => constant.to_string(),
            _ => format!("({})({})", kind.name(), self.text),
        }
    }

    pub(crate) fn is_scalar(&self) -> bool {
        self.kind.is_none()
    }

    pub(crate) fn is_float(&self) -> bool {
        self.range.is_none()
    }

    /// Returns bits of the elements; none for a number.
    pub(crate) fn bits(&self) -> u32 {
        self.kind.map_or(0, Kind::bits)
    }

    /// Returns the value if it is the same in all elements and known.
    pub(crate) fn constant(&self) -> Option<i64> {
        let (least, most) = self.range?;
        (least == most && self.is_scalar()).then_some(least)
    }
}

/// A load: what is loaded, its type, and how many elements there are from one to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub first: Element,
    pub kind: Kind,
    pub stride: i64,
}

impl Load {
    /// Returns the call that loads so many elements.
    pub(crate) fn call(&self, groups: Groups, length: &str) -> Option<String> {
        let (bits, suffix) = (self.kind.bits(), groups.suffix(self.kind)?);
        let place = self.first.to_c();
        Some(match self.stride {
            1 => format!("__riscv_vle{bits}_v_{suffix}(&{place}, {length})"),
            stride => format!(
                "__riscv_vlse{bits}_v_{suffix}(&{place}, {}, {length})",
                stride * i64::from(bits / 8)
            ),
        })
    }
}

/// A line of C.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub text: String,
    /// The name that it gives a result.
    pub name: Option<String>,
    /// The array that it stores to.
    pub stores: Option<String>,
    /// Type and name of what is loaded, if it is a load.
    pub load: Option<(String, String, Load)>,
}

/// The lines of a strip so far.
#[derive(Debug)]
pub(crate) struct Code {
    pub groups: Groups,
    pub lines: Vec<Line>,
    /// Names of results by the calls that gave them.
    known: BTreeMap<String, String>,
}

impl Code {
    pub(crate) fn new(groups: Groups) -> Self {
        Self {
            groups,
            lines: Vec::new(),
            known: BTreeMap::new(),
        }
    }

    /// Adds a call that gives a value of a type in C; returns its name.
    fn named(&mut self, kind: &str, call: String, load: Option<Load>) -> String {
        if let Some(name) = self.known.get(&call) {
            return name.clone();
        }
        let name = format!("each_{}", self.lines.len());
        self.lines.push(Line {
            text: format!("const {kind} {name} = {call};"),
            name: Some(name.clone()),
            stores: None,
            load: load.map(|it| (kind.to_owned(), name.clone(), it)),
        });
        self.known.insert(call, name.clone());
        name
    }

    /// Adds an operation that gives a vector: `name` with the operands, and the length. The suffix of
    /// the type stands behind the name.
    pub(crate) fn vector(
        &mut self,
        name: &str,
        kind: Kind,
        operands: &[&str],
        range: Option<Range>,
    ) -> Option<Value> {
        let call = format!(
            "__riscv_{name}_{}({}, {LENGTH})",
            self.groups.suffix(kind)?,
            operands.join(", ")
        );
        self.called(kind, call, range)
    }

    /// Adds a call that gives a vector.
    pub(crate) fn called(
        &mut self,
        kind: Kind,
        call: String,
        range: Option<Range>,
    ) -> Option<Value> {
        let vector = self.groups.vector(kind)?;
        Some(Value {
            text: self.named(&vector, call, None),
            kind: Some(kind),
            range,
        })
    }

    /// Adds a comparison of elements of a type; returns the name of the mask.
    pub(crate) fn compared(&mut self, name: &str, kind: Kind, operands: &[&str]) -> Option<String> {
        let bits = self.groups.mask();
        let suffix = self.groups.suffix(kind)?;
        let operands = operands.join(", ");
        let call = format!("__riscv_{name}_{suffix}_b{bits}({operands}, {LENGTH})");
        Some(self.named(&format!("vbool{bits}_t"), call, None))
    }

    /// Adds an operation on masks; returns the name of the mask.
    pub(crate) fn mask(&mut self, name: &str, operands: &[&str]) -> String {
        let bits = self.groups.mask();
        let operands = operands.join(", ");
        let call = format!("__riscv_{name}_b{bits}({operands}, {LENGTH})");
        self.named(&format!("vbool{bits}_t"), call, None)
    }

    /// Adds a load.
    pub(crate) fn load(&mut self, load: Load) -> Option<Value> {
        let call = load.call(self.groups, LENGTH)?;
        let kind = load.kind;
        let vector = self.groups.vector(kind)?;
        Some(Value {
            text: self.named(&vector, call, Some(load)),
            kind: Some(kind),
            range: (!kind.is_float()).then(|| kind.limits()),
        })
    }

    /// Adds a line that gives nothing.
    pub(crate) fn line(&mut self, text: String) {
        self.lines.push(Line {
            text,
            name: None,
            stores: None,
            load: None,
        });
    }

    /// Adds a line that stores to where a load would be from. Has what is loaded from where a value was stored be that value, and forgets what was loaded
    /// from the array before.
    pub(crate) fn store(&mut self, text: String, load: &Load, name: &str) -> Option<()> {
        self.line(text);
        let line = self.lines.last_mut()?;
        line.stores = Some(load.first.name.clone());
        let forgotten: Vec<&String> = self
            .lines
            .iter()
            .filter_map(|it| it.load.as_ref())
            .filter(|(_, _, it)| it.first.name == load.first.name)
            .map(|(_, name, _)| name)
            .collect();
        self.known.retain(|_, name| !forgotten.contains(&&*name));
        let call = load.call(self.groups, LENGTH)?;
        self.known.insert(call, name.to_owned());
        Some(())
    }
}

/// Returns lines of rows side by side so that each load stands in front of all that it is for, one load
/// ahead, and results that are ready are not waited with: few vectors are needed at a time. Lines that
/// store where others load stay as they are.
pub(crate) fn interleaved(lines: Vec<Line>) -> Vec<Line> {
    let arrays: Vec<&str> = lines.iter().filter_map(|it| it.stores.as_deref()).collect();
    let is_met = |it: &Line| {
        let load = it.load.as_ref();
        load.is_some_and(|(_, _, load)| arrays.contains(&load.first.name.as_str()))
    };
    if lines.iter().any(is_met) {
        return lines;
    }
    let names: Vec<Option<&str>> = lines.iter().map(|it| it.name.as_deref()).collect();
    // For each line, those whose results it needs.
    let needs: Vec<Vec<usize>> = lines
        .iter()
        .enumerate()
        .map(|(idx, line)| {
            let words = words(&line.text);
            let at = |word: &&str| names[..idx].iter().position(|it| it.as_ref() == Some(word));
            words.iter().filter_map(at).collect()
        })
        .collect();
    let mut order = Vec::new();
    let mut is_there = vec![false; lines.len()];
    let loads = (0..lines.len()).filter(|it| lines[*it].load.is_some());
    // A load begins one before it is needed.
    let mut last = None;
    for load in loads.map(Some).chain([None, None]) {
        order.extend(load);
        if let Some(last) = std::mem::replace(&mut last, load) {
            is_there[last] = true;
        }
        for idx in 0..lines.len() {
            let is_ready = lines[idx].load.is_none() && needs[idx].iter().all(|it| is_there[*it]);
            if is_ready && !is_there[idx] {
                order.push(idx);
                is_there[idx] = true;
            }
        }
    }
    let mut lines: Vec<Option<Line>> = lines.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|it| lines[it].take())
        .collect()
}

/// Returns the names in a line.
pub(crate) fn words(text: &str) -> Vec<&str> {
    let words = text.split(|it: char| !it.is_alphanumeric() && it != '_');
    words.filter(|it| !it.is_empty()).collect()
}
