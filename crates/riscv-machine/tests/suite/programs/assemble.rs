//! A few instructions by name, and ELF files around them.

pub const BASE: u64 = 0x8000_0000;

pub const ZERO: u32 = 0;
pub const RA: u32 = 1;
pub const A0: u32 = 10;
pub const A1: u32 = 11;
pub const T0: u32 = 5;
pub const T1: u32 = 6;

pub fn addi(rd: u32, rs1: u32, immediate: i32) -> u32 {
    (immediate as u32 & 0xfff) << 20 | rs1 << 15 | rd << 7 | 0x13
}

pub fn lui(rd: u32, upper: u32) -> u32 {
    upper << 12 | rd << 7 | 0x37
}

pub fn auipc(rd: u32, upper: u32) -> u32 {
    upper << 12 | rd << 7 | 0x17
}

pub fn add(rd: u32, rs1: u32, rs2: u32) -> u32 {
    rs2 << 20 | rs1 << 15 | rd << 7 | 0x33
}

pub fn slli(rd: u32, rs1: u32, amount: u32) -> u32 {
    amount << 20 | rs1 << 15 | 1 << 12 | rd << 7 | 0x13
}

pub fn ld(rd: u32, rs1: u32, offset: i32) -> u32 {
    (offset as u32 & 0xfff) << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x03
}

pub fn sd(rs2: u32, rs1: u32, offset: i32) -> u32 {
    let offset = offset as u32 & 0xfff;
    (offset >> 5) << 25 | rs2 << 20 | rs1 << 15 | 3 << 12 | (offset & 31) << 7 | 0x23
}

pub fn sw(rs2: u32, rs1: u32, offset: i32) -> u32 {
    sd(rs2, rs1, offset) ^ 1 << 12
}

pub fn branch_if_zero(rs1: u32, offset: i32) -> u32 {
    let offset = offset as u32;
    (offset >> 12 & 1) << 31
        | (offset >> 5 & 0x3f) << 25
        | rs1 << 15
        | (offset >> 1 & 15) << 8
        | (offset >> 11 & 1) << 7
        | 0x63
}

pub fn jump(offset: i32) -> u32 {
    let offset = offset as u32;
    (offset >> 20 & 1) << 31
        | (offset >> 1 & 0x3ff) << 21
        | (offset >> 11 & 1) << 20
        | (offset >> 12 & 0xff) << 12
        | 0x6f
}

pub fn csrw(csr: u32, rs1: u32) -> u32 {
    csr << 20 | rs1 << 15 | 1 << 12 | 0x73
}

pub const RET: u32 = 0x0000_8067;
pub const EBREAK: u32 = 0x0010_0073;

/// Returns an executable with `code` at [`BASE`], `data` one page behind it,
/// and these symbols.
pub fn elf(code: &[u32], data: &[u8], symbols: &[(&str, u64)]) -> Vec<u8> {
    const CODE_AT: usize = 0x1000;
    let mut image: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    image.resize(0x1000, 0);
    image.extend_from_slice(data);
    let mut names = vec![0u8];
    let mut table = vec![0u8; 24];
    for (name, value) in symbols {
        table.extend_from_slice(&(names.len() as u32).to_le_bytes());
        // Global, no type, absolute.
        table.extend_from_slice(&[0x10, 0, 0xf1, 0xff]);
        table.extend_from_slice(&value.to_le_bytes());
        table.extend_from_slice(&0u64.to_le_bytes());
        names.extend_from_slice(name.as_bytes());
        names.push(0);
    }
    let (image_len, table_len, names_len) =
        (image.len() as u64, table.len() as u64, names.len() as u64);
    let table_at = CODE_AT as u64 + image_len;
    let sections_at = table_at + table_len + names_len;
    let mut out = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    out.extend_from_slice(&2u16.to_le_bytes());
    out.extend_from_slice(&243u16.to_le_bytes());
    out.extend_from_slice(&1u32.to_le_bytes());
    for word in [BASE, 64, sections_at] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(&0u32.to_le_bytes());
    for half in [64u16, 56, 1, 64, 3, 2] {
        out.extend_from_slice(&half.to_le_bytes());
    }
    out.extend_from_slice(&1u32.to_le_bytes());
    out.extend_from_slice(&7u32.to_le_bytes());
    // In memory the segment is longer than in the file: zeroed.
    for word in [
        CODE_AT as u64,
        BASE,
        BASE,
        image_len,
        image_len + 0x1000,
        0x1000,
    ] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.resize(CODE_AT, 0);
    out.extend_from_slice(&image);
    out.extend_from_slice(&table);
    out.extend_from_slice(&names);
    out.extend_from_slice(&[0; 64]);
    let mut section = |kind: u32, at: u64, len: u64, link: u32, info: u32, entry: u64| {
        out.extend_from_slice(&0u32.to_le_bytes());
        out.extend_from_slice(&kind.to_le_bytes());
        for word in [0, 0, at, len] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&link.to_le_bytes());
        out.extend_from_slice(&info.to_le_bytes());
        for word in [1, entry] {
            out.extend_from_slice(&word.to_le_bytes());
        }
    };
    section(2, table_at, table_len, 2, 1, 24);
    section(3, table_at + table_len, names_len, 0, 0, 0);
    out
}
