//! What a test program compares with, by the call that computes it.

use super::expression::value;
use super::preprocessor::Preprocessed;
use super::{is_name, is_part};

/// Longest list of arguments.
const MOST_BYTES: usize = 2000;

/// Names that the definitions have of their own.
const OWN_NAMES: [&str; 11] = ["i", "j", "k", "b", "y", "x", "r", "s", "c", "o", "sums"];

/// An array that is read or written.
pub(super) struct Operand {
    pub(super) name: String,
    /// As problems name it.
    pub(super) dtype: &'static str,
    pub(super) shape: Vec<u64>,
}

/// What is computed.
pub(super) struct Computed {
    /// Arrays that are read, in the order of parameters.
    pub(super) inputs: Vec<Operand>,
    pub(super) output: Operand,
    /// A sentence without its full stop.
    pub(super) what: String,
    pub(super) macs: u64,
    /// Dimensions along which it is symmetric.
    pub(super) axes: Vec<(&'static str, Vec<String>)>,
    /// The body of its definition.
    pub(super) body: String,
}

/// Returns what the program leaves in `gold`, for a definition that leaves it in `output`.
///
/// # Errors
/// If no call that is known does that, or the definition cannot be written.
pub(super) fn computed(read: &Preprocessed, output: &str) -> Result<Computed, String> {
    let calls: [(&str, Reader); 3] = [
        ("tiled_matmul_outer_eigen", matrices),
        ("tiled_matmul_outer_eigen_bias", matrices_and_bias),
        ("tiled_conv_auto", convolution),
    ];
    let mut found = Vec::new();
    let (mut own, gold) = (None, |it: &Vec<&str>| it.contains(&"gold"));
    for (name, reader) in calls {
        let mut lists = calls_of(&read.text, name).filter(gold).peekable();
        if lists.peek().is_some() && read.redefines(name) {
            own = Some(name);
            continue;
        }
        found.extend(lists.map(|list| (name, reader, list)));
    }
    let (name, reader, arguments) = match found.as_slice() {
        [only] => only,
        [] => {
            let own = own.map_or_else(String::new, |it| {
                format!(", and `{it}` is the program's own")
            });
            return Err(format!(
                "no call that is known here computes `gold`{own}: the definition has to be written"
            ));
        }
        several => return Err(format!("{} calls compute `gold`", several.len())),
    };
    let computed = reader(arguments, output)
        .ok_or_else(|| format!("what it asks of `{name}` is not known here"))?;
    let mut names: Vec<&str> = Vec::new();
    for Operand { name, .. } in computed.inputs.iter().chain([&computed.output]) {
        if !is_name(name) {
            return Err(format!("`{name}` is no name of an array"));
        }
        if OWN_NAMES.contains(&name.as_str()) {
            return Err(format!(
                "`{name}` is a name of the definition's own: give the array another one"
            ));
        }
        if names.contains(&name.as_str()) {
            return Err(format!("`{name}` is given twice"));
        }
        names.push(name);
    }
    Ok(computed)
}

/// Returns the arguments of each call of a function.
fn calls_of<'t>(text: &'t str, name: &str) -> impl Iterator<Item = Vec<&'t str>> {
    text.match_indices(name).filter_map(move |(at, name)| {
        let list = text[at + name.len()..].trim_start().strip_prefix('(')?;
        let is_part_of_another = text[..at].ends_with(is_part);
        (!is_part_of_another).then(|| arguments(list))?
    })
}

/// Returns the arguments of a list that is open.
fn arguments(list: &str) -> Option<Vec<&str>> {
    let mut all = Vec::new();
    let (mut begin, mut n_open) = (0, 0_usize);
    for (at, byte) in list.bytes().enumerate().take(MOST_BYTES) {
        match byte {
            b'(' => n_open += 1,
            b')' | b',' if n_open == 0 => {
                all.push(list[begin..at].trim());
                begin = at + 1;
                if byte == b')' {
                    return Some(all);
                }
            }
            b')' => n_open -= 1,
            _ => {}
        }
    }
    None
}

type Reader = fn(&[&str], &str) -> Option<Computed>;

/// Numbers of arguments, each of which must be one and not negative.
fn numbers<const N: usize>(texts: &[&str]) -> Option<[u64; N]> {
    let all: Option<Vec<u64>> = texts
        .iter()
        .map(|it| match *it {
            "false" | "NO_ACTIVATION" => Some(0),
            "true" => Some(1),
            text => value(text)?.try_into().ok(),
        })
        .collect();
    all?.try_into().ok()
}

fn matrices(arguments: &[&str], output: &str) -> Option<Computed> {
    let [a, b, _gold, sizes @ ..] = arguments else {
        return None;
    };
    product(numbers(sizes)?, [a, b], None, output)
}

fn matrices_and_bias(arguments: &[&str], output: &str) -> Option<Computed> {
    let [a, b, d, _gold, sizes @ .., subtracts] = arguments else {
        return None;
    };
    let is_added = value(subtracts)? == 0;
    is_added.then(|| product(numbers(sizes)?, [a, b], Some(d), output))?
}

fn product(sizes: [u64; 5], [a, b]: [&str; 2], d: Option<&str>, c: &str) -> Option<Computed> {
    let [i, k, j, turned_a, turned_b] = sizes;
    // Which dimension of a matrix an index runs over.
    let at = |name: &str, turned: u64, row: &'static str, column: &'static str| match turned {
        0 => Some((format!("{name}[{row}][{column}]"), [0, 1])),
        1 => Some((format!("{name}[{column}][{row}]"), [1, 0])),
        _ => None,
    };
    let (of_a, [a_i, a_k]) = at(a, turned_a, "i", "k")?;
    let (of_b, [b_k, b_j]) = at(b, turned_b, "k", "j")?;
    let start = d.map_or_else(|| "0".to_owned(), |d| format!("{d}[i][j]"));
    let with_d =
        |axis: &str, dimension: u8| d.map(|d| (axis.to_owned(), format!("{d}.{dimension}")));
    let mut axes = vec![
        ("i", vec![format!("{a}.{a_i}"), format!("{c}.0")]),
        ("j", vec![format!("{b}.{b_j}"), format!("{c}.1")]),
        ("k", vec![format!("{a}.{a_k}"), format!("{b}.{b_k}")]),
    ];
    for (axis, position) in [with_d("i", 0), with_d("j", 1)].into_iter().flatten() {
        axes.iter_mut()
            .filter(|it| it.0 == axis)
            .for_each(|it| it.1.push(position.clone()));
    }
    let body = format!(
        "  for (int i = 0; i < {i}; i++) {{
    int32_t sums[{j}];
    for (int j = 0; j < {j}; j++) sums[j] = {start};
    for (int k = 0; k < {k}; k++) {{
      for (int j = 0; j < {j}; j++) sums[j] += {of_a} * {of_b};
    }}
    for (int j = 0; j < {j}; j++) {{
      {c}[i][j] = sums[j] > 127 ? 127 : sums[j] < -128 ? -128 : sums[j];
    }}
  }}
"
    );
    Some(Computed {
        inputs: [(a, [a_i, a_k], [i, k]), (b, [b_k, b_j], [k, j])]
            .map(|(name, [first, _], [rows, columns])| match first {
                0 => int8(name, &[rows, columns]),
                _ => int8(name, &[columns, rows]),
            })
            .into_iter()
            .chain(d.map(|d| int8(d, &[i, j])))
            .collect(),
        output: int8(c, &[i, j]),
        what: format!(
            "{c} = {a}{} {b}{}{} for int8 matrices, {i}x{k} and {k}x{j}, summed in int32 and clamped to int8",
            if turned_a == 1 { "^T" } else { "" },
            if turned_b == 1 { "^T" } else { "" },
            d.map_or_else(String::new, |d| format!(" + {d}")),
        ),
        macs: i.checked_mul(j)?.checked_mul(k)?,
        axes,
        body,
    })
}

fn int8(name: &str, shape: &[u64]) -> Operand {
    Operand {
        name: name.to_owned(),
        dtype: "int8",
        shape: shape.to_vec(),
    }
}

fn convolution(arguments: &[&str], output: &str) -> Option<Computed> {
    let (sizes, rest) = arguments.split_at_checked(17)?;
    let [input, weights, bias, _gold, post @ .., _flow] = rest else {
        return None;
    };
    let [
        batch,
        rows,
        columns,
        channels,
        outputs,
        out_rows,
        out_columns,
        stride,
        _,
        _,
        padding,
        kernel,
        flags @ ..,
    ] = numbers::<17>(sizes)?;
    let [act, scale, pool_size, pool_stride, pool_padding] = numbers::<5>(post)?;
    let dilations = numbers::<2>(&sizes[8..10])?;
    let is_plain = dilations == [1, 1]
        && (act, scale, pool_size, pool_stride, pool_padding) == (0, 1, 0, 0, 0)
        && flags == [0; 5]
        && padding == 0
        && 0 < stride;
    // What is read lies within the image.
    let is_inside = |out: u64, size: u64| {
        let last = out
            .checked_sub(1)?
            .checked_mul(stride)?
            .checked_add(kernel)?;
        (last <= size).then_some(())
    };
    is_inside(out_rows, rows)?;
    is_inside(out_columns, columns)?;
    if !is_plain {
        return None;
    }
    let axes = vec![
        ("batch", vec![format!("{input}.0"), format!("{output}.0")]),
        (
            "input-channel",
            vec![format!("{input}.3"), format!("{weights}.2")],
        ),
        (
            "output-channel",
            vec![
                format!("{weights}.3"),
                format!("{bias}.1"),
                format!("{output}.3"),
            ],
        ),
    ];
    let body = format!(
        "  for (int b = 0; b < {batch}; b++) {{
    for (int y = 0; y < {out_rows}; y++) {{
      for (int x = 0; x < {out_columns}; x++) {{
        int32_t sums[{outputs}];
        for (int o = 0; o < {outputs}; o++) sums[o] = {bias}[0][o];
        for (int r = 0; r < {kernel}; r++) {{
          for (int s = 0; s < {kernel}; s++) {{
            for (int c = 0; c < {channels}; c++) {{
              for (int o = 0; o < {outputs}; o++) {{
                sums[o] += {input}[b][y * {stride} + r][x * {stride} + s][c] * {weights}[r][s][c][o];
              }}
            }}
          }}
        }}
        for (int o = 0; o < {outputs}; o++) {{
          {output}[b][y][x][o] = sums[o] > 127 ? 127 : sums[o] < -128 ? -128 : sums[o];
        }}
      }}
    }}
  }}
"
    );
    let macs = [
        batch,
        out_rows,
        out_columns,
        kernel,
        kernel,
        channels,
        outputs,
    ];
    Some(Computed {
        what: format!(
            "{kernel}x{kernel} convolution of {batch} int8 images of {rows}x{columns} pixels, {channels} to {outputs} channels, stride {stride}, int32 bias, clamped to int8"
        ),
        inputs: vec![
            int8(input, &[batch, rows, columns, channels]),
            int8(weights, &[kernel, kernel, channels, outputs]),
            Operand {
                dtype: "int32",
                ..int8(bias, &[1, outputs])
            },
        ],
        output: int8(output, &[batch, out_rows, out_columns, outputs]),
        macs: macs
            .into_iter()
            .try_fold(1_u64, |all, it| all.checked_mul(it))?,
        axes,
        body,
    })
}
