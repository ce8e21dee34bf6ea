//! Kernels that may go to an instance.

use autocomp_trainium_sim::Dialect;
use autocomp_trainium_sim::plain::check;

const HEAD: &str =
    "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport numpy as np\n";

#[test]
fn kernels_are_plain() {
    let kernel = format!(
        "{HEAD}@nki.jit\ndef solution(a):\n  \"\"\"Doc.\"\"\"\n  o = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)\n  for i in nl.affine_range(2):\n    t = nl.load(a[i])\n    nl.store(o[i], nl.sum(t, axis=1) + np.pi)\n  return o\n"
    );
    check(&kernel, Dialect::V1).expect("plain");
}

/// The list of methods is one for the simulator and for this check.
#[test]
fn each_method_of_a_tensor_is_plain() {
    let kernel = format!(
        "{HEAD}def f(a):\n  return a.is_contiguous(), a.has_dynamic_access(), a.reinterpret_cast(nl.int32)\n"
    );
    check(&kernel, Dialect::V1).expect("plain");
}

#[test]
fn what_reaches_out_is_refused_even_where_nothing_runs_it() {
    for body in [
        "import os\n",
        "from os import system\n",
        "import numpy.lib as npl\n",
        "open('x', 'w')\n",
        "x = open\n",
        "x = np.load\n",
        "x = np\n",
        "def f(a):\n  if False:\n    np.lib.npyio.os.system('true')\n",
        "def f(a):\n  return a.__class__\n",
        "def f(a):\n  return '{0.x}'.format(a)\n",
        "def f(a):\n  a.tofile('x')\n",
        "class C:\n  tofile = 1\ndef f(a):\n  a.tofile('x')\n",
        "def f(a):\n  return getattr(a, 'x')\n",
        "def f(a):\n  return eval('1')\n",
        "def f(a, g=nl):\n  return g.exp\n",
        "for i in range(3):\n  pass\n",
        "print(1)\n",
        "if True:\n  pass\n",
        "@exec\ndef f(a):\n  pass\n",
        "def f(a: open('x')):\n  pass\n",
        "def f(a):\n  return f'{__builtins__}'\n",
    ] {
        let source = format!("{HEAD}{body}");
        let failure = check(&source, Dialect::V1).expect_err(body);
        assert_eq!(failure.code, "not-plain", "{body}");
        assert!(failure.line >= 4, "{body}: {failure}");
    }
}
