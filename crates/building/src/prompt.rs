//! Prompts: templates plus data.

use crate::documents::Passage;
use crate::part::Part;
use crate::quotation::{FEWEST_WORDS, SHORTEST};
use crate::statement::Statement;
use autocomp_core::ContentHasher;
use autocomp_llm::{ReplySchema, Request};
use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;
use serde_json::{Value, json};

/// The templates by name.
const TEMPLATES: &[(&str, &str)] = &[
    ("system.jinja", include_str!("../templates/system.jinja")),
    (
        "passages.jinja",
        include_str!("../templates/passages.jinja"),
    ),
    ("route.jinja", include_str!("../templates/route.jinja")),
    ("write.jinja", include_str!("../templates/write.jinja")),
    ("merge.jinja", include_str!("../templates/merge.jinja")),
    ("again.jinja", include_str!("../templates/again.jinja")),
];

/// What all prompts of a build say.
#[derive(Clone, Debug)]
pub(crate) struct Prompts {
    environment: Environment<'static>,
    /// What is wanted, in a sentence or two.
    pub(crate) scope: String,
    /// The language of kernels, for people.
    pub(crate) language: String,
    /// The most tokens of a reply.
    pub(crate) max_output_tokens: u32,
}

#[derive(Serialize)]
struct Shown<'a> {
    id: &'a str,
    origin: String,
    text: &'a str,
}

impl Prompts {
    /// Reads the templates.
    ///
    /// # Panics
    /// Never: they are built in, and all are rendered by tests.
    pub(crate) fn new(scope: &str, language: &str, max_output_tokens: u32) -> Self {
        let environment = autocomp_agents::prompt_environment();
        let mut environment = environment.expect("the usual marks do not contradict each other");
        for (name, text) in TEMPLATES {
            let added = environment.add_template(name, text);
            added.expect("the built-in templates are valid");
        }
        Self {
            environment,
            scope: crate::statement::in_one_line(scope),
            language: language.to_owned(),
            max_output_tokens,
        }
    }

    fn render(&self, name: &str, values: Value) -> String {
        let template = self.environment.get_template(name);
        let text = template.and_then(|it| it.render(Serde(&values)));
        text.expect("the built-in templates are given all that they name")
    }

    /// Returns what all requests begin with.
    fn system(&self) -> String {
        self.render(
            "system.jinja",
            json!({ "scope": self.scope, "language": self.language }),
        )
    }

    /// Makes a request about passages. The mark between them is made of all of them: no document
    /// can have it.
    fn request(
        &self,
        label: String,
        template: &str,
        of: &[&Passage],
        mut values: Value,
    ) -> Request {
        let mut hasher = ContentHasher::new("mark");
        for passage in of {
            hasher.update(passage.text.as_bytes());
        }
        let mark = hasher.finish().to_string()[..12].to_owned();
        let shown: Vec<Shown<'_>> = of
            .iter()
            .map(|it| Shown {
                id: &it.id,
                origin: it.origin(),
                text: &it.text,
            })
            .collect();
        values["mark"] = json!(mark);
        values["passages"] = json!(shown);
        let user = self.render(template, values);
        let mut request = Request::new(self.system(), user, self.max_output_tokens);
        request.label = label;
        request
    }

    /// Asks what passages are of use for.
    pub(crate) fn route(&self, number: usize, of: &[&Passage]) -> Request {
        let mut request = self.request(format!("route-{number}"), "route.jinja", of, json!({}));
        let names: Vec<&str> = Part::ALL.iter().map(|it| it.name()).collect();
        let parts = json!({ "type": "array", "items": { "type": "string", "enum": names } });
        request.schema = Some(list_schema(
            "routes",
            vec![("id", json!({ "type": "string" })), ("parts", parts)],
        ));
        request
    }

    /// Asks for the statements of a part.
    pub(crate) fn write(
        &self,
        (part, number): (Part, usize),
        of: &[&Passage],
        items: &str,
        parameters: &str,
    ) -> Request {
        let fields = fields(part);
        let example: serde_json::Map<String, Value> = fields
            .iter()
            .map(|(name, example, _)| ((*name).to_owned(), example.clone()))
            .collect();
        let values = json!({
            "part": part.name(),
            "items": items,
            "parameters": parameters,
            "example": Value::Object(example).to_string(),
            "words": FEWEST_WORDS,
            "characters": SHORTEST,
        });
        let label = format!("{}-{number}", part.name());
        let mut request = self.request(label, "write.jinja", of, values);
        let properties = fields.into_iter().map(|(name, _, schema)| (name, schema));
        request.schema = Some(list_schema("statements", properties.collect()));
        request
    }

    /// Asks which statements of a part stay.
    pub(crate) fn merge(&self, part: Part, statements: &[Statement]) -> Request {
        let user = self.render(
            "merge.jinja",
            json!({ "part": part.name(), "statements": statements_shown(statements) }),
        );
        let mut request = Request::new(self.system(), user, self.max_output_tokens);
        request.label = format!("{}-merge", part.name());
        request.schema = Some(ReplySchema {
            name: "keep".to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "keep": { "type": "array", "items": { "type": "integer" } } },
                "required": ["keep"],
                "additionalProperties": false,
            }),
        });
        request
    }

    /// Says what is wrong with a reply.
    pub(crate) fn again(&self, complaint: &str) -> String {
        self.render("again.jinja", json!({ "complaint": complaint }))
    }
}

fn statements_shown(statements: &[Statement]) -> Value {
    let shown = statements
        .iter()
        .map(|it| json!({ "topic": it.topic, "text": it.text }));
    Value::Array(shown.collect())
}

/// Returns the fields of a statement of a part, each with an example and its form.
fn fields(part: Part) -> Vec<(&'static str, Value, Value)> {
    let text = |name, example: &str| (name, json!(example), json!({ "type": "string" }));
    let mut fields = match part {
        Part::Architecture => vec![text("topic", "title of the section")],
        Part::Isa => vec![
            text("topic", "title of the section"),
            (
                "symbols",
                json!(["name"]),
                json!({ "type": "array", "items": { "type": "string" } }),
            ),
        ],
        Part::Menu | Part::Translation => vec![
            text("topic", "short-name"),
            text("applies_when", "when it applies"),
        ],
        Part::Rules => vec![text("phase", "code")],
        Part::Examples => vec![
            text("topic", "short-name"),
            text("item", "name of the optimization"),
            text("before", "code"),
            text("after", "code"),
        ],
        Part::Figures => vec![
            text("parameter", "name of the parameter"),
            text("value", "16"),
        ],
    };
    fields.push(text("text", "what it says"));
    let cites = json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": { "id": { "type": "string" }, "quote": { "type": "string" } },
            "required": ["id", "quote"],
            "additionalProperties": false,
        },
    });
    let example = json!([{ "id": "identifier of the passage", "quote": "words copied from it" }]);
    fields.push(("cites", example, cites));
    fields
}

/// Returns the form of an object with one list of objects.
fn list_schema(name: &str, properties: Vec<(&str, Value)>) -> ReplySchema {
    let required: Vec<&str> = properties.iter().map(|it| it.0).collect();
    let required = json!(required);
    let properties: serde_json::Map<String, Value> = properties
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    let item = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    ReplySchema {
        name: name.to_owned(),
        schema: json!({
            "type": "object",
            "properties": { name: { "type": "array", "items": item } },
            "required": [name],
            "additionalProperties": false,
        }),
    }
}
