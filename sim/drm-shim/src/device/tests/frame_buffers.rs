//! Frame buffers: which are refused, and what clients get of them.

use super::*;

/// An image that fills an object of 1024 by 1024 pixels.
fn image(handle: u32) -> mode::FbCmd2 {
    mode::FbCmd2 {
        width: 1024,
        height: 1024,
        pixel_format: u32::from_le_bytes(*b"XR24"),
        handles: [handle, 0, 0, 0],
        pitches: [4096, 0, 0, 0],
        ..Default::default()
    }
}

/// The modifier of X tiling. (drm_fourcc.h)
const X_TILED: u64 = 1 << 56 | 1;

/// Oracle: IGT's kms_addfb_basic, and Linux drm_framebuffer.c and intel_fb.c.
#[test]
fn refused_images() {
    let mut client = Client::open(PRIMARY);
    let handle = client.create(4 << 20);
    let good = image(handle);
    let mut add = |image: mode::FbCmd2, expected: Result<(), Errno>| {
        let mut image = image;
        let outcome = client.core(mode::nr::ADDFB2, &mut image);
        assert_eq!(outcome, expected.map_err(Stop::Errno), "{image:?}");
    };
    let wrong = Err(Errno::INVAL);
    let with = |flags: u32, image: mode::FbCmd2| mode::FbCmd2 { flags, ..image };
    let modifiers = mode::FB_MODIFIERS;
    add(good, Ok(()));
    add(with(mode::FB_INTERLACED, good), Ok(()));
    add(with(4, good), wrong);
    add(mode::FbCmd2 { handles: [0; 4], ..good }, wrong);
    add(mode::FbCmd2 { handles: [99, 0, 0, 0], ..good }, Err(Errno::NOENT));
    // The size and the pitch.
    for (width, height) in [(1025, 1024), (1024, 1025), (0, 1024), (1024, 0)] {
        add(mode::FbCmd2 { width, height, ..good }, wrong);
    }
    // The last row counts with its whole pitch.
    add(mode::FbCmd2 { width: 1, height: 1025, ..good }, wrong);
    for (pitch, expected) in [
        (0, wrong),
        (4092, wrong),
        (4097, wrong),
        (4128, wrong),
        (4160, Ok(())),
        (32 << 10, Ok(())),
        // Longer than the pitch of the plane: whole pages.
        ((32 << 10) + 64, wrong),
        (36 << 10, Ok(())),
        (256 << 10, Ok(())),
        (260 << 10, wrong),
        (1 << 29, Err(Errno::RANGE)),
    ] {
        add(mode::FbCmd2 { height: 8, pitches: [pitch, 0, 0, 0], ..good }, expected);
    }
    let half = mode::FbCmd2 { height: 512, ..good };
    add(half, Ok(()));
    add(mode::FbCmd2 { offsets: [4096, 0, 0, 0], ..half }, wrong);
    // Modifiers, and planes that the format does not have.
    add(mode::FbCmd2 { modifier: [X_TILED, 0, 0, 0], ..good }, wrong);
    add(mode::FbCmd2 { modifier: [0, X_TILED, 0, 0], ..good }, wrong);
    add(with(modifiers, good), Ok(()));
    add(with(modifiers, mode::FbCmd2 { modifier: [X_TILED, 0, 0, 0], ..good }), Ok(()));
    add(with(modifiers, mode::FbCmd2 { modifier: [X_TILED; 4], ..good }), wrong);
    for unused in [
        mode::FbCmd2 { handles: [handle, handle, 0, 0], ..good },
        mode::FbCmd2 { pitches: [4096, 0, 0, 4096], ..good },
        mode::FbCmd2 { offsets: [0, 0, 64, 0], ..good },
    ] {
        add(with(modifiers, unused), wrong);
        add(unused, Ok(()));
    }
}

/// Oracle: IGT's kms_addfb_basic, and Linux intel_fb.c. A tile of 4 KiB has 8 rows of 512 bytes.
#[test]
fn tiled_images() {
    let mut client = Client::open(PRIMARY);
    // Room for 1016 rows in whole tiles, and for 1023 rows without tiles.
    let handle = client.create(4096 * 1023);
    let image = image(handle);
    let modified = mode::FbCmd2 { flags: mode::FB_MODIFIERS, ..image };
    let add = |client: &mut Client, image: mode::FbCmd2| {
        let mut image = image;
        client.core(mode::nr::ADDFB2, &mut image).map(|()| image.fb_id)
    };
    let wrong = errno(Errno::INVAL);
    let rows = |height: u32, image: mode::FbCmd2| mode::FbCmd2 { height, ..image };
    let x = mode::FbCmd2 { modifier: [X_TILED, 0, 0, 0], ..modified };
    assert!(add(&mut client, rows(1023, image)).is_ok());
    assert!(add(&mut client, rows(1016, x)).is_ok());
    assert_eq!(add(&mut client, rows(1017, x)), wrong);
    let pitch = mode::FbCmd2 { width: 64, pitches: [4160, 0, 0, 0], ..rows(8, x) };
    assert_eq!(add(&mut client, pitch), wrong, "pitch is not a multiple of a tile's width");

    let handle = client.create(4096 * 1023);
    let mut tiling = i915::GemSetTiling { handle, tiling_mode: 1, stride: 4096, swizzle_mode: 0 };
    client.i915(i915::nr::GEM_SET_TILING, &mut tiling).unwrap();
    let of = |image: mode::FbCmd2| mode::FbCmd2 { handles: [handle, 0, 0, 0], ..image };
    let tiled = add(&mut client, of(rows(1016, image))).unwrap();
    assert_eq!(add(&mut client, of(rows(1017, image))), wrong);
    assert!(add(&mut client, of(rows(1016, x))).is_ok());
    assert_eq!(add(&mut client, of(rows(8, modified))), wrong, "modifier is not the tiling");
    let narrow = mode::FbCmd2 { width: 64, pitches: [2048, 0, 0, 0], ..rows(8, image) };
    assert_eq!(add(&mut client, of(narrow)), wrong, "pitch is not the tiling's");

    let mut got = mode::FbCmd2 { fb_id: tiled, ..Default::default() };
    client.core(mode::nr::GETFB2, &mut got).unwrap();
    assert_eq!(got.modifier, [X_TILED, 0, 0, 0]);
}

/// Oracle: IGT's kms_getfb, and Linux drm_framebuffer.c. Only the master gets handles, and
/// privileged clients.
#[test]
fn images_of_other_clients() {
    let mut client = Client::open(PRIMARY);
    let handle = client.create(4 << 20);
    let mut fb = image(handle);
    fb.height = 1000;
    client.core(mode::nr::ADDFB2, &mut fb).unwrap();
    for number in [mode::nr::GETFB2, mode::nr::RMFB, mode::nr::GETFB2] {
        let mut got = mode::FbCmd2 { fb_id: fb.fb_id, handles: [9; 4], ..Default::default() };
        match number {
            mode::nr::GETFB2 if client.device.kms.has(fb.fb_id).is_ok() => {
                client.core(number, &mut got).unwrap();
                let expected = mode::FbCmd2 {
                    handles: [handle + 1, 0, 0, 0],
                    flags: mode::FB_MODIFIERS,
                    ..fb
                };
                assert_eq!(bytemuck::bytes_of(&got), bytemuck::bytes_of(&expected));
                // The reply describes a frame buffer of the same object.
                client.core(mode::nr::ADDFB2, &mut got).unwrap();
                client.core(mode::nr::RMFB, &mut mode::FbId { fb_id: got.fb_id }).unwrap();
                let mut close = drm::GemClose { handle: handle + 1, pad: 0 };
                client.core(drm::nr::GEM_CLOSE, &mut close).unwrap();
            }
            mode::nr::GETFB2 => assert_eq!(client.core(number, &mut got), errno(Errno::NOENT)),
            _ => client.core(number, &mut mode::FbId { fb_id: fb.fb_id }).unwrap(),
        }
    }
    client.core(mode::nr::ADDFB2, &mut fb).unwrap();
    for wrong in [0, 33, 41] {
        let mut got = mode::FbCmd2 { fb_id: wrong, ..Default::default() };
        assert_eq!(client.core(mode::nr::GETFB2, &mut got), errno(Errno::NOENT), "{wrong}");
    }

    // A second client, which is not the master.
    let (first, second) = (client.id, Id::new());
    client.device.open(second, PRIMARY, None);
    client.id = second;
    assert_eq!(client.core(drm::nr::SET_MASTER, &mut 0u32), errno(Errno::BUSY));
    assert_eq!(client.core(drm::nr::DROP_MASTER, &mut 0u32), errno(Errno::INVAL));
    let handles = |client: &mut Client| {
        let mut all = mode::FbCmd2 { fb_id: fb.fb_id, ..Default::default() };
        client.core(mode::nr::GETFB2, &mut all).unwrap();
        let mut one = mode::FbCmd { fb_id: fb.fb_id, ..Default::default() };
        client.core(mode::nr::GETFB, &mut one).unwrap();
        assert_eq!((all.width, all.height, one.width, one.height), (1024, 1000, 1024, 1000));
        [all.handles[0], one.handle]
    };
    let none = if PROCESS.is_admin() { [1, 2] } else { [0, 0] };
    assert_eq!(handles(&mut client), none);
    client.id = first;
    client.core(drm::nr::DROP_MASTER, &mut 0u32).unwrap();
    client.id = second;
    client.core(drm::nr::SET_MASTER, &mut 0u32).unwrap();
    assert_eq!(handles(&mut client), none.map(|handle| if handle == 0 { 1 } else { handle + 2 }));
}
