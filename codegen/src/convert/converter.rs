//! What the conversion of a container reads and writes.

use std::collections::HashMap;

use super::condition::{PendingRule, PendingView};
use crate::diagnostic::Diagnostic;
use crate::model::{ContainerId, Enum, EnumId};

/// Names of declared types: the values of a field's `type` that are not built in.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub enums: HashMap<String, EnumId>,
    pub structs: HashMap<String, ContainerId>,
}

/// Reads one container.
pub(crate) struct Converter<'a> {
    /// Types by name.
    pub names: &'a Names,
    /// Enumerations so far; those inside fields are added.
    pub enums: &'a mut Vec<Enum>,
    pub problems: &'a mut Vec<Diagnostic>,
    /// No element of the file has a `source`: a file of Mesa's.
    pub foreign: bool,
    /// Pipelines that instructions need if they do not say otherwise.
    pub pipelines: u8,
    pub file: usize,
    /// Name of the container.
    pub container: String,
    /// Index that the container will have.
    pub index: usize,
    /// Rules so far, of all containers.
    pub pending: &'a mut Vec<PendingRule>,
    /// Conditions of views so far, of all containers.
    pub pending_views: &'a mut Vec<PendingView>,
    /// Names of fields that could not be read. Conditions that name them are not reported.
    pub lost: Vec<String>,
}
