//! The rewriter through the trait that proposers see.

use crate::int8_16;
use autocomp_core::{MenuItem, PlanChoice, RewriteError, Rewriter};
use autocomp_gemmini_rewriter::GemminiRewriter;

const KERNEL: &str = "void solution(int8_t A[32][64], int8_t B[64][64], int8_t C[32][64]) {
    config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
    config_st(64);
    config_ld(64, 1.0f, 16, 0);
    for (int i = 0; i < 2; i++) {
        mvin(&A[16 * i][0], 0, 64, 16);
        for (int k = 0; k < 4; k++) { mvin(&B[16 * k][0], 1024 + 64 * k, 64, 16); }
        for (int k = 0; k < 4; k++) {
            for (int j = 0; j < 4; j++) {
                preload(1024 + 64 * k + 16 * j, (k == 0 ? 0x80000000 : 0xc0000000) + 16 * j, 16, 16, 16, 16);
                compute_preloaded(16 * k, 0xffffffff, 16, 16, 16, 16);
            }
        }
        for (int j = 0; j < 4; j++) { mvout(&C[16 * i][16 * j], 0x80000000 + 16 * j, 16, 16); }
    }
    fence();
}";

fn rewriter() -> GemminiRewriter {
    GemminiRewriter::new(int8_16())
}

fn menu() -> [MenuItem; 1] {
    [MenuItem {
        id: MenuItem::OTHER.to_owned(),
        text: String::new(),
        ..MenuItem::default()
    }]
}

fn choice(menu: &[MenuItem], plan: u32) -> PlanChoice<'_> {
    PlanChoice {
        menu,
        iteration: 1,
        place: 0,
        plan,
        earlier: &[],
    }
}

#[test]
fn plans_differ_and_repeat() {
    let (rewriter, menu) = (rewriter(), menu());
    let mut sources = vec![KERNEL.to_owned()];
    for idx in 0..3 {
        let plan = rewriter.plan(KERNEL, choice(&menu, idx)).expect("a plan");
        let again = self::rewriter().plan(KERNEL, choice(&menu, idx));
        assert_eq!(again.expect("a plan"), plan);
        assert!(!plan.text.is_empty());
        // It says what it is, though the menu shown names nothing of the kind.
        assert_ne!(plan.menu_item, MenuItem::OTHER);
        let draft = rewriter
            .implement(KERNEL, &plan.payload, 0)
            .expect("a draft");
        assert!(!sources.contains(&draft));
        sources.push(draft);
    }
}

#[test]
fn a_schedule_comes_first_and_can_be_changed_again() {
    let (rewriter, menu) = (rewriter(), menu());
    let plan = rewriter.plan(KERNEL, choice(&menu, 0)).expect("a plan");
    assert_eq!(plan.menu_item, "hardware-loop");
    let draft = rewriter
        .implement(KERNEL, &plan.payload, 0)
        .expect("a draft");
    assert!(draft.contains("gemmini_loop_ws("), "{draft}");
    let next = rewriter.plan(&draft, choice(&menu, 0)).expect("a plan");
    let other = rewriter
        .implement(&draft, &next.payload, 0)
        .expect("a draft");
    assert!(other.contains("gemmini_loop_ws("), "{other}");
    let wrong = r#"{"drafts":[[9]]}"#;
    assert!(rewriter.implement(KERNEL, wrong, 0).is_err());
}

#[test]
fn a_script_is_carried_out_as_it_is() {
    let rewriter = rewriter();
    let format = rewriter.script_format().expect("scripts");
    let offered = rewriter.scripts(KERNEL, 5);
    assert_eq!(offered.len(), 5, "{offered:?}");
    for (script, text) in &offered {
        assert!(!text.is_empty());
        let payload = rewriter.of_script(KERNEL, script).expect("it applies");
        let draft = rewriter.implement(KERNEL, &payload, 0).expect("a draft");
        assert_ne!(draft, KERNEL);
    }
    // With numbers of one's own.
    assert!(format.contains("`reschedule`"));
    let own = r#"[{"transformation": "reschedule", "parameters": [1, 2, 4, 1, 0, 1]}]"#;
    let payload = rewriter.of_script(KERNEL, own).expect("it applies");
    let draft = rewriter.implement(KERNEL, &payload, 0).expect("a draft");
    assert!(draft.contains("gemmini_loop_ws(1, 2, 4,"), "{draft}");
    for (script, why) in [
        ("reschedule", "the script is not a list of steps"),
        ("[]", "the script has 0 steps, and one is needed"),
        (
            r#"[{"transformation": "vanish"}]"#,
            "there is no transformation `vanish`; there is reschedule",
        ),
        (
            r#"[{"transformation": "reschedule", "parameters": [64, 64, 64, 0, 0, 0]}]"#,
            "the step of the script does not apply",
        ),
        (
            r#"[{"transformation": "reschedule", "at": [9]}]"#,
            "the script is not a list of steps: unknown field `at`",
        ),
    ] {
        let error = rewriter.of_script(KERNEL, script).expect_err(script);
        assert!(error.to_string().starts_with(why), "{error}");
    }
}

#[test]
fn nothing_to_say_about_what_is_no_kernel() {
    let menu = menu();
    for kernel in [
        "",
        "int main() { return 0; }",
        "void solution() { while (1) f(); }",
    ] {
        let error = rewriter()
            .plan(kernel, choice(&menu, 0))
            .expect_err("no plan");
        assert!(matches!(
            error,
            RewriteError::Nothing | RewriteError::NotUnderstood(_)
        ));
    }
}
