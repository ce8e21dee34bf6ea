//! What texts of a target say in numbers: machine files and the simulator are asked, so that
//! no text can contradict them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use autocomp_trainium_sim::timing::{Machine, Passes, time};
use autocomp_trainium_sim::{Array, Dtype, Input, Options, evaluate};

/// Columns that instructions are shown for.
const COLUMNS: [usize; 4] = [128, 512, 2048, 8192];
/// Columns of a bank of the accumulators, in float32.
const BANK: usize = 512;

/// An instruction that the table shows.
struct Row {
    engine: &'static str,
    words: &'static str,
    /// The call, on tiles made by [`kernel`].
    call: &'static str,
    /// Most columns that it takes.
    most: usize,
    /// Fewest columns that it takes.
    least: usize,
}

const fn row(
    engine: &'static str,
    words: &'static str,
    call: &'static str,
    (least, most): (usize, usize),
) -> Row {
    Row {
        engine,
        words,
        call,
        most,
        least,
    }
}

const ANY: (usize, usize) = (0, usize::MAX);

/// Instructions as the second dialect writes them; they cost the same in the first.
const ROWS: &[Row] = &[
    row(
        "vector",
        "tensor_scalar, tensor_copy, float32",
        "tensor_scalar(dst=c, data=a, op0=nl.multiply, operand0=2.0, op1=nl.add, operand1=1.0, engine=nisa.vector_engine)",
        ANY,
    ),
    row(
        "vector",
        "the same, bfloat16",
        "tensor_copy(dst=k, src=h, engine=nisa.vector_engine)",
        ANY,
    ),
    row(
        "vector",
        "tensor_copy out of PSUM, to either type",
        "tensor_copy(dst=k, src=p, engine=nisa.vector_engine)",
        (0, BANK),
    ),
    row(
        "vector",
        "memset with engine=, float32",
        "memset(dst=c, value=0.0, engine=nisa.vector_engine)",
        ANY,
    ),
    row(
        "vector",
        "tensor_tensor, float32, both operands in SBUF",
        "tensor_tensor(dst=c, data1=a, data2=b, op=nl.add)",
        ANY,
    ),
    row(
        "vector",
        "the same, one operand in PSUM",
        "tensor_tensor(dst=c, data1=a, data2=p, op=nl.add)",
        (0, BANK),
    ),
    row(
        "vector",
        "the same, bfloat16",
        "tensor_tensor(dst=k, data1=h, data2=k, op=nl.add)",
        ANY,
    ),
    row(
        "vector",
        "scalar_tensor_tensor, float32, in SBUF",
        "scalar_tensor_tensor(dst=c, data=a, op0=nl.multiply, operand0=s, op1=nl.add, operand1=b)",
        ANY,
    ),
    row(
        "vector",
        "the same, one tile in PSUM",
        "scalar_tensor_tensor(dst=c, data=p, op0=nl.multiply, operand0=s, op1=nl.add, operand1=b)",
        (0, BANK),
    ),
    row(
        "vector",
        "tensor_reduce, float32",
        "tensor_reduce(dst=s, op=nl.add, data=a, axis=1)",
        ANY,
    ),
    row(
        "vector",
        "tensor_tensor_scan",
        "tensor_tensor_scan(dst=c, data0=a, data1=b, initial=s, op0=nl.multiply, op1=nl.add)",
        ANY,
    ),
    row("vector", "reciprocal", "reciprocal(dst=c, data=a)", ANY),
    row(
        "vector",
        "tensor_tensor with op=nl.divide",
        "tensor_tensor(dst=c, data1=a, data2=b, op=nl.divide)",
        ANY,
    ),
    row(
        "scalar",
        "activation, tensor_copy",
        "activation(dst=c, op=nl.exp, data=a)",
        ANY,
    ),
    row(
        "scalar",
        "the same, out of PSUM",
        "activation(dst=c, op=nl.exp, data=p)",
        (0, BANK),
    ),
    row(
        "scalar",
        "activation_reduce",
        "activation_reduce(dst=c, op=nl.exp, data=a, reduce_op=nl.add, reduce_res=s)",
        ANY,
    ),
    row(
        "gpsimd",
        "tensor_tensor with engine=",
        "tensor_tensor(dst=c, data1=a, data2=b, op=nl.add, engine=nisa.gpsimd_engine)",
        ANY,
    ),
    row(
        "gpsimd",
        "tensor_copy with engine=, float32",
        "tensor_copy(dst=c, src=a, engine=nisa.gpsimd_engine)",
        ANY,
    ),
    row(
        "gpsimd",
        "memset with engine=",
        "memset(dst=c, value=0.0, engine=nisa.gpsimd_engine)",
        ANY,
    ),
    row(
        "gpsimd",
        "affine_select",
        "affine_select(dst=c, pattern=[[1, N]], offset=0, channel_multiplier=-1, on_true_tile=a, on_false_value=0.0, cmp_op=nl.greater_equal)",
        ANY,
    ),
    row(
        "tensor",
        "nc_matmul, bfloat16, K = M = 128",
        "nc_matmul(dst=p, stationary=w, moving=h)",
        (0, BANK),
    ),
    row(
        "tensor",
        "nc_matmul, float32",
        "nc_matmul(dst=p, stationary=u, moving=a)",
        (0, BANK),
    ),
    row(
        "tensor",
        "the same, one operand of zeros and ones, said with is_moving_onezero=True or is_stationary_onezero=True",
        "nc_matmul(dst=p, stationary=u, moving=a, is_moving_onezero=True)",
        (0, BANK),
    ),
    row(
        "tensor",
        "nc_transpose of 128 columns, float32",
        "nc_transpose(dst=t, data=u)",
        (128, 128),
    ),
];

/// Transfers that the table shows: rows, bytes of a row, words, call.
const TRANSFERS: &[(usize, usize, &str, &str)] = &[
    (128, 256, "", "dma_copy(dst=a, src=x)"),
    (128, 2048, "", "dma_copy(dst=a, src=x)"),
    (128, 16384, "", "dma_copy(dst=a, src=x)"),
    (1, 16384, "", "dma_copy(dst=a, src=x)"),
];

/// Returns the figures of a machine by the names that texts have for them. What the simulator
/// refuses has no figure in its table.
pub(crate) fn figures(machine: &Machine) -> BTreeMap<String, String> {
    let rates = &machine.dma;
    let bytes_per_ns = (rates.queues as f64 * rates.bytes_per_ns).min(rates.hbm_bytes_per_ns);
    let numbers = [
        ("queues", rates.queues as f64),
        ("hbm_gbs", bytes_per_ns),
        ("sbuf_kib", machine.sbuf_bytes as f64 / 1024.0),
        ("psum_banks", machine.psum_bytes as f64 / 2048.0),
        ("clock", machine.clock),
        // The documents' clocks: the machine's run in its own nanoseconds.
        ("tensor_ghz", machine.tensor.ghz / machine.clock),
        ("vector_ghz", machine.vector.ghz / machine.clock),
        ("scalar_ghz", machine.scalar.ghz / machine.clock),
        ("gpsimd_ghz", machine.gpsimd.ghz / machine.clock),
        ("launch_us", machine.launch_ns / 1000.0),
        ("start_ns", rates.dynamic_ns),
        ("write_weight", rates.hbm_write_weight),
        ("window", machine.window as f64),
    ];
    let mut figures: BTreeMap<String, String> = numbers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_string()))
        .collect();
    figures.insert("instruction_costs".to_owned(), instruction_costs(machine));
    figures.insert("transfer_costs".to_owned(), transfer_costs(machine));
    figures
}

fn instruction_costs(machine: &Machine) -> String {
    let mut table =
        "| engine | instruction | 128 | 512 | 2048 | 8192 |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for row in ROWS {
        let _ = write!(table, "| {} | {} |", row.engine, row.words);
        for columns in COLUMNS {
            let fits = (row.least..=row.most).contains(&columns);
            let cost = fits.then(|| measured(machine, columns, (128, columns), row.call));
            match cost.flatten() {
                Some((busy, _)) => {
                    let _ = write!(table, " {busy:.0} |");
                }
                None => table += " |",
            }
        }
        table.push('\n');
    }
    table.trim_end().to_owned()
}

fn transfer_costs(machine: &Machine) -> String {
    let mut table =
        "| transfer alone | the queues are busy for | data can be used after |\n|---|---|---|\n"
            .to_owned();
    for (rows, bytes, words, call) in TRANSFERS {
        let columns = bytes / 4;
        let cost = measured(machine, columns, (*rows, columns), call);
        let Some((busy, usable)) = cost else {
            continue;
        };
        let plural = if *rows == 1 { "row" } else { "rows" };
        let _ = writeln!(
            table,
            "| {rows} {plural} of {bytes} bytes{words} | {busy:.0} ns | {usable:.0} ns |"
        );
    }
    table.trim_end().to_owned()
}

/// Returns for how many nanoseconds a call keeps its engine busy, and after how many its result
/// can be used; nothing if the simulator refuses it.
fn measured(
    machine: &Machine,
    columns: usize,
    shape: (usize, usize),
    call: &str,
) -> Option<(f64, f64)> {
    let source = kernel(columns, shape, call);
    let input = Input::Array(Array {
        dtype: Dtype::Float32,
        shape: vec![shape.0, shape.1],
        data: Vec::new(),
    });
    let options = Options {
        generation: machine.generation,
        functional: false,
        ..Options::default()
    };
    let evaluation = evaluate(&source, "solution", &[("x".to_owned(), input)], &options).ok()?;
    let timeline = time(&evaluation.trace, machine, Passes::PLAIN);
    let line = source.lines().position(|line| line.ends_with(MARK));
    let line = line.map_or(0, |idx| idx as u32 + 1);
    let found = timeline.scheduled().find(|it| it.line == line);
    found.map(|it| {
        let slot = it.slot;
        (slot.released - slot.start, slot.done - slot.start)
    })
}

/// Ends the line of the call that is measured.
const MARK: &str = "  # measured";

/// A kernel that makes every tile a call may use, makes the call, and returns a copy of its input.
fn kernel(columns: usize, (rows, row): (usize, usize), call: &str) -> String {
    let bank = columns.min(BANK);
    let tiles = [
        ("a", rows, columns, "float32", "sbuf"),
        ("b", 128, columns, "float32", "sbuf"),
        ("c", 128, columns, "float32", "sbuf"),
        ("h", 128, columns, "bfloat16", "sbuf"),
        ("k", 128, columns, "bfloat16", "sbuf"),
        ("s", 128, 1, "float32", "sbuf"),
        ("u", 128, 128, "float32", "sbuf"),
        ("w", 128, 128, "bfloat16", "sbuf"),
        ("p", 128, bank, "float32", "psum"),
        ("t", 128, 128, "float32", "psum"),
    ];
    let mut text = format!(
        "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n\n@nki.jit\ndef solution(x):\n    N = {columns}\n    y = nl.ndarray(({rows}, {row}), dtype=nl.float32, buffer=nl.shared_hbm)\n"
    );
    let has = |text: &str, name: &str| {
        text.contains(&format!("={name},")) || text.contains(&format!("={name})"))
    };
    for (name, rows, columns, dtype, buffer) in &tiles {
        let read = call.replace(&format!("dst={name},"), "");
        let is_read = has(&read, name) || (*name == "a" && read == call);
        if !is_read && !has(call, name) {
            continue;
        }
        let _ = writeln!(
            text,
            "    {name} = nl.ndarray(({rows}, {columns}), dtype=nl.{dtype}, buffer=nl.{buffer})"
        );
        // What only the call writes stays unwritten before it: products would add to it.
        if is_read {
            let _ = writeln!(text, "    nisa.memset(dst={name}, value=0.0)");
        }
    }
    let _ = writeln!(
        text,
        "    nisa.{call}{MARK}\n    nisa.dma_copy(dst=y, src=a)\n    return y"
    );
    text
}
