//! Files of studies.

use autocomp::inside::StudyFile;

const HEAD: &str = "problems = [\"p\", \"q\"]\nseeds = [1, 2]\nmax_evaluations = 9\n";

#[test]
fn arms_change_what_is_common() {
    let text = format!(
        "{HEAD}[settings.search]\nbeam = 2\nplans = 3\n[[arm]]\nname = \"plain\"\n\
         [[arm]]\nname = \"wide\"\n[arm.settings.search]\nbeam = 5\n"
    );
    let runs = StudyFile::parse(&text, "s.toml").unwrap().runs().unwrap();
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(&names[..3], ["plain-p0-s1", "wide-p0-s1", "plain-p1-s1"]);
    assert_eq!(names.len(), 8);
    insta::assert_snapshot!(runs[1].settings, @r#"
    problem = "p"
    seed = 1

    [search]
    beam = 5
    max_evaluations = 9
    plans = 3
    "#);
}

#[test]
fn studies_that_make_no_sense_are_refused() {
    let error = |text: &str| {
        let study = StudyFile::parse(&format!("{HEAD}{text}"), "s.toml");
        let error = study.and_then(|study| study.runs()).unwrap_err();
        assert!(!error.hints.is_empty(), "{error}");
        error.message
    };
    for (text, expected) in [
        ("arm = []\n", "`arm` is empty"),
        ("[[arm]]\nname = \"a/b\"\n", "cannot be the name of an arm"),
        (
            "[[arm]]\nname = \"a\"\n[[arm]]\nname = \"a\"\n",
            "two arms have the name `a`",
        ),
        ("[[arm]]\nname = \"a\"\nseed = 3\n", "unknown field `seed`"),
        (
            "[[arm]]\nname = \"a\"\nsettings = { seed = 3 }\n",
            "arm `a` sets `seed`",
        ),
        ("max_usd = -1.0\n[[arm]]\nname = \"a\"\n", "`max_usd` is -1"),
        (
            "[[arm]]\nname = \"a\"\nsettings.search = { max_evaluations = 3 }\n",
            "arm `a` sets `max_evaluations`",
        ),
        (
            "[[arm]]\nname = \"a\"\nsettings.search = { beem = 3 }\n",
            "the settings of arm `a`",
        ),
        (
            "[[arm]]\nname = \"a\"\nsettings.search = { beam = 0 }\n",
            "setting `beam` is 0",
        ),
    ] {
        assert!(error(text).contains(expected), "{}", error(text));
    }
}

#[test]
fn every_run_is_made_with_each_budget() {
    let with = |budgets: &str| {
        let head = HEAD.replace("= 9", &format!("= {budgets}"));
        let study = StudyFile::parse(&format!("{head}[[arm]]\nname = \"a\"\n"), "s.toml");
        study.and_then(|study| study.runs())
    };
    let runs = with("[25, 100]").unwrap();
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "a-p0-e25-s1",
            "a-p1-e25-s1",
            "a-p0-e100-s1",
            "a-p1-e100-s1",
            "a-p0-e25-s2",
            "a-p1-e25-s2",
            "a-p0-e100-s2",
            "a-p1-e100-s2",
        ]
    );
    assert!(runs[2].settings.contains("max_evaluations = 100"));
    for (budgets, expected) in [
        ("[]", "`max_evaluations` is empty"),
        ("[9, 9]", "a number of `max_evaluations` is there twice"),
        ("[9, 0]", "setting `max_evaluations` is 0"),
        (
            "\"many\"",
            "expected a number of evaluations, or a list of them",
        ),
    ] {
        let error = with(budgets).unwrap_err();
        assert!(error.message.contains(expected), "{error}");
    }
}

#[test]
fn the_studies_of_the_documentation_are_studies() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/study");
    for (name, arms) in [("study.toml", 8), ("paper.toml", 9)] {
        let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let runs = StudyFile::parse(&text, name).unwrap().runs().unwrap();
        assert_eq!(runs.len(), 3 * arms, "{name}");
    }
}
