//! What the host function asks for.

use super::{Argument, File, Host, HostStep, Launch, refused};
use autocomp_c_loops::syntax::children;
use autocomp_nests::Refusal;
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::Node;

/// What is known in a block of the host function.
#[derive(Clone, Default)]
struct Scope {
    /// Types of elements of arrays.
    arrays: BTreeMap<String, String>,
    /// Numbers that it is given.
    scalars: BTreeSet<String>,
    /// Numbers of floats that it names, as they are written.
    words: BTreeMap<String, String>,
    /// Whole numbers.
    numbers: BTreeMap<String, i64>,
    /// Sizes of grids and blocks.
    sizes: BTreeMap<String, [i64; 3]>,
}

impl File {
    /// Reads the host function `entry`.
    pub(crate) fn host(&self, entry: &str) -> Result<Host, Refusal> {
        let functions = self.functions();
        let (_, function) = functions
            .iter()
            .find(|(name, _)| name == entry)
            .ok_or_else(|| Refusal {
                line: None,
                why: format!("there is no function `{entry}`"),
            })?;
        let body = function
            .child_by_field_name("body")
            .ok_or("the function has no body")?;
        let mut scope = Scope {
            numbers: self.constants(),
            ..Scope::default()
        };
        let mut given = Vec::new();
        for (name, kind, is_pointer) in self.parameters(*function)? {
            if !is_pointer && !["float", "double"].contains(&kind.as_str()) {
                return refused(
                    *function,
                    &self.plain,
                    "takes a whole number, whose value the file does not say: write it as a constant",
                );
            }
            match is_pointer {
                true => {
                    given.push(name.clone());
                    scope.arrays.insert(name, kind);
                }
                false => {
                    scope.scalars.insert(name);
                }
            }
        }
        let mut host = Host {
            head: in_one_line(&self.plain[function.start_byte()..body.start_byte()]),
            steps: Vec::new(),
            arrays: given,
            scratch: BTreeSet::new(),
        };
        self.host_steps(body, &mut scope, &mut host)?;
        Ok(host)
    }

    /// Reads the statements of a block of the host function.
    fn host_steps(
        &self,
        block: Node<'_>,
        scope: &mut Scope,
        host: &mut Host,
    ) -> Result<(), Refusal> {
        for node in children(block) {
            let kept = HostStep::Text(self.plain[node.byte_range()].to_owned());
            match node.kind() {
                "comment" => continue,
                // What another function launches.
                "compound_statement" => {
                    host.steps.push(HostStep::Text("{".into()));
                    self.host_steps(node, &mut scope.clone(), host)?;
                    host.steps.push(HostStep::Text("}".into()));
                    continue;
                }
                "declaration" if self.numbers_of(node, &mut scope.numbers) => {}
                "declaration" if self.plain[node.byte_range()].starts_with("dim3") => {
                    for declared in children(node) {
                        let name = declared.child_by_field_name("declarator");
                        let value = declared.child_by_field_name("value");
                        let value =
                            value.and_then(|it| self.sizes(it, &scope.numbers, &scope.sizes));
                        if let (Some(name), Some(value)) = (name, value) {
                            name_sizes(self.of(name), value, &mut scope.numbers);
                            scope.sizes.insert(self.of(name).to_owned(), value);
                        }
                    }
                }
                "declaration" => {
                    self.literals_of(node, &mut scope.words);
                    let kind = node
                        .child_by_field_name("type")
                        .map_or("", |it| self.of(it));
                    for declared in children(node) {
                        if declared.kind() == "pointer_declarator" {
                            let name = self.of(declared).trim_start_matches('*').trim().to_owned();
                            if scope.arrays.contains_key(&name) {
                                return refused(node, &self.plain, "has the name of another array");
                            }
                            host.scratch.insert(name.clone());
                            scope.arrays.insert(name, kind.to_owned());
                        }
                    }
                }
                "expression_statement" => {
                    let Some(call) = node
                        .named_child(0)
                        .filter(|it| it.kind() == "call_expression")
                    else {
                        return refused(
                            node,
                            &self.plain,
                            "is not understood in the host function",
                        );
                    };
                    let function = call.child_by_field_name("function").unwrap_or(call);
                    let arguments = call.child_by_field_name("arguments").unwrap_or(call);
                    if function.kind() == "call_expression" {
                        let launch = self.launch(node, function, arguments, scope)?;
                        host.steps.push(HostStep::Launch(launch));
                        continue;
                    }
                    let name = self.of(function);
                    // `dim3 grid(4, 4);`, whose first word became blank.
                    if self.plain[..node.start_byte()].trim_end().ends_with("dim3") {
                        let Some(found) = self.listed(arguments, &scope.numbers) else {
                            return refused(node, &self.plain, "has sizes that are no numbers");
                        };
                        name_sizes(name, found, &mut scope.numbers);
                        scope.sizes.insert(name.to_owned(), found);
                        let text = format!("dim3 {}", &self.plain[node.byte_range()]);
                        host.steps.push(HostStep::Text(text));
                        continue;
                    }
                    const KEPT: &[&str] = &[
                        "cudaMalloc",
                        "cudaMemset",
                        "cudaMemsetAsync",
                        "cudaMemcpyAsync",
                        "cudaFuncSetAttribute",
                        "cudaGetLastError",
                        "cudaPeekAtLastError",
                        "cudaDeviceSynchronize",
                    ];
                    if !KEPT.contains(&name) {
                        return refused(
                            node,
                            &self.plain,
                            "is not understood in the host function",
                        );
                    }
                }
                _ => {
                    return refused(
                        node,
                        &self.plain,
                        "is not understood in the host function: write launches one after the other",
                    );
                }
            }
            host.steps.push(kept);
        }
        Ok(())
    }

    fn launch(
        &self,
        statement: Node<'_>,
        head: Node<'_>,
        arguments: Node<'_>,
        scope: &Scope,
    ) -> Result<Launch, Refusal> {
        let kernel = head
            .child_by_field_name("function")
            .map_or("", |it| self.of(it));
        let shape = head
            .child_by_field_name("arguments")
            .map(children)
            .unwrap_or_default();
        let (grid, block, shared_bytes) = match shape.as_slice() {
            [grid, block] => (grid, block, Some(0)),
            [grid, block, bytes] => (grid, block, self.number(*bytes, &scope.numbers)),
            _ => return refused(statement, &self.plain, "launches on a stream"),
        };
        let Some(shared_bytes) = shared_bytes else {
            return refused(
                statement,
                &self.plain,
                "launches with shared memory of a size that is not known",
            );
        };
        let of = |it: Node<'_>| self.sizes(it, &scope.numbers, &scope.sizes);
        let (Some(grid), Some(block)) = (of(*grid), of(*block)) else {
            return refused(
                statement,
                &self.plain,
                "launches a number of threads that is not known",
            );
        };
        if grid.iter().chain(&block).any(|it| *it < 1) {
            return refused(statement, &self.plain, "launches nothing");
        }
        let mut given = Vec::new();
        for node in children(arguments) {
            let node = self.uncast(node, scope).unwrap_or(node);
            let name = self.of(node);
            let array = scope.arrays.get(name);
            given.push(if let Some(kind) = array {
                Argument::Array(name.to_owned(), kind.clone())
            } else if let Some(number) = self.number(node, &scope.numbers) {
                Argument::Number(number)
            } else if scope.scalars.contains(name) {
                Argument::Scalar(name.to_owned())
            } else if let Some(text) = self.literal(node, &scope.words) {
                Argument::Text(text)
            } else {
                return refused(
                    node,
                    &self.plain,
                    "is given to a kernel and is neither an array nor a number that is written",
                );
            });
        }
        Ok(Launch {
            line: 1 + statement.start_position().row,
            kernel: kernel.to_owned(),
            grid,
            block,
            shared_bytes,
            arguments: given,
            text: self.plain[statement.byte_range()].to_owned(),
        })
    }

    /// Returns the array that a cast leaves an array of the same type, `(float*)x`.
    fn uncast<'t>(&self, node: Node<'t>, scope: &Scope) -> Option<Node<'t>> {
        let value = node.child_by_field_name("value")?;
        let kind = self.of(node.child_by_field_name("type")?);
        let kind = kind.replace("const", "").replace(['*', ' '], "");
        let is_same = scope.arrays.get(self.of(value))?.replace(' ', "") == kind;
        (node.kind() == "cast_expression" && is_same).then_some(value)
    }
}

/// Returns a head without what blanks stand for.
fn in_one_line(head: &str) -> String {
    let words: Vec<&str> = head.split_whitespace().collect();
    words.join(" ").replace(" ,", ",").replace(" )", ")")
}

/// Makes the sizes of a grid or a block known as whole numbers (`block.x`).
fn name_sizes(name: &str, sizes: [i64; 3], numbers: &mut BTreeMap<String, i64>) {
    for (axis, size) in ["x", "y", "z"].into_iter().zip(sizes) {
        numbers.insert(format!("{name}.{axis}"), size);
    }
}
