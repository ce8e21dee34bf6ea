//! What to write instead of what is not understood.

use tree_sitter::Node;

/// Returns what to write instead of a statement or an expression, where that is the same for all of
/// its kind.
pub(crate) fn remedy(node: Node<'_>, text: &str) -> Option<&'static str> {
    Some(match node.kind() {
        "break_statement" => {
            "let loops end by their conditions alone, and choose values: `s += found ? 0 : x`"
        }
        "continue_statement" => {
            "put what follows below an `if` with the opposite condition, or choose values: `s += c ? x : 0`"
        }
        "while_statement" | "do_statement" => {
            "write `for (int i = 0; i < n; i++)`, with a number of turns that is known before"
        }
        "goto_statement" | "labeled_statement" | "switch_statement" => {
            "write loops, `if` and `c ? a : b`"
        }
        "update_expression" => {
            "index by the variables of loops, `y[i]` in place of `y[n++]`; how many elements a condition takes is not followed"
        }
        "declaration" if text.contains('{') => {
            "write numbers where they are used, or compute them; tables are not followed"
        }
        _ => return None,
    })
}
