//! Vertices and primitives: the questions that the manuals leave open.

assumptions! {
    area GEOMETRY = "geometry";

    const VERTICES_BEHIND_THE_BUFFER_ARE_ZERO: bool = true;
        question "What is read for the elements of a vertex that is not wholly inside its buffer?";
        choice "Zeros.";
        reason "Direct3D and Vulkan's robust access want zeros. Hardware checks the size of the \
            buffer, and gen8_facts 5.1 infers zeros for all components.";

    const INDICES_BEHIND_THE_BUFFER_ARE_ZERO: bool = true;
        question "What is read for indices after the end of the index buffer?";
        choice "Zeros.";
        reason "As for VERTICES_BEHIND_THE_BUFFER_ARE_ZERO.";

    const QUADS_START_AT_THEIR_LAST_VERTEX: bool = true;
        question "Which vertex of a quad comes first in the polygon that is made from it (2b p.5)?";
        choice "The last vertex of the quad.";
        reason "No source says. Drivers report to applications that quads provoke at their last \
            vertex in every convention (in Mesa, QuadsFollowProvokingVertexConvention is off), and \
            their own conversion for the first generations did so.";

    const POLYGONS_PROVOKE_AT_THEIR_FIRST_VERTEX: bool = true;
        question "Which vertex of a polygon provokes?";
        choice "The first one.";
        reason "3DSTATE_SF has selects for strips and lists and for fans, and names no polygons. \
            OpenGL's polygons provoke at their first vertex in both conventions (4.6 \
            compatibility, table 13.2).";

    documentation TESSELLATION_IS_THAT_OF_DIRECT3D;
        question "Which points does the tessellator make, and in which order are points and \
            primitives?";
        choice "Points, order and connections are those of Direct3D 11.";
        reason "The manual names domains and partitionings only (2a p.231-234). Direct3D 11 \
            prescribes positions in fixed point, and Mesa carries its reference (gen8_facts 6).";

    documentation PRIMITIVES_KEEP_THE_NUMBER_OF_WHAT_THEY_CAME_FROM;
        question "Which primitive ID do later stages see in primitives that a tessellated patch or \
            a geometry shader made?";
        choice "The ID of the primitive or patch that they were made from.";
        reason "No source says what hardware does. In Direct3D 11 it is the ID of the patch, and \
            an ID that a geometry shader does not write is undefined.";

    const DUAL_OBJECTS_SHARE_REGISTERS_OF_HANDLES: bool = true;
        question "Where are the vertex handles of two objects in the payload of a geometry shader?";
        choice "Each register holds four handles of each object, one object in each half, as the \
            data of two objects do. The alternative has the handles of the second object after \
            those of the first.";
        reason "2a p.118 gives the number of registers, which fits both. Drivers have the data \
            pushed and do not read the handles.";

    documentation GS_HINT_IS_IN_R0_2;
        question "3DSTATE_GS Hint is passed in the payload of geometry shaders (2a p.113-124). Where?";
        choice "In bit 22 of dword 2 of the first register, in all dispatch modes.";
        reason "The volume with the payloads is missing. No known driver sets the hint. Dword 2 \
            has no other field, and has the topology in its low bits on older hardware.";

    const STREAM_OUTPUT_OVERFLOWS_BY_DECLARATIONS: bool = true;
        question "When is a stream output buffer full?";
        choice "When the last SO_DECL of the last vertex would end after the end of the buffer. \
            Declared holes count.";
        reason "The manual does not define \"overflow\" (2a p.216). OpenGL (4.6, 13.3.2) counts \
            only recorded data. Both rules agree for OpenGL, because its drivers declare no hole \
            after the last data. dEQP-VK's transform_feedback.simple.query_omit_write declares \
            only a hole, and expects that the hole needs room. Hardware might need a whole pitch.";

    const CLIP_W_MIN: f64 = f32::MIN_POSITIVE as f64;
        question "What is the smallest w of clip space that clipping leaves?";
        choice "The smallest positive normal single.";
        reason "A vertex at w = 0 has no position on the screen. No source has a number; any \
            number that is small against the guard band works.";

    const CLIPPED_EDGES_ARE_NO_BOUNDARY: bool = true;
        question "Does the fill mode WIREFRAME draw edges that clipping made?";
        choice "No.";
        reason "These edges lie along the border of the visible area. Direct3D's reference omits \
            them; no source says what hardware does.";

    const CLIPPED_CORNERS_ARE_NO_POINTS: bool = true;
        question "Does the fill mode POINT draw points at corners that clipping made?";
        choice "No, only at the primitive's own vertices.";
        reason "As for CLIPPED_EDGES_ARE_NO_BOUNDARY.";

    documentation CUTS_KEEP_LINEAR_VALUES;
        question "How does the clipper compute values that are linear on the screen, at corners \
            that clipping makes?";
        choice "From the line through the positions where the perspective divide puts the original \
            vertices, also those behind the eye. So cutting does not change the picture.";
        reason "The clipper computes parameters for these values (2a p.42). The manual does not \
            say how.";

    const EDGE_FLAGS_HOLD_IN_STRIPS: bool = true;
        question "Do edge flags count in strips and fans?";
        choice "Yes. An edge is drawn if the flag is set in the vertex where the edge begins, \
            going around the triangle.";
        reason "The manual has them for strips and fans as well (2d VERTEX_ELEMENT_STATE). In \
            OpenGL they count only in lists of triangles and quads and in polygons (2.1, 2.6.2).";
}
