//! Messages of threads of the G45 to the shared functions, each against an independent
//! formulation of the manual's text.

mod buffers;
mod constants;
mod gateway;
mod kernels;
mod loop_filter;
mod math;
mod media;
mod mutations;
mod rig;
mod sampler;
mod sampler_kinds;
mod surfaces;
mod targets;
mod texture;
mod urb;
