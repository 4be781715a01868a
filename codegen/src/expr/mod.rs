//! Conditions of the specification: the text of `exists-if` to an [`Expr`], the text of `require` to
//! a [`Cond`].
//!
//! [`genxml_syntax::condition`] parses the text. `names` supplies the names of the model, `text`
//! formats a condition.

mod names;
mod text;

use crate::diagnostic::Code;
use crate::model::{Cond, Container, ContainerId, Enum, EnumId, Expr, Field, FieldRef, Spec};
use genxml_syntax::condition::{self, ConditionError, ErrorKind, Place};
use names::Model;
pub use text::{display, display_with};

/// The names that the condition of a field can use.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The fields of the container, or of the group's element, that contains the condition.
    pub fields: &'a [Field],
    /// All enumerations.
    pub enums: &'a [Enum],
    /// The variant alternative of the field that has the condition. If several fields have the
    /// same name, the field of this alternative is meant.
    pub variant: Option<&'a (String, String)>,
}

/// The result of a parser of conditions.
type Result<T> = std::result::Result<T, Box<ConditionError>>;

/// Parses the condition of a field and resolves its names.
pub fn parse(text: &str, scope: Scope<'_>) -> Result<Expr> {
    let Scope { fields, enums, variant } = scope;
    let scope = condition::Scope {
        members: names::members(fields, &[], &[]),
        place: Place::Field,
        variant: variant.map(|(set, name)| (set.as_str(), name.as_str())),
    };
    condition::parse(text, Model { enums, containers: &[] }, scope).map(plain)
}

/// Converts a condition that [`Place::Field`] allows to an [`Expr`].
fn plain(cond: Cond) -> Expr {
    match cond {
        Cond::Field(FieldRef { name, start, end, .. }) => Expr::Field { name, start, end },
        Cond::Not(inner) => Expr::Not(Box::new(plain(*inner))),
        Cond::Binary(op, left, right) => {
            Expr::Binary(op, Box::new(plain(*left)), Box::new(plain(*right)))
        }
        Cond::Number(value) => Expr::Number(value),
        // The parser refuses these conditions at this place.
        Cond::In(..)
        | Cond::Bits(..)
        | Cond::Last(..)
        | Cond::Over(..)
        | Cond::Index
        | Cond::Role(_) => Expr::Number(0),
    }
}

/// Parses the condition of a rule of the container with this index and resolves its names.
pub fn parse_rule(text: &str, spec: &Spec, container: usize) -> Result<Cond> {
    of_container(text, spec, container, Place::Rule)
}

/// Parses the condition of a view of the container with this index and resolves its names.
pub fn parse_view(text: &str, spec: &Spec, container: usize) -> Result<Cond> {
    of_container(text, spec, container, Place::View)
}

fn of_container(text: &str, spec: &Spec, container: usize, place: Place) -> Result<Cond> {
    let names = Model { enums: &spec.enums, containers: &spec.containers };
    let scope = condition::Scope::of(names, ContainerId(container), place);
    condition::parse(text, names, scope)
}

/// Parses the values of a `<set>` of an enumeration: values, ranges and earlier sets, separated by
/// spaces or commas.
pub fn parse_set(text: &str, list: &Enum) -> Result<Vec<(u64, u64)>> {
    let names = Model { enums: std::slice::from_ref(list), containers: &[] as &[Container] };
    condition::set(text, names, EnumId(0))
}

/// The code of an error in a condition.
pub fn code(error: &ConditionError) -> Code {
    match error.kind {
        ErrorKind::Syntax => Code::Expression,
        ErrorKind::Name => Code::ExpressionName,
        ErrorKind::Kind => Code::ExpressionKind,
    }
}
