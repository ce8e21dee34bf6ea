//! From words to kernels.

use super::directives::type_bytes;
use super::lexer::{Kind, Token, tokens};
use super::{Class, Instruction, Kernel, Line, Module, Operand, Parameter, PtxError, Space};
use std::collections::BTreeMap;

/// Instructions of all kernels together.
const MOST_INSTRUCTIONS: usize = 1 << 20;
/// Registers of one kernel.
const MOST_REGISTERS: usize = 1 << 18;
/// Braces inside braces.
const DEEPEST: u32 = 64;

pub(super) struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    depth: u32,
    instructions: usize,
    pub(super) declared_bytes: u64,
    /// Names of files by number.
    files: BTreeMap<u64, String>,
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
    fn line(&self) -> u32 {
        let last = self.tokens.last();
        let token = self.tokens.get(self.at).or(last);
        token.map_or(1, |token| token.line)
    }

    fn peek(&self) -> Option<Token<'t>> {
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

    fn word(&mut self) -> Result<&'t str, PtxError> {
        let token = self.next()?;
        if token.kind == Kind::Word {
            return Ok(token.text);
        }
        let message = format!("a name was expected, not `{}`", token.text);
        Err(PtxError::new(token.line, message))
    }

    pub(super) fn integer(&mut self) -> Result<u64, PtxError> {
        let line = self.line();
        let is_negative = self.eat(b'-');
        let text = self.word()?;
        let value = integer_of(text)
            .ok_or_else(|| PtxError::new(line, format!("`{text}` is no integer")))?;
        Ok(if is_negative {
            value.wrapping_neg()
        } else {
            value
        })
    }

    /// Reads a constant and returns its bits in `width` bytes.
    pub(super) fn constant_bits(&mut self, width: u64) -> Result<u64, PtxError> {
        let line = self.line();
        match self.operand()? {
            Operand::Integer(value) => Ok(value),
            Operand::Single(bits) if width == 8 => Ok(f64::from(f32::from_bits(bits)).to_bits()),
            Operand::Single(bits) => Ok(bits.into()),
            Operand::Double(bits) if width == 4 => {
                Ok((f64::from_bits(bits) as f32).to_bits().into())
            }
            Operand::Double(bits) => Ok(bits),
            _ => Err(PtxError::unsupported(line, "addresses in initial values")),
        }
    }

    /// Goes past the next semicolon, or past the end of the line if there is none.
    fn skip_statement(&mut self) {
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

    pub(super) fn operand(&mut self) -> Result<Operand, PtxError> {
        let token = self.next()?;
        let first = match token.kind {
            Kind::Mark(b'{') => {
                self.enter()?;
                let mut parts = Vec::new();
                if !self.eat(b'}') {
                    loop {
                        parts.push(self.operand()?);
                        if !self.eat(b',') {
                            break;
                        }
                    }
                    self.expect(b'}')?;
                }
                self.leave();
                Operand::Vector(parts)
            }
            Kind::Mark(b'[') => self.address()?,
            Kind::Mark(b'!') => Operand::Not(self.word()?.to_owned()),
            Kind::Mark(b'-') => {
                let text = self.word()?;
                match number_of(text) {
                    Some(Operand::Integer(value)) => Operand::Integer(value.wrapping_neg()),
                    Some(Operand::Double(bits)) => Operand::Double(bits ^ (1 << 63)),
                    _ => {
                        return Err(PtxError::new(token.line, format!("`-{text}` is no number")));
                    }
                }
            }
            Kind::Word => {
                number_of(token.text).unwrap_or_else(|| Operand::Name(token.text.to_owned()))
            }
            _ => {
                let message = format!("an operand was expected, not `{}`", token.text);
                return Err(PtxError::new(token.line, message));
            }
        };
        if self.eat(b'|') {
            let second = Operand::Name(self.word()?.to_owned());
            return Ok(Operand::Pair(Box::new(first), Box::new(second)));
        }
        if let Operand::Name(name) = &first {
            // An address without brackets, `variable+8`.
            if self.eat(b'+') {
                let offset = self.integer()? as i64;
                return Ok(Operand::Address {
                    base: Some(name.clone()),
                    offset,
                });
            }
        }
        Ok(first)
    }

    fn address(&mut self) -> Result<Operand, PtxError> {
        let line = self.line();
        let mut base = None;
        let mut offset = 0_i64;
        let mut is_negative = false;
        loop {
            if self.eat(b'-') {
                is_negative = !is_negative;
                continue;
            }
            let text = self.word()?;
            match number_of(text) {
                Some(Operand::Integer(value)) => {
                    let value = value as i64;
                    let signed = if is_negative {
                        value.wrapping_neg()
                    } else {
                        value
                    };
                    offset = offset.wrapping_add(signed);
                }
                None if base.is_none() && !is_negative => base = Some(text.to_owned()),
                _ => return Err(PtxError::new(line, "an address that cannot be read")),
            }
            is_negative = false;
            if self.eat(b'+') {
                continue;
            }
            if self.peek_mark() == Some(b'-') {
                continue;
            }
            break;
        }
        if self.eat(b',') {
            return Err(PtxError::unsupported(
                line,
                "addresses of tensors and textures",
            ));
        }
        self.expect(b']')?;
        Ok(Operand::Address { base, offset })
    }
}

/// Returns the value of an integer in any of its spellings.
fn integer_of(text: &str) -> Option<u64> {
    let text = text.strip_suffix(['U', 'u']).unwrap_or(text);
    let parse = |digits: &str, radix| u64::from_str_radix(digits, radix).ok();
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return parse(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0b").or_else(|| text.strip_prefix("0B")) {
        return parse(digits, 2);
    }
    match text.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => parse(digits, 8),
        _ => parse(text, 10),
    }
}

/// Returns the number that `text` spells, if it spells one.
fn number_of(text: &str) -> Option<Operand> {
    if !text.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let bits = |digits: &str, count: usize| {
        (digits.len() == count)
            .then(|| u64::from_str_radix(digits, 16).ok())
            .flatten()
    };
    if let Some(digits) = text.strip_prefix("0f").or_else(|| text.strip_prefix("0F")) {
        return bits(digits, 8).map(|bits| Operand::Single(bits as u32));
    }
    if let Some(digits) = text.strip_prefix("0d").or_else(|| text.strip_prefix("0D")) {
        return bits(digits, 16).map(Operand::Double);
    }
    if let Some(value) = integer_of(text) {
        return Some(Operand::Integer(value));
    }
    let value: f64 = text.parse().ok()?;
    Some(Operand::Double(value.to_bits()))
}

/// The body of a kernel while it is read.
struct Body<'p, 't> {
    parser: &'p mut Parser<'t>,
    kernel: &'p mut Kernel,
    /// Names of registers and variables that mean another one inside braces.
    scopes: Vec<BTreeMap<String, String>>,
    place: Line,
    kernel_file: &'p str,
    renamed: u32,
}

impl Body<'_, '_> {
    fn read(mut self) -> Result<(), PtxError> {
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
