//! Messages by shared function.

use super::count::{Count, Value};
use crate::machine::events::Event;
use genxml::eu::message::function_name;
use std::collections::BTreeMap;

/// The messages of a packet's threads.
#[derive(Debug, Default)]
pub(super) struct Messages(BTreeMap<&'static str, u64>);

impl Count for Messages {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Message { function, .. } = event {
            *self.0.entry(function_name(*function)).or_default() += 1;
        }
    }

    fn take(&mut self) -> Vec<Value> {
        let values = std::mem::take(&mut self.0).into_iter();
        let value = |(series, count)| Value { track: "messages", series, value: count as f64 };
        values.map(value).collect()
    }
}
