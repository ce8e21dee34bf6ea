//! The help of every command, in full: the reference of the command line.

use super::program::Place;

const COMMANDS: &[&[&str]] = &[
    &[],
    &["optimize"],
    &["eval"],
    &["bench"],
    &["profile"],
    &["propose"],
    &["runs"],
    &["show"],
    &["diff"],
    &["report"],
    &["export"],
    &["import"],
    &["import", "autocomp"],
    &["import", "openevolve"],
    &["import", "shinka"],
    &["import", "kernels"],
    &["mcp"],
    &["watch"],
    &["serve"],
    &["study"],
    &["worker"],
    &["worker", "init"],
    &["worker", "serve"],
    &["workers"],
    &["target"],
    &["target", "build"],
    &["target", "export"],
    &["target", "import"],
    &["target", "diff"],
    &["targets"],
    &["problems"],
    &["doctor"],
    &["cache"],
    &["memory"],
    &["completions"],
    &["prompt"],
    &["ask"],
    &["translate"],
    &["models"],
    &["models", "list"],
    &["models", "check"],
    &["sim"],
    &["sim", "run"],
    &["sim", "calibrate"],
];

#[test]
fn the_reference_of_all_commands() {
    let place = Place::new();
    for words in COMMANDS {
        let arguments = [*words, &["--help"]].concat();
        // The variables are options' values and would show.
        let output = place
            .command()
            .env_remove("AUTOCOMP_CACHE_DIR")
            .env_remove("AUTOCOMP_COMPILER")
            .args(&arguments)
            .output();
        let ended = place.ended(&output.unwrap());
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{words:?}"
        );
        let name = if words.is_empty() {
            "all".to_owned()
        } else {
            words.join("-")
        };
        insta::assert_snapshot!(format!("help-{name}"), ended.stdout);
    }
}

#[test]
fn no_command_is_missing_here() {
    let help = Place::new().call(&["--help"]).stdout;
    let listed = help
        .split("Commands:\n")
        .nth(1)
        .unwrap()
        .split("\n\n")
        .next()
        .unwrap();
    for line in listed.lines() {
        let name = line.split_whitespace().next().unwrap();
        if name == "help" {
            continue;
        }
        assert!(
            COMMANDS.iter().any(|words| words.first() == Some(&name)),
            "{name}"
        );
    }
}

#[test]
fn mistakes_on_the_command_line() {
    let place = Place::new();
    for (name, arguments) in [
        ("no-command", &[][..]),
        ("unknown-command", &["optimise"]),
        (
            "unknown-option",
            &["optimize", "gemmini/gemm-512x512x512", "--worker", "2"],
        ),
        (
            "not-a-number",
            &["optimize", "gemmini/gemm-512x512x512", "--seed", "one"],
        ),
        (
            "resume-with-config",
            &["optimize", "--resume", "runs/one", "--config", "run.toml"],
        ),
        ("nothing-to-optimize", &["optimize"]),
        (
            "wrong-language",
            &["eval", "gemmini/gemm-512x512x512", "--kernel", "kernel.py"],
        ),
    ] {
        insta::assert_snapshot!(format!("usage-{name}"), place.call(arguments).transcript());
    }
}

#[test]
fn mistakes_on_the_command_line_in_json() {
    let (code, value) =
        Place::new().json(&["optimize", "gemmini/gemm-512x512x512", "--worker", "2"]);
    assert_eq!(
        (code, value["error"]["kind"].as_str()),
        (Some(2), Some("usage")),
        "{value}"
    );
    let message = value["error"]["message"].as_str().unwrap();
    assert!(message.contains("--worker"), "{message}");
}
