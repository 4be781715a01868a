//! Bits of elements, by the names of formats: channels from the lowest bit up (`R10G10B10A2_UINT`).

use std::sync::LazyLock;

/// A channel: letter, lowest bit, number of bits.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    pub letter: char,
    pub low: u32,
    pub bits: u32,
}

/// A format whose channels all have the same encoding.
#[derive(Clone, Debug)]
pub struct Layout {
    pub channels: Vec<Channel>,
    pub kind: &'static str,
    pub bits: u32,
}

impl Layout {
    pub fn of(name: &'static str) -> Layout {
        let (list, kind) = name.split_once('_').unwrap();
        let mut channels: Vec<Channel> = Vec::new();
        let mut low = 0;
        for letter in list
            .split_inclusive(|c: char| c.is_ascii_digit())
            .collect::<String>()
            .split_terminator("")
        {
            let letter = letter.chars().next();
            match letter {
                Some(digit) if digit.is_ascii_digit() => {
                    let channel = channels.last_mut().unwrap();
                    channel.bits = 10 * channel.bits + digit.to_digit(10).unwrap();
                }
                Some(letter) => channels.push(Channel { letter, low: 0, bits: 0 }),
                None => {}
            }
        }
        for channel in &mut channels {
            channel.low = low;
            low += channel.bits;
        }
        Layout { channels, kind, bits: low }
    }

    /// The element after writing the channels in `mask` (red, green, blue, alpha). Padding becomes
    /// 0.
    pub fn write(&self, old: u128, values: [u32; 4], mask: u8) -> u128 {
        let mut element = old;
        for channel in &self.channels {
            let bits = match "RGBA".find(channel.letter) {
                Some(n) if mask >> n & 1 == 0 => continue,
                Some(n) => u128::from(self.encode(values[n], channel.bits)),
                None => 0,
            };
            let ones = (1 << channel.bits) - 1;
            element = element & !(ones << channel.low) | bits << channel.low;
        }
        element
    }

    /// The value that is read: integers and 32-bit floats are unchanged. Missing colours are 0, a
    /// missing alpha is 1.
    pub fn read(&self, element: u128) -> [u32; 4] {
        let mut values = [0, 0, 0, if self.kind == "FLOAT" { 1.0f32.to_bits() } else { 1 }];
        for channel in &self.channels {
            let n = "RGBA".find(channel.letter).unwrap();
            values[n] = (element >> channel.low & ((1 << channel.bits) - 1)) as u32;
        }
        values
    }

    fn encode(&self, value: u32, bits: u32) -> u32 {
        let float = f32::from_bits(value);
        let (most, half) = ((1u64 << bits) - 1, (1i64 << (bits - 1)) - 1);
        let scale = |value: f64, most: f64| (value * most).round_ties_even();
        match self.kind {
            "UINT" => u64::from(value).min(most) as u32,
            "SINT" => (i64::from(value as i32).clamp(-half - 1, half) & most as i64) as u32,
            _ if float.is_nan() && self.kind != "FLOAT" => 0,
            "UNORM" => scale(f64::from(float).clamp(0.0, 1.0), most as f64) as u32,
            "SNORM" => {
                (scale(f64::from(float).clamp(-1.0, 1.0), half as f64) as i64 & most as i64) as u32
            }
            "FLOAT" if bits == 32 => value,
            "FLOAT" => small_float(float, bits),
            other => panic!("{other}"),
        }
    }
}

/// Returns the bits of the float of `bits` bits (16, 11 or 10) that is nearest to `value`, ties to
/// even, from a table of all such floats. Floats of 11 and 10 bits have no sign.
fn small_float(value: f32, bits: u32) -> u32 {
    static STEPS: LazyLock<[Vec<f64>; 3]> = LazyLock::new(|| {
        [10u32, 6, 5].map(|mantissa| {
            let unit = f64::from(mantissa).exp2();
            let step =
                |raw: u32| match (raw >> mantissa, f64::from(raw & ((1 << mantissa) - 1)) / unit) {
                    (0, fraction) => fraction * (-14f64).exp2(),
                    (exponent, fraction) => {
                        (1.0 + fraction) * f64::from(exponent as i32 - 15).exp2()
                    }
                };
            (0..=31 << mantissa).map(step).collect()
        })
    });
    let (steps, mantissa) = match bits {
        16 => (&STEPS[0], 10),
        11 => (&STEPS[1], 6),
        _ => (&STEPS[2], 5),
    };
    let sign = u32::from(value.is_sign_negative() && bits == 16) << 15;
    if value.is_nan() {
        return sign | 31 << mantissa | 1 << (mantissa - 1);
    }
    if value < 0.0 && bits != 16 {
        return 0;
    }
    let exact = f64::from(value.abs());
    let above = steps.partition_point(|&step| step < exact).min(steps.len() - 1);
    let below = above.saturating_sub(1);
    let (down, up) = (exact - steps[below], steps[above] - exact);
    sign | if down < up || down == up && below % 2 == 0 { below } else { above } as u32
}
