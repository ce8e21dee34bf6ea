//! What language models do beside plans, code and repairs.

use crate::attempts::in_one_line;
use crate::code_reply::{extract_kernel, normalize};
use crate::complaint::Complaint;
use crate::feedback::shortened;
use crate::json_reply;
use crate::llm_proposer::{LlmProposer, draft_of, draft_slot, label, plan_slot, slot_of, version};
use crate::plan_reply::{choice_in, not_in_menu, resolve};
use crate::prompt::{Phase, PromptInput};
use crate::proposer::{
    Ancestor, IdeasRequest, ImplementRequest, OtherKernel, PlanRequest, ProposeError, Reply, Tried,
};
use autocomp_core::{Draft, Evaluation, Lesson, MenuItem, Plan, PlanKind, Scope, Seed, TaskKey};
use autocomp_llm::ReplySchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The shortest text that says what to do, in bytes.
const SHORTEST_ITEM: usize = 15;
/// The longest text of a menu item, in bytes.
const LONGEST_ITEM: usize = 1000;
/// The longest condition of a menu item, in characters.
const LONGEST_CONDITION: usize = 300;
/// Who wrote a plan that leaves the choice to whoever writes the code.
const DIRECT: &str = "direct";

/// Who wrote a plan that says no more than that two kernels are combined.
const COMBINATION: &str = "combination";

/// The longest analysis that is passed on, in bytes.
const LONGEST_ANALYSIS: usize = 16 << 10;

#[derive(Deserialize)]
struct ItemList {
    items: Vec<WrittenItem>,
}

/// A menu item as models write it.
#[derive(Deserialize)]
struct WrittenItem {
    id: String,
    text: String,
    #[serde(default)]
    applies_when: String,
}

/// What a plan carries that leaves the choice to whoever writes the code.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DirectTask {
    menu: Vec<MenuItem>,
    /// Number of the request among those that ask the same.
    #[serde(default)]
    number: u32,
    iterations: u32,
    /// What a plan would have been told.
    #[serde(default)]
    ancestors: Vec<Ancestor>,
    #[serde(default)]
    tried: Vec<Tried>,
    #[serde(default)]
    lessons: Vec<Lesson>,
}

/// Returns the plan that leaves the choice to whoever writes the code.
pub(crate) fn undecided(request: &PlanRequest, told: &PromptInput<'_>) -> Plan {
    let task = DirectTask {
        menu: request.menu.clone(),
        number: request.number,
        iterations: request.iterations,
        ancestors: told.ancestors.to_vec(),
        tried: told.tried.to_vec(),
        lessons: told.lessons.to_vec(),
    };
    Plan {
        menu_item: MenuItem::OTHER.to_owned(),
        text: include_str!("../templates/undecided.txt").trim().to_owned(),
        payload: serde_json::to_string(&task).expect("menus are plain data"),
        proposer: DIRECT.to_owned(),
    }
}

/// Returns the plan that two kernels are combined: what that means is the menu
/// item's to say.
pub(crate) fn combination(request: &PlanRequest) -> Plan {
    let item = request.menu.first();
    Plan {
        menu_item: item.map_or_else(String::new, |item| item.id.clone()),
        text: item.map_or_else(String::new, |item| item.text.clone()),
        payload: String::new(),
        proposer: COMBINATION.to_owned(),
    }
}

/// Returns what such a plan carries.
pub(crate) fn decided_later(plan: &Plan) -> Option<DirectTask> {
    if plan.proposer != DIRECT {
        return None;
    }
    serde_json::from_str(&plan.payload).ok()
}

impl LlmProposer {
    /// Improves a kernel in one step, without a plan; the plan that comes with
    /// the draft holds the chosen menu item only.
    ///
    /// # Errors
    /// A [`ProposeError`] if there is no draft; see its kinds.
    pub async fn direct(
        &self,
        request: &PlanRequest,
    ) -> Result<Reply<(Plan, Draft)>, ProposeError> {
        let input = self.plan_input(request);
        let prompt = |_| self.render(Phase::Direct, &input);
        let parse = |text: &str| {
            let source = extract_kernel(text, self.facts.syntax, &self.facts.entry)?;
            let value = text.lines().find_map(choice_in);
            let value = value.ok_or_else(|| Complaint::of("no-choice", &[]))?;
            let item =
                resolve(value, &request.menu).ok_or_else(|| not_in_menu(value, &request.menu))?;
            Ok((item.id.clone(), source))
        };
        let turn = draft_slot(&request.key, self.coders().members().len());
        let slot = slot_of(self.coders(), request.first_asked.as_deref(), turn);
        let reply = self
            .ask(
                &label(Phase::Direct, &request.key),
                (self.coders(), slot),
                prompt,
                None,
                parse,
            )
            .await?;
        let ((menu_item, source), proposer) = reply.value;
        let plan = Plan {
            menu_item,
            text: String::new(),
            payload: String::new(),
            proposer: proposer.clone(),
        };
        Ok(Reply {
            value: (plan, Draft { source, proposer }),
            exchanges: reply.exchanges,
        })
    }

    /// Carries out a plan that leaves the choice to whoever writes the code.
    pub(crate) async fn implement_directly(
        &self,
        request: &ImplementRequest,
        task: &DirectTask,
    ) -> Result<Reply<Draft>, ProposeError> {
        let request = PlanRequest {
            key: request.key,
            place: request.key.parent,
            number: task.number,
            seed: request.seed,
            iterations: task.iterations,
            kernel: request.kernel.clone(),
            evaluation: request.evaluation.clone(),
            ancestors: task.ancestors.clone().into(),
            tried: task.tried.clone().into(),
            earlier: [].into(),
            lessons: task.lessons.clone().into(),
            first_asked: request.first_asked.clone(),
            kind: PlanKind::Step,
            menu: task.menu.clone(),
            hidden: Vec::new(),
            other: None,
            reused: None,
        };
        let reply = self.direct(&request).await?;
        Ok(Reply {
            value: reply.value.1,
            exchanges: reply.exchanges,
        })
    }

    /// Carries out a plan that two kernels are combined.
    pub(crate) async fn implement_combination(
        &self,
        request: &ImplementRequest,
        other: &OtherKernel,
    ) -> Result<Reply<Draft>, ProposeError> {
        let first = (&*request.kernel, &*request.evaluation);
        let second = (&*other.kernel, &other.evaluation);
        self.combine(&request.key, request.seed, first, second)
            .await
    }

    /// Writes one kernel from two correct ones.
    ///
    /// # Errors
    /// A [`ProposeError`] if there is no draft; see its kinds.
    pub async fn combine(
        &self,
        key: &TaskKey,
        seed: Seed,
        first: (&str, &Evaluation),
        second: (&str, &Evaluation),
    ) -> Result<Reply<Draft>, ProposeError> {
        let input = PromptInput {
            other: Some((second.0, second.1.cost().map(|cost| cost.value))),
            version: version(0, key.draft),
            ..PromptInput::new(first.0, Some(first.1), seed)
        };
        let prompt = |_| self.render(Phase::Combine, &input);
        let parse = |text: &str| extract_kernel(text, self.facts.syntax, &self.facts.entry);
        let slot = draft_slot(key, self.coders().members().len());
        self.ask(
            &label(Phase::Combine, key),
            (self.coders(), slot),
            prompt,
            None,
            parse,
        )
        .await
        .map(draft_of)
    }

    /// Writes a first kernel from the problem's reference.
    ///
    /// # Errors
    /// A [`ProposeError`] if there is no draft; see its kinds.
    pub async fn translate(
        &self,
        key: &TaskKey,
        seed: Seed,
        reference: &str,
    ) -> Result<Reply<Draft>, ProposeError> {
        let input = PromptInput::new(reference, None, seed);
        let prompt = |_| self.render(Phase::Translate, &input);
        let parse = |text: &str| extract_kernel(text, self.facts.syntax, &self.facts.entry);
        let slot = draft_slot(key, self.coders().members().len());
        self.ask(
            &label(Phase::Translate, key),
            (self.coders(), slot),
            prompt,
            None,
            parse,
        )
        .await
        .map(draft_of)
    }

    /// Says in words what limits a kernel.
    ///
    /// # Errors
    /// A [`ProposeError`] if there is no analysis; see its kinds.
    pub async fn analyze(
        &self,
        key: &TaskKey,
        seed: Seed,
        kernel: &str,
        evaluation: &Evaluation,
    ) -> Result<Reply<String>, ProposeError> {
        let input = PromptInput::new(kernel, Some(evaluation), seed);
        let prompt = |_| self.render(Phase::Analyze, &input);
        let parse = |text: &str| {
            let text = normalize(text)?.trim().to_owned();
            match text.len() {
                0 => Err(Complaint::of("empty", &[])),
                length if LONGEST_ANALYSIS < length => Err(Complaint::of("analysis-too-long", &[])),
                _ => Ok(text),
            }
        };
        let reply = self
            .ask(
                &label(Phase::Analyze, key),
                (self.planners(), plan_slot(key)),
                prompt,
                None,
                parse,
            )
            .await?;
        Ok(Reply {
            value: reply.value.0,
            exchanges: reply.exchanges,
        })
    }

    /// Writes further menu items for a kernel, none of which the menu has.
    ///
    /// # Errors
    /// A [`ProposeError`] if there are none; see its kinds.
    pub async fn generate_menu(
        &self,
        request: &IdeasRequest,
    ) -> Result<Reply<Vec<MenuItem>>, ProposeError> {
        let input = PromptInput {
            menu: &request.menu,
            count: request.count,
            ..PromptInput::new(&request.kernel, Some(&*request.evaluation), request.seed)
        };
        let prompt = |_| self.render(Phase::Menu, &input);
        let parse = |text: &str| {
            let mut items = parse_menu(text, &request.menu)?;
            items.truncate(request.count);
            Ok(items)
        };
        let reply = self
            .ask(
                &label(Phase::Menu, &request.key),
                (self.planners(), plan_slot(&request.key)),
                prompt,
                Some(&menu_schema()),
                parse,
            )
            .await?;
        Ok(Reply {
            value: reply.value.0,
            exchanges: reply.exchanges,
        })
    }
}

/// Returns the form of a reply with menu items.
fn menu_schema() -> ReplySchema {
    let text = json!({ "type": "string" });
    ReplySchema {
        name: "menu_items".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "items": { "type": "array", "items": {
                "type": "object",
                "properties": { "id": text, "text": text, "applies_when": text },
                "required": ["id", "text", "applies_when"],
                "additionalProperties": false,
            } } },
            "required": ["items"],
            "additionalProperties": false,
        }),
    }
}

/// Finds new menu items in a reply.
///
/// # Errors
/// A [`Complaint`] that says precisely what is wrong.
pub fn parse_menu(reply: &str, menu: &[MenuItem]) -> Result<Vec<MenuItem>, Complaint> {
    let text = normalize(reply)?;
    let mut lists = json_reply::find::<ItemList>(&text);
    if lists.is_empty() {
        // A list of items, or one item, without the object around it.
        let items = json_reply::find(&text);
        if !items.is_empty() {
            lists.push(ItemList { items });
        }
    }
    let Some(list) = lists.into_iter().next() else {
        return Err(match json_reply::fields(&text) {
            Some(fields) => Complaint::of(
                "json-without",
                &[
                    ("fields", &fields),
                    ("wanted", "`items` with `id` and `text`"),
                ],
            ),
            None if text.contains('{') => Complaint::of("json-broken", &[]),
            None => Complaint::of("not-json", &[]),
        });
    };
    let mut items: Vec<MenuItem> = Vec::new();
    for item in list.items {
        let is_kebab = !item.id.is_empty()
            && item.id.len() <= 60
            && item
                .id
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if !is_kebab {
            let name = format!("{:?}", item.id);
            return Err(Complaint::of("item-name", &[("name", &name)]));
        }
        if !(SHORTEST_ITEM..=LONGEST_ITEM).contains(&item.text.len()) {
            let name = format!("{:?}", item.id);
            return Err(Complaint::of("item-length", &[("name", &name)]));
        }
        let known = menu.iter().chain(&items).any(|other| other.id == item.id);
        if !known {
            // They go into other prompts: one line each, and nothing else.
            items.push(MenuItem {
                id: item.id,
                text: in_one_line(&item.text),
                applies_when: shortened(&in_one_line(&item.applies_when), LONGEST_CONDITION),
                scope: Scope::Idea,
                ..MenuItem::default()
            });
        }
    }
    if items.is_empty() {
        return Err(Complaint::of("no-new-item", &[]));
    }
    Ok(items)
}
