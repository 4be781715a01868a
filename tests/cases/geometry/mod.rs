//! Vertex fetch, vertex, hull, domain and geometry shaders, the tessellator and stream output. The
//! draws render nothing: stream output writes the vertices to memory, and a listener records the
//! payloads of threads.

mod corpus;
pub mod harness;
mod patches;
mod resources;
mod shaders;
mod stream;
mod vertex;
