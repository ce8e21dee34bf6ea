//! Classes of the file and their objects.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::calls::Arguments;
use super::dictionary::{Dict, Key};
use super::interpreter::{Interpreter, hashable, type_error};
use super::objects::{Class, ClassKind, FieldDefault, MethodKind, Object};
use super::tree::{ClassCode, Content};
use super::value::{Frame, Value};
use crate::device::{Construct, Device};
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::Foreign;

/// Longest chain of classes that are derived from each other.
const MAXIMUM_HEIGHT: u32 = 20;

impl<F: Foreign> Interpreter<F> {
    pub(super) fn define_class(
        &mut self,
        code: &ClassCode<F>,
        frame: &Rc<Frame<F>>,
    ) -> Outcome<Value<F>> {
        if !Rc::ptr_eq(frame, &self.globals) {
            self.device.permits(Construct::InnerClass)?;
        }
        let mut kind = ClassKind::Plain;
        let mut of_base = false;
        let mut bases = Vec::new();
        for node in &code.bases {
            match self.evaluate(node, frame)? {
                Value::Class(base) => bases.push(base),
                Value::Symbol("base:configuration") => {
                    kind = ClassKind::Configuration;
                    of_base = true;
                }
                Value::Symbol("base:named-tuple") => kind = ClassKind::Named,
                Value::Symbol("base:enumeration") => kind = ClassKind::Enumeration(false),
                Value::Symbol("base:whole-enumeration") => kind = ClassKind::Enumeration(true),
                Value::Symbol("base:object") | Value::Type("typing") => {}
                other => {
                    return Err(Failure::unsupported(
                        "unsupported-python",
                        format!(
                            "a class cannot be derived from a {} here",
                            other.type_name()
                        ),
                        "derive it from classes of the file, NamedTuple or Enum",
                    )
                    .at(node.line));
                }
            }
        }
        if kind == ClassKind::Plain
            && let Some(base) = bases.iter().find(|base| base.kind != ClassKind::Plain)
        {
            kind = base.kind;
        }
        if let Some(frozen) = code.dataclass {
            kind = ClassKind::Data(frozen);
        }
        of_base |= bases.iter().any(|base| base.of_base);
        let height = 1 + bases.iter().map(|base| base.height).max().unwrap_or(0);
        if height > MAXIMUM_HEIGHT {
            return Err(type_error("too many classes are derived from each other"));
        }
        self.reserve(8 + code.members.len() as u64, code.line)?;
        let mut fields: Vec<(Rc<str>, FieldDefault<F>)> = Vec::new();
        for (name, default) in bases.iter().flat_map(|base| &base.fields) {
            set_field(&mut fields, name, default.clone());
        }
        let mut attributes = Dict::default();
        let mut methods = HashMap::new();
        let mut values = Vec::new();
        let has_fields = !matches!(kind, ClassKind::Plain | ClassKind::Enumeration(_));
        for member in &code.members {
            let (name, line) = (&member.name, member.line);
            let mut keep = |value: Value<F>| {
                attributes.insert(
                    Key::Str(Rc::clone(name)),
                    Value::Str(Rc::clone(name)),
                    value,
                );
            };
            match &member.content {
                Content::Value(hidden, node) => {
                    let mut value = self.evaluate(node, frame)?;
                    if let Value::Symbol("enum.auto") = value {
                        // One more than the largest so far.
                        let numbers = values
                            .iter()
                            .filter_map(|(_, value): &(Rc<str>, Value<F>)| value.as_int());
                        value = Value::Int(numbers.max().unwrap_or(0).saturating_add(1));
                    }
                    self.store(hidden, value.clone(), frame, line)?;
                    if has_fields && member.annotated {
                        set_field(&mut fields, name, FieldDefault::Value(value.clone()));
                    }
                    if matches!(kind, ClassKind::Enumeration(_)) {
                        values.push((Rc::clone(name), value));
                    } else {
                        keep(value);
                    }
                }
                Content::Factory(node) => {
                    let factory = self.evaluate(node, frame)?;
                    set_field(&mut fields, name, FieldDefault::Factory(factory));
                }
                Content::Missing if has_fields => {
                    set_field(&mut fields, name, FieldDefault::Missing);
                }
                Content::Missing => {}
                Content::Method(function, called) => {
                    keep(self.closure(function, frame)?);
                    methods.insert(Rc::clone(name), *called);
                }
            }
        }
        let class = Rc::new(Class {
            name: Rc::clone(&code.name),
            kind,
            bases,
            height,
            of_base,
            fields,
            attributes: RefCell::new(attributes),
            methods: RefCell::new(methods),
        });
        let result = Value::Class(Rc::clone(&class));
        self.cycles.classes.push(Rc::downgrade(&class));
        for (name, value) in values {
            let mut fields = Dict::default();
            for (field, value) in [("name", Value::Str(Rc::clone(&name))), ("value", value)] {
                fields.insert(Key::Str(field.into()), Value::str(field), value);
            }
            let object = Rc::new(Object {
                class: Rc::clone(&class),
                fields: RefCell::new(fields),
            });
            let mut attributes = class.attributes.borrow_mut();
            attributes.insert(
                Key::Str(Rc::clone(&name)),
                Value::Str(name),
                Value::Object(object),
            );
        }
        Ok(result)
    }

    /// Makes an object.
    pub(super) fn instantiate(
        &mut self,
        class: &Rc<Class<F>>,
        arguments: Arguments<F>,
        line: u32,
    ) -> Outcome<Value<F>> {
        if matches!(class.kind, ClassKind::Enumeration(_)) {
            return self.member_of(class, arguments);
        }
        self.reserve(4 + class.fields.len() as u64, line)?;
        let object = Rc::new(Object {
            class: Rc::clone(class),
            fields: RefCell::new(Dict::default()),
        });
        let value = Value::Object(Rc::clone(&object));
        if let Some((Value::Function(start), _)) = class.find(&"__init__".into()) {
            self.call_with(&start, value.clone(), arguments, line)?;
            return Ok(value);
        }
        let wrong = |what: String| {
            Failure::python(
                "type-error",
                format!("`{}` {what}", class.name),
                "give the fields of the class, or write `__init__`",
            )
        };
        let mut positional = arguments.positional.into_iter();
        let mut keywords = arguments.keywords;
        if class.kind == ClassKind::Configuration {
            if positional.next().is_some() {
                return Err(wrong("takes its fields by keyword".to_owned()));
            }
            self.set_fields(&value, keywords, line)?;
            keywords = Vec::new();
        }
        for (name, default) in &class.fields {
            if class.kind == ClassKind::Configuration {
                self.set_default(&object, name, default, line)?;
                continue;
            }
            let named = keywords.iter().position(|(keyword, _)| keyword == name);
            let given = match (positional.next(), named) {
                (Some(_), Some(_)) => return Err(wrong(format!("is given `{name}` twice"))),
                (Some(value), None) => Some(value),
                (None, Some(at)) => Some(keywords.swap_remove(at).1),
                (None, None) => None,
            };
            let given = match (given, default) {
                (Some(value), _) => value,
                (None, FieldDefault::Value(value)) => value.clone(),
                (None, FieldDefault::Factory(function)) => {
                    self.call(&function.clone(), Arguments::default(), line)?
                }
                (None, FieldDefault::Missing) => {
                    return Err(wrong(format!("is not given `{name}`")));
                }
            };
            self.cycles.note(&value, &given);
            put(&object, name, given);
        }
        if positional.next().is_some() {
            return Err(wrong(format!(
                "takes {} arguments at most",
                class.fields.len()
            )));
        }
        if class.of_base {
            // The language's base class takes values of the class by keyword, too.
            let (known, unknown): (Vec<_>, Vec<_>) = keywords
                .into_iter()
                .partition(|(name, _)| class.find(name).is_some());
            self.set_fields(&value, known, line)?;
            keywords = unknown;
        }
        if let Some((name, _)) = keywords.first() {
            return Err(wrong(format!("has no field `{name}`")));
        }
        if let Some((Value::Function(then), _)) = class.find(&"__post_init__".into()) {
            self.call_with(&then, value.clone(), Arguments::default(), line)?;
        }
        Ok(value)
    }

    /// Gives an object the fields that a call names, as those of the language's base class do.
    pub(super) fn set_fields(
        &mut self,
        value: &Value<F>,
        keywords: Vec<(Rc<str>, Value<F>)>,
        line: u32,
    ) -> Outcome<()> {
        let Value::Object(object) = value else {
            return Ok(());
        };
        self.reserve(keywords.len() as u64, line)?;
        for (name, given) in keywords {
            self.cycles.note(value, &given);
            put(object, &name, given);
        }
        Ok(())
    }

    /// Gives a field that has no value yet what a function makes for each object. Other defaults
    /// are found in the class.
    fn set_default(
        &mut self,
        object: &Rc<Object<F>>,
        name: &Rc<str>,
        default: &FieldDefault<F>,
        line: u32,
    ) -> Outcome<()> {
        if let (None, FieldDefault::Factory(function)) = (get(object, name), default) {
            let made = self.call(&function.clone(), Arguments::default(), line)?;
            self.cycles.note(&Value::Object(Rc::clone(object)), &made);
            put(object, name, made);
        }
        Ok(())
    }

    /// The member of an enumeration with a value.
    fn member_of(&mut self, class: &Rc<Class<F>>, arguments: Arguments<F>) -> Outcome<Value<F>> {
        let wanted = arguments.positional.first();
        for (_, member) in &class.attributes.borrow().entries {
            if let (Value::Object(object), Some(wanted)) = (member, wanted) {
                let value = get(object, &"value".into());
                if let Some(value) = value
                    && self.equal(&value, wanted)?
                {
                    return Ok(member.clone());
                }
            }
        }
        Err(Failure::python(
            "value-error",
            format!("`{}` has no such value", class.name),
            "use one of its members",
        ))
    }

    /// Calls a function of a class with its object or class first.
    pub(super) fn call_with(
        &mut self,
        function: &Rc<super::value::Closure<F>>,
        first: Value<F>,
        mut arguments: Arguments<F>,
        line: u32,
    ) -> Outcome<Value<F>> {
        arguments.positional.insert(0, first);
        self.call(&Value::Function(Rc::clone(function)), arguments, line)
    }

    /// Calls the method `name` of an object, if its class has one.
    pub(super) fn special(
        &mut self,
        object: &Value<F>,
        name: &str,
        positional: Vec<Value<F>>,
        line: u32,
    ) -> Option<Outcome<Value<F>>> {
        let Value::Object(inner) = object else {
            return None;
        };
        let (Value::Function(function), _) = inner.class.find(&name.into())? else {
            return None;
        };
        let arguments = Arguments {
            positional,
            keywords: Vec::new(),
        };
        Some(self.call_with(&function, object.clone(), arguments, line))
    }

    /// `object.name`, `Class.name` or `super().name`; `None` where there is no such attribute.
    pub(super) fn class_attribute(
        &mut self,
        value: &Value<F>,
        name: &Rc<str>,
    ) -> Outcome<Option<Value<F>>> {
        let (class, object) = match value {
            Value::Object(object) => {
                if let Some(found) = get(object, name) {
                    return Ok(Some(found));
                }
                (Rc::clone(&object.class), Some(value.clone()))
            }
            Value::Class(class) => (Rc::clone(class), None),
            Value::Super(parent) => {
                let found = parent.0.bases.iter().find_map(|base| base.find(name));
                return match found {
                    Some(found) => self
                        .bound(found, Some(parent.1.clone()), &parent.0)
                        .map(Some),
                    // The language's base class takes fields by keyword.
                    None if &**name == "__init__" && parent.0.of_base => Ok(Some(Value::Bound(
                        Rc::new((parent.1.clone(), Rc::clone(name))),
                    ))),
                    // Everything has a plain `__init__`.
                    None if &**name == "__init__" => Ok(Some(Value::Builtin("object.__init__"))),
                    None => Ok(None),
                };
            }
            _ => return Ok(None),
        };
        match class.find(name) {
            Some(found) => self.bound(found, object, &class).map(Some),
            None => Ok(match (&**name, &object) {
                ("_replace" | "_asdict", Some(value)) if class.kind == ClassKind::Named => {
                    Some(Value::Bound(Rc::new((value.clone(), Rc::clone(name)))))
                }
                _ => None,
            }),
        }
    }

    /// What reading a name of a class gives.
    fn bound(
        &mut self,
        (value, kind): (Value<F>, MethodKind),
        object: Option<Value<F>>,
        class: &Rc<Class<F>>,
    ) -> Outcome<Value<F>> {
        let Value::Function(function) = &value else {
            return Ok(value);
        };
        Ok(match (kind, object) {
            (MethodKind::Class, _) => Value::Method(Rc::new((
                Rc::clone(function),
                Value::Class(Rc::clone(class)),
            ))),
            (MethodKind::Plain, Some(object)) => {
                Value::Method(Rc::new((Rc::clone(function), object)))
            }
            (MethodKind::Property, Some(object)) => {
                let line = self.device.line();
                self.call_with(function, object, Arguments::default(), line)?
            }
            _ => value,
        })
    }

    /// `_replace` and `_asdict` of named tuples.
    pub(super) fn named_method(
        &mut self,
        object: &Rc<Object<F>>,
        name: &str,
        arguments: Arguments<F>,
        line: u32,
    ) -> Outcome<Value<F>> {
        self.reserve(4 + object.class.fields.len() as u64, line)?;
        let mut fields = Dict::default();
        for (key, value) in &object.fields.borrow().entries {
            fields.insert(hashable(key)?, key.clone(), value.clone());
        }
        for (keyword, value) in arguments.keywords {
            let key = Key::Str(Rc::clone(&keyword));
            if fields.get(&key).is_none() {
                return Err(type_error(&format!("there is no field `{keyword}`")));
            }
            fields.insert(key, Value::Str(keyword), value);
        }
        let fields = RefCell::new(fields);
        Ok(if name == "_asdict" {
            Value::Dict(Rc::new(fields))
        } else {
            let class = Rc::clone(&object.class);
            Value::Object(Rc::new(Object { class, fields }))
        })
    }

    /// `value.name = new`.
    pub(super) fn store_attribute(
        &mut self,
        value: &Value<F>,
        name: &Rc<str>,
        new: Value<F>,
        line: u32,
    ) -> Outcome<()> {
        self.reserve(1, line)?;
        self.cycles.note(value, &new);
        match value {
            Value::Object(object) if object.class.kind == ClassKind::Data(true) => {
                Err(Failure::python(
                    "attribute-error",
                    format!(
                        "objects of the frozen class `{}` cannot change",
                        object.class.name
                    ),
                    "leave `frozen` away, or make another object",
                ))
            }
            Value::Object(object)
                if matches!(
                    object.class.kind,
                    ClassKind::Named | ClassKind::Enumeration(_)
                ) =>
            {
                Err(Failure::python(
                    "attribute-error",
                    format!("objects of `{}` cannot change", object.class.name),
                    "make another object",
                ))
            }
            Value::Object(object) => {
                put(object, name, new);
                Ok(())
            }
            Value::Class(class) => {
                let key = Key::Str(Rc::clone(name));
                let mut attributes = class.attributes.borrow_mut();
                attributes.insert(key, Value::Str(Rc::clone(name)), new);
                class.methods.borrow_mut().remove(name);
                Ok(())
            }
            other => Err(Failure::unsupported(
                "unsupported-python",
                format!("attributes of a {} cannot be assigned", other.type_name()),
                "keep values in variables, dicts or objects of a class of your own",
            )),
        }
    }
}

fn set_field<F: Foreign>(
    fields: &mut Vec<(Rc<str>, FieldDefault<F>)>,
    name: &Rc<str>,
    default: FieldDefault<F>,
) {
    match fields.iter_mut().find(|(known, _)| known == name) {
        Some(field) => field.1 = default,
        None => fields.push((Rc::clone(name), default)),
    }
}

fn put<F: Foreign>(object: &Object<F>, name: &Rc<str>, value: Value<F>) {
    let mut fields = object.fields.borrow_mut();
    fields.insert(
        Key::Str(Rc::clone(name)),
        Value::Str(Rc::clone(name)),
        value,
    );
}

/// A field of an object.
pub(super) fn get<F: Foreign>(object: &Object<F>, name: &Rc<str>) -> Option<Value<F>> {
    object
        .fields
        .borrow()
        .get(&Key::Str(Rc::clone(name)))
        .cloned()
}

/// Fields of a named tuple in their order.
pub(super) fn items<F: Foreign>(object: &Object<F>) -> Vec<Value<F>> {
    let fields = object.fields.borrow();
    fields
        .entries
        .iter()
        .map(|(_, value)| value.clone())
        .collect()
}

/// Members of an enumeration in their order.
pub(super) fn members<F: Foreign>(class: &Class<F>) -> Vec<Value<F>> {
    let attributes = class.attributes.borrow();
    let values = attributes.entries.iter().map(|(_, value)| value);
    values
        .filter(|it| matches!(it, Value::Object(_)))
        .cloned()
        .collect()
}
