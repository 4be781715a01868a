//! What becomes of vertices on the screen: draws without vertex shader and with small pixel
//! shaders, whose targets are compared pixel by pixel with what exact arithmetic, the rules of the
//! APIs and tables say.
//!
//! Pictures of characters were drawn by hand from the rule that the case names; nothing here comes
//! from the model's own output.

mod bad;
mod blend;
mod clears;
mod damage;
mod depth;
mod dispatch;
mod exact;
mod interpolation;
mod kernels;
mod lines;
mod samples;
mod scene;
mod surfaces;
mod views;
