//! Python that is right as far as grammar and most types go: numbers, strings, containers,
//! functions, classes and control flow, in a kernel that does next to nothing on the device.

use super::{FIRST, Random, SECOND};

fn number(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return random
            .pick(&[
                "0",
                "1",
                "2",
                "3",
                "7",
                "10",
                "-1",
                "n",
                "i",
                "j",
                "len(s)",
                "len(d)",
                "True",
                "1 << 40",
                "9223372036854775807",
                "s[0]",
                "d.get(i, 2)",
                "a.shape[1]",
                "2.5",
                "1e308",
                "math.pi",
            ])
            .into();
    }
    let depth = depth - 1;
    match random.below(16) {
        0..5 => format!(
            "{} {} {}",
            number(random, depth),
            random.pick(&[
                "+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "/", "**"
            ]),
            number(random, depth)
        ),
        5 => format!("({})", number(random, depth)),
        6 => format!("-{}", number(random, 0)),
        7 => format!(
            "({} if {} else {})",
            number(random, depth),
            test(random, depth),
            number(random, depth)
        ),
        8 => format!(
            "{}({}, {})",
            random.pick(&["min", "max", "f", "helper", "pow", "math.gcd"]),
            number(random, depth),
            number(random, depth)
        ),
        9 => format!("sum({})", list(random, depth)),
        10 => format!("len({})", list(random, depth)),
        11 => format!("abs(int({}))", number(random, depth)),
        12 => format!("{}[{}]", list(random, depth), number(random, 0)),
        13 => format!("(k := {})", number(random, depth)),
        14 => format!(
            "math.{}({})",
            random.pick(&["ceil", "floor", "sqrt", "log2", "exp"]),
            number(random, depth)
        ),
        _ => number(random, 0),
    }
}

fn test(random: &mut Random, depth: usize) -> String {
    let below = depth.saturating_sub(1);
    match random.below(8) {
        0..4 => format!(
            "{} {} {}",
            number(random, below),
            random.pick(&["<", "<=", "==", "!=", ">", ">="]),
            number(random, below)
        ),
        4 => format!("{} in {}", number(random, below), list(random, below)),
        5 if depth > 0 => format!("not {}", test(random, below)),
        6 if depth > 0 => format!(
            "{} {} {}",
            test(random, below),
            random.pick(&["and", "or"]),
            test(random, below)
        ),
        _ => random
            .pick(&[
                "True",
                "s",
                "d is None",
                "i is not None",
                "isinstance(i, int)",
                "0 < i <= n < 9",
            ])
            .into(),
    }
}

fn list(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return random
            .pick(&[
                "s",
                "[1, 2, 3]",
                "[]",
                "list(range(n))",
                "(i, j)",
                "[i] * 3",
                "s[1:]",
                "s[::-1]",
                "sorted(s)",
                "list(d.values())",
                "a.shape",
                "range(n, 0, -1)",
            ])
            .into();
    }
    let depth = depth - 1;
    match random.below(9) {
        0 => format!(
            "[{} for {} in {} if {}]",
            number(random, depth),
            random.pick(&["x", "i", "y"]),
            list(random, depth),
            test(random, depth)
        ),
        1 => format!(
            "list(map(lambda x: {}, {}))",
            number(random, depth),
            list(random, depth)
        ),
        2 => format!("[*{}, {}]", list(random, depth), number(random, depth)),
        3 => format!(
            "list({}) + list({})",
            list(random, depth),
            list(random, depth)
        ),
        4 => format!(
            "[x * {} for x, y in zip({}, {})]",
            number(random, 0),
            list(random, depth),
            list(random, depth)
        ),
        5 => format!(
            "list({})[{}:{}]",
            list(random, depth),
            number(random, 0),
            number(random, 0)
        ),
        6 => format!("[y for x in range(n) for y in {}]", list(random, depth)),
        7 => format!("list(reversed(list({})))", list(random, depth)),
        _ => format!("[k for k, v in enumerate({})]", list(random, depth)),
    }
}

fn string(random: &mut Random) -> String {
    match random.below(6) {
        0 => format!(
            "f'{{{}:>{}}}'",
            number(random, 0),
            random.pick(&["5", "{n}", "08.3f", "x", ",", "e", "<3d"])
        ),
        1 => format!("f\"{{s!r}} {{{}}}\"", number(random, 0)),
        2 => format!("'-'.join(str(x) for x in {})", list(random, 1)),
        3 => format!("'a,b,c'.split(',')[{}]", random.pick(&["0", "i", "-1"])),
        4 => "w.upper().replace('A', w)[:20]".into(),
        _ => "'{} {:.2f}'.format(i, 2.5)".into(),
    }
}

fn simple(random: &mut Random) -> String {
    let depth = 1 + random.below(2);
    match random.below(16) {
        0..4 => format!(
            "{} = {}",
            random.pick(&["i", "j", "k"]),
            number(random, depth)
        ),
        4 => format!(
            "{} {}= {}",
            random.pick(&["i", "j"]),
            random.pick(&["+", "-", "*", "//", "%", "|"]),
            number(random, 1)
        ),
        5 => format!("s = list({})", list(random, depth)),
        6 => format!(
            "s.{}",
            random.pick(&[
                "append(i)",
                "extend(s)",
                "insert(0, j)",
                "pop()",
                "reverse()",
                "sort()",
                "count(i)",
                "index(1)",
                "append(s)"
            ])
        ),
        7 => format!(
            "d[{}] = {}",
            random.pick(&["i", "'x'", "(i, j)", "n", "True"]),
            number(random, 1)
        ),
        8 => format!("w = {}", string(random)),
        9 => format!("f = lambda x, y=i, *r: {}", number(random, 1)),
        10 => format!(
            "{} = {}, {}",
            random.pick(&["i, j", "(i, j)", "[i, j]"]),
            number(random, 1),
            number(random, 1)
        ),
        11 => format!(
            "{}, *s = {}",
            random.pick(&["i", "j", "i, j"]),
            list(random, depth)
        ),
        12 => format!(
            "d = {{x: {} for x in {}}}",
            number(random, 1),
            list(random, 1)
        ),
        13 => format!("assert {}, {}", test(random, 1), string(random)),
        14 => random
            .pick(&[
                "pass",
                "s[0] = i",
                "del s[0]",
                "d.pop(i, None)",
                "d.update(x=1)",
                "d.setdefault(i, j)",
                "i, j = j, i",
                "s += [i]",
                "d = {**d, 'y': 1}",
            ])
            .into(),
        _ => format!("print({}, {})", number(random, 1), list(random, 1)),
    }
}

fn block(random: &mut Random, indent: usize, count: usize, out: &mut String) {
    let space = "  ".repeat(indent);
    for _ in 0..count {
        let kind = if indent < 4 { random.below(10) } else { 9 };
        let inner = 1 + random.below(2);
        match kind {
            0 => {
                out.push_str(&format!(
                    "{space}for {} in {}:\n",
                    random.pick(&["i", "j", "k"]),
                    random.pick(&[
                        "range(3)",
                        "s[:5]",
                        "range(n)",
                        "enumerate(s)",
                        "d.items()",
                        "zip(s, s)",
                        "list(d)"
                    ])
                ));
                block(random, indent + 1, inner, out);
                if random.below(4) == 0 {
                    out.push_str(&format!(
                        "{space}  {}\n",
                        random.pick(&["break", "continue"])
                    ));
                }
            }
            1 => {
                out.push_str(&format!("{space}if {}:\n", test(random, 1)));
                block(random, indent + 1, inner, out);
                if random.below(2) == 0 {
                    out.push_str(&format!(
                        "{space}{}:\n",
                        random.pick(&["else", "elif i < j"])
                    ));
                    block(random, indent + 1, 1, out);
                }
            }
            2 if random.below(2) == 0 => {
                out.push_str(&format!(
                    "{space}while i < {}:\n{space}  i += 1\n",
                    random.pick(&["5", "n", "j"])
                ));
                block(random, indent + 1, inner, out);
            }
            3 if random.below(2) == 0 => {
                out.push_str(&format!("{space}def f(x, y=1, *r, **o):\n"));
                out.push_str(random.pick(&["", "", "  "]));
                if random.below(3) == 0 {
                    out.push_str(&format!("{space}  nonlocal i\n"));
                }
                block(random, indent + 1, inner, out);
                out.push_str(&format!("{space}  return {}\n", number(random, 1)));
            }
            _ => out.push_str(&format!("{space}{}\n", simple(random))),
        }
    }
}

/// A file whose kernel is Python for the most part.
pub fn program(random: &mut Random) -> String {
    let second = random.below(2) == 0;
    let mut source = String::from(if second { SECOND } else { FIRST });
    source.push_str("import math\ndef helper(x, y=2):\n  return x + y\n");
    source.push_str(
        "def solution(a, b, n):\n  i, j, s, d, w = 1, 2, [3, 1, 2], {1: 2}, 'ab'\n  f = helper\n",
    );
    let count = 1 + random.below(6);
    block(random, 1, count, &mut source);
    source.push_str("  o = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n");
    source.push_str(if second {
        "  t = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.dma_copy(dst=t, src=a)\n  nisa.dma_copy(dst=o, src=t)\n  return o\n"
    } else {
        "  nl.store(o, nl.load(a))\n  return o\n"
    });
    source
}
