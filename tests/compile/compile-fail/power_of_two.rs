//! A value that is stored as a logarithm must be a power of two.
use genxml::core::{PowerOfTwo, lit};

fn main() {
    let samples: PowerOfTwo<3> = lit!(12);
    println!("{samples}");
}
