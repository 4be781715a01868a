//! All forms of messages in the kernels of a real driver are accepted. Without the list
//! (`facts/gen45_messages_seen.tsv` beside the corpus) the test does nothing.

use crate::buffers::buffer;
use crate::rig::{Rig, SAMPLERS, Send, u};
use crate::texture::{Texture, load_sampler, sampler};
use crate::urb::fences;
use genxml::core::Address;
use genxml::eu::instruction::SharedFunction;
use genxml::gen45::enums::SurfaceType;
use genxml::gen45::message_headers::{
    DataPortMessageHeader, RenderTargetWriteMessageHeader, SamplerMessageHeader,
    UrbWriteMessageHeader,
};
use genxml::gen45::messages::*;
use genxml::gen45::state_surface::SamplerStateMipModeFilter as Mip;
use genxml_sim::gen45::urb::Unit;
use genxml_testkit::corpus;
use std::collections::HashMap;

/// The words of a line after the stage: names, each followed by its number.
fn numbers<'l>(words: &[&'l str]) -> HashMap<&'l str, u64> {
    let mut numbers = HashMap::new();
    let mut rest = words;
    while let [name, others @ ..] = rest {
        let digits = name.find(|letter: char| letter.is_ascii_digit());
        match digits {
            // A name and its number in one word, such as `scalar1`; `src0` has none.
            Some(at) if at > 0 && *name != "src0" => {
                numbers.insert(&name[..at], name[at..].parse().unwrap());
                rest = others;
            }
            _ => {
                let radix = if *name == "fn" { 16 } else { 10 };
                let number = others.first().and_then(|word| u64::from_str_radix(word, radix).ok());
                numbers.extend(number.map(|number| (*name, number)));
                rest = others.get(1..).unwrap_or_default();
            }
        }
    }
    numbers
}

#[test]
fn forms_of_real_kernels() {
    let Some(corpus) = corpus::folder() else { return };
    let list = corpus.join("../facts/gen45_messages_seen.tsv");
    let Ok(list) = std::fs::read_to_string(list) else { return };
    let mut count = 0;
    for line in list.lines().skip(1) {
        let form = line.split('\t').next().unwrap();
        let words: Vec<&str> = form.split(' ').collect();
        let given = numbers(&words[2..]);
        let mut rig = Rig::new();
        rig.local.pixels = words[0] == "wm";
        rig.bind(0, &buffer(64, 16).pack());
        rig.urb().fence(&fences()).unwrap();
        let send = message(&mut rig, words[0], words[1], &given);
        rig.send(&send).unwrap_or_else(|fault| panic!("{form}: {fault}"));
        count += 1;
    }
    assert!(count >= 79, "{count}");
}

fn message(rig: &mut Rig, stage: &str, name: &str, given: &HashMap<&str, u64>) -> Send {
    let get = |name: &str| given.get(name).copied().unwrap_or(0);
    let (function, descriptor) = match name {
        "math" => {
            let descriptor = ExtendedMathMessageDescriptor {
                math_function: Fc::from_bits(get("fn")),
                integer_type: ExtendedMathMessageDescriptorIntegerType::from_bits(get("int")),
                precision: ExtendedMathMessageDescriptorPrecision::from_bits(get("prec")),
                saturate: get("sat") == 1,
                source_structure: ExtendedMathMessageDescriptorSourceStructure::from_bits(get(
                    "scalar",
                )),
                ..ExtendedMathMessageDescriptor::new()
            };
            (SharedFunction::Math, descriptor.pack()[0])
        }
        "urb" => {
            let descriptor = UrbMessageDescriptor {
                swizzle_control: UrbSwizzle::from_bits(get("swz")),
                allocate: get("alloc") == 1,
                used: get("used") == 1,
                complete: get("complete") == 1,
                ..UrbMessageDescriptor::new()
            };
            (SharedFunction::Urb, descriptor.pack()[0])
        }
        "sampler" => {
            let descriptor = SamplerMessageDescriptor {
                message_type: u(get("type")),
                ..SamplerMessageDescriptor::new()
            };
            (SharedFunction::Sampler, descriptor.pack()[0])
        }
        "dpread" => {
            let descriptor = DataPortReadMessageDescriptor {
                target_cache: TargetCache::from_bits(get("cache")),
                read_message_type: DataPortReadType::from_bits(get("type")),
                message_specific_control: u(get("ctl")),
                binding_table_index: u(get("bti")),
                ..DataPortReadMessageDescriptor::new()
            };
            (SharedFunction::DataPortRead, descriptor.pack()[0])
        }
        "dpwrite" => {
            let descriptor = DataPortWriteMessageDescriptor {
                send_write_commit_message: get("commit") == 1,
                write_message_type: DataPortWriteType::from_bits(get("type")),
                message_specific_control: u(get("ctl")),
                binding_table_index: u(get("bti")),
                ..DataPortWriteMessageDescriptor::new()
            };
            (SharedFunction::DataPortWrite, descriptor.pack()[0])
        }
        other => panic!("{other} is not a shared function"),
    };
    let mut payload = vec![[0u32; 8]; get("mlen") as usize];
    prepare(rig, stage, name, given, &mut payload);
    let descriptor = MessageDescriptor {
        response_length: u(get("rlen")),
        ..MessageDescriptor::unpack_lossy(&[descriptor])
    };
    let channels = get("exec") as u8;
    Send {
        mask: u32::MAX >> (32 - u32::from(channels)),
        channels,
        response: get("rlen") > 0,
        eot: get("eot") == 1,
        ..Send::new(function, descriptor.pack()[0], payload)
    }
}

/// The state that a message refers to, and its header.
fn prepare(
    rig: &mut Rig,
    stage: &str,
    name: &str,
    given: &HashMap<&str, u64>,
    payload: &mut [[u32; 8]],
) {
    match name {
        "sampler" => {
            // Loads of pull constants are the ones with one parameter.
            if given["type"] != 3 || given["mlen"] != 3 {
                let texture = Texture::new(SurfaceType::SURFTYPE_2D, [8, 8, 1], 3);
                texture.load(rig);
                rig.bind(0, &texture.state().pack());
            }
            load_sampler(rig, 0, &sampler(true, Mip::LINEAR));
            payload[0] = SamplerMessageHeader {
                sampler_state_pointer: Address::new(SAMPLERS).unwrap(),
                ..SamplerMessageHeader::new()
            }
            .pack();
        }
        "urb" => {
            let (unit, entries, rows) = match stage {
                "vs" => (Unit::Vs, 25, 5),
                "gs" => (Unit::Gs, 3, 5),
                "clip" => (Unit::Clip, 4, 5),
                _ => (Unit::Sf, 8, 4),
            };
            rig.urb().begin(unit, entries, rows).unwrap();
            let [first, second] = [0, 1].map(|n| u(rig.urb().handle(n).into()));
            payload[0] = UrbWriteMessageHeader {
                urb_return_handle_0: first,
                urb_return_handle_1: second,
                ..UrbWriteMessageHeader::new()
            }
            .pack();
        }
        "dpwrite" if given["type"] == 4 => {
            let sent = given["mlen"];
            let header = RenderTargetWriteMessageHeader {
                antialias_alpha_present_to_render_target: sent == 11,
                source_depth_present_to_render_target: sent >= 12,
                destination_depth_present_to_render_target: sent == 14,
                ..RenderTargetWriteMessageHeader::new()
            }
            .pack();
            for (n, dword) in header.into_iter().enumerate() {
                payload[n / 8][n % 8] = dword;
            }
        }
        "dpread" | "dpwrite" => {
            payload[0] = DataPortMessageHeader {
                immediate_buffer_base_address: Address::new(0x1_0000).unwrap(),
                ..DataPortMessageHeader::new()
            }
            .pack();
        }
        _ => {}
    }
}
