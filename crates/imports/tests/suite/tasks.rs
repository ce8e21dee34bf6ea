//! Tasks of KernelBench.

use autocomp_imports::kernelbench::{Input, Tensor, read_kernelbench, score};
use std::path::Path;

fn write(folder: &Path, level: u32, name: &str, inputs: &str) {
    let to = folder.join(format!("KernelBench/level{level}"));
    std::fs::create_dir_all(&to).unwrap();
    let text = format!(
        "import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n{inputs}\n"
    );
    std::fs::write(to.join(format!("{name}.py")), text).unwrap();
}

/// Returns the inputs of a task, or why they are not known.
fn inputs(text: &str) -> Result<Vec<Input>, String> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 1, "1_A", text);
    let mut found = read_kernelbench(folder.path()).unwrap();
    found.tasks.remove(0).inputs
}

#[test]
fn shapes_are_read_and_nothing_is_run() {
    let tensor = |dtype: &'static str, shape: &[i64]| {
        Input::Tensor(Tensor {
            shape: shape.to_vec(),
            dtype,
        })
    };
    let cases = [
        (
            "N, M = 4 * 2, 3\ndef get_inputs():\n    A = torch.rand(N, M)\n    return [A, torch.rand((M, N)).T, 3.5, -2]",
            vec![
                tensor("float32", &[8, 3]),
                tensor("float32", &[8, 3]),
                Input::Number("3.5".into()),
                Input::Number("-2".into()),
            ],
        ),
        (
            "shape = (32,) * 2\nb = 7; h = w = 5\ndef get_inputs():\n    scale = torch.rand(())\n    return [torch.rand(b, *shape)*scale, torch.randint(0, 2, (b,)).float() * 2 - 1]",
            vec![tensor("float32", &[7, 32, 32]), tensor("float32", &[7])],
        ),
        (
            "n = [6, 4]\ndef get_inputs():\n    x = torch.rand(n).softmax(dim=-1)\n    mask = torch.randint(0, 2, x.shape).bool()\n    x = (torch.tril(x) + x) / 2\n    return [x, mask]",
            vec![tensor("float32", &[6, 4]), tensor("bool", &[6, 4])],
        ),
        (
            "N: int = 4\nN *= 2\ndef get_inputs():\n    x = torch.randn(size=(N, 3), dtype=torch.bfloat16, device='cuda')\n    y = torch.randint(0, 9, (N,), dtype=torch.int32)\n    return [x, y, torch.randn_like(x), torch.rand(N) > 0.5, torch.randint(9, (N,)) / 4]",
            vec![
                tensor("bfloat16", &[8, 3]),
                tensor("int32", &[8]),
                tensor("bfloat16", &[8, 3]),
                tensor("bool", &[8]),
                tensor("float32", &[8]),
            ],
        ),
        (
            "if True:\n    import numpy\ndef get_inputs():\n    x = torch.empty(2, 6).uniform_()\n    x.uniform_(0, 1)\n    return [x.view(3, 4).to(torch.float16), torch.full((2,), 0.5), torch.ones(2).half().to('cuda')]",
            vec![
                tensor("float16", &[3, 4]),
                tensor("float32", &[2]),
                tensor("float16", &[2]),
            ],
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(inputs(text), Ok(wanted), "{text}");
    }
    for text in [
        "def get_inputs():\n    return [torch.rand(unknown)]",
        "n = 4\nn = open('n').read()\ndef get_inputs():\n    return [torch.rand(n)]",
        "def get_inputs():\n    return [torch.rand(0)]",
        "def get_inputs():\n    return [torch.rand(2) + torch.rand(3)]",
        "n = [1] * 9223372036854775807\ndef get_inputs():\n    return [torch.rand(n)]",
        "n = 9223372036854775807 * 2\ndef get_inputs():\n    return [torch.rand(n)]",
        // What may have changed is not known any more.
        "n = 4\nfor i in range(3):\n    n += 1\ndef get_inputs():\n    return [torch.rand(n)]",
        "n = 4\nif torch.cuda.is_available():\n    n = 8\ndef get_inputs():\n    return [torch.rand(n)]",
        "def get_inputs():\n    if torch.cuda.is_available():\n        return [torch.rand(2)]\n    return [torch.rand(3)]",
        "n = [4]\nn.append(3)\ndef get_inputs():\n    return [torch.rand(n)]",
        "def get_inputs():\n    x = torch.rand(2)\n    x.unsqueeze_(0)\n    return [x]",
        "def get_inputs():\n    return [torch.rand(2, dtype=kind)]",
        "def get_inputs():\n    return [torch.rand(4, 4) @ torch.rand(4, 4)]",
        "def get_inputs(:",
        "pass",
    ] {
        assert!(inputs(text).is_err(), "{text}");
    }
}

#[test]
fn records_hold_shapes_and_faults() {
    let folder = tempfile::tempdir().unwrap();
    let draws = "def get_inputs():\n    return [torch.rand(2, 3)]";
    write(folder.path(), 2, "23_Mean", draws);
    write(folder.path(), 2, "3_Other", draws);
    write(folder.path(), 2, "no number", draws);
    let git = folder.path().join(".git");
    std::fs::create_dir_all(&git).unwrap();
    let commit = "0123456789012345678901234567890123456789";
    std::fs::write(git.join("HEAD"), commit).unwrap();
    let found = read_kernelbench(folder.path()).unwrap();
    let names: Vec<_> = found.tasks.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["3_Other", "23_Mean"]);
    assert_eq!(found.commit.as_deref(), Some(commit));
    let record = found.tasks[1].record(found.commit.as_deref());
    for part in [
        "level = 2",
        "number = 23",
        "shape = [2, 3]",
        "fault = ",
        commit,
    ] {
        assert!(record.contains(part), "{record}");
    }
    let told = found.unmapped.join("\n");
    for part in ["no number.py", "level 1", "level 3", commit] {
        assert!(told.contains(part), "{told}");
    }
    assert!(read_kernelbench(&folder.path().join("KernelBench/level2")).is_err());
}

#[test]
fn shares_of_all_tasks_and_the_geomean_of_the_right_ones_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["1_A", "2_B", "3_C", "4_D", "23_E"] {
        write(folder.path(), 2, name, "def get_inputs():\n    return []");
    }
    let tasks = read_kernelbench(folder.path()).unwrap().tasks;
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let results = file(
        "eval_results.json",
        r#"{"1": [{"sample_id": 1, "correctness": true, "runtime": 0.01},
                  {"sample_id": 0, "correctness": true, "runtime": 2.0}],
            "2": [{"sample_id": 0, "correctness": true, "runtime": 0.5}],
            "3": [{"sample_id": 0, "correctness": false, "runtime": 0.1}],
            "23": [{"sample_id": 0, "correctness": true, "runtime": 0.01}],
            "77": []}"#,
    );
    let baselines = file(
        "baseline.json",
        r#"{"level2": {"1_A.py": {"mean": 1.0}, "2_B.py": {"mean": 1.0}, "3_C.py": {"mean": 1.0},
            "4_D.py": {"mean": 1.0}, "23_E.py": {"mean": 2.56}}}"#,
    );
    let found = score(&tasks, 2, &results, &baselines).unwrap();
    // Half, twice, and 256 times as fast, of five tasks.
    assert_eq!((found.all.tasks, found.all.right), (5, 3));
    assert_eq!(
        found.all.fast,
        [(0.0, 0.6), (1.0, 0.4), (1.5, 0.4), (2.0, 0.2)]
    );
    let geomean = found.all.geomean.unwrap_or_default();
    assert!((geomean - 256_f64.cbrt()).abs() < 1e-9, "{geomean}");
    assert_eq!(found.without_faulty.fast[1], (1.0, 0.25));
    assert_eq!(found.without_faulty.geomean, Some(1.0));
    assert_eq!(found.doubtful, [23]);
    assert!(
        found.unmapped.join("\n").contains("77"),
        "{:?}",
        found.unmapped
    );
    assert!(score(&tasks, 1, &results, &baselines).is_err());
    assert!(score(&tasks, 2, &baselines, &results).is_err());
}

/// One file that cannot be read takes nothing else with it.
#[test]
fn a_damaged_task_is_left_out_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        1,
        "1_A",
        "def get_inputs(): return [torch.rand(2)]",
    );
    let level = folder.path().join("KernelBench/level1");
    std::fs::write(level.join("2_Bytes.py"), b"\xff\xfe\0").unwrap();
    let long = std::fs::File::create(level.join("3_Long.py")).unwrap();
    long.set_len(1 << 40).unwrap();
    std::fs::create_dir(level.join("4_Folder.py")).unwrap();
    std::os::unix::fs::symlink("nowhere.py", level.join("5_Link.py")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", level.join("6_Endless.py")).unwrap();
    // A second task of the same number.
    std::fs::copy(level.join("1_A.py"), level.join("1_Again.py")).unwrap();
    let found = read_kernelbench(folder.path()).unwrap();
    assert_eq!(found.tasks.len(), 1);
    for name in [
        "2_Bytes",
        "3_Long",
        "4_Folder",
        "5_Link",
        "6_Endless",
        "1_Again",
    ] {
        let listed = found.unmapped.iter().filter(|it| it.contains(name));
        assert_eq!(listed.count(), 1, "{name}: {:?}", found.unmapped);
    }
}
