//! Attributes and methods.

use std::rc::Rc;

use super::calls::Arguments;
use super::interpreter::Interpreter;
use super::methods::has_method;
use super::value::Value;
use crate::diagnostic::{Failure, Outcome};
use crate::foreign::{Foreign, Member};

impl<F: Foreign> Interpreter<F> {
    pub(super) fn attribute(&mut self, object: &Value<F>, name: &Rc<str>) -> Outcome<Value<F>> {
        let missing = || {
            Failure::python(
                "attribute-error",
                format!("a {} has no attribute `{name}`", object.type_name()),
                format!("check the spelling against {}", F::DOCUMENTS),
            )
        };
        let bound = || Value::Bound(Rc::new((object.clone(), Rc::clone(name))));
        Ok(match object {
            Value::Object(_) | Value::Class(_) | Value::Super(_) => {
                return self.class_attribute(object, name)?.ok_or_else(missing);
            }
            Value::Module(super::package::PACKAGE) => return self.own_value(name),
            Value::Module(module) => {
                return super::modules::attribute(&self.device, module, name);
            }
            Value::Foreign(value) => match value.attribute(&self.device, name)? {
                Some(Member::Value(value)) => value,
                Some(Member::Method) => bound(),
                None => return Err(missing()),
            },
            _ if has_method(object, name) => bound(),
            Value::Slice(parts) => match &**name {
                "start" => parts.0[0].clone(),
                "stop" => parts.0[1].clone(),
                "step" => parts.0[2].clone(),
                _ => return Err(missing()),
            },
            Value::Function(_) => match &**name {
                "func" => object.clone(),
                _ => return Err(missing()),
            },
            _ => return Err(missing()),
        })
    }

    pub(super) fn method(
        &mut self,
        object: &Value<F>,
        name: &Rc<str>,
        arguments: Arguments<F>,
        line: u32,
    ) -> Outcome<Value<F>> {
        if let Value::Foreign(value) = object {
            return value.method(self, name, arguments, line);
        }
        if let Value::Object(inner) = object {
            if &**name == "__init__" {
                self.set_fields(object, arguments.keywords, line)?;
                return Ok(Value::None);
            }
            return self.named_method(inner, name, arguments, line);
        }
        self.own_method(object, name, arguments, line)
    }
}
