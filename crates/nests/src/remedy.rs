//! What to write instead of what is not understood.

use tree_sitter::Node;

/// Returns what to write instead of a statement or an expression.
pub(crate) fn remedy(node: Node<'_>, text: &str) -> &'static str {
    match node.kind() {
        "break_statement" => {
            "let loops end by their conditions alone, and choose values: `s += found ? 0 : x`"
        }
        "continue_statement" => {
            "put what follows below an `if` with the opposite condition, or choose values: `s += c ? x : 0`"
        }
        "while_statement" | "do_statement" if text.contains("&&") || text.contains("||") => {
            "search by an index, `int j = 0; while (j < n && x[j] != y) j++;`, or look at all elements: `for (int j = 0; j < n; j++) if (x[j] == y) first = j < first ? j : first;`"
        }
        "while_statement" | "do_statement" | "for_statement" => {
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
        "field_expression" => "write arrays and variables in place of structures and unions",
        "call_expression" => {
            "write what the function does as a `static` one of the kernel's own, of parameters and a value that it returns"
        }
        "pointer_expression" | "subscript_expression" => {
            "index the array itself by the variables of loops, `x[i * 8 + j]`"
        }
        "return_statement" => "return at the end alone, and choose values before",
        "parameter_declaration" => "declare arrays with their sizes, `float x[4][8]`, and numbers",
        "identifier" => {
            "give it its value where it is declared, or index by the variables of loops in its place"
        }
        _ => "write it with numbers, variables, elements of arrays and operators between them",
    }
}
