//! Types that C gives to what intrinsics get: numbers convert to the type of the elements.

use super::Reader;
use super::name::{Kind, Name};
use autocomp_c_loops::syntax::below;
use std::collections::BTreeMap;
use tree_sitter::Node;

/// Types of variables and of the elements of arrays and pointers, by their names; nothing for
/// names of several types.
pub(super) type Types<'s> = BTreeMap<&'s str, Option<Declared>>;

/// A type, of what a name points to where it is a pointer or an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    kind: Kind,
    is_pointer: bool,
}

/// Returns the type that a word of C names.
fn kind_of_word(text: &str) -> Option<Kind> {
    let text = text.trim_start_matches("const ").trim();
    Some(match text {
        "float" => Kind::new('f', 32),
        "double" => Kind::new('f', 64),
        "_Float16" => Kind::new('f', 16),
        "int" => Kind::new('i', 32),
        "unsigned" | "unsigned int" => Kind::new('u', 32),
        "size_t" => Kind::new('u', 64),
        _ => {
            let inner = text.strip_suffix("_t")?;
            let (letter, bits) = match inner.strip_prefix('u') {
                Some(rest) => ('u', rest.strip_prefix("int")?),
                None => ('i', inner.strip_prefix("int")?),
            };
            let bits = bits.parse().ok()?;
            [8, 16, 32, 64]
                .contains(&bits)
                .then(|| Kind::new(letter, bits))?
        }
    })
}

/// Returns the types of all names that are declared in a kernel.
pub(super) fn types<'s>(root: Node<'_>, source: &'s str) -> Types<'s> {
    let mut found = Types::new();
    for node in below(root) {
        if !["declaration", "parameter_declaration"].contains(&node.kind()) {
            continue;
        }
        let Some(kind) = node.child_by_field_name("type") else {
            continue;
        };
        let kind = &source[kind.byte_range()];
        let kind = kind_of_word(kind).or(Kind::of_type(kind));
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let (name, is_pointer) = declared_name(declarator);
            let kind = kind.map(|kind| Declared { kind, is_pointer });
            let known = found.entry(&source[name.byte_range()]).or_insert(kind);
            if *known != kind {
                *known = None;
            }
        }
    }
    found
}

/// Returns the name that a declarator declares, and whether it is one of a pointer or an array.
pub(super) fn declared_name(declarator: Node<'_>) -> (Node<'_>, bool) {
    let mut name = declarator;
    let mut is_pointer = false;
    while let Some(inner) = name
        .child_by_field_name("declarator")
        .or_else(|| name.named_child(0).filter(|_| name.kind() != "identifier"))
    {
        is_pointer |= ["pointer_declarator", "array_declarator"].contains(&name.kind());
        name = inner;
    }
    (name, is_pointer)
}

/// Returns a literal as a number of a type, if it is one that needs no conversion: in range, and
/// beside a number of that type where its own is another.
pub(super) fn literal(kind: Kind, text: &str, is_beside: bool) -> Option<String> {
    let digits = text.trim_start_matches('-');
    let is_hex = digits.starts_with("0x") || digits.starts_with("0X");
    let has_point = !is_hex && digits.contains(['.', 'e', 'E']);
    if kind.letter == 'f' {
        let bare = text.trim_end_matches(['f', 'F']);
        return match kind.bits {
            32 if has_point && bare.len() < text.len() => Some(text.to_owned()),
            32 if has_point => {
                let (once, twice) = (text.parse::<f32>().ok()?, text.parse::<f64>().ok()?);
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "whether it is the number that C gives is what is asked"
                )]
                let same = (twice as f32).to_bits() == once.to_bits();
                same.then(|| format!("{text}f"))
            }
            64 if has_point && bare.len() == text.len() => Some(text.to_owned()),
            32 | 64 if digits.chars().all(|it| it.is_ascii_digit()) => {
                let value = digits.parse::<u32>().ok().filter(|it| *it < 1 << 24)?;
                let is_plain = value.to_string() == digits && text == digits;
                let suffix = if kind.bits == 32 { "f" } else { "" };
                is_plain.then(|| format!("{text}.0{suffix}"))
            }
            _ => None,
        };
    }
    if has_point {
        return None;
    }
    let bare = digits.trim_end_matches(['u', 'U']);
    let value = match bare.get(2..).filter(|_| is_hex) {
        Some(hex) => i64::from_str_radix(hex, 16).ok()?,
        None if bare.starts_with('0') && bare != "0" => return None,
        None => bare.parse().ok()?,
    };
    let is_negative = text.starts_with('-');
    if is_negative && bare.len() < digits.len() {
        return None;
    }
    let value = if is_negative { -value } else { value };
    let is_int = value.abs() <= i64::from(i32::MAX);
    let fits = 64 <= kind.bits || (kind.range().0..=kind.range().1).contains(&value);
    let sign = if is_negative { "-" } else { "" };
    match (kind.letter, kind.bits) {
        _ if !fits || (kind.letter == 'u' && is_negative) => None,
        ('u', 32) if is_beside && is_int => Some(bare.to_owned()),
        ('u', 32) => Some(format!("{bare}u")),
        (_, 64) if !is_beside => None,
        _ => is_int.then(|| format!("{sign}{bare}")),
    }
}

impl<'s> Reader<'s> {
    /// Returns the type that C gives an expression, or that of what a pointer points to, if it is
    /// known.
    pub(super) fn c_type(&self, node: Node<'s>) -> Option<Kind> {
        match node.kind() {
            "identifier" => Some((*self.types.get(self.text(node))?)?.kind),
            "subscript_expression" | "pointer_expression" => {
                self.c_type(node.child_by_field_name("argument")?)
            }
            "parenthesized_expression" => self.c_type(node.named_child(0)?),
            "cast_expression" => {
                let kind = self.text(node.child_by_field_name("type")?);
                kind_of_word(kind.trim_end_matches(['*', ' ']))
            }
            // A pointer that is moved.
            "binary_expression" => {
                let left = node.child_by_field_name("left")?;
                let is_pointer = self.is_pointer(left);
                self.c_type(left).filter(|_| is_pointer)
            }
            "call_expression" => self.intrinsic_of(node)?.0.kinds.last().copied(),
            _ => None,
        }
    }

    fn is_pointer(&self, node: Node<'s>) -> bool {
        match node.kind() {
            "identifier" => self
                .types
                .get(self.text(node))
                .is_some_and(|it| it.is_some_and(|it| it.is_pointer)),
            "binary_expression" => node
                .child_by_field_name("left")
                .is_some_and(|it| self.is_pointer(it)),
            "cast_expression" => node
                .child_by_field_name("type")
                .is_some_and(|it| self.text(it).contains('*')),
            _ => false,
        }
    }

    /// Returns a number as an intrinsic gets it, which converts it to the type of its elements.
    pub(super) fn scalar(
        &mut self,
        node: Node<'s>,
        kind: Kind,
        is_beside: bool,
    ) -> Result<String, super::Refusal> {
        let mut inner = node;
        while let Some(within) = match inner.kind() {
            "parenthesized_expression" => inner.named_child(0),
            "cast_expression" => inner.child_by_field_name("value"),
            _ => None,
        } {
            inner = within;
        }
        let is_same_cast = self.c_type(node).is_none_or(|it| it.is_like(kind));
        if inner.kind() == "number_literal"
            && is_same_cast
            && let Some(text) = literal(kind, self.text(inner), is_beside)
        {
            return Ok(text);
        }
        let made = self.visit(node)?;
        let is_single = [
            "identifier",
            "subscript_expression",
            "call_expression",
            "cast_expression",
        ];
        Ok(match self.c_type(node) {
            Some(found) if found.is_like(kind) && is_single.contains(&node.kind()) => {
                match node.kind() {
                    "cast_expression" => format!("({made})"),
                    _ => made,
                }
            }
            _ => format!("({})({made})", kind.to_c()),
        })
    }
}

/// Returns the type of the number among the arguments of an intrinsic, and where it stands.
pub(super) fn scalar_of(name: &Name<'_>) -> Option<(usize, Kind)> {
    let kind = *name.kinds.last()?;
    let place = match *name.form.first()? {
        "vx" | "wx" | "vf" | "wf" | "vxm" | "vfm" => 1,
        _ if name.is_splat() => 0,
        _ => return None,
    };
    let operation = name.operation;
    let is_wide = operation.starts_with("vw") || operation.starts_with("vfw");
    let bits = if is_wide { kind.bits / 2 } else { kind.bits };
    let letter = match operation {
        "vwmulsu" | "vwmaccus" => 'u',
        _ => kind.letter,
    };
    Some((place, Kind::new(letter, bits)))
}
