//! Functions: parameters, defaults, bodies.

use ruff_python_ast as ast;
use ruff_text_size::Ranged;

use super::Lowering;
use super::scopes::Scope;
use crate::diagnostic::Outcome;
use crate::foreign::Foreign;
use crate::tree::{Code, Node, Parameter};

impl<F: Foreign> Lowering<'_, F> {
    pub(super) fn parameters(
        &mut self,
        parameters: &ast::Parameters,
    ) -> Outcome<Vec<Option<Node<F>>>> {
        // Defaults belong to the enclosing scope.
        parameters
            .iter_non_variadic_params()
            .map(|p| p.default.as_ref().map(|d| self.expression(d)).transpose())
            .collect()
    }

    pub(super) fn function(&mut self, node: &ast::StmtFunctionDef) -> Outcome<Code<F>> {
        let defaults = self.parameters(&node.parameters)?;
        self.scopes.push(Scope::default());
        let line = self.line(node.name.start());
        let mut code = self.signature(&node.parameters, defaults, node.name.id.as_str(), line);
        self.declare(&node.body);
        code.body = self.block(&node.body)?;
        self.close(&mut code);
        Ok(code)
    }

    pub(super) fn signature(
        &mut self,
        parameters: &ast::Parameters,
        defaults: Vec<Option<Node<F>>>,
        name: &str,
        line: u32,
    ) -> Code<F> {
        let count = parameters.posonlyargs.len() + parameters.args.len();
        let mut positional = Vec::new();
        let mut keyword_only = Vec::new();
        for (position, (parameter, default)) in parameters
            .iter_non_variadic_params()
            .zip(defaults)
            .enumerate()
        {
            let name = parameter.parameter.name.id.as_str();
            let slot = self.top().slot(name);
            let parameter = Parameter {
                name: name.into(),
                slot,
                default,
            };
            if position < count {
                positional.push(parameter);
            } else {
                keyword_only.push(parameter);
            }
        }
        let rest = parameters
            .vararg
            .as_ref()
            .map(|p| self.top().slot(p.name.id.as_str()));
        let keywords = parameters
            .kwarg
            .as_ref()
            .map(|p| self.top().slot(p.name.id.as_str()));
        Code {
            name: name.into(),
            line,
            positional,
            keyword_only,
            rest,
            keywords,
            slots: 0,
            names: Vec::new(),
            body: Vec::new(),
            yields: false,
            is_kernel: false,
            value: None,
        }
    }

    pub(super) fn close(&mut self, code: &mut Code<F>) {
        if let Some(scope) = self.scopes.pop() {
            code.slots = scope.names.len() as u32;
            code.names = scope.names;
            code.yields = scope.yields;
        }
    }
}
