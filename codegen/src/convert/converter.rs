//! The type that converts one container, with its state.

use std::collections::HashMap;

use super::condition::{PendingRule, PendingView};
use crate::diagnostic::Diagnostic;
use crate::model::{ContainerId, Enum, EnumId};

/// Declared enumerations and structures by name. A field's `type` has such a name unless the type
/// is built in.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub enums: HashMap<String, EnumId>,
    pub structs: HashMap<String, ContainerId>,
}

/// The state while one container is read.
pub(crate) struct Converter<'a> {
    /// Types by name.
    pub names: &'a Names,
    /// All enumerations read so far. Enumerations inside fields are added.
    pub enums: &'a mut Vec<Enum>,
    pub problems: &'a mut Vec<Diagnostic>,
    /// True if the file is read by Mesa's rules.
    pub foreign: bool,
    /// Pipelines of instructions without the attribute `pipeline`.
    pub pipelines: u8,
    pub file: usize,
    /// Name of the container.
    pub container: String,
    /// Index that the container will have in the specification.
    pub index: usize,
    /// Rules read so far, of all containers.
    pub pending: &'a mut Vec<PendingRule>,
    /// Conditions of views read so far, of all containers.
    pub pending_views: &'a mut Vec<PendingView>,
    /// Names of fields that could not be read. A condition that names such a field is not reported
    /// as wrong.
    pub lost: Vec<String>,
}
