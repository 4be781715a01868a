//! Messages of threads in words.

use genxml::eu::Generation;
use genxml::eu::instruction::SharedFunction;
use genxml::eu::message;

/// Text for a message of `generation`. It contains `?` if the message has no name.
pub fn words(generation: Generation, function: SharedFunction, descriptor: u32) -> String {
    match generation {
        #[cfg(feature = "gen45")]
        Generation::Gen45 => gen45::words(function, descriptor),
        _ => message::words(function, descriptor).to_string(),
    }
}

#[cfg(feature = "gen45")]
mod gen45 {
    use super::SharedFunction;
    use genxml::gen45::messages as md;

    /// The words of the tables of volume 4.
    pub fn words(function: SharedFunction, descriptor: u32) -> String {
        let dwords = &[descriptor];
        let name = match function {
            SharedFunction::Sampler => {
                let message = md::SamplerMessageDescriptor::unpack_lossy(dwords);
                let (ty, sent) = (message.message_type.get(), message.message_length.get());
                md::SamplerMessage::from_bits(16 * ty + sent).name()
            }
            SharedFunction::DataPortRead => {
                let message = md::DataPortReadMessageDescriptor::unpack_lossy(dwords);
                message.read_message_type.name()
            }
            SharedFunction::DataPortWrite => {
                let message = md::DataPortWriteMessageDescriptor::unpack_lossy(dwords);
                message.write_message_type.name()
            }
            SharedFunction::Math => {
                let message = md::ExtendedMathMessageDescriptor::unpack_lossy(dwords);
                message.math_function.name()
            }
            SharedFunction::Urb => {
                let message = md::UrbMessageDescriptor::unpack_lossy(dwords);
                message.swizzle_control.name()
            }
            SharedFunction::Gateway => {
                let message = md::MessageGatewayDescriptor::unpack_lossy(dwords);
                message.sub_func_id.name()
            }
            _ => None,
        };
        let name = name.unwrap_or("?");
        match function {
            SharedFunction::Urb => format!("write {name}"),
            _ => name.to_owned(),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// Oracle: descriptors of crocus's kernels, and Mesa's text of them.
        #[test]
        fn messages_of_kernels() {
            for (function, descriptor, expected) in [
                (SharedFunction::DataPortWrite, 0x85a0_4800, "Render Target Write"),
                (SharedFunction::Sampler, 0x0258_0001, "sample SIMD16 u v"),
                (SharedFunction::Math, 0x0111_0001, "INV"),
                (SharedFunction::Urb, 0x0640_4840, "write URB_TRANSPOSE"),
                (SharedFunction::Urb, 0x8650_c400, "write URB_INTERLEAVED"),
            ] {
                assert_eq!(words(function, descriptor), expected, "{descriptor:#x}");
            }
        }
    }
}
