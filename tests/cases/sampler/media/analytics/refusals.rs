//! Fields of messages and states that the functions do not support: faults with their names.

use super::filters::KERNELS;
use super::masks::{MASKS, pack};
use super::{Ask, Gray};
use crate::sampler::{SURFACE, model};
use genxml::eu::gen8::eu_payloads::{
    Sample8x8MessagePayload, Sample8x8MessagePayloadFunction as Function,
    Sample8x8MessagePayloadMmfMode as Extremes, SamplerMessageHeader,
    SamplerMessageHeaderOutputFormatControl as Format,
};
use genxml::gen8::media::{
    MediaSurfaceState, MediaSurfaceStatePictureStructure as Structure,
    MediaSurfaceStateSurfaceFormat as Surface, MediaSurfaceStateTileMode as Tiles,
};
use genxml_cases::{Random, u};

/// A good message of a function.
fn good(function: Function) -> Ask {
    let back = match function {
        Function::CONVOLVE | Function::CENTROID => 4,
        Function::MIN_MAX_FILTER => 8,
        Function::BOOL_CENTROID => 2,
        _ => 1,
    };
    let whole = [Function::MIN_MAX, Function::CENTROID, Function::BOOL_CENTROID];
    let sequence = if whole.contains(&function) { 2 } else { 0 };
    Ask { sequence, ..Ask::new(function, [0.25; 2], back) }
}

fn functions() -> impl Iterator<Item = Function> {
    (1..8).map(Function::from_bits)
}

fn format(function: Function) -> Surface {
    match function {
        Function::ERODE | Function::DILATE | Function::BOOL_CENTROID => Surface::Y1_UNORM,
        _ => Surface::Y8_UNORM_VA,
    }
}

fn samplers(function: Function) -> Vec<u32> {
    match function {
        Function::CONVOLVE => KERNELS[0].pack(),
        _ => pack(MASKS[0]),
    }
}

/// Functions, a change of their message, and a part of the fault.
type Case<'c> = (&'c [u64], fn(&mut Ask), &'c str);

/// Good messages end. Each changed field of the message gives a fault with its name and value.
#[test]
fn messages() {
    let (mut model, mut random) = (model(), Random::new(108));
    let mut fault = |function: Function, ask: Ask, change: &dyn Fn(&mut super::Send)| {
        let gray = Gray::random(&mut random, format(function));
        model.write(SURFACE, &gray.memory);
        let mut send = ask.send();
        change(&mut send);
        let ended = send.run(&mut model, &gray.state.pack(), &samplers(function));
        ended.map(|_| String::new()).unwrap_or_else(|fault| fault.to_string())
    };
    let none = |_: &mut super::Send| {};
    for function in functions() {
        assert_eq!(fault(function, good(function), &none), "", "{function:?}");
    }
    let cases: &[Case] = &[
        (&[1, 2, 6, 7], |ask| ask.sequence = 1, "Sequence = 1"),
        (&[1], |ask| ask.sequence = 3, "Sequence = 3"),
        (&[2, 6, 7], |ask| ask.sequence = 0, "Sequence = 0"),
        (&[3], |ask| ask.sequence = 1, "Sequence = 1"),
        (&[2, 3], |ask| ask.extremes = Extremes::from_bits(3), "MMF Mode = 3"),
        (&[3], |ask| ask.output = Format::from_bits(1), "Output Format Control = 1"),
        (&[3], |ask| ask.output = Format::from_bits(3), "Output Format Control = 3"),
        (&[6], |ask| ask.sizes = [64, 0], "Horizontal Size = 64"),
        (&[6], |ask| ask.sizes = [0, 4], "Vertical Size = 4"),
        (&[7], |ask| ask.sizes = [1, 0], "Horizontal Size = 1"),
        (&[7], |ask| ask.sizes = [0, 8], "Vertical Size = 8"),
        (&[1, 2, 3, 4, 5, 6, 7], |ask| ask.back += 1, "registers"),
        (&[8, 9, 15], |_| (), "function "),
    ];
    for (numbers, change, expected) in cases {
        for &number in *numbers {
            let function = Function::from_bits(number);
            let mut ask = good(function);
            change(&mut ask);
            let text = fault(function, ask, &none);
            assert!(text.contains(expected), "{function:?} {ask:?}: {text}");
        }
    }
    // Fields that other functions use do not matter.
    for function in functions() {
        let ask = Ask { extremes: Extremes::from_bits(3), ..good(function) };
        if ![Function::MIN_MAX, Function::MIN_MAX_FILTER].contains(&function) {
            assert_eq!(fault(function, ask, &none), "", "{function:?}");
        }
    }
    let block = |send: &mut super::Send| {
        send.payload = Sample8x8MessagePayload {
            vertical_block_number: u(2),
            ..Sample8x8MessagePayload::unpack_lossy(&send.payload)
        }
        .pack();
    };
    let headers: [&dyn Fn(&mut super::Send); 3] = [
        &|send| send.header = None,
        &|send| send.header.as_mut().unwrap().red_write_channel_mask = false,
        &|send: &mut super::Send| {
            let header: &mut SamplerMessageHeader = send.header.as_mut().unwrap();
            header.green_write_channel_mask = true;
        },
    ];
    for function in functions() {
        let text = fault(function, good(function), &block);
        assert!(text.contains("Vertical Block Number = 2"), "{text}");
        for header in headers {
            let text = fault(function, good(function), header);
            assert!(text.contains("green only"), "{text}");
        }
    }
}

/// The field and the value of the fault that a picture gives.
fn picture(function: Function, change: impl Fn(&mut MediaSurfaceState)) -> (String, u64) {
    let (mut model, mut random) = (model(), Random::new(109));
    let mut gray = Gray::random(&mut random, format(function));
    change(&mut gray.state);
    match good(function).run(&mut model, &gray, &samplers(function)) {
        Ok(_) => (String::new(), 0),
        Err(genxml_sim::Fault::BadPacket { field, value, .. }) => (field.to_owned(), value),
        Err(other) => panic!("{other}"),
    }
}

/// Each function and each format: those for the function end, the others give a fault.
#[test]
fn formats() {
    for function in functions() {
        let boolean = format(function) == Surface::Y1_UNORM;
        for number in 0..32 {
            let found = picture(function, |state| {
                state.surface_format = Surface::from_bits(number);
            });
            let good = if boolean { number == 16 } else { (5..8).contains(&number) };
            let expected =
                if good { (String::new(), 0) } else { ("Surface Format".into(), number) };
            assert_eq!(found, expected, "{function:?} {number}");
        }
        let found = picture(function, |state| state.tile_mode = Tiles::from_bits(1));
        assert_eq!(found, ("Tile Mode".into(), 1));
        let found = picture(function, |state| state.picture_structure = Structure::from_bits(3));
        assert_eq!(found, ("Picture Structure".into(), 3));
        let found = picture(function, |state| {
            state.tile_mode = Tiles::TILEMODE_YMAJOR;
            state.surface_pitch = genxml_core::MinusOne::new(200).unwrap();
        });
        assert_eq!(found, ("Surface Pitch".into(), 200));
        let found = picture(function, |state| {
            state.vertical_line_stride = u(0);
            state.vertical_line_stride_offset = u(1);
        });
        assert_eq!(found, ("Vertical Line Stride Offset".into(), 1));
    }
}

/// Sizes of kernels and shifts that the states do not allow.
#[test]
fn states() {
    let (mut model, mut random) = (model(), Random::new(110));
    let mut fault = |function: Function, dword: u32| {
        let gray = Gray::random(&mut random, format(function));
        let mut state = samplers(function);
        state[0] = dword;
        match good(function).run(&mut model, &gray, &state) {
            Ok(_) => (String::new(), 0),
            Err(genxml_sim::Fault::BadPacket { field, value, .. }) => (field.to_owned(), value),
            Err(other) => panic!("{other}"),
        }
    };
    for shift in 0..16 {
        let good = (String::new(), 0);
        let expected = if shift <= 10 { good } else { ("Scale down value".into(), shift) };
        assert_eq!(fault(Function::CONVOLVE, (shift as u32) << 8 | 0x33), expected);
    }
    for size in 0..16 {
        let masks = [Function::MIN_MAX_FILTER, Function::ERODE, Function::DILATE];
        for (function, width, height) in masks
            .map(|function| (function, "Width Of The Kernel", "Height Of The Kernel"))
            .into_iter()
            .chain([(Function::CONVOLVE, "WIDTH", "HEIGHT")])
        {
            let expected = |field: &str| {
                if size < 2 { (field.to_owned(), size) } else { (String::new(), 0) }
            };
            assert_eq!(fault(function, (size as u32) << 4 | 3), expected(width));
            assert_eq!(fault(function, 0x30 | size as u32), expected(height));
        }
    }
}
