//! Reads a plain kernel into a [`Nest`].

use super::nest::{Access, Expression, Loop, Nest, Subscript};
use std::collections::BTreeMap;
use tree_sitter::{Node, Parser};

/// The longest source that is read, in bytes.
const SOURCE_LIMIT: usize = 1 << 16;
/// The deepest nesting of the syntax tree that is read.
const DEPTH_LIMIT: usize = 64;
/// Most iterations of one loop.
const EXTENT_LIMIT: i64 = 1 << 24;

/// Reads `source`.
///
/// # Errors
/// What is not as it has to be, in a sentence for people.
pub(super) fn parse(source: &str) -> Result<Nest, String> {
    if SOURCE_LIMIT < source.len() {
        return Err("the kernel is too long".into());
    }
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_c::LANGUAGE.into())
        .map_err(|error| error.to_string())?;
    let tree = parser
        .parse(source, None)
        .ok_or("the kernel does not parse")?;
    let root = tree.root_node();
    if root.has_error() || too_deep(root) {
        return Err("the kernel does not parse as C".into());
    }
    let mut definitions = Vec::new();
    for node in children(root) {
        match node.kind() {
            "comment" => {}
            "function_definition" => definitions.push(node),
            kind => {
                return Err(format!(
                    "there is more in the file than a function and comments: {kind}"
                ));
            }
        }
    }
    let [function] = definitions.as_slice() else {
        return Err("there is not exactly one function".into());
    };
    let reader = Reader { source };
    let body = function
        .child_by_field_name("body")
        .ok_or("the function has no body")?;
    let mut nest = Nest {
        head: source[function.start_byte()..body.start_byte()]
            .trim_end()
            .to_owned(),
        types: reader.parameters(*function)?,
        parallel: Vec::new(),
        reduction: Vec::new(),
        sum_type: String::new(),
        initial: String::new(),
        term: Expression::Number(String::new()),
        output: Access {
            array: String::new(),
            subscripts: Vec::new(),
        },
    };
    reader.read_parallel(body, &mut nest)?;
    check(&nest)?;
    Ok(nest)
}

/// Checks what the parts of a nest have to do with one another.
fn check(nest: &Nest) -> Result<(), String> {
    let mut names: Vec<&str> = Vec::new();
    for it in nest.parallel.iter().chain(&nest.reduction) {
        if is_reserved(&it.variable) {
            return Err(format!(
                "the name `{}` is wanted for what is written",
                it.variable
            ));
        }
        if names.contains(&it.variable.as_str()) || nest.types.contains_key(&it.variable) {
            return Err(format!("the name `{}` is used twice", it.variable));
        }
        names.push(&it.variable);
    }
    let in_scope = |access: &Access| {
        let all = access.subscripts.iter().flat_map(|it| it.terms.keys());
        all.into_iter()
            .all(|variable| names.contains(&variable.as_str()))
    };
    let reads = nest.term.reads();
    for access in reads.iter().copied().chain([&nest.output]) {
        if !nest.types.contains_key(&access.array) {
            return Err(format!("`{}` is no parameter", access.array));
        }
        if !in_scope(access) {
            return Err(format!(
                "a subscript of `{}` is no sum of loop variables",
                access.array
            ));
        }
    }
    if reads.iter().any(|access| access.array == nest.output.array) {
        return Err("the sums read what they write".into());
    }
    if let Some(it) = nest
        .reduction
        .iter()
        .find(|it| nest.output.mentions(&it.variable))
    {
        return Err(format!(
            "the output depends on `{}`, over which is summed",
            it.variable
        ));
    }
    if let Some(it) = nest
        .parallel
        .iter()
        .find(|it| !nest.output.mentions(&it.variable))
    {
        return Err(format!("the output does not depend on `{}`", it.variable));
    }
    Ok(())
}

/// Returns whether a name is one that scheduled kernels use themselves.
fn is_reserved(name: &str) -> bool {
    let numbered = |prefix: &str| {
        let rest = name.strip_prefix(prefix).unwrap_or("");
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '_')
    };
    ["lane", "sum", "vector", "vector_anywhere"].contains(&name)
        || ["s", "v", "x", "panels", "rows"].into_iter().any(numbered)
}

struct Reader<'s> {
    source: &'s str,
}

impl<'s> Reader<'s> {
    fn text(&self, node: Node<'_>) -> &'s str {
        &self.source[node.byte_range()]
    }

    fn field(&self, node: Node<'_>, name: &str) -> Result<&'s str, String> {
        let field = node.child_by_field_name(name);
        field
            .map(|field| self.text(field))
            .ok_or_else(|| format!("`{}` is not understood", self.shown(node)))
    }

    fn shown(&self, node: Node<'_>) -> String {
        self.text(node)
            .lines()
            .next()
            .unwrap_or("")
            .chars()
            .take(60)
            .collect()
    }

    fn not_understood<T>(&self, node: Node<'_>) -> Result<T, String> {
        let line = 1 + node.start_position().row;
        Err(format!(
            "line {line} is not understood: {}",
            self.shown(node)
        ))
    }

    fn parameters(&self, function: Node<'_>) -> Result<BTreeMap<String, String>, String> {
        let list = function
            .child_by_field_name("declarator")
            .and_then(|declarator| declarator.child_by_field_name("parameters"))
            .ok_or("the function has no parameters")?;
        let mut types = BTreeMap::new();
        for parameter in children(list) {
            let element = self.field(parameter, "type")?;
            let mut declarator = parameter.child_by_field_name("declarator");
            while let Some(node) = declarator {
                if node.kind() == "identifier" {
                    types.insert(self.text(node).to_owned(), element.to_owned());
                }
                declarator = node.child_by_field_name("declarator");
            }
        }
        Ok(types)
    }

    /// Reads loops without a sum yet, and what is inside the innermost one.
    fn read_parallel(&self, block: Node<'_>, nest: &mut Nest) -> Result<(), String> {
        let statements: Vec<Node<'_>> = self.statements(block);
        match statements.as_slice() {
            [one] if one.kind() == "for_statement" => {
                let (header, body) = self.read_loop(*one)?;
                nest.parallel.push(header);
                self.read_parallel(body, nest)
            }
            [first, middle, last] if first.kind() == "declaration" => {
                let sum = self.read_sum(*first, nest)?;
                self.read_reduction(*middle, &sum, nest)?;
                self.read_store(*last, &sum, nest)
            }
            [other, ..] => self.not_understood(*other),
            [] => Err("a loop is empty".into()),
        }
    }

    fn statements<'tree>(&self, block: Node<'tree>) -> Vec<Node<'tree>> {
        match block.kind() {
            "compound_statement" => children(block)
                .into_iter()
                .filter(|node| node.kind() != "comment")
                .collect(),
            _ => vec![block],
        }
    }

    fn read_loop<'tree>(&self, node: Node<'tree>) -> Result<(Loop, Node<'tree>), String> {
        let part = |name: &str| match node.child_by_field_name(name) {
            Some(part) => Ok(part),
            None => self.not_understood(node),
        };
        let header = part("initializer")?;
        let start = header.child_by_field_name("declarator");
        let Some(start) = start.filter(|it| it.kind() == "init_declarator") else {
            return self.not_understood(node);
        };
        let variable = self.field(start, "declarator")?;
        let condition = part("condition")?;
        let update = self.text(part("update")?).replace(' ', "");
        let steps = [
            format!("{variable}++"),
            format!("++{variable}"),
            format!("{variable}+=1"),
        ];
        let right = self.field(condition, "right")?;
        let extent: i64 = right.parse().unwrap_or(0);
        let plain = self.field(start, "value")? == "0"
            && self.field(condition, "left")? == variable
            && self.field(condition, "operator")? == "<"
            && steps.contains(&update)
            && (1..=EXTENT_LIMIT).contains(&extent);
        if !plain {
            return self.not_understood(node);
        }
        let header = Loop {
            variable: variable.to_owned(),
            extent: extent as u32,
        };
        Ok((header, part("body")?))
    }

    /// Reads `float sum = 0.0f;` and returns the name.
    fn read_sum(&self, node: Node<'_>, nest: &mut Nest) -> Result<String, String> {
        let declarator = node.child_by_field_name("declarator");
        let Some(declarator) = declarator.filter(|it| it.kind() == "init_declarator") else {
            return self.not_understood(node);
        };
        let value = declarator.child_by_field_name("value");
        if value.is_none_or(|value| value.kind() != "number_literal") {
            return self.not_understood(node);
        }
        nest.sum_type = match self.field(node, "type")? {
            known @ ("float" | "int32_t") => known.to_owned(),
            "int" => "int32_t".to_owned(),
            _ => return self.not_understood(node),
        };
        nest.initial = self.field(declarator, "value")?.to_owned();
        Ok(self.field(declarator, "declarator")?.to_owned())
    }

    fn read_reduction(&self, node: Node<'_>, sum: &str, nest: &mut Nest) -> Result<(), String> {
        if node.kind() == "for_statement" {
            let (header, body) = self.read_loop(node)?;
            nest.reduction.push(header);
            let statements = self.statements(body);
            let [one] = statements.as_slice() else {
                return self.not_understood(node);
            };
            return self.read_reduction(*one, sum, nest);
        }
        let assignment = node.named_child(0);
        let Some(assignment) = assignment.filter(|it| it.kind() == "assignment_expression") else {
            return self.not_understood(node);
        };
        let right = assignment.child_by_field_name("right");
        let adds =
            self.field(assignment, "left")? == sum && self.field(assignment, "operator")? == "+=";
        match right {
            Some(right) if adds && !nest.reduction.is_empty() => {
                nest.term = self.read_expression(right, nest)?;
                Ok(())
            }
            _ => self.not_understood(node),
        }
    }

    fn read_store(&self, node: Node<'_>, sum: &str, nest: &mut Nest) -> Result<(), String> {
        let assignment = node.named_child(0);
        let Some(assignment) = assignment.filter(|it| it.kind() == "assignment_expression") else {
            return self.not_understood(node);
        };
        let plain =
            self.field(assignment, "operator")? == "=" && self.field(assignment, "right")? == sum;
        match assignment.child_by_field_name("left") {
            Some(left) if plain => {
                nest.output = self.read_access(left)?;
                if nest
                    .types
                    .get(&nest.output.array)
                    .is_none_or(|it| *it != nest.sum_type)
                {
                    return Err("sums are stored as another type".into());
                }
                Ok(())
            }
            _ => self.not_understood(node),
        }
    }

    fn read_expression(&self, node: Node<'_>, nest: &Nest) -> Result<Expression, String> {
        match node.kind() {
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.read_expression(inner, nest),
                None => self.not_understood(node),
            },
            "subscript_expression" => self.read_access(node).map(Expression::Read),
            "number_literal" => Ok(Expression::Number(self.text(node).to_owned())),
            // A conversion to the type of the sums happens anyway.
            "cast_expression" if self.field(node, "type")? == nest.sum_type => {
                match node.child_by_field_name("value") {
                    Some(value) => self.read_expression(value, nest),
                    None => self.not_understood(node),
                }
            }
            "binary_expression" => {
                let side = |name: &str| match node.child_by_field_name(name) {
                    Some(side) => self.read_expression(side, nest),
                    None => self.not_understood(node),
                };
                let operator = match self.field(node, "operator")? {
                    "+" => '+',
                    "-" => '-',
                    "*" => '*',
                    _ => return self.not_understood(node),
                };
                Ok(Expression::Binary(
                    Box::new(side("left")?),
                    operator,
                    Box::new(side("right")?),
                ))
            }
            _ => self.not_understood(node),
        }
    }

    fn read_access(&self, node: Node<'_>) -> Result<Access, String> {
        let mut subscripts = Vec::new();
        let mut array = node;
        while array.kind() == "subscript_expression" {
            let (Some(inner), Some(index)) = (
                array.child_by_field_name("argument"),
                array.child_by_field_name("index"),
            ) else {
                return self.not_understood(node);
            };
            let mut subscript = Subscript::default();
            self.add(index, 1, &mut subscript)?;
            subscript.terms.retain(|_, coefficient| *coefficient != 0);
            subscripts.push(subscript);
            array = inner;
        }
        subscripts.reverse();
        if array.kind() != "identifier" || subscripts.is_empty() {
            return self.not_understood(node);
        }
        Ok(Access {
            array: self.text(array).to_owned(),
            subscripts,
        })
    }

    /// Adds `factor` times an integer expression to `sum`.
    fn add(&self, node: Node<'_>, factor: i64, sum: &mut Subscript) -> Result<(), String> {
        let number = |node: Node<'_>| {
            self.text(node)
                .parse::<i64>()
                .ok()
                .filter(|it| it.abs() < 1 << 31)
        };
        let small = |value: Option<i64>| value.filter(|it| it.abs() < 1 << 31);
        match node.kind() {
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.add(inner, factor, sum),
                None => self.not_understood(node),
            },
            "number_literal" => match small(number(node).and_then(|it| it.checked_mul(factor))) {
                Some(value) => {
                    sum.constant = sum.constant.saturating_add(value);
                    Ok(())
                }
                None => self.not_understood(node),
            },
            "identifier" => {
                let entry = sum.terms.entry(self.text(node).to_owned()).or_insert(0);
                *entry = entry.saturating_add(factor);
                Ok(())
            }
            "binary_expression" => {
                let (Some(left), Some(right)) = (
                    node.child_by_field_name("left"),
                    node.child_by_field_name("right"),
                ) else {
                    return self.not_understood(node);
                };
                match self.field(node, "operator")? {
                    "+" => {
                        self.add(left, factor, sum)?;
                        self.add(right, factor, sum)
                    }
                    "-" => {
                        self.add(left, factor, sum)?;
                        self.add(right, -factor, sum)
                    }
                    "*" => {
                        let (value, other) = match (number(left), number(right)) {
                            (Some(value), _) => (value, right),
                            (_, Some(value)) => (value, left),
                            _ => return self.not_understood(node),
                        };
                        match small(value.checked_mul(factor)) {
                            Some(factor) => self.add(other, factor, sum),
                            None => self.not_understood(node),
                        }
                    }
                    _ => self.not_understood(node),
                }
            }
            _ => self.not_understood(node),
        }
    }
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

fn too_deep(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    let mut depth = 0;
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if DEPTH_LIMIT < depth {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}
