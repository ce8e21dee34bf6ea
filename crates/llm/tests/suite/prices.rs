//! Prices of tokens.

use autocomp_core::UsdMicros;
use autocomp_llm::{Price, PriceError, PriceTable, TokenCount};

#[test]
fn each_kind_of_token_has_its_price() {
    let price = Price {
        cached: Some(0.3),
        cache_write: Some(3.75),
        ..Price {
            input: 3.0,
            output: 15.0,
            ..Price::free("anthropic::m")
        }
    };
    let tokens = TokenCount {
        input: 36,
        cached: 64,
        cache_write: 5,
        output: 100,
        reasoning: 40,
    };
    // 108 + 19.2 + 18.75 + 1500 = 1645.95 micro-dollars.
    assert_eq!(price.cost(&tokens), UsdMicros(1646));
    assert_eq!(price.upper_bound(100, 100), UsdMicros(375 + 1500));
}

#[test]
fn the_built_in_table_is_valid_and_unknown_models_are_errors() {
    let table = PriceTable::built_in();
    assert!(!table.prices.is_empty());
    for price in &table.prices {
        assert!(
            price.as_of.len() == 10 && price.source.starts_with("https://"),
            "{price:?}"
        );
        let sellers = ["platform.claude.com", "ai.google.dev", "openai.com"];
        let is_seller = sellers.iter().any(|host| price.source.contains(host));
        assert_eq!(price.first_hand, is_seller, "{price:?}");
    }
    let find = |text: &str| table.find(&text.parse().expect(text));
    assert_eq!(find("vllm::m").map(|price| price.output), Ok(0.0));
    assert!(matches!(
        find("openai::no-such-model"),
        Err(PriceError::Unknown(_))
    ));
    assert!(matches!(
        find("openai@https://proxy/v1::gpt-4o"),
        Err(PriceError::Unknown(_))
    ));
}

#[test]
fn wrong_tables_name_the_place() {
    let row = "version = 1\n[[price]]\nmodel = \"openai::m\"\ninput = 1.0\noutput = -1.0\n\
               as_of = \"2026-01-01\"\nsource = \"x\"\n";
    assert!(matches!(
        PriceTable::parse(row),
        Err(PriceError::Wrong { .. })
    ));
    let message = PriceTable::parse("version = 1\nprise = 2")
        .expect_err("typo")
        .to_string();
    assert!(
        message.contains("line 2") || message.contains("prise"),
        "{message}"
    );
}
