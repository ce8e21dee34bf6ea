//! Steps as they are, and where they are moved to.

use crate::expression::Expression;
use crate::step::{self, Step};
use autocomp_c_loops::affine::Affine;
use autocomp_nests::Text;

/// Writes steps as they are.
pub(crate) fn plain(
    steps: &[Step],
    of: &dyn Fn(&Expression) -> Expression,
    placed: &dyn Fn(&str) -> String,
    declared: &[String],
    text: &mut Text,
) {
    for step in steps {
        match step {
            Step::Let { kind, name, value } => {
                let value = value.as_ref().map(|it| of(it).to_c());
                match (declared.contains(name), value) {
                    (true, Some(value)) => text.line(&format!("{} = {value};", placed(name))),
                    (true, None) => {}
                    (false, Some(value)) => text.line(&format!("{kind} {name} = {value};")),
                    (false, None) => text.line(&format!("{kind} {name};")),
                }
            }
            Step::Assign { name, value } => {
                text.line(&format!("{} = {};", placed(name), of(value).to_c()))
            }
            Step::Store {
                array,
                index,
                value,
            } => {
                text.line(&format!(
                    "{array}[{}] = {};",
                    of(index).to_c(),
                    of(value).to_c()
                ));
            }
            Step::If {
                condition,
                then,
                otherwise,
            } => {
                text.open(&format!("if ({})", of(condition).to_c()));
                plain(then, of, placed, declared, text);
                text.close();
                if !otherwise.is_empty() {
                    text.open("else");
                    plain(otherwise, of, placed, declared, text);
                    text.close();
                }
            }
            Step::Atomic {
                function,
                array,
                index,
                value,
            } => {
                text.line(&format!(
                    "{function}(&{array}[{}], {});",
                    of(index).to_c(),
                    of(value).to_c()
                ));
            }
            Step::Loop { .. } | Step::Barrier | Step::Tree { .. } => {}
        }
    }
}

/// Returns an index with places for several coordinates at once.
pub(super) fn substituted(affine: &Affine, places: &[(String, Affine)]) -> Option<Affine> {
    let mut result = affine.clone();
    for (name, _) in places {
        result = result.substitute(name, &Affine::variable(&format!("@{name}")))?;
    }
    for (name, place) in places {
        result = result.substitute(&format!("@{name}"), place)?;
    }
    Some(result)
}

/// Returns how often a variable is read or written.
pub(super) fn mentions(steps: &[Step], name: &str) -> usize {
    let mut count = 0;
    step::expressions(steps, &mut |it| {
        it.walk(&mut |part| {
            count += usize::from(matches!(part, Expression::Scalar(found) if found == name))
        });
    });
    step::walk(steps, &mut |it| {
        count += usize::from(matches!(it, Step::Assign { name: found, .. } if found == name));
    });
    count
}
