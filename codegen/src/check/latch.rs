//! Checks of latched state, which a packet sets and which stays in force until the next packet of
//! its type. The size of the state has a limit. If the state is a table, the field that selects the
//! entry of the table is a plain number.

use super::context::Check;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Container, Stored, Type};
use genxml_syntax::suggest;

/// Maximum width in bits of a field that selects the entry of a table. The GPU model stores one
/// packet for each number that the field can hold.
const INDEX_BITS: u32 = 8;

pub(super) fn check(check: &mut Check<'_>, container: &Container) {
    let Some(latch) = &container.latch else { return };
    let mut report = |message: String, hint: Option<String>| {
        let place = check.place(&container.span, "latch");
        check.report(Diagnostic::new(Code::Latch, place, message).maybe_hint(hint));
    };
    if container.partial || container.max_dwords().is_none() {
        let message = format!("`{}` is latched, but its size is unknown", container.name);
        let hint = "describe all of it; only an instruction with a length field may be variable";
        report(message, Some(hint.to_owned()));
    }
    let Some(name) = &latch.index else { return };
    let Some(field) = container.latch_index() else {
        let message = format!("`{}` has no field `{name}` that selects its entry", container.name);
        let names = container.fields.iter().map(|field| field.name.as_str());
        report(message, suggest::hint(name, names));
        return;
    };
    let plain = matches!(field.ty, Type::Uint | Type::Enum(_)) && field.stored == Stored::Plain;
    let optional = field.exists_if.is_some() || field.variant.is_some();
    if !plain || optional || field.end - field.start >= INDEX_BITS {
        let message = format!("the field `{name}` of `{}` cannot select an entry", container.name);
        let hint = format!(
            "the field needs type uint or an enumeration, at most {INDEX_BITS} bits, and neither \
             stored-as nor a condition"
        );
        report(message, Some(hint));
    }
}
