//! The display: modes, page flips, atomic commits.

use super::*;

#[test]
fn display() {
    let mut client = Client::open(PRIMARY);
    let mut ids = [0u32; 2];
    let mut resources = mode::CardRes::default();
    client.core(mode::nr::GETRESOURCES, &mut resources).unwrap();
    assert_eq!((resources.count_crtcs, resources.count_connectors, resources.count_fbs), (1, 1, 0));
    (resources.crtc_id_ptr, resources.connector_id_ptr) =
        (ids.as_mut_ptr() as u64, ids[1..].as_mut_ptr() as u64);
    client.core(mode::nr::GETRESOURCES, &mut resources).unwrap();
    let mut connector = mode::GetConnector { connector_id: ids[1], ..Default::default() };
    client.core(mode::nr::GETCONNECTOR, &mut connector).unwrap();
    let mut modes = vec![mode::ModeInfo::default(); connector.count_modes as usize];
    connector.modes_ptr = modes.as_mut_ptr() as u64;
    (connector.count_props, connector.count_encoders) = (0, 0);
    client.core(mode::nr::GETCONNECTOR, &mut connector).unwrap();
    let small = *modes.iter().find(|mode| mode.hdisplay == 320).unwrap();

    let mut dumb = mode::CreateDumb { width: 320, height: 240, bpp: 32, ..Default::default() };
    client.core(mode::nr::CREATE_DUMB, &mut dumb).unwrap();
    assert_eq!((dumb.pitch, dumb.size), (1280, 1280 * 240));
    let mut fb = mode::FbCmd2 {
        width: 320,
        height: 240,
        pixel_format: u32::from_le_bytes(*b"XR24"),
        handles: [dumb.handle, 0, 0, 0],
        pitches: [dumb.pitch, 0, 0, 0],
        ..Default::default()
    };
    client.core(mode::nr::ADDFB2, &mut fb).unwrap();
    // The display supports neither formats with several planes nor Y tiling.
    let mut planar = mode::FbCmd2 { pixel_format: u32::from_le_bytes(*b"NV12"), ..fb };
    assert_eq!(client.core(mode::nr::ADDFB2, &mut planar), errno(Errno::INVAL));
    let mut tiled =
        mode::FbCmd2 { flags: mode::FB_MODIFIERS, modifier: [1 << 56 | 2, 0, 0, 0], ..fb };
    assert_eq!(client.core(mode::nr::ADDFB2, &mut tiled), errno(Errno::INVAL));
    let mut flip = mode::PageFlip {
        crtc_id: ids[0],
        fb_id: fb.fb_id,
        flags: mode::PAGE_FLIP_EVENT,
        user_data: 0xabcd,
        ..Default::default()
    };
    assert_eq!(client.core(mode::nr::PAGE_FLIP, &mut flip), errno(Errno::BUSY));
    let mut crtc = mode::Crtc {
        crtc_id: ids[0],
        fb_id: fb.fb_id,
        mode_valid: 1,
        mode: small,
        ..Default::default()
    };
    client.core(mode::nr::SETCRTC, &mut crtc).unwrap();
    client.core(mode::nr::PAGE_FLIP, &mut flip).unwrap();
    let mut event = drm::EventVblank::default();
    let read = rustix::io::read(&client.end, bytemuck::bytes_of_mut(&mut event)).unwrap();
    assert_eq!((read, event.kind, event.user_data), (32, drm::EVENT_FLIP_COMPLETE, 0xabcd));
    // A frame buffer keeps its object after the handle is closed.
    client.core(mode::nr::DESTROY_DUMB, &mut mode::DestroyDumb { handle: dumb.handle }).unwrap();
    assert_eq!(client.device.objects.len(), 1);
    client.core(mode::nr::RMFB, &mut mode::FbId { fb_id: fb.fb_id }).unwrap();
    assert!(client.device.objects.is_empty());
    assert_eq!(client.core(mode::nr::PAGE_FLIP, &mut flip), errno(Errno::NOENT));
    // Closing a file removes its frame buffers.
    client.core(mode::nr::CREATE_DUMB, &mut dumb).unwrap();
    fb.handles[0] = dumb.handle;
    client.core(mode::nr::ADDFB2, &mut fb).unwrap();
    client.device.close(client.id);
    assert!(client.device.objects.is_empty());

    // The render node has no display ioctls.
    let render = Id::new();
    client.device.open(render, RENDER, None);
    client.id = render;
    assert_eq!(client.core(mode::nr::GETRESOURCES, &mut resources), errno(Errno::ACCESS));
}

/// GETFB gives the bits per pixel and the depth of the format, as ADDFB takes them. (Linux
/// drm_fourcc.c)
#[test]
fn frame_buffers_have_a_depth() {
    let mut client = Client::open(PRIMARY);
    let mut dumb = mode::CreateDumb { width: 64, height: 64, bpp: 32, ..Default::default() };
    client.core(mode::nr::CREATE_DUMB, &mut dumb).unwrap();
    let (width, height, pitch, handle) = (64, 64, dumb.pitch, dumb.handle);
    let get = |client: &mut Client, fb_id| {
        let mut got = mode::FbCmd { fb_id, ..Default::default() };
        client.core(mode::nr::GETFB, &mut got).unwrap();
        (got.bpp, got.depth)
    };
    for (bpp, depth) in [(16, 16), (32, 24), (32, 30), (32, 32)] {
        let mut fb = mode::FbCmd { width, height, pitch, bpp, depth, handle, ..Default::default() };
        client.core(mode::nr::ADDFB, &mut fb).unwrap();
        assert_eq!(get(&mut client, fb.fb_id), (bpp, depth));
    }
    for (format, numbers) in [
        (b"RG16", (16, 16)),
        (b"XR24", (32, 24)),
        (b"XB24", (32, 24)),
        (b"AR24", (32, 32)),
        (b"AB24", (32, 32)),
        (b"XR30", (32, 30)),
        (b"XB30", (32, 30)),
    ] {
        let mut fb = mode::FbCmd2 {
            width,
            height,
            pixel_format: u32::from_le_bytes(*format),
            handles: [handle, 0, 0, 0],
            pitches: [pitch, 0, 0, 0],
            ..Default::default()
        };
        client.core(mode::nr::ADDFB2, &mut fb).unwrap();
        assert_eq!(get(&mut client, fb.fb_id), numbers);
    }
    let mut odd = mode::FbCmd { width, height, pitch, bpp: 24, depth: 24, handle, fb_id: 0 };
    assert_eq!(client.core(mode::nr::ADDFB, &mut odd), errno(Errno::INVAL));
}

/// SETCRTC with frame buffer -1 shows the current one again, and waits for rendering into it.
#[test]
fn set_crtc_waits_for_the_current_frame_buffer() {
    let mut client = asynchronous_at(PRIMARY);
    let mut ids = [0u32; 2];
    let mut resources = mode::CardRes {
        crtc_id_ptr: (&raw mut ids[0]) as u64,
        connector_id_ptr: (&raw mut ids[1]) as u64,
        count_crtcs: 1,
        count_connectors: 1,
        ..Default::default()
    };
    client.core(mode::nr::GETRESOURCES, &mut resources).unwrap();
    let mut dumb = mode::CreateDumb { width: 320, height: 240, bpp: 32, ..Default::default() };
    client.core(mode::nr::CREATE_DUMB, &mut dumb).unwrap();
    let mut fb = mode::FbCmd {
        width: 320,
        height: 240,
        pitch: dumb.pitch,
        bpp: 32,
        depth: 24,
        handle: dumb.handle,
        ..Default::default()
    };
    client.core(mode::nr::ADDFB, &mut fb).unwrap();
    let mut crtc = mode::Crtc {
        crtc_id: ids[0],
        fb_id: fb.fb_id,
        mode_valid: 1,
        mode: mode::ModeInfo { hdisplay: 320, vdisplay: 240, ..Default::default() },
        ..Default::default()
    };
    client.core(mode::nr::SETCRTC, &mut crtc).unwrap();
    let batch = client.store_batch(0x30_0000, 7);
    let (gate, opens) = Client::gate();
    let target =
        ExecObject2 { flags: pinned(0, 0).flags | object::WRITE, ..pinned(dumb.handle, 0x30_0000) };
    // A submission that writes a displayed object returns only when it has ended. Meanwhile other
    // threads of the client can call ioctls, as this test does.
    let mut objects = [target, pinned(batch, 0x20_0000)];
    let mut exec = ExecBuffer2 {
        buffers_ptr: objects.as_mut_ptr() as u64,
        buffer_count: 2,
        flags: exec::FENCE_IN,
        rsvd2: rustix::fd::AsRawFd::as_raw_fd(&gate) as u64,
        ..Default::default()
    };
    let begun = client.begin(COMMAND_BASE + i915::nr::GEM_EXECBUFFER2, &mut exec);
    let Err(Stop::After(done)) = begun else { panic!("{begun:?}") };
    for fb_id in [fb.fb_id, u32::MAX] {
        crtc.fb_id = fb_id;
        let waits = client.begin(mode::nr::SETCRTC, &mut crtc);
        assert!(matches!(waits, Err(Stop::Wait(_) | Stop::After(_))), "{fb_id:#x}: {waits:?}");
    }
    descriptor::signal(&opens, true);
    assert_eq!(client.wait(dumb.handle, -1).0, Ok(()));
    assert!(done.is_signaled());
    client.core(mode::nr::SETCRTC, &mut crtc).unwrap();
    client.core(mode::nr::GETCRTC, &mut crtc).unwrap();
    assert_eq!(crtc.fb_id, fb.fb_id);
}

/// A configured mode is the first and the largest one of the monitor.
#[test]
fn modes() {
    let own = config::Mode { width: 800, height: 600, hz: 75 };
    let mut client = Client::with(PRIMARY, Config { mode: Some(own), ..Config::default() });
    let mut modes = [mode::ModeInfo::default(); 16];
    let mut connector = mode::GetConnector {
        connector_id: 33,
        count_modes: 16,
        modes_ptr: modes.as_mut_ptr() as u64,
        ..Default::default()
    };
    client.core(mode::nr::GETCONNECTOR, &mut connector).unwrap();
    let modes = &modes[..connector.count_modes as usize];
    let sizes: Vec<_> =
        modes.iter().map(|mode| (mode.hdisplay, mode.vdisplay, mode.vrefresh)).collect();
    assert_eq!(sizes, [(800, 600, 75), (800, 600, 60), (640, 480, 60), (320, 240, 60)]);
    // All modes come from the driver; the first one is preferred.
    assert_eq!(modes.iter().map(|mode| mode.kind).collect::<Vec<_>>(), [0x48, 0x40, 0x40, 0x40]);
    // The pixel clock in kHz: all pixels with blanking, at 75 Hz.
    assert_eq!(modes[0].clock, 960 * 635 * 75 / 1000);
}

impl Client {
    /// Properties of an object by name, with id and value.
    fn named(&mut self, object: u32) -> BTreeMap<String, (u32, u64)> {
        let (mut ids, mut values) = ([0u32; 32], [0u64; 32]);
        let mut list = mode::ObjGetProperties {
            obj_id: object,
            count_props: 32,
            props_ptr: ids.as_mut_ptr() as u64,
            prop_values_ptr: values.as_mut_ptr() as u64,
            ..Default::default()
        };
        self.core(mode::nr::OBJ_GETPROPERTIES, &mut list).unwrap();
        let mut named = BTreeMap::new();
        for (id, value) in ids.into_iter().zip(values).take(list.count_props as usize) {
            let mut property = mode::GetProperty { prop_id: id, ..Default::default() };
            self.core(mode::nr::GETPROPERTY, &mut property).unwrap();
            let end = property.name.iter().position(|byte| *byte == 0).unwrap();
            named.insert(String::from_utf8_lossy(&property.name[..end]).into_owned(), (id, value));
        }
        named
    }

    /// Does an atomic commit. Each row of `list` is an object, a property's name and its value.
    fn commit(&mut self, flags: u32, user_data: u64, list: &[(u32, &str, u64)]) -> Outcome {
        let objects: Vec<u32> = list.iter().map(|row| row.0).collect();
        let counts = vec![1u32; list.len()];
        let ids: Vec<u32> = list.iter().map(|row| self.named(row.0)[row.1].0).collect();
        let values: Vec<u64> = list.iter().map(|row| row.2).collect();
        let mut atomic = mode::Atomic {
            flags,
            count_objs: objects.len() as u32,
            objs_ptr: objects.as_ptr() as u64,
            count_props_ptr: counts.as_ptr() as u64,
            props_ptr: ids.as_ptr() as u64,
            prop_values_ptr: values.as_ptr() as u64,
            user_data,
            ..Default::default()
        };
        self.core(mode::nr::ATOMIC, &mut atomic)
    }
}

/// One commit sets the mode and displays an image, as kmscube -A does. Each displayed image is
/// written to a file.
#[test]
fn atomic() {
    let frames = std::env::temp_dir().join(format!("genx-shim-frames-{}", std::process::id()));
    let mut client =
        Client::with(PRIMARY, Config { frames: Some(frames.clone()), ..Config::default() });
    let (crtc, connector) = (31, 33);
    // A client without the capability sees neither planes nor atomic properties.
    let mut planes = mode::PlaneRes::default();
    client.core(mode::nr::GETPLANERESOURCES, &mut planes).unwrap();
    assert_eq!(planes.count_planes, 0);
    assert_eq!(client.named(connector).keys().collect::<Vec<_>>(), ["DPMS"]);
    assert_eq!(client.commit(0, 0, &[]), errno(Errno::INVAL));
    client.core(drm::nr::SET_CLIENT_CAP, &mut drm::Cap { capability: 3, value: 1 }).unwrap();
    let mut plane = 0u32;
    planes = mode::PlaneRes { plane_id_ptr: &raw mut plane as u64, count_planes: 1, pad: 0 };
    client.core(mode::nr::GETPLANERESOURCES, &mut planes).unwrap();
    assert_eq!((planes.count_planes, client.named(plane)["type"].1), (1, 1));

    let mut blob =
        mode::Blob { blob_id: client.named(plane)["IN_FORMATS"].1 as u32, ..Default::default() };
    client.core(mode::nr::GETPROPBLOB, &mut blob).unwrap();
    let mut formats = vec![0u8; blob.length as usize];
    blob.data = formats.as_mut_ptr() as u64;
    client.core(mode::nr::GETPROPBLOB, &mut blob).unwrap();
    let at = |at: usize| u32::from_le_bytes(*formats[at..].first_chunk().unwrap());
    // Five formats and two modifiers, each with all formats. (drm_mode.h, drm_format_modifier_blob)
    assert_eq!([at(8), at(16), at(at(20) as usize), at(at(20) as usize + 24)], [5, 2, 0x1f, 0x1f]);

    let (width, height) = (16u16, 8u16);
    let mut dumb = mode::CreateDumb { width: 16, height: 8, bpp: 32, ..Default::default() };
    client.core(mode::nr::CREATE_DUMB, &mut dumb).unwrap();
    client.write(dumb.handle, 0, &[0x10, 0x20, 0x30, 0]).unwrap();
    let mut fb = mode::FbCmd {
        width: 16,
        height: 8,
        pitch: dumb.pitch,
        bpp: 32,
        depth: 24,
        handle: dumb.handle,
        ..Default::default()
    };
    client.core(mode::nr::ADDFB, &mut fb).unwrap();
    let info = mode::ModeInfo { hdisplay: width, vdisplay: height, ..Default::default() };
    let mut made =
        mode::CreateBlob { data: &raw const info as u64, length: 68, ..Default::default() };
    client.core(mode::nr::CREATEPROPBLOB, &mut made).unwrap();
    let mut fence = 0i32;
    let fence_at = &raw mut fence as u64;
    let size = |pixels: u16| u64::from(pixels) << 16;
    let wanted = [
        (connector, "CRTC_ID", crtc.into()),
        (crtc, "MODE_ID", made.blob_id.into()),
        (crtc, "ACTIVE", 1),
        (crtc, "OUT_FENCE_PTR", fence_at),
        (plane, "FB_ID", fb.fb_id.into()),
        (plane, "CRTC_ID", crtc.into()),
        (plane, "SRC_W", size(width)),
        (plane, "SRC_H", size(height)),
        (plane, "CRTC_W", width.into()),
        (plane, "CRTC_H", height.into()),
    ];
    const TEST_ONLY: u32 = mode::ATOMIC_TEST_ONLY | mode::ATOMIC_ALLOW_MODESET;
    assert_eq!(client.commit(0, 0, &wanted), errno(Errno::INVAL), "modeset without permission");
    assert_eq!(client.commit(TEST_ONLY, 0, &wanted[..4]), Ok(()), "commit without a plane");
    assert_eq!(client.commit(TEST_ONLY, 0, &wanted[1..]), errno(Errno::INVAL), "no connector");
    let mut wrong = wanted;
    wrong[6].2 = size(width + 1);
    assert_eq!(client.commit(TEST_ONLY, 0, &wrong), errno(Errno::NOSPC), "source is too wide");
    wrong = wanted;
    wrong[7].2 = size(height - 1);
    assert_eq!(client.commit(TEST_ONLY, 0, &wrong), errno(Errno::RANGE), "source is scaled");
    assert_eq!(client.named(crtc)["ACTIVE"].1, 0, "a refused or tested commit had an effect");
    let flags = mode::ATOMIC_ALLOW_MODESET | mode::ATOMIC_NONBLOCK | mode::PAGE_FLIP_EVENT;
    client.commit(flags, 7, &wanted).unwrap();
    let mut event = drm::EventVblank::default();
    rustix::io::read(&client.end, bytemuck::bytes_of_mut(&mut event)).unwrap();
    assert_eq!((event.kind, event.user_data, event.crtc_id), (drm::EVENT_FLIP_COMPLETE, 7, crtc));
    let known = PROCESS.duplicate(fence).unwrap();
    assert!(descriptor::is_signaled(&known));
    assert_eq!(client.named(plane)["FB_ID"].1, u64::from(fb.fb_id));
    // The mode stays set when its blob is destroyed.
    client.core(mode::nr::DESTROYPROPBLOB, &mut mode::BlobId { blob_id: made.blob_id }).unwrap();
    client.write(dumb.handle, 0, &[0xff]).unwrap();
    let again = [(plane, "FB_ID", fb.fb_id.into()), (plane, "IN_FENCE_FD", fence as u64)];
    client.commit(mode::ATOMIC_NONBLOCK, 0, &again).unwrap();
    client.commit(mode::ATOMIC_ALLOW_MODESET, 0, &[(crtc, "ACTIVE", 0)]).unwrap();

    client.device.finish();
    let directory = std::fs::read_dir(&frames).unwrap().next().unwrap().unwrap().path();
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let first: Vec<[u8; 4]> = files.iter().map(|file| pixel(file)).collect();
    assert_eq!(first, [[0x30, 0x20, 0x10, 255], [0x30, 0x20, 0xff, 255]]);
    std::fs::remove_dir_all(&frames).unwrap();
}

/// The first pixel of a PNG file.
fn pixel(path: &std::path::Path) -> [u8; 4] {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    *pixels.first_chunk().unwrap()
}

/// Types of display objects. (drm_mode.h)
const ANY: u32 = 0;
const CRTC_TYPE: u32 = 0xcccc_cccc;
const CONNECTOR_TYPE: u32 = 0xc0c0_c0c0;
const ENCODER_TYPE: u32 = 0xe0e0_e0e0;
const PLANE_TYPE: u32 = 0xeeee_eeee;
const BLOB_TYPE: u32 = 0xbbbb_bbbb;
const FB_TYPE: u32 = 0xfbfb_fbfb;
const PROPERTY_TYPE: u32 = 0xb0b0_b0b0;

/// Ids of the display's objects.
const CRTC: u32 = 31;
const ENCODER: u32 = 32;
const CONNECTOR: u32 = 33;
const PLANE: u32 = 34;

impl Client {
    fn set_property(&mut self, object: (u32, u32), prop_id: u32, value: u64) -> Outcome {
        let (obj_id, obj_type) = object;
        let mut set = mode::ObjSetProperty { value, prop_id, obj_id, obj_type, pad: 0 };
        self.core(mode::nr::OBJ_SETPROPERTY, &mut set)
    }

    /// Displays a new frame buffer of 64 by 48 pixels. Returns its id.
    fn display(&mut self) -> u32 {
        let (width, height) = (64, 48);
        let mut dumb = mode::CreateDumb { width, height, bpp: 32, ..Default::default() };
        self.core(mode::nr::CREATE_DUMB, &mut dumb).unwrap();
        let (pitch, handle) = (dumb.pitch, dumb.handle);
        let mut fb =
            mode::FbCmd { width, height, pitch, bpp: 32, depth: 24, handle, ..Default::default() };
        self.core(mode::nr::ADDFB, &mut fb).unwrap();
        let mut crtc = mode::Crtc {
            crtc_id: CRTC,
            fb_id: fb.fb_id,
            mode_valid: 1,
            mode: mode::ModeInfo { hdisplay: 64, vdisplay: 48, ..Default::default() },
            ..Default::default()
        };
        self.core(mode::nr::SETCRTC, &mut crtc).unwrap();
        fb.fb_id
    }
}

/// Oracle: Linux drm_mode_object.c, and IGT's kms_properties, kms_prop_blob and kms_addfb_basic:
/// ENOENT for an object that does not exist or has another type, EINVAL for an object without
/// properties and for a property of another object.
#[test]
fn objects_without_properties() {
    let mut client = Client::open(PRIMARY);
    let fb = client.display();
    let bytes = [1u8; 16];
    let mut blob =
        mode::CreateBlob { data: bytes.as_ptr() as u64, length: 16, ..Default::default() };
    client.core(mode::nr::CREATEPROPBLOB, &mut blob).unwrap();
    let property = client.named(CONNECTOR)["DPMS"].0;
    let get = |client: &mut Client, obj_id, obj_type| {
        let mut list = mode::ObjGetProperties { obj_id, obj_type, ..Default::default() };
        client.core(mode::nr::OBJ_GETPROPERTIES, &mut list)
    };
    let kinds = [ANY, CRTC_TYPE, CONNECTOR_TYPE, ENCODER_TYPE, PLANE_TYPE, BLOB_TYPE, FB_TYPE];
    for (object, own, expected) in [
        (CRTC, CRTC_TYPE, Ok(())),
        (CONNECTOR, CONNECTOR_TYPE, Ok(())),
        (PLANE, PLANE_TYPE, Ok(())),
        (ENCODER, ENCODER_TYPE, errno(Errno::INVAL)),
        (blob.blob_id, BLOB_TYPE, errno(Errno::INVAL)),
        (fb, FB_TYPE, errno(Errno::INVAL)),
        (property, PROPERTY_TYPE, errno(Errno::INVAL)),
    ] {
        for kind in kinds.into_iter().chain([PROPERTY_TYPE]) {
            let found = kind == ANY || kind == own;
            let expected = if found { expected.clone() } else { errno(Errno::NOENT) };
            assert_eq!(get(&mut client, object, kind), expected, "{object} {kind:#x}");
            // No object has property 1.
            let error = if found { Errno::INVAL } else { Errno::NOENT };
            let set = client.set_property((object, kind), 1, 0);
            assert_eq!(set, errno(error), "{object} {kind:#x}");
        }
    }
    for missing in [0, 1, 9999, u32::MAX] {
        assert_eq!(get(&mut client, missing, ANY), errno(Errno::NOENT));
        assert_eq!(client.set_property((missing, ANY), property, 0), errno(Errno::NOENT));
    }
    // A property of another object.
    assert_eq!(client.set_property((CRTC, CRTC_TYPE), property, 0), errno(Errno::INVAL));
}

/// Oracle: Linux drm_mode_object.c, drm_property.c and drm_atomic_uapi.c.
#[test]
fn properties_one_by_one() {
    let mut client = Client::open(PRIMARY);
    let dpms = client.named(CONNECTOR)["DPMS"].0;
    let connector = (CONNECTOR, CONNECTOR_TYPE);
    // Without a CRTC there is nothing to switch on.
    client.set_property(connector, dpms, 0).unwrap();
    let fb = client.display();
    client.core(drm::nr::SET_CLIENT_CAP, &mut drm::Cap { capability: 3, value: 1 }).unwrap();
    let state =
        |client: &mut Client| (client.named(CONNECTOR)["DPMS"].1, client.named(CRTC)["ACTIVE"].1);
    assert_eq!(state(&mut client), (0, 1));
    // Standby means off, too.
    for value in [3, 1] {
        client.set_property(connector, dpms, value).unwrap();
        assert_eq!(state(&mut client), (3, 0));
        let mut set =
            mode::ConnectorSetProperty { value: 0, prop_id: dpms, connector_id: CONNECTOR };
        client.core(mode::nr::SETPROPERTY, &mut set).unwrap();
        assert_eq!(state(&mut client), (0, 1));
    }
    let mut wrong = mode::ConnectorSetProperty { value: 0, prop_id: dpms, connector_id: CRTC };
    assert_eq!(client.core(mode::nr::SETPROPERTY, &mut wrong), errno(Errno::NOENT));
    // The display keeps its frame buffer and mode when it is off.
    assert_eq!(client.named(PLANE)["FB_ID"].1, u64::from(fb));

    let plane = client.named(PLANE);
    let id = |name: &str| plane[name].0;
    let mut second = mode::FbCmd { fb_id: fb, ..Default::default() };
    client.core(mode::nr::GETFB, &mut second).unwrap();
    client.core(mode::nr::ADDFB, &mut second).unwrap();
    client.set_property((PLANE, PLANE_TYPE), id("FB_ID"), second.fb_id.into()).unwrap();
    assert_eq!(client.named(PLANE)["FB_ID"].1, u64::from(second.fb_id));
    let mut fence = 0i32;
    let out = client.named(CRTC)["OUT_FENCE_PTR"].0;
    client.set_property((CRTC, ANY), out, &raw mut fence as u64).unwrap();
    assert_eq!(fence, -1);
    for (name, value) in [
        // Read-only, out of range, a frame buffer that does not exist, and states that no plane
        // can have.
        ("type", 1),
        ("CRTC_W", 1 << 31),
        ("FB_ID", 9999),
        ("CRTC_ID", 0),
        ("CRTC_X", 1),
    ] {
        let set = client.set_property((PLANE, PLANE_TYPE), id(name), value);
        assert_eq!(set, errno(Errno::INVAL), "{name}");
        assert_eq!(client.named(PLANE)["FB_ID"].1, u64::from(second.fb_id));
    }
}

/// Oracle: IGT's kms_prop_blob@blob-prop-lifetime: the blobs of a client end with its file.
#[test]
fn blobs_of_closed_files() {
    let mut client = Client::open(PRIMARY);
    let other = Id::new();
    let (end, channel) = Descriptor::Device { id: other, minor: PRIMARY }.create(true).unwrap();
    client.device.open(other, PRIMARY, Some(channel));
    let first = std::mem::replace(&mut client.id, other);
    let bytes = [1u8; 16];
    let mut made =
        mode::CreateBlob { data: bytes.as_ptr() as u64, length: 16, ..Default::default() };
    client.core(mode::nr::CREATEPROPBLOB, &mut made).unwrap();
    client.id = first;
    let mut blob = mode::Blob { blob_id: made.blob_id, ..Default::default() };
    client.core(mode::nr::GETPROPBLOB, &mut blob).unwrap();
    assert_eq!(blob.length, 16);
    drop(end);
    assert_eq!(client.core(mode::nr::GETPROPBLOB, &mut blob), errno(Errno::NOENT));
}
