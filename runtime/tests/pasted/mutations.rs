//! Random changes of dumps and of pasted texts: never a panic.

use super::{decoded, open, own};
use genxml_testkit::Random;

/// A text with a few random changes: other bytes, missing and repeated lines, exchanged lines.
fn mutated(text: &[u8], random: &mut Random) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=random.below(6) {
        let (one, other) = (random.index(lines.len()), random.index(lines.len()));
        match random.below(6) {
            0 => lines.swap(one, other),
            1 if lines.len() > 1 => drop(lines.remove(one)),
            2 => lines.insert(one, lines[other].clone()),
            3 => {
                let length = lines[one].len();
                lines[one].truncate(random.index(length + 1));
            }
            4 => {
                let byte = random.bits() as u8;
                let at = random.index(lines[one].len() + 1);
                lines[one].insert(at, byte);
            }
            _ if !lines[one].is_empty() => {
                let at = random.index(lines[one].len());
                lines[one][at] = random.bits() as u8;
            }
            _ => {}
        }
    }
    let mut text = lines.join(&b'\n');
    if random.one_in(8) {
        text.truncate(random.index(text.len() + 1));
    }
    text
}

/// `GENXML_MUTATIONS` sets the number of changed texts.
#[test]
fn nothing_panics() {
    let count = std::env::var("GENXML_MUTATIONS").ok().and_then(|text| text.parse().ok());
    let count: usize = count.unwrap_or(2000);
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for (_, text) in own() {
        // Short buffers, so that many changes concern the lines around them.
        let short: String = text
            .lines()
            .filter(|line| !line.contains(" :  ") || *line < "00000080")
            .map(|line| format!("{}\n", &line[..line.len().min(400)]))
            .collect();
        texts.push(short.lines().map(|line| format!("> {line}\n")).collect::<String>().into());
        texts.push(
            short.lines().map(|line| format!("[  1.234567] {line}\n")).collect::<String>().into(),
        );
        texts.push(short.into_bytes());
    }
    texts.push(
        b"00000000: 0400 007a 2110 1000 0000 0000 0000 0000  ...z!...........\n\
                 *\n00000020: 0000 0005                                ....\n"
            .to_vec(),
    );
    texts.push(
        b"0x00001000:  0x7a000004:  PIPE_CONTROL\n0x00001000:  0x7a000004 : Dword 0\n\
                 0x00001004:  0x00100000 : Dword 1\n0x00001008:  0x00000000 : Dword 2\n"
            .to_vec(),
    );
    let mut random = Random::new(7);
    for round in 0..count {
        let text = mutated(&texts[round % texts.len()], &mut random);
        if let Ok(mut dump) = open(&text)
            && round % 4 == 0
        {
            decoded(&mut dump);
        }
    }
}
