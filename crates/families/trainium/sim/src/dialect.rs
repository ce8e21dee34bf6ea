//! Which dialect of NKI a file is written in: what it imports, not which words stand in it.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_source_file::LineIndex;
use ruff_text_size::Ranged;

use crate::api::Dialect;
use crate::diagnostic::{Failure, Outcome};

/// The mark of kernels that the compiler takes as they are.
const SKIP: &str = "skip_middle_end_transformations";
/// The mark of kernels whose tensors it places, whatever they say.
const PLACE: &str = "force_auto_alloc";

/// What a file says about the compiler that it is meant for.
pub(crate) struct Source {
    /// The dialects that are imported, with the line of the first import of each.
    imported: Vec<(Dialect, u32)>,
    /// The dialect that its calls look like, for files that import neither.
    guessed: Dialect,
    /// The functions with a decorator that tells the compiler what to do with them, and which.
    marked: Vec<(&'static str, String)>,
}

impl Source {
    /// Reads a file; one that is no Python says nothing.
    pub(crate) fn of(text: &str) -> Self {
        let mut source = Self {
            imported: Vec::new(),
            guessed: Dialect::V1,
            marked: Vec::new(),
        };
        let Ok(parsed) = ruff_python_parser::parse_module(text) else {
            return source;
        };
        let index = LineIndex::from_source_text(text);
        source.collect(&parsed.syntax().body, &index);
        let code = parsed
            .tokens()
            .iter()
            .filter(|token| !matches!(token.kind(), TokenKind::Comment | TokenKind::String));
        let code: String = code.map(|token| &text[token.range()]).collect();
        let returns = ["nl.load(", "nl.store(", "nl.arange("];
        if code.contains("dst=") && !returns.iter().any(|call| code.contains(call)) {
            source.guessed = Dialect::V2;
        }
        source
    }

    fn collect(&mut self, body: &[Stmt], index: &LineIndex) {
        for statement in body {
            let line = || index.line_index(statement.start()).get() as u32;
            match statement {
                Stmt::Import(node) => {
                    for alias in &node.names {
                        self.note(alias.name.id.as_str(), line());
                    }
                }
                Stmt::ImportFrom(ast::StmtImportFrom {
                    module: Some(module),
                    level: 0,
                    ..
                }) => self.note(module.id.as_str(), line()),
                Stmt::FunctionDef(node) => {
                    for mark in [SKIP, PLACE] {
                        let mut decorators = node.decorator_list.iter();
                        if decorators.any(|it| names(&it.expression, mark)) {
                            self.marked.push((mark, node.name.id.to_string()));
                        }
                    }
                    self.collect(&node.body, index);
                }
                Stmt::Assign(node) => self.note_alias(node),
                Stmt::Try(node) => {
                    self.collect(&node.body, index);
                    for handler in &node.handlers {
                        let ast::ExceptHandler::ExceptHandler(handler) = handler;
                        self.collect(&handler.body, index);
                    }
                }
                Stmt::If(node) => {
                    self.collect(&node.body, index);
                    for clause in &node.elif_else_clauses {
                        self.collect(&clause.body, index);
                    }
                }
                Stmt::ClassDef(node) => self.collect(&node.body, index),
                Stmt::With(node) => self.collect(&node.body, index),
                _ => {}
            }
        }
    }

    /// `kernel = nki.jit(function)` is marked as the function is.
    fn note_alias(&mut self, node: &ast::StmtAssign) {
        let ([Expr::Name(target)], Expr::Call(call)) =
            (node.targets.as_slice(), node.value.as_ref())
        else {
            return;
        };
        if let [Expr::Name(function)] = call.arguments.args.as_ref() {
            let own = self.marked.iter();
            let own = own.filter(|(_, name)| name == function.id.as_str());
            let own: Vec<_> = own
                .map(|(mark, _)| (*mark, target.id.to_string()))
                .collect();
            self.marked.extend(own);
        }
    }

    fn note(&mut self, path: &str, line: u32) {
        let dialect = match path.split('.').next() {
            // Annotations are the same in both.
            Some("neuronxcc") if path == "neuronxcc.nki.typing" => return,
            Some("neuronxcc") => Dialect::V1,
            Some("nki") => Dialect::V2,
            _ => return,
        };
        if self.line(dialect).is_none() {
            self.imported.push((dialect, line));
        }
    }

    fn line(&self, dialect: Dialect) -> Option<u32> {
        let found = self.imported.iter().find(|(known, _)| *known == dialect);
        found.map(|(_, line)| *line)
    }

    /// The dialect to run the file in: the one that is asked for, else the one that it imports.
    ///
    /// # Errors
    /// `other-dialect`, with the line of the import, where another one is asked for than the file
    /// is written in.
    pub(crate) fn dialect(&self, asked: Option<Dialect>) -> Outcome<Dialect> {
        let Some(asked) = asked else {
            return Ok(match self.imported.first() {
                Some(_) if self.line(Dialect::V1).is_some() => Dialect::V1,
                Some(_) => Dialect::V2,
                None => self.guessed,
            });
        };
        match self.imported.first() {
            Some((other, line)) if self.line(asked).is_none() => {
                let (wanted, package) = asked.title();
                let (found, foreign) = other.title();
                Err(Failure::unsupported(
                    "other-dialect",
                    format!(
                        "the target takes kernels in {wanted}; `{foreign}`, which is imported here, is {found}"
                    ),
                    format!("write the kernel with `{package}`, `{package}.language` and `{package}.isa`"),
                )
                .at(*line))
            }
            _ => Ok(asked),
        }
    }

    /// Whether the compiler takes the function `entry` as it is.
    pub(crate) fn is_taken_as_it_is(&self, entry: &str) -> bool {
        self.is_marked(SKIP, entry)
    }

    /// Whether the compiler places the tensors of the function `entry`, whatever it says.
    pub(crate) fn is_placed_by_compiler(&self, entry: &str) -> bool {
        self.is_marked(PLACE, entry)
    }

    fn is_marked(&self, mark: &str, entry: &str) -> bool {
        let mut marked = self.marked.iter();
        marked.any(|(known, name)| *known == mark && name == entry)
    }
}

/// Whether an expression is a name, attribute or call of `wanted`.
fn names(expression: &Expr, wanted: &str) -> bool {
    match expression {
        Expr::Name(node) => node.id.as_str() == wanted,
        Expr::Attribute(node) => node.attr.id.as_str() == wanted,
        Expr::Call(node) => names(&node.func, wanted),
        _ => false,
    }
}
