//! Settings of a run.

use autocomp::inside::Settings;

#[test]
fn a_file_round_trips() {
    let settings =
        Settings::parse("problem = \"p\"\nseed = 3\n[search]\nbeam = 2\n", "s.toml").unwrap();
    assert_eq!((settings.search.beam, settings.seed), (2, 3));
    assert_eq!(
        Settings::parse(&settings.to_toml().unwrap(), "s.toml").unwrap(),
        settings
    );
}

/// The documentation shows every setting of models, with its default.
#[test]
fn the_documented_file_is_right() {
    let page = include_str!("../../../../../docs/models.md");
    let section = page.split("\n## Settings\n").nth(1).unwrap();
    let block = section
        .split("```toml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let documented = Settings::parse(block, "models.md").unwrap();
    let mut asking = documented.asking;
    asking.keys = None;
    asking.prices = None;
    asking.temperature = None;
    asking.reasoning = None;
    asking.requests_per_minute = None;
    assert_eq!(asking, Settings::default().asking);
    assert!(documented.budget.max_usd.is_some() && !documented.models.is_empty());
    let names = toml::Table::try_from(Settings::default().asking).unwrap();
    for name in names.keys() {
        assert!(block.contains(&format!("\n{name} = ")), "{name}");
    }
}

/// The documentation explains every setting of the search, and every strategy.
#[test]
fn every_setting_of_the_search_is_documented() {
    let page = include_str!("../../../../../docs/search.md");
    let names = toml::Table::try_from(Settings::default().search).unwrap();
    let strategies = autocomp_search::REGISTRY.iter().map(|it| it.name());
    for name in names.keys().map(String::as_str).chain(strategies) {
        assert!(page.contains(&format!("\n| `{name}` | ")), "{name}");
    }
}

/// Every settings file in the documents can be used as it stands.
#[test]
fn settings_in_the_documents_can_be_used() {
    let pages = [
        include_str!("../../../../../README.md"),
        include_str!("../../../../../docs/models.md"),
    ];
    let mut n_files = 0;
    for page in pages {
        let blocks = page.split("```toml\n").skip(1);
        let blocks = blocks.map(|rest| rest.split("```").next().unwrap());
        for block in blocks.filter(|block| block.contains("models = [")) {
            n_files += 1;
            let settings = Settings::parse(block, "the document").unwrap();
            settings.check().unwrap();
            let prices = autocomp_llm::PriceTable::built_in();
            for model in settings.models.iter().chain(&settings.coding_models) {
                // Prices of models at an address of one's own are the user's.
                let has_own_prices = settings.asking.prices.is_some() && model.contains('@');
                let spec = model.parse().unwrap();
                assert!(has_own_prices || prices.find(&spec).is_ok(), "{model}");
            }
        }
    }
    assert_eq!(n_files, 3);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let error = |text: &str| {
        let settings = Settings::parse(text, "s.toml").unwrap();
        settings.check().unwrap_err().message
    };
    for (setting, expected) in [
        ("concurrency = 0", "1 or more"),
        ("attempts = 0", "1 or more"),
        ("max_output_tokens = 0", "1 or more"),
        ("timeout_s = 0", "1 or more"),
        ("answer_timeout_s = 0", "1 or more"),
        ("deadline_s = 0", "1 or more"),
        ("failures = 0", "1 or more"),
        ("requests_per_minute = 0", "1 or more"),
        ("temperature = nan", "0 or a number above it"),
        ("temperature = inf", "0 or a number above it"),
        ("temperature = -0.5", "0 or a number above it"),
    ] {
        let name = setting.split(' ').next().unwrap();
        let message = error(&format!("[asking]\n{setting}\n"));
        let words = [&format!("setting `{name}` is "), expected];
        assert!(words.iter().all(|it| message.contains(*it)), "{message}");
    }
    for text in [
        "max_minutes = nan",
        "[budget]\nmax_usd = nan",
        "[search]\nmenu_dropout = nan",
        "[search]\nleast_gain = nan",
        "[search]\nstop_at_percent_of_peak = nan",
    ] {
        assert!(error(text).contains("but must be"), "{text}");
    }
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let error = |text: &str| Settings::parse(text, "s.toml").unwrap_err().to_string();
    insta::assert_snapshot!(error("[search]\nbeem = 2\n"));
    insta::assert_snapshot!(error("seed = \"one\"\n"));
    insta::assert_snapshot!(error("seed = \n"));
}
