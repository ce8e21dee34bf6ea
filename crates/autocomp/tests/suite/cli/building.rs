//! A target from documents, with the stand-in of the page that teaches it.

use super::program::Place;
use std::fs;

/// Writes the files that the page shows.
pub fn with_page() -> Place {
    let place = Place::new();
    let page = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/building-a-target.md"
    );
    let page = fs::read_to_string(page).unwrap();
    for block in page.split("<!-- file: ").skip(1) {
        let (name, block) = block.split_once(" -->\n```").unwrap();
        let text = block.split_once('\n').unwrap().1.split("\n```").next();
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{}\n", text.unwrap())).unwrap();
    }
    place
}

const BUILD: [&str; 11] = [
    "target",
    "build",
    "mine",
    "--from",
    "docs",
    "--scope=Kernels for the machine",
    "--like",
    "gemmini-int8-16",
    "--out",
    "own",
    "--model=command::sh stand-in.sh",
];

#[test]
fn documents_become_a_target_that_is_searched_with() {
    let place = with_page();
    let (code, built) = place.json(&BUILD);
    assert_eq!(
        (code, &built["complete"]),
        (Some(0), &true.into()),
        "{built}"
    );
    let parts: Vec<String> = built["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let name = it["part"].as_str().unwrap();
            format!(
                "{name} {} {} {}",
                it["statements"], it["dropped"], it["origin"]
            )
        })
        .collect();
    assert_eq!(
        parts,
        [
            "architecture 1 {\"not_in_passage\":1} \"documents\"",
            "isa 1 {} \"documents\"",
            "menu 1 {} \"documents\"",
            "translation 0 {} \"none\"",
            "rules 1 {} \"documents\"",
            "examples 0 {} \"none\"",
            "figures 1 {} \"documents\"",
        ]
    );
    assert_eq!(built["requests"], 6);
    let told = place.json(&["targets", "mine", "--data", "own"]).1;
    assert_eq!(told["menu"][0], "two-buffers", "{told}");
    let differs = place.call(&["target", "diff", "gemmini-int8-16", "mine", "--data", "own"]);
    assert!(
        differs.stdout.contains("only mine: two-buffers"),
        "{}",
        differs.transcript()
    );
    // How kernels are judged stays, whatever rules documents have.
    let rules = fs::read_to_string(place.path().join("own/targets/mine/rules.toml")).unwrap();
    assert!(rules.contains("Inputs must not be written"), "{rules}");
    assert!(!differs.stdout.contains("only gemmini-int8-16: Inputs"));
    let searched = place.json(&[
        "optimize",
        "gemmini/gemm-64x1024x1024",
        "--target",
        "mine",
        "--data",
        "own",
        "--max-evaluations",
        "2",
    ]);
    assert_eq!(searched.0, Some(0), "{}", searched.1);
    // Nothing is asked again, and what somebody has changed is left alone.
    let (_, again) = place.json(&BUILD);
    assert_eq!(
        (&again["complete"], &again["requests"]),
        (&true.into(), &6.into())
    );
    let menu = place.path().join("own/targets/mine/menu.toml");
    fs::write(&menu, format!("{}\n", fs::read_to_string(&menu).unwrap())).unwrap();
    let refused = place.call(&BUILD);
    assert_eq!(refused.code, Some(2), "{}", refused.transcript());
    assert!(
        refused
            .stderr
            .contains("was changed since it was built: menu.toml")
    );
}

#[test]
fn what_is_missing_is_told_and_asked_for_later() {
    let place = with_page();
    let (code, capped) = place.json(&[&BUILD[..], &["--max-requests", "2"]].concat());
    assert_eq!(
        (code, &capped["complete"]),
        (Some(4), &false.into()),
        "{capped}"
    );
    assert_eq!(capped["failures"].as_array().unwrap().len(), 4, "{capped}");
    assert!(!place.path().join("own/targets").exists());
    let (code, built) = place.json(&BUILD);
    assert_eq!((code, &built["requests"]), (Some(0), &6.into()), "{built}");
}

#[test]
fn mistakes_are_told_before_anything_is_asked() {
    let place = with_page();
    let with = |changed: &[(usize, &'static str)]| {
        let mut words = BUILD;
        for (at, word) in changed {
            words[*at] = word;
        }
        let ended = place.call(&words);
        (ended.code, ended.stderr)
    };
    for (changed, code, said) in [
        (&[(2, "Mine")][..], 2, "is not the name of a target"),
        (
            &[(2, "gemmini-int8-32")],
            2,
            "there is a target `gemmini-int8-32` already",
        ),
        (&[(4, "nowhere")], 2, "nowhere: No such file"),
        (&[(4, "/dev/null")], 3, "it is neither a file nor a folder"),
        (&[(5, "--scope= ")], 2, "`--scope` says nothing"),
        (&[(7, "gemini")], 2, "gemini"),
        (
            &[(9, "stand-in.sh")],
            4,
            "cannot use the record stand-in.sh/.build/mine",
        ),
        (&[(10, "--model=nobody::x")], 2, "unknown provider"),
    ] {
        let (ended, stderr) = with(changed);
        assert_eq!(ended, Some(code), "{stderr}");
        assert!(
            stderr.contains(said) && stderr.contains("hint: "),
            "{stderr}"
        );
    }
}
