//! Memory as an engine of an error state sees it.

use super::{Buffer, Engine, ErrorState};
use crate::memory::Memory;

/// Memory by address: pieces that do not overlap, in order.
#[derive(Debug, Default, Clone)]
struct Pieces<'a>(Vec<(u64, &'a [u8])>);

impl<'a> Pieces<'a> {
    /// Adds the parts of `bytes` that no piece covers yet.
    fn add(&mut self, mut address: u64, mut bytes: &'a [u8]) {
        while !bytes.is_empty() {
            let at = self.0.partition_point(|piece| piece.0 <= address);
            if let Some((start, piece)) = at.checked_sub(1).map(|before| self.0[before])
                && let Some(covered) =
                    (start + piece.len() as u64).checked_sub(address).filter(|&n| n > 0)
            {
                let covered = (covered.min(bytes.len() as u64)) as usize;
                (address, bytes) = (address + covered as u64, &bytes[covered..]);
                continue;
            }
            let room = self.0.get(at).map_or(u64::MAX, |next| next.0 - address);
            let here = room.min(bytes.len() as u64) as usize;
            self.0.insert(at, (address, &bytes[..here]));
            (address, bytes) = (address + here as u64, &bytes[here..]);
        }
    }

    fn tail(&self, address: u64) -> &'a [u8] {
        let Some(before) = self.0.partition_point(|piece| piece.0 <= address).checked_sub(1) else {
            return &[];
        };
        let (start, bytes) = self.0[before];
        usize::try_from(address - start)
            .ok()
            .and_then(|offset| bytes.get(offset..))
            .unwrap_or_default()
    }
}

impl Memory for Pieces<'_> {
    fn tail(&self, address: u64) -> &[u8] {
        Pieces::tail(self, address)
    }
}

/// Memory as an engine sees it: by addresses of its context, and by global addresses
/// ([`Memory::global`]).
#[derive(Debug, Clone)]
pub struct View<'a> {
    context: Pieces<'a>,
    global: Pieces<'a>,
}

impl Memory for View<'_> {
    fn tail(&self, address: u64) -> &[u8] {
        self.context.tail(address)
    }

    fn global(&self) -> Option<&dyn Memory> {
        Some(&self.global)
    }
}

impl ErrorState {
    /// Memory as this engine sees it. Global buffers of all engines are included. Other buffers of
    /// another engine are included if both engines have the same page tables, or if the file
    /// reports page tables of neither. Other buffers that belong to no engine in the file are
    /// included. If the file reports no page tables of this engine and is not from the driver xe,
    /// context addresses and global addresses reach the same memory.
    pub fn memory<'a>(&'a self, engine: &str) -> View<'a> {
        let own = self.engine(engine);
        let mut context = Pieces::default();
        let mut global = Pieces::default();
        let of_own = |buffer: &&Buffer| buffer.engine.as_deref() == Some(engine);
        let of_same = |buffer: &&Buffer| {
            let other = buffer.engine.as_deref().and_then(|name| self.engine(name));
            other.is_none_or(|other| own.is_none_or(|own| same_space(own, other)))
        };
        let add = |pieces: &mut Pieces<'a>, buffer: &'a Buffer| {
            pieces.add(buffer.address & crate::memory::VA_MASK, &buffer.data);
        };
        let is_global = |buffer: &&Buffer| buffer.kind.is_global();
        let all = || self.buffers.iter();
        all().filter(is_global).filter(of_own).for_each(|buffer| add(&mut global, buffer));
        all().filter(is_global).for_each(|buffer| add(&mut global, buffer));
        all()
            .filter(|buffer| !is_global(buffer))
            .filter(of_own)
            .for_each(|buffer| add(&mut context, buffer));
        let others = all().filter(|buffer| !is_global(buffer) && !of_own(buffer));
        others.filter(of_same).for_each(|buffer| add(&mut context, buffer));
        // With the driver xe, which the file names, every context has page tables of its own.
        if !own.is_some_and(has_page_tables) && self.entry("module") != Some("xe") {
            let (before, after) = (context.clone(), global.clone());
            after.0.iter().for_each(|(address, bytes)| context.add(*address, bytes));
            before.0.iter().for_each(|(address, bytes)| global.add(*address, bytes));
        }
        View { context, global }
    }
}

/// True if the file reports page tables of this engine.
fn has_page_tables(engine: &Engine) -> bool {
    engine.value("PDP0").is_some_and(|root| root != 0)
        || engine.value("PP_DIR_BASE").is_some_and(|root| root != 0)
}

fn same_space(one: &Engine, other: &Engine) -> bool {
    let roots = |engine: &Engine| {
        engine
            .value("PDP0")
            .or_else(|| engine.value("PP_DIR_BASE"))
            .filter(|_| has_page_tables(engine))
    };
    roots(one) == roots(other)
}

#[cfg(test)]
mod tests {
    use super::super::BufferKind;
    use super::*;

    #[test]
    fn pieces_do_not_overlap() {
        let mut pieces = Pieces::default();
        pieces.add(0x1000, &[1; 0x10]);
        pieces.add(0x0ff8, &[2; 0x30]);
        pieces.add(0x2000, &[]);
        assert_eq!(pieces.tail(0x0ff8), [2; 8]);
        assert_eq!(pieces.tail(0x1004), [1; 12]);
        assert_eq!(pieces.tail(0x1010), [2; 0x18]);
        assert_eq!(pieces.tail(0x1028), [0u8; 0]);
        assert_eq!(pieces.tail(0), [0u8; 0]);
        let mut dwords = Vec::new();
        assert_eq!(pieces.dwords(0x0ff8, 100, &mut dwords), 12);
    }

    #[test]
    fn engines_see_their_own_page_tables() {
        let engine = |name: &str, root| Engine {
            name: name.into(),
            registers: vec![super::super::Register::new("PDP0", root)],
            ..Engine::default()
        };
        let buffer = |engine: &str, kind, value| Buffer {
            engine: Some(engine.into()),
            kind,
            address: 0x1000,
            data: vec![value; 16],
            ..Buffer::default()
        };
        let mut state = ErrorState {
            engines: vec![engine("rcs0", 0x10_0000), engine("vcs0", 0x20_0000)],
            buffers: vec![
                buffer("vcs0", BufferKind::Batch, 2),
                buffer("rcs0", BufferKind::Ring, 3),
            ],
            ..ErrorState::default()
        };
        let view = state.memory("rcs0");
        assert!(view.tail(0x1000).is_empty(), "rcs0 must not see another address space");
        assert_eq!(view.global().unwrap().tail(0x1000), [3; 16]);
        assert_eq!(state.memory("vcs0").tail(0x1000), [2; 16]);
        state.engines[1].registers[0].value = 0x10_0000;
        assert_eq!(state.memory("rcs0").tail(0x1000), [2; 16], "batch of the same address space");
        state.engines.iter_mut().for_each(|engine| engine.registers.clear());
        assert_eq!(state.memory("rcs0").tail(0x1000), [2; 16], "no page tables are reported");
    }
}
