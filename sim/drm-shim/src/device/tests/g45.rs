//! The device as a G45. (gen45_facts 1.2 and 20)

use super::*;
use genxml::gen45::commands_common::{PipeControl, PipeControlPostSyncOperation};
use genxml::gen45::commands_mi::MiBatchBufferEnd as BatchEnd;

fn g45() -> Client {
    Client::with(RENDER, Config { device: 0x2e22, work_limit: 1 << 20, ..Config::default() })
}

/// A batch that writes `value` to an address; a relocation of dword 1 gives the address.
fn batch(client: &mut Client, value: u64) -> u32 {
    let write = PipeControl {
        post_sync_operation: PipeControlPostSyncOperation::WRITE_IMMEDIATE_DATA,
        immediate_data: genxml::core::U64::from_bits(value),
        ..PipeControl::new()
    };
    let dwords = [&write.pack()[..], &BatchEnd::new().pack(), &[0]].concat();
    let batch = client.create(4096);
    client.write(batch, 0, bytemuck::cast_slice(&dwords)).unwrap();
    batch
}

fn entries(data: u32, batch: u32, relocation: &mut i915::Relocation) -> [ExecObject2; 2] {
    let list = std::ptr::from_mut(relocation) as u64;
    [
        ExecObject2 { handle: data, ..Default::default() },
        ExecObject2 { handle: batch, relocation_count: 1, relocs_ptr: list, ..Default::default() },
    ]
}

/// A relocation writes 32 bits: the dword after the address stays. Objects lie below 4 GiB, and
/// each context gives an object the same address.
#[test]
fn relocations_have_32_bits() {
    let mut client = g45();
    let (data, other) = (client.create(4096), client.create(4096));
    let batch = batch(&mut client, 0x1122_3344_5566_7788);
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    let mut addresses = Vec::new();
    for (context, target) in [(0, data), (create.ctx_id, data), (create.ctx_id, other)] {
        let mut relocation = i915::Relocation {
            target_handle: target,
            delta: 8,
            offset: 4,
            presumed_offset: u64::MAX,
            ..Default::default()
        };
        let mut objects = entries(target, batch, &mut relocation);
        client.write(target, 8, &[0; 8]).unwrap();
        client.exec(&mut objects, exec::RENDER, context).unwrap();
        assert_eq!(client.read::<8>(target, 8), 0x1122_3344_5566_7788u64.to_le_bytes());
        assert!(objects.iter().all(|object| object.offset < 1 << 31 && object.offset >= 4096));
        addresses.push(objects[0].offset);
    }
    assert!(addresses[0] == addresses[1] && addresses[1] != addresses[2], "{addresses:x?}");
}

#[test]
fn engines_and_parameters() {
    let mut client = g45();
    let data = client.create(4096);
    let batch = batch(&mut client, 1);
    let mut relocation = i915::Relocation { target_handle: data, offset: 4, ..Default::default() };
    for engine in [exec::BLT, exec::VEBOX] {
        let mut objects = entries(data, batch, &mut relocation);
        assert_eq!(client.exec(&mut objects, engine, 0), errno(Errno::INVAL));
    }
    let mut value = 0u32;
    let mut ask = |number| {
        let mut get =
            i915::GetParam { param: number, pad: 0, value: std::ptr::from_mut(&mut value) as u64 };
        client.i915(i915::nr::GETPARAM, &mut get).map(|()| value)
    };
    use i915::param;
    for (number, expected) in [
        (param::CHIPSET_ID, Ok(0x2e22)),
        (param::REVISION, Ok(3)),
        (param::NUM_FENCES_AVAIL, Ok(16)),
        (param::HAS_BSD, Ok(1)),
        (param::HAS_BLT, Ok(0)),
        (param::HAS_LLC, Ok(0)),
        (param::HAS_ALIASING_PPGTT, Ok(0)),
        (param::MMAP_GTT_VERSION, Ok(4)),
        (param::EU_TOTAL, errno(Errno::NODEV)),
    ] {
        assert_eq!(ask(number), expected, "parameter {number}");
    }
    let mut aperture = i915::GemGetAperture::default();
    client.i915(i915::nr::GEM_GET_APERTURE, &mut aperture).unwrap();
    assert_eq!(aperture.aper_size, 256 << 20);
    let mut vm = i915::VmControl::default();
    assert_eq!(client.i915(i915::nr::GEM_VM_CREATE, &mut vm), errno(Errno::NODEV));
}
