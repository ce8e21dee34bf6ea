//! Which kernel files the vendor's compiler may see.
//!
//! That compiler runs the file as Python, so a kernel that goes to a device must consist of
//! imports, functions, classes and values only, and name nothing but what the interpreter here
//! knows as harmless. The check is on the text, so it holds for code that the simulator never
//! reached, too.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_parameter, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, Parameter, Stmt};
use ruff_source_file::LineIndex;
use ruff_text_size::Ranged;

use crate::api::{Architecture, Device, Dialect, Nki, Value, is_method};
use crate::diagnostic::{Failure, Outcome};
use autocomp_python::{is_ambient, method_names, module_attribute};

/// The module of a path that is the same on the device: those of the surroundings are not.
fn module_of(path: &str) -> Option<&'static str> {
    let module = autocomp_python::module_of::<Nki>(path)?;
    (!["os", "sys", "logging"].contains(&module)).then_some(module)
}

/// Attributes of tensors and of what kernels compute with beside them.
const ATTRIBUTES: &[&str] = &[
    "shape", "dtype", "ndim", "buffer", "size", "itemsize", "p", "x", "y", "z", "w", "type",
    "name", "start", "stop", "step", "value",
];
/// Names that reach out of a kernel, which a file may not give to anything of its own either.
const DENIED: &[&str] = &[
    "tofile",
    "dump",
    "dumps",
    "format",
    "format_map",
    "ctypes",
    "data",
    "base",
    "mro",
    "gi_frame",
    "gi_code",
    "cr_frame",
    "ag_frame",
    "tb_frame",
    "tb_next",
    "f_back",
    "f_globals",
    "f_builtins",
    "f_locals",
    "func_globals",
    "func_code",
    "modules",
    "system",
    "popen",
];
/// Names between two underscores that may be used.
const SPECIAL: &[&str] = &[
    "__init__",
    "__post_init__",
    "__call__",
    "__getitem__",
    "__setitem__",
    "__len__",
    "__future__",
];

/// Checks that a file is plain.
///
/// # Errors
/// `not-plain` with the line of the first thing that is not.
pub fn check(source: &str, dialect: Dialect) -> Outcome<()> {
    // The same limits on length and nesting as everywhere.
    autocomp_python::lower::<Nki>(source)?;
    let index = LineIndex::from_source_text(source);
    let Ok(parsed) = ruff_python_parser::parse_module(source) else {
        return Err(Failure::unsupported(
            "not-plain",
            "the file is not Python",
            "mend it",
        ));
    };
    let architecture = Architecture {
        generation: 2,
        usable_sbuf: 0,
        whole_sbuf: 0,
    };
    let body = &parsed.syntax().body;
    let mut names = Names::default();
    names.visit_body(body);
    let mut reader = Reader {
        device: Device::new(dialect, architecture, false, 0),
        names,
        found: None,
    };
    for statement in body {
        let harmless = match statement {
            Stmt::Import(_)
            | Stmt::ImportFrom(_)
            | Stmt::FunctionDef(_)
            | Stmt::ClassDef(_)
            | Stmt::Assign(_)
            | Stmt::AnnAssign(_)
            | Stmt::Pass(_) => true,
            Stmt::Expr(node) => matches!(&*node.value, Expr::StringLiteral(_)),
            _ => false,
        };
        if !harmless {
            reader.refuse(statement, "a statement that runs when the file is read");
        }
        reader.visit_stmt(statement);
    }
    match reader.found {
        None => Ok(()),
        Some((at, what)) => Err(Failure::unsupported(
            "not-plain",
            format!(
                "{what}: the device's compiler runs the file as Python, so it is not given this one"
            ),
            "keep imports of NKI, NumPy and math, functions and values; leave harness code out",
        )
        .at(index.line_index(at).get() as u32)),
    }
}

/// What a file binds.
#[derive(Default)]
struct Names {
    /// Names, and modules that some of them stand for.
    bound: HashSet<String>,
    modules: HashMap<String, &'static str>,
    /// Attributes that the file's own classes have.
    members: HashSet<String>,
}

impl<'a> Visitor<'a> for Names {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(node) => {
                for alias in &node.names {
                    let path = alias.name.id.as_str();
                    let (name, path) = match &alias.asname {
                        Some(name) => (name.id.as_str(), path),
                        None => {
                            let first = path.split('.').next().unwrap_or(path);
                            (first, first)
                        }
                    };
                    if let Some(module) = module_of(path) {
                        self.modules.insert(name.to_owned(), module);
                    }
                }
            }
            Stmt::ImportFrom(node) => {
                let path = node.module.as_ref().map_or("", |module| module.id.as_str());
                for alias in &node.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).id.to_string();
                    match module_of(&format!("{path}.{}", alias.name.id)) {
                        Some(module) => {
                            self.modules.insert(name, module);
                        }
                        None => {
                            self.bound.insert(name);
                        }
                    }
                }
            }
            Stmt::FunctionDef(node) => {
                self.bound.insert(node.name.id.to_string());
                self.members.insert(node.name.id.to_string());
            }
            Stmt::ClassDef(node) => {
                self.bound.insert(node.name.id.to_string());
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(node) if node.ctx == ExprContext::Store => {
                self.bound.insert(node.id.to_string());
                self.members.insert(node.id.to_string());
            }
            Expr::Attribute(node) if node.ctx == ExprContext::Store => {
                self.members.insert(node.attr.id.to_string());
            }
            _ => {}
        }
        walk_expr(self, expression);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.bound.insert(parameter.name.id.to_string());
        walk_parameter(self, parameter);
    }
}

struct Reader {
    device: Device,
    names: Names,
    /// Where the first thing stands that is not plain, and what it is.
    found: Option<(ruff_text_size::TextSize, String)>,
}

impl Reader {
    fn refuse(&mut self, at: &impl Ranged, what: impl Into<String>) {
        if self.found.is_none() {
            self.found = Some((at.start(), what.into()));
        }
    }

    /// The module that an expression names.
    fn module(&self, expression: &Expr) -> Option<&'static str> {
        match expression {
            Expr::Name(node) => self.names.modules.get(node.id.as_str()).copied(),
            Expr::Attribute(node) => {
                let module = self.module(&node.value)?;
                match module_attribute::<Nki>(&self.device, module, node.attr.id.as_str()) {
                    Some(Value::Module(inner)) => Some(inner),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Whether a name is hidden, and not one of those that classes need.
fn is_private(name: &str) -> bool {
    name.starts_with("__") && !SPECIAL.contains(&name)
}

impl<'a> Visitor<'a> for Reader {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(node) => {
                for alias in &node.names {
                    if module_of(alias.name.id.as_str()).is_none() {
                        self.refuse(alias, format!("the import of `{}`", alias.name.id));
                    }
                }
            }
            Stmt::ImportFrom(node) => {
                let path = node.module.as_ref().map_or("", |module| module.id.as_str());
                for alias in &node.names {
                    let name = alias.name.id.as_str();
                    let whole = module_of(&format!("{path}.{name}")).is_some();
                    let part = module_of(path).is_some_and(|module| {
                        matches!(
                            module,
                            "typing" | "__future__" | "abc" | "dataclasses" | "enum"
                        ) || module_attribute::<Nki>(&self.device, module, name).is_some()
                    });
                    if node.level != 0 || !(whole || part) {
                        self.refuse(alias, format!("the import of `{name}` from `{path}`"));
                    }
                }
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(node) => {
                let name = node.id.as_str();
                let known = self.names.bound.contains(name)
                    || (is_ambient::<Nki>(&self.device, name)
                        && !matches!(name, "getattr" | "hasattr" | "setattr"))
                    || matches!(name, "super" | "property" | "staticmethod" | "classmethod");
                if is_private(name) || DENIED.contains(&name) {
                    self.refuse(node, format!("the name `{name}`"));
                } else if self.names.modules.contains_key(name) {
                    // A module by itself could be passed on under another name.
                    self.refuse(node, format!("the module `{name}` as a value"));
                } else if !known {
                    self.refuse(node, format!("the name `{name}`, which nothing here binds"));
                }
                return;
            }
            Expr::Attribute(node) => {
                let name = node.attr.id.as_str();
                if is_private(name) || DENIED.contains(&name) {
                    self.refuse(&node.attr, format!("the attribute `{name}`"));
                }
                if let Some(module) = self.module(&node.value) {
                    if module_attribute::<Nki>(&self.device, module, name).is_none() {
                        self.refuse(&node.attr, format!("`{name}` of a module"));
                    }
                    return;
                }
                let known = ATTRIBUTES.contains(&name)
                    || is_method(name)
                    || method_names().any(|it| it == name)
                    || self.names.members.contains(name)
                    || SPECIAL.contains(&name);
                if !known {
                    self.refuse(&node.attr, format!("the attribute `{name}`"));
                }
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}
