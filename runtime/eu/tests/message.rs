//! Descriptions of messages of real kernels.

use genxml_eu::instruction::{Descriptor, SharedFunction};
use genxml_eu::instructions;
use genxml_eu::message::Span;
use genxml_eu::message::describe;
use genxml_testkit::corpus;
use std::collections::BTreeMap;

/// Oracle: the messages of compilers and of hand-written kernels. Every message has a structure,
/// and no length contradicts the rest of its descriptor.
#[test]
fn messages_of_kernels() {
    let Some(corpus) = corpus::folder() else { return };
    let (mut total, mut checked) = (0, 0);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong: BTreeMap<String, usize> = BTreeMap::new();
    for (path, bytes) in corpus::kernels(&corpus) {
        for line in instructions(&bytes) {
            let Some(send) = line.unwrap().instruction.send else { continue };
            let Descriptor::Immediate(descriptor) = send.descriptor else { continue };
            let message = describe(send.function, descriptor);
            let container =
                message.container.unwrap_or_else(|| panic!("{}: {message}", path.display()));
            total += 1;
            checked += usize::from(message.lengths().is_some());
            *kinds.entry(container.name.to_string()).or_default() += 1;
            if message.contradicts_lengths() {
                let kind =
                    path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
                *wrong
                    .entry(format!(
                        "{kind} {message}, {} | {:?}",
                        message.words(),
                        message.lengths().unwrap()
                    ))
                    .or_default() += 1;
            }
        }
    }
    println!("{total} messages, lengths of {checked} checked");
    for (kind, count) in &kinds {
        println!("{count:6} {kind}");
    }
    for (kind, count) in &wrong {
        println!("{count:6} contradict: {kind}");
    }
    assert!(total > 4_000 && checked * 100 > total * 99);
    assert!(wrong.is_empty(), "{} kinds of messages contradict their lengths", wrong.len());
}

#[test]
fn counts_in_words() {
    let text = |min, max, step| Span { min, max, step }.to_string();
    assert_eq!(text(2, 2, 1), "2");
    assert_eq!(text(1, 16, 1), "1 to 16");
    assert_eq!([text(2, 4, 2), text(2, 8, 2)], ["2 or 4", "2, 4, 6 or 8"]);
}

/// One message to each shared function. Oracle: descriptors written by hand from 2d p.115-501 and
/// Mesa's definitions.
#[test]
fn every_receiver() {
    use SharedFunction::*;
    let cases = [
        (
            Sampler,
            0x0284_0302,
            "sampler Message Descriptor - Sampling Engine: Binding Table Index 2, Sampler Index 3, Message Type sample, \
             SIMD Mode[1:0] SIMD16; sent 1, returned 8",
        ),
        (
            Gateway,
            0x0200_0004,
            "gateway Message Gateway Descriptor: Gateway Opcode Barrier, Ack Request no, Notify no, \
             Notify High no; sent 1, returned 0",
        ),
        (
            DataPortSampler,
            0x0229_0005,
            "hdc.dcro Read-Only Data Port Message Descriptor: Binding Table Index 5, Message Control 0, Message Type \
             MT_SC_MB; sent 1 with header, returned 2",
        ),
        (
            DataPortConstant,
            0x0218_0205,
            "hdc.cc MSD_CC_OWB: Binding Table Index 5, Data Elements OW2, Message Type 0; sent 1 with header, returned 1",
        ),
        (
            DataPortRender,
            0x0803_1400,
            "hdc.rc MSD_RTW: Binding Table Index 0, Message Subtype SIMD8_LO, Slot Group Select SLOTGRP_LO, Last Render \
             Target Select yes, Per Sample no, Message Type MT_RTW, Precision Full; sent 4, returned 0",
        ),
        (
            Urb,
            0x0a08_0017,
            "urb URB Message Descriptor: URB Opcode SIMD8 Write, Global Offset 1, Swizzle Control None, Per Slot Offset \
             no; sent 5 with header, returned 0",
        ),
        (
            ThreadSpawner,
            0x0200_0010,
            "spawner Thread Spawn Message Descriptor: Opcode Dereference Resource, Requester Type Root Thread, Resource Select \
             Keep Resource; sent 1, returned 0",
        ),
        (
            MotionEstimation,
            0x0c78_4000,
            "vme Motion Estimation Message Descriptor: Binding Table Index 0, Message Type IME, Stream Out no, \
             Stream In no; sent 6 with header, \
             returned 7",
        ),
        (
            CheckAndRefinement,
            0x1078_6000,
            "cre Motion Estimation Message Descriptor: Binding Table Index 0, Message Type FBR, Stream Out no, \
             Stream In no; sent 8 with header, \
             returned 7",
        ),
        (
            DataPort0,
            0x040e_0005,
            "hdc.dc0 MSD0_SCRATCH: Offset 5, Block Size 1, Invalidate After Read no, DWord Channel Mode no, Write yes, \
             Legacy Message 1; sent 2 with header, returned 0",
        ),
        (
            DataPort1,
            0x0420_5e02,
            "hdc.dc1 MSD1_US: Binding Table Index 2, Channel Mask R, SIMD Mode SIMD16, Message Type MT1R_US; sent 2, \
             returned 2",
        ),
        (
            PixelInterpolator,
            0x0220_1020,
            "pixi Pixel Interpolator Message Descriptor: Message Data 32, Slot Group Select 0, Message Type Sample \
             Position, Linear no, SIMD Mode SIMD8; sent 1, returned 2",
        ),
        (Reserved(14), 0x0210_0000, "reserved; sent 1, returned 1"),
    ];
    let mut wrong = Vec::new();
    for (function, descriptor, expected) in cases {
        let text = describe(function, descriptor).to_string();
        if text != expected {
            wrong.push(format!("{expected}\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lengths that contradict the rest of the descriptor are found.
#[test]
fn wrong_lengths() {
    // Untyped read of one channel, SIMD16: two registers of addresses, two of data.
    let read = |sent: u32, returned: u32| {
        describe(SharedFunction::DataPort1, sent << 25 | returned << 20 | 0x5e02)
    };
    let lengths = read(2, 2).lengths().unwrap();
    assert_eq!((lengths.sent, lengths.returned), (Span::exactly(2), Span::exactly(2)));
    assert!(!read(2, 2).contradicts_lengths());
    assert!(!read(2, 0).contradicts_lengths(), "the response length may be zero");
    assert!(read(1, 2).contradicts_lengths());
    assert!(read(2, 1).contradicts_lengths());
    // A fence without commit returns nothing.
    assert!(describe(SharedFunction::DataPort0, 0x0219_c000).contradicts_lengths());
    assert!(!describe(SharedFunction::DataPort0, 0x0219_e000).contradicts_lengths());
    // Bit 31 is not part of the descriptor.
    assert_eq!(describe(SharedFunction::ThreadSpawner, 0x8200_0010).descriptor(), 0x0200_0010);
}
