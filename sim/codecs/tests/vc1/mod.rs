//! The decoder of VC-1.

mod bitplane;
mod compare;
mod generate;
mod headers;
mod mutate;
mod parse;
mod player;
mod write;

use crate::{matroska, support};
use player::Player;

/// Oracle: the software decoder's frames of the corpus.
#[test]
fn streams_of_the_corpus_decode_exactly() {
    for stream in support::streams("vc1") {
        let file = matroska::read(&std::fs::read(&stream.path).unwrap()).unwrap();
        let mut player = Player::of_codec_data(&file.codec, file.size);
        for frame in &file.frames {
            player.packet(frame);
        }
        let (frames, report) = player.finish();
        assert_eq!((report.errors, report.concealed), (0, 0), "{}", stream.file);
        assert_eq!(frames.len(), stream.frames.len(), "{}", stream.file);
        for (index, (frame, (width, height, want))) in frames.iter().zip(&stream.frames).enumerate()
        {
            let md5 = support::md5(frame, (*width, *height), (2, 2));
            assert_eq!(&md5, want, "{}: frame {index}", stream.file);
        }
    }
}

/// Decodes a file. Returns the number of frames.
#[allow(dead_code, reason = "the benchmark uses it")]
pub fn play(file: &[u8]) -> usize {
    let Some(file) = matroska::read(file) else { return 0 };
    let mut player = Player::of_codec_data(&file.codec, file.size);
    for frame in &file.frames {
        player.packet(frame);
    }
    player.finish().0.len()
}
