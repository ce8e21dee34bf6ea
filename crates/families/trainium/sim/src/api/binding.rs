//! Which argument of a call goes to which parameter of an interface.

use std::rc::Rc;

use autocomp_python::{Argument, Arguments, Call};

use super::{Api, Bound, Dialect, Nki, Value, no_choice};
use crate::diagnostic::{Failure, FailureKind, Outcome};

/// Parameters of an interface.
struct Signature {
    names: Rc<[&'static str]>,
    /// How many of them can be given by position.
    positions: usize,
}

impl Signature {
    fn of(api: &Api) -> Self {
        let words = || api.parameters.split_ascii_whitespace();
        Self {
            names: words().filter(|it| *it != "*").collect(),
            positions: words().take_while(|it| *it != "*").count(),
        }
    }

    /// Whether so many arguments can be given by position.
    fn takes(&self, given: usize, dialect: Dialect) -> bool {
        let any = self.positions == 0 && given <= self.names.len() && dialect == Dialect::V1;
        given <= self.positions || any
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| *known == name)
    }
}

/// Whether a keyword that an interface does not have changes nothing here.
fn is_ignored(name: &str) -> bool {
    matches!(
        name,
        "name" | "dge_mode" | "priority_class" | "unique_indices"
    )
}

/// What `dge_mode` can be, as a message says it.
pub(super) const DESCRIPTOR_MODES: &str = "nisa.dge_mode.none, unknown, swdge or hwdge";

/// Who makes the descriptors of a transfer, if a value says that.
pub(super) fn descriptor_mode(value: &Value) -> Option<&'static str> {
    match value {
        Value::Symbol(mode) => Some(*mode).filter(|it| it.starts_with("dge_mode.")),
        _ => None,
    }
}

/// Where the arguments of one call in the file go, which is the same each time.
pub(crate) struct Binding {
    pub(super) api: &'static Api,
    pub(super) names: Rc<[&'static str]>,
    /// The parameter of each argument; none of one that changes nothing.
    pub(super) places: Box<[Option<u32>]>,
}

impl Binding {
    /// That of a call in the file, if it is always the same and of this interface.
    #[inline]
    pub(super) fn at<'c>(
        api: &'static Api,
        dialect: Dialect,
        call: &'c Call<Nki>,
    ) -> Option<&'c Self> {
        if api.is_of_host() {
            return None;
        }
        let find = || Self::of(api, &call.arguments, dialect);
        let found = call.binding.get_or_init(find).as_ref();
        found.filter(|binding| std::ptr::eq(binding.api, api))
    }

    /// None where that is known only with the values, or is an error.
    pub(super) fn of(
        api: &'static Api,
        arguments: &[Argument<Nki>],
        dialect: Dialect,
    ) -> Option<Self> {
        let signature = Signature::of(api);
        let mut places = Vec::with_capacity(arguments.len());
        for (position, argument) in arguments.iter().enumerate() {
            let place = match argument {
                Argument::Positional(_) => {
                    signature.takes(position + 1, dialect).then_some(position)
                }
                Argument::Keyword(name, _) => match signature.place(name) {
                    // Whether a mode is one is seen with its value.
                    None if is_ignored(name) && &**name != "dge_mode" => {
                        places.push(None);
                        continue;
                    }
                    place => place,
                },
                Argument::Spread(_) | Argument::SpreadKeywords(_) => None,
            };
            let place = Some(place? as u32);
            if places.contains(&place) {
                return None;
            }
            places.push(place);
        }
        Some(Self {
            api,
            names: signature.names,
            places: places.into(),
        })
    }
}

/// Binds arguments to the parameters of an interface.
pub(super) fn bind(
    api: &'static Api,
    dialect: Dialect,
    arguments: Arguments<Nki>,
) -> Outcome<Bound> {
    let signature = Signature::of(api);
    let given = arguments.positional.len();
    let full = || api.full_name();
    if !signature.takes(given, dialect) {
        return Err(Failure::new(
            FailureKind::Rejected,
            "type-error",
            format!(
                "{} takes {} positional arguments, not {given}",
                full(),
                signature.positions
            ),
            format!("its parameters are: {}", api.parameters),
        ));
    }
    let mut values: Vec<_> = arguments.positional.into_iter().map(Some).collect();
    values.resize(signature.names.len(), None);
    for (name, value) in arguments.keywords {
        match signature.place(&name) {
            Some(at) if values[at].is_none() => values[at] = Some(value),
            Some(_) => {
                return Err(Failure::new(
                    FailureKind::Rejected,
                    "type-error",
                    format!("{} is given `{name}` twice", full()),
                    "remove one of them",
                ));
            }
            None if is_ignored(&name) => {
                let is_open = matches!(value, Value::None) || descriptor_mode(&value).is_some();
                if &*name == "dge_mode" && !is_open {
                    let bound = Bound::new(api, signature.names, values);
                    return Err(bound.wrong(&name, DESCRIPTOR_MODES, &value));
                }
            }
            None if &*name == "engine" && api.has_engines() => {
                return Err(no_choice(api));
            }
            None => {
                return Err(Failure::new(
                    FailureKind::Rejected,
                    "unexpected-argument",
                    format!("{} has no parameter `{name}` in this dialect", full()),
                    format!("its parameters are: {}", api.parameters),
                ));
            }
        }
    }
    Ok(Bound::new(api, signature.names, values))
}
