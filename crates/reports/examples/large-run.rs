//! Makes up a run of many kernels, to measure how pages and tables stand it:
//! `cargo run -p autocomp-reports --example large-run -- FOLDER [KERNELS [TEXT]]`. TEXT stands
//! wherever others may write.

#[path = "../tests/suite/synthetic.rs"]
mod synthetic;

fn main() {
    let mut words = std::env::args().skip(1);
    let folder = words.next().expect("a folder");
    let evaluations = words
        .next()
        .map_or(20_000, |it| it.parse().expect("a number"));
    let shape = synthetic::Shape {
        evaluations,
        text: words
            .next()
            .unwrap_or_else(|| "some words that a model has written".to_owned()),
        seed: 1,
    };
    synthetic::write_run(std::path::Path::new(&folder), &shape);
}
