//! Classes: methods, values, fields of dataclasses and named tuples, members of enumerations.

use std::rc::Rc;

use ruff_python_ast::{Expr, Stmt, StmtClassDef};
use ruff_text_size::Ranged;

use super::Lowering;
use crate::diagnostic::Outcome;
use crate::foreign::Foreign;
use crate::objects::MethodKind;
use crate::tree::{Action, ClassCode, Content, Expression, Member, Node};

/// Names between two underscores that methods of a class may have.
const SPECIAL: &[&str] = &[
    "__init__",
    "__post_init__",
    "__call__",
    "__getitem__",
    "__setitem__",
    "__len__",
    "__iter__",
    "__contains__",
    "__bool__",
    "__enter__",
    "__exit__",
    "__repr__",
    "__str__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__neg__",
    "__add__",
    "__radd__",
    "__sub__",
    "__rsub__",
    "__mul__",
    "__rmul__",
    "__matmul__",
    "__rmatmul__",
    "__truediv__",
    "__rtruediv__",
    "__floordiv__",
    "__rfloordiv__",
    "__mod__",
    "__rmod__",
    "__pow__",
    "__rpow__",
    "__lshift__",
    "__rlshift__",
    "__rshift__",
    "__rrshift__",
    "__and__",
    "__rand__",
    "__or__",
    "__ror__",
    "__xor__",
    "__rxor__",
];
/// The same for what does no harm and has no effect here.
const IGNORED: &[&str] = &["__slots__", "__doc__", "__hash__", "__name__"];

/// Last name of a decorator or of what it calls (`dataclasses.dataclass(frozen=True)`).
fn last_name(expression: &Expr) -> &str {
    match expression {
        Expr::Name(node) => node.id.as_str(),
        Expr::Attribute(node) => node.attr.id.as_str(),
        Expr::Call(node) => last_name(&node.func),
        _ => "",
    }
}

/// Whether a call has the keyword `name` with the value `True`.
fn is_set(expression: &Expr, name: &str) -> bool {
    let Expr::Call(node) = expression else {
        return false;
    };
    let named = |keyword: &&ruff_python_ast::Keyword| {
        keyword.arg.as_ref().is_some_and(|arg| arg.id == name)
    };
    let found = node.arguments.keywords.iter().find(named);
    found.is_some_and(|it| matches!(&it.value, Expr::BooleanLiteral(value) if value.value))
}

impl<F: Foreign> Lowering<'_, F> {
    pub(super) fn class(&mut self, node: &StmtClassDef, line: u32) -> Outcome<Action<F>> {
        let name = node.name.id.as_str();
        let target = self.name_target(name, line);
        let mut dataclass = None;
        for decorator in &node.decorator_list {
            match last_name(&decorator.expression) {
                "dataclass" => dataclass = Some(is_set(&decorator.expression, "frozen")),
                "jit" | "final" | "unique" | "total_ordering" => {}
                other => {
                    let what = format!("the class decorator `{other}`");
                    let remedy = "use @dataclass, or write the class out";
                    return Ok(Action::Refused(self.refuse(
                        node.name.start(),
                        &what,
                        remedy,
                    )));
                }
            }
        }
        let mut bases = Vec::new();
        for base in node.bases() {
            bases.push(self.expression(base)?);
        }
        let before = self.top().overlay.len();
        let (mut members, mut methods) = (Vec::new(), Vec::new());
        for statement in &node.body {
            let line = self.line(statement.start());
            match statement {
                Stmt::Pass(_) => {}
                Stmt::Expr(node)
                    if matches!(
                        &*node.value,
                        Expr::StringLiteral(_) | Expr::EllipsisLiteral(_)
                    ) => {}
                Stmt::FunctionDef(method) => methods.push(method),
                Stmt::Assign(node) => {
                    for target in &node.targets {
                        let Expr::Name(name) = target else {
                            let refused = self.refuse(
                                target.start(),
                                "this target in a class",
                                "assign to a name",
                            );
                            return Ok(Action::Refused(refused));
                        };
                        if !IGNORED.contains(&name.id.as_str()) {
                            let value = self.expression(&node.value)?;
                            members.push(self.member(name.id.as_str(), line, false, Some(value)));
                        }
                    }
                }
                Stmt::AnnAssign(node) => {
                    if let Expr::Name(name) = &*node.target
                        && !IGNORED.contains(&name.id.as_str())
                    {
                        let (name, value) = (name.id.as_str(), node.value.as_deref());
                        let factory = value.and_then(factory);
                        if let Some(factory) = factory {
                            let value = self.expression(factory)?;
                            let content = Content::Factory(value);
                            members.push(Member {
                                name: name.into(),
                                line,
                                annotated: true,
                                content,
                            });
                        } else {
                            let value = value.map(|it| self.expression(default(it))).transpose()?;
                            members.push(self.member(name, line, true, value));
                        }
                    }
                }
                other => {
                    let remedy = "keep methods, values and fields in the class";
                    let refused = self.refuse(other.start(), "this statement in a class", remedy);
                    return Ok(Action::Refused(refused));
                }
            }
        }
        // Methods do not see the names of their class.
        self.top().overlay.truncate(before);
        for method in methods {
            let (name, line) = (method.name.id.as_str(), self.line(method.name.start()));
            if IGNORED.contains(&name) {
                continue;
            }
            if super::is_dunder(name) && !SPECIAL.contains(&name) {
                let what = format!("the method `{name}`");
                let refused = self.refuse(
                    method.name.start(),
                    &what,
                    "give the method a name of its own and call it",
                );
                return Ok(Action::Refused(refused));
            }
            let mut kind = MethodKind::Plain;
            for decorator in &method.decorator_list {
                kind = match last_name(&decorator.expression) {
                    "staticmethod" => MethodKind::Static,
                    "classmethod" => MethodKind::Class,
                    "property" | "cached_property" => MethodKind::Property,
                    "abstractmethod" | "override" | "jit" => kind,
                    other => {
                        let what = format!("the decorator `{other}` of a method");
                        let remedy = "use staticmethod, classmethod, property or none";
                        return Ok(Action::Refused(self.refuse(
                            method.name.start(),
                            &what,
                            remedy,
                        )));
                    }
                };
            }
            let inside = (node.name.id.to_string(), self.scopes.len() + 1);
            let outer = self.class.replace(inside);
            let code = self.function(method);
            self.class = outer;
            let content = Content::Method(Rc::new(code?), kind);
            members.push(Member {
                name: name.into(),
                line,
                annotated: false,
                content,
            });
        }
        let code = ClassCode {
            name: name.into(),
            line,
            bases,
            dataclass,
            members,
        };
        Ok(Action::Class(target, Rc::new(code)))
    }

    /// A value of a class: also a hidden variable, where later values of the class find it.
    fn member(
        &mut self,
        name: &str,
        line: u32,
        annotated: bool,
        value: Option<Node<F>>,
    ) -> Member<F> {
        let content = match value {
            Some(value) => {
                self.top().hidden(name);
                Content::Value(self.name_target(name, line), value)
            }
            None => Content::Missing,
        };
        Member {
            name: name.into(),
            line,
            annotated,
            content,
        }
    }

    /// `super()` inside a method.
    pub(super) fn parent_of(&mut self, line: u32) -> Option<Expression<F>> {
        let (name, depth) = self.class.clone()?;
        // A function inside a method has no first parameter to go by.
        if depth != self.scopes.len() {
            return None;
        }
        let kind = self.name(&name, line);
        Some(Expression::Super(Box::new(Node { line, kind })))
    }
}

/// The function in `field(default_factory=…)`.
fn factory(value: &Expr) -> Option<&Expr> {
    keyword_of_field(value, "default_factory")
}

/// The value in `field(default=…)`, or the value itself.
fn default(value: &Expr) -> &Expr {
    keyword_of_field(value, "default").unwrap_or(value)
}

fn keyword_of_field<'e>(value: &'e Expr, name: &str) -> Option<&'e Expr> {
    let Expr::Call(node) = value else { return None };
    if last_name(&node.func) != "field" {
        return None;
    }
    let mut keywords = node.arguments.keywords.iter();
    let found = keywords.find(|it| it.arg.as_ref().is_some_and(|arg| arg.id == name));
    found.map(|it| &it.value)
}
