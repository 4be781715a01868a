//! Comparisons of MI_SEMAPHORE_WAIT with memory.

use super::exec::Exec;
use super::fault::Fault;
use super::memory;
use super::wait::Wait;
use genxml::gen8::mi::MiSemaphoreWaitCompareOperation as Compare;

impl Wait {
    /// Compares memory with the data again; in signal mode only after a signal. Returns true if the
    /// wait is over.
    ///
    /// # Errors
    /// [`Fault::Page`] if the semaphore is no longer mapped.
    pub(crate) fn passes(&mut self, exec: &mut Exec<'_>) -> Result<bool, Fault> {
        if !self.polls && !std::mem::take(&mut self.signalled) {
            return Ok(false);
        }
        self.memory = memory::read(exec, self.global, self.address, "Semaphore Address")?;
        Ok(compare(self.comparison, self.memory, self.data) == Some(true))
    }
}

/// Compares memory with `data` as unsigned numbers; `None` if the encoding is reserved.
pub(crate) fn compare(comparison: Compare, memory: u32, data: u32) -> Option<bool> {
    Some(match comparison {
        Compare::SAD_GREATER_THAN_SDD => memory > data,
        Compare::SAD_GREATER_THAN_OR_EQUAL_SDD => memory >= data,
        Compare::SAD_LESS_THAN_SDD => memory < data,
        Compare::SAD_LESS_THAN_OR_EQUAL_SDD => memory <= data,
        Compare::SAD_EQUAL_SDD => memory == data,
        Compare::SAD_NOT_EQUAL_SDD => memory != data,
        _ => return None,
    })
}
