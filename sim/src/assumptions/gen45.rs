//! The G45: the questions that the manuals leave open.

assumptions! {
    area GEN45 = "gen45";

    documentation G45_HAS_NO_OTHER_MEMORY;
        question "Which page table do the bits Use Global GTT, Destination Address Type and Memory \
            Space of commands select?";
        choice "All select the global table.";
        reason "The G45 has no page tables of contexts (gen45_facts 1.2). crocus sets the bit in \
            PIPE_CONTROL and has it clear elsewhere.";

    const G45_TIMESTAMP_BITS: u32 = 36;
        question "How many bits of the timestamp does PIPE_CONTROL write?";
        choice "36, in units of 80 ns; the bits above are 0.";
        reason "Drivers take 36 bits as valid (gen45_facts 16).";

    documentation URB_FENCE_MAY_CROSS_A_LINE;
        question "What does a URB_FENCE do that crosses a cache line of 64 bytes?";
        choice "The same as any other.";
        reason "On the 965, such a packet hangs the GPU or is read wrongly. crocus has code that \
            should avoid it but does not; its batches work on a G41 (gen45_CONFLICTS 2).";

    documentation G45_POINTERS_STAY;
        question "What do Indirect State Pointers Disable of PIPE_CONTROL, Indirect State Pointers \
            Invalidate of MI_FLUSH and STATE_BASE_ADDRESS do to pointers that earlier packets set?";
        choice "Nothing: the latest packets with pointers stay in force.";
        reason "Drivers send the pointers again before the next draw (gen45_facts 2.2), so no \
            batch shows a difference.";

    documentation G45_HAS_THE_REGISTERS_OF_ITS_SPECIFICATION;
        question "What do MI_LOAD_REGISTER_IMM and MI_STORE_REGISTER_MEM do with an offset at \
            which the specification has no register?";
        choice "A fault.";
        reason "crocus accesses no registers on the G45. The blitter of Gen8 has a register for \
            tilings that the G45 does not have (gen45_facts 15).";
}
