//! A kernel: its launches as nests, and what it becomes with a schedule.

use crate::GpuResources;
use crate::nest::{Nest, nest};
use crate::read::thread;
use crate::schedule::{Part, Schedule};
use crate::source::{File, Host, HostStep, Launch};
use crate::step::{self, Step, accumulated};
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::syntax::children;
use autocomp_nests::Refusal;
use std::collections::{BTreeMap, BTreeSet};

/// A kernel as it was read.
pub(crate) struct Program {
    /// What stands outside of functions and functions of the host, which stay; kernels by their names,
    /// and functions of the device (no name), which kernels that stay may need.
    others: Vec<(Option<String>, String)>,
    head: String,
    pub items: Vec<Item>,
}

/// A statement of the host function.
pub(crate) enum Item {
    Text(String),
    /// A launch, or several that were put together: as written, and what they compute or why that
    /// is not known.
    Launch(Vec<Launch>, Box<Result<Nest, Refusal>>),
}

impl Program {
    /// Reads a source whose host function is `entry`, which is given arrays of so many elements.
    ///
    /// # Errors
    /// What is not understood, of the whole.
    pub(crate) fn read(source: &str, entry: &str, extents: &[i64]) -> Result<Self, Refusal> {
        let file = File::parse(source, entry)?;
        let Host {
            head,
            steps,
            scratch,
            arrays,
        } = file.host(entry)?;
        let extents: BTreeMap<String, i64> =
            arrays.into_iter().zip(extents.iter().copied()).collect();
        let mut taken = BTreeSet::new();
        let mut items = Vec::new();
        for step in steps {
            items.push(match step {
                HostStep::Text(text) => Item::Text(text),
                HostStep::Launch(launch) => {
                    let mut read =
                        thread(&file, &launch, &mut taken).and_then(|it| nest(&launch.kernel, it));
                    if let Ok(nest) = &mut read {
                        nest.extents.clone_from(&extents);
                    }
                    Item::Launch(vec![launch], Box::new(read))
                }
            });
        }
        let functions = file.functions();
        let said = file.namespaces.iter();
        let mut others: Vec<_> = said.map(|it| (None, it.clone())).collect();
        for node in children(file.tree.root_node()) {
            let text = file.plain[node.byte_range()].to_owned();
            let function = functions.iter().find(|it| it.1 == node);
            match function {
                Some((name, _)) if name == entry => {}
                Some((name, node)) => {
                    let of = if file.is_marked(*node, "__global__") {
                        Some(name.clone())
                    } else {
                        // What the host function calls stays.
                        file.is_marked(*node, "__device__").then(String::new)
                    };
                    others.push((of, text));
                }
                None => others.push((None, text)),
            }
        }
        let mut program = Self {
            others,
            head,
            items,
        };
        program.join(&scratch);
        Ok(program)
    }

    /// Puts together a launch that leaves parts of a sum in scratch memory, and the one that adds
    /// them up.
    fn join(&mut self, scratch: &BTreeSet<String>) {
        let mut at = 0;
        while at + 1 < self.items.len() {
            if let Some(joined) = self.joined(at, scratch) {
                let (Item::Launch(first, _), Item::Launch(second, _)) =
                    (&self.items[at], &self.items[at + 1])
                else {
                    return;
                };
                let launches = first.iter().chain(second).cloned().collect();
                self.items
                    .splice(at..at + 2, [Item::Launch(launches, Box::new(Ok(joined)))]);
            }
            at += 1;
        }
    }

    fn joined(&self, at: usize, scratch: &BTreeSet<String>) -> Option<Nest> {
        let (Item::Launch(_, first), Item::Launch(_, second)) =
            (&self.items[at], &self.items[at + 1])
        else {
            return None;
        };
        let (Ok(first), Ok(second)) = (&**first, &**second) else {
            return None;
        };
        let coordinate = first.split.as_ref()?;
        let [
            before @ ..,
            Step::Store {
                array,
                index,
                value: crate::expression::Expression::Scalar(sum),
            },
        ] = first.steps.as_slice()
        else {
            return None;
        };
        let own = crate::expression::Expression::Index(Affine::variable(coordinate));
        let blocks = first
            .points
            .iter()
            .find(|it| it.name == *coordinate)?
            .extent;
        let only = first.points.len() == 1 && *index == own && scratch.contains(first.given(array));
        // Nobody else may look at the parts.
        let others = self.items.iter().enumerate().any(|(idx, item)| match item {
            Item::Launch(launches, _) if idx != at && idx != at + 1 => launches
                .iter()
                .any(|it| it.text.contains(first.given(array))),
            _ => false,
        });
        if !only || others || !second.points.is_empty() || second.split.is_some() {
            return None;
        }
        let mut steps = before.to_vec();
        let mut replaced = 0;
        for step in &second.steps {
            if !step::any(
                std::slice::from_ref(step),
                &|it| matches!(it, crate::expression::Expression::Load(of, _) if of == array),
            ) {
                steps.push(step.clone());
                continue;
            }
            let Step::Loop {
                variable,
                start,
                end,
                step: 1,
                body,
            } = step
            else {
                return None;
            };
            let [Step::Assign { name, value }] = body.as_slice() else {
                return None;
            };
            let (joining, rest) = accumulated(name, value)?;
            let element = crate::expression::Expression::Load(
                array.clone(),
                Box::new(crate::expression::Expression::Index(Affine::variable(
                    variable,
                ))),
            );
            let is_whole = start.as_constant() == Some(0)
                && end.as_constant() == Some(blocks)
                && *rest == element;
            let loops: Vec<_> = before.iter().filter_map(crate::rows::shared_loop).collect();
            let [shared] = loops.as_slice() else {
                return None;
            };
            let [
                Step::Assign {
                    name: of,
                    value: first_value,
                },
            ] = shared.body
            else {
                return None;
            };
            let same = of == sum && accumulated(of, first_value)?.0 == joining;
            if !is_whole || !same {
                return None;
            }
            replaced += 1;
            let own = crate::expression::Expression::Scalar(sum.clone());
            steps.push(Step::Assign {
                name: name.clone(),
                value: value.map(&|it| (*it == element).then(|| own.clone())),
            });
        }
        let is_used_otherwise = step::any(
            before,
            &|it| matches!(it, crate::expression::Expression::Index(index) if index.mentions("*")),
        );
        if replaced != 1 || is_used_otherwise {
            return None;
        }
        let mut nest = first.clone();
        nest.points.clear();
        nest.split = None;
        nest.steps = steps;
        nest.kinds.extend(second.kinds.clone());
        for parameter in &second.parameters {
            if !nest.parameters.contains(parameter) {
                nest.parameters.push(parameter.clone());
            }
        }
        Some(nest)
    }

    /// Returns the launches that are understood, or why one is not.
    pub(crate) fn launches(&self) -> Vec<(&[Launch], Result<&Nest, &Refusal>)> {
        let all = self.items.iter().filter_map(|it| match it {
            Item::Launch(launches, nest) => Some((launches.as_slice(), (**nest).as_ref())),
            Item::Text(_) => None,
        });
        all.collect()
    }

    /// Writes the kernel with a schedule; nothing if that does not fit.
    pub(crate) fn write(&self, schedule: &Schedule, machine: &GpuResources) -> Option<String> {
        if self.launches().len() != schedule.launches.len() {
            return None;
        }
        let mut parts = schedule.launches.iter();
        let mut functions: Vec<String> = Vec::new();
        let mut host = Vec::new();
        let mut kept = BTreeSet::new();
        for item in &self.items {
            match item {
                Item::Text(text) => host.push(text.clone()),
                Item::Launch(launches, nest) => {
                    let part = parts.next()?;
                    if *part == Part::AsWritten {
                        for launch in launches {
                            kept.insert(launch.kernel.clone());
                            host.push(launch.text.clone());
                        }
                        continue;
                    }
                    let nest = (**nest).as_ref().ok()?;
                    let name = format!("{}_{}", nest.kernel, schedule.launches.len() - parts.len());
                    let written = part.write(nest, &name, machine)?;
                    functions.push(written.functions.join("\n"));
                    host.extend(written.host);
                }
            }
        }
        let others = self.others.iter().filter(|(name, _)| match name {
            None => true,
            Some(name) if name.is_empty() => !kept.is_empty(),
            Some(name) => kept.contains(name),
        });
        let mut code: Vec<String> = others.map(|it| it.1.clone()).collect();
        code.extend(functions);
        let body: String = host.iter().map(|it| format!("  {it}\n")).collect();
        code.push(format!("{} {{\n{body}}}", self.head));
        Some(code.join("\n\n") + "\n")
    }
}
