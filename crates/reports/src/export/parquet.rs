//! All kernels of runs as a Parquet file: one row group, plain pages, nothing compressed.
//!
//! The format is that of the specification of Apache Parquet, version 1 pages; its metadata
//! are in Thrift's compact protocol. The few structures that a table needs are written here,
//! which is less than a library for all of them would add to every build.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use super::{COLUMNS, row};
use crate::run::RunData;
use serde_json::Value;

const MAGIC: &[u8; 4] = b"PAR1";

/// What the values of a column are, with the number of its physical type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    YesNo = 0,
    Integer = 2,
    Number = 5,
    Text = 6,
}

/// Returns what a column holds; columns not named are texts.
fn kind(column: &str) -> Kind {
    match column {
        "seed" | "iteration" | "cost" | "spread_ppm" | "evaluation" | "elapsed_ms" | "repeats"
        | "calls" | "tokens" => Kind::Integer,
        "percent_of_peak" | "gain" | "usd" => Kind::Number,
        "in_best_chain" => Kind::YesNo,
        _ => Kind::Text,
    }
}

/// Returns all kernels of some runs as a Parquet file with the columns of [`COLUMNS`], of
/// which each may be null.
#[must_use]
pub fn parquet(runs: &[RunData]) -> Vec<u8> {
    let mut rows = Vec::new();
    for run in runs {
        rows.extend(run.kernels.iter().map(|kernel| row(run, kernel)));
    }
    let columns = COLUMNS.iter().enumerate().map(|(idx, name)| {
        let values = rows.iter().map(|row| &row[idx]).collect();
        (*name, kind(name), values)
    });
    file(columns.collect(), rows.len())
}

pub fn file(columns: Vec<(&str, Kind, Vec<&Value>)>, n_rows: usize) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let (mut schema, mut chunks, mut n_bytes) = (Vec::new(), Vec::new(), 0);
    for (name, kind, values) in &columns {
        let offset = out.len();
        let data = page(*kind, values);
        let mut levels = Thrift::default();
        levels.int(1, n_rows as i64).int(2, 0).int(3, 3).int(4, 3);
        let mut header = Thrift::default();
        header
            .int(1, 0)
            .int(2, data.len() as i64)
            .int(3, data.len() as i64);
        header.record(5, levels);
        out.extend(header.end());
        out.extend(data);
        let size = (out.len() - offset) as i64;
        n_bytes += size;

        let mut element = Thrift::default();
        element.int(1, *kind as i64).int(3, 1).text(4, name);
        if *kind == Kind::Text {
            element.int(6, 0);
        }
        schema.push(element);
        let mut about = Thrift::default();
        about
            .int(1, *kind as i64)
            .ints(2, &[0, 3])
            .texts(3, &[name]);
        about
            .int(4, 0)
            .long(5, n_rows as i64)
            .long(6, size)
            .long(7, size);
        about.long(9, offset as i64);
        let mut chunk = Thrift::default();
        chunk.long(2, offset as i64);
        chunk.record(3, about);
        chunks.push(chunk);
    }
    let mut root = Thrift::default();
    root.text(4, "kernels").int(5, columns.len() as i64);
    schema.insert(0, root);
    let mut group = Thrift::default();
    group.records(1, chunks);
    group.long(2, n_bytes).long(3, n_rows as i64);
    let mut about = Thrift::default();
    about.int(1, 1);
    about.records(2, schema);
    about.long(3, n_rows as i64);
    about.records(4, vec![group]);
    about.text(6, concat!("autocomp ", env!("CARGO_PKG_VERSION")));
    let about = about.end();
    let length = about.len() as u32;
    out.extend(about);
    out.extend(length.to_le_bytes());
    out.extend(MAGIC);
    out
}

/// Returns the data of a page: which values are there, and those.
fn page(kind: Kind, values: &[&Value]) -> Vec<u8> {
    // Runs of equal bits: twice their length as a number of variable length, and the bit.
    let mut present = Vec::new();
    for run in values.chunk_by(|a, b| a.is_null() == b.is_null()) {
        number(&mut present, (run.len() as u64) << 1);
        present.push(u8::from(!run[0].is_null()));
    }
    let mut out = (present.len() as u32).to_le_bytes().to_vec();
    out.extend(present);
    let there = values.iter().filter(|it| !it.is_null());
    match kind {
        Kind::Integer => there.for_each(|it| {
            let value = it.as_u64().unwrap_or_default().cast_signed();
            out.extend(value.to_le_bytes());
        }),
        Kind::Number => {
            there.for_each(|it| out.extend(it.as_f64().unwrap_or(f64::NAN).to_le_bytes()));
        }
        Kind::Text => there.for_each(|it| {
            let text = it.as_str().unwrap_or_default().as_bytes();
            out.extend((text.len() as u32).to_le_bytes());
            out.extend(text);
        }),
        Kind::YesNo => {
            let bits: Vec<u8> = there
                .map(|it| u8::from(*it == &Value::Bool(true)))
                .collect();
            let byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| (byte << 1) | bit);
            out.extend(bits.chunks(8).map(byte));
        }
    }
    out
}

/// Appends a number, seven bits to a byte, lowest first.
fn number(out: &mut Vec<u8>, mut value: u64) {
    while 0x7f < value {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A structure in Thrift's compact protocol.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    last: u8,
}

impl Thrift {
    const INT: u8 = 5;
    const LONG: u8 = 6;
    const TEXT: u8 = 8;
    const LIST: u8 = 9;
    const RECORD: u8 = 12;

    fn field(&mut self, id: u8, kind: u8) {
        self.bytes.push(((id - self.last) << 4) | kind);
        self.last = id;
    }

    fn signed(&mut self, value: i64) {
        number(
            &mut self.bytes,
            ((value << 1) ^ (value >> 63)).cast_unsigned(),
        );
    }

    fn int(&mut self, id: u8, value: i64) -> &mut Self {
        self.field(id, Self::INT);
        self.signed(value);
        self
    }

    fn long(&mut self, id: u8, value: i64) -> &mut Self {
        self.field(id, Self::LONG);
        self.signed(value);
        self
    }

    fn word(&mut self, value: &str) {
        number(&mut self.bytes, value.len() as u64);
        self.bytes.extend(value.as_bytes());
    }

    fn text(&mut self, id: u8, value: &str) -> &mut Self {
        self.field(id, Self::TEXT);
        self.word(value);
        self
    }

    fn list(&mut self, id: u8, kind: u8, length: usize) {
        self.field(id, Self::LIST);
        if length < 15 {
            self.bytes.push(((length as u8) << 4) | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            number(&mut self.bytes, length as u64);
        }
    }

    fn ints(&mut self, id: u8, values: &[i64]) -> &mut Self {
        self.list(id, Self::INT, values.len());
        values.iter().for_each(|it| self.signed(*it));
        self
    }

    fn texts(&mut self, id: u8, values: &[&str]) -> &mut Self {
        self.list(id, Self::TEXT, values.len());
        values.iter().for_each(|it| self.word(it));
        self
    }

    fn record(&mut self, id: u8, value: Self) {
        self.field(id, Self::RECORD);
        self.bytes.extend(value.end());
    }

    fn records(&mut self, id: u8, values: Vec<Self>) {
        self.list(id, Self::RECORD, values.len());
        self.bytes.extend(values.into_iter().flat_map(Self::end));
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}
