//! What `bench` is given.

use autocomp::inside::{added_kernels, joined, named_path};
use autocomp_catalog::Suite;
use std::path::Path;

#[test]
fn suites_are_joined_and_what_they_share_is_there_once() {
    let suite = |name: &str, problems: &[&str], kernels: &[&str]| Suite {
        name: name.to_owned(),
        description: format!("About {name}"),
        problems: problems.iter().map(|&name| name.to_owned()).collect(),
        kernels: kernels.iter().map(|&name| name.to_owned()).collect(),
    };
    let all = joined(vec![
        suite("a", &["p", "q"], &["baseline", "fsm"]),
        suite("b", &["q", "r"], &["baseline", "expert"]),
    ]);
    assert_eq!(
        all,
        Suite {
            name: "a, b".to_owned(),
            description: "About a; About b".to_owned(),
            ..suite("", &["p", "q", "r"], &["baseline", "fsm", "expert"])
        }
    );
}

#[test]
fn kernels_of_the_user_are_found_by_problem() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("p.c");
    std::fs::write(&file, "void solution() {}").expect("writes");
    let (p, q) = ("g/p".to_owned(), "g/q".to_owned());
    let kernels = ["baseline".to_owned()];
    let add = |name: &str, path: &Path, problems: &[&String]| {
        added_kernels(&[(name.to_owned(), path.to_owned())], problems, &kernels)
    };
    // A folder has kernels for some problems, a file is for the only one.
    let of_folder = add("mine", folder.path(), &[&p, &q]).expect("one is there");
    assert_eq!(of_folder, add("mine", &file, &[&p]).expect("is there"));
    assert_eq!(
        of_folder.keys().collect::<Vec<_>>(),
        [&(p.clone(), "mine".to_owned())]
    );
    for (name, path, problems) in [
        ("baseline", file.as_path(), vec![&p]),
        ("mine", file.as_path(), vec![&p, &q]),
        ("mine", folder.path(), vec![&q]),
        ("mine", Path::new("nowhere.c"), vec![&p]),
    ] {
        let error = add(name, path, &problems).expect_err("cannot be");
        assert!(!error.to_string().is_empty());
    }
    assert!(named_path("mine=a=b.c").is_ok_and(|(_, path)| path == Path::new("a=b.c")));
    assert!(named_path("best.c").is_err() && named_path("=best.c").is_err());
}
