//! The text of a kernel with its tree; edits that leave everything else as it was.

use std::collections::BTreeMap;

use autocomp_trainium_sim::KERNEL_MAKERS;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Expr, ExprCall, ExprContext, ModModule, Stmt, StmtAssign, StmtFor, StmtFunctionDef,
};
use ruff_text_size::{Ranged, TextRange, TextSize};

use autocomp_core::RewriteError;

/// A parsed kernel file.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    module: ModModule,
    entry: usize,
    /// What each imported name stands for, with dots.
    imports: BTreeMap<String, String>,
}

/// The place of a statement: its block and its position there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'t> {
    /// All statements of the block.
    pub(super) block: &'t [Stmt],
    /// Position in the block.
    pub(super) at: usize,
}

impl<'t> Place<'t> {
    pub(super) fn statement(&self) -> &'t Stmt {
        &self.block[self.at]
    }
}

/// Replacements of parts of a text.
#[derive(Debug, Default)]
pub(super) struct Edits(Vec<(TextRange, String)>);

impl Edits {
    pub(super) fn replace(&mut self, range: TextRange, text: impl Into<String>) {
        self.0.push((range, text.into()));
    }

    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        let at = u32::try_from(at).unwrap_or(u32::MAX).into();
        self.0.push((TextRange::empty(at), text.into()));
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Carries the edits out; `None` if two overlap.
    fn apply(mut self, text: &str) -> Option<String> {
        self.0
            .sort_by_key(|(range, _)| (range.start(), range.end()));
        let mut out = String::with_capacity(text.len() + 256);
        let mut at = 0;
        for (range, new) in &self.0 {
            let start = usize::from(range.start());
            out.push_str(text.get(at..start)?);
            out.push_str(new);
            at = usize::from(range.end());
        }
        out.push_str(text.get(at..)?);
        Some(out)
    }
}

impl<'a> Source<'a> {
    /// Parses a kernel file whose function is `entry`.
    ///
    /// # Errors
    /// [`RewriteError::NotUnderstood`] for what is not Python or lacks the function.
    pub(super) fn parse(text: &'a str, entry: &str) -> Result<Self, RewriteError> {
        let unknown = |message: String| RewriteError::NotUnderstood(message);
        // The limits of the interpreter hold here too; what it refuses is not parsed at all.
        if let Err(failure) = autocomp_trainium_sim::check_source(text) {
            return Err(unknown(format!(
                "line {}: {}",
                failure.line, failure.message
            )));
        }
        let parsed = ruff_python_parser::parse_module(text)
            .map_err(|error| unknown(error.error.to_string()))?;
        let module = parsed.into_syntax();
        let at = defined(&module.body, entry)
            .ok_or_else(|| unknown(format!("there is no function `{entry}`")))?;
        let mut imports = BTreeMap::new();
        for statement in &module.body {
            match statement {
                Stmt::Import(import) => {
                    for name in &import.names {
                        let path = name.name.as_str();
                        match &name.asname {
                            Some(alias) => imports.insert(alias.to_string(), path.to_owned()),
                            None => {
                                let first = path.split('.').next().unwrap_or(path);
                                imports.insert(first.to_owned(), first.to_owned())
                            }
                        };
                    }
                }
                Stmt::ImportFrom(import) => {
                    let Some(from) = &import.module else { continue };
                    for name in &import.names {
                        let alias = name.asname.as_ref().unwrap_or(&name.name);
                        imports.insert(alias.to_string(), format!("{from}.{}", name.name));
                    }
                }
                _ => {}
            }
        }
        Ok(Self {
            text,
            module,
            entry: at,
            imports,
        })
    }

    /// The function that is rewritten.
    pub(super) fn function(&self) -> &StmtFunctionDef {
        match &self.module.body[self.entry] {
            Stmt::FunctionDef(function) => function,
            _ => unreachable!("found as a function"),
        }
    }

    /// Statements of the file outside functions.
    pub(super) fn module(&self) -> &[Stmt] {
        &self.module.body
    }

    /// The text of a node.
    pub(super) fn slice(&self, node: &impl Ranged) -> &'a str {
        let range = node.range();
        self.text
            .get(usize::from(range.start())..usize::from(range.end()))
            .unwrap_or_default()
    }

    /// The interface that a dotted name stands for: `nl.load`, `nisa.activation`, `np.add`.
    pub(super) fn path(&self, expression: &Expr) -> Option<String> {
        let mut names = Vec::new();
        let mut at = expression;
        while let Expr::Attribute(attribute) = at {
            names.push(attribute.attr.as_str());
            at = &attribute.value;
        }
        let Expr::Name(name) = at else { return None };
        let mut path = self.imports.get(name.id.as_str())?.clone();
        for name in names.iter().rev() {
            path.push('.');
            path.push_str(name);
        }
        let path = path.strip_prefix("neuronxcc.").unwrap_or(&path);
        for (long, short) in [("nki.language", "nl"), ("nki.isa", "nisa"), ("numpy", "np")] {
            if let Some(rest) = path.strip_prefix(long) {
                return Some(format!("{short}{rest}"));
            }
        }
        Some(path.to_owned())
    }

    /// The name by which the file calls a module (`nl`), or the customary one if it has none.
    pub(super) fn alias(&self, module: &str) -> String {
        let full = match module {
            "nl" => "nki.language",
            "np" => "numpy",
            _ => "nki.isa",
        };
        let found = self
            .imports
            .iter()
            .find(|(_, path)| path.strip_prefix("neuronxcc.").unwrap_or(path) == full);
        found.map_or_else(|| module.to_owned(), |(name, _)| name.clone())
    }

    /// Whether the file is in the first dialect, whose instructions return tiles.
    pub(super) fn first_dialect(&self) -> bool {
        self.imports
            .values()
            .any(|path| path.starts_with("neuronxcc"))
    }

    /// Carries out edits; adds the import of the instructions if they need it.
    pub(super) fn finish(&self, mut edits: Edits) -> Option<String> {
        let nki = match self.first_dialect() {
            true => "neuronxcc.nki",
            false => "nki",
        };
        for (module, full) in [
            ("nl", format!("{nki}.language")),
            ("nisa", format!("{nki}.isa")),
            ("np", "numpy".to_owned()),
        ] {
            let alias = self.alias(module);
            let mark = format!("{module}.");
            if !self.imports.contains_key(&alias)
                && edits.0.iter().any(|(_, new)| new.contains(&mark))
            {
                let first = self
                    .module
                    .body
                    .iter()
                    .find(|it| matches!(it, Stmt::Import(_) | Stmt::ImportFrom(_)))?;
                edits.insert(first.start().into(), format!("import {full} as {module}\n"));
            }
        }
        let text = edits.apply(self.text)?;
        (text != self.text).then_some(text)
    }

    /// Start of the line that a statement begins on, and its indentation; `None` if something
    /// else is on that line.
    pub(super) fn line_start(&self, statement: &impl Ranged) -> Option<(usize, &'a str)> {
        let start = usize::from(statement.start());
        let line = self.text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
        let indent = self.text.get(line..start)?;
        indent.trim().is_empty().then_some((line, indent))
    }

    /// The lines of a statement, with the end of the last one.
    pub(super) fn lines(&self, statement: &impl Ranged) -> Option<TextRange> {
        let (start, _) = self.line_start(statement)?;
        let end = usize::from(statement.end());
        let rest = self.text.get(end..)?;
        let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let tail = rest.get(..length)?.trim();
        if !tail.is_empty() && !tail.starts_with('#') {
            return None;
        }
        let place = |at: usize| u32::try_from(at).ok().map(Into::into);
        Some(TextRange::new(place(start)?, place(end + length)?))
    }

    /// A part of the text with replacements.
    pub(super) fn edited(&self, range: TextRange, edits: &[(TextRange, String)]) -> Option<String> {
        let mut edits: Vec<_> = edits.iter().collect();
        edits.sort_by_key(|it| it.0.start());
        let between = |from: TextSize, to: TextSize| self.text.get(from.into()..to.into());
        let (mut out, mut at) = (String::new(), range.start());
        for (place, new) in edits {
            out.push_str(between(at, place.start())?);
            out.push_str(new);
            at = place.end();
        }
        out.push_str(between(at, range.end())?);
        Some(out)
    }

    /// The lines of a statement, indented anew, ending with a new line.
    pub(super) fn moved(&self, statement: &impl Ranged, indent: &str) -> Option<String> {
        self.moved_with(statement, indent, &[])
    }

    /// The same with replacements.
    pub(super) fn moved_with(
        &self,
        statement: &impl Ranged,
        indent: &str,
        edits: &[(TextRange, String)],
    ) -> Option<String> {
        let (_, old) = self.line_start(statement)?;
        let text = self.edited(self.lines(statement)?, edits)?;
        Some(reindent(&text, old, indent))
    }

    /// A name that the file does not have, made of `stem`.
    pub(super) fn fresh(&self, stem: &str) -> String {
        let used = |name: &str| {
            self.text.match_indices(name).any(|(at, _)| {
                let word = |c: char| c.is_alphanumeric() || c == '_';
                let before = self.text[..at].chars().next_back().is_some_and(word);
                let after = self.text[at + name.len()..]
                    .chars()
                    .next()
                    .is_some_and(word);
                !before && !after
            })
        };
        if !used(stem) {
            return stem.to_owned();
        }
        (2..)
            .map(|n| format!("{stem}_{n}"))
            .find(|name| !used(name))
            .unwrap_or_default()
    }
}

/// Most names that stand for a function one after the other.
const MOST_NAMES: usize = 8;

/// Which statement of a file defines what a name stands for: the function of that name, the one that
/// `name = nki.jit(function)` makes a kernel of, or the one to which the function of that name does no
/// more than pass its parameters on.
fn defined(module: &[Stmt], name: &str) -> Option<usize> {
    let mut name = name;
    for _ in 0..MOST_NAMES {
        let at = module.iter().rposition(|it| match it {
            Stmt::FunctionDef(it) => it.name.as_str() == name,
            Stmt::Assign(it) => it.targets.iter().any(|it| name_of(it) == Some(name)),
            _ => false,
        })?;
        name = match &module[at] {
            Stmt::Assign(it) => kernel_of(&it.value)?,
            Stmt::FunctionDef(it) => match passes_on_to(it) {
                Some(inner) if defined_at_all(module, inner) => inner,
                _ => return Some(at),
            },
            _ => return None,
        };
    }
    None
}

fn defined_at_all(module: &[Stmt], name: &str) -> bool {
    module.iter().any(|it| match it {
        Stmt::FunctionDef(it) => it.name.as_str() == name,
        Stmt::Assign(it) => {
            it.targets.iter().any(|it| name_of(it) == Some(name)) && kernel_of(&it.value).is_some()
        }
        _ => false,
    })
}

/// The function that an expression names, or that a call such as `nki.jit(function)` or
/// `nki.jit(mode=…)(function)` makes a kernel of.
pub(super) fn kernel_of(value: &Expr) -> Option<&str> {
    let Expr::Call(call) = value else {
        return name_of(value);
    };
    let maker = match call.func.as_ref() {
        Expr::Call(settings) if settings.arguments.args.is_empty() => settings.func.as_ref(),
        other => other,
    };
    let last = match maker {
        Expr::Attribute(it) => it.attr.as_str(),
        other => name_of(other)?,
    };
    match call.arguments.args.as_ref() {
        [function] if KERNEL_MAKERS.contains(&last) => name_of(function),
        _ => None,
    }
}

/// The function to which another one does no more than pass its parameters on.
fn passes_on_to(function: &StmtFunctionDef) -> Option<&str> {
    let [.., Stmt::Return(last)] = function.body.as_slice() else {
        return None;
    };
    let is_text = |it: &Stmt| matches!(it, Stmt::Expr(it) if matches!(it.value.as_ref(), Expr::StringLiteral(_)));
    let others = &function.body[..function.body.len() - 1];
    let Some(Expr::Call(call)) = last.value.as_deref() else {
        return None;
    };
    let given = call.arguments.args.iter().map(name_of);
    let own = function.parameters.iter_non_variadic_params();
    let own = own.map(|it| Some(it.parameter.name.as_str()));
    let same = call.arguments.keywords.is_empty() && given.eq(own);
    (same && others.iter().all(is_text)).then(|| name_of(&call.func))?
}

/// Replaces the indentation `old` of every line by `new`.
pub(super) fn reindent(text: &str, old: &str, new: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if line.trim().is_empty() {
            out.push('\n');
            continue;
        }
        out.push_str(new);
        out.push_str(line.strip_prefix(old).unwrap_or_else(|| line.trim_start()));
        out.push('\n');
    }
    out
}

/// Calls `visit` on an expression and all expressions in it, outermost first.
pub(super) fn each_expression<'t>(root: &'t Expr, visit: &mut impl FnMut(&'t Expr)) {
    struct Walk<'f, F>(&'f mut F);
    impl<'t, F: FnMut(&'t Expr)> Visitor<'t> for Walk<'_, F> {
        fn visit_expr(&mut self, expression: &'t Expr) {
            (self.0)(expression);
            visitor::walk_expr(self, expression);
        }
    }
    Walk(visit).visit_expr(root);
}

/// Calls `visit` on all expressions in a statement and in the statements below it.
pub(super) fn each_expression_in<'t>(root: &'t Stmt, visit: &mut impl FnMut(&'t Expr)) {
    struct Walk<'f, F>(&'f mut F);
    impl<'t, F: FnMut(&'t Expr)> Visitor<'t> for Walk<'_, F> {
        fn visit_expr(&mut self, expression: &'t Expr) {
            (self.0)(expression);
            visitor::walk_expr(self, expression);
        }
    }
    Walk(visit).visit_stmt(root);
}

/// Calls `visit` on every statement of a block and of the blocks in it, with the loops around it.
pub(super) fn each_statement<'t>(
    block: &'t [Stmt],
    loops: &mut Vec<&'t StmtFor>,
    visit: &mut impl FnMut(Place<'t>, &[&'t StmtFor]),
) {
    for (at, statement) in block.iter().enumerate() {
        visit(Place { block, at }, loops);
        match statement {
            Stmt::For(it) => {
                loops.push(it);
                each_statement(&it.body, loops, visit);
                loops.pop();
            }
            Stmt::If(it) => {
                each_statement(&it.body, loops, visit);
                for clause in &it.elif_else_clauses {
                    each_statement(&clause.body, loops, visit);
                }
            }
            Stmt::With(it) => each_statement(&it.body, loops, visit),
            Stmt::While(it) => each_statement(&it.body, loops, visit),
            _ => {}
        }
    }
}

/// The name that an expression is.
pub(super) fn name_of(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        _ => None,
    }
}

/// A statement that binds one name to what a call returns: with the name and the call.
pub(super) fn bound_call(statement: &Stmt) -> Option<(&StmtAssign, &str, &ExprCall)> {
    let Stmt::Assign(made) = statement else {
        return None;
    };
    match (made.targets.as_slice(), made.value.as_ref()) {
        ([target], Expr::Call(call)) => Some((made, name_of(target)?, call)),
        _ => None,
    }
}

/// The name below subscripts and attributes.
pub(super) fn base_of(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Subscript(it) => base_of(&it.value),
        Expr::Attribute(it) => base_of(&it.value),
        _ => None,
    }
}

/// Names that an expression reads.
pub(super) fn names_in(expression: &Expr) -> Vec<&str> {
    let mut names = Vec::new();
    each_expression(expression, &mut |it| {
        if let Expr::Name(name) = it
            && name.ctx == ExprContext::Load
        {
            names.push(name.id.as_str());
        }
    });
    names
}
