//! What the model does not implement: it stops with a fault that names it.
//!
//! Each entry has the places in the code where its fault comes from in the test
//! `every_fault_is_listed`.

assumptions! {
    area FAULTS = "faults";

    documentation PACKETS_OF_THE_CODECS;
        question "What do packets do that the specification has and that no function executes, \
            such as those that encode video?";
        choice "Fault.";
        reason "Sources describe the fields of these packets, but not how to encode video to the \
            bit.";

    documentation RARE_SLICES_OF_THE_SHORT_FORMAT;
        question "What do slice groups, scalable and three-dimensional coding, and Inter View Order \
            Disable do if the engine reads slice headers?";
        choice "Fault.";
        reason "No driver for Linux sends the short format (digests/video.md 2.1), and no profile \
            that drivers offer has slice groups.";

    documentation RECORDS_OF_DECODED_MACROBLOCKS;
        question "What do Stream-Out Enable in a decoder of another standard than AVC, and the \
            other kinds of records do?";
        choice "Fault.";
        reason "No source describes these records, and drivers do not use them.";

    documentation MACROBLOCKS_OF_AVC_AND_VC1;
        question "What does MFD_IT_OBJECT do in a picture of AVC or VC-1?";
        choice "Fault.";
        reason "No source describes the inline data of AVC. Drivers for Linux send neither.";

    documentation OTHER_FORMATS_OF_DECODED_PICTURES;
        question "What do formats of MFX_SURFACE_STATE other than planar 4:2:0 with interleaved \
            chroma and Y8 do in a decoder, except for JPEG?";
        choice "Fault.";
        reason "The coding standards that Gen8 decodes have 4:2:0 and monochrome pictures, and \
            drivers use no other arrangement (digests/video.md 1.3).";

    documentation RARE_FUNCTIONS_OF_ENCODERS;
        question "What do rate control by the engine, MBAFF frames, monochrome pictures, clamped \
            coefficients, padding of CAVLC, statistics of slices, other standards than AVC and \
            MPEG-2, output that starts anew within a picture, and slice headers of MPEG-2 from the \
            driver do in an encoder?";
        choice "Fault.";
        reason "Drivers for Broadwell leave them off (digests/video.md 8 and 9).";

    documentation DENOISING_OF_BAYER_PATTERNS;
        question "What does denoising do to a Bayer pattern?";
        choice "Fault.";
        reason "Its output of 8 bits is described, but not which samples are neighbours. No driver \
            for Linux uses the camera pipe.";

    documentation NAMES_OF_THE_GAMUT;
        question "What do Cpi Override and position 1 of gamut expansion do?";
        choice "Fault.";
        reason "Only their names are public: Cpi is named nowhere else, and only a comment of \
            intel-vaapi-driver names the position.";

    documentation THE_SECOND_VIDEO_ENGINE;
        question "What does a list, a ring or a semaphore signal for the second video engine \
            (VCS2) or for an unknown engine do?";
        choice "Fault.";
        reason "The model is a GPU with one video engine.";

    documentation LISTS_THAT_A_BATCH_SUBMITS;
        question "What does a command do that writes the port for execution lists?";
        choice "Fault.";
        reason "2d p.107-111 describe submission by the host only.";

    documentation CONTEXTS_WITH_SHARED_VIRTUAL_MEMORY;
        question "What does a context descriptor with an advanced addressing mode do?";
        choice "Fault.";
        reason "Its page tables are those of the CPU, and page requests go to an IOMMU. No source \
            describes them.";

    documentation CORE_MODE_OF_CONTEXTS;
        question "What does Core Mode Enable of MI_SET_CONTEXT do?";
        choice "Fault.";
        reason "No volume that is available has more than the name of the bit. The description of \
            CORE_0_ADDS_NO_OFFSET does not fit a context.";

    documentation OTHER_ATOMICS_ON_16_BYTES;
        question "What do opcodes of MI_ATOMIC on 16 bytes other than Compare and Write do?";
        choice "Fault. Data port messages on 16 bytes are illegal: 2a p.338 and p.350 do not \
            support AOP_CMPWR_2W on qwords.";
        reason "Sources name only Compare and Write.";

    documentation BINDING_TABLES_OF_CORE_1;
        question "What does 3DSTATE_BINDING_TABLE_EDIT with the target Core 1 alone do?";
        choice "Fault.";
        reason "The model is a GPU with one slice, whose core has the number 0 (2a p.17).";

    documentation CONSTANTS_GATHERED_FROM_IMAGES;
        question "Which dwords of an image does 3DSTATE_GATHER_CONSTANT gather?";
        choice "Fault.";
        reason "2a p.108 describes constant buffers. No source describes an image here.";

    documentation COUNTERS_OF_ONE_CONTEXT;
        question "Which counters does OACONTROL with Specific Context Enable report?";
        choice "Fault.";
        reason "The model counts for the whole GPU. No source says how the counters of a context \
            start and stop.";

    documentation FIXED_PATTERNS;
        question "What are the patterns of XY_MONO_PAT_FIXED_BLT?";
        choice "Fault.";
        reason "No volume that is available has the patterns or the field that selects one.";

    documentation SOFTWARE_TESSELLATION;
        question "Where are the domain points of TE Mode SW_TESS?";
        choice "Fault.";
        reason "2a p.233 names Domain Point Count and the address of the buffer in the patch \
            header, and the structure DOMAIN_POINT. No source has their layout.";

    documentation DEPTH_CLEARS_WITHOUT_A_VALUE;
        question "What does a depth clear by 3DSTATE_WM_HZ_OP store without a valid value in \
            3DSTATE_CLEAR_PARAMS?";
        choice "Fault.";
        reason "2a p.37 takes the depth of the primitive then. This operation has no primitive.";

    documentation TARGETS_WITHOUT_A_PIXEL_SHADER;
        question "What is written to a render target without a pixel shader?";
        choice "Fault. It cannot occur: all writes are messages of pixel shaders.";
        reason "The check keeps an error in the model from being silent.";

    documentation RENDER_TARGET_READS;
        question "What does message type MT_RTR of the render cache return?";
        choice "Fault.";
        reason "2d p.352 lists the type and p.356 the header. No source has the descriptor and the \
            response; drivers use the message from Gen9 on.";

    documentation HALF_PRECISION_RENDER_TARGET_WRITES;
        question "How are colours of half precision stored in a render target write?";
        choice "Fault.";
        reason "2a MSD_RTW_HI8DS and MSD_RTW_LO8DS have full precision only. No table of payloads \
            has half floats.";

    documentation STENCIL_IN_RENDER_TARGET_WRITES;
        question "Where does a render target write have the stencil value that bit 14 of its \
            header announces?";
        choice "Fault.";
        reason "No table of payloads has stencil values (2d p.268-492). Drivers use them from Gen9 \
            on.";

    documentation MEDIA_MESSAGES_OF_THE_SAMPLER;
        question "What do deinterlace and reserved types of messages with SIMD mode SIMD32 or \
            SIMD64 return?";
        choice "Fault.";
        reason "No source has the layouts of their responses (gen8_facts 4.2).";

    documentation FUNCTIONS_OF_SAMPLE_8X8;
        question "What do the functions 8 to 15 of sample_8x8 return?";
        choice "Fault.";
        reason "The first of them belong to the next device (intel-graphics-compiler, \
            visa_igc_common_header.h); 2d p.390-395 has no states for them.";

    documentation THE_SMOOTH_FILTER_OF_SAMPLE_8X8;
        question "What does the smooth filter do, which IEF4Smooth_ Enable puts in the place of the \
            detail filter?";
        choice "Fault.";
        reason "2d p.379 says only that it uses 3 x 3 pixels. No source has its formula.";

    documentation DATA_PORT_MESSAGES_WITH_A_NAME_ONLY;
        question "What do data port messages do that have a name but no page?";
        choice "Fault.";
        reason "2d p.114-116 and p.319 list the types only.";

    documentation OTHER_SHARED_FUNCTIONS;
        question "What do messages to shared functions other than those of the model do?";
        choice "Fault.";
        reason "2b p.28 has the numbers of the functions. No source describes their messages.";

    documentation RARE_FUNCTIONS_OF_MOTION_ESTIMATION;
        question "What do IDM, two records of one reference, sources of 16x8 and 8x8, the types \
            that MB Type Remap forces, weighted Haar sums, chroma in inter predictions, and \
            different references for the 8x8 blocks do?";
        choice "Fault.";
        reason "Sources have names and layouts of some of them only. No stock driver of this \
            generation uses them.";

    documentation GATEWAY_MESSAGES_WITHOUT_A_PAYLOAD;
        question "What is the payload of UpdateGatewayState and of MMIO reads and writes?";
        choice "Fault.";
        reason "G45 vol 4, chapter 7, has other messages only.";

    documentation THREADS_WITH_THE_SAME_ADDRESS;
        question "Which thread gets a message to an address that two threads have?";
        choice "Fault.";
        reason "The model runs more threads of a group at once than sr0 has positions. On \
            hardware, addresses are unique.";

    documentation THREADS_THAT_WAIT_FOREVER;
        question "What happens to a thread that waits for something that cannot come, or that runs \
            where its kernel has no instruction?";
        choice "Fault.";
        reason "Hardware hangs.";

    documentation VERY_LONG_KERNELS;
        question "What is the greatest length of a kernel?";
        choice "131,072 instructions, then a fault.";
        reason "Hardware has no limit. The limit keeps bad input from filling memory.";

    documentation MASKS_OF_SMOV;
        question "What does smov do with a mask that is not an immediate?";
        choice "Fault.";
        reason "No source describes the instruction; SMOV_MOVES_THE_CHANNELS_OF_A_MASK is for \
            immediates.";

    documentation OTHER_ARCHITECTURE_REGISTERS;
        question "What do architecture registers without a description contain, and the bytes past \
            the end of those with one?";
        choice "Fault.";
        reason "004, 3.3.3 describes each register up to its size. Others have a number only.";

    documentation EXTENDED_ACCUMULATORS;
        question "How are acc2 to acc9 stored?";
        choice "Fault if an instruction names one.";
        reason "004:2664 has acc0 and acc1, and other numbers are reserved. From drivers it is \
            known that acc2 to acc9 keep more bits for the macros of division and square root, but \
            not which.";

    documentation DEBUG_FUNCTIONS_OF_THE_G45;
        question "What do snapshots of the video front end and the thread spawner, halted arbiters \
            of messages, and words of debug registers beyond those of the manual do? What do \
            breakpoints, halts and exceptions by debug registers do to media threads?";
        choice "Fault. A word that the host reads is 0.";
        reason "The manual describes neither the words nor an end of the halt other than by the \
            host. `gen45::debug::effects` lists the fields.";

    documentation PACKETS_OF_THE_G45_BESIDES_DRAWING;
        question "What do packets of the G45 do that no function executes?";
        choice "Fault.";
        reason "Drivers do not send them.";

    documentation MODES_OF_THE_G45_FRONT_END;
        question "What does the video front end of the G45 do in the modes for inverse scan and for \
            AVC, and with a scoreboard?";
        choice "Fault.";
        reason "No driver for the G45 uses them, and no available source describes the payloads.";

    documentation ROOT_THREADS_THAT_THREADS_START;
        question "Which root thread does a message to the thread spawner of the G45 start that asks \
            for one?";
        choice "Fault.";
        reason "MEDIA_OBJECT of the G45 has no flag that makes its thread wait for the message.";

    documentation CUBES_OF_DEPTH_ON_THE_G45;
        question "Where are the faces of a depth buffer of type CUBE on the G45?";
        choice "Fault.";
        reason "crocus renders to a face as to a two-dimensional buffer with an offset.";

    documentation ADJACENCY_ON_THE_G45;
        question "What do geometry shader and setup of the G45 do with topologies that have \
            adjacent vertices?";
        choice "Fault.";
        reason "OpenGL has no geometry shaders on the G45, and no source describes the payload.";

    documentation RARE_VERTEX_FETCH_ON_THE_G45;
        question "Where does Indirect Vertex Count find the number of vertices, and what is the \
            primitive ID that vertex fetch stores?";
        choice "Fault.";
        reason "Only Mesa's XML names both, and no driver uses them.";

    documentation THREADS_OF_32_PIXELS_ON_THE_G45;
        question "What is the payload of pixel shader threads of 32 pixels?";
        choice "Fault.";
        reason "All kernels of crocus work on 16 pixels. No source describes the payload.";

    documentation RARE_FLAGS_OF_UNITS_ON_THE_G45;
        question "What do these fields of unit states of the G45 do: Reorder Enable and Maximum \
            VPIndex of GS_STATE, GS Output Object Statistics Enable of CLIP_STATE, Legacy Diamond \
            Line Rasterization of WM_STATE, Round Disable Function Disable of COLOR_CALC_STATE?";
        choice "Fault if they are not 0.";
        reason "No available manual describes them, and crocus leaves them 0.";

    documentation G45_MESSAGES_WITH_A_NAME_ONLY;
        question "What do messages of the G45 do whose layout or number the manual leaves out: \
            sample_unorm, reads and writes of UNORM render targets, oword dual blocks of one oword \
            in the high half?";
        choice "Fault.";
        reason "Tables name them (003:4065, 003:4493, 003:4629), and no section describes them. \
            No driver for Linux sends them.";
}
