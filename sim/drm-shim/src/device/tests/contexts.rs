//! Contexts and address spaces.

use super::*;

#[test]
fn contexts() {
    use i915::context_param as param;
    let mut client = Client::open(RENDER);
    #[repr(C)]
    #[derive(Clone, Copy, Pod, bytemuck::Zeroable)]
    struct Map {
        extensions: u64,
        engines: [i915::EngineClass; 2],
    }
    let engine = |class, instance| i915::EngineClass { class, instance };
    let mut map = Map { extensions: 0, engines: [engine(1, 0), engine(u16::MAX, u16::MAX)] };
    let mut set = i915::ContextSetParam {
        param: i915::ContextParam {
            param: param::ENGINES,
            size: size_of::<Map>() as u32,
            value: std::ptr::from_mut(&mut map) as u64,
            ..Default::default()
        },
        ..Default::default()
    };
    let extensions = std::ptr::from_mut(&mut set) as u64;
    let mut create = i915::ContextCreate { flags: 1, extensions, ..Default::default() };
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    let batch = client.store_batch(0x20_0800, 1);
    let mut objects = [pinned(batch, 0x20_0000)];
    client.exec(&mut objects, 0, create.ctx_id).unwrap();
    assert_eq!(client.exec(&mut objects, 1, create.ctx_id), errno(Errno::INVAL));
    assert_eq!(client.exec(&mut objects, 2, create.ctx_id), errno(Errno::INVAL));
    // Oracle: create_setparam (Linux i915_gem_context.c): the context has no number yet.
    for ctx_id in [1, create.ctx_id, u32::MAX] {
        set.param.ctx_id = ctx_id;
        assert_eq!(client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create), errno(Errno::INVAL));
    }
    set.param.ctx_id = 0;
    map.engines[1] = engine(2, 1);
    assert_eq!(client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create), errno(Errno::NOENT));

    let mut get = |number, value| {
        let mut get = i915::ContextParam {
            ctx_id: create.ctx_id,
            param: number,
            value,
            ..Default::default()
        };
        client.i915(i915::nr::GEM_CONTEXT_GETPARAM, &mut get).map(|()| get.value)
    };
    assert_eq!(get(param::GTT_SIZE, 0), Ok(1 << 48));
    assert_eq!(get(param::RECOVERABLE, 0), Ok(1));
    assert_eq!(get(param::VM, 0), Ok(1));
    assert_eq!(get(0x8000_0000, 0), errno(Errno::INVAL));
    // Two contexts with one address space: an object keeps its assigned address in both.
    let mut other = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut other).unwrap();
    let mut vm = i915::ContextParam {
        ctx_id: other.ctx_id,
        param: param::VM,
        value: 1,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut vm).unwrap();
    let first = client.create(4096);
    let second = client.create(4096);
    let free = |handle| ExecObject2 { handle, ..Default::default() };
    let mut list = [free(first), free(second), pinned(batch, 0x20_0000)];
    client.exec(&mut list, 0, create.ctx_id).unwrap();
    let mut later = [free(second), pinned(batch, 0x20_0000)];
    client.exec(&mut later, 0, other.ctx_id).unwrap();
    assert_eq!(later[0].offset, list[1].offset);

    let mut destroy = i915::ContextDestroy { ctx_id: other.ctx_id, pad: 0 };
    client.i915(i915::nr::GEM_CONTEXT_DESTROY, &mut destroy).unwrap();
    assert_eq!(client.i915(i915::nr::GEM_CONTEXT_DESTROY, &mut destroy), errno(Errno::NOENT));
}

/// After a thousand submissions, contexts and objects, no state has accumulated.
#[test]
fn nothing_grows() {
    let mut client = Client::open(RENDER);
    let batch = client.store_batch(0x20_0800, 1);
    let mut models = 0;
    for round in 0..1000 {
        let mut create = i915::ContextCreate::default();
        client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
        let data = client.create(4096);
        client
            .exec(&mut [pinned(data, 0x30_0000), pinned(batch, 0x20_0000)], 0, create.ctx_id)
            .unwrap();
        client.core(drm::nr::GEM_CLOSE, &mut drm::GemClose { handle: data, pad: 0 }).unwrap();
        let mut destroy = i915::ContextDestroy { ctx_id: create.ctx_id, pad: 0 };
        client.i915(i915::nr::GEM_CONTEXT_DESTROY, &mut destroy).unwrap();
        let device = &client.device;
        assert_eq!([device.objects.len(), device.vms.len()], [1, 1]);
        let [objects, states, spare] = client.counts();
        assert_eq!([objects, states], [1, 0]);
        if round == 0 {
            models = spare;
        }
        assert_eq!(spare, models);
    }
}

/// Oracle: Linux i915_gem_context.c: contexts are in an xarray, which gives the smallest free
/// number; 0 is the default context.
#[test]
fn numbers_of_destroyed_contexts() {
    let mut client = Client::open(RENDER);
    let mut create = || {
        let mut create = i915::ContextCreate::default();
        client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
        create.ctx_id
    };
    assert_eq!([create(), create(), create(), create()], [1, 2, 3, 4]);
    for ctx_id in [3, 2] {
        let mut destroy = i915::ContextDestroy { ctx_id, pad: 0 };
        client.i915(i915::nr::GEM_CONTEXT_DESTROY, &mut destroy).unwrap();
        assert_eq!(client.i915(i915::nr::GEM_CONTEXT_DESTROY, &mut destroy), errno(Errno::NOENT));
    }
    let mut create = || {
        let mut create = i915::ContextCreate::default();
        client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
        create.ctx_id
    };
    assert_eq!([create(), create(), create()], [2, 3, 5]);
}

/// Oracle: set_context_param and set_proto_ctx_param (Linux i915_gem_context.c): the address space
/// and the engines of a context are set before its first use, and the engines once.
#[test]
fn contexts_in_use() {
    use i915::context_param as param;
    let mut client = Client::open(RENDER);
    let map = [0u32; 3];
    let mut vm = i915::VmControl::default();
    client.i915(i915::nr::GEM_VM_CREATE, &mut vm).unwrap();
    let engines = |client: &mut Client, ctx_id, size| {
        let value = map.as_ptr() as u64;
        let mut set = i915::ContextParam { ctx_id, param: param::ENGINES, size, value };
        client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut set)
    };
    let space = |client: &mut Client, ctx_id| {
        let value = vm.vm_id.into();
        let mut set = i915::ContextParam { ctx_id, param: param::VM, size: 0, value };
        client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut set)
    };
    let create = |client: &mut Client| {
        let mut create = i915::ContextCreate::default();
        client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
        create.ctx_id
    };
    let invalid = errno(Errno::INVAL);
    assert_eq!(engines(&mut client, 0, 12), invalid);
    assert_eq!(space(&mut client, 0), invalid);
    let new = create(&mut client);
    assert_eq!(
        [0, 1, 7, 9].map(|size| engines(&mut client, new, size)),
        [(); 4].map(|()| errno(Errno::INVAL))
    );
    assert_eq!((space(&mut client, new), engines(&mut client, new, 12)), (Ok(()), Ok(())));
    assert_eq!(
        (space(&mut client, new), engines(&mut client, new, 12)),
        (Ok(()), errno(Errno::INVAL))
    );

    let batch = client.store_batch(0x20_0800, 1);
    let submitted = create(&mut client);
    client.exec(&mut [pinned(batch, 0x20_0000)], 0, submitted).unwrap();
    let asked = create(&mut client);
    let mut get =
        i915::ContextParam { ctx_id: asked, param: param::PRIORITY, ..Default::default() };
    client.i915(i915::nr::GEM_CONTEXT_GETPARAM, &mut get).unwrap();
    for used in [submitted, asked] {
        assert_eq!(
            (space(&mut client, used), engines(&mut client, used, 12)),
            (errno(Errno::INVAL), errno(Errno::INVAL))
        );
    }
}

/// Oracle: get_sseu and set_sseu (Linux i915_gem_context.c): only Gen11 can set slices; the engine
/// is named by index exactly if the context has an engine map.
#[test]
fn slices_of_contexts() {
    use i915::{ContextSseu, context_param as param};
    let mut client = Client::open(RENDER);
    let mut call = |number, size, mut sseu: ContextSseu| {
        let value = std::ptr::from_mut(&mut sseu) as u64;
        let mut arg = i915::ContextParam { ctx_id: 0, param: param::SSEU, size, value };
        client.i915(number, &mut arg).map(|()| (arg.size, sseu.slice_mask, sseu.subslice_mask))
    };
    let (get, set) = (i915::nr::GEM_CONTEXT_GETPARAM, i915::nr::GEM_CONTEXT_SETPARAM);
    let size = size_of::<ContextSseu>() as u32;
    let none = ContextSseu::default();
    assert_eq!(call(get, 0, none), Ok((size, 0, 0)));
    assert_eq!(call(get, size, none), Ok((size, 1, 7)));
    assert_eq!(call(set, size, none), errno(Errno::NODEV));
    assert_eq!(call(set, size - 1, none), errno(Errno::INVAL));
    assert_eq!(call(get, size - 1, none), errno(Errno::INVAL));
    for wrong in [
        ContextSseu { flags: 1, ..none },
        ContextSseu { flags: 2, ..none },
        ContextSseu { rsvd: 1, ..none },
        ContextSseu { engine: i915::EngineClass { class: 0, instance: 1 }, ..none },
        ContextSseu { engine: i915::EngineClass { class: 9, instance: 0 }, ..none },
    ] {
        assert_eq!(call(get, size, wrong), errno(Errno::INVAL), "{wrong:?}");
    }
}
