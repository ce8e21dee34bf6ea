//! Writes a kernel as C that a person can read.

use crate::affine::Affine;
use crate::condition::Condition;
use crate::kernel::{
    ACCUMULATE_BIT, ACCUMULATOR_BIT, Command, Dram, FULL_WIDTH_BIT, Kernel, Local, LocalRow,
    Memory, Weights,
};
use autocomp_c_loops::statement;
use std::fmt::Write;

/// Returns the kernel as C source.
#[must_use]
pub fn print(kernel: &Kernel) -> String {
    let mut text = kernel.prefix.clone();
    text.push('\n');
    statement::print(&kernel.body, 1, "    ", &mut text);
    text.push_str(&kernel.suffix);
    text
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments)
        .expect("writing to a string does not fail");
}

/// Returns the call for a command, without the semicolon.
#[must_use]
pub fn command_to_c(command: &Command) -> String {
    match command {
        Command::ConfigExecute(arguments) => {
            let name = match arguments.len() {
                9 => "gemmini_extended3_config_ex",
                _ => "config_ex",
            };
            format!("{name}({})", arguments.join(", "))
        }
        Command::ConfigStore(arguments) => {
            let name = match arguments.len() {
                3 => "gemmini_extended_config_st",
                12 => "gemmini_extended2_config_st",
                _ => "config_st",
            };
            format!("{name}({})", arguments.join(", "))
        }
        Command::ConfigLoad {
            stride,
            scale,
            block_stride,
            channel,
            shrunk,
            repeats,
        } => match (shrunk, repeats) {
            (false, 1) => format!("config_ld({stride}, {scale}, {block_stride}, {channel})"),
            (true, 1) => format!(
                "gemmini_extended4_config_ld({stride}, {scale}, true, {block_stride}, {channel})"
            ),
            _ => format!(
                "gemmini_extended5_config_ld({stride}, {scale}, {shrunk}, {block_stride}, {repeats}, {channel})"
            ),
        },
        Command::MoveIn(command) => {
            let name = ["mvin", "mvin2", "mvin3"][command.channel.min(2)];
            let source = dram_to_c(&command.source);
            let target = local_to_c(&command.target);
            format!(
                "{name}({source}, {target}, {}, {})",
                command.columns, command.rows
            )
        }
        Command::MoveOut(command) => {
            let target = dram_to_c(&command.target);
            let source = local_to_c(&command.source);
            format!(
                "mvout({target}, {source}, {}, {})",
                command.columns, command.rows
            )
        }
        Command::Preload(command) => format!(
            "preload({}, {}, {}, {}, {}, {})",
            local_to_c(&command.weights),
            local_to_c(&command.target),
            command.weights_size.0,
            command.weights_size.1,
            command.target_size.0,
            command.target_size.1,
        ),
        Command::Compute(command) => format!(
            "{}({}, {}, {}, {}, {}, {})",
            match command.weights {
                Weights::Preloaded => "compute_preloaded",
                Weights::Kept => "compute_accumulated",
            },
            local_to_c(&command.input),
            local_to_c(&command.addend),
            command.input_size.0,
            command.input_size.1,
            command.addend_size.0,
            command.addend_size.1,
        ),
        Command::Fence => "fence()".to_owned(),
    }
}

fn dram_to_c(dram: &Dram) -> String {
    match dram {
        Dram::Zero => "0".to_owned(),
        Dram::Element { array, indices } => {
            let mut text = format!("&{array}");
            for index in indices {
                push(&mut text, format_args!("[{}]", index.to_c()));
            }
            text
        }
        Dram::Opaque(text) => text.clone(),
    }
}

fn local_to_c(local: &Local) -> String {
    match local {
        Local::Garbage => "0xFFFFFFFF".to_owned(),
        Local::Row(row) => row_to_c(row),
    }
}

fn row_to_c(row: &LocalRow) -> String {
    if row.memory == Memory::Scratchpad {
        return row.row.to_c();
    }
    let width = if row.full_width { FULL_WIDTH_BIT } else { 0 };
    let replace = ACCUMULATOR_BIT | width;
    let add = replace | ACCUMULATE_BIT;
    let flags = match &row.overwrites {
        Condition::Constant(true) => format!("0x{replace:08X}"),
        Condition::Constant(false) => format!("0x{add:08X}"),
        condition => format!("({} ? 0x{replace:08X} : 0x{add:08X})", condition.to_c()),
    };
    if row.row == Affine::constant(0) {
        return flags;
    }
    format!("{flags} + {}", row.row.to_c())
}
