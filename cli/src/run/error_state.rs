//! `--error-state`: the state after a fault, in the format of the i915 driver.

use crate::compress::Output;
use crate::output::{Error, bad_input};
use genxml::aub::Header;
use genxml::capture::{Capture, Exec};
use genxml::engine::EngineId;
use genxml::error_state::{self, ErrorState, Spelling};
use genxml_sim::error_state::Ran;
use genxml_sim::replay::Replay;
use genxml_sim::{Fault, Gpu};
use std::path::Path;

/// The kernel version whose format the error state has.
const SPELLING: Spelling = Spelling::Linux6_1;

/// PCI device id of a Broadwell GT2, used when the file does not name the GPU.
const BROADWELL: u32 = 0x1616;

/// Writes the error state after a fault in a submission of a capture.
pub fn of_exec(
    path: &Path,
    replay: &mut Replay<'_>,
    capture: &Capture,
    exec: &Exec,
    fault: &Fault,
) -> Result<(), Error> {
    let objects = exec.objects.iter();
    let memory: Vec<(u64, Vec<u8>)> =
        objects.map(|object| (object.address, replay.bytes(object.object).to_vec())).collect();
    let ran = Ran {
        name: capture.name(),
        number: exec.seq,
        pci_id: capture.device().pci_id,
        context: replay.context(exec.context),
        engine: exec.engine,
        batch: Some(exec.batch_address),
        memory: memory.iter().map(|(address, bytes)| (*address, &bytes[..])).collect(),
    };
    let state = replay.gpu().error_state(fault, &ran);
    write(path, capture.name(), &state)
}

/// Writes the error state after a fault in an AUB file.
pub fn of_aub(
    path: &Path,
    gpu: &mut Gpu,
    header: Option<&Header>,
    file: &str,
    number: u64,
    fault: &Fault,
) -> Result<(), Error> {
    let engine = fault.place().map_or(EngineId::Render, |place| place.engine);
    let context = gpu.context_on(engine);
    let memory = context.map(|context| gpu.mapped(context)).unwrap_or_default();
    let application = header.map(|header| &header.application[..]).filter(|name| !name.is_empty());
    let ran = Ran {
        name: application.unwrap_or(file),
        number,
        pci_id: header.and_then(|header| header.pci_id).unwrap_or(BROADWELL),
        context,
        engine,
        batch: None,
        memory: memory.iter().map(|(address, bytes)| (*address, &bytes[..])).collect(),
    };
    let state = gpu.error_state(fault, &ran);
    write(path, file, &state)
}

/// Writes a state to a file. The suffix of the file's name selects the compression.
fn write(path: &Path, name: &str, state: &ErrorState) -> Result<(), Error> {
    let cannot =
        |error: std::io::Error| bad_input(format!("cannot write {}: {error}", path.display()));
    let mut out = Output::create(path)?;
    let left_out = error_state::write(state, SPELLING, &mut out).map_err(cannot)?;
    out.finish().map_err(cannot)?;
    for text in left_out {
        eprintln!("genx: {}: {text}", path.display());
    }
    eprintln!("genx: {name}: error state written to {}; genx decode prints it", path.display());
    Ok(())
}
