//! Arrays that a kernel knows by name, and the types of their elements.

/// A type, as far as addresses and widths depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Void,
    /// An integer of this many bytes.
    Integer(u8, bool),
    Float,
    /// A float of eight bytes.
    Double,
    Pointer(Box<Self>),
    /// An array of this many elements.
    Array(Box<Self>, i64),
}

impl Type {
    /// The type of integer constants, and of what is computed from them.
    pub(crate) const WIDE: Self = Self::Integer(8, true);

    /// Returns the size in bytes.
    pub(crate) fn size(&self) -> i64 {
        match self {
            Self::Void => 1,
            Self::Integer(bytes, _) => i64::from(*bytes),
            Self::Float => 4,
            Self::Double | Self::Pointer(_) => 8,
            Self::Array(element, count) => element.size().saturating_mul(*count),
        }
    }

    /// Returns what a pointer or array of this type refers to.
    pub(crate) fn pointee(&self) -> Option<&Self> {
        match self {
            Self::Pointer(inner) | Self::Array(inner, _) => Some(inner),
            _ => None,
        }
    }
}

/// An array that commands can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Its name.
    pub(crate) name: String,
    /// Bytes of an element.
    pub(crate) element: i64,
    /// Type of an element.
    pub(crate) kind: Type,
    /// Whether its elements are operands of the array.
    pub(crate) is_operand: bool,
    /// Extents, outermost first; the first is 0 for a plain pointer.
    pub(crate) extents: Vec<i64>,
    /// Whether it is a parameter of the entry function.
    pub(crate) is_parameter: bool,
    /// Its elements, if they are known and never change: bits of floats, and integers.
    pub(crate) contents: Vec<i64>,
}

/// Distance of the addresses that stand for arrays.
pub(crate) const SPACING: u64 = 1 << 40;

impl Memory {
    /// Returns an array that the rewriter adds to a kernel.
    pub(crate) fn added(name: String, kind: Type, is_operand: bool, extents: Vec<i64>) -> Self {
        Self {
            name,
            element: kind.size(),
            kind,
            is_operand,
            extents,
            is_parameter: false,
            contents: Vec::new(),
        }
    }

    /// Returns the type of its elements in C.
    pub(crate) fn kind_in_c(&self) -> String {
        match self.kind {
            Type::Float => "float".to_owned(),
            _ => format!("int{}_t", 8 * self.element),
        }
    }

    /// Returns the float that element number `at` always is.
    pub(crate) fn float(&self, at: i64) -> Option<f32> {
        let bits = self.contents.get(usize::try_from(at).ok()?)?;
        (self.kind == Type::Float).then(|| f32::from_bits(*bits as u32))
    }

    /// Returns the integer of type `kind` that always lies `offset` bytes behind its start.
    pub(crate) fn integer(&self, offset: i64, kind: &Type) -> Option<i64> {
        let at = usize::try_from(offset / self.element).ok()?;
        let is_one = matches!(kind, Type::Integer(..)) && *kind == self.kind;
        let is_one = is_one && offset % self.element == 0;
        self.contents.get(at).copied().filter(|_| is_one)
    }

    /// Returns its bytes, if its extents are known.
    pub(crate) fn bytes(&self) -> Option<i64> {
        let mut extents = self.extents.iter();
        let bytes = extents.try_fold(self.element, |all, extent| all.checked_mul(*extent))?;
        (0 < bytes && bytes as u64 <= SPACING / 2).then_some(bytes)
    }

    /// Returns the address that stands for array `index`.
    pub(crate) fn base(index: usize) -> u64 {
        (index as u64 + 1) * SPACING
    }

    /// Returns the array that an address is in, and the offset in bytes.
    pub(crate) fn of(address: u64) -> Option<(usize, i64)> {
        let index = usize::try_from(address / SPACING).ok()?.checked_sub(1)?;
        Some((index, (address % SPACING) as i64))
    }
}
