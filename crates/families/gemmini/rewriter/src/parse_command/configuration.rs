//! Reads configurations.

use crate::kernel::Command;
use crate::parse::Reader;
use crate::parse::scope::{Obstacle, Read};
use tree_sitter::Node;

/// What a scale is when it leaves elements as they are.
const IDENTITIES: &[&str] = &[
    "MVIN_SCALE_IDENTITY",
    "ACC_SCALE_IDENTITY",
    "1.0",
    "1.f",
    "1.0F",
];

impl<'tree> Reader<'tree> {
    /// Reads a configuration; returns none if the form is not known.
    pub(super) fn configuration(
        &mut self,
        node: Node<'tree>,
        name: &str,
        arguments: &[Node<'tree>],
    ) -> Read<Option<Command>> {
        let form = name.strip_prefix("gemmini_").unwrap_or(name);
        match (form, arguments) {
            ("config_ex", [_, _, _, _, _]) => {
                Ok(Some(Command::ConfigExecute(self.texts(arguments)?)))
            }
            ("config_ex", [flow, activation, shift]) => {
                if self.constant(*shift)? != 0 {
                    return self.unread(node, "results are shifted");
                }
                let mut texts = self.texts(&[*flow, *activation])?;
                texts.extend(["1", "false", "false"].map(str::to_owned));
                Ok(Some(Command::ConfigExecute(texts)))
            }
            (
                "extended_config_ex" | "extended2_config_ex",
                [flow, activation, shift, stride, first, second],
            ) => {
                if self.constant(*shift)? != 0 {
                    return self.unread(node, "results are shifted");
                }
                let texts = self.texts(&[*flow, *activation, *stride, *first, *second])?;
                Ok(Some(Command::ConfigExecute(texts)))
            }
            (
                "extended3_config_ex",
                [flow, activation, shift, scale, c, a, first, second, only],
            ) => {
                let texts = self.texts(arguments)?;
                let usual = [(*shift, 0), (*c, 1), (*only, 0)];
                let mut plain = self.scale(*scale)? == "1.0f";
                for (argument, value) in usual {
                    plain &= self.constant(argument)? == value;
                }
                Ok(Some(Command::ConfigExecute(match plain {
                    true => self.texts(&[*flow, *activation, *a, *first, *second])?,
                    false => texts,
                })))
            }
            ("config_st", [_] | [_, _]) => self.store_configuration(arguments).map(Some),
            ("extended_config_st", [stride, activation, scale]) => {
                let none = ["NO_ACTIVATION", "0"].contains(&self.text(*activation));
                if none {
                    return self.store_configuration(&[*stride, *scale]).map(Some);
                }
                let texts = vec![
                    self.number_or_text(*stride)?,
                    self.verbatim(*activation)?,
                    self.scale(*scale)?,
                ];
                Ok(Some(Command::ConfigStore(texts)))
            }
            ("extended2_config_st", all) if all.len() == 12 => {
                Ok(Some(Command::ConfigStore(self.texts(all)?)))
            }
            ("config_ld", [stride]) => self.load_configuration(*stride, [None; 5]).map(Some),
            ("config_ld", [stride, scale, id]) if form == name => self
                .load_configuration(*stride, [Some(*scale), None, None, None, Some(*id)])
                .map(Some),
            ("config_ld", [stride, scale, block, id]) => self
                .load_configuration(*stride, [Some(*scale), None, Some(*block), None, Some(*id)])
                .map(Some),
            ("extended_config_ld", [stride, scale]) => self
                .load_configuration(*stride, [Some(*scale), None, None, None, None])
                .map(Some),
            ("extended2_config_ld", [stride, scale, shrunk]) => self
                .load_configuration(*stride, [Some(*scale), Some(*shrunk), None, None, None])
                .map(Some),
            ("extended3_config_ld", [stride, scale, shrunk, id]) => self
                .load_configuration(
                    *stride,
                    [Some(*scale), Some(*shrunk), None, None, Some(*id)],
                )
                .map(Some),
            ("extended4_config_ld", [stride, scale, shrunk, block, id]) => {
                let rest = [Some(*scale), Some(*shrunk), Some(*block), None, Some(*id)];
                self.load_configuration(*stride, rest).map(Some)
            }
            ("extended5_config_ld", [stride, scale, shrunk, block, repeats, id]) => {
                let rest = [*scale, *shrunk, *block, *repeats, *id].map(Some);
                self.load_configuration(*stride, rest).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn store_configuration(&mut self, arguments: &[Node<'tree>]) -> Read<Command> {
        let mut texts = Vec::new();
        for (place, argument) in arguments.iter().enumerate() {
            texts.push(match place {
                0 => self.number_or_text(*argument)?,
                _ => self.scale(*argument)?,
            });
        }
        Ok(Command::ConfigStore(texts))
    }

    /// Reads scale, shrinking, block stride, repeats and channel of a load.
    fn load_configuration(
        &mut self,
        stride: Node<'tree>,
        rest: [Option<Node<'tree>>; 5],
    ) -> Read<Command> {
        let [scale, shrunk, block, repeats, id] = rest;
        let mut number = |node: Option<Node<'tree>>, default: i64| match node {
            Some(node) => self.constant(node),
            None => Ok(default),
        };
        let shrunk = number(shrunk, 0)? != 0;
        let repeats = number(repeats, 1)?;
        let channel = number(id, 0)?;
        let dim = self.dim();
        let block_stride = match block {
            Some(block) => self.constant(block)?,
            None => dim,
        };
        let scale = match scale {
            Some(scale) => self.scale(scale)?,
            None => "1.0f".to_owned(),
        };
        match usize::try_from(channel) {
            Ok(channel) if channel <= 2 => Ok(Command::ConfigLoad {
                stride: self.number_or_text(stride)?,
                scale,
                block_stride,
                channel,
                shrunk,
                repeats,
            }),
            _ => self.unread(stride, "there is no such channel for loads"),
        }
    }

    fn texts(&mut self, nodes: &[Node<'tree>]) -> Read<Vec<String>> {
        nodes.iter().map(|node| self.verbatim(*node)).collect()
    }

    /// Returns the text of a scale, one for all scales that change nothing.
    fn scale(&mut self, node: Node<'tree>) -> Read<String> {
        let text = self.verbatim(node)?;
        Ok(match IDENTITIES.contains(&text.as_str()) || text == "1" {
            true => "1.0f".to_owned(),
            false => text,
        })
    }

    /// Returns a constant as a number, and anything else as it is.
    fn number_or_text(&mut self, node: Node<'tree>) -> Read<String> {
        match self.integer(node) {
            Ok(value) => match value.as_constant() {
                Some(value) => Ok(value.to_string()),
                None => self.verbatim(node),
            },
            Err(Obstacle::Unread(..)) => self.verbatim(node),
            Err(other) => Err(other),
        }
    }
}
