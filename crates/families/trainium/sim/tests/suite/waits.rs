//! What a report says of waits: behind which lines, before which run, and when engines are idle.

use autocomp_trainium_sim::feedback::{Report, report};
use autocomp_trainium_sim::timing::{Machine, Passes, time};
use autocomp_trainium_sim::{Options, evaluate, parse_inputs};

fn reported(body: &str) -> Report {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    let source = format!(
        "import nki\nimport nki.language as nl\nimport nki.isa as nisa\ndef solution(a):\n  o = nl.ndarray((128, 2048), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.ndarray((128, 2048), dtype=nl.float32, buffer=nl.sbuf)\n  u = nl.ndarray((128, 2048), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.dma_copy(dst=t, src=a)\n{body}  nisa.dma_copy(dst=o, src=u)\n  return o\n"
    );
    let machine = Machine::built_in("trn2").unwrap();
    let options = Options {
        functional: false,
        generation: 3,
        ..Options::default()
    };
    let inputs = parse_inputs("a:f32[128,2048]", None).unwrap();
    let evaluation = evaluate(&source, "solution", &inputs, &options).unwrap();
    let timeline = time(&evaluation.trace, &machine, Passes::of(&evaluation));
    report(&evaluation.trace, &timeline, &machine)
}

/// The last of four runs of a line waits behind those before it.
#[test]
fn a_wait_names_what_it_is_behind() {
    let body = "nisa.tensor_scalar(dst=u, data=t, op0=nl.add, operand0=1.0, engine=nisa.vector_engine)
for k in range(4):
  nisa.tensor_scalar(dst=u[:, k * 512:(k + 1) * 512], data=t[:, k * 512:(k + 1) * 512], op0=nl.add, operand0=2.0, engine=nisa.vector_engine)";
    let found = reported(body);
    let mut steps = found.critical_path.iter();
    let step = steps.find(|it| it.line == 11).unwrap();
    let wait = step.longest_wait.as_ref().unwrap();
    assert_eq!(wait.run, (4, 4), "{wait:?}");
    let behind: Vec<u32> = wait.behind.iter().map(|it| it.0).collect();
    assert_eq!(behind, [11], "{wait:?}");
    let told = format!("before run 4 of 4, behind line 11 ({:.1} us)", wait.us);
    assert!(wait.told().ends_with(&told), "{}", wait.told());
}

/// The ninth tile of PSUM waits until the first was read.
#[test]
fn a_wait_for_room_in_psum_is_called_one() {
    let body = "h = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
nisa.tensor_copy(dst=h, src=t[:, :512], engine=nisa.vector_engine)
tiles = []
for k in range(9):
  p = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
  nisa.nc_matmul(dst=p[:, :128], stationary=h[:, :128], moving=h[:, :128])
  tiles.append(p)
for k in range(8):
  nisa.reciprocal(dst=u[:, k * 128:(k + 1) * 128], data=tiles[k][:, :128])
nisa.activation(dst=t[:, :128], op=nl.exp, data=tiles[8][:, :128])
for k in range(6):
  nisa.activation(dst=t, op=nl.exp, data=t)
nisa.tensor_tensor(dst=u, data1=t, data2=u, op=nl.add)";
    let found = reported(body);
    let mut steps = found.critical_path.iter();
    let step = steps.find(|it| it.operation == "nc_matmul").unwrap();
    let wait = step.longest_wait.as_ref().unwrap();
    assert!(wait.for_room, "{wait:?}");
    assert!(wait.told().contains("for room in PSUM"), "{}", wait.told());
}

/// Beginning, work, middle and end of an engine are all of the time but the launch.
#[test]
fn idle_times_and_work_are_all_of_the_time() {
    let machine = Machine::built_in("trn2").unwrap();
    let body =
        "nisa.tensor_scalar(dst=u, data=t, op0=nl.add, operand0=1.0, engine=nisa.vector_engine)
nisa.activation(dst=t, op=nl.exp, data=u)
nisa.tensor_scalar(dst=u, data=t, op0=nl.add, operand0=2.0, engine=nisa.vector_engine)";
    let found = reported(body);
    let own = |name: &str| {
        found
            .engines
            .iter()
            .find(|it| it.engine.name() == name)
            .unwrap()
    };
    let vector = own("vector");
    let all = vector.idle_us.iter().sum::<f64>() + vector.active_us;
    let launch = machine.launch_ns / 1e3;
    let left = found.total_time_us - launch - all;
    assert!((0.0..0.2).contains(&left), "{left} {vector:?}");
    // It waits for the load, for the scalar engine, and is done when the result is stored.
    let scalar = own("scalar");
    assert!(
        vector.idle_us[1] >= scalar.active_us,
        "{vector:?} {scalar:?}"
    );
    assert!(vector.idle_us.iter().all(|it| 0.5 < *it), "{vector:?}");
}
