//! Bodies of kernels: declarations, labels and instructions.

use super::lexer::{Kind, Token};
use super::parser::Parser;
use super::{Class, Instruction, Kernel, Line, Operand, PtxError, Space};
use std::collections::BTreeMap;

/// Instructions of all kernels together.
const MOST_INSTRUCTIONS: usize = 1 << 20;
/// Registers of one kernel.
const MOST_REGISTERS: usize = 1 << 18;

/// The body of a kernel while it is read.
pub(super) struct Body<'p, 't> {
    pub(super) parser: &'p mut Parser<'t>,
    pub(super) kernel: &'p mut Kernel,
    /// Names of registers and variables that mean another one inside braces.
    pub(super) scopes: Vec<BTreeMap<String, String>>,
    pub(super) place: Line,
    pub(super) kernel_file: &'p str,
    pub(super) renamed: u32,
}

impl Body<'_, '_> {
    pub(super) fn read(mut self) -> Result<(), PtxError> {
        loop {
            let token = self.parser.next()?;
            match token.kind {
                Kind::Mark(b'{') => {
                    self.parser.enter()?;
                    self.scopes.push(BTreeMap::new());
                }
                Kind::Mark(b'}') => {
                    self.scopes.pop();
                    if self.scopes.is_empty() {
                        return Ok(());
                    }
                    self.parser.leave();
                }
                Kind::Mark(b';') => {}
                Kind::Mark(b'@') => {
                    let is_negated = self.parser.eat(b'!');
                    let name = self.parser.word()?;
                    let guard = Some((self.meaning(name), is_negated));
                    let token = self.parser.next()?;
                    self.instruction(token, guard)?;
                }
                Kind::Directive => self.directive(token)?,
                Kind::Word if self.parser.eat(b':') => {
                    let name = self.declare(token.text);
                    let at = self.kernel.instructions.len();
                    if self.kernel.labels.insert(name, at).is_some() {
                        let message = format!("label `{}` stands there twice", token.text);
                        return Err(PtxError::new(token.line, message));
                    }
                }
                Kind::Word => self.instruction(token, None)?,
                _ => {
                    let message = format!("`{}` begins no statement", token.text);
                    return Err(PtxError::new(token.line, message));
                }
            }
        }
    }

    /// Declares `name` in the innermost braces and returns what it is called from now on.
    fn declare(&mut self, name: &str) -> String {
        if self.scopes.len() < 2 {
            return name.to_owned();
        }
        self.renamed += 1;
        let meaning = format!("{name}@{}", self.renamed);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), meaning.clone());
        }
        meaning
    }

    fn meaning(&self, name: &str) -> String {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        found.map_or_else(|| name.to_owned(), Clone::clone)
    }

    fn renamed(&self, operand: Operand) -> Operand {
        if self.scopes.len() < 2 {
            return operand;
        }
        match operand {
            Operand::Name(name) => Operand::Name(self.meaning(&name)),
            Operand::Not(name) => Operand::Not(self.meaning(&name)),
            Operand::Address { base, offset } => Operand::Address {
                base: base.map(|name| self.meaning(&name)),
                offset,
            },
            Operand::Vector(parts) => {
                Operand::Vector(parts.into_iter().map(|part| self.renamed(part)).collect())
            }
            Operand::Pair(first, second) => Operand::Pair(
                Box::new(self.renamed(*first)),
                Box::new(self.renamed(*second)),
            ),
            other => other,
        }
    }

    fn directive(&mut self, token: Token<'_>) -> Result<(), PtxError> {
        match token.text {
            ".reg" => self.registers(),
            ".shared" | ".local" => {
                let space = match token.text {
                    ".shared" => Space::Shared,
                    _ => Space::Local,
                };
                let mut variable = self.parser.variable(space)?;
                variable.name = self.declare(&variable.name);
                self.kernel.variables.push(variable);
                Ok(())
            }
            ".loc" => self.place(),
            ".pragma" | ".file" => {
                self.parser.skip_statement();
                Ok(())
            }
            ".param" | ".callprototype" | ".branchtargets" | ".calltargets" => Err(
                PtxError::unsupported(token.line, "calls of functions and jumps through tables"),
            ),
            other => Err(PtxError::unsupported(
                token.line,
                format!("the directive {other}"),
            )),
        }
    }

    fn place(&mut self) -> Result<(), PtxError> {
        let file = self.parser.integer()?;
        let line = self.parser.integer()?;
        self.parser.integer()?;
        let here = self.parser.tokens[self.parser.at.saturating_sub(1)].line;
        let mut caller = None;
        while let Some(token) = self.parser.peek() {
            if token.line != here {
                break;
            }
            if token.kind == Kind::Caller {
                caller = Some(token.text);
            }
            self.parser.at += 1;
        }
        let of_kernel = |name: &str| {
            let end = name.rsplit('/').next().unwrap_or(name);
            end == self.kernel_file
        };
        // Instructions of several lines at once have the line 0: they keep that of before.
        let called_from = caller.and_then(|text| {
            let mut parts = text.split_ascii_whitespace().next()?.rsplitn(3, ':');
            let (_, line, name) = (parts.next()?, parts.next()?, parts.next()?);
            of_kernel(name)
                .then(|| line.parse().ok())
                .flatten()
                .filter(|line| *line != 0)
        });
        if let Some(line) = called_from {
            self.place = Line(line);
        } else if self.parser.files.get(&file).is_some_and(|it| of_kernel(it)) {
            self.place = Line(u32::try_from(line).unwrap_or(0));
        }
        Ok(())
    }

    fn registers(&mut self) -> Result<(), PtxError> {
        let token = self.parser.next()?;
        let class = match token.text {
            ".pred" => Class::Predicate,
            ".b64" | ".u64" | ".s64" | ".f64" => Class::Double,
            ".b8" | ".u8" | ".s8" | ".b16" | ".u16" | ".s16" | ".f16" | ".bf16" | ".b32"
            | ".u32" | ".s32" | ".f32" | ".f16x2" | ".bf16x2" => Class::Word,
            other => {
                let message = format!("registers of type {other}");
                return Err(PtxError::unsupported(token.line, message));
            }
        };
        loop {
            let name = self.parser.word()?;
            if self.parser.eat(b'<') {
                let count = self.parser.integer()?;
                self.parser.expect(b'>')?;
                for number in 0..count.min(MOST_REGISTERS as u64 + 1) {
                    let name = self.declare(&format!("{name}{number}"));
                    self.kernel.registers.push((name, class));
                    if MOST_REGISTERS < self.kernel.registers.len() {
                        break;
                    }
                }
            } else {
                let name = self.declare(name);
                self.kernel.registers.push((name, class));
            }
            if MOST_REGISTERS < self.kernel.registers.len() {
                let message = format!("more than {MOST_REGISTERS} registers");
                return Err(PtxError::unsupported(token.line, message));
            }
            if !self.parser.eat(b',') {
                break;
            }
        }
        self.parser.expect(b';')
    }

    fn instruction(
        &mut self,
        token: Token<'_>,
        guard: Option<(String, bool)>,
    ) -> Result<(), PtxError> {
        if token.kind != Kind::Word {
            let message = format!("`{}` begins no instruction", token.text);
            return Err(PtxError::new(token.line, message));
        }
        self.parser.instructions += 1;
        if MOST_INSTRUCTIONS < self.parser.instructions {
            let message = format!("more than {MOST_INSTRUCTIONS} instructions");
            return Err(PtxError::unsupported(token.line, message));
        }
        let words: Vec<String> = token.text.split('.').map(str::to_owned).collect();
        if words.first().is_some_and(|it| it == "call") {
            return Err(PtxError::unsupported(
                token.line,
                "calls of functions that the compiler does not dissolve (recursion, pointers to functions, `printf`)",
            ));
        }
        let mut operands = Vec::new();
        if !self.parser.eat(b';') {
            loop {
                let operand = self.parser.operand()?;
                operands.push(self.renamed(operand));
                if !self.parser.eat(b',') {
                    break;
                }
            }
            self.parser.expect(b';')?;
        }
        self.kernel.instructions.push(Instruction {
            guard,
            words,
            operands,
            ptx_line: token.line,
            line: self.place,
        });
        Ok(())
    }
}
