//! Places in the statement tree, and what encloses them.

use crate::condition::Condition;
use crate::statement::{Loop, Statement};

/// A place in the statement tree: one index per level. Under a guard, the
/// statements of the `else` branch are counted after those of the other.
pub type Path = Vec<usize>;

/// A command with what encloses it.
#[derive(Clone, Debug)]
pub struct Site<'kernel, C> {
    /// Where the command is.
    pub path: Path,
    /// The command.
    pub command: &'kernel C,
    /// Enclosing loops, outermost first, each with the length of its path.
    pub loops: Vec<(usize, &'kernel Loop<C>)>,
    /// Conditions under which the command runs, outermost first, each with the
    /// length of the path of its guard.
    pub conditions: Vec<(usize, Condition)>,
}

impl<C> Site<'_, C> {
    /// Returns whether the command is inside the statement at `path`.
    #[must_use]
    pub fn is_inside(&self, path: &[usize]) -> bool {
        path.len() < self.path.len() && self.path.starts_with(path)
    }

    /// Returns the enclosing loop with this variable.
    #[must_use]
    pub fn enclosing(&self, variable: &str) -> Option<&Loop<C>> {
        self.loops
            .iter()
            .map(|(_, inner)| *inner)
            .find(|inner| inner.variable == variable)
    }
}

/// Returns every command with what encloses it, in the order of the text.
#[must_use]
pub fn sites<C>(body: &[Statement<C>]) -> Vec<Site<'_, C>> {
    let mut found = Vec::new();
    collect(
        body,
        0,
        &mut Vec::new(),
        &mut Vec::new(),
        &mut Vec::new(),
        &mut found,
    );
    found
}

fn collect<'kernel, C>(
    statements: &'kernel [Statement<C>],
    first_index: usize,
    path: &mut Path,
    loops: &mut Vec<(usize, &'kernel Loop<C>)>,
    conditions: &mut Vec<(usize, Condition)>,
    found: &mut Vec<Site<'kernel, C>>,
) {
    for (idx, statement) in statements.iter().enumerate() {
        path.push(first_index + idx);
        match statement {
            Statement::Loop(inner) => {
                loops.push((path.len(), inner));
                collect(&inner.body, 0, path, loops, conditions, found);
                loops.pop();
            }
            Statement::Guard(guard) => {
                conditions.push((path.len(), guard.condition.clone()));
                collect(&guard.then, 0, path, loops, conditions, found);
                conditions.pop();
                conditions.push((path.len(), guard.condition.negate()));
                collect(
                    &guard.otherwise,
                    guard.then.len(),
                    path,
                    loops,
                    conditions,
                    found,
                );
                conditions.pop();
            }
            Statement::Command(command) => found.push(Site {
                path: path.clone(),
                command,
                loops: loops.clone(),
                conditions: conditions.clone(),
            }),
            Statement::Comment(_) | Statement::Opaque(_) => {}
        }
        path.pop();
    }
}

/// Returns the paths of all loops, in the order of the text.
#[must_use]
pub fn loop_paths<C>(body: &[Statement<C>]) -> Vec<Path> {
    let mut found = Vec::new();
    let mut pending: Vec<(Path, &Statement<C>)> = body
        .iter()
        .enumerate()
        .map(|(idx, statement)| (vec![idx], statement))
        .rev()
        .collect();
    while let Some((path, statement)) = pending.pop() {
        let mut inner: Vec<&Statement<C>> = Vec::new();
        match statement {
            Statement::Loop(inner_loop) => {
                found.push(path.clone());
                inner.extend(&inner_loop.body);
            }
            Statement::Guard(guard) => {
                inner.extend(&guard.then);
                inner.extend(&guard.otherwise);
            }
            _ => {}
        }
        for (idx, statement) in inner.into_iter().enumerate().rev() {
            let mut below = path.clone();
            below.push(idx);
            pending.push((below, statement));
        }
    }
    found
}

/// Returns the statement at `path`.
#[must_use]
pub fn get<'kernel, C>(
    body: &'kernel [Statement<C>],
    path: &[usize],
) -> Option<&'kernel Statement<C>> {
    let (first, rest) = path.split_first()?;
    let statement = body.get(*first)?;
    let Some(next) = rest.first() else {
        return Some(statement);
    };
    match statement {
        Statement::Loop(inner) => get(&inner.body, rest),
        Statement::Guard(guard) => match next.checked_sub(guard.then.len()) {
            None => get(&guard.then, rest),
            Some(next) => {
                let mut below = rest.to_vec();
                below[0] = next;
                get(&guard.otherwise, &below)
            }
        },
        _ => None,
    }
}

/// Returns the list that holds the statement at `path`, and its index there.
pub fn list_mut<'kernel, C>(
    body: &'kernel mut Vec<Statement<C>>,
    path: &[usize],
) -> Option<(&'kernel mut Vec<Statement<C>>, usize)> {
    let (first, rest) = path.split_first()?;
    let Some(next) = rest.first() else {
        return (*first < body.len()).then_some((body, *first));
    };
    match body.get_mut(*first)? {
        Statement::Loop(inner) => list_mut(&mut inner.body, rest),
        Statement::Guard(guard) => match next.checked_sub(guard.then.len()) {
            None => list_mut(&mut guard.then, rest),
            Some(next) => {
                let mut below = rest.to_vec();
                below[0] = next;
                list_mut(&mut guard.otherwise, &below)
            }
        },
        _ => None,
    }
}

/// Returns the paths of everything that holds a list of statements: the
/// empty path for the body, and those of loops and guards (without their
/// `else` branches).
#[must_use]
pub fn list_paths<C>(body: &[Statement<C>]) -> Vec<Path> {
    let mut found = vec![Path::new()];
    let mut idx = 0;
    while idx < found.len() {
        let holder = found[idx].clone();
        for (below, statement) in list(body, &holder).unwrap_or_default().iter().enumerate() {
            if matches!(statement, Statement::Loop(_) | Statement::Guard(_)) {
                let mut path = holder.clone();
                path.push(below);
                found.push(path);
            }
        }
        idx += 1;
    }
    found
}

/// Returns the statements inside the loop or guard at `path`; of a guard,
/// those that run if its condition holds. The empty path stands for the body.
#[must_use]
pub fn list<'kernel, C>(
    body: &'kernel [Statement<C>],
    path: &[usize],
) -> Option<&'kernel [Statement<C>]> {
    if path.is_empty() {
        return Some(body);
    }
    match get(body, path)? {
        Statement::Loop(inner) => Some(&inner.body),
        Statement::Guard(guard) => Some(&guard.then),
        _ => None,
    }
}

/// Returns the statement at `path`, to change it.
pub fn get_mut<'kernel, C>(
    body: &'kernel mut Vec<Statement<C>>,
    path: &[usize],
) -> Option<&'kernel mut Statement<C>> {
    let (list, idx) = list_mut(body, path)?;
    list.get_mut(idx)
}

/// Returns the loop at `path`.
#[must_use]
pub fn get_loop<'kernel, C>(
    body: &'kernel [Statement<C>],
    path: &[usize],
) -> Option<&'kernel Loop<C>> {
    match get(body, path)? {
        Statement::Loop(inner) => Some(inner),
        _ => None,
    }
}

/// Puts `statements` in the place of the one at `path`.
pub fn replace<C>(
    body: &mut Vec<Statement<C>>,
    path: &[usize],
    statements: Vec<Statement<C>>,
) -> Option<()> {
    let (list, idx) = list_mut(body, path)?;
    list.splice(idx..=idx, statements);
    Some(())
}

/// Removes loops and guards that hold nothing but comments.
pub fn prune<C>(statements: &mut Vec<Statement<C>>) {
    statements.retain_mut(|statement| match statement {
        Statement::Loop(inner) => {
            prune(&mut inner.body);
            !only_comments(&inner.body)
        }
        Statement::Guard(guard) => {
            prune(&mut guard.then);
            prune(&mut guard.otherwise);
            if only_comments(&guard.then) && !only_comments(&guard.otherwise) {
                guard.condition = guard.condition.negate();
                guard.then = std::mem::take(&mut guard.otherwise);
            } else if only_comments(&guard.otherwise) {
                guard.otherwise.clear();
            }
            !only_comments(&guard.then)
        }
        _ => true,
    });
}

fn only_comments<C>(statements: &[Statement<C>]) -> bool {
    statements
        .iter()
        .all(|statement| matches!(statement, Statement::Comment(_)))
}
