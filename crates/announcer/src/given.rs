//! A value that somebody gave, and what to call it when it is wrong.

use std::ffi::OsStr;

use clap::builder::{TypedValueParser, ValueParserFactory};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, Command};
use thiserror::Error;

/// A text from the command line or the environment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Given {
    /// The flag or the variable that it came from.
    setting: String,
    pub(crate) on_command_line: bool,
    text: String,
}

/// A setting cannot be used. The message names it, its value and what was expected.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{setting}{value}: {problem}")]
pub(crate) struct ConfigError {
    setting: String,
    /// Empty where it is missing, or a secret.
    value: String,
    problem: String,
}

impl Given {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Reads the value.
    ///
    /// # Errors
    ///
    /// What `read` says is wrong with it.
    pub(crate) fn read<T, E: ToString>(
        &self,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, ConfigError> {
        read(&self.text).map_err(|error| self.error(&error.to_string()))
    }

    /// What is wrong with the value.
    pub(crate) fn error(&self, problem: &str) -> ConfigError {
        ConfigError {
            value: format!("={:?}", self.text),
            ..self.secret_error(problem)
        }
    }

    /// What is wrong with a value that nobody else is to see.
    pub(crate) fn secret_error(&self, problem: &str) -> ConfigError {
        ConfigError::new(&self.setting, problem)
    }
}

impl ConfigError {
    /// What is wrong with a setting that was not given.
    pub(crate) fn new(setting: &str, problem: &str) -> Self {
        Self {
            setting: setting.to_owned(),
            value: String::new(),
            problem: problem.to_owned(),
        }
    }
}

/// Lets clap give each value together with where it came from.
#[derive(Clone, Debug)]
pub(crate) struct GivenParser;

impl ValueParserFactory for Given {
    type Parser = GivenParser;

    fn value_parser() -> GivenParser {
        GivenParser
    }
}

impl TypedValueParser for GivenParser {
    type Value = Given;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Given, clap::Error> {
        self.parse_ref_(command, arg, value, ValueSource::CommandLine)
    }

    fn parse_ref_(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
        source: ValueSource,
    ) -> Result<Given, clap::Error> {
        let on_command_line = source == ValueSource::CommandLine;
        let flag = arg.and_then(Arg::get_long).map(|flag| format!("--{flag}"));
        let variable = arg
            .and_then(Arg::get_env)
            .map(|name| name.to_string_lossy().into_owned());
        let setting = if on_command_line { flag } else { variable };
        let setting = setting.unwrap_or_else(|| "the recipe".to_owned());
        match value.to_str() {
            Some(text) => Ok(Given {
                setting,
                on_command_line,
                text: text.to_owned(),
            }),
            None => Err(clap::Error::raw(
                ErrorKind::InvalidUtf8,
                format!("{setting}: the value is no valid UTF-8\n"),
            )
            .with_cmd(command)),
        }
    }
}
