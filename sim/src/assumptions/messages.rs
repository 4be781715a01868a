//! Data port messages: the questions that the manuals leave open.

assumptions! {
    area MESSAGES = "messages";

    const MEDIA_BLOCK_CLIPS_AT_PITCH: bool = true;
        question "Where does a row of the surface end for media block messages?";
        choice "At the width in dwords or at the pitch, whichever comes first. So no block reaches \
            into the next row.";
        reason "Width is in dwords for these messages (2d RENDER_SURFACE_STATE), but some drivers \
            give bytes, and hardware accepts both.";

    const MEDIA_BLOCK_GAPS_READ_ZERO: bool = true;
        question "What is between the rows of a media block in registers when its width is not a \
            power of two?";
        choice "Reads write 0 there. Merged reads leave the gaps, which other messages fill.";
        reason "The distance of rows is a power of two (G45 vol 4, 5.10.4.4). No source says what \
            reads leave between them.";

    const MEDIA_BLOCKS_MAY_HAVE_REGISTERS_TO_SPARE: bool = true;
        question "May media block messages have more registers than their width and height need?";
        choice "Yes, and so may their responses. The other registers are neither read nor written.";
        reason "Payloads that are too long are errors like those that are too short (G45 vol 4, \
            2.6.11), and compilers send exact lengths. But the block's size is in the header, \
            which checks of the descriptor do not see, and gem_gpgpu_fill, which runs on hardware, \
            sends two registers for 16 bytes.";

    documentation LOW_OFFSET_BITS_ARE_DROPPED;
        question "What do the low bits of offsets of slots and blocks do when an offset is not \
            aligned?";
        choice "They are dropped everywhere.";
        reason "G45 vol 4, 5.10 drops the bits below an oword or a dword (\"discard low 2 bits\"). \
            For 64-bit addresses 2d only says that they must be 0.";

    documentation BOUNDS_HOLD_FOR_WHOLE_ELEMENTS;
        question "Is a dword or qword inside the buffer when the buffer ends within it?";
        choice "No. A dword that is not wholly inside reads 0 and is not written. The two dwords \
            of a qword are checked separately, except in atomic operations. Byte scattered \
            messages check each byte.";
        reason "G45 counts in owords. Drivers rely on dwords (gen8_facts 4.6).";

    documentation SLOT_ADDRESSES_HAVE_48_BITS;
        question "What do the bits above 47 of slot addresses do?";
        choice "They are ignored.";
        reason "2d says that blocks at addresses that are not canonical are out of bounds, and \
            does not mention slots. Compilers and gen8_facts 4.6 take the bits as ignored.";

    const EIGHT_BYTES_OF_A_SLOT_ARE_A_QWORD: bool = true;
        question "An A64 byte scattered message moves eight bytes for each slot. Where are they in \
            the registers?";
        choice "They are one qword, as in the messages of qwords. The other possibility is a dword \
            in each of two registers.";
        reason "No source describes this payload. Kernels of Intel's OpenCL compiler read the reply \
            as qwords. They keep the address in the register after the qword of slot 0. A reply in \
            two registers would overwrite this address.";

    documentation OWORD_BLOCKS_IGNORE_TILES;
        question "What does an oword block message access in a tiled image?";
        choice "The bytes as they are in memory: the offset counts from the base address.";
        reason "The manual allows buffers only. The MPEG-2 encoder of i965 reads such a block, so \
            hardware does not stop there.";

    const CHANNELS_GUARD_BLOCKS: bool = true;
        question "Do block messages depend on channel enables?";
        choice "Yes, also those of A64 blocks. Writes follow the channel of each dword, reads the \
            four channels of each oword. Media blocks do not depend on channels.";
        reason "G45 vol 4, 5.10.2 and 5.10.3 have a channel for each dword. gen8_facts 4.1 infers \
            from drivers that blocks ignore channels. Drivers send blocks without a mask, where \
            both readings agree, and the model follows the page. Media blocks ignore channels by \
            their own page (5.10.4).";

    const BLOCKS_TAKE_MISSING_CHANNELS_FOR_ENABLED: bool = true;
        question "What happens to dwords of a block message for which the send has no channel?";
        choice "They are moved: channels that the send does not have count as enabled. So of 8 \
            owords in a send of 8 channels, the owords of registers 0 and 2 follow the channels, \
            and the owords of registers 1 and 3 are always moved.";
        reason "G45 vol 4, 5.10.2 gives each dword one of 16 channels. Media kernels often send \
            block messages with one or eight channels and want the whole block.";

    const OFFSETS_ADD_BEYOND_32_BITS: bool = true;
        question "Does the sum of Global Offset and the offset of a slot or block wrap at 32 bits?";
        choice "No.";
        reason "No source says. A sum that does not wrap is out of bounds of every surface. A sum \
            that wraps would reach the surface's start, where the mistake stays hidden.";

    const LOCAL_MEMORY_OFFSET_BITS: u64 = 0xffff;
        question "Which bits of an offset in shared local memory count?";
        choice "The low 16. Bytes between the size of the group's memory and 64 KiB read as 0.";
        reason "No source says. The 64 KiB of a subslice need 16 bits. Intel's OpenCL compiler \
            sets bit 28 in every pointer to local memory, so that no valid pointer is null, and \
            sends the pointers unchanged (IGC 1.0.12504, kernels of hashcat for Broadwell). So \
            higher bits cannot matter.";

    const LOCAL_MEMORY_HAS_A_GLOBAL_OFFSET: bool = true;
        question "Does the Global Offset of a header count for shared local memory?";
        choice "Yes, as for surfaces.";
        reason "Byte scattered messages with a header can reach local memory (MDC_BTS_SLM_A32). No \
            source says whether that header is MH_BTS_GO or MH_IGNORE (2d p.42, p.215). Compilers \
            send no header, or zeros.";

    documentation STATELESS_WITHOUT_SIZE_REACHES_4_GIB;
        question "How far do stateless messages reach when no header bounds them?";
        choice "4 GiB from General State Base Address. This holds for messages of data port 0 \
            without a header and for all messages of data port 1.";
        reason "The bound in a header (Per Thread Scratch Space, 2d p.294) is a field of messages \
            of data port 0 that have a header.";

    const GENERAL_STATE_SIZE_ZERO_IS_NO_BOUND: bool = true;
        question "General State Buffer Size bounds stateless accesses (2d p.462). What does 0 \
            mean, which is also the value of a context that never set it?";
        choice "No bound.";
        reason "No source of this generation says. Drivers leave it 0 and use scratch space.";

    documentation OTHER_STATE_SIZES_ARE_NO_BOUND;
        question "Do Dynamic State Buffer Size, Indirect Object Buffer Size and Instruction Buffer \
            Size bound reads of state, indirect data and kernels?";
        choice "No. A read after the end of the buffer returns what is in memory. \
            SAMPLERS_PAST_DYNAMIC_STATE_ARE_ZERO is the exception.";
        reason "No source of this generation says what such a read returns. 2d p.462 names General \
            State only. Drivers read inside the sizes that they set.";

    const SAMPLERS_PAST_DYNAMIC_STATE_ARE_ZERO: bool = true;
        question "What is a sampler state past the end of Dynamic State, where nothing is mapped?";
        choice "All bits 0: the filter is nearest, and coordinates wrap. Dynamic State Buffer Size \
            gives the end. Without a size, the read is a page fault, as inside Dynamic State.";
        reason "A kernel of iHD that copies planar pictures sends a header whose Sampler State \
            Pointer is 0xffffffe0: no instruction of the kernel writes a pointer to M0.3, and the \
            kernel for NV12 does. The driver has this kernel for this generation, so the read does \
            not end the thread. Linux maps a page of zeros where a client has nothing. The state \
            of zeros gives the copy that the driver wants.";

    documentation REGISTER_PITCH_DOUBLES;
        question "What does Register Pitch Control of merged media block reads do?";
        choice "Each step doubles the distance of rows in registers, so that two, four or eight \
            blocks interleave.";
        reason "2d p.252-254 gives the purpose and no more.";

    documentation TRANSPOSED_COLUMNS_ARE_ADJACENT;
        question "How is a transposed block laid out in registers?";
        choice "Column after column, without gaps.";
        reason "No source says.";

    documentation ATOMIC_SLOTS_GO_UPWARD;
        question "In which order do slots of an atomic message work when they have the same \
            address?";
        choice "In ascending order, one after the other.";
        reason "No source says.";

    const FLOAT_ATOMIC_MAX: u64 = 1;
        question "Which operation number of float atomics is the maximum?";
        choice "1. Numbers that later hardware added are refused.";
        reason "The manual has the messages (2d p.115) and no list of operations. Intel's compiler \
            sends this number in messages that it names after this generation (IGC, \
            EU_GEN8_DATA_PORT_1_MESSAGE_TYPE_UNTYPED_ATOMIC_FLOAT). Mesa uses it from Gen9 on.";

    const FLOAT_ATOMIC_MIN: u64 = 2;
        question "Which operation number of float atomics is the minimum?";
        choice "2.";
        reason "As for FLOAT_ATOMIC_MAX.";

    const FLOAT_ATOMIC_COMPARE: u64 = 3;
        question "Which operation number of float atomics is compare and write?";
        choice "3.";
        reason "As for FLOAT_ATOMIC_MAX.";

    const FLOAT_ATOMICS_PREFER_NUMBERS_TO_QUIET_NANS: bool = true;
        question "How do float atomics treat NaNs, zeros of both signs and subnormal numbers?";
        choice "A quiet NaN loses against a number, a signaling one wins, and no NaN equals \
            anything. Memory keeps its value when both are NaNs of one kind or zeros. Subnormal \
            numbers are compared by their value.";
        reason "GL_INTEL_shader_atomic_float_minmax, written for Intel's hardware, has these rules \
            for NaNs. It leaves two NaNs of one kind, and zeros of both signs, open.";
}
