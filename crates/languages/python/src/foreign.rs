//! What a language of kernels brings beside a device: values beside Python's.

use std::fmt::Debug;
use std::rc::Rc;

use super::calls::Arguments;
use super::device::Device;
use super::diagnostic::{Failure, Outcome};
use super::dictionary::Key;
use super::interpreter::{Interpreter, type_error};
use super::tree::{Argument, Binary, Call, Comparison, Unary};
use super::value::{Closure, Frame, Value};

/// What an attribute of a value is.
pub enum Member<F: Foreign> {
    /// A value.
    Value(Value<F>),
    /// A function of the value.
    Method,
}

/// The operands of a binary operator, left and right.
pub type Operands<F> = (Value<F>, Value<F>);

/// An error of Python: a foreign value has no items to set.
pub fn no_items<F: Foreign>(value: &F) -> Box<Failure> {
    type_error(&format!(
        "items of a {} cannot be assigned",
        value.type_name()
    ))
}

/// Values beside Python's, and what Python's own operations make of them.
pub trait Foreign: Clone + 'static {
    /// What they are of.
    type Device: Device<Loop = Self::Loop>;
    /// Kinds of loops; the default is Python's own.
    type Loop: Copy + Debug + Default + PartialEq;
    /// What is found out about a call in the file when it is run first.
    type Binding;

    /// Where the interfaces of the language are described.
    const DOCUMENTS: &'static str;
    /// What kernels compute with.
    const INTERFACES: &'static str;
    /// What to do without a module that kernels cannot have.
    const IMPORTS: &'static str;
    /// What to do instead of carrying a value from one iteration of a loop to the next.
    const CARRIED: &'static str = "compute with the loop's number";
    /// What can be entered by `with`.
    const CONTEXTS: &'static str = "only objects with `__enter__` can be entered";

    /// Name of the type.
    fn type_name(&self) -> &'static str;

    /// The number, if it stands for a whole one.
    fn as_int(&self) -> Option<i64> {
        None
    }

    /// Key in a dictionary, if the value can be one.
    fn key(&self) -> Option<Key> {
        None
    }

    /// Whether it is the other one.
    fn is(&self, _other: &Self) -> bool {
        false
    }

    /// Whether it equals a text.
    fn equals(&self, _text: &str) -> bool {
        false
    }

    /// Its text, if it has another than its type.
    fn text(&self) -> Option<String> {
        None
    }

    /// Its truth.
    ///
    /// # Errors
    /// It has none.
    fn truth(&self) -> Outcome<bool> {
        Ok(true)
    }

    /// How many items it has, if it has such.
    fn length(&self) -> Option<i64> {
        None
    }

    /// Its items, if it has such.
    ///
    /// # Errors
    /// It cannot be looped over.
    fn items(&self) -> Outcome<Option<Vec<Value<Self>>>> {
        Ok(None)
    }

    /// Whether it is of the language's base class.
    fn is_of_base(&self) -> bool {
        false
    }

    /// Whether an assignment by an operator changes it in its place.
    fn changes_in_place(&self) -> bool {
        false
    }

    /// What to use instead of one of Python's functions.
    fn instead_of(&self, _builtin: &str) -> Option<&'static str> {
        None
    }

    /// Says that a variable has it now.
    fn keep(&self) {}

    /// The module of the language that is imported under a path.
    fn module_of(_path: &str) -> Option<&'static str> {
        None
    }

    /// What a module of the language has under a name.
    fn member(_: &Self::Device, _module: &'static str, _name: &str) -> Option<Value<Self>> {
        None
    }

    /// A name of the language that needs no import.
    fn ambient(_: &Self::Device, _name: &str) -> Option<Value<Self>> {
        None
    }

    /// What to do without a library that kernels cannot have; none of what is no such library.
    fn remedy(_path: &str) -> Option<&'static str> {
        None
    }

    /// What is wrong with a name that a module does not have.
    fn unknown(_: &Self::Device, module: &'static str, name: &str) -> Box<Failure> {
        Failure::unsupported(
            "unknown-name",
            format!("`{module}.{name}` is not known here"),
            "check the spelling",
        )
    }

    /// Whether the decorator `package.name` makes a kernel of a function.
    fn makes_kernel(_package: &str, _name: &str) -> bool {
        false
    }

    /// Whether the constant makes a kernel of a function that it is called with.
    fn is_kernel_maker(_constant: &str) -> bool {
        false
    }

    /// `left operator right`, of which one at least is foreign; both back where that is nothing
    /// but what Python makes of their numbers.
    ///
    /// # Errors
    /// The operator does not take them.
    fn binary(
        _: &mut Interpreter<Self>,
        _operator: Binary,
        left: Value<Self>,
        right: Value<Self>,
        _line: u32,
    ) -> Outcome<Result<Value<Self>, Operands<Self>>> {
        Ok(Err((left, right)))
    }

    /// The same for an operator of one foreign operand.
    ///
    /// # Errors
    /// The operator does not take it.
    fn unary(
        _: &mut Interpreter<Self>,
        _operator: Unary,
        value: Value<Self>,
    ) -> Outcome<Result<Value<Self>, Value<Self>>> {
        Ok(Err(value))
    }

    /// A comparison, of which one side at least is foreign; none where that is Python's own.
    ///
    /// # Errors
    /// They cannot be compared.
    fn compare(
        _: &mut Interpreter<Self>,
        _operator: Comparison,
        _left: &Value<Self>,
        _right: &Value<Self>,
    ) -> Outcome<Option<Value<Self>>> {
        Ok(None)
    }

    /// Changes it in its place, if it is changed so.
    ///
    /// # Errors
    /// It cannot be changed so.
    fn augment(
        &self,
        _: &mut Interpreter<Self>,
        _operator: Binary,
        _value: Value<Self>,
    ) -> Outcome<()> {
        Ok(())
    }

    /// `self.name`, if there is such.
    ///
    /// # Errors
    /// It cannot be read.
    fn attribute(&self, _: &Self::Device, _name: &str) -> Outcome<Option<Member<Self>>> {
        Ok(None)
    }

    /// Calls a method that `attribute` has told of.
    ///
    /// # Errors
    /// What the method refuses.
    fn method(
        &self,
        _: &mut Interpreter<Self>,
        name: &str,
        _: Arguments<Self>,
        _line: u32,
    ) -> Outcome<Value<Self>> {
        Err(type_error(&format!("there is no method `{name}`")))
    }

    /// `object[index]` of what is foreign or one of the language's functions; none where that
    /// means nothing.
    ///
    /// # Errors
    /// There is no such item.
    fn subscript(
        _: &mut Interpreter<Self>,
        _object: &Value<Self>,
        _index: &Value<Self>,
    ) -> Outcome<Option<Value<Self>>> {
        Ok(None)
    }

    /// `self[index] = value`.
    ///
    /// # Errors
    /// The item cannot be set.
    fn set_item(
        &self,
        _: &mut Interpreter<Self>,
        _index: &Value<Self>,
        _value: Value<Self>,
    ) -> Outcome<()> {
        Err(no_items(self))
    }

    /// What is known of a call in the file before its arguments are; none where they have to be.
    fn binding<'c>(&self, _: &Self::Device, _call: &'c Call<Self>) -> Option<&'c Self::Binding> {
        None
    }

    /// Runs a call of which so much is known.
    ///
    /// # Errors
    /// What the function refuses.
    fn call_bound(
        run: &mut Interpreter<Self>,
        line: u32,
        binding: &Self::Binding,
        arguments: &[Argument<Self>],
        frame: &Rc<Frame<Self>>,
    ) -> Outcome<Value<Self>>;

    /// Calls it.
    ///
    /// # Errors
    /// It cannot be called, or what it refuses.
    fn call(
        &self,
        _: &mut Interpreter<Self>,
        _: Arguments<Self>,
        _line: u32,
    ) -> Outcome<Value<Self>> {
        Err(type_error(&format!(
            "a {} cannot be called",
            self.type_name()
        )))
    }

    /// Calls one of the language's functions that are known by their names alone; none if there
    /// is no such.
    ///
    /// # Errors
    /// What the function refuses.
    fn builtin(
        _: &mut Interpreter<Self>,
        _name: &'static str,
        _: Arguments<Self>,
        _line: u32,
    ) -> Outcome<Option<Value<Self>>> {
        Ok(None)
    }

    /// Runs a kernel on a grid: `function[sizes](arguments)`.
    ///
    /// # Errors
    /// What the kernel refuses.
    fn launch(
        run: &mut Interpreter<Self>,
        function: &Rc<Closure<Self>>,
        _sizes: &[i64],
        arguments: Arguments<Self>,
        line: u32,
    ) -> Outcome<Value<Self>> {
        run.call_closure(function, arguments, line)
    }

    /// Whether a `while` loop goes on that the device decides by this value; none where Python
    /// does.
    ///
    /// # Errors
    /// What decides is not known.
    fn goes_on(&self, _: &mut Self::Device) -> Outcome<Option<bool>> {
        Ok(None)
    }

    /// What the body of a loop gets of an item, and whether the device has gone on to it.
    fn loop_item(
        _: &mut Self::Device,
        _kind: Self::Loop,
        item: Value<Self>,
        _line: u32,
    ) -> (Value<Self>, Outcome<()>) {
        (item, Ok(()))
    }
}
