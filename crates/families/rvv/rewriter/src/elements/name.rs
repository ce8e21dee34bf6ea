//! Names of intrinsics taken apart.
//!
//! Source: RISC-V Vector Intrinsics, version 1.0, "Naming scheme".

/// Type of the elements of a vector, or of a tuple of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// `f`, `i` or `u`.
    pub letter: char,
    pub bits: u32,
    /// How many vectors a tuple has; one for a vector.
    pub fields: usize,
}

impl Kind {
    /// What an element of a mask is: 0 or 1.
    pub(super) const MASK: Self = Self {
        letter: 'i',
        bits: 32,
        fields: 1,
    };

    pub(super) const fn new(letter: char, bits: u32) -> Self {
        Self {
            letter,
            bits,
            fields: 1,
        }
    }

    /// Returns whether an element is of the same type.
    pub(super) fn is_like(self, other: Self) -> bool {
        (self.letter, self.bits) == (other.letter, other.bits)
    }

    /// Reads `f32m4`, `i8mf2`, `u16m1x3` or `f32`.
    fn read(text: &str) -> Option<Self> {
        let letter = text.chars().next().filter(|it| "fiu".contains(*it))?;
        let end = text[1..].find(|c: char| !c.is_ascii_digit());
        let (bits, rest) = text[1..].split_at(end.unwrap_or(text.len() - 1));
        let bits = bits
            .parse()
            .ok()
            .filter(|it| [8, 16, 32, 64].contains(it))?;
        let (group, fields) = rest.split_once('x').unwrap_or((rest, "1"));
        let groups = ["", "m1", "m2", "m4", "m8", "mf2", "mf4", "mf8"];
        groups.contains(&group).then_some(Self {
            letter,
            bits,
            fields: fields.parse().ok().filter(|it| (1..=8).contains(it))?,
        })
    }

    /// Reads the name of a type of vectors; `vbool8_t` is one of `int32_t`, which holds 0 or 1.
    pub(super) fn of_type(text: &str) -> Option<Self> {
        let inner = text.strip_prefix('v')?.strip_suffix("_t")?;
        if let Some(ratio) = inner.strip_prefix("bool") {
            return ratio.parse::<u32>().ok().map(|_| Self::MASK);
        }
        for (word, letter) in [("float", 'f'), ("int", 'i'), ("uint", 'u')] {
            if let Some(rest) = inner.strip_prefix(word)
                && rest.contains('m')
            {
                return Self::read(&format!("{letter}{rest}"));
            }
        }
        None
    }

    /// Returns what C calls the type of an element.
    pub(super) fn to_c(self) -> String {
        match (self.letter, self.bits) {
            ('f', 16) => "_Float16".into(),
            ('f', 32) => "float".into(),
            ('f', _) => "double".into(),
            ('u', bits) => format!("uint{bits}_t"),
            (_, bits) => format!("int{bits}_t"),
        }
    }

    /// Returns whether C computes in a wider type.
    pub(super) fn is_narrow(self) -> bool {
        self.letter != 'f' && self.bits < 32
    }

    /// Returns the least and the greatest value of a type of at most 32 bits.
    pub(super) fn range(self) -> (i64, i64) {
        match self.letter {
            'u' => (0, (1 << self.bits) - 1),
            _ => (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1),
        }
    }
}

/// The name of an intrinsic.
#[derive(Clone, Debug)]
pub(super) struct Name<'s> {
    /// `vfmacc`, `vle32`.
    pub operation: &'s str,
    /// `vf`, or `x_f_v` as several words.
    pub form: Vec<&'s str>,
    pub kinds: Vec<Kind>,
    /// `tu`, `m`, `mu`, `tum`, `tumu` or nothing.
    pub policy: &'s str,
    /// Whether the rounding is an argument.
    pub is_rounded: bool,
}

impl<'s> Name<'s> {
    pub(super) fn read(text: &'s str) -> Option<Self> {
        let mut words: Vec<&str> = text.strip_prefix("__riscv_")?.split('_').collect();
        let is_policy = |it: &&&str| ["tu", "m", "mu", "tum", "tumu"].contains(*it);
        let policy = match words.last().filter(is_policy) {
            Some(policy) if 1 < words.len() => {
                let policy = *policy;
                words.pop();
                policy
            }
            _ => "",
        };
        let is_rounded = words.last() == Some(&"rm");
        if is_rounded {
            words.pop();
        }
        let (operation, rest) = words.split_first()?;
        let is_form = |it: &&&str| Kind::read(it).is_none();
        Some(Self {
            operation,
            form: rest.iter().filter(is_form).copied().collect(),
            kinds: rest.iter().filter_map(|it| Kind::read(it)).collect(),
            policy,
            is_rounded,
        })
    }

    /// Returns whether the last argument says how many elements there are.
    pub(super) fn has_length(&self) -> bool {
        let without = ["vget", "vset", "vcreate", "vreinterpret", "vundefined"];
        !without.contains(&self.operation)
            && !self.operation.starts_with("vlmul")
            && !self.operation.starts_with("vset")
            && !["f s", "x s"].contains(&self.form[..].join(" ").as_str())
    }

    /// Returns whether all elements become one number.
    pub(super) fn is_splat(&self) -> bool {
        let (splats, forms) = (["vmv", "vfmv"], ["v_x", "v_f", "s_x", "s_f"]);
        splats.contains(&self.operation) && forms.contains(&self.form.join("_").as_str())
    }

    /// Returns whether its second operand is by how many places it shifts.
    pub(super) fn is_shift(&self) -> bool {
        let operations = [
            "vsll", "vsrl", "vsra", "vnsrl", "vnsra", "vssrl", "vssra", "vnclip", "vnclipu",
        ];
        operations.contains(&self.operation)
    }

    /// Returns by how many places it may shift.
    pub(super) fn most_places(&self) -> u32 {
        let bits = self.kinds.last().map_or(32, |it| it.bits);
        match self.operation.starts_with("vn") {
            true => 2 * bits - 1,
            false => bits - 1,
        }
    }

    /// Returns whether it gives a mask.
    pub(super) fn is_mask(&self) -> bool {
        let ratio = self.form.last().and_then(|it| it.strip_prefix('b'));
        ratio.is_some_and(|it| it.parse::<u32>().is_ok())
    }

    /// Returns whether C gives it another type than that of its elements, unless it is narrow.
    pub(super) fn changes_bits(&self) -> bool {
        let operations = [
            "vsext", "vzext", "vwcvt", "vwcvtu", "vnsrl", "vnsra", "vnclip", "vnclipu",
        ];
        operations.contains(&self.operation)
            || self.operation.starts_with("vwred")
            || self.operation.starts_with("vfwred")
    }

    /// Returns whether it writes memory.
    pub(super) fn is_store(&self) -> bool {
        let starts = ["vse", "vsse", "vsux", "vsox", "vsseg", "vssseg"];
        let is_access = self.form.first() == Some(&"v") && self.operation.contains("e");
        let others = ["vsext", "vset", "vsetvl", "vsetvlmax"];
        is_access
            && starts.iter().any(|it| self.operation.starts_with(it))
            && !others.contains(&self.operation)
    }

    /// Returns whether it reads memory.
    pub(super) fn is_load(&self) -> bool {
        let starts = ["vle", "vlse", "vlux", "vlox"];
        self.form.first() == Some(&"v") && starts.iter().any(|it| self.operation.starts_with(it))
    }

    /// Returns whether it reads as many elements as there are before a fault.
    pub(super) fn is_first_fault(&self) -> bool {
        self.is_load() && self.operation.ends_with("ff")
    }

    /// Returns how many places side by side an access has for each element.
    pub(super) fn fields(&self) -> usize {
        self.kinds.first().map_or(1, |it| it.fields)
    }

    /// Returns whether its whole numbers are right without being cut to their bits.
    pub(super) fn is_exact(&self) -> bool {
        let always = [
            "vwmul", "vwmulu", "vwmulsu", "vsext", "vzext", "vwcvt", "vwcvtu", "vnclip", "vnclipu",
            "vmin", "vmax", "vminu", "vmaxu", "vmerge", "vand", "vsra", "vsrl",
        ];
        let once = ["vwadd", "vwsub", "vwaddu"];
        self.is_load()
            || always.contains(&self.operation)
            || once.contains(&self.operation) && ["vv", "vx"].iter().any(|it| self.form == [*it])
    }
}
