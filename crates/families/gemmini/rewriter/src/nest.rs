//! Copies of moves, with the loops they need, for other places in the kernel.

use crate::affine::Affine;
use crate::analysis::{Analysis, Buffer};
use crate::condition::Condition;
use crate::kernel::{Command, Dram, Guard, Loop, Statement, substitute};
use crate::tree::{Path, Site, get};

/// Returns the command of `site` inside copies of those loops within the loop
/// at `around` that choose its addresses; `fixed` replaces the variable of that loop.
pub(crate) fn nest(
    site: &Site<'_>,
    around: &[usize],
    variable: &str,
    fixed: &Affine,
) -> Option<Vec<Statement>> {
    let mut statements = vec![Statement::Command(site.command.clone())];
    let mut wrappers: Vec<(usize, Wrapper<'_>)> = Vec::new();
    wrappers.extend(
        site.loops
            .iter()
            .map(|(depth, inner)| (*depth, Wrapper::Loop(inner))),
    );
    wrappers.extend(
        site.conditions
            .iter()
            .map(|(depth, guard)| (*depth, Wrapper::Guard(guard))),
    );
    wrappers.retain(|(depth, _)| around.len() < *depth);
    wrappers.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
    for (_, wrapper) in wrappers {
        statements = match wrapper {
            Wrapper::Loop(inner) if site.command.mentions(&inner.variable) => {
                vec![Statement::Loop(Loop {
                    body: statements,
                    ..inner.clone()
                })]
            }
            // Every iteration does the same: one is enough.
            Wrapper::Loop(inner) => {
                substitute(&statements, &inner.variable, &Affine::constant(inner.start))?
            }
            Wrapper::Guard(condition) => vec![Statement::Guard(Guard {
                condition: condition.clone(),
                then: statements,
                otherwise: Vec::new(),
            })],
        };
    }
    substitute(&statements, variable, fixed)
}

enum Wrapper<'kernel> {
    Loop(&'kernel Loop),
    Guard(&'kernel Condition),
}

/// Returns the places of the largest statements inside the loop at `around`
/// that hold nothing but moves into `buffer`, without repetition.
pub(crate) fn load_places(
    body: &[Statement],
    analysis: &Analysis<'_>,
    buffer: &Buffer,
    around: &[usize],
) -> Vec<Path> {
    let mut places: Vec<Path> = Vec::new();
    for access in buffer.writes() {
        let mut path = analysis.site(access).path.clone();
        while around.len() + 1 < path.len() {
            let parent = &path[..path.len() - 1];
            let only_loads = analysis.sites.iter().enumerate().all(|(idx, site)| {
                !site.path.starts_with(parent) || buffer.writes().any(|write| write.site == idx)
            });
            // An `else` branch would need its own condition.
            let plain = match get(body, parent) {
                Some(Statement::Guard(guard)) => guard.otherwise.is_empty(),
                Some(Statement::Loop(_)) => true,
                _ => false,
            };
            if !only_loads || !plain {
                break;
            }
            path.pop();
        }
        if !places.contains(&path) {
            places.push(path);
        }
    }
    places
}

/// Returns whether every write of the buffer moves in elements of an array,
/// inside the loop at `around`.
pub(crate) fn is_loaded_inside(analysis: &Analysis<'_>, buffer: &Buffer, around: &[usize]) -> bool {
    buffer
        .accesses
        .iter()
        .all(|access| analysis.site(access).is_inside(around))
        && buffer.writes().next().is_some()
        && buffer.writes().all(|access| {
            matches!(
                analysis.site(access).command,
                Command::MoveIn(command) if matches!(command.source, Dram::Element { .. })
            )
        })
}

/// Joins neighbouring guards with the same condition.
pub(crate) fn join_guards(statements: &mut Vec<Statement>) {
    let mut joined: Vec<Statement> = Vec::with_capacity(statements.len());
    for mut statement in std::mem::take(statements) {
        match &mut statement {
            Statement::Loop(inner) => join_guards(&mut inner.body),
            Statement::Guard(guard) => {
                join_guards(&mut guard.then);
                join_guards(&mut guard.otherwise);
                if let Some(Statement::Guard(last)) = joined.last_mut()
                    && last.condition == guard.condition
                {
                    last.then.append(&mut guard.then);
                    last.otherwise.append(&mut guard.otherwise);
                    continue;
                }
            }
            _ => {}
        }
        joined.push(statement);
    }
    *statements = joined;
}
