//! Fitting constants with a group left out.

use autocomp_trainium_sim::calibrate::parse_cases;
use autocomp_trainium_sim::inside::{solved, timed};
use autocomp_trainium_sim::refit::{LeftOut, leave_one_out};
use autocomp_trainium_sim::timing::Machine;

#[test]
fn systems_are_solved() {
    let solution = solved([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0]);
    assert!((solution[0] - 1.0 / 11.0).abs() < 1e-12 && (solution[1] - 7.0 / 11.0).abs() < 1e-12);
}

/// A machine whose transfers are slower than its file says: fitted on one kernel, the other
/// is met better.
#[test]
fn constants_fitted_on_one_group_help_another() {
    let kernel = |tiles: usize| {
        format!(
            "import neuronxcc.nki.language as nl\ndef solution(a):\n  o = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)\n  for i in nl.affine_range({tiles}):\n    nl.store(o[i * 128:(i + 1) * 128, :], nl.load(a[i * 128:(i + 1) * 128, :]))\n  return o\n"
        )
    };
    let true_machine = || {
        let mut machine = Machine::built_in("trn1").expect("machine");
        machine.dma.bytes_per_ns /= 1.4;
        machine
    };
    let mut table = "id\tfile\tentry\tinputs\tmachine\tlatency_us\tgroup\n".to_owned();
    for tiles in [8usize, 16] {
        let case = format!(
            "id\tfile\tentry\tinputs\tmachine\tlatency_us\tgroup\nk\t{tiles}\tsolution\ta:f32[{},2048]\ttrn1\t1\tg\n",
            128 * tiles
        );
        let case = parse_cases(&case).expect("case").remove(0);
        let latency = timed(&case, &kernel(tiles), &[true_machine()]).expect("latency")[0];
        table += &format!(
            "k{tiles}\t{tiles}\tsolution\ta:f32[{},2048]\ttrn1\t{latency}\tg{tiles}\n",
            128 * tiles
        );
    }
    let cases = parse_cases(&table).expect("cases");
    let rows: Vec<LeftOut> = leave_one_out(
        &cases,
        |file| Ok(kernel(file.parse().expect("tiles"))),
        Machine::built_in,
    )
    .expect("rows");
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert!(1.25 < row.geomean_error, "{row:?}");
        assert!(row.refitted_error.expect("refitted") < 1.08, "{row:?}");
        assert!(row.moved["dma.bytes_per_ns"] < 0.85, "{row:?}");
    }
}
