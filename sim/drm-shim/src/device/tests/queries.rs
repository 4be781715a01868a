//! GETPARAM, QUERY, REG_READ.

use super::*;
use genxml::gen8::mi::{PipeControl, PipeControlPostSyncOperation};

#[test]
fn questions() {
    let mut client = Client::with(RENDER, Config { device: 0x1626, ..Config::default() });
    let mut value = 0u32;
    let mut ask = |number| {
        let mut get =
            i915::GetParam { param: number, pad: 0, value: std::ptr::from_mut(&mut value) as u64 };
        client.i915(i915::nr::GETPARAM, &mut get).map(|()| value)
    };
    assert_eq!(ask(i915::param::CHIPSET_ID), Ok(0x1626));
    assert_eq!(ask(i915::param::EU_TOTAL), Ok(48));
    assert_eq!(ask(i915::param::HUC_STATUS), errno(Errno::NODEV));
    assert_eq!(ask(999), errno(Errno::INVAL));

    let mut answer = |query_id| {
        let mut item = i915::QueryItem { query_id, ..Default::default() };
        let mut query =
            i915::Query { num_items: 1, flags: 0, items_ptr: std::ptr::from_mut(&mut item) as u64 };
        client.i915(i915::nr::QUERY, &mut query).unwrap();
        let mut bytes = vec![0u8; item.length.max(0) as usize];
        item.data_ptr = bytes.as_mut_ptr() as u64;
        client.i915(i915::nr::QUERY, &mut query).unwrap();
        (item.length, bytes)
    };
    let (length, topology) = answer(i915::QUERY_TOPOLOGY_INFO);
    // The header, one byte for slices, three for subslices, nine for execution units.
    assert_eq!(length, 16 + 1 + 3 + 9);
    assert_eq!(topology[16..20], [0b11, 0b111, 0b111, 0]);
    let (_, engines) = answer(i915::QUERY_ENGINE_INFO);
    assert_eq!(engines[0], 5);
    assert_eq!(answer(i915::QUERY_MEMORY_REGIONS).0, 16 + 88);
    assert_eq!(answer(i915::QUERY_HWCONFIG_BLOB).0, -Errno::NODEV.raw_os_error());
    assert_eq!(answer(99).0, -Errno::INVAL.raw_os_error());
    let mut read = i915::RegRead { offset: 0x2358 | 1, val: 7 };
    client.i915(i915::nr::REG_READ, &mut read).unwrap();
    assert_eq!(read.val, 0);
    read.offset = 0x2000;
    assert_eq!(client.i915(i915::nr::REG_READ, &mut read), errno(Errno::INVAL));
}

/// Oracle: Linux i915_query.c: the header of the memory for a reply must be zero, and the memory
/// must be readable.
#[test]
fn memory_for_replies() {
    let mut client = Client::open(RENDER);
    let mut answer = |query_id, bytes: &mut [u32; 80]| {
        let data_ptr = bytes.as_mut_ptr() as u64;
        let length = size_of_val(bytes) as i32;
        let mut item = i915::QueryItem { query_id, length, data_ptr, ..Default::default() };
        let items_ptr = std::ptr::from_mut(&mut item) as u64;
        let mut query = i915::Query { num_items: 1, items_ptr, ..Default::default() };
        client.i915(i915::nr::QUERY, &mut query).unwrap();
        item.length
    };
    let invalid = -Errno::INVAL.raw_os_error();
    for (query, checked) in [
        (i915::QUERY_TOPOLOGY_INFO, 0..1),
        (i915::QUERY_ENGINE_INFO, 0..4),
        (i915::QUERY_MEMORY_REGIONS, 0..4),
    ] {
        for word in 0..4 {
            let mut bytes = [0; 80];
            bytes[word] = 1;
            let refused = answer(query, &mut bytes) == invalid;
            assert_eq!(refused, checked.contains(&word), "query {query}, word {word}");
        }
    }
}

/// With the option `wall_clock`, TIMESTAMP follows the time of the machine in registers and in
/// memory. Oracle: CLOCK_MONOTONIC, ticks of 80 ns, 36 bits (Broadwell PRM vol. 2c, TIMESTAMP).
#[test]
fn wall_clock() {
    const DATA: u64 = 0x7fff_0000_0000;
    let mut client = Client::with(RENDER, Config { wall_clock: true, ..Config::default() });
    let ticks = || (now() / 80) % (1 << 36);
    let data = client.create(4096);
    let batch = client.create(4096);
    let post_sync = PipeControl {
        post_sync_operation: PipeControlPostSyncOperation::WRITE_TIMESTAMP,
        address: Address::from_bits(DATA),
        ..PipeControl::new()
    };
    let mut dwords = post_sync.pack().to_vec();
    dwords.extend(MiBatchBufferEnd::new().pack());
    client.write(batch, 0, bytemuck::cast_slice(&dwords)).unwrap();
    for _ in 0..2 {
        let before = ticks();
        client.exec(&mut [pinned(data, DATA), pinned(batch, 0x20_0000)], 0, 0).unwrap();
        let mut read = i915::RegRead { offset: 0x2358 | 1, val: 0 };
        client.i915(i915::nr::REG_READ, &mut read).unwrap();
        // A batch of two packets adds less than a microsecond.
        let after = ticks() + 12;
        let written = u64::from_le_bytes(client.read::<8>(data, 0));
        assert!(before <= written && written <= read.val, "{before} {written} {}", read.val);
        assert!(read.val <= after, "{} {after}", read.val);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Oracle: Linux drm_ioctl.c: GET_CLIENT has one client, the caller; GET_STATS clears its
/// structure.
#[test]
fn clients_and_statistics() {
    let mut client = Client::open(PRIMARY);
    let mut one = drm::Client::default();
    client.core(drm::nr::GET_CLIENT, &mut one).unwrap();
    assert_eq!((one.auth, one.pid), (1, std::process::id().into()));
    one.idx = 1;
    assert_eq!(client.core(drm::nr::GET_CLIENT, &mut one), errno(Errno::INVAL));
    let mut stats = drm::Stats { count: 7, ..Default::default() };
    client.core(drm::nr::GET_STATS, &mut stats).unwrap();
    assert_eq!(stats.count, 0);
}

/// Oracle: IGT's core_auth, and Linux drm_auth.c.
#[test]
fn magic_numbers() {
    let mut client = Client::open(PRIMARY);
    let master = client.id;
    let get = |client: &mut Client| {
        let mut auth = drm::Auth::default();
        client.core(drm::nr::GET_MAGIC, &mut auth).unwrap();
        auth.magic
    };
    let auth =
        |client: &mut Client, magic| client.core(drm::nr::AUTH_MAGIC, &mut drm::Auth { magic });
    let slaves = [Id::new(), Id::new()];
    let magics = slaves.map(|slave| {
        client.device.open(slave, PRIMARY, None);
        client.id = slave;
        let magic = get(&mut client);
        assert_eq!(get(&mut client), magic);
        assert_eq!(auth(&mut client, magic), errno(Errno::ACCESS));
        magic
    });
    assert!(magics[0] != 0 && magics[1] != 0 && magics[0] != magics[1], "{magics:?}");
    client.id = master;
    assert_eq!(auth(&mut client, magics[0]), Ok(()));
    assert_eq!(auth(&mut client, magics[0]), errno(Errno::INVAL));
    // A client that has closed its file.
    client.device.close(slaves[1]);
    assert_eq!(auth(&mut client, magics[1]), errno(Errno::INVAL));
    assert_eq!(auth(&mut client, magics[1] + 1), errno(Errno::INVAL));
    // A client of another process.
    let other = std::process::id() + 1;
    assert_eq!(auth(&mut client, other << 10 | 1), Ok(()));
}

/// Oracle: i915_query_ioctl and copy_query_item (Linux i915_query.c): no item has the number 0; a
/// length is compared without sign.
#[test]
fn wrong_queries() {
    let mut client = Client::open(RENDER);
    let mut ask = |query_id, length| {
        let mut item = i915::QueryItem { query_id, length, data_ptr: 16, ..Default::default() };
        let items_ptr = std::ptr::from_mut(&mut item) as u64;
        let mut query = i915::Query { num_items: 1, items_ptr, ..Default::default() };
        client.i915(i915::nr::QUERY, &mut query).map(|()| item.length)
    };
    assert_eq!(ask(0, 0), errno(Errno::INVAL));
    for (length, error) in [(1, Errno::INVAL), (-14, Errno::FAULT)] {
        assert_eq!(ask(i915::QUERY_MEMORY_REGIONS, length), Ok(-error.raw_os_error()));
    }
}
