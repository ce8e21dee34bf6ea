//! The place of a greatest or least element: found first as a value, then as a place.
//!
//! A loop that keeps the greatest element so far and where it is needs each comparison for
//! the next one. The greatest element alone does not, nor does the first place that has it.

use super::super::code::{Action, Element, Expression, Loop, Named, Statement};
use super::fresh;
use autocomp_c_loops::affine::Affine;
use std::collections::BTreeMap;

/// No index reaches these.
const ABOVE_ALL: &str = "2147483647";
const BELOW_ALL: &str = "-2147483647";

/// Takes loops apart that look for a place.
pub(super) fn apart(
    statements: Vec<Statement>,
    names: &mut BTreeMap<String, Named>,
) -> Vec<Statement> {
    let mut result = Vec::new();
    for statement in statements {
        let Statement::Loop(inner) = statement else {
            result.push(statement);
            continue;
        };
        let inner = Loop {
            body: apart(inner.body, names),
            ..inner
        };
        match Search::of(&inner, names) {
            Some(search) => result.extend(search.in_two_loops(&inner, names)),
            None => result.push(Statement::Loop(inner)),
        }
    }
    result
}

/// What a loop looks for.
struct Search {
    /// What the actions in front of the last two declare.
    locals: Vec<Statement>,
    /// The greatest or least element so far.
    top: Element,
    /// What it is chosen from.
    value: Expression,
    /// Where it is.
    at: Element,
    place: Affine,
    /// The operator between an element and the best one so far.
    operator: &'static str,
    /// Whether the place that is wanted is the least one.
    is_least_place: bool,
}

impl Search {
    fn of(inner: &Loop, names: &BTreeMap<String, Named>) -> Option<Self> {
        let (locals, last) = inner
            .body
            .split_at_checked(inner.body.len().checked_sub(2)?)?;
        let [
            Statement::Command(Action::Assign {
                target: at,
                operator: None,
                value: Expression::Choice(condition, place, kept),
            }),
            Statement::Command(Action::Assign {
                target: top,
                operator: None,
                value: Expression::Choice(same, value, best),
            }),
        ] = last
        else {
            return None;
        };
        let is = |expression: &Expression, element: &Element| matches!(expression, Expression::Element(it) if it == element);
        let Expression::Binary(left, operator, right) = &**condition else {
            return None;
        };
        let operator = match (operator.as_str(), is(left, top)) {
            (">", false) | ("<", true) => ">",
            (">=", false) | ("<=", true) => ">=",
            ("<", false) | (">", true) => "<",
            ("<=", false) | (">=", true) => "<=",
            _ => return None,
        };
        let straight = left == value && is(right, top);
        let crossed = right == value && is(left, top);
        let Expression::Index(place) = &**place else {
            return None;
        };
        let kind = |it: &Element| names.get(&it.name).map_or("", |named| named.kind.as_str());
        let fits = (straight || crossed)
            && condition == same
            && is(kept, at)
            && is(best, top)
            && at.indices.is_empty()
            && top.indices.is_empty()
            && ["float", "int32_t"].contains(&kind(top))
            && kind(at) == "int32_t";
        let is_own = |it: &&Element| it.name == at.name || it.name == top.name;
        let is_free = |value: &Expression| !value.reads().iter().any(is_own);
        let are_free = locals.iter().all(|it| match it {
            Statement::Command(Action::Declare {
                value: Some(value),
                extents,
                ..
            }) => extents.is_empty() && is_free(value),
            _ => false,
        });
        let v = &inner.variable;
        let next = place.substitute(v, &Affine::variable(v).plus_constant(1)?)?;
        let step = next.minus(place)?.as_constant()?;
        if !fits || !are_free || !is_free(value) || step == 0 {
            return None;
        }
        Some(Self {
            locals: locals.to_vec(),
            top: top.clone(),
            value: (**value).clone(),
            at: at.clone(),
            place: place.clone(),
            operator,
            // Of equal elements the first one counts, or the last one if equal ones replace it.
            is_least_place: (operator.len() == 1) == (0 < step),
        })
    }

    fn in_two_loops(self, inner: &Loop, names: &mut BTreeMap<String, Named>) -> Vec<Statement> {
        let kind = names.get(&self.top.name).map(|it| it.kind.clone());
        let mut new = |name: &str, kind: &str| {
            let name = fresh(name, names);
            let named = Named {
                kind: kind.to_owned(),
                extents: Vec::new(),
            };
            names.insert(name.clone(), named);
            Element {
                name,
                indices: Vec::new(),
            }
        };
        let before = new("before", kind.as_deref().unwrap_or("float"));
        let (found, here) = (new("found", "int32_t"), new("here", "int32_t"));
        let read = |it: &Element| Box::new(Expression::Element(it.clone()));
        let binary = |left, operator: &str, right| {
            Box::new(Expression::Binary(left, operator.to_owned(), right))
        };
        let chosen = |condition, one, other| Expression::Choice(condition, one, other);
        let declared = |it: &Element, kind: &str, value| {
            Statement::Command(Action::Declare {
                kind: kind.to_owned(),
                name: it.name.clone(),
                extents: Vec::new(),
                value: Some(value),
            })
        };
        let assigned = |it: &Element, value| {
            Statement::Command(Action::Assign {
                target: it.clone(),
                operator: None,
                value,
            })
        };
        let a_loop = |last: Vec<Statement>| {
            Statement::Loop(Loop {
                body: self.locals.iter().cloned().chain(last).collect(),
                ..inner.clone()
            })
        };
        let (top, at) = (&self.top, &self.at);
        let value = || Box::new(self.value.clone());
        let best = chosen(
            binary(value(), self.operator, read(top)),
            value(),
            read(top),
        );
        let (nowhere, sooner) = match self.is_least_place {
            true => (ABOVE_ALL, "<"),
            false => (BELOW_ALL, ">"),
        };
        let nowhere = || Expression::Number(nowhere.to_owned());
        let place = chosen(
            binary(value(), "==", read(top)),
            Box::new(Expression::Index(self.place.clone())),
            Box::new(nowhere()),
        );
        let least = chosen(
            binary(read(&here), sooner, read(&found)),
            read(&here),
            read(&found),
        );
        // An element that equals the best one before the loop replaces it only if equal ones do.
        let is_found = match self.operator {
            ">" | "<" => binary(read(top), self.operator, read(&before)),
            _ => binary(read(&found), "!=", Box::new(nowhere())),
        };
        let kind = kind.unwrap_or_default();
        vec![
            declared(&before, &kind, *read(top)),
            a_loop(vec![assigned(top, best)]),
            declared(&found, "int32_t", nowhere()),
            a_loop(vec![
                declared(&here, "int32_t", place),
                assigned(&found, least),
            ]),
            assigned(at, chosen(is_found, read(&found), read(at))),
        ]
    }
}
