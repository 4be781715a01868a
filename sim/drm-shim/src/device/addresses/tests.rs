use super::*;

fn object(number: u64, size: u64, pinned: Option<u64>) -> Wanted {
    Wanted { object: ObjectId(number), size, alignment: 0, pinned, wish: 0, wide: false }
}

#[test]
fn canonical_form() {
    assert_eq!(canonical(0x8001_ffff_0000), 0xffff_8001_ffff_0000);
    assert_eq!(canonical(0x7fff_ffff_f000), 0x7fff_ffff_f000);
    let at = |offset, flags| ExecObject2 { offset, flags, ..Default::default() };
    let wide = object::PINNED | object::SUPPORTS_48B;
    assert_eq!(pinned(&at(0xffff_8001_ffff_0000, wide), 4096, true), Ok(Some(0x8001_ffff_0000)));
    assert_eq!(pinned(&at(0x8001_ffff_0000, wide), 4096, true), Err(Errno::INVAL));
    assert_eq!(pinned(&at(0x1001, wide), 4096, true), Err(Errno::INVAL));
    assert_eq!(pinned(&at(0x1001, 0), 4096, true), Ok(None));
}

/// Objects keep their assigned addresses, but move if a pinned object of the same submission needs
/// the range.
#[test]
fn places() {
    let mut vm = Vm::with_user(&Chip::default());
    let first = vm.place(&[object(1, 8192, None), object(2, 4096, None)]).unwrap();
    assert_eq!(first, [0x1000_0000, 0x1000_0000 + 8192]);
    let second = vm.place(&[object(2, 4096, None), object(3, 4096, None)]).unwrap();
    assert_eq!(second, [0x1000_0000 + 8192, 0x1000_0000 + 12288]);
    let third =
        vm.place(&[object(2, 4096, None), object(4, 4096, Some(0x1000_0000 + 8192))]).unwrap();
    assert_eq!(third, [0x1000_0000 + 16384, 0x1000_0000 + 8192]);
    let twice = [object(5, 8192, Some(0x1000_0000)), object(6, 4096, Some(0x1000_0000 + 4096))];
    assert_eq!(vm.place(&twice), Err(Errno::NOSPC));
    let aligned = Wanted { alignment: 1 << 20, ..object(7, 4096, None) };
    assert_eq!(vm.place(&[aligned]).unwrap(), [0x1000_0000 + (1 << 20)]);
    let large = object(8, 4 << 30, None);
    assert_eq!(vm.place(&[large]), Err(Errno::NOSPC));
    assert!(vm.place(&[Wanted { wide: true, ..large }]).is_ok());
}

/// Oracle: eb_vma_misplaced (Linux i915_gem_execbuffer.c): a bound object with too few addresses
/// moves.
#[test]
fn padded_objects_move() {
    let mut vm = Vm::with_user(&Chip::default());
    vm.place(&[object(1, 4096, None), object(2, 4096, None)]).unwrap();
    let padded = vm.place(&[object(1, 8192, None), object(2, 4096, None)]).unwrap();
    assert_eq!(padded, [0x1000_0000 + 8192, 0x1000_0000 + 4096]);
}

/// Oracle: eb_pin_vma and eb_vma_misplaced (Linux i915_gem_execbuffer.c): the offset of an entry
/// without PINNED is the address if the object is not bound, the range is free and the address is
/// aligned and inside the address space.
#[test]
fn wishes() {
    let entry = |offset| ExecObject2 { offset, ..Default::default() };
    assert_eq!(wish(&entry(0xffff_8001_0000_0123)), 0x8001_0000_0000);
    let wishes = |number, wish| Wanted { wish, ..object(number, 8192, None) };
    let mut vm = Vm::with_user(&Chip::default());
    let mut place = |wanted| vm.place(&[wanted]).unwrap()[0];
    assert_eq!(place(wishes(1, 48 << 20)), 48 << 20);
    // A bound object stays, and its range is not free.
    assert_eq!(place(wishes(1, 64 << 20)), 48 << 20);
    assert_eq!(place(wishes(2, (48 << 20) + 4096)), 0x1000_0000);
    assert_eq!(place(wishes(3, (48 << 20) - 4096)), 0x1000_0000 + 8192);
    assert_eq!(place(wishes(4, (48 << 20) + 8192)), (48 << 20) + 8192);
    assert_eq!(place(wishes(5, (48 << 20) - 8192)), (48 << 20) - 8192);
    // Above the end for objects with 32-bit addresses, and for all objects.
    assert_eq!(place(wishes(6, END_32 - 4096)), 0x1000_0000 + 16384);
    assert_eq!(place(wishes(7, END_32 - 8192)), END_32 - 8192);
    let wide = |wanted| Wanted { wide: true, ..wanted };
    assert_eq!(place(wide(wishes(8, END_48 - 4096))), 0x1000_0000 + 24576);
    assert_eq!(place(wide(wishes(9, END_48 - 8192))), END_48 - 8192);
    // A wish that is not aligned.
    let aligned = Wanted { alignment: 1 << 20, ..wishes(10, (80 << 20) + 4096) };
    assert_eq!(place(aligned), 0x1000_0000 + (1 << 20));
}
