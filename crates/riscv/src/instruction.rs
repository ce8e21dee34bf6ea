//! Predecoded instructions: what the interpreter's hot loop reads.

/// The operation of an [`Instruction`], one per arm of the interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(
    missing_docs,
    reason = "the names are those of the RISC-V instruction manual"
)]
pub enum Operation {
    /// Not an instruction; `immediate` holds the bits.
    Illegal,
    /// Not an instruction: the block goes on at `immediate`.
    Continue,
    /// Load a constant: `lui`, and `auipc` with its address added.
    Constant,
    Jal,
    Jalr,
    Beq,
    Bne,
    Blt,
    Bge,
    Bltu,
    Bgeu,
    Lb,
    Lh,
    Lw,
    Ld,
    Lbu,
    Lhu,
    Lwu,
    Sb,
    Sh,
    Sw,
    Sd,
    Addi,
    Slti,
    Sltiu,
    Xori,
    Ori,
    Andi,
    Slli,
    Srli,
    Srai,
    Addiw,
    Slliw,
    Srliw,
    Sraiw,
    Add,
    Sub,
    Sll,
    Slt,
    Sltu,
    Xor,
    Srl,
    Sra,
    Or,
    And,
    Addw,
    Subw,
    Sllw,
    Srlw,
    Sraw,
    Mul,
    Mulh,
    Mulhsu,
    Mulhu,
    Div,
    Divu,
    Rem,
    Remu,
    Mulw,
    Divw,
    Divuw,
    Remw,
    Remuw,
    Sh1add,
    Sh2add,
    Sh3add,
    AddUw,
    Sh1addUw,
    Sh2addUw,
    Sh3addUw,
    SlliUw,
    Andn,
    Orn,
    Xnor,
    Clz,
    Clzw,
    Ctz,
    Ctzw,
    Cpop,
    Cpopw,
    Max,
    Maxu,
    Min,
    Minu,
    SextB,
    SextH,
    ZextH,
    /// `rol`; those that rotate to the right take what `rs2` and `immediate` hold together.
    Rol,
    Rolw,
    Ror,
    Rorw,
    OrcB,
    Rev8,
    /// With and without an immediate, as [`Self::Ror`]; so are the next three.
    Bclr,
    Bext,
    Binv,
    Bset,
    /// `extra`: which accesses to memory are next to it, once it is in a block.
    Fence,
    FenceI,
    Ecall,
    Ebreak,
    Mret,
    Wfi,
    /// `csrrw[i]`, `csrrs[i]`, `csrrc[i]`: `extra` is funct3, `immediate` the register number.
    Csr,
    LrW,
    LrD,
    ScW,
    ScD,
    /// Read-modify-write on 32 bits: `extra` is funct5.
    AmoW,
    /// Read-modify-write on 64 bits: `extra` is funct5.
    AmoD,
    /// custom-0..3: `extra` is opcode index | xd, xs1, xs2 << 2, `immediate` is funct7.
    Custom,
    Flw,
    Fld,
    Fsw,
    Fsd,
    Flh,
    Fsh,
    /// An operation on half-precision numbers: `extra` is a packed `FloatForm`, in which the
    /// integer type of a conversion between formats is 0 for single to half, 1 for double to
    /// half, 2 and 3 for the way back.
    Half,
    /// The fused multiply-add of half precision: as [`Self::Fused`].
    HalfFused,
    /// Fused multiply-add: `extra` is a packed `FusedForm`, `immediate` is rs3.
    Fused,
    /// An instruction on vectors: `immediate` holds the bits.
    Vector,
    /// Any other floating-point operation: `extra` is a packed `FloatForm`.
    Float,
}

/// Index of the register that takes results for `x0`.
pub(crate) const DISCARD: u8 = 32;

/// The floating-point unit in [`Instruction::uses`].
pub(crate) const FLOAT_UNIT: u64 = 1;

/// One predecoded instruction.
///
/// A destination of `x0` is replaced by a register that nothing reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What to do.
    pub operation: Operation,
    /// Destination register.
    pub rd: u8,
    /// First source register.
    pub rs1: u8,
    /// Second source register.
    pub rs2: u8,
    /// Offset of the instruction from the start of its block, in bytes.
    pub offset: u16,
    /// Further fields, see [`Operation`].
    pub extra: u16,
    /// Immediate, constant or absolute branch target, see [`Operation`].
    pub immediate: i64,
    /// Registers read or written: bits 1..31 integer, 32..63 floating point. Bit 0
    /// is set if the floating-point unit takes part.
    pub uses: u64,
}

/// A decoded instruction and its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The instruction; [`Instruction::offset`] is 0.
    pub instruction: Instruction,
    /// 2 or 4.
    pub length: u8,
}

/// What a hart may have besides RV64IMAFDC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extensions {
    /// Zba, Zbb and Zbs.
    pub bits: bool,
    /// Zfh: scalar arithmetic in half precision.
    pub half: bool,
}

impl Extensions {
    /// Returns whether a hart with these has an operation.
    pub(crate) fn have(self, operation: Operation) -> bool {
        use Operation as O;
        match operation {
            O::Flh | O::Fsh | O::Half | O::HalfFused => self.half,
            _ => self.bits || !(O::Sh1add as u8..=O::Bset as u8).contains(&(operation as u8)),
        }
    }
}

impl Operation {
    /// Returns whether it is a branch or jump.
    pub(crate) fn transfers(self) -> bool {
        use Operation as O;
        matches!(
            self,
            O::Jal | O::Jalr | O::Beq | O::Bne | O::Blt | O::Bge | O::Bltu | O::Bgeu
        )
    }

    /// Returns whether it is a load, but not an atomic.
    pub(crate) fn is_load(self) -> bool {
        use Operation as O;
        matches!(
            self,
            O::Lb | O::Lh | O::Lw | O::Ld | O::Lbu | O::Lhu | O::Lwu | O::Flw | O::Fld | O::Flh
        )
    }

    /// Returns whether it is a load, a store or an atomic.
    #[must_use]
    pub fn accesses_memory(self) -> bool {
        use Operation as O;
        matches!(
            self,
            O::Lb
                | O::Lh
                | O::Lw
                | O::Ld
                | O::Lbu
                | O::Lhu
                | O::Lwu
                | O::Sb
                | O::Sh
                | O::Sw
                | O::Sd
                | O::Flw
                | O::Fld
                | O::Fsw
                | O::Fsd
                | O::Flh
                | O::Fsh
                | O::LrW
                | O::LrD
                | O::ScW
                | O::ScD
                | O::AmoW
                | O::AmoD
        )
    }

    /// Returns whether a block ends with this operation.
    #[must_use]
    pub fn ends_block(self) -> bool {
        use Operation as O;
        matches!(
            self,
            O::Illegal
                | O::Continue
                | O::Jal
                | O::Jalr
                | O::Beq
                | O::Bne
                | O::Blt
                | O::Bge
                | O::Bltu
                | O::Bgeu
                | O::Fence
                | O::FenceI
                | O::Ecall
                | O::Ebreak
                | O::Mret
                | O::Wfi
                | O::Csr
        )
    }
}
