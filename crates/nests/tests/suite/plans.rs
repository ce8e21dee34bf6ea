//! Plans: equal requests have equal replies, and what is not understood is said.

use autocomp_core::{EarlierDraft, MenuItem, PlanChoice, RewriteError, Rewriter};
use autocomp_nests::{Dots, NestRewriter, Resources};

const PLAIN_MATRICES: &str = "void solution(float A[37][29], float B[29][83], float C[37][83]) {
  for (int i = 0; i < 37; i++) {
    for (int j = 0; j < 83; j++) {
      float sum = 0.0f;
      for (int k = 0; k < 29; k++) {
        sum += A[i][k] * B[k][j];
      }
      C[i][j] = sum;
    }
  }
}
";

fn menu() -> Vec<MenuItem> {
    [
        "vectorize",
        "register-tiling",
        "cache-tiling",
        "packing",
        "loop-interchange",
        "unroll",
        "unroll-and-jam",
        "more-sums",
        "int8-dot-products",
        "transpose-in-registers",
        "private-copies",
        "other",
    ]
    .map(|id| MenuItem {
        id: id.into(),
        ..MenuItem::default()
    })
    .to_vec()
}

fn choice(menu: &[MenuItem], iteration: u32, plan: u32) -> PlanChoice<'_> {
    PlanChoice {
        menu,
        iteration,
        place: 0,
        plan,
        earlier: &[],
    }
}

fn resources() -> Resources {
    Resources {
        lanes: 8,
        registers: 16,
        grouped: false,
        strides: false,
        lengths: false,
        fused: false,
        dots: vec![Dots::Words],
        no_divisors: Vec::new(),
    }
}

fn rewriter() -> NestRewriter {
    NestRewriter::new(resources())
}

#[test]
fn equal_requests_have_equal_replies_and_plans_differ() {
    let rewriter = rewriter();
    let menu = menu();
    let plans: Vec<_> = (0..6)
        .map(|plan| {
            rewriter
                .plan(PLAIN_MATRICES, choice(&menu, 0, plan))
                .expect("a plan")
        })
        .collect();
    for (idx, plan) in plans.iter().enumerate() {
        let again = rewriter.plan(PLAIN_MATRICES, choice(&menu, 0, idx as u32));
        assert_eq!(again.as_ref(), Ok(plan));
        assert!(
            plans[..idx]
                .iter()
                .all(|other| other.payload != plan.payload)
        );
        assert!(menu.iter().any(|item| item.id == plan.menu_item));
    }
}

#[test]
fn iterations_that_begin_at_the_same_kernel_go_on_behind_what_was_asked_for() {
    let sums = "void solution(int32_t x[32][128], int32_t y[32][128]) {
  for (int i = 0; i < 32; i++) {
    int sum = 0;
    for (int j = 0; j < 128; j++) {
      sum += x[i][j];
      y[i][j] = sum;
    }
  }
}
";
    let (rewriter, menu) = (rewriter(), menu());
    for (source, item) in [
        (sums, "unroll-and-jam"),
        (PLAIN_MATRICES, "register-tiling"),
    ] {
        let mut earlier: Vec<EarlierDraft> = Vec::new();
        let (mut made, mut items) = (Vec::new(), Vec::new());
        for iteration in 1..=4 {
            let plans = (0..6).map_while(|plan| {
                let choice = PlanChoice {
                    earlier: &earlier,
                    ..choice(&menu, iteration, plan)
                };
                rewriter.plan(source, choice).ok()
            });
            let plans: Vec<_> = plans.collect();
            for plan in &plans {
                let draft = rewriter.implement(source, &plan.payload, 0);
                made.push(draft.expect("a kernel"));
            }
            earlier.extend(plans.iter().map(|plan| EarlierDraft {
                failed_on: None,
                is_wrong: false,
                payload: plan.payload.clone(),
                draft: 0,
            }));
            items.extend(plans.into_iter().map(|plan| plan.menu_item));
        }
        let n_made = made.len();
        assert!(2 * 6 < n_made);
        made.sort();
        made.dedup();
        assert_eq!(made.len(), n_made);
        assert!(items.iter().any(|it| it == item), "{items:?}");
    }
}

/// Returns the first of 40 plans whose text has `words`, carried out.
fn with_words(rewriter: &NestRewriter, source: &str, words: &str) -> Option<String> {
    let menu = menu();
    let mut plans = (0..40).map_while(|plan| rewriter.plan(source, choice(&menu, 0, plan)).ok());
    let plan = plans.find(|plan| plan.text.contains(words))?;
    Some(
        rewriter
            .implement(source, &plan.payload, 0)
            .expect("a kernel"),
    )
}

#[test]
fn four_iterations_are_written_out_once_eight_are() {
    let rewriter = rewriter();
    let [eight, four] =
        [8, 4].map(|count| format!("Write out {count} iterations of the innermost loop."));
    assert_eq!(with_words(&rewriter, PLAIN_MATRICES, &four), None);
    let longer = with_words(&rewriter, PLAIN_MATRICES, &eight).expect("eight of them");
    let fewer = with_words(&rewriter, &longer, &four).expect("four of them");
    for (made, count, other) in [(&longer, 8, 4), (&fewer, 4, 8)] {
        let pragma = |count| format!("#pragma unroll {count}\n");
        assert!(made.contains(&pragma(count)), "{made}");
        // What else is changed behind it leaves them, or writes out none.
        let menu = menu();
        let plans = (0..40).map_while(|plan| rewriter.plan(made, choice(&menu, 0, plan)).ok());
        for plan in plans.filter(|it| !it.text.contains(&four)) {
            let next = rewriter.implement(made, &plan.payload, 0);
            assert!(!next.expect("a kernel").contains(&pragma(other)));
        }
    }
}

#[test]
fn what_is_not_understood_is_named_and_told_to_the_compiler() {
    let rewriter = rewriter();
    let menu = menu();
    let ends_elsewhere = "void solution(float X[8], float Y[8]) {\n  for (int i = 0; i < 8; i++) {\n    for (int j = 0; X[j] > 0; j++) Y[j] += X[i];\n  }\n}\n";
    let named = rewriter.not_understood(ends_elsewhere);
    assert_eq!(named[0].line, 3, "{named:?}");
    // Read, but each iteration needs the one before.
    let chain = "void solution(float X[8], float Y[8]) {\n  for (int i = 1; i < 8; i++) {\n    Y[i] = Y[i - 1] * X[i];\n  }\n}\n";
    assert!(rewriter.not_understood(chain).is_empty());
    for source in [ends_elsewhere, chain] {
        let mut made = Vec::new();
        for plan in 0.. {
            let planned = match rewriter.plan(source, choice(&menu, 0, plan)) {
                Ok(planned) => planned,
                Err(error) => {
                    assert_eq!(error, RewriteError::Nothing);
                    break;
                }
            };
            assert!(planned.text.starts_with("Tell the compiler that buffers"));
            assert!(menu.iter().any(|item| item.id == planned.menu_item));
            let text = rewriter.implement(source, &planned.payload, 0);
            made.push(text.expect("a kernel"));
            let second = rewriter.implement(source, &planned.payload, 1);
            assert_eq!(second, Err(RewriteError::Nothing));
        }
        assert!(2 < made.len());
        for text in &made {
            assert!(text.contains("float X[restrict 8]"), "{text}");
        }
        made.sort();
        made.dedup();
        assert!(2 < made.len());
    }
}

#[test]
fn kernels_that_do_not_parse_or_were_changed_are_left_alone_with_a_reason() {
    let rewriter = rewriter();
    let menu = menu();
    let reason = |source: &str| match rewriter.plan(source, choice(&menu, 0, 0)) {
        Err(RewriteError::NotUnderstood(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert!(reason("int x = ;").contains("parse"));
    let planned = rewriter
        .plan(PLAIN_MATRICES, choice(&menu, 0, 0))
        .expect("a plan");
    let made = rewriter
        .implement(PLAIN_MATRICES, &planned.payload, 0)
        .expect("a kernel");
    let changed = made.replace("for (int i = 0", "for (int i  = 0");
    assert!(reason(&changed).contains("changed"));
}

const RUNNING_SUMS: &str = "void solution(int32_t x[32][128], int32_t y[32][128]) {
  for (int i = 0; i < 32; i++) {
    int sum = 0;
    for (int j = 0; j < 128; j++) {
      sum += x[i][j];
      y[i][j] = sum;
    }
  }
}
";

#[test]
fn running_sums_in_groups_of_registers_come_behind_rows_side_by_side() {
    let first = |grouped: bool| {
        let rewriter = NestRewriter::new(Resources {
            lanes: 16,
            registers: 8,
            grouped,
            strides: grouped,
            lengths: false,
            fused: false,
            dots: Vec::new(),
            no_divisors: Vec::new(),
        });
        let menu = menu();
        let plan = rewriter.plan(RUNNING_SUMS, choice(&menu, 1, 0));
        let plan = plan.expect("a plan");
        let draft = rewriter.implement(RUNNING_SUMS, &plan.payload, 0);
        (plan.menu_item, draft.expect("a draft"))
    };
    assert_eq!(first(false).0, "vectorize");
    let (item, draft) = first(true);
    assert_eq!(item, "unroll-and-jam");
    // No load of an iteration waits behind the store of another one.
    let loads = draft.match_indices("+= x[");
    let last = loads.last().expect("loads").0;
    let store = draft
        .rfind("int j")
        .and_then(|at| Some(at + draft[at..].find("y[")?));
    assert!(last < store.expect("stores"), "{draft}");
}

#[test]
fn polynomials_are_fused_where_that_pays() {
    let powers = "void solution(float x[1024], float y[1024]) {
  for (int i = 0; i < 1024; i++) y[i] = expf(x[i]);
}
";
    for fused in [false, true] {
        let rewriter = NestRewriter::new(Resources {
            fused,
            ..resources()
        });
        let menu = menu();
        let plan = rewriter.plan(powers, choice(&menu, 1, 0)).expect("a plan");
        let draft = rewriter.implement(powers, &plan.payload, 0);
        let draft = draft.expect("a draft");
        assert!(draft.contains("each_step_"), "{draft}");
        assert_eq!(draft.contains("#pragma clang fp contract(off)"), !fused);
        // It is read back as it was made.
        assert!(rewriter.not_understood(&draft).is_empty());
    }
}

const QUOTIENTS: &str = "void solution(float x[1024], float y[1024], float z[1024]) {
  for (int i = 0; i < 1024; i++) z[i] = x[i] / (y[i] * 3.0f);
}
";

/// Returns the payloads of the first plans that multiply by reciprocals.
fn with_reciprocals(rewriter: &NestRewriter, earlier: &[EarlierDraft]) -> Vec<String> {
    let menu = menu();
    let plans = (0..12).map_while(|plan| {
        let choice = PlanChoice {
            earlier,
            ..choice(&menu, 1, plan)
        };
        rewriter.plan(QUOTIENTS, choice).ok()
    });
    let payloads = plans.map(|it| it.payload);
    payloads
        .filter(|it| it.contains("\"reciprocals\":true"))
        .collect()
}

#[test]
fn reciprocals_that_left_wrong_results_are_not_asked_for_again() {
    let rewriter = rewriter();
    let asked = with_reciprocals(&rewriter, &[]);
    let payload = asked.first().expect("a plan with reciprocals");
    let drafts = payload.matches("reciprocals").count() as u32;
    let earlier = |failed_on: Option<&str>, is_wrong: bool| -> Vec<EarlierDraft> {
        let draft = |draft| EarlierDraft {
            failed_on: failed_on.map(Into::into),
            is_wrong,
            payload: payload.clone(),
            draft,
        };
        (0..drafts).map(draft).collect()
    };
    for failed_on in [None, Some("void solution() {}\n")] {
        assert!(with_reciprocals(&rewriter, &earlier(failed_on, true)).is_empty());
        assert!(!with_reciprocals(&rewriter, &earlier(failed_on, false)).is_empty());
    }
}

#[test]
fn inputs_that_hold_zeros_are_divided_by() {
    for (input, is_asked) in [("x", true), ("y", false)] {
        let rewriter = NestRewriter::new(Resources {
            no_divisors: vec![input.to_owned()],
            ..resources()
        });
        assert_eq!(
            !with_reciprocals(&rewriter, &[]).is_empty(),
            is_asked,
            "{input}"
        );
    }
}
