//! What the dwords of a vertex are used for.

/// What a dword of a vertex is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum VertexUse {
    /// A component of the position, 0 to 3 for x to w. It decides which pixels are covered, and
    /// makes the weights of the vertices.
    Position(u8),
    /// The index of the layer of the render target.
    ArrayIndex,
    /// The index of the viewport.
    Viewport,
    /// The width of the point.
    PointWidth,
    /// A distance of the clipper, 0 to 7.
    Distance(u8),
    /// A component of an attribute of the pixel shader.
    Attribute {
        /// Number of the attribute.
        number: u8,
        /// Component, 0 to 3 for x to w.
        component: u8,
    },
    /// A dword that the geometry shader reads.
    Input,
    /// A dword that stream output writes to this graphics address.
    Streamed(u64),
}
