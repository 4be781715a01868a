//! The examples do what they say.

#[path = "../examples/blit.rs"]
mod blit;
#[path = "../examples/fill.rs"]
mod fill;

/// Oracle: the copy, pixel by pixel.
#[test]
fn blit() {
    let copied = blit::copied().unwrap();
    for (index, pixel) in copied.iter().enumerate() {
        let (x, y) = (index % blit::SIZE, index / blit::SIZE);
        let inside = (40..56).contains(&x) && (32..48).contains(&y);
        // 40 - 8 and 32 - 4: how far everything moved.
        let expected = if inside { blit::source(x - 32, y - 28) } else { 0 };
        assert_eq!(*pixel, expected, "{x}, {y}");
    }
    blit::main().unwrap();
}

/// Oracle: every pixel has the colour.
#[test]
fn fill() {
    assert_eq!(fill::filled(0x0102_0304).unwrap(), [0x0102_0304; fill::SIZE * fill::SIZE]);
    fill::main().unwrap();
}
