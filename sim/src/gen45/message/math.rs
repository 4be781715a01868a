//! Extended math: functions of floats, and integer division (003:5845-6316).

use super::payload::Payload;
use super::port::Port;
use crate::assumptions::{
    G45_COSINES_FOLLOW_SINES_OF_ALL_CHANNELS, G45_POWERS_HAVE_AN_EXPONENT_FOR_EACH_CHANNEL,
};
use crate::eu::Message;
use crate::eu::math::{divide_signed, divide_unsigned, float};
use crate::eu::ops::number::Float;
use crate::eu::regions::{CR0, REGISTER, Registers};
use crate::eu::uop::MathFunction;
use crate::machine::fault::Fault;
use genxml::gen45::eu_registers::{ControlRegister, ControlRegisterFloatingPointMode};
use genxml::gen45::messages::{
    ExtendedMathMessageDescriptor, ExtendedMathMessageDescriptorIntegerType as IntegerType,
    ExtendedMathMessageDescriptorSourceStructure as Structure, Fc,
};

/// Channels of a register.
const ROW: usize = 8;

/// What a message computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Function {
    /// A function of one float, or of two.
    Float(MathFunction),
    /// Sine and cosine.
    SinCos,
    /// Quotient, remainder, or both.
    Divide([bool; 2]),
}

impl Function {
    fn of(function: Fc) -> Option<Function> {
        Some(match function {
            Fc::INV => Function::Float(MathFunction::Inverse),
            Fc::LOG => Function::Float(MathFunction::Log),
            Fc::EXP => Function::Float(MathFunction::Exp),
            Fc::SQRT => Function::Float(MathFunction::SquareRoot),
            Fc::RSQ => Function::Float(MathFunction::InverseSquareRoot),
            Fc::SIN => Function::Float(MathFunction::Sin),
            Fc::COS => Function::Float(MathFunction::Cos),
            Fc::SINCOS => Function::SinCos,
            Fc::POW => Function::Float(MathFunction::Power),
            Fc::INT_DIV_BOTH => Function::Divide([true, true]),
            Fc::INT_DIV_QUOTIENT => Function::Divide([true, false]),
            Fc::INT_DIV_REMAINDER => Function::Divide([false, true]),
            _ => return None,
        })
    }

    /// True if a message has two operands.
    fn takes_two(self) -> bool {
        matches!(self, Function::Float(MathFunction::Power) | Function::Divide(_))
    }

    /// Number of results of a channel.
    fn results(self) -> usize {
        match self {
            Function::SinCos | Function::Divide([true, true]) => 2,
            _ => 1,
        }
    }
}

/// How floats are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Floats {
    /// The floating-point mode ALT.
    alternative: bool,
    saturate: bool,
}

impl Floats {
    /// The final result: subnormal numbers become zero (003:6992), infinities of ALT mode the largest number,
    /// and Saturate clamps to the range from 0 to 1.
    fn finish(self, value: f32) -> u32 {
        let mut value = value.flush();
        if self.alternative && value.is_infinite() {
            value = f32::MAX.copysign(value);
        }
        if self.saturate {
            // A NaN becomes 0.
            value = if value > 0.0 { value.min(1.0) } else { 0.0 };
        }
        value.to_bits()
    }

    fn compute(self, function: MathFunction, a: u32, b: u32) -> u32 {
        let [a, b] = [a, b].map(|bits| f32::from_bits(bits).flush());
        self.finish(float(function, a, b, self.alternative))
    }
}

/// Quotient and remainder. The first operand is the denominator (003:5913-5921).
fn divide(signed: bool, denominator: u32, numerator: u32) -> [u32; 2] {
    if signed {
        let (quotient, remainder) = divide_signed(numerator as i32, denominator as i32);
        // The only quotient that needs more than 32 bits is 2^31; its low 32 bits remain.
        [quotient as u32, remainder as u32]
    } else {
        let (quotient, remainder) = divide_unsigned(numerator, denominator);
        [quotient, remainder]
    }
}

/// Executes a message to extended math.
///
/// # Errors
/// [`Fault::IllegalInstruction`] for reserved functions, wrong lengths, saturated integers and for
/// a message that ends its thread.
pub fn message(
    port: &Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = ExtendedMathMessageDescriptor::unpack_lossy(&[message.descriptor]);
    let payload = Payload::open_gen45(message, "a message to extended math");
    let Some(function) = Function::of(descriptor.math_function) else {
        let why = format!("function {:#x} is reserved", descriptor.math_function.bits());
        return Err(payload.illegal(port, &why));
    };
    if message.eot {
        return Err(payload.illegal(port, "a thread cannot end with it (003:5863)"));
    }
    if descriptor.saturate && matches!(function, Function::Divide(_)) {
        return Err(payload.illegal(port, "integers cannot be saturated (003:5875)"));
    }
    // Only functions of one operand have messages of 16 channels: two registers of it.
    let rows = if function.takes_two() { 1 } else { payload.sent().clamp(1, 2) };
    let sent = if function.takes_two() { 2 } else { rows };
    payload.check(port, sent, rows * function.results())?;
    let Some(answer) = payload.answer() else { return Ok(()) };

    let control = ControlRegister::unpack_lossy(&registers.dwords(CR0));
    let floats = Floats {
        alternative: control.floating_point_mode == ControlRegisterFloatingPointMode::ALTERNATIVE,
        saturate: descriptor.saturate,
    };
    let signed = descriptor.integer_type == IntegerType::SIGNED;
    let scalar = descriptor.source_structure == Structure::SCALAR;
    for row in 0..rows {
        let a: [u32; ROW] = payload.dwords(registers, row);
        let b: [u32; ROW] =
            if function.takes_two() { payload.dwords(registers, 1) } else { [0; ROW] };
        for channel in 0..ROW {
            if message.mask >> (row * ROW + channel) & 1 == 0 {
                continue;
            }
            // In a scalar message, the first channel of each group of four has the operands.
            let from = if scalar { channel & 4 } else { channel };
            let exponent =
                if G45_POWERS_HAVE_AN_EXPONENT_FOR_EACH_CHANNEL { from } else { channel & 4 };
            let results = match function {
                Function::Float(function) => [floats.compute(function, a[from], b[exponent]), 0],
                Function::SinCos => [MathFunction::Sin, MathFunction::Cos]
                    .map(|function| floats.compute(function, a[from], 0)),
                Function::Divide(wanted) => {
                    let both = divide(signed, a[from], b[from]);
                    if wanted[0] { both } else { [both[1], 0] }
                }
            };
            for (n, result) in results.into_iter().enumerate().take(function.results()) {
                let register = match G45_COSINES_FOLLOW_SINES_OF_ALL_CHANNELS {
                    true => n * rows + row,
                    false => row * function.results() + n,
                };
                registers.set_u32(answer + register * REGISTER + 4 * channel, result);
            }
        }
    }
    Ok(())
}
