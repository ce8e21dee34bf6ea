//! Settings by name.

use autocomp::inside::Settings;

#[test]
fn every_kind_of_setting_can_be_set() {
    let mut settings = Settings::default();
    let given = [
        "ideas=3",
        "search.early_slack=[1.2, 1.1]",
        "feedback_share = 0.5",
        "asking.code_form=whole",
        "max_usd=2",
        "duplicates=code",
        "machine=7",
        "early_cut=false",
        "models=[\"rewriter\"]",
        "stop_at_percent_of_peak=90",
    ];
    let set = settings.set(&given.map(str::to_owned)).unwrap();
    let file = "machine = \"7\"\nmodels = [\"rewriter\"]\n[search]\nideas = 3\n\
         early_slack = [1.2, 1.1]\nduplicates = \"code\"\nearly_cut = false\n\
         stop_at_percent_of_peak = 90\n[asking]\nfeedback_share = 0.5\n\
         code_form = \"whole\"\n[budget]\nmax_usd = 2\n";
    assert_eq!(settings, Settings::parse(file, "s.toml").unwrap());
    let searching = [
        "duplicates",
        "early_cut",
        "early_slack",
        "ideas",
        "stop_at_percent_of_peak",
    ];
    assert!(set.iter().eq(&searching), "{set:?}");
}

#[test]
fn mistakes_are_named() {
    let error = |word: &str| {
        let error = Settings::default().set(&[word.to_owned()]).unwrap_err();
        error.message
    };
    insta::assert_snapshot!(error("ideas"), @"`--set ideas` is not of the form NAME=VALUE");
    insta::assert_snapshot!(error("search.idea=3"), @"there is no setting `search.idea`");
    insta::assert_snapshot!(error("search=3"), @"there is no setting `search`");
    let wrong = error("ideas=many");
    assert!(
        wrong.contains("ideas=many") && wrong.contains("expected u32"),
        "{wrong}"
    );
}
