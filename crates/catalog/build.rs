//! Rebuilds the crate when a built-in folder gains or loses a file.

fn main() {
    for folder in ["../../targets", "../../problems", "../../suites"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}
