//! Other forms of a plain kernel, before schedules divide it into parts: short loops written out,
//! and what outer loops compute again and again kept in tables.

mod apart;

use super::code::{Action, Element, Expression, Index, Loop, Named, Program, Statement};
use super::{code, normal, pieces};
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::statement::{Command, count_commands, substitute};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Iterations of a loop that is written out, at most.
const MOST_TRIPS: i64 = 9;
/// Commands that a loop written out becomes, at most.
const MOST_COMMANDS: u64 = 96;
/// Elements of a table, at most.
const MOST_ELEMENTS: i64 = 1 << 16;

/// A change of a plain kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Innermost loops of few iterations are written out, so that the loop around is innermost.
    WrittenOut,
    /// Loops around several innermost loops become one around each of them.
    Apart,
    /// What an inner loop computes of its own variable alone is computed once, before all loops.
    Tables,
}

/// Combinations that are tried.
pub(super) const TRIED: [&[Form]; 6] = [
    &[],
    &[Form::WrittenOut],
    &[Form::Apart],
    &[Form::WrittenOut, Form::Apart],
    &[Form::Tables],
    &[Form::WrittenOut, Form::Tables],
];

impl Form {
    /// Returns a program in this form; nothing if that changes nothing or is not possible.
    fn applied(self, program: &Program) -> Option<Program> {
        let mut result = program.clone();
        match self {
            Self::WrittenOut => {
                let body = written_out(&program.body, 0, &mut result.names)?;
                let body = normal::told_apart(&body, &mut result.names);
                result.body = pieces::cut(&body, false);
            }
            Self::Apart => result.body = apart::apart(&program.body)?,
            Self::Tables => result.body = with_tables(&program.body, &mut result.names)?,
        }
        (result.body != program.body).then_some(result)
    }

    /// Says what is done.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::WrittenOut => {
                "Write out innermost loops of few iterations, so that the loop around them is innermost."
            }
            Self::Apart => {
                "Run through each of several loops inside another one by itself, so that edges are apart from what lies between them."
            }
            Self::Tables => {
                "Compute what depends on an inner loop's variable alone once, before all loops, and keep it in tables."
            }
        }
    }
}

/// Returns a program in several forms, one upon the other; nothing if one of them changes nothing.
pub(super) fn applied(program: &Program, forms: &[Form]) -> Option<Program> {
    let mut result = program.clone();
    for form in forms {
        result = form.applied(&result)?;
    }
    Some(result)
}

/// Returns statements with short innermost loops written out, if that leaves no loop in the loop
/// around them.
fn written_out(
    statements: &[Statement],
    depth: usize,
    names: &mut BTreeMap<String, Named>,
) -> Option<Vec<Statement>> {
    let mut below = Vec::new();
    for statement in statements {
        below.push(match statement {
            Statement::Loop(whole) => Statement::Loop(Loop {
                body: written_out(&whole.body, depth + 1, names)?,
                ..whole.clone()
            }),
            other => other.clone(),
        });
    }
    let is_short = |it: &Statement| match it {
        Statement::Loop(inner) => {
            let innermost = inner
                .body
                .iter()
                .all(|it| matches!(it, Statement::Command(_)));
            let trips = inner.trips();
            let commands = count_commands(&inner.body) as u64 * trips.unsigned_abs();
            innermost && trips <= MOST_TRIPS && commands <= MOST_COMMANDS
        }
        _ => true,
    };
    if depth == 0 || !below.iter().all(is_short) {
        return Some(below);
    }
    let mut result = Vec::new();
    for statement in below {
        let Statement::Loop(inner) = statement else {
            result.push(statement);
            continue;
        };
        for copy in 0..inner.trips() {
            let value = Affine::constant(inner.start + copy * inner.step);
            let body = substitute(&inner.body, &inner.variable, &value)?;
            result.extend(with_own_names(&body, copy, names));
        }
    }
    Some(result)
}

/// Gives what statements declare other names.
fn with_own_names(
    body: &[Statement],
    copy: i64,
    names: &mut BTreeMap<String, Named>,
) -> Vec<Statement> {
    let mut own: BTreeMap<String, String> = BTreeMap::new();
    for (_, action) in code::actions(body) {
        if let Action::Declare { name, .. } = action
            && let Some(named) = names.get(name).cloned()
        {
            let other = normal::fresh(&format!("{name}_c{copy}"), names);
            names.insert(other.clone(), named);
            own.insert(name.clone(), other);
        }
    }
    code::with_elements(body, &|element| Element {
        name: own.get(&element.name).unwrap_or(&element.name).clone(),
        indices: element.indices.clone(),
    })
}

/// Returns statements with tables in front of each outermost loop.
fn with_tables(
    statements: &[Statement],
    names: &mut BTreeMap<String, Named>,
) -> Option<Vec<Statement>> {
    let written: BTreeSet<String> = code::actions(statements)
        .iter()
        .filter_map(|(_, action)| match action {
            Action::Assign { target, .. } => Some(target.name.clone()),
            Action::Declare { .. } => None,
        })
        .collect();
    let mut result = Vec::new();
    for statement in statements {
        match statement {
            Statement::Loop(outer) => {
                let mut tables = Vec::new();
                let body = tabled(&outer.body, &written, names, &mut tables)?;
                result.append(&mut tables);
                result.push(Statement::Loop(Loop {
                    body,
                    ..outer.clone()
                }));
            }
            other => result.push(other.clone()),
        }
    }
    Some(result)
}

/// Returns the statements of a loop's body; innermost loops in it read from tables, which are
/// added to `tables`.
fn tabled(
    body: &[Statement],
    written: &BTreeSet<String>,
    names: &mut BTreeMap<String, Named>,
    tables: &mut Vec<Statement>,
) -> Option<Vec<Statement>> {
    let mut result = Vec::new();
    for statement in body {
        match statement {
            Statement::Loop(inner) => {
                let innermost = inner
                    .body
                    .iter()
                    .all(|it| matches!(it, Statement::Command(_)));
                let body = match innermost {
                    true => read_from_tables(inner, written, names, tables)
                        .unwrap_or_else(|| inner.body.clone()),
                    false => tabled(&inner.body, written, names, tables)?,
                };
                result.push(Statement::Loop(Loop {
                    body,
                    ..inner.clone()
                }));
            }
            other => result.push(other.clone()),
        }
    }
    Some(result)
}

fn read_from_tables(
    inner: &Loop,
    written: &BTreeSet<String>,
    names: &mut BTreeMap<String, Named>,
    tables: &mut Vec<Statement>,
) -> Option<Vec<Statement>> {
    let v = &inner.variable;
    if inner.start != 0 || MOST_ELEMENTS < inner.end {
        return None;
    }
    // Variables of the loop's own variable alone, with what they are.
    let mut own: Vec<(&String, &String, &Statement)> = Vec::new();
    let mut left: Vec<&Statement> = Vec::new();
    for statement in &inner.body {
        let Statement::Command(action) = statement else {
            return None;
        };
        match action {
            Action::Declare {
                kind,
                name,
                extents,
                value: Some(value),
            } if extents.is_empty()
                && !written.contains(name)
                && is_of(value, v, &own, written, names) =>
            {
                own.push((name, kind, statement));
            }
            _ => left.push(statement),
        }
    }
    let is_costly = |(name, _, statement): &(&String, &String, &Statement)| {
        let Statement::Command(Action::Declare { value, .. }) = statement else {
            return false;
        };
        let plain = matches!(value, Some(Expression::Number(_) | Expression::Index(_)));
        let needed = left.iter().any(|it| match it {
            Statement::Command(action) => action.mentions(name),
            _ => true,
        });
        !plain && needed
    };
    let kept: Vec<&(&String, &String, &Statement)> =
        own.iter().filter(|it| is_costly(it)).collect();
    if kept.is_empty() {
        return None;
    }
    let mut filled: Vec<Statement> = own
        .iter()
        .map(|(.., statement)| (*statement).clone())
        .collect();
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    for (name, kind, _) in kept {
        let table = normal::fresh(&format!("{name}_of_{v}"), names);
        let named = Named {
            kind: (*kind).clone(),
            extents: vec![inner.end],
        };
        tables.push(Statement::Command(Action::Declare {
            kind: format!("static {kind}"),
            name: table.clone(),
            extents: named.extents.clone(),
            value: None,
        }));
        filled.push(Statement::Command(Action::Assign {
            target: at(&table, v),
            operator: None,
            value: Expression::Element(Element::variable(name)),
        }));
        names.insert(table.clone(), named);
        places.insert((*name).clone(), table);
    }
    tables.push(Statement::Loop(Loop {
        body: filled,
        ..inner.clone()
    }));
    // What is cheap is still computed where it is needed.
    let rest: Vec<Statement> = inner
        .body
        .iter()
        .filter(|it| match it {
            Statement::Command(Action::Declare { name, .. }) => !places.contains_key(name),
            _ => true,
        })
        .cloned()
        .collect();
    Some(code::with_elements(
        &rest,
        &|element| match places.get(&element.name) {
            Some(table) => at(table, v),
            None => element.clone(),
        },
    ))
}

fn at(table: &str, variable: &str) -> Element {
    Element {
        name: table.to_owned(),
        indices: vec![Index::Affine(Affine::variable(variable))],
    }
}

/// Returns whether a value depends on one loop variable and on what never changes, only.
fn is_of(
    value: &Expression,
    variable: &str,
    own: &[(&String, &String, &Statement)],
    written: &BTreeSet<String>,
    names: &BTreeMap<String, Named>,
) -> bool {
    let only = |affine: &Affine| {
        let mut variables = Vec::new();
        affine.collect_variables(&mut variables);
        variables.iter().all(|it| it == variable)
    };
    let of = |it: &Expression| is_of(it, variable, own, written, names);
    match value {
        Expression::Number(_) => true,
        Expression::Index(affine) => only(affine),
        Expression::Element(element) => {
            let declared = own.iter().any(|(name, ..)| **name == element.name);
            let array = names
                .get(&element.name)
                .is_some_and(|it| !it.extents.is_empty());
            let indices = element.indices.iter().all(|index| match index {
                Index::Affine(affine) => only(affine),
                Index::Value(value) => of(value),
            });
            indices && (declared || array && !written.contains(&element.name))
        }
        Expression::Negative(inner) | Expression::Cast(_, inner) => of(inner),
        Expression::Binary(left, _, right) => of(left) && of(right),
        Expression::Choice(condition, one, other) => of(condition) && of(one) && of(other),
        Expression::Call(_, arguments) => arguments.iter().all(of),
    }
}
