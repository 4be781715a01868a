//! Texts that are not dumps of a kernel: batches of Mesa, hex dumps, base64.

use super::{corpus_text, decoded, notes, open, own};
use genxml::decode::{Decoder, Options, Record, Tables};
use genxml::dump::{Dump, How, Kind};
use genxml::engine::EngineId;
use std::fmt::Write as _;
use std::io::Cursor;

/// PIPE_CONTROL, MI_LOAD_REGISTER_IMM, MI_BATCH_BUFFER_END.
const BATCH: [u32; 10] =
    [0x7a00_0004, 0x0010_1021, 0, 0, 0, 0, 0x1100_0001, 0x2580, 0x0004_0004, 0x0500_0000];

/// The decoding of the batch at an address, as plain dwords.
fn plain(address: u64) -> String {
    let bytes = BATCH.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    body(&mut Dump::raw(EngineId::Render, address, bytes))
}

/// The decoded packets, without the line before a batch, which has its name.
fn body(dump: &mut Dump) -> String {
    let text = decoded(dump);
    let packets = text.lines().skip_while(|line| !line.contains("PIPE_CONTROL"));
    packets.map(|line| format!("{line}\n")).collect()
}

/// The batch as `INTEL_DEBUG=bat` prints it.
fn mesa() -> String {
    let mut text = String::from("  iris_batch.c:267: render batch [1] flush with  40b (0.1%)\n");
    for (at, name) in [(0, "PIPE_CONTROL"), (6, "MI_LOAD_REGISTER_IMM"), (9, "MI_BATCH_BUFFER_END")]
    {
        let (address, header) = (0xffff_ffff_feff_e000u64 + 4 * at as u64, BATCH[at]);
        writeln!(text, "{address:#018x}:  {header:#010x}:  {name}      ").unwrap();
        let end = if at == 0 {
            6
        } else if at == 6 {
            9
        } else {
            10
        };
        for (index, dword) in BATCH[at..end].iter().enumerate() {
            let address = address + 4 * index as u64;
            writeln!(text, "{address:#018x}:  {dword:#010x} : Dword {index}").unwrap();
            writeln!(text, "    Some Field: {index}").unwrap();
        }
    }
    text
}

#[test]
fn batches_of_mesa() {
    let mut dump = open(mesa().as_bytes()).unwrap();
    assert_eq!(dump.kind(), Kind::Text);
    assert_eq!(body(&mut dump), plain(0xffff_feff_e000));
    // Also quoted, coloured and with other line ends.
    let quoted: String = mesa().lines().map(|line| format!("> {line}\n")).collect();
    let mut dump = open(quoted.as_bytes()).unwrap();
    assert_eq!(body(&mut dump), plain(0xffff_feff_e000));
    assert!(notes(&dump).contains("quoted with '> '"));
    let broken = mesa().replace("0x00101021 :", "0x001o1021 :");
    let error = open(broken.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("line 5, column 22"), "{error}");
}

#[test]
fn hex_dumps() {
    let bytes: Vec<u8> = BATCH.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    let (mut xxd, mut canonical, mut list) = (String::new(), String::new(), String::new());
    for (index, row) in bytes.chunks(16).enumerate() {
        let shown: String =
            row.iter().map(|b| if (32..127).contains(b) { char::from(*b) } else { '.' }).collect();
        let pairs: Vec<String> =
            row.chunks(2).map(|b| format!("{:02x}{:02x}", b[0], b[1])).collect();
        writeln!(xxd, "{:08x}: {:39}  {shown}", 16 * index, pairs.join(" ")).unwrap();
        let single: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(canonical, "{:08x}  {:48}  |{shown}|", 16 * index, single.join(" ")).unwrap();
    }
    writeln!(canonical, "{:08x}", bytes.len()).unwrap();
    for (index, dword) in BATCH.iter().enumerate() {
        writeln!(list, "0x{:08x}: 0x{dword:08x}", 4 * index).unwrap();
    }
    for text in [&xxd, &canonical, &list] {
        let mut dump = open(text.as_bytes()).unwrap();
        assert_eq!(body(&mut dump), plain(0), "{text}");
        assert!(notes(&dump).contains("--engine"), "{}", notes(&dump));
        // With --raw, too.
        let how = How { raw: Some((EngineId::Render, 0x1000)), ..How::default() };
        let mut dump = Dump::read("x", Cursor::new(text.clone().into_bytes()), &how).unwrap();
        assert_eq!(body(&mut dump), plain(0x1000), "{text}");
    }
    let how = How { text: Some((EngineId::Render, 0x2000)), ..How::default() };
    let mut dump = Dump::read("x", Cursor::new(xxd.clone().into_bytes()), &how).unwrap();
    assert_eq!((body(&mut dump), notes(&dump)), (plain(0x2000), String::new()));
    let error = open(xxd.replace("00000010:", "00000020:").as_bytes()).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("0x10 is expected"), "{error}");
}

#[test]
fn dumps_inside_texts() {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (_, text) = own().pop().unwrap();
    let expected = decoded(&mut open(text.as_bytes()).unwrap());
    let mut base64 = String::new();
    for (index, group) in text.as_bytes().chunks(3).enumerate() {
        let bits = group
            .iter()
            .enumerate()
            .fold(0u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            base64.push(if at <= group.len() { char::from(digit) } else { '=' });
        }
        if index % 19 == 18 {
            base64.push('\n');
        }
    }
    base64.push('\n');
    let hex: String = text
        .as_bytes()
        .chunks(16)
        .enumerate()
        .map(|(index, row)| {
            let bytes: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{:08x}  {}\n", 16 * index, bytes.join(" "))
        })
        .collect();
    for text in [base64, hex] {
        let mut dump = open(text.as_bytes()).unwrap();
        assert_eq!(dump.kind(), Kind::Devcoredump);
        assert_eq!(decoded(&mut dump), expected);
    }
}

/// Oracle: the line that Mesa prints for each packet, with its address and header.
#[test]
fn every_packet_of_mesa() {
    let Some(text) = corpus_text("iris_bat/bdw_kmscube.mesa.txt.xz") else { return };
    let number = |text: &str| u64::from_str_radix(&text[2..], 16).unwrap();
    let expected: Vec<(u64, u32)> = text
        .lines()
        .filter_map(|line| {
            let (address, rest) = line.split_once(":  ")?;
            let (header, _) = rest.split_once(":  ")?;
            address
                .starts_with("0x")
                .then(|| (number(address) & 0xffff_ffff_ffff, number(header) as u32))
        })
        .collect();
    assert_eq!(expected.len(), 188);
    let mut found = Vec::new();
    let mut sink = |record: &Record| {
        if record.kind.is_packet() {
            found.push((record.address, record.dwords[0]));
        }
        Ok(())
    };
    let decoder = Decoder::new(Tables::gen8(), Options::default());
    decoder.submissions(&mut open(text.as_bytes()).unwrap(), &mut sink).unwrap();
    assert_eq!(found, expected);
}
