//! Checks packets while a batch is built.

use super::{Checker, Finding, Rules, Seen};
use crate::decode::{Decoder, Options, State, Tables};
use crate::engine::EngineId;

/// The rules, the recorded state and the findings so far.
pub(crate) struct Watch {
    rules: Rules,
    engine: EngineId,
    seen: Option<Seen>,
    state: State,
    found: Vec<Finding>,
}

impl Watch {
    /// A watch that has checked no packet yet.
    pub fn new(engine: EngineId, rules: Rules) -> Watch {
        let mut seen = Seen::new(&rules);
        seen.position.engine = engine;
        Watch { seen: Some(seen), rules, engine, state: State::default(), found: Vec::new() }
    }

    /// Checks the next packets of the batch, which are at `address`. It does not check what they
    /// point to.
    pub fn packets(&mut self, address: u64, dwords: &[u32]) {
        let found = &mut self.found;
        let mut each = |finding: &Finding| found.push(finding.clone());
        let seen = self.seen.take().unwrap_or_else(|| Seen::new(&self.rules));
        let mut checker = Checker { rules: &self.rules, each: &mut each, seen };
        if checker.seen.position.batch == 0 {
            checker.seen.position.batch = address;
        }
        let options = Options { kernels: false, follow: false, ..Options::default() };
        let decoder = Decoder::new(Tables::gen8(), options);
        let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        let (memory, length) = ((address, &bytes[..]), bytes.len() as u64);
        // The checker is a sink that never fails.
        _ = decoder.batch(&mut self.state, self.engine, &memory, address, length, &mut checker);
        checker.report(None);
        self.seen = Some(checker.seen);
    }

    /// The findings so far.
    pub fn found(&self) -> &[Finding] {
        &self.found
    }
}
