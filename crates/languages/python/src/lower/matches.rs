//! `match`: values, names, alternatives, sequences, classes.

use ruff_python_ast::{Pattern as Written, Singleton, StmtMatch};
use ruff_text_size::Ranged;

use super::Lowering;
use crate::diagnostic::Outcome;
use crate::foreign::Foreign;
use crate::tree::{Action, Case, Pattern};
use crate::value::Value;

impl<F: Foreign> Lowering<'_, F> {
    /// Gives the names that a pattern binds slots of the current scope.
    pub(super) fn declare_pattern(&mut self, pattern: &Written) {
        match pattern {
            Written::MatchAs(node) => {
                if let Some(name) = &node.name {
                    self.bind(name.id.as_str());
                }
                if let Some(inner) = &node.pattern {
                    self.declare_pattern(inner);
                }
            }
            Written::MatchStar(node) => {
                if let Some(name) = &node.name {
                    self.bind(name.id.as_str());
                }
            }
            Written::MatchOr(node) => node.patterns.iter().for_each(|p| self.declare_pattern(p)),
            Written::MatchSequence(node) => {
                node.patterns.iter().for_each(|p| self.declare_pattern(p));
            }
            _ => {}
        }
    }

    pub(super) fn choice(&mut self, node: &StmtMatch) -> Outcome<Action<F>> {
        let subject = self.expression(&node.subject)?;
        let mut cases = Vec::new();
        for case in &node.cases {
            let pattern = self.pattern(&case.pattern)?;
            let guard = case.guard.as_ref().map(|it| self.expression(it));
            cases.push(Case {
                pattern,
                guard: guard.transpose()?,
                body: self.block(&case.body)?,
            });
        }
        Ok(Action::Match(subject, cases))
    }

    fn pattern(&mut self, pattern: &Written) -> Outcome<Pattern<F>> {
        self.enter(pattern.start())?;
        let line = self.line(pattern.start());
        let name = |this: &mut Self, name: &Option<ruff_python_ast::Identifier>| {
            name.as_ref()
                .map(|it| this.name_target(it.id.as_str(), line))
        };
        let lowered = match pattern {
            Written::MatchValue(node) => Pattern::Value(self.expression(&node.value)?),
            Written::MatchSingleton(node) => Pattern::Same(match node.value {
                Singleton::None => Value::None,
                Singleton::True => Value::Bool(true),
                Singleton::False => Value::Bool(false),
            }),
            Written::MatchOr(node) => {
                let all = node.patterns.iter().map(|it| self.pattern(it));
                Pattern::Any(all.collect::<Outcome<_>>()?)
            }
            Written::MatchAs(node) => {
                let inner = node
                    .pattern
                    .as_ref()
                    .map(|it| self.pattern(it))
                    .transpose()?;
                Pattern::Capture(inner.map(Box::new), name(self, &node.name))
            }
            Written::MatchSequence(node) => {
                let (mut items, mut star) = (Vec::new(), None);
                for item in &node.patterns {
                    match item {
                        Written::MatchStar(starred) => {
                            star = Some((items.len(), name(self, &starred.name)));
                        }
                        other => items.push(self.pattern(other)?),
                    }
                }
                Pattern::Sequence(items, star)
            }
            Written::MatchClass(node)
                if node.arguments.patterns.is_empty() && node.arguments.keywords.is_empty() =>
            {
                Pattern::Class(self.expression(&node.cls)?)
            }
            other => Pattern::Refused(self.refuse(
                other.start(),
                "this pattern",
                "match values, names, alternatives or sequences, or ask with if",
            )),
        };
        self.depth -= 1;
        Ok(lowered)
    }
}
