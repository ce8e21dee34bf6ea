//! Kernels that the device would refuse, or that would compute something else there.

use autocomp_trainium_sim::{Evaluation, Failure, Options, evaluate, parse_inputs};

pub(super) const FIRST: &str = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.compiler as ncc\nimport numpy as np\ndef solution(a, w):\n  o = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n";
pub(super) const SECOND: &str = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\nimport numpy as np\ndef solution(a, w):\n  o = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.load(w)\n  z = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\n  p = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)\n  i = nl.ndarray((128, 1), dtype=nl.int32, buffer=nl.sbuf)\n";
const PRODUCT: &str = "nisa.nc_matmul(dst=p, stationary=t[:, 0:128], moving=t)\n";

pub(super) fn run(head: &str, body: &str) -> Result<Evaluation, Box<Failure>> {
    let body = body.replace("PRODUCT\n", PRODUCT);
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    let source = format!("{head}{body}  return o\n");
    let inputs = parse_inputs("a:f32[128,1024];w:f32[128,512]", Some(5)).expect("inputs");
    let options = Options {
        generation: if head.contains("neuronxcc") { 2 } else { 3 },
        ..Options::default()
    };
    evaluate(&source, "solution", &inputs, &options)
}

#[test]
fn what_the_device_does_not_do_is_refused() {
    let store = "\nnisa.dma_copy(dst=o, src=z)";
    let cases: &[(&str, &str, &str)] = &[
        // Inputs are written.
        (
            FIRST,
            "nl.store(w.reshape((512, 128))[0:128, :], nl.load(w[:, 0:128]))",
            "cannot-update-immutable-parameter",
        ),
        (
            SECOND,
            "nisa.dma_copy(dst=w.ap(pattern=[[512, 128], [1, 512]], offset=0), src=t)",
            "cannot-update-immutable-parameter",
        ),
        (
            FIRST,
            "nl.store(o, nl.load(w))\nreturn w.reshape((512, 128))",
            "mutable-parameter-not-returned",
        ),
        // Bits into floating point, columns that are not float32, turns out of PSUM.
        (
            SECOND,
            "nisa.memset(dst=i, value=5)\nnisa.tensor_scalar(dst=z[:, 0:1], data=i, op0=nl.bitwise_and, operand0=3)\nnisa.tensor_copy(dst=z, src=t)",
            "unsupported-dtype",
        ),
        (
            SECOND,
            "nisa.memset(dst=i, value=5)\nnisa.tensor_tensor(dst=z[:, 0:1], data1=i, data2=i, op=nl.bitwise_xor)",
            "unsupported-dtype",
        ),
        (
            SECOND,
            "b = nl.ndarray((128, 1), dtype=nl.bfloat16, buffer=nl.sbuf)\nnisa.tensor_copy(dst=b, src=t[:, 0:1])\nnisa.tensor_scalar(dst=z, data=t, op0=nl.multiply, operand0=b)",
            "unsupported-dtype",
        ),
        (
            SECOND,
            "nisa.memset(dst=i, value=5)\nnisa.tensor_scalar(dst=z, data=t, op0=nl.add, operand0=1.0, op1=nl.multiply, operand1=i)",
            "unsupported-dtype",
        ),
        (
            SECOND,
            "PRODUCT\nq = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_transpose(dst=q, data=p[:, 0:128])",
            "unsupported-memory",
        ),
        (
            SECOND,
            "PRODUCT\nq = nl.ndarray((32, 32), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_transpose(dst=q, data=p[0:32, 0:32], engine=nisa.tensor_engine)",
            "unsupported-memory",
        ),
        // Who reaches what.
        (
            SECOND,
            "PRODUCT\nnisa.tensor_tensor(dst=z, data1=p, data2=t, op=nl.add, engine=nisa.gpsimd_engine)",
            "unsupported-memory",
        ),
        (
            SECOND,
            "nisa.tensor_tensor(dst=p, data1=t, data2=t, op=nl.add, engine=nisa.gpsimd_engine)",
            "unsupported-memory",
        ),
        (
            SECOND,
            "PRODUCT\nnisa.tensor_scalar(dst=z, data=p, op0=nl.rsqrt, operand0=0.0, engine=nisa.gpsimd_engine)",
            "unsupported-memory",
        ),
        (
            SECOND,
            "nisa.iota(dst=p, pattern=[[1, 512]], offset=0, channel_multiplier=0)",
            "unsupported-memory",
        ),
        (
            SECOND,
            "PRODUCT\nnisa.tensor_partition_reduce(dst=z[0:1, :], op=nl.add, data=p)",
            "unsupported-memory",
        ),
        (
            SECOND,
            "PRODUCT\nnisa.dma_copy(dst=o, src=p)",
            "unsupported-memory",
        ),
        (
            SECOND,
            "nisa.tensor_scalar(dst=o, data=t, op0=nl.add, operand0=1.0)",
            "unsupported-memory",
        ),
        (
            SECOND,
            "nisa.memset(dst=o, value=1.0)",
            "unsupported-memory",
        ),
        // Where destinations repeat.
        (
            SECOND,
            "nisa.tensor_copy(dst=z.ap(pattern=[[512, 128], [0, 512]], offset=0), src=t)",
            "unsupported-destination",
        ),
        (
            SECOND,
            "nisa.tensor_copy(dst=z.ap(pattern=[[512, 128], [1, 2], [1, 256]], offset=0), src=t)",
            "unsupported-destination",
        ),
        (
            SECOND,
            "nisa.dma_copy(dst=o.ap(pattern=[[0, 128], [1, 512]], offset=0), src=t)",
            "unsupported-destination",
        ),
        (
            SECOND,
            "nisa.dma_copy(dst=o.ap(pattern=[[256, 128], [1, 512]], offset=0), src=t)",
            "unsupported-destination",
        ),
        (
            FIRST,
            "s = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)\nv = s.broadcast_to((128, 512))\nv[...] = nl.load(w)",
            "unsupported-destination",
        ),
        // Where access patterns and rows lead.
        (
            SECOND,
            "nisa.tensor_copy(dst=z.ap(pattern=[[512, 64], [1, 1024]], offset=0), src=t.ap(pattern=[[512, 64], [1, 1024]], offset=0))",
            "tensor-access-out-of-bound",
        ),
        (
            SECOND,
            "nisa.tensor_copy(dst=z[:, 0:128], src=t.ap(pattern=[[1, 128], [512, 128]], offset=0))",
            "tensor-access-out-of-bound",
        ),
        (
            SECOND,
            "nisa.dma_copy(dst=z, src=w.ap(pattern=[[512, 128], [1, 512]], offset=1))",
            "tensor-access-out-of-bound",
        ),
        (
            SECOND,
            "nisa.memset(dst=i, value=127)\nnisa.dma_copy(dst=z, src=w.ap(pattern=[[512, 128], [1, 512]], offset=100, vector_offset=i, indirect_dim=0))",
            "tensor-access-out-of-bound",
        ),
        (
            SECOND,
            "nisa.memset(dst=i, value=128)\nnisa.dma_copy(dst=z, src=w.ap(pattern=[[512, 128], [1, 512]], offset=0, vector_offset=i, indirect_dim=0))",
            "tensor-access-out-of-bound",
        ),
        (
            SECOND,
            "nisa.memset(dst=i, value=-1)\nnisa.dma_copy(dst=z, src=w.ap(pattern=[[512, 128], [1, 512]], offset=0, vector_offset=i, indirect_dim=0))",
            "tensor-access-out-of-bound",
        ),
        (
            SECOND,
            "nisa.memset(dst=i, value=120)\nnisa.dma_copy(dst=z[0:16, :], src=w.ap(pattern=[[512, 16], [1, 512]], offset=0, scalar_offset=i[0:1, 0:1], indirect_dim=0))",
            "tensor-access-out-of-bound",
        ),
        // Where engines start, through views of bytes too.
        (
            SECOND,
            "nisa.tensor_copy(dst=z[16:48, :], src=t[16:48, :])",
            "invalid-start-partition",
        ),
        (
            SECOND,
            "v = z.view(nl.uint8)\nu = t.view(nl.uint8)\nnisa.tensor_copy(dst=v[16:48, :], src=u[16:48, :])",
            "invalid-start-partition",
        ),
        (
            SECOND,
            "nisa.tensor_copy(dst=z.ap(pattern=[[512, 32], [1, 512]], offset=16 * 512), src=t[0:32, :])",
            "invalid-start-partition",
        ),
        // Types.
        (
            SECOND,
            "q = nl.ndarray((128, 512), dtype=nl.int32, buffer=nl.psum)\nnisa.nc_matmul(dst=q, stationary=t[:, 0:128], moving=t)",
            "unsupported-dtype",
        ),
        (
            SECOND,
            "m = nl.ndarray((128, 512), dtype=nl.uint8, buffer=nl.sbuf)\nnisa.memset(dst=m, value=1)\nh = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)\nnisa.memset(dst=h, value=1.0)\nnisa.tensor_copy_predicated(dst=z, src=h, predicate=m)",
            "unsupported-dtype",
        ),
        (
            SECOND,
            "h = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.sbuf)\nnisa.memset(dst=h, value=1.0)\nnisa.nc_matmul(dst=p, stationary=h, moving=t)",
            "unsupported-dtype",
        ),
        // Products: their type, and their place in the array.
        (
            SECOND,
            "q = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.psum)\nnisa.nc_matmul(dst=q, stationary=t[:, 0:128], moving=t)",
            "unsupported-dtype",
        ),
        (
            FIRST,
            "t = nl.load(w)\np = nl.zeros((128, 512), dtype=nl.bfloat16, buffer=nl.psum)\np += nisa.nc_matmul(t[:, 0:128], t)",
            "unsupported-dtype",
        ),
        (
            SECOND,
            "nisa.nc_matmul(dst=p, stationary=t[0:64, 0:128], moving=t[0:64, :], tile_position=(96, 0), tile_size=(48, 128))",
            "invalid-tiling",
        ),
        (
            SECOND,
            "nisa.nc_matmul(dst=p, stationary=t[0:64, 0:128], moving=t[0:64, :], tile_position=(32, 0), tile_size=(64, 128))",
            "invalid-tiling",
        ),
        (
            SECOND,
            "nisa.nc_matmul(dst=p, stationary=t[:, 0:128], moving=t, tile_position=(0, 0), tile_size=(64, 128))",
            "invalid-tiling",
        ),
        (
            SECOND,
            "nisa.nc_matmul(dst=p, stationary=t[:, 0:128], moving=t, tile_position=(0, 64), tile_size=(128, 64))",
            "invalid-tiling",
        ),
        (
            SECOND,
            "nisa.nc_matmul(dst=p, stationary=t[:, 0:128], moving=t, tile_size=(128, 128))",
            "invalid-tiling",
        ),
        (
            SECOND,
            "nisa.nc_matmul(dst=p, stationary=t[:, 0:128], moving=t, is_transpose=True)",
            "no-permutation",
        ),
        (
            FIRST,
            "t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)\nnisa.dma_copy(dst=t, src=w, dge_mode=nisa.dge_mode.hwdge)\nnl.store(o, t)",
            "unsupported-mode",
        ),
        // Types and modes that go with each other.
        (
            SECOND,
            "q = nl.ndarray((128, 512), dtype=nl.float8_e4m3fn, buffer=nl.sbuf)\nnisa.tensor_copy(dst=q, src=t)\nnisa.nc_matmul(dst=p, stationary=q[:, 0:128], moving=q)",
            "unsupported-dtype",
        ),
        (
            SECOND,
            "q = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.sbuf)\nnisa.dma_transpose(dst=q, src=t[:, 0:128])",
            "unsupported-dtype",
        ),
        (
            SECOND,
            "nisa.dma_transpose(dst=o[:, 0:128], src=t[:, 0:128])",
            "unsupported-memory",
        ),
        (
            SECOND,
            "q = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)\nnisa.memset(dst=q, value=0.0)\nnisa.nc_stream_shuffle(dst=q, src=t, shuffle_mask=[k for k in range(32)])",
            "unsupported-dtype",
        ),
        (
            SECOND,
            "j = nl.ndarray((128, 1), dtype=nl.int32, buffer=nl.sbuf)\nnisa.memset(dst=i, value=5)\nnisa.scalar_tensor_tensor(dst=j, data=i, op0=nl.bitwise_and, operand0=3, op1=nl.bitwise_or, operand1=i)",
            "unsupported-operation",
        ),
        (
            SECOND,
            "nisa.tensor_scalar(dst=z, data=t, op0=nl.add, operand0=1.0, operand1=3.0)",
            "unsupported-operation",
        ),
        (
            SECOND,
            "nisa.memset(dst=i, value=1)\nnisa.dma_copy(dst=z, src=w.ap(pattern=[[512, 128], [1, 512]], offset=0, vector_offset=i, indirect_dim=0), dge_mode=nisa.dge_mode.hwdge)",
            "unsupported-mode",
        ),
        (
            SECOND,
            "def body(n):\n  nisa.dma_copy(dst=z, src=w.ap(pattern=[[512, 128], [1, 512]], offset=0, scalar_offset=n, indirect_dim=0), dge_mode=nisa.dge_mode.none)\nnl.fori_loop(0, 1, body)",
            "unsupported-mode",
        ),
        (
            SECOND,
            "def body(n):\n  v = w[nl.ds(n, 128), :]\n  nisa.dma_copy(dst=z, src=v, dge_mode=nisa.dge_mode.none)\nnl.fori_loop(0, 1, body)",
            "unsupported-mode",
        ),
        (
            SECOND,
            "nisa.dma_copy(dst=z, src=w, dge_mode=nisa.dge_mode.hwdge, engine=nisa.engine.vector)",
            "unsupported-mode",
        ),
        (
            SECOND,
            "nisa.dma_copy(dst=z, src=w, engine=nisa.engine.sync)",
            "unsupported-mode",
        ),
    ];
    for (head, body, code) in cases {
        let failure = run(
            head,
            &format!("{body}{}", if *head == SECOND { store } else { "" }),
        )
        .expect_err(body);
        assert_eq!(failure.code, *code, "{failure}\n{body}");
        assert!(failure.line > 0 || code.starts_with("mutable"), "{failure}");
    }
}

#[test]
fn what_the_device_leaves_open_is_unknown() {
    let cases = [
        (
            FIRST,
            "s = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.hbm)\nnl.store(o, nl.greater(nl.load(s), 0.0))",
        ),
        (
            SECOND,
            "nisa.tensor_copy(dst=z, src=p)\nnisa.dma_copy(dst=o, src=z)",
        ),
        // A sum that nothing has begun, in PSUM and in the scalar engine.
        (
            SECOND,
            "nisa.nc_matmul(dst=p, stationary=t[:, 0:128], moving=t, accumulate=True)\nnisa.tensor_copy(dst=z, src=p)\nnisa.dma_copy(dst=o, src=z)",
        ),
        (
            SECOND,
            "nisa.activation(dst=z, op=nl.sin, data=t, scale=0.0, bias=4.0)\nnisa.dma_copy(dst=o, src=z)",
        ),
        (
            SECOND,
            "nisa.activation(dst=z, op=nl.log, data=t, scale=0.0, bias=1e-30)\nnisa.dma_copy(dst=o, src=z)",
        ),
        (
            SECOND,
            "r = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)\nnisa.activation(dst=z, op=nl.copy, data=t, reduce_op=nl.add, reduce_res=r, reduce_cmd=nisa.reduce_cmd.reduce)\nnisa.tensor_scalar(dst=z, data=t, op0=nl.add, operand0=r)\nnisa.dma_copy(dst=o, src=z)",
        ),
    ];
    for (head, body) in cases {
        let evaluation = run(head, body).unwrap_or_else(|failure| panic!("{failure}\n{body}"));
        assert_eq!(evaluation.unwritten, 128 * 512, "{body}");
    }
}

#[test]
fn what_the_device_does_is_done() {
    let cases = [
        // Twelve accumulators that are never used at once, or never.
        (
            SECOND,
            "q = [nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum) for k in range(12)]\nnisa.dma_copy(dst=o, src=t)",
        ),
        (
            SECOND,
            "nisa.tensor_tensor_scan(dst=t, data0=t, data1=t, initial=0.0, op0=nl.multiply, op1=nl.add)\nnisa.dma_copy(dst=o, src=t)",
        ),
        // Interleaved and turned destinations hold each element once.
        (
            SECOND,
            "nisa.tensor_copy(dst=z.ap(pattern=[[512, 128], [1, 2], [2, 256]], offset=0), src=t.ap(pattern=[[512, 128], [256, 2], [1, 256]], offset=0))\nnisa.dma_copy(dst=o, src=z)",
        ),
        (
            SECOND,
            "nisa.tensor_copy(dst=z.ap(pattern=[[512, 128], [2, 256], [1, 2]], offset=0), src=t.ap(pattern=[[512, 128], [2, 256], [1, 2]], offset=0))\nnisa.dma_copy(dst=o, src=z)",
        ),
        (
            FIRST,
            "t = nl.load(w)\nnl.store(o, t)\nfor k in nl.affine_range(4):\n  nisa.dma_copy(dst=o, src=t, dst_rmw_op=np.add)",
        ),
        // An address that a loop's body counts up is that of its first iteration.
        (
            FIRST,
            "at = 0\nfor k in nl.affine_range(100):\n  t = nl.ndarray((128, 512), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=at))\n  at += 2048\n  u = nl.ndarray((128, 512), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=at))\n  at += 2048\n  t[...] = nl.load(w)\n  u[...] = nl.multiply(t, 2.0)\nnl.store(o, nl.load(w))",
        ),
    ];
    for (head, body) in cases {
        let evaluation = run(head, body).unwrap_or_else(|failure| panic!("{failure}\n{body}"));
        assert_eq!(evaluation.unwritten, 0, "{body}");
    }
    // A loop that is written out makes tensors of its own each time.
    let unrolled = "at = 0\nfor k in nl.static_range(100):\n  t = nl.ndarray((128, 512), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=at))\n  at += 2048\n  t[...] = nl.load(w)";
    let failure = run(FIRST, unrolled).expect_err(unrolled);
    assert_eq!(failure.code, "allocation-out-of-bounds", "{failure}");
}

#[test]
fn what_is_like_a_refused_kernel_and_legal_runs() {
    let cases = [
        // Bits into integers, columns of float32 beside narrow data, turns by the vector engine.
        "j = nl.ndarray((128, 1), dtype=nl.int32, buffer=nl.sbuf)\nnisa.memset(dst=i, value=5)\nnisa.tensor_scalar(dst=j, data=i, op0=nl.bitwise_and, operand0=i)\nnisa.tensor_copy(dst=z[:, 0:1], src=j)",
        "b = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)\nnisa.tensor_copy(dst=b, src=t)\nnisa.tensor_scalar(dst=z, data=b, op0=nl.multiply, operand0=t[:, 0:1])",
        "PRODUCT\nq = nl.ndarray((32, 32), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_transpose(dst=q, data=p[0:32, 0:32])\nnisa.tensor_copy(dst=z[0:32, 0:32], src=q)",
        // A turn by the identity.
        "u = nl.shared_identity_matrix(128, dtype=nl.float32)\nnisa.nc_matmul(dst=p[:, 0:128], stationary=t[:, 0:128], moving=u, is_transpose=True)\nnisa.tensor_copy(dst=z[:, 0:128], src=p[:, 0:128])",
        // A product in one half of the array, and a bfloat16 turn into PSUM.
        "nisa.nc_matmul(dst=p, stationary=t[0:64, 0:128], moving=t[0:64, :], tile_position=(64, 0), tile_size=(64, 128))\nnisa.tensor_copy(dst=z, src=p)",
        "b = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.sbuf)\nnisa.tensor_copy(dst=b, src=t[:, 0:128])\nq = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.psum)\nnisa.nc_transpose(dst=q, data=b)\nnisa.tensor_copy(dst=z[:, 0:128], src=q)",
    ];
    for body in cases {
        let run = run(SECOND, &format!("{body}\nnisa.dma_copy(dst=o, src=t)"));
        let run = run.unwrap_or_else(|failure| panic!("{failure}\n{body}"));
        // What the cost leaves out is said.
        let mut codes = run.remarks.iter().map(|it| it.code.as_str());
        let is_told = codes.any(|it| it == "tiles-in-turn");
        assert_eq!(is_told, body.contains("tile_size"), "{body}");
    }
}
