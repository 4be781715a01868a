//! `genx run --error-state`: the error state after a fault or hang names the packet and contains
//! its memory. Oracle: the dwords of the batch, which the test writes.

use crate::common::{batch_capture, fill_capture, finish, genx};
use genxml::core::{Address, U};
use genxml::decode::Tables;
use genxml::engine::{Blitter, Render};
use genxml::error_state::{BufferKind, ErrorState};
use genxml::gen8::mi::{
    MiBatchBufferStart, MiBatchBufferStartAddressSpaceIndicator, MiNoop, MiStoreDataImm,
};
use genxml::hang;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use tempfile::tempdir;

/// Runs a capture that must fail, and reads the error state that it wrote.
fn left(input: &Path, more: &[&str]) -> (ErrorState, String) {
    let place = tempdir().unwrap();
    let file = place.path().join("left.error");
    let args =
        [&["run", input.to_str().unwrap(), "--error-state", file.to_str().unwrap()], more].concat();
    let (code, out, err) = finish(genx(args));
    assert_eq!(code, 3, "{out}{err}");
    assert!(err.contains("left.error"), "{err}");
    let state = ErrorState::read(&fs::read(&file).unwrap()[..]);
    assert_eq!(state.notes, []);
    let summary = hang::summary(&state, Tables::gen8()).to_string();
    (state, summary)
}

/// A batch at 0x20000: a MI_NOOP, then a store to `target`.
fn storing(directory: &Path, target: u64) {
    batch_capture::<Blitter>(directory, |batch| {
        batch.emit(&MiNoop::new()).unwrap();
        let value = [U::new(1).unwrap()];
        let store = MiStoreDataImm::new(Address::new(target).unwrap());
        batch.emit(&MiStoreDataImm { data_dword: (&value).into(), ..store }).unwrap();
    });
}

#[test]
fn page_faults() {
    let capture = tempdir().unwrap();
    storing(capture.path(), 0x1234_5678_9000);
    let (state, summary) = left(capture.path(), &[]);
    let engine = state.engine("bcs0").expect("the blitter");
    assert_eq!(state.engines.len(), 1);
    assert_eq!(engine.value("ACTHD"), Some(0x2_0004));
    assert_eq!(engine.value("IPEHR"), Some(0x1000_0002));
    assert_eq!(engine.process.as_ref().map(|process| &process.name[..]), Some("batch"));
    // `value` is DATA1: address bits 47:44 and the kind of table. `more` is DATA0: address bits
    // 43:12 (gen8_facts 1.6).
    let data = state.register("FAULT_TLB_DATA").expect("the fault's address");
    assert_eq!((data.value, &data.more[..]), (0x1, &[0x2345_6789][..]));
    assert_eq!(engine.value("FAULT_REG").map(|value| value & 1), Some(1));
    // All bits of BCS_INSTDONE in Mesa's gen8.xml except 3, BCS Done.
    assert_eq!(engine.value("INSTDONE"), Some(0x7));
    let buffers: Vec<(&BufferKind, u64)> =
        state.buffers.iter().map(|buffer| (&buffer.kind, buffer.address)).collect();
    assert!(buffers.contains(&(&BufferKind::Batch, 0x2_0000)), "{buffers:?}");
    assert!(buffers.contains(&(&BufferKind::User, 0x1_0000)), "{buffers:?}");
    assert!(buffers.iter().any(|buffer| *buffer.0 == BufferKind::Ring), "{buffers:?}");
    for word in ["MI_STORE_DATA_IMM", "20004", "123456789000"] {
        assert!(
            summary.replace('_', "").contains(&word.replace('_', "")),
            "{word} not in:\n{summary}"
        );
    }
}

/// The store of `storing` also faults in an AUB file, in which a ring starts the batch and page
/// tables are in memory.
#[test]
fn page_faults_of_aub_files() {
    let place = tempdir().unwrap();
    let (capture, file) = (place.path().join("batch"), place.path().join("batch.aub"));
    storing(&capture, 0x8_0000_0000);
    let (code, _, err) =
        finish(genx(["convert", capture.to_str().unwrap(), "-o", file.to_str().unwrap()]));
    assert_eq!(code, 0, "{err}");
    let (state, summary) = left(&file, &[]);
    let engine = state.engine("bcs0").expect("the blitter");
    assert_eq!((engine.value("ACTHD"), engine.value("IPEHR")), (Some(0x2_0004), Some(0x1000_0002)));
    assert!(engine.value("PDP0").is_some_and(|root| root != 0));
    let ring = state.buffers.iter().find(|buffer| buffer.kind == BufferKind::Ring).expect("a ring");
    assert_eq!(ring.data[..8], [0x01, 0x01, 0x80, 0x18, 0, 0, 2, 0]);
    let batch =
        state.buffers.iter().find(|buffer| buffer.kind == BufferKind::Batch).expect("a batch");
    assert_eq!((batch.address, &batch.data[4..8]), (0x2_0000, &[2, 0, 0, 0x10][..]));
    assert!(summary.contains("MI_STORE_DATA_IMM"), "{summary}");
}

#[test]
fn hangs() {
    let capture = tempdir().unwrap();
    batch_capture::<Render>(capture.path(), |batch| {
        batch.emit(&MiNoop::new()).unwrap();
        let start = MiBatchBufferStart::new(Address::new(batch.address()).unwrap());
        let space = MiBatchBufferStartAddressSpaceIndicator::PPGTT;
        batch.emit(&MiBatchBufferStart { address_space_indicator: space, ..start }).unwrap();
    });
    let (state, summary) = left(capture.path(), &["--work-limit", "100001"]);
    let engine = state.engine("rcs0").expect("the render engine");
    let acthd = engine.value("ACTHD").unwrap();
    assert!([0x2_0000, 0x2_0004].contains(&acthd), "{acthd:#x}");
    let headers = [(0x2_0000, 0), (0x2_0004, 0x1880_0101)];
    assert!(headers.contains(&(acthd, engine.value("IPEHR").unwrap())));
    assert!(engine.value("FAULT_REG").is_none_or(|value| value & 1 == 0));
    // All bits of INSTDONE_1 in Mesa's gen8.xml except 21, CS Done. No thread runs: of the other
    // registers, all bits are set.
    assert_eq!(engine.value("INSTDONE"), Some(0xff_f3ff & !(1 << 21)));
    assert_eq!(engine.value("ROW_INSTDONE[0][0]"), Some(0x5ef_904b));
    assert!(summary.contains("MI_BATCH_BUFFER_START"), "{summary}");
}

#[test]
fn without_a_fault_there_is_none() {
    let place = tempdir().unwrap();
    let (capture, file) = (place.path().join("fill"), place.path().join("left.error.gz"));
    fill_capture(&capture, |_| ());
    let args = ["run", capture.to_str().unwrap(), "--error-state", file.to_str().unwrap()];
    let (code, _, err) = finish(genx(args));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(!file.exists());
    // The suffix of the file name selects the compression.
    storing(&capture, 0x8_0000_0000);
    assert_eq!(finish(genx(args)).0, 3);
    assert_eq!(fs::read(&file).unwrap()[..2], [0x1f, 0x8b]);
}

/// A dump as people paste it decodes as the file, with one line about the repairs.
#[test]
fn pasted_text_decodes_as_the_file() {
    let place = tempdir().unwrap();
    let (capture, file) = (place.path().join("fill"), place.path().join("hang.error"));
    fill_capture(&capture, |_| ());
    storing(&capture, 0x8_0000_0000);
    let args = ["run", capture.to_str().unwrap(), "--error-state", file.to_str().unwrap()];
    assert_eq!(finish(genx(args)).0, 3);
    let (code, clean, _) = finish(genx(["decode", file.to_str().unwrap()]));
    assert_eq!(code, 0);
    assert!(clean.contains("the rest of the file:"), "{clean}");
    let text = fs::read_to_string(&file).unwrap();
    let mut wrapped = String::new();
    for line in text.lines() {
        for piece in line.as_bytes().chunks(74) {
            wrapped += &format!("> {}\n", std::str::from_utf8(piece).unwrap());
        }
    }
    let pasted = place.path().join("pasted.txt");
    fs::write(&pasted, wrapped).unwrap();
    let (code, out, err) = finish(genx(["decode", pasted.to_str().unwrap()]));
    assert_eq!((code, &out), (0, &clean), "{err}");
    let said = "the text was quoted with '> ' and wrapped at 74 columns: repaired";
    assert!(err.contains(said), "{err}");
}

/// Buffers that no batch reaches are listed, and decoded one by one.
#[test]
fn objects_are_decoded_alone() {
    let place = tempdir().unwrap();
    let file = place.path().join("two.error");
    let rows = |dwords: &[u32]| -> String {
        let rows = dwords.iter().enumerate();
        rows.map(|(at, dword)| format!("{:08x} :  {dword:08x}\n", 4 * at)).collect()
    };
    let text = format!(
        "PCI ID: 0x1616\nrender command stream:\n  ACTHD: 0x00001000\n\
         rcs0 --- gtt_offset = 0x00000000 00001000\n{}\
         rcs0 --- user = 0x00000000 00008000\n{}\
         rcs0 --- user = 0x00000000 00009000\n{}",
        rows(&[0x0500_0000, 0]),
        rows(&[0x1100_0001, 0x2580, 0x0004_0004, 0x0500_0000]),
        rows(&[0x3f80_0000, 0x4000_0000, 0xdead_beef, 1]),
    );
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let (code, out, _) = finish(genx(["decode", file]));
    assert_eq!(code, 0);
    let list = out.split("no batch reaches these buffers").nth(1).expect("a list");
    assert!(list.contains("0x000000008000        16 bytes  rcs0 user buffer"), "{list}");
    let (code, out, _) = finish(genx(["decode", file, "--object", "0x8004"]));
    assert!(code == 0 && out.contains("MI_LOAD_REGISTER_IMM"), "{out}");
    let (code, out, _) = finish(genx(["decode", file, "--object", "0x9000"]));
    assert_eq!(code, 0);
    assert!(out.contains("0x000000009000: 3f800000 40000000 deadbeef 00000001"), "{out}");
    let (code, out, _) = finish(genx(["decode", file, "--object", "rcs0 user"]));
    assert!(code == 0 && out.contains("MI_LOAD_REGISTER_IMM") && out.contains("deadbeef"), "{out}");
    let (code, _, err) = finish(genx(["decode", file, "--object", "ring"]));
    assert_eq!(code, 2);
    assert!(err.contains("0x000000001000         8 bytes  rcs0 batch"), "{err}");
}

/// Everything that intel_error_decode prints is in the text of `genx decode`: numbers, and the
/// names of busy units. Oracle: Debian's intel_error_decode; skipped without it and without the
/// corpus.
#[test]
fn everything_of_intel_error_decode() {
    let Some(corpus) = genxml_testkit::corpus::folder() else {
        eprintln!("skipped: the corpus is not there");
        return;
    };
    if Command::new("intel_error_decode").arg("/dev/null").output().is_err() {
        eprintln!("skipped: intel_error_decode is not installed (intel-gpu-tools)");
        return;
    }
    let folder = tempdir().unwrap();
    let gm45 = folder.path().join("gm45");
    let packed = corpus.join("dumps/gm45_hang.i915_error_state.xz");
    let mut text = Vec::new();
    genxml::aub::decompressed(&packed).unwrap().read_to_end(&mut text).unwrap();
    fs::write(&gm45, text).unwrap();
    let broadwell = folder.path().join("broadwell.error");
    let capture = corpus.join("drivers/kmscube");
    let (code, _, err) =
        finish(genx([Path::new("convert"), &capture, Path::new("-o"), &broadwell]));
    assert_eq!(code, 0, "{err}");
    for state in [gm45, broadwell] {
        let reference = Command::new("intel_error_decode").arg(&state).output().unwrap();
        let reference = String::from_utf8_lossy(&reference.stdout).into_owned();
        let (code, own, err) = finish(genx([Path::new("decode"), &state]));
        assert_eq!(code, 0, "{err}");
        let own = own.to_lowercase().replace('_', "");
        let (mut lines, mut missing) = (0, Vec::new());
        for line in reference.lines() {
            // The decoded commands, which other tests compare, and memory.
            if line.trim_start().starts_with(['[', '0']) {
                continue;
            }
            lines += 1;
            let numbers = line.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(|word| {
                u64::from_str_radix(word.strip_prefix("0x")?, 16).ok().filter(|value| *value != 0)
            });
            let all = numbers.into_iter().all(|value| own.contains(&format!("{value:x}")));
            let unit = line.trim().strip_prefix("busy: ").map(str::to_lowercase);
            let named = unit.is_none_or(|unit| own.contains(&unit));
            if !all || !named {
                missing.push(line);
            }
        }
        assert!(missing.is_empty(), "{}: {missing:#?}", state.display());
        assert!(lines > 50, "{}: {lines} lines", state.display());
    }
}
