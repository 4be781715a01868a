//! Vertex fetch, vertex, hull, domain and geometry shaders, the tessellator and stream output, by
//! draws that render nothing: what comes out is read where the stream output puts it, what threads
//! start with is heard from an observer.

mod corpus;
mod harness;
mod patches;
mod shaders;
mod stream;
mod vertex;
