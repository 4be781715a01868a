//! Conditions that are parsed after all names have been collected.

use crate::diagnostic::{Code, Diagnostic};
use crate::expr::{self, Scope};
use crate::model::{Cond, Expr, Rule, Span, Spec};
use genxml_syntax::condition::ConditionError;

/// The text and span of a condition that is not parsed yet; `None` if there is no condition.
pub(crate) type Pending = Option<(String, Span)>;

/// A rule whose condition is not parsed yet.
pub(crate) struct PendingRule {
    /// Index of the container that has the rule.
    pub container: usize,
    pub(super) rule: Rule,
    pub(super) condition: (String, Span),
    /// Names of fields of the rule's container that could not be read.
    pub(super) lost: Vec<String>,
}

impl PendingRule {
    /// Parses the condition, now that every container is known.
    pub fn resolve(self, spec: &Spec, problems: &mut Vec<Diagnostic>) -> Option<Rule> {
        let (text, span) = &self.condition;
        let require = reported(
            expr::parse_rule(text, spec, self.container),
            text,
            span,
            &self.lost,
            problems,
        )?;
        Some(Rule { require, ..self.rule })
    }
}

/// A view whose condition is not parsed yet.
pub(crate) struct PendingView {
    /// Index of the container that has the view.
    pub container: usize,
    /// Index among the container's views.
    pub view: usize,
    pub(super) condition: (String, Span),
    /// Names of fields of the view's container that could not be read.
    pub(super) lost: Vec<String>,
}

impl PendingView {
    /// Parses the condition, now that every container is known.
    pub fn resolve(&self, spec: &Spec, problems: &mut Vec<Diagnostic>) -> Option<Cond> {
        let (text, span) = &self.condition;
        reported(expr::parse_view(text, spec, self.container), text, span, &self.lost, problems)
    }
}

/// Parses a condition. Reports a problem at its position inside the attribute's value.
pub(super) fn condition(
    text: &str,
    span: &Span,
    scope: Scope<'_>,
    lost: &[String],
    problems: &mut Vec<Diagnostic>,
) -> Option<Expr> {
    reported(expr::parse(text, scope), text, span, lost, problems)
}

fn reported<T>(
    parsed: Result<T, Box<ConditionError>>,
    text: &str,
    span: &Span,
    lost: &[String],
    problems: &mut Vec<Diagnostic>,
) -> Option<T> {
    match parsed {
        Ok(expr) => Some(expr),
        Err(error)
            if expr::code(&error) == Code::ExpressionName
                && lost.iter().any(|name| text.contains(name)) =>
        {
            None
        }
        Err(error) => {
            problems.push(placed(*error, text, span));
            None
        }
    }
}

/// Converts the problem to a diagnostic at its position inside the attribute's value. If the value
/// contains entities (`&amp;`), positions differ from those in the condition, so the whole value is
/// underlined.
pub(super) fn placed(error: ConditionError, text: &str, span: &Span) -> Diagnostic {
    let place = match span.range.len() == text.len() {
        true => span.range.start + error.range.start..span.range.start + error.range.end,
        false => span.range.clone(),
    };
    Diagnostic::new(expr::code(&error), Span { file: span.file, range: place }, error.message)
        .maybe_hint(error.hint)
}
