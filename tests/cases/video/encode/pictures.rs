//! I, P and B pictures with random macroblocks.

use super::headers::headers;
use super::macroblocks::macroblock;
use super::setup::{
    CODED, HEAD, HEIGHT, RECORDS, REGISTERS, SECOND, TAIL, WIDTH, decodes, insert, model,
    reconstructed, store,
};
use super::state::{Variant, picture};
use crate::video::packets::submit;
use genxml::engine::EngineId;
use genxml::gen8::mfc::*;
use genxml::gen8::mfx_common::*;
use genxml::gen8::mfx_registers::{
    MfcAvcCabacBinCountFrame, MfcBitstreamBytecountFrame, MfcBitstreamSeBitcountFrame,
    MfcQpStatusCount, MfxMbCount,
};
use genxml::gen8::mi::{MiBatchBufferEnd, MiBatchBufferStart};
use genxml_cases::{Model, Random, at, packets, push};
use genxml_sim::Fault;
use genxml_sim::machine::events::{Event, Now};

const STORED: [u32; 5] = [
    MfcBitstreamBytecountFrame::OFFSET,
    MfcBitstreamSeBitcountFrame::OFFSET,
    MfcAvcCabacBinCountFrame::OFFSET,
    MfcQpStatusCount::OFFSET,
    MfxMbCount::OFFSET,
];

/// Encodes picture `index` of a stream. Returns its coded data without the delimiter.
pub fn encode(
    index: usize,
    variant: Variant,
    random: &mut Random,
    model: &mut Model,
) -> Result<Vec<u8>, Fault> {
    let mut batch = picture(index, variant);
    headers(index, variant, &mut batch);
    let objects: Vec<MfcAvcPakObject> = (0..WIDTH * HEIGHT)
        .map(|number| macroblock(index, number, variant, random, model))
        .collect();
    if variant.second_level {
        let mut second = Vec::new();
        objects.iter().for_each(|object| push(&mut second, object));
        push(&mut second, &MiBatchBufferEnd::new());
        model.put(SECOND, &second);
        push(
            &mut batch,
            &MiBatchBufferStart {
                second_level_batch_buffer:
                    genxml::gen8::mi::MiBatchBufferStartSecondLevelBatchBuffer::from_bits(1),
                ..MiBatchBufferStart::new(at(SECOND))
            },
        );
    } else {
        objects.iter().for_each(|object| push(&mut batch, object));
    }
    insert(&"0".repeat(8 * TAIL.len()), false, &mut batch);
    store(&STORED, &mut batch);
    submit(model, &batch)?;
    for (number, object) in objects.iter().enumerate().filter(|_| variant.own_source) {
        let dwords = model.get(RECORDS + 16 * number as u64, 4);
        let record =
            PakStreamOutRecord::unpack_lossy(&[dwords[0], dwords[1], dwords[2], dwords[3]]);
        let inline = &object.inline_data;
        assert_eq!(
            (record.intra_mb, record.mb_type.get()),
            (inline.intra_mb, inline.mb_type.bits())
        );
    }
    let coded = model.read(CODED, 0x8000);
    assert!(coded[..HEAD as usize].iter().all(|byte| *byte == 0xee));
    let rest = &coded[HEAD as usize..];
    let length = rest.windows(5).position(|bytes| bytes == TAIL).expect("a delimiter");
    assert_eq!(rest[length + 5], 0xee, "bytes after the delimiter");
    let [bytes, bits, bins, quantisers, macroblocks] = model.get(REGISTERS, 5)[..] else {
        unreachable!()
    };
    assert_eq!(bytes as usize, length + 5);
    assert!((bits as usize) < 8 * length && bits > 0);
    assert_eq!(bins > 0, variant.cabac);
    assert!(quantisers > 0 && macroblocks as usize == WIDTH * HEIGHT);
    Ok(rest[..length].to_vec())
}

/// Variant `number`. All of them are among 32.
pub fn variant(number: u64) -> Variant {
    Variant {
        cabac: number % 2 == 1,
        transform_8x8: number / 2 % 2 == 1,
        deblocking: number / 4 % 2 == 1,
        second_level: number / 8 % 2 == 1,
        own_source: number / 16 % 2 == 1,
    }
}

/// I, P and B pictures with random macroblocks.
#[test]
fn pictures_decode_as_they_were_reconstructed() {
    for number in 0..32 {
        let mut random = Random::new(number);
        let variant = variant(number);
        let mut model = model(&mut random);
        let mut stream = Vec::new();
        for index in 0..3 {
            model.write(CODED, &[0xee; 0x8000]);
            stream.extend(encode(index, variant, &mut random, &mut model).unwrap());
        }
        if !decodes(&stream, 3, &mut model, &format!("{number}: {variant:?}")) {
            return;
        }
    }
}

/// Two host threads write the same memory as one.
#[test]
fn host_threads() {
    for number in [0, 3, 21] {
        let run = |threads: usize| {
            let mut random = Random::new(number);
            let mut model = model(&mut random);
            model.gpu.set_threads(threads);
            let coded = [0, 1, 2].map(|index| {
                model.write(CODED, &[0xee; 0x8000]);
                encode(index, variant(number), &mut random, &mut model).unwrap()
            });
            let pictures = [0, 1, 2].map(|index| reconstructed(index, &mut model));
            (coded, pictures, model.read(REGISTERS, 0x2000))
        };
        assert!(run(1) == run(2), "{number}");
    }
}

/// A B picture without outputs: its coded data and counts are those of the same picture with an
/// output, and the observer sees what decoders show.
#[test]
fn pictures_without_outputs() {
    let variant = variant(5);
    let run = |outputs: bool| {
        let mut random = Random::new(3);
        let mut model = model(&mut random);
        for index in 0..2 {
            model.write(CODED, &[0xee; 0x8000]);
            encode(index, variant, &mut random, &mut model).unwrap();
        }
        let mut batch = picture(2, variant);
        let mode = MfxPipeModeSelect {
            standard_select: MfxPipeModeSelectStandardSelect::AVC,
            codec_select: MfxPipeModeSelectCodecSelect::ENCODE,
            post_deblocking_output_enable: outputs,
            ..MfxPipeModeSelect::new()
        };
        batch[..5].copy_from_slice(&packets![mode]);
        headers(2, variant, &mut batch);
        for number in 0..WIDTH * HEIGHT {
            push(&mut batch, &macroblock(2, number, variant, &mut random, &mut model));
        }
        store(&[MfxMbCount::OFFSET, MfcBitstreamBytecountFrame::OFFSET], &mut batch);
        let mut seen = Vec::<u8>::new();
        let mut observer = |_: Now, event: &Event<'_>| {
            if let Event::Picture(picture) = event {
                seen.extend(&picture.frame.planes[0].data);
            }
        };
        model.submit_observed(EngineId::Video, &batch, &mut observer).unwrap();
        let counts = model.get(REGISTERS, 2);
        assert_eq!((seen.len(), counts[0] as usize), (256 * WIDTH * HEIGHT, WIDTH * HEIGHT));
        (seen, counts, model.read(CODED, 0x8000), reconstructed(2, &mut model))
    };
    let ((samples, counts, coded, written), without) = (run(true), run(false));
    assert_eq!(samples, written[..samples.len()]);
    assert!((samples, counts, coded) == (without.0, without.1, without.2));
    assert!(without.3.iter().all(|sample| *sample == 0));
}
