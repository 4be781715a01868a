//! Other values for a field.

use super::places::Instance;
use genxml_core::bits;
use genxml_core::reflect::Type;

/// Largest number of values of an enumeration that are tried.
const ENUM_VALUES: usize = 24;

/// Values other than `stored`, those that are likely to make a difference first.
pub fn others(instance: &Instance, stored: u64) -> Vec<u64> {
    let width = instance.width();
    let most = bits::ones(width);
    let mut values = Vec::new();
    match instance.field.ty {
        Type::Enum(list) => {
            // Long lists (formats) are thinned out.
            let step = list.values.len().div_ceil(ENUM_VALUES);
            values.extend(list.values.iter().step_by(step).map(|(value, _)| *value));
        }
        Type::Float if width == 32 => {
            let floats = [0.0_f32, 0.5, 1.0, 2.0, -1.0, 7.5, 1000.0, f32::NAN];
            values.extend(floats.map(|float| u64::from(float.to_bits())));
        }
        _ => {}
    }
    let near = [stored ^ 1, stored.wrapping_add(1), stored.wrapping_sub(1), 0, 1, 2, 3];
    values.extend(near);
    values.extend([stored.wrapping_mul(2), stored / 2, stored.wrapping_add(16)]);
    values.extend([most, most / 2, stored ^ 1 << (width / 2), stored ^ 1 << (width - 1)]);
    let mut tried = vec![stored];
    values.retain(|value| {
        let new = *value <= most && !tried.contains(value);
        tried.push(*value);
        new
    });
    values
}
