//! Batches that loop or wait for a semaphore do not stop other contexts and engines. Oracle: the
//! time slices of the kernel driver (Linux intel_execlists_submission.c), and the semaphore
//! comparisons that the batches ask for.

use super::*;
use crate::uapi::i915::ContextCreate;
use genxml::gen8::mi::{
    MiBatchBufferStart, MiBatchBufferStartAddressSpaceIndicator, MiNoop, MiSemaphoreWait,
    MiSemaphoreWaitCompareOperation as Compare, MiSemaphoreWaitWaitMode,
};

/// Address of the batch that loops or waits.
const FIRST: u64 = 0x20_0000;
/// Address of the other batch.
const SECOND: u64 = 0x21_0000;
/// Address of the object with the results and the semaphore.
const DATA: u64 = 0x30_0000;

/// The packets of a wait until the dword at `address` is `value`.
fn wait_for(address: u64, value: u64) -> Vec<u32> {
    MiSemaphoreWait {
        wait_mode: MiSemaphoreWaitWaitMode::POLLING_MODE,
        compare_operation: Compare::SAD_EQUAL_SDD,
        semaphore_data_dword: U::new(value).unwrap(),
        semaphore_address: Address::from_bits(address),
        ..MiSemaphoreWait::new()
    }
    .pack()
    .to_vec()
}

/// The packets of a jump to `address`.
fn jump_to(address: u64) -> Vec<u32> {
    MiBatchBufferStart {
        address_space_indicator: MiBatchBufferStartAddressSpaceIndicator::PPGTT,
        ..MiBatchBufferStart::new(Address::from_bits(address))
    }
    .pack()
    .to_vec()
}

/// The fixed address of an object, and the flag that no fence orders its accesses.
fn unordered(handle: u32, offset: u64) -> ExecObject2 {
    let entry = pinned(handle, offset);
    ExecObject2 { flags: entry.flags | object::ASYNC, ..entry }
}

impl Client {
    /// The handle of a new object with these bytes.
    fn object(&mut self, bytes: &[u8]) -> u32 {
        let handle = self.create(4096);
        self.write(handle, 0, bytes).unwrap();
        handle
    }

    /// Writes a dword as a client does through a mapping: without waiting.
    fn poke(&mut self, handle: u32, offset: u64, value: u32) {
        let id = *self.device.files[&self.id].objects.get(handle).unwrap();
        self.device.objects[&id].storage.pages().write(offset, &value.to_le_bytes()).unwrap();
    }

    /// A dword as a client reads it through a mapping.
    fn peek(&self, handle: u32, offset: u64) -> u32 {
        let id = *self.device.files[&self.id].objects.get(handle).unwrap();
        let mut bytes = [0; 4];
        self.device.objects[&id].storage.pages().read(offset, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    }

    fn context(&mut self) -> u32 {
        let mut create = ContextCreate::default();
        self.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
        create.ctx_id
    }
}

/// A client whose work may take about four seconds of the model's time.
fn patient(asynchronous: bool) -> Client {
    with_limit(1 << 32, asynchronous)
}

/// A client whose work may take `work_limit` units.
fn with_limit(work_limit: u64, asynchronous: bool) -> Client {
    let mut client = Client::open(RENDER);
    let config = Config { work_limit, asynchronous, ..client.device.config.clone() };
    client.device = Device::new(config, PROCESS);
    let (end, channel) = Descriptor::Device { id: client.id, minor: RENDER }.create(true).unwrap();
    client.device.open(client.id, RENDER, Some(channel));
    client.end = end;
    client
}

/// A batch that waits for the client lets its ioctl return. Later requests of its context wait for
/// it, those of other contexts do not.
#[test]
fn waits_for_the_client() {
    for asynchronous in [false, true] {
        let mut client = patient(asynchronous);
        let data = client.create(4096);
        let waits = client.object(&store_after(&wait_for(DATA + 64, 5), DATA, 1));
        let next = client.object(&store(DATA + 4, 2));
        let other = client.object(&store(DATA + 8, 3));
        let second = client.context();
        client.exec(&mut [unordered(data, DATA), unordered(waits, FIRST)], 0, 0).unwrap();
        client.exec(&mut [unordered(data, DATA), unordered(next, SECOND)], 0, 0).unwrap();
        client.exec(&mut [unordered(data, DATA), unordered(other, SECOND)], 0, second).unwrap();
        assert_eq!(client.wait(other, -1).0, Ok(()));
        let seen = [0, 4, 8].map(|offset| client.peek(data, offset));
        assert_eq!(seen, [0, 0, 3], "asynchronous: {asynchronous}");
        client.poke(data, 64, 5);
        assert_eq!(client.wait(next, -1).0, Ok(()));
        let seen = [0, 4, 8].map(|offset| client.peek(data, offset));
        assert_eq!(seen, [1, 2, 3], "asynchronous: {asynchronous}");
    }
}

/// Two batches on two engines that signal each other's semaphores.
#[test]
fn waits_for_another_engine() {
    let mut client = patient(true);
    let data = client.create(4096);
    let first = client.object(&store_after(&wait_for(DATA, 7), DATA + 4, 8));
    let mut signal = store(DATA, 7);
    signal.truncate(16);
    let mut answer: Vec<u32> = bytemuck::pod_collect_to_vec(&signal);
    answer.extend(wait_for(DATA + 4, 8));
    let second = client.object(&store_after(&answer, DATA + 8, 9));
    client.exec(&mut [unordered(data, DATA), unordered(first, FIRST)], exec::RENDER, 0).unwrap();
    client.exec(&mut [unordered(data, DATA), unordered(second, SECOND)], exec::BLT, 0).unwrap();
    assert_eq!(client.wait(data, -1).0, Ok(()));
    assert_eq!([0, 4, 8].map(|offset| client.peek(data, offset)), [7, 8, 9]);
}

/// A semaphore that nobody signals is a hang, also of later requests with a time limit.
#[test]
fn waits_forever() {
    // A quarter of a second, so that the ioctl returns before the fault.
    let mut client = with_limit(1 << 28, false);
    let data = client.create(4096);
    let waits = client.object(&store_after(&wait_for(DATA, 7), DATA + 4, 8));
    let context = client.context();
    client.exec(&mut [pinned(data, DATA), pinned(waits, FIRST)], 0, context).unwrap();
    assert_eq!(client.wait(waits, -1).0, Ok(()));
    assert_eq!(client.peek(data, 4), 0);
    let mut stats = i915::ResetStats { ctx_id: context, ..Default::default() };
    client.i915(i915::nr::GET_RESET_STATS, &mut stats).unwrap();
    assert_eq!((stats.reset_count, stats.batch_active), (1, 1));
}

/// An endless loop shares the model with other contexts and engines until the client ends it.
#[test]
fn endless_loops() {
    let mut client = patient(true);
    let data = client.create(4096);
    let mut packets = vec![MiNoop::new().pack()[0]; 4];
    packets.extend(jump_to(FIRST));
    let endless = client.object(&store_after(&packets, DATA, 1));
    client.exec(&mut [unordered(data, DATA), unordered(endless, FIRST)], 0, 0).unwrap();
    let context = client.context();
    for (number, flags) in [exec::RENDER, exec::BLT, exec::BSD].into_iter().enumerate() {
        let offset = 4 + 4 * number as u64;
        let other = client.object(&store(DATA + offset, 2 + number as u64));
        let entries = &mut [unordered(data, DATA), unordered(other, SECOND)];
        client.exec(entries, flags, context).unwrap();
        assert_eq!(client.wait(other, -1).0, Ok(()));
        assert_eq!(client.peek(data, offset), 2 + number as u32);
    }
    assert_ne!(client.busy(endless), 0);
    // A process can fork meanwhile.
    for _ in 0..3 {
        client.device.pause();
        client.device.resume();
    }
    client.poke(endless, 0, MiBatchBufferEnd::new().pack()[0]);
    assert_eq!(client.wait(endless, -1).0, Ok(()));
    assert_eq!(client.peek(data, 0), 0, "the store behind the loop never runs");
    let mut stats = i915::ResetStats::default();
    client.i915(i915::nr::GET_RESET_STATS, &mut stats).unwrap();
    assert_eq!(stats.reset_count, 0);
}

/// The work of a context that is not persistent ends with the context.
#[test]
fn loops_of_closed_contexts() {
    let mut client = patient(true);
    let data = client.create(4096);
    let ctx_id = client.context();
    let mut param = i915::ContextParam {
        ctx_id,
        param: i915::context_param::PERSISTENCE,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut param).unwrap();
    let waits = client.object(&store_after(&wait_for(DATA + 64, 5), DATA, 1));
    client.exec(&mut [unordered(data, DATA), unordered(waits, FIRST)], 0, ctx_id).unwrap();
    let other = client.object(&store(DATA + 4, 2));
    client.exec(&mut [unordered(data, DATA), unordered(other, SECOND)], 0, 0).unwrap();
    assert_eq!(client.wait(other, -1).0, Ok(()));
    let mut destroy = i915::ContextDestroy { ctx_id, pad: 0 };
    client.i915(i915::nr::GEM_CONTEXT_DESTROY, &mut destroy).unwrap();
    assert_eq!(client.wait(waits, -1).0, Ok(()));
    client.poke(data, 64, 5);
    assert_eq!(client.peek(data, 0), 0);
}

/// The same, for a batch that never waits: the model executes it when the context is closed.
#[test]
fn endless_loops_of_closed_contexts() {
    let mut client = with_limit(u64::MAX, true);
    let data = client.create(4096);
    let ctx_id = client.context();
    let mut param = i915::ContextParam {
        ctx_id,
        param: i915::context_param::PERSISTENCE,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut param).unwrap();
    let mut begins = store(DATA, 1);
    begins.truncate(16);
    let mut packets: Vec<u32> = bytemuck::pod_collect_to_vec(&begins);
    packets.extend(jump_to(FIRST));
    let endless = client.object(bytemuck::cast_slice(&packets));
    client.exec(&mut [unordered(data, DATA), unordered(endless, FIRST)], 0, ctx_id).unwrap();
    while client.peek(data, 0) == 0 {
        std::thread::yield_now();
    }
    let mut destroy = i915::ContextDestroy { ctx_id, pad: 0 };
    client.i915(i915::nr::GEM_CONTEXT_DESTROY, &mut destroy).unwrap();
    assert_eq!(client.wait(endless, 60_000_000_000).0, Ok(()));
}

/// Submissions of a context with one timeline run in order on all engines. (Linux
/// i915_gem_execbuffer.c, the syncobj of a context)
#[test]
fn one_timeline() {
    const SINGLE_TIMELINE: u32 = 2;
    let mut client = patient(true);
    let data = client.create(4096);
    let waits = client.object(&store_after(&wait_for(DATA + 64, 5), DATA, 1));
    let next = client.object(&store(DATA + 4, 2));
    let mut create = ContextCreate { flags: SINGLE_TIMELINE, ..Default::default() };
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    let first = &mut [unordered(data, DATA), unordered(waits, FIRST)];
    client.exec(first, exec::RENDER, create.ctx_id).unwrap();
    let second = &mut [unordered(data, DATA), unordered(next, SECOND)];
    client.exec(second, exec::BLT, create.ctx_id).unwrap();
    assert_eq!(client.wait(next, 20_000_000).0, errno(Errno::TIME));
    assert_eq!(client.peek(data, 4), 0);
    client.poke(data, 64, 5);
    assert_eq!(client.wait(next, -1).0, Ok(()));
    assert_eq!([0, 4].map(|offset| client.peek(data, offset)), [1, 2]);
}
