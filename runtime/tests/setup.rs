//! State by intent.

use genxml::batch::{BatchError, Buffer};
use genxml::core::Address;
use genxml::gen8::state::{
    RenderSurfaceStateExtent as Extent, SurfaceFormat, SurfaceType, TileMode,
};
use genxml::setup::{Dispatch, Heaps, Surface};
use genxml_testkit::Random;

/// Oracle: the manual. The number of entries minus one is in 7 bits of the width, 14 of the height
/// and the rest in the depth (2d p.326-348).
#[test]
fn entries_of_buffers_are_divided() {
    let mut random = Random::new(3);
    let mut counts = vec![1, 2, 127, 128, 129, 1 << 21, (1 << 21) + 1, 1 << 31];
    counts.extend(random.dwords(1000).iter().map(|count| 1 + count % (1 << 27)));
    for count in counts {
        for surface in [
            Surface::raw(count),
            Surface::structured(16, count),
            Surface::buffer(SurfaceFormat::R32_UINT, count),
        ] {
            let state = surface.state(Address::ZERO).unwrap();
            let Extent::Buffer { width, height, depth } = state.extent else { panic!("{state:?}") };
            let parts = [width.get(), height.get(), depth.get()];
            assert!(parts[0] < 1 << 7, "{count}: {parts:?}");
            assert_eq!(parts[0] | parts[1] << 7 | parts[2] << 21, u64::from(count) - 1);
        }
    }
    let pitch = |surface: Surface| surface.state(Address::ZERO).unwrap().surface_pitch.get();
    assert_eq!(pitch(Surface::raw(64)), 1);
    assert_eq!(pitch(Surface::structured(24, 64)), 24);
    assert_eq!(pitch(Surface::buffer(SurfaceFormat::R32G32B32A32_FLOAT, 64)), 16);
}

#[test]
fn surfaces_fit_their_buffers() {
    let buffer = Buffer::new("b", 0x10000, 4096).unwrap();
    let fits = |surface: Surface| match surface.fits(&buffer) {
        Ok(()) => true,
        Err(BatchError::Surface { .. }) => false,
        Err(error) => panic!("{error}"),
    };
    let image = Surface::image(SurfaceFormat::R8G8B8A8_UNORM, 32, 32);
    assert!(fits(image));
    assert!(!fits(Surface { height: 33, ..image }));
    // The last row may end before the pitch does.
    assert!(fits(Surface { width: 31, ..image }));
    assert!(!fits(Surface { pitch: 124, ..image }), "less than a row");
    // A tile of Y has 32 rows of 128 bytes, one of X 8 rows of 512 bytes.
    let tiled = |tiling, pitch, height| Surface { tiling, pitch, height, ..image };
    assert!(fits(tiled(TileMode::YMAJOR, 128, 32)));
    assert!(!fits(tiled(TileMode::YMAJOR, 128, 33)));
    assert!(!fits(tiled(TileMode::YMAJOR, 192, 8)));
    assert!(fits(tiled(TileMode::XMAJOR, 512, 8)));
    assert!(!fits(tiled(TileMode::XMAJOR, 512, 9)));
    assert!(!fits(tiled(TileMode::XMAJOR, 128, 8)));
    assert!(!fits(Surface::image(SurfaceFormat::BC1_UNORM, 4, 4)), "blocks are not counted");
    assert!(fits(Surface::raw(4096)));
    assert!(!fits(Surface::raw(4097)));
    assert!(fits(Surface::structured(64, 64)));
    assert!(!fits(Surface::structured(64, 65)));
    assert_eq!(Surface::raw(1).kind, SurfaceType::SURFTYPE_BUFFER);
}

#[test]
fn constants_of_threads_are_whole_registers() {
    let mut heaps = Heaps::new(0x20_0000).unwrap();
    let dispatch = |threads, dwords| Dispatch {
        threads,
        thread_constants: vec![0; dwords],
        shared_constants: vec![1, 2, 3],
        ..Dispatch::new(&[])
    };
    let load = dispatch(4, 64).curbe(&mut heaps).unwrap().unwrap();
    // 1 shared register and 2 for each of 4 threads: 288 bytes, in units of 64.
    assert_eq!(load.curbe_total_data_length.get(), 320);
    let descriptor = dispatch(4, 64).descriptor(&mut heaps).unwrap();
    assert_eq!(descriptor.cross_thread_constant_data_read_length.get(), 1);
    assert_eq!(descriptor.constant_indirect_urb_entry_read_length.get(), 2);
    for (threads, dwords) in [(4, 63), (4, 40), (3, 32)] {
        let error = dispatch(threads, dwords).curbe(&mut heaps).unwrap_err();
        assert!(matches!(error, BatchError::Constants { .. }), "{error}");
    }
    let text = dispatch(65, 0).walker().unwrap_err().to_string();
    assert!(text.contains("65 does not fit 1..=64"), "{text}");
}
