//! Only commands of the render engine use the predicate.
use genxml::batch::{Batch, Buffer};
use genxml::engine::Blitter;
use genxml::mi::{Builder, Mem, MiError, Operand, Qword};

fn main() -> Result<(), MiError> {
    let buffer = Buffer::new("buffer", 0x1000, 4096)?;
    let memory = Mem::<Qword>::of(&buffer, 0)?;
    let mut batch = Batch::<Blitter>::new("batch", 0x2000, 4096)?;
    Builder::new(&mut batch).store_if(&memory.is_zero(), memory, 1)
}
