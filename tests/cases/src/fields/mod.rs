//! The field list: for every field of every packet and state structure, whether the model uses it.
//!
//! The cases run their batches through [`Model`](crate::Model). If the environment variable
//! [`JOB`] names a folder, the model first probes the batch: it changes one field of one packet or
//! structure, runs the batch on a fresh model, and compares the result with that of the unchanged
//! batch. `tests/cases/fields` starts the cases in this way and has the list.
//!
//! * [`places`]: the fields of containers, and where records have them;
//! * [`values`]: other values for a field;
//! * [`subject`]: a batch with its memory, which can run many times;
//! * [`list`]: rows of the list;
//! * [`visit`]: probes the batches of a process.

pub mod list;
pub mod places;
pub mod subject;
pub mod values;
pub mod visit;

/// Name of the environment variable with the folder of the job. The file `list.tsv` in the folder
/// has the rows of the list. The results are written to `results.tsv`.
pub const JOB: &str = "GENXML_FIELDS_JOB";

/// Name of the environment variable that asks for an update of the list.
pub const UPDATE: &str = "GENXML_FIELDS_UPDATE";
