//! The course of a build: passages are routed, parts written, checked and merged.

use crate::asking::{Asking, NoAnswer};
use crate::assembly::Assembly;
use crate::documents::{Documents, Passage};
use crate::estimate::{Estimate, PARTS_PER_PASSAGE, ROUTE_TOKENS};
use crate::part::Part;
use crate::prompt::Prompts;
use crate::quotation::{Flaw, plain};
use crate::record::{Record, RecordError};
use crate::statement::Statement;
use autocomp_agents::json_in_reply;
use autocomp_llm::{ModelSet, Request};
use futures::StreamExt as _;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of passages in a request that routes them.
const ROUTED_AT_ONCE: usize = 24 << 10;
/// Bytes of passages in a request for statements.
const WRITTEN_AT_ONCE: usize = 40 << 10;
/// Requests under way at a time, however many each provider takes.
const AT_A_TIME: usize = 16;
/// Names of parameters that are asked for at most.
const MOST_PARAMETERS: usize = 250;

/// What is built.
#[derive(Clone, Debug)]
pub struct BuilderSettings {
    /// What is wanted, in a sentence or two.
    pub scope: String,
    /// The language of kernels, for people.
    pub language: String,
    /// Parts that are asked for; of others only stored replies count.
    pub parts: Vec<Part>,
    /// Whether these are asked for anew, stored replies or not.
    pub again: bool,
    /// Names of the parameters of the machine.
    pub parameters: Vec<String>,
    /// Items of a menu that examples may show if the documents give none.
    pub menu: Vec<String>,
    /// The most tokens of a reply.
    pub max_output_tokens: u32,
}

/// How far a build is.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The request that has ended.
    pub label: String,
    /// Requests of this stage that have ended, and all of them.
    pub done: usize,
    /// The second.
    pub of: usize,
}

/// What was built.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The statements.
    pub assembly: Assembly,
    /// How many passages are of use for each part.
    pub routed: BTreeMap<Part, usize>,
    /// Parts for which there is no reply, since they are not among those that are asked for.
    pub not_asked: BTreeSet<Part>,
}

/// What is missing.
#[derive(Clone, Debug)]
pub struct Incomplete {
    /// Requests that were answered.
    pub answered: usize,
    /// Why others were not, by what they ask for.
    pub failures: Vec<(String, String)>,
    /// Whether a cap is the reason.
    pub is_capped: bool,
}

/// A build did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Some requests were not answered; those that were are kept.
    #[error("{} requests were not answered", .0.failures.len())]
    Incomplete(Incomplete),
    /// The record cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Builds what is known of a target.
pub struct Builder<'a> {
    settings: &'a BuilderSettings,
    documents: &'a Documents,
    record: &'a Record,
    prompts: Prompts,
}

/// Requests for statements of a part, with the passages that each shows.
type Batches<'a> = Vec<(Request, Vec<&'a Passage>)>;

#[derive(Deserialize)]
struct Routes {
    routes: Vec<Route>,
}

#[derive(Deserialize)]
struct Route {
    id: String,
    #[serde(default)]
    parts: Vec<String>,
}

#[derive(Deserialize)]
struct Statements {
    statements: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Keep {
    keep: Vec<usize>,
}

impl<'a> Builder<'a> {
    /// Creates a builder.
    #[must_use]
    pub fn new(
        settings: &'a BuilderSettings,
        documents: &'a Documents,
        record: &'a Record,
    ) -> Self {
        Self {
            settings,
            documents,
            record,
            prompts: Prompts::new(
                &settings.scope,
                &settings.language,
                settings.max_output_tokens,
            ),
        }
    }

    fn is_asked(&self, part: Part) -> bool {
        self.settings.parts.contains(&part)
    }

    /// Returns the requests that route all passages.
    fn routing(&self) -> Batches<'a> {
        let all: Vec<&Passage> = self.documents.passages.iter().collect();
        let batches = batches(&all, ROUTED_AT_ONCE).into_iter().enumerate();
        batches
            .map(|(idx, of)| (self.prompts.route(idx + 1, &of), of))
            .collect()
    }

    /// Returns the requests for a part of which these passages are of use.
    fn writing(&self, part: Part, of: &[&'a Passage], items: &str) -> Batches<'a> {
        let parameters: Vec<&str> = self
            .settings
            .parameters
            .iter()
            .take(MOST_PARAMETERS)
            .map(String::as_str)
            .collect();
        if part == Part::Figures && parameters.is_empty() {
            return Vec::new();
        }
        let parameters = parameters.join(", ");
        let batches = batches(of, WRITTEN_AT_ONCE).into_iter().enumerate();
        batches
            .map(|(idx, of)| {
                let request = self.prompts.write((part, idx + 1), &of, items, &parameters);
                (request, of)
            })
            .collect()
    }

    /// Returns what is left to be asked, and what that costs.
    #[must_use]
    pub fn estimate(&self, models: &ModelSet) -> Estimate {
        let mut estimate = Estimate::default();
        let mut routed: BTreeMap<Part, Vec<&Passage>> = BTreeMap::new();
        let mut is_routed = true;
        for (request, of) in self.routing() {
            let stored = self.record.reply(&request);
            match stored.and_then(|it| routes(&it.reply).ok()) {
                Some(routes) => add_routes(&mut routed, &of, &routes),
                None => {
                    is_routed = false;
                    estimate.add(&request, 1.0, of.len() as u64 * ROUTE_TOKENS);
                }
            }
        }
        let all: Vec<&Passage> = self.documents.passages.iter().collect();
        for part in Part::ALL.into_iter().filter(|it| self.is_asked(*it)) {
            let (of, share) = match is_routed {
                true => (routed.remove(&part).unwrap_or_default(), 1.0),
                false => (all.clone(), PARTS_PER_PASSAGE / Part::ALL.len() as f64),
            };
            let mut n_batches = 0.0;
            for (request, _) in self.writing(part, &of, "") {
                // Examples name the menu, which is not known: they are never found here.
                if self.settings.again || self.record.reply(&request).is_none() {
                    estimate.add(&request, share, Estimate::statements(&request));
                    n_batches += share;
                }
            }
            if 0.0 < n_batches && n_batches < 1.0 {
                // A few passages take a request of their own, too.
                estimate.requests.expected += 1.0 - n_batches;
            }
            if part.is_merged() && 1.0 < n_batches {
                let request = self.prompts.merge(part, &[]);
                estimate.add(&request, 1.0, 400);
            }
        }
        estimate.price(models);
        estimate
    }

    /// Builds. Requests whose replies are stored are not made again.
    ///
    /// # Errors
    /// A [`BuildError`]; what was answered is kept, and a second build asks for the rest.
    pub async fn build(
        &self,
        models: &ModelSet,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Built, BuildError> {
        let asking = Asking {
            models,
            record: self.record,
            prompts: &self.prompts,
        };
        let mut built = Built::default();
        let mut left = Incomplete {
            answered: 0,
            failures: Vec::new(),
            is_capped: false,
        };
        let mut routed: BTreeMap<Part, Vec<&Passage>> = BTreeMap::new();
        let routing = self.routing();
        let requests: Vec<(&Request, bool)> = routing.iter().map(|it| (&it.0, true)).collect();
        let answers = all(&asking, &requests, &routes, progress).await;
        for ((request, of), answer) in routing.iter().zip(answers) {
            if let Some(routes) = taken(request, answer, &mut left)? {
                add_routes(&mut routed, of, &routes);
            }
        }
        // What is not routed would be missing from every part.
        if !left.failures.is_empty() {
            return Err(BuildError::Incomplete(left));
        }
        for (part, of) in &routed {
            built.routed.insert(*part, of.len());
        }
        let of = |part: Part| routed.get(&part).cloned().unwrap_or_default();
        let first = Part::ALL.into_iter().filter(|it| *it != Part::Examples);
        let writing: Vec<(Part, Batches<'_>)> = first
            .map(|part| (part, self.writing(part, &of(part), "")))
            .collect();
        self.written(&asking, writing, &mut built, &mut left, progress)
            .await?;
        // Examples show items of the menu, which is known now.
        let mut items: Vec<String> = built.assembly.menu().into_iter().map(|it| it.id).collect();
        if items.is_empty() {
            items.clone_from(&self.settings.menu);
        }
        if !items.is_empty() && left.failures.is_empty() {
            let examples = self.writing(Part::Examples, &of(Part::Examples), &items.join(", "));
            self.written(
                &asking,
                vec![(Part::Examples, examples)],
                &mut built,
                &mut left,
                progress,
            )
            .await?;
        }
        match left.failures.is_empty() {
            true => Ok(built),
            false => Err(BuildError::Incomplete(left)),
        }
    }

    /// Has parts written, and merges each.
    async fn written(
        &self,
        asking: &Asking<'_>,
        writing: Vec<(Part, Batches<'_>)>,
        built: &mut Built,
        left: &mut Incomplete,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<(), BuildError> {
        if self.settings.again {
            for (part, batches) in &writing {
                if self.is_asked(*part) {
                    batches.iter().for_each(|it| self.record.forget(&it.0));
                }
            }
        }
        let requests: Vec<(&Request, bool)> = writing
            .iter()
            .flat_map(|(part, it)| it.iter().map(|it| (&it.0, self.is_asked(*part))))
            .collect();
        let answers = all(asking, &requests, &statements, progress).await;
        let mut answers = answers.into_iter();
        let mut merging = Vec::new();
        for (part, batches) in &writing {
            let mut kept: Vec<Statement> = Vec::new();
            let mut said = BTreeSet::new();
            let mut is_whole = true;
            for (request, of) in batches {
                let answer = answers.next().unwrap_or(Err(NoAnswer::NotAsked));
                if let Err(NoAnswer::NotAsked) = answer {
                    is_whole = false;
                    continue;
                }
                let Some((written, n_unusable)) = taken(request, answer, left)? else {
                    is_whole = false;
                    continue;
                };
                for _ in 0..n_unusable {
                    built.assembly.drop(*part, Flaw::Unusable, None);
                }
                let shown: BTreeSet<&str> = of.iter().map(|it| it.id.as_str()).collect();
                for statement in written {
                    let checked = statement.checked(*part, self.documents, &shown);
                    let checked = checked.and_then(|it| match said.insert(key(&it)) {
                        true => Ok(it),
                        false => Err(Flaw::Repeated),
                    });
                    match checked {
                        Ok(it) => kept.push(it),
                        Err(flaw) => built.assembly.drop(*part, flaw, Some(&statement)),
                    }
                }
            }
            if !is_whole {
                if !self.is_asked(*part) {
                    built.not_asked.insert(*part);
                }
                continue;
            }
            if part.is_merged() && 1 < batches.len() && 1 < kept.len() {
                let request = self.prompts.merge(*part, &kept);
                if self.settings.again && self.is_asked(*part) {
                    self.record.forget(&request);
                }
                merging.push((*part, request, kept));
            } else {
                built.assembly.statements.insert(*part, kept);
            }
        }
        let requests: Vec<(&Request, bool)> = merging
            .iter()
            .map(|it| (&it.1, self.is_asked(it.0)))
            .collect();
        let answers = all(asking, &requests, &keep, progress).await;
        for ((part, request, kept), answer) in merging.iter().zip(answers) {
            if let Err(NoAnswer::NotAsked) = answer {
                built.not_asked.insert(*part);
                continue;
            }
            if let Some(numbers) = taken(request, answer, left)? {
                let merged = merged(kept, &numbers);
                let stay: BTreeSet<_> = merged.iter().map(key).collect();
                for statement in kept.iter().filter(|it| !stay.contains(&key(it))) {
                    built.assembly.drop(*part, Flaw::Repeated, Some(statement));
                }
                built.assembly.statements.insert(*part, merged);
            }
        }
        Ok(())
    }
}

/// Asks everything, and returns the answers in the order of the requests. Those of which the
/// flag is not set are only looked for.
async fn all<T: Send>(
    asking: &Asking<'_>,
    requests: &[(&Request, bool)],
    parse: &(dyn Fn(&str) -> Result<T, String> + Sync),
    progress: &(dyn Fn(Progress) + Sync),
) -> Vec<Result<T, NoAnswer>> {
    let of = requests.len();
    let asked = requests
        .iter()
        .enumerate()
        .map(|(idx, (request, may_ask))| async move {
            let answer = asking.answer(request, idx as u64, *may_ask, parse).await;
            (idx, answer)
        });
    let mut ended = futures::stream::iter(asked).buffer_unordered(AT_A_TIME);
    let mut answers = BTreeMap::new();
    while let Some((idx, answer)) = ended.next().await {
        answers.insert(idx, answer);
        progress(Progress {
            label: requests[idx].0.label.clone(),
            done: answers.len(),
            of,
        });
    }
    answers.into_values().collect()
}

/// Takes an answer, or notes why there is none.
fn taken<T>(
    request: &Request,
    answer: Result<T, NoAnswer>,
    left: &mut Incomplete,
) -> Result<Option<T>, BuildError> {
    let message = match answer {
        Ok(value) => {
            left.answered += 1;
            return Ok(Some(value));
        }
        Err(NoAnswer::Record(error)) => return Err(error.into()),
        Err(NoAnswer::Capped(message)) => {
            left.is_capped = true;
            message
        }
        Err(NoAnswer::Failed(message)) => message,
        Err(NoAnswer::NotAsked) => "it is not asked for".to_owned(),
    };
    left.failures.push((request.label.clone(), message));
    Ok(None)
}

/// Puts passages together that are asked about at once.
fn batches<'a>(of: &[&'a Passage], most: usize) -> Vec<Vec<&'a Passage>> {
    let mut batches: Vec<Vec<&Passage>> = Vec::new();
    let mut n_bytes = 0;
    for passage in of {
        n_bytes += passage.text.len() + passage.heading.len() + 80;
        match batches.last_mut() {
            Some(batch) if n_bytes <= most => batch.push(passage),
            _ => {
                batches.push(vec![passage]);
                n_bytes = passage.text.len();
            }
        }
    }
    batches
}

fn add_routes<'a>(
    routed: &mut BTreeMap<Part, Vec<&'a Passage>>,
    of: &[&'a Passage],
    routes: &BTreeMap<String, BTreeSet<Part>>,
) {
    // In the order of the documents, whatever the order of the reply.
    for passage in of {
        for part in routes.get(&passage.id).into_iter().flatten() {
            routed.entry(*part).or_default().push(passage);
        }
    }
}

/// What two statements of a part must not share.
fn key(statement: &Statement) -> String {
    plain(&format!(
        "{} {} {} {}",
        statement.text, statement.parameter, statement.before, statement.after
    ))
}

/// Returns the statements with these numbers, from 1, each once.
fn merged(statements: &[Statement], numbers: &[usize]) -> Vec<Statement> {
    let mut left: Vec<Option<&Statement>> = statements.iter().map(Some).collect();
    let numbers = numbers.iter().filter_map(|it| it.checked_sub(1));
    let kept = numbers.filter_map(|idx| left.get_mut(idx).and_then(Option::take));
    kept.cloned().collect()
}

fn routes(reply: &str) -> Result<BTreeMap<String, BTreeSet<Part>>, String> {
    let found: Vec<Routes> = json_in_reply(reply);
    let list = found.into_iter().next();
    let list = list.ok_or("there is no JSON object with `routes` in it")?;
    let of = |it: Route| {
        let parts = it.parts.iter().filter_map(|name| name.trim().parse().ok());
        (it.id.trim().to_owned(), parts.collect())
    };
    Ok(list.routes.into_iter().map(of).collect())
}

/// Returns the statements of a reply, and how many are none.
fn statements(reply: &str) -> Result<(Vec<Statement>, usize), String> {
    let found: Vec<Statements> = json_in_reply(reply);
    let list = found.into_iter().next();
    let list = list.ok_or("there is no JSON object with `statements` in it")?;
    let n_all = list.statements.len();
    let read = list.statements.into_iter();
    let read: Vec<Statement> = read
        .filter_map(|it| serde_json::from_value(it).ok())
        .collect();
    let n_unusable = n_all - read.len();
    Ok((read, n_unusable))
}

fn keep(reply: &str) -> Result<Vec<usize>, String> {
    let found: Vec<Keep> = json_in_reply(reply);
    let list = found.into_iter().next();
    let list = list.ok_or("there is no JSON object with `keep` in it")?;
    match list.keep.is_empty() {
        true => Err("no statement stays".to_owned()),
        false => Ok(list.keep),
    }
}
