//! The video engine: streams that real drivers submitted, and batches of typed packets.
//!
//! * [`capture`]: submissions of a driver with the frames that they decode;
//! * [`streams`]: plays all captures;
//! * [`mutations`]: plays captures after random changes;
//! * [`packets`]: small pictures of typed packets, modes, faults and status registers;
//! * [`concealment`]: AVC slices with missing macroblocks;
//! * [`records`]: records of decoded AVC macroblocks;
//! * [`short`]: AVC slices whose headers the engine reads;
//! * [`encode`], [`encode_mpeg2`]: pictures encoded from typed packets;
//! * [`it`]: macroblocks that an application has decoded;
//! * [`jpeg`]: JPEG pictures of typed packets;
//! * [`vc1`]: compensated references of VC-1;
//! * [`enhance`]: video enhancement.
//!
//! `make.py` made the files of `captures`: it plays small streams with unmodified VA-API drivers.

mod capture;
mod concealment;
mod encode;
mod encode_mpeg2;
mod enhance;
mod it;
mod jpeg;
mod mutations;
mod packets;
mod records;
mod short;
mod streams;
mod vc1;
