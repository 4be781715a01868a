//! Stands in for generated types until the specification has them.
#![allow(missing_docs)]

#[derive(Clone, Debug)]
pub struct MediaVfeState;
#[derive(Clone, Debug)]
pub struct InterfaceDescriptorData;
#[derive(Clone, Debug)]
pub struct GpgpuWalker;
#[derive(Clone, Debug)]
pub struct MediaObject<'a>(pub &'a [u32]);
