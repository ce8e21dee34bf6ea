//! What a test program compares with, by the call that computes it.

use super::preprocessor::Preprocessed;

/// What is computed.
pub(super) struct Computed {
    /// Arrays that are read, in the order of parameters.
    pub(super) inputs: Vec<String>,
    /// A sentence without its full stop.
    pub(super) what: String,
    pub(super) macs: u64,
    /// Dimensions along which it is symmetric.
    pub(super) axes: Vec<(&'static str, Vec<String>)>,
    /// The body of its definition.
    pub(super) body: String,
}

/// Returns what the program leaves in `gold`.
///
/// # Errors
/// If no call that is known does that.
pub(super) fn computed(read: &Preprocessed) -> Result<Computed, String> {
    let calls: [(&str, Reader); 3] = [
        ("tiled_matmul_outer_eigen(", matrices),
        ("tiled_matmul_outer_eigen_bias(", matrices_and_bias),
        ("tiled_conv_auto(", convolution),
    ];
    for (name, reader) in calls {
        for (at, _) in read.text.match_indices(name) {
            let Some((list, _)) = read.text[at + name.len()..].split_once(");") else {
                continue;
            };
            let arguments: Vec<String> = list.split(',').map(|it| read.word(it)).collect();
            if arguments.iter().any(|it| it == "gold") {
                return reader(read, &arguments).ok_or_else(|| {
                    format!(
                        "what it asks of `{}` is not known here",
                        name.trim_end_matches('(')
                    )
                });
            }
        }
    }
    Err("no call that is known here computes `gold`: the definition has to be written".into())
}

type Reader = fn(&Preprocessed, &[String]) -> Option<Computed>;

/// Numbers of arguments, each of which must be one and not negative.
fn numbers<const N: usize>(read: &Preprocessed, texts: &[String]) -> Option<[u64; N]> {
    let all: Option<Vec<u64>> = texts
        .iter()
        .map(|it| match it.as_str() {
            "false" | "NO_ACTIVATION" => Some(0),
            "true" => Some(1),
            text => read.number(text)?.try_into().ok(),
        })
        .collect();
    all?.try_into().ok()
}

fn matrices(read: &Preprocessed, arguments: &[String]) -> Option<Computed> {
    let [a, b, _gold, sizes @ ..] = arguments else {
        return None;
    };
    product(
        numbers(read, sizes)?,
        [a, b],
        None,
        &read.word("OUTPUT_MATRIX_NAME"),
    )
}

fn matrices_and_bias(read: &Preprocessed, arguments: &[String]) -> Option<Computed> {
    let [a, b, d, _gold, sizes @ .., subtracts] = arguments else {
        return None;
    };
    let is_added = read.number(subtracts)? == 0;
    let output = read.word("OUTPUT_MATRIX_NAME");
    is_added.then(|| product(numbers(read, sizes)?, [a, b], Some(d), &output))?
}

fn product(sizes: [u64; 5], [a, b]: [&str; 2], d: Option<&String>, c: &str) -> Option<Computed> {
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
        inputs: [a, b]
            .into_iter()
            .map(str::to_owned)
            .chain(d.cloned())
            .collect(),
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

fn convolution(read: &Preprocessed, arguments: &[String]) -> Option<Computed> {
    let (sizes, rest) = arguments.split_at_checked(17)?;
    let [input, weights, bias, _gold, act, scale, pooling @ .., _flow] = rest else {
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
    ] = numbers::<17>(read, sizes)?;
    let [act, scale, pool_size, pool_stride, pool_padding] = {
        let own: Vec<String> = [act, scale].into_iter().chain(pooling).cloned().collect();
        numbers::<5>(read, &own)?
    };
    let dilations = numbers::<2>(read, &sizes[8..10])?;
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
    let output = read.word("OUTPUT_MATRIX_NAME");
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
        inputs: vec![input.clone(), weights.clone(), bias.clone()],
        macs: macs
            .into_iter()
            .try_fold(1_u64, |all, it| all.checked_mul(it))?,
        axes,
        body,
    })
}
