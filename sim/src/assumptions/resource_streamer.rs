//! The resource streamer: the questions that the manuals leave open.

assumptions! {
    area RESOURCE_STREAMER = "resource_streamer";

    documentation RESOURCE_STREAMER_RUNS_IN_ORDER;
        question "When does the resource streamer execute its packets?";
        choice "In the order of the batch, together with the command streamer.";
        reason "Hardware reads the batch twice: the streamer runs ahead and the command streamer \
            follows. Software must synchronise them (2a p.108: four MI_RS_STORE_DATA_IMM, then the \
            packets again). With this synchronisation each order gives the same result. Without \
            it, hardware may gather constants before earlier commands of the batch write them, or \
            write a pool while earlier draws still read it; the model shows neither.";

    documentation RESOURCE_STREAMER_FOLLOWS_BATCHES;
        question "For how long do Resource Streamer Enable and MI_RS_CONTROL apply?";
        choice "Each batch has its own state. MI_BATCH_BUFFER_START sets it for the batch that it \
            starts, MI_RS_CONTROL changes it for the rest of the batch, and a second-level batch \
            does not change the state of the batch that called it. A batch that is given to the \
            model without MI_BATCH_BUFFER_START begins with the streamer off.";
        reason "2a p.28 names both ways to enable the streamer, and 2a p.74 says that \
            MI_RS_CONTROL can disable it within a batch. No source says what the end of a batch \
            does.";

    documentation STREAMER_PACKETS_NEED_THE_STREAMER;
        question "What do packets that only the streamer executes do while it is off?";
        choice "They cause a fault. Packets that disable a pool, that gather from no buffer, or \
            that set a binding table pointer are allowed: they concern the pipeline too.";
        reason "No source says. On hardware nobody would execute them, and a draw would use old \
            tables or constants. Linux disables the pools in a batch without the streamer (i915 \
            gt/gen8_renderstate.c). The pool for binding tables can be enabled while the streamer \
            is off; then only the pipeline uses it (2a p.28).";

    documentation STREAMER_STATE_CHANGES_WITHOUT_POOL;
        question "Do packets change binding tables and DX9 registers inside the streamer while \
            their pool is disabled?";
        choice "Yes. Only the copies in memory need the pool.";
        reason "A pool enables the generation of tables and buffers (2a p.28, p.75), and no source \
            ties the edits to it.";

    documentation HARDWARE_TABLES_ARE_WRITTEN_WHOLE;
        question "How much of a binding table does the streamer write to the pool?";
        choice "All 256 entries, 512 bytes. Entries after the end of the pool are not written.";
        reason "The pointer's format is BINDING_TABLE_STATE*256 (2a p.26-27). Mesa reserves space \
            for the entries that a shader uses, in ascending order, so a later table replaces the \
            unused end of an earlier one. An entry after the end of the pool reads as 0 (2a p.29), \
            so there is no memory for it.";

    documentation R0_HAS_THE_FIELD_OF_THE_POINTER;
        question "What does the binding table pointer in r0 contain with hardware binding tables?";
        choice "The field of 3DSTATE_BINDING_TABLE_POINTERS_*, unchanged.";
        reason "No source says, and no message of a shader reads it.";

    documentation ONLY_GATHERED_DWORDS_ARE_WRITTEN;
        question "What does the streamer write after the last gathered dword, up to the end of its \
            unit of 64 bytes?";
        choice "Nothing; memory keeps its bytes.";
        reason "2a p.110 gives the unit of the offset only.";

    documentation GATHER_AFTER_THE_END_IS_ZERO;
        question "What is gathered from after the end of a constant buffer, and what does \
            3DSTATE_CONSTANT_* read after the end of the gather pool?";
        choice "0 for each dword.";
        reason "Messages read 0 after the end of a buffer. 2a p.108 says only that a null surface \
            has no limit, and 2a p.112 that data after the end of the pool is undefined.";

    documentation RS_CONTEXT_IS_A_COPY;
        question "Where does MI_RS_CONTEXT save the streamer's state?";
        choice "In a copy that belongs to the context. A restore without a save is a fault. \
            Switches of contexts always keep the state, whatever MI_SET_CONTEXT says.";
        reason "Linux and Mesa's gen8.xml have only the name of the command and its bit. No source \
            has the layout of the state in memory.";

    const DX9_INTEGERS_AT: usize = 4096;
        question "Where are the integer registers in a constant buffer of DX9, in bytes?";
        choice "After the 256 registers of floats, in the second 4 KiB.";
        reason "No source has the layout. The buffer is larger than 4 KiB and has a second half at \
            4 KiB (2a p.110), and floats fill 4 KiB. Packets and valid bits have the order floats, \
            integers, booleans.";

    const DX9_BOOLEANS_AT: usize = DX9_INTEGERS_AT + 32 * 16;
        question "Where are the booleans in a constant buffer of DX9, in bytes?";
        choice "After the 32 registers of integers, one dword each.";
        reason "The reasons of DX9_INTEGERS_AT apply. A boolean has a dword in its packet (2d \
            p.132).";

    const DX9_BUFFER_BYTES: usize = DX9_BOOLEANS_AT + 16 * 4;
        question "How many bytes of its 8 KiB does the streamer write to a constant buffer of DX9?";
        choice "Those of the registers. Registers that were never set are 0.";
        reason "The packet writes the active registers (2a p.88). After reset, registers and \
            buffers have undefined values (2a p.88).";

    documentation DX9_CLAMP_KEEPS_INTEGERS_AND_NAN;
        question "Which global values does Clamp Enable change?";
        choice "Floats outside -1..1. Integers, booleans and NaN stay as they are.";
        reason "2a p.89 says \"global values\". The range is that of floats; -1 and 1 are no \
            useful limits for loop counters and booleans. No source says what becomes of NaN.";
}
