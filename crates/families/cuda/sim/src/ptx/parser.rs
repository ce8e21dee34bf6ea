//! From words to kernels.

use super::body::Body;
use super::directives::type_bytes;
use super::lexer::{Kind, Token, tokens};
use super::operands::integer_of;
use super::{Kernel, Line, Module, Parameter, PtxError, Space};
use std::collections::BTreeMap;

/// Braces inside braces.
const DEEPEST: u32 = 64;

pub(super) struct Parser<'t> {
    pub(super) tokens: Vec<Token<'t>>,
    pub(super) at: usize,
    depth: u32,
    pub(super) instructions: usize,
    pub(super) declared_bytes: u64,
    /// Names of files by number.
    pub(super) files: BTreeMap<u64, String>,
}

/// Reads a module. Lines of instructions are those of `kernel_file`; an instruction of a
/// function in another file gets the line that the function was called from.
///
/// # Errors
/// The line of the text and what is wrong there, or what of it is not simulated.
pub fn parse(text: &str, kernel_file: &str) -> Result<Module, PtxError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        instructions: 0,
        declared_bytes: 0,
        files: BTreeMap::new(),
    };
    parser.find_files();
    parser.module(kernel_file)
}

impl<'t> Parser<'t> {
    pub(super) fn line(&self) -> u32 {
        let last = self.tokens.last();
        let token = self.tokens.get(self.at).or(last);
        token.map_or(1, |token| token.line)
    }

    pub(super) fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.at).copied()
    }

    pub(super) fn peek_mark(&self) -> Option<u8> {
        match self.peek()?.kind {
            Kind::Mark(mark) => Some(mark),
            _ => None,
        }
    }

    pub(super) fn next(&mut self) -> Result<Token<'t>, PtxError> {
        while let Some(token) = self.peek() {
            self.at += 1;
            if token.kind != Kind::Caller {
                return Ok(token);
            }
        }
        Err(PtxError::new(self.line(), "the text ends here"))
    }

    pub(super) fn eat(&mut self, mark: u8) -> bool {
        while self.peek().is_some_and(|token| token.kind == Kind::Caller) {
            self.at += 1;
        }
        let is_there = self.peek_mark() == Some(mark);
        self.at += usize::from(is_there);
        is_there
    }

    pub(super) fn expect(&mut self, mark: u8) -> Result<(), PtxError> {
        if self.eat(mark) {
            return Ok(());
        }
        let found = self.peek().map_or("the end", |token| token.text);
        let message = format!("`{}` was expected, not `{found}`", char::from(mark));
        Err(PtxError::new(self.line(), message))
    }

    pub(super) fn enter(&mut self) -> Result<(), PtxError> {
        self.depth += 1;
        if DEEPEST < self.depth {
            return Err(PtxError::unsupported(
                self.line(),
                "braces are nested too deep",
            ));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    pub(super) fn word(&mut self) -> Result<&'t str, PtxError> {
        let token = self.next()?;
        if token.kind == Kind::Word {
            return Ok(token.text);
        }
        let message = format!("a name was expected, not `{}`", token.text);
        Err(PtxError::new(token.line, message))
    }

    /// Goes past the next semicolon, or past the end of the line if there is none.
    pub(super) fn skip_statement(&mut self) {
        let line = self.tokens[self.at.saturating_sub(1)].line;
        while let Some(token) = self.peek() {
            if token.line != line {
                return;
            }
            self.at += 1;
            if token.kind == Kind::Mark(b';') {
                return;
            }
        }
    }

    fn find_files(&mut self) {
        for window in self.tokens.windows(3) {
            let [directive, number, name] = window else {
                continue;
            };
            if directive.text == ".file"
                && name.kind == Kind::Text
                && let Some(number) = integer_of(number.text)
            {
                self.files.insert(number, name.text.to_owned());
            }
        }
    }

    fn module(&mut self, kernel_file: &str) -> Result<Module, PtxError> {
        let mut module = Module::default();
        while let Some(token) = self.peek() {
            self.at += 1;
            match token.text {
                ".visible" | ".extern" | ".weak" | ".common" => {}
                ".shared" | ".global" | ".const" => {
                    let space = match token.text {
                        ".shared" => Space::Shared,
                        ".global" => Space::Global,
                        _ => Space::Const,
                    };
                    let variable = self.variable(space)?;
                    module.variables.push(variable);
                }
                ".entry" => {
                    let kernel = self.kernel(kernel_file)?;
                    if module.kernels.iter().any(|it| it.name == kernel.name) {
                        let message = format!("kernel `{}` stands there twice", kernel.name);
                        return Err(PtxError::new(token.line, message));
                    }
                    module.kernels.push(kernel);
                }
                ".func" => self.skip_function()?,
                ".section" => self.skip_braces(),
                ".version" | ".target" | ".address_size" | ".file" | ".loc" | ".pragma"
                | ".alias" => self.skip_statement(),
                _ => {}
            }
        }
        Ok(module)
    }

    /// Goes past a function: the compiler dissolves all calls, so nobody needs it.
    fn skip_function(&mut self) -> Result<(), PtxError> {
        while let Some(token) = self.peek() {
            match token.kind {
                Kind::Mark(b';') => {
                    self.at += 1;
                    return Ok(());
                }
                Kind::Mark(b'{') => {
                    self.skip_braces();
                    return Ok(());
                }
                _ => self.at += 1,
            }
        }
        Err(PtxError::new(self.line(), "a function has no end"))
    }

    /// Goes past the next pair of braces.
    fn skip_braces(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.peek() {
            self.at += 1;
            match token.kind {
                Kind::Mark(b'{') => depth += 1,
                Kind::Mark(b'}') => {
                    depth -= 1;
                    if depth <= 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    fn parameters(&mut self) -> Result<Vec<Parameter>, PtxError> {
        let mut found: Vec<Parameter> = Vec::new();
        let mut end = 0_u64;
        if !self.eat(b'(') || self.eat(b')') {
            return Ok(found);
        }
        loop {
            let (mut align, mut width, mut is_pointer) = (0, 0, false);
            let (name, line) = loop {
                let token = self.next()?;
                match (token.kind, token.text) {
                    (Kind::Directive, ".param" | ".global" | ".const" | ".shared") => {}
                    (Kind::Directive, ".ptr") => is_pointer = true,
                    (Kind::Directive, ".align") => {
                        let said = self.integer()?;
                        if !is_pointer {
                            align = said;
                        }
                    }
                    (Kind::Directive, other) => {
                        width = type_bytes(&other[1..]).ok_or_else(|| {
                            PtxError::unsupported(token.line, format!("arguments of type {other}"))
                        })?;
                    }
                    (Kind::Word, name) => break (name, token.line),
                    (_, other) => {
                        let message = format!("an argument was expected, not `{other}`");
                        return Err(PtxError::new(token.line, message));
                    }
                }
            };
            let mut bytes = width;
            if self.eat(b'[') {
                bytes = width.saturating_mul(self.integer()?);
                self.expect(b']')?;
            }
            let align: u64 = align.max(width).max(1);
            if 4096 < bytes || !align.is_power_of_two() || 256 < align {
                return Err(PtxError::new(
                    line,
                    format!("argument `{name}` is too large"),
                ));
            }
            let offset = end.next_multiple_of(align);
            end = offset + bytes;
            if 32_764 < end {
                return Err(PtxError::new(line, "the arguments are too large together"));
            }
            found.push(Parameter {
                name: name.to_owned(),
                offset,
                bytes,
            });
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b')')?;
        Ok(found)
    }

    fn kernel(&mut self, kernel_file: &str) -> Result<Kernel, PtxError> {
        let name = self.word()?.to_owned();
        let parameters = self.parameters()?;
        let mut kernel = Kernel {
            name,
            parameters,
            registers: Vec::new(),
            variables: Vec::new(),
            instructions: Vec::new(),
            labels: BTreeMap::new(),
            max_threads: 0,
            min_blocks: 0,
        };
        while self.peek_mark() != Some(b'{') {
            let token = self.next()?;
            match token.text {
                ".maxntid" => {
                    let mut threads = self.integer()?;
                    while self.eat(b',') {
                        threads = threads.saturating_mul(self.integer()?);
                    }
                    kernel.max_threads = u32::try_from(threads).unwrap_or(u32::MAX);
                }
                ".minnctapersm" => {
                    kernel.min_blocks = u32::try_from(self.integer()?).unwrap_or(u32::MAX);
                }
                ".reqnctapercluster" | ".explicitcluster" => {
                    return Err(PtxError::unsupported(token.line, "clusters of blocks"));
                }
                ";" => return Err(PtxError::new(token.line, "a kernel without a body")),
                _ => {}
            }
        }
        self.at += 1;
        Body {
            parser: self,
            kernel: &mut kernel,
            scopes: vec![BTreeMap::new()],
            place: Line(0),
            kernel_file,
            renamed: 0,
        }
        .read()?;
        Ok(kernel)
    }
}
