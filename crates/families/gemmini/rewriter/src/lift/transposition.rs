//! Products whose operands both lie in memory transposed: the array turns one of them only, and
//! the core turns the other one first.

use super::Lifted;
use super::raise::declaration;
use super::work::{Operand, Operation, Repeat};
use crate::memory::Memory;

/// Has the core turn inputs of products whose weights are transposed, too.
pub(super) fn turn_inputs(lifted: &mut Lifted) {
    for at in 0..lifted.works.len() {
        let work = lifted.works[at];
        let Operation::Product {
            input,
            depth,
            turned: [true, true],
            ..
        } = work.operation
        else {
            continue;
        };
        let from = &lifted.memories[input.array];
        let name = format!("{}_turned", from.name);
        let is_known = lifted.memories.iter().any(|memory| memory.name == name);
        if work.repeat != Repeat::ONCE || is_known {
            continue;
        }
        let new = Memory::added(name, from.kind.clone(), true, vec![work.rows, depth]);
        let [first, apart] = [input.offset, input.pitch].map(|bytes| bytes / from.element);
        let kind = from.kind_in_c();
        let text = format!(
            "  for (int n0 = 0; n0 < {}; n0++) {{\n    for (int n1 = 0; n1 < {depth}; n1++) {{\n      \
             {}[n0][n1] = ((const {kind} *){})[{first} + {apart} * n1 + n0];\n    }}\n  }}\n",
            work.rows, new.name, from.name
        );
        lifted.before.insert_str(0, &declaration(&new));
        match at {
            0 => lifted.before.push_str(&text),
            _ => lifted.between.entry(at).or_default().push_str(&text),
        }
        if let Operation::Product { input, turned, .. } = &mut lifted.works[at].operation {
            *input = Operand {
                array: lifted.memories.len(),
                offset: 0,
                pitch: depth * new.element,
            };
            turned[0] = false;
        }
        lifted.memories.push(new);
    }
}
