//! What users get wrong, and what their machines lack: each with one message,
//! a remedy and its exit code.

use super::program::{Place, cache, data, problem};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Calls the program and returns the transcript; the JSON form must agree with it.
fn transcript(place: &Place, arguments: &[&str]) -> String {
    let ended = place.call(arguments);
    assert_eq!(ended.stdout, "", "{arguments:?}");
    let (code, value) = place.json(arguments);
    assert_eq!(code, ended.code, "{value}");
    let message = value["error"]["message"].as_str().unwrap();
    let first = message
        .lines()
        .next()
        .unwrap()
        .replace(&data(""), "[DATA]/");
    let first = first.replace(&place.path().display().to_string(), "[PLACE]");
    assert!(ended.stderr.contains(&first), "{first} in {}", ended.stderr);
    assert!(
        !value["error"]["hints"].as_array().unwrap().is_empty(),
        "no remedy: {value}"
    );
    ended.transcript()
}

#[test]
fn names_of_nothing() {
    let place = Place::new();
    let problem = problem();
    for (name, arguments) in [
        ("problem", &["eval", "gemmini/gemm-512x512x511"][..]),
        ("problem-folder", &["optimize", "./mine"]),
        ("kernel-name", &["eval", &problem, "--kernel", "fast"]),
        ("kernel-file", &["eval", &problem, "--kernel", "fast.c"]),
        ("machine", &["eval", &problem, "--machine", "tpu"]),
        ("target", &["targets", "gemmini"]),
        ("run", &["show", "runs/one"]),
        ("resumed-run", &["optimize", "--resume", "runs/one"]),
        ("runs-folder", &["runs", "elsewhere"]),
        ("settings-file", &["optimize", "--config", "s.toml"]),
        ("data-folder", &["problems", "--data", "elsewhere"]),
        ("elf", &["sim", "run", "a.elf"]),
        ("phase", &["prompt", &problem, "--phase", "think"]),
        (
            "provider",
            &["optimize", &problem, "--model", "nobody::model"],
        ),
    ] {
        insta::assert_snapshot!(format!("unknown-{name}"), transcript(&place, arguments));
    }
}

#[test]
fn kernels_that_cannot_be_read() {
    let place = Place::new();
    let latin = place.file("latin.c", b"// one\n// caf\xe9\nvoid solution() {}\n");
    let folder = place.path().join("folder.c");
    fs::create_dir(&folder).unwrap();
    let problem = problem();
    insta::assert_snapshot!(
        "kernel-latin",
        transcript(&place, &["eval", &problem, "--kernel", &latin])
    );
    insta::assert_snapshot!(
        "kernel-folder",
        transcript(&place, &["eval", &problem, "--kernel", "folder.c"])
    );
}

#[test]
fn devices_and_pipes_are_not_read() {
    let place = Place::new();
    let pipe = place.path().join("pipe.c");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let (problem, pipe) = (problem(), pipe.display().to_string());
    for file in ["/dev/zero", "/dev/stdin", &pipe] {
        for arguments in [
            &["eval", &problem, "--kernel", file][..],
            &["profile", &problem, "--kernel", file],
            &["bench", &problem, "--add", &format!("mine={file}")],
            &["optimize", &problem, "--baseline", file],
            &["optimize", &problem, "--config", file],
            &[
                "optimize",
                &problem,
                "--model",
                "openai::gpt-5.4",
                "--prices",
                file,
            ],
            &[
                "optimize",
                &problem,
                "--model",
                "openai::gpt-5.4",
                "--keys",
                file,
            ],
            &["sim", "run", file],
        ] {
            let mut command = place.command();
            // Standard input is a pipe that nobody writes to.
            let ended = place.ended(&command.args(arguments).output().unwrap());
            assert_eq!(ended.code, Some(3), "{arguments:?} {}", ended.stderr);
            assert!(
                ended.stderr.contains("only regular files are read"),
                "{arguments:?} {}",
                ended.stderr
            );
        }
    }
    let long = place.file("long.c", vec![b' '; (16 << 20) + 1]);
    let ended = place.call(&["eval", &problem, "--kernel", &long]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("longer than the"), "{}", ended.stderr);
}

#[test]
fn kernels_that_command_the_terminal() {
    let place = Place::new();
    let kernel = place.file(
        "clear.c",
        "void solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {\n    \
         C[0][0] = nothing; /* \x1b[2J\x1b]0;mine\x07 \u{9b}31m */ \\x1b\n#error \x1b[2J\n}\n",
    );
    let ended = place.call(&["eval", &problem(), "--kernel", &kernel]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let is_command = |c: char| c.is_control() && c != '\n';
    assert!(!ended.stdout.contains(is_command), "{:?}", ended.stdout);
    assert!(ended.stdout.contains("\\x1b[2J"), "{}", ended.stdout);
    let (_, value) = place.json(&["eval", &problem(), "--kernel", &kernel]);
    assert!(value.to_string().contains("\\u001b[2J"), "{value}");
    let name = "\x1b[2Jname.c";
    let ended = place.call(&["eval", &problem(), "--kernel", name]);
    assert!(ended.stderr.contains("\\x1b[2Jname.c"), "{}", ended.stderr);
    assert!(!ended.stderr.contains(is_command), "{:?}", ended.stderr);
}

#[test]
fn few_open_files() {
    let place = Place::new();
    // Whatever is shared is there.
    assert_eq!(place.call(&["eval", &problem()]).code, Some(0));
    for (most, code) in [(10, 4), (12, 4), (20, 4), (63, 4), (64, 0)] {
        let folder = format!("run-{most}");
        let mut limited = std::process::Command::new("sh");
        limited
            .current_dir(place.path())
            .env("AUTOCOMP_CACHE_DIR", cache())
            .args(["-c", &format!("ulimit -n {most}; exec \"$0\" \"$@\"")])
            .arg(env!("CARGO_BIN_EXE_autocomp"))
            .args(["optimize", &problem(), "--max-evaluations", "3"])
            .args(["--workers", "2", "--run-dir", &folder]);
        let ended = place.ended(&limited.output().unwrap());
        assert_eq!(ended.code, Some(code), "{most}: {}", ended.stderr);
        assert_eq!(code == 4, ended.stderr.contains("hint: raise the limit"));
    }
}

#[test]
fn a_folder_that_is_named_twice() {
    let place = Place::new();
    let folder = problem();
    for arguments in [
        &["eval", &folder, "--data", &folder][..],
        &["bench", &folder, "--data", &folder],
        &["bench", &folder, &format!("{folder}/../gemm-64")],
        // One problem of the catalog is as good as a suite.
        &[
            "bench", "gemm-64", "--data", &folder, "--kernel", "baseline",
        ],
    ] {
        let ended = place.call(arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?} {}", ended.stderr);
    }
    // By its path and as part of another folder.
    let inner = place.path().join("data/problems/small");
    fs::create_dir_all(&inner).unwrap();
    for file in ["problem.toml", "reference.c", "baseline.c"] {
        fs::copy(Path::new(&folder).join(file), inner.join(file)).unwrap();
    }
    for given in ["data/problems/small", "data/../data/problems/small"] {
        let ended = place.call(&["eval", given, "--data", "data"]);
        assert_eq!(ended.code, Some(0), "{given} {}", ended.stderr);
    }
}

/// A folder `mine` with two problems, `a` and `b`.
fn two_problems() -> Place {
    let place = Place::new();
    for name in ["a", "b"] {
        let folder = place.path().join("mine").join(name);
        fs::create_dir_all(&folder).unwrap();
        for entry in fs::read_dir(problem()).unwrap() {
            let entry = entry.unwrap();
            if entry.path().is_file() {
                fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
            }
        }
    }
    place
}

#[test]
fn a_neighbour_whose_reference_does_not_build() {
    let place = two_problems();
    place.file("mine/a/reference.c", "no C\n");
    let ended = place.call(&["bench", "mine", "--kernel", "baseline"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let row_of = |name: &str| ended.stdout.lines().find(|it| it.starts_with(name));
    assert!(
        row_of("a ").is_some_and(|it| it.contains("fault")),
        "{}",
        ended.stdout
    );
    assert!(
        row_of("b ").is_some_and(|it| !it.contains("fault")),
        "{}",
        ended.stdout
    );
    let alone = place.call(&["bench", "mine/a", "--kernel", "baseline"]);
    assert_eq!(alone.code, Some(3), "{}", alone.stderr);
}

#[test]
fn a_broken_neighbour() {
    let place = two_problems();
    place.file("mine/b/problem.toml", "target = 7\n");
    let ended = place.call(&["bench", "mine", "--problem", "a", "--kernel", "baseline"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(place.call(&["bench", "mine"]).code, Some(3));
}

#[test]
fn names_that_are_nearly_right() {
    let place = Place::new();
    let near = "did you mean `gemmini/gemm-512x512x512`?";
    for arguments in [
        &["eval", "gemm512"][..],
        &["optimize", "gemmini/gem-512x512x512"],
        &["bench", "gemmini-gemm", "--problem", "gemm-512x512x511"],
        &["bench", "gemmini/gem-512x512x512"],
        &["problems", "Gemmini/GEMM-512"],
        &["prompt", "gemm-512"],
    ] {
        let ended = place.call(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?} {}", ended.stderr);
        assert!(
            ended.stderr.contains(near),
            "{arguments:?} {}",
            ended.stderr
        );
    }
}

#[test]
fn targets_that_a_problem_or_this_computer_does_not_have() {
    let place = Place::new();
    let problem = "host/rmsnorm-f32-500x333";
    for command in ["eval", "bench", "profile", "optimize"] {
        let ended = place.call(&[command, problem, "--target", "gemmini-int8-16"]);
        assert_eq!(ended.code, Some(2), "{command}: {}", ended.stderr);
        let said = format!("{problem} is not for target gemmini-int8-16");
        assert!(ended.stderr.contains(&said), "{command}: {}", ended.stderr);
    }
    let ended = place.call(&["eval", problem, "--target", "host-x86-64-avx3"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("did you mean `host-x86-64-avx2`?"),
        "{}",
        ended.stderr
    );
    let foreign = match std::env::consts::ARCH {
        "aarch64" => "host-x86-64-avx2",
        _ => "host-aarch64-neon",
    };
    for command in ["eval", "bench", "profile", "optimize"] {
        let ended = place.call(&[command, problem, "--target", foreign]);
        assert_eq!(ended.code, Some(4), "{command}: {}", ended.stderr);
        let said = format!("kernels for {foreign} cannot run on this computer");
        assert!(ended.stderr.contains(&said), "{command}: {}", ended.stderr);
    }
}

#[test]
fn settings_files_with_mistakes() {
    let place = Place::new();
    for (name, text) in [
        ("syntax", "seed = 1\n[search\nbeam = 2\n"),
        ("key", "seed = 1\n\n[search]\nbeem = 2\n"),
        ("type", "[search]\nbeam = \"six\"\n"),
        (
            "range",
            "problem = \"gemmini/gemm-512x512x512\"\n[search]\nbeam = 0\n",
        ),
        ("no-problem", "seed = 1\n"),
    ] {
        place.file("s.toml", text);
        insta::assert_snapshot!(
            format!("settings-{name}"),
            transcript(&place, &["optimize", "--config", "s.toml"])
        );
        assert!(
            !place.path().join("runs").exists(),
            "a mistake leaves no run behind"
        );
    }
}

#[test]
fn flags_out_of_range() {
    let place = Place::new();
    let problem = problem();
    for (name, flag, value) in [
        ("workers", "--workers", "0"),
        ("minutes", "--max-minutes", "-3"),
        ("usd", "--max-usd", "-1"),
        ("evaluations", "--max-evaluations", "0"),
    ] {
        insta::assert_snapshot!(
            format!("flag-{name}"),
            transcript(&place, &["optimize", &problem, flag, value])
        );
    }
}

#[test]
fn a_baseline_that_is_wrong() {
    let place = Place::new();
    let kernel = data("kernels/skips-work.c");
    let ended = place.call(&[
        "optimize",
        &problem(),
        "--baseline",
        &kernel,
        "--run-dir",
        "run",
    ]);
    assert_eq!(ended.stdout, "");
    let error = &ended.stderr[ended.stderr.find("error: ").unwrap()..];
    insta::assert_snapshot!(error);
    assert_eq!(ended.code, Some(3));
}

#[test]
fn no_compiler_and_no_pip() {
    let place = Place::new();
    let empty = place.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let output = place
        .command()
        .env("PATH", &empty)
        .env("AUTOCOMP_CACHE_DIR", place.path().join("cache"))
        .env_remove("AUTOCOMP_COMPILER")
        .args(["eval", &problem()])
        .output();
    insta::assert_snapshot!(place.ended(&output.unwrap()).transcript());
}

#[test]
fn a_compiler_that_is_none() {
    let place = Place::new();
    let ended = place.call(&["eval", &problem(), "--compiler", "/bin/true"]);
    assert_eq!(ended.code, Some(4), "{}", ended.transcript());
    assert!(
        ended
            .stderr
            .contains("the configured compiler /bin/true does not work"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("\nhint: "), "{}", ended.stderr);
}

#[test]
fn folders_that_cannot_be_written() {
    let place = Place::new();
    let problem = problem();
    place.file("file", "");
    insta::assert_snapshot!(
        "run-below-a-file",
        transcript(&place, &["optimize", &problem, "--run-dir", "file/run"])
    );
    // What fails first depends on whether this machine has a compiler.
    let ended = place.call(&["eval", &problem, "--cache-dir", "file/cache"]);
    assert_eq!(ended.code, Some(4), "{}", ended.transcript());
    assert!(ended.stderr.contains("file/cache"), "{}", ended.stderr);
    assert!(ended.stderr.contains("\nhint: "), "{}", ended.stderr);
    // Everyone may look at /proc, and nobody may write there.
    insta::assert_snapshot!(
        "run-in-proc",
        transcript(&place, &["optimize", &problem, "--run-dir", "/proc/run"])
    );
}

/// Runs `script` with the program as `$0`, in the place.
fn shell(place: &Place, script: &str) -> std::process::Output {
    std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_autocomp"), &problem()])
        .current_dir(place.path())
        .env("AUTOCOMP_CACHE_DIR", cache())
        .output()
        .unwrap()
}

#[test]
fn a_full_disk() {
    let place = Place::new();
    fs::create_dir(place.path().join("disk")).unwrap();
    // A small disk of our own, in a namespace that ends with the script.
    let script = "mount -t tmpfs -o size=160k none disk || exit 77\n\
                  \"$0\" optimize \"$1\" --run-dir disk/run --max-evaluations 40 --workers 1\n\
                  code=$?; cp -r disk/run kept; exit $code";
    let output = std::process::Command::new("unshare")
        .args([
            "-rm",
            "sh",
            "-c",
            script,
            env!("CARGO_BIN_EXE_autocomp"),
            &problem(),
        ])
        .current_dir(place.path())
        .env("AUTOCOMP_CACHE_DIR", cache())
        .output();
    let output = match output {
        Ok(output) if ![Some(1), Some(77)].contains(&output.status.code()) => output,
        refused => {
            eprintln!("skipped: no disk can be mounted here ({refused:?})");
            return;
        }
    };
    let ended = place.ended(&output);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(4), ""),
        "{}",
        ended.stderr
    );
    assert!(
        ended
            .stderr
            .contains("error: no room left to write disk/run/"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("hint: free some space"),
        "{}",
        ended.stderr
    );

    // Nothing is lost: with room again, the run takes its undisturbed course.
    let (code, resumed) = place.json(&["optimize", "--resume", "kept"]);
    assert_eq!(code, Some(0), "{resumed}");
    let (_, undisturbed) = place.json(&[
        "optimize",
        &problem(),
        "--run-dir",
        "other",
        "--max-evaluations",
        "40",
    ]);
    assert_eq!(resumed["history"], undisturbed["history"]);
}

#[test]
fn standard_output_that_is_full() {
    let place = Place::new();
    let ended = place.ended(&shell(&place, "exec \"$0\" problems > /dev/full"));
    assert_eq!(ended.code, Some(4), "{}", ended.transcript());
    assert!(
        ended.stderr.contains("failed to write the result"),
        "{}",
        ended.stderr
    );
    // A reader that goes away is no failure.
    let ended = place.ended(&shell(&place, "\"$0\" problems --json | head -n 1"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_run_folder_that_is_a_link() {
    let place = Place::new();
    fs::create_dir(place.path().join("real")).unwrap();
    symlink("real", place.path().join("link")).unwrap();
    let (code, value) = place.json(&[
        "optimize",
        &problem(),
        "--run-dir",
        "link",
        "--max-evaluations",
        "1",
    ]);
    assert_eq!(code, Some(0), "{value}");
    assert_eq!(place.call(&["show", "real"]).code, Some(0));
}

#[test]
fn suites_with_nothing_to_compare() {
    let place = Place::new();
    for folder in ["suite/elf", "mine/one", "other/one"] {
        fs::create_dir_all(place.path().join(folder)).unwrap();
    }
    let header = "elf\tcase\trep\tissue_cycles\ttotal_cycles\n";
    place.file("suite/cycles.tsv", header);
    place.file("suite/half.tsv", format!("{header}a.elf\tb\t0\t1\t2\n"));
    let problem = problem();
    let folder = Path::new(&problem);
    for file in ["problem.toml", "reference.c"] {
        fs::copy(folder.join(file), place.path().join("mine/one").join(file)).unwrap();
    }
    let text = fs::read_to_string(folder.join("problem.toml")).unwrap();
    let elsewhere = text.replace("gemmini-int8-16", "tpu");
    assert_ne!(elsewhere, text);
    place.file("other/one/problem.toml", elsewhere);
    for file in ["reference.c", "baseline.c"] {
        fs::copy(folder.join(file), place.path().join("other/one").join(file)).unwrap();
    }
    fs::create_dir(place.path().join("fast")).unwrap();
    for (name, arguments) in [
        ("no-programs", &["sim", "calibrate", "--suite", "suite"][..]),
        (
            "no-repetitions",
            &[
                "sim",
                "calibrate",
                "--suite",
                "suite",
                "--counts",
                "half.tsv",
            ],
        ),
        ("no-kernels", &["bench", "mine"]),
        ("no-such-target", &["bench", "other"]),
        ("kernel-is-folder", &["eval", &problem, "--kernel", "fast"]),
        (
            "trace-nowhere",
            &["profile", &problem, "--trace", "no/trace.json"],
        ),
    ] {
        insta::assert_snapshot!(format!("nothing-{name}"), transcript(&place, arguments));
    }
}

#[test]
fn machines_that_cannot_be() {
    let place = Place::new();
    let target = place.path().join("data/targets/mine");
    fs::create_dir_all(target.join("machines")).unwrap();
    fs::create_dir_all(place.path().join("data/problems/small")).unwrap();
    let folder = problem();
    for file in ["reference.c", "baseline.c"] {
        let copy = place.path().join("data/problems/small").join(file);
        fs::copy(Path::new(&folder).join(file), copy).unwrap();
    }
    let text = fs::read_to_string(Path::new(&folder).join("problem.toml")).unwrap();
    let text = text.replace("gemmini-int8-16", "mine");
    place.file("data/problems/small/problem.toml", text);
    place.file(
        "data/targets/mine/target.toml",
        "name = \"mine\"\nlanguage = \"c\"\ndescription = \"d\"\ninherits = \"gemmini-int8-16\"\n\
         default_machine = \"m\"\nfamily = \"gemmini\"\nroofline = { peak_macs_per_cycle = 256.0, bytes_per_cycle = 32.0 }\n",
    );
    place.file("data/targets/mine/architecture.md", "# Mine\n");
    place.file("a.elf", "");
    let machine = include_str!("../../../../../targets/gemmini-int8-16/machines/fpga.toml");
    for (name, from, to) in [
        ("key", "load_latency", "lode_latency"),
        ("number", "l2_mshrs = 10", "l2_mshrs = 1000"),
    ] {
        assert!(machine.contains(from));
        let changed = machine.replacen(from, to, 1);
        place.file("data/targets/mine/machines/m.toml", changed);
        let arguments = ["sim", "run", "a.elf", "--target", "mine", "--data", "data"];
        let said = transcript(&place, &arguments);
        insta::assert_snapshot!(format!("machine-{name}"), said);
        assert_eq!(
            said,
            transcript(&place, &["eval", "small", "--data", "data"])
        );
    }
    // What is inherited must not contradict the machine.
    let smaller = machine.replacen("acc_kib = 64", "acc_kib = 32", 1);
    assert_ne!(smaller, machine);
    place.file("data/targets/mine/machines/m.toml", smaller);
    let ended = place.call(&["eval", "small", "--data", "data"]);
    assert_eq!(ended.code, Some(3), "{}", ended.transcript());
    for part in [
        "ACC_ROWS is 1024 in runtime/gemmini_params.h and 512",
        "constants.toml",
    ] {
        assert!(ended.stderr.contains(part), "{}", ended.transcript());
    }
    // A problem of the parent can be tried on a variant that agrees with its machine.
    place.file("data/targets/mine/machines/m.toml", machine);
    let ended = place.call(&["eval", &folder, "--target", "mine", "--data", "data"]);
    assert_eq!(ended.code, Some(0), "{}", ended.transcript());
    let shown = place.call(&["targets", "mine", "--data", "data"]).stdout;
    assert!(shown.contains("accelerator.acc_kib"), "{shown}");
}

#[test]
fn a_cache_that_cannot_be_made() {
    let place = Place::new();
    // Nothing can be made below a file, whoever the user is.
    place.file("home", "");
    let call = |words: &[&str]| {
        let mut command = place.command();
        command
            .args(words)
            .env_remove("AUTOCOMP_CACHE_DIR")
            .env_remove("XDG_CACHE_HOME")
            .env_remove("XDG_DATA_HOME")
            .env("HOME", place.path().join("home"));
        place.ended(&command.output().unwrap())
    };
    let folder = problem();
    for (words, code) in [
        (&["eval", &folder][..], 4),
        (&["profile", &folder], 4),
        (&["optimize", &folder, "--run-dir", "run"], 4),
        (&["doctor"], 1),
    ] {
        let ended = call(words);
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code, Some(code), "{words:?}: {}", ended.transcript());
        for part in [
            "home/.cache/autocomp cannot be made: Not a directory",
            "`--cache-dir FOLDER`",
            "AUTOCOMP_CACHE_DIR",
        ] {
            assert!(told.contains(part), "{words:?}: {}", ended.transcript());
        }
    }
    assert!(!place.path().join("run").exists());
    // What is advised helps.
    let shared = cache().display().to_string();
    let ended = call(&["eval", &folder, "--cache-dir", &shared]);
    assert_eq!(ended.code, Some(0), "{}", ended.transcript());
}

#[test]
fn a_problem_without_kernels() {
    let place = Place::new();
    fs::create_dir(place.path().join("mine")).unwrap();
    for file in ["problem.toml", "reference.c"] {
        fs::copy(
            Path::new(&problem()).join(file),
            place.path().join("mine").join(file),
        )
        .unwrap();
    }
    insta::assert_snapshot!("no-kernels", transcript(&place, &["eval", "mine"]));
    let shown = place.call(&["problems", "mine"]).stdout;
    assert!(shown.ends_with("\nkernels: none\n"), "{shown}");
}

#[test]
fn a_reference_that_does_not_build_is_an_unusable_file() {
    let place = Place::new();
    fs::create_dir(place.path().join("mine")).unwrap();
    let problem = problem();
    for file in ["problem.toml", "baseline.c"] {
        fs::copy(
            Path::new(&problem).join(file),
            place.path().join("mine").join(file),
        )
        .unwrap();
    }
    place.file(
        "mine/reference.c",
        "void solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) { missing = 1; }\n",
    );
    for arguments in [
        &["eval", "mine", "--kernel", "baseline"][..],
        &["bench", "mine"],
        &["profile", "mine", "--kernel", "baseline"],
        &["optimize", "mine"],
    ] {
        let (code, value) = place.json(arguments);
        assert_eq!(code, Some(3), "{arguments:?}: {value}");
        let error = &value["error"];
        assert_eq!(error["kind"], "input", "{value}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("reference.c:1"), "{message}");
        assert!(!error["hints"].as_array().unwrap().is_empty());
    }
}
