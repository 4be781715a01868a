//! What the manuals leave open: each question with the choice that the model makes and the reason.
//!
//! Constants of other types than [`InTheCode`] are what the code reads: another value makes the
//! model choose otherwise.

/// A choice that shapes the code, so that no constant could turn it over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InTheCode;

/// Media blocks: where does a row of the surface end? Its Width is in dwords for these messages (2d
/// RENDER_SURFACE_STATE), but drivers are known that give bytes, and hardware accepts both. The
/// model clips at the width in dwords or at the pitch, whichever comes first, so that no block runs
/// into the next row.
pub const MEDIA_BLOCK_CLIPS_AT_PITCH: bool = true;

/// What stands between the rows of a media block in registers when its width is no power of two:
/// the distance of rows is (G45 vol 4, 5.10.4.4), and no source says what reads leave between them.
/// The model writes 0, but for merged reads, which are for others to fill the rest.
pub const MEDIA_BLOCK_GAPS_READ_ZERO: bool = true;

/// May media blocks have more registers than their width and height need? Payloads that are too
/// long are errors as those that are too short (G45 vol 4, 2.6.11), and compilers send exact
/// lengths. But the size of these is in the header, where checks of the descriptor do not see it,
/// and gem_gpgpu_fill, which hardware runs, sends two registers for 16 bytes. The model takes
/// longer media blocks, also longer answers, and leaves the rest alone.
pub const MEDIA_BLOCKS_MAY_HAVE_REGISTERS_TO_SPARE: bool = true;

/// Page directory entries with bit 7 set: do they map 2 MiB? No driver for Broadwell sets it
/// (gen8_facts 1.1); the bit means that in every table of the family, so the model honours it.
pub const DIRECTORY_ENTRIES_MAP_LARGE_PAGES: bool = true;

/// Page directory entries with bit 11 set: does their table map pages of 64 KiB, one entry in
/// sixteen? gen8_facts 1.1 has it of later generations only, and Linux's driver for this one keeps
/// the bit clear. The model ignores it.
pub const DIRECTORY_ENTRIES_MAKE_64K_PAGES: bool = false;

/// A blit that is clipped at its left or top: does the source start later by what was cut off? The
/// alternative would move the picture with the clip rectangle; no source states it, drivers rely on
/// clipping that only hides (gen8_facts 13).
pub const CLIPPING_MOVES_THE_SOURCE: bool = true;

/// Bitmaps of blits that are no text have word aligned rows (BR00, 2d p.43); does Bit/Byte Packed,
/// bit 16 of all of them, change that? The register calls byte packing a thing of a driver for
/// text, and older manuals have the bit in text commands only. The model looks at it for text and
/// nowhere else.
pub const WORD_ALIGNMENT_IS_FOR_ALL_BUT_TEXT: bool = true;

/// Bits that Monochrome Source Start leaves out "per scan line" (BR00, 2d p.43) when text is bit
/// packed, where a row begins right behind the other: left out of the first row only, or between
/// all of them? Rows without padding have nothing to leave out; the model leaves them out once.
pub const BIT_PACKED_TEXT_STARTS_ONCE: bool = true;

/// Solid Pattern Select in XY_SETUP_BLT, whose pattern is in colour: BR01 (2d p.47) says that the
/// bit applies to monochrome patterns only. The model reads the colour pattern.
pub const SOLID_SELECT_IS_FOR_MONO_PATTERNS: bool = true;

/// A solid pattern with Monochrome Pattern Transparency: BR13 (2d p.56) takes all bits of a solid
/// pattern for 0, and writes nothing where a bit is 0. By the letter nothing is drawn.
pub const SOLID_PATTERN_IS_TRANSPARENT: bool = true;

/// From where are centroid values of a partly covered pixel? The programming note of
/// 3DSTATE_SAMPLE_PATTERN wants samples ordered by distance from the middle for the sake of the
/// centroid (2a p.182), which makes sense if the first covered sample is taken; no source says so
/// outright (gen8_facts 7). False: from the pixel's location, as if the pixel were covered.
pub const CENTROID_IS_FIRST_COVERED_SAMPLE: bool = true;

/// Forced Sample Count has 16 samples a pixel (2a p.175), 3DSTATE_SAMPLE_PATTERN has no positions
/// for them. The model takes Direct3D's standard pattern for 16, in 1/16 pixels from the upper-left
/// corner.
pub const FORCED_16_SAMPLES: [[u8; 2]; 16] = [
    [9, 9],
    [7, 5],
    [5, 10],
    [12, 7],
    [3, 6],
    [10, 13],
    [13, 11],
    [11, 3],
    [6, 14],
    [8, 1],
    [4, 2],
    [2, 12],
    [0, 8],
    [15, 4],
    [14, 15],
    [1, 0],
];

/// Multisample rasterisation that is not enabled: are samples of surfaces still taken where the
/// pattern has them? In Direct3D 10.1 and later the enable is about lines alone, and Vulkan's
/// driver uses it so, with API Mode DX10.1+ (gen8_facts 7); before, as in OpenGL, it says that each
/// pixel has one place for all of its samples. The equation itself is in no source.
pub const DX10_1_ALWAYS_SAMPLES_THE_PATTERN: bool = true;

/// Coordinates are kept to 8 bits behind the point of a pixel (2a p.39); how are they rounded? To
/// the nearest, by Direct3D's rules; where there are two, no source says: the model takes the even
/// one. False: the larger one.
pub const SNAPPING_TIES_GO_TO_EVEN: bool = true;

/// Smallest w of clip space that is left by clipping: a vertex at w = 0 has no place on the screen.
/// No source has a number; any that is small against the guard band will do.
pub const CLIP_W_MIN: f64 = f32::MIN_POSITIVE as f64;

/// Fill mode WIREFRAME: are edges drawn that clipping has made? They lie along the border of what
/// can be seen; Direct3D's reference leaves them out, no source says what hardware does.
pub const CLIPPED_EDGES_ARE_NO_BOUNDARY: bool = true;

/// Fill mode POINT: are points drawn only at the primitive's own vertices, not at corners that
/// clipping has made? As for edges.
pub const CLIPPED_CORNERS_ARE_NO_POINTS: bool = true;

/// Legacy Diamond Line Rasterization (3DSTATE_WM, 2a p.276) chooses between the rules of Direct3D 9
/// and 10 for thin lines. The volume with both is not there; they can only differ where a line
/// touches the border of a pixel's diamond. The model follows Direct3D 10's published rule in
/// either case.
pub const THIN_LINES_FOLLOW_DIRECT3D_10: bool = true;

/// Shape of aliased lines with a width: no source at hand has it (gen8_facts 7 has the names only).
/// The model draws the parallelogram that OpenGL's columns of fragments make: as many pixels wide
/// across the line's longer axis, ends along that axis.
pub const WIDE_LINES_END_ALONG_AN_AXIS: InTheCode = InTheCode;

/// Coverage of antialiased lines: 3DSTATE_AA_LINE_PARAMETERS has a slope and a bias for a
/// computation that no source states; a slope of 0 reverts to the one that region widths belong to
/// (2a p.7). The model always takes that one: linear over the region, half way at the border, times
/// the same for the ends.
pub const LINE_COVERAGE_IGNORES_SLOPE_AND_BIAS: InTheCode = InTheCode;

/// Where does the stipple pattern of a line stand that clipping has cut at its start? No source
/// says (gen8_facts 15). The model starts where the visible part starts, and goes on behind lines
/// that were cut as if they were shorter.
pub const STIPPLE_STARTS_AT_CUTS: InTheCode = InTheCode;

/// Values that are linear on the screen, at corners that clipping makes: the clipper computes
/// parameters for them (2a p.42), how is not said. The model takes the line through the places
/// where the divide puts the original vertices, also those behind the eye, so that cutting does not
/// change what is seen.
pub const CUTS_KEEP_LINEAR_VALUES: bool = true;

/// Over how many pixels does the coverage of a smooth point go from 1 to 0? 3DSTATE_RASTER only
/// says that it is smooth; one pixel is what OpenGL's definition by area comes closest to.
pub const SMOOTH_POINT_REGION: f64 = 1.0;

/// Does NoMask override the channel enables of Align16? 2b p.8 says so, but the worked example
/// 004:1992-2020 and G45's Evaluate (vol 4, 13.1) keep them. The model keeps them.
pub const CHANNEL_ENABLES_HOLD_WITH_NO_MASK: bool = true;

/// Which two flags do the predicates anyv and allv combine? Text says f0.0 with f0.1, later
/// documents and IGA f0 with f1. The model follows the latter, as compilers do.
pub const VERTICAL_PREDICATE_COMBINES_REGISTERS: bool = true;

/// What does `cmpn` say of two NaNs (but for inequality)? The tables 10-9 to 10-14 of G45 vol 4 and
/// the text say true whenever source 1 is a NaN, the signal equations false when source 0 is one.
/// The model follows the tables.
pub const COMPARE_NAN_TRUE_FOR_TWO: bool = true;

/// Pattern of a NaN that arithmetic makes. The manual leaves it open (004:1336); one pattern for
/// all cases makes results independent of the machine that the model runs on.
pub const ARITHMETIC_NAN: u32 = 0x7fc0_0000;

/// Bits of an accumulator element in word mode. 004:2634-2819 says 33, two's complement with bit 32
/// as the sign; its example of a sum of dwords reads as if dwords had 33 as well, its table and
/// text give them 64, which the product macro needs.
pub const ACCUMULATOR_WORD_BITS: u32 = 33;

/// Does `mach` write the accumulator in channels that are off? G45 vol 4 (mach) says that the mask
/// is for the destination only; 004:2634 that channels that are off are not updated, of
/// accumulators in general. The model follows the page of the instruction.
pub const MACH_UPDATES_ALL_CHANNELS: bool = true;

/// Does a message whose channels are all off reach its shared function? No source says. Messages
/// about blocks do not look at channels, but compilers turn all off by a predicate where nothing is
/// to be done, and a thread passes through code that no channel takes. The model drops them, unless
/// they end the thread.
pub const MESSAGES_NEED_A_CHANNEL: bool = true;

/// Does the rounding mode apply where integers become floats and floats become halves? 004:1715
/// rounds to nearest even "by default" and 004:3251 has a mode for results; the model follows the
/// mode. To integers is always toward zero.
pub const CONVERSIONS_FOLLOW_ROUNDING_MODE: bool = true;

/// And where doubles become singles? 004:1725 prints toward zero, which is neither what compilers
/// rely on (conversions without a change of mode are to nearest) nor what halves do. The model
/// follows the mode.
pub const DOUBLE_TO_SINGLE_FOLLOWS_ROUNDING_MODE: bool = true;

/// Do `sel` and `csel` replace subnormal numbers by zero as arithmetic does? 004:1323 says so of
/// mathematical operations and exempts raw `mov` only; `sel` is neither. The model flushes them.
pub const SELECTION_FLUSHES_SUBNORMALS: bool = true;

/// Do math functions take subnormal numbers for zero whatever the mode? The tables of G45 vol 4
/// section 6.3 do, but were written before there was a mode. The model follows the mode.
pub const MATH_KEEPS_SUBNORMALS_BY_MODE: bool = true;

/// What is minus infinity to a positive power? The table of 003:6160 prints NaN, its neighbours
/// (powers of plus infinity, negative powers of minus infinity) and the formula, which takes the
/// magnitude, plus infinity. The model follows the formula.
pub const POWER_OF_MINUS_INFINITY_IS_NAN: bool = false;

/// How far apart are rows of 64-bit elements in Align16? Rows have 16 bytes, and the vertical
/// stride of adjacent ones is 2 (2b p.46); three-source instructions have no such field and 4
/// occurs as well. The model takes rows as adjacent unless the stride is 0.
pub const QWORD_ROWS_OF_ALIGN16_ARE_ADJACENT: bool = true;

/// What does smov do? It has an opcode (000:459) and no page anywhere. Intel's compiler for OpenCL
/// (IGC 1.0.12504) writes elements of private arrays in registers with it: one for each channel,
/// whose address is that of the array's row without the channel's place in it and whose second
/// source is an immediate with the channel's bit. It reads them with the place added to the
/// address. So the model moves those channels whose bits the immediate has; a mask in a register
/// was not seen.
pub const SMOV_MOVES_THE_CHANNELS_OF_A_MASK: bool = true;

/// Subnormal bits of `cr0.0` when a media or GPGPU thread starts: halves (10) and doubles (6) kept,
/// singles (7) flushed. INTERFACE_DESCRIPTOR_DATA says this for Denorm Mode 0; for mode 1, which
/// leaves it to the kernel, nothing says what the kernel finds, and the model starts it the same
/// way.
pub const SUBNORMAL_BITS_AT_START: u32 = 1 << 6 | 1 << 10;

/// Does MI_CONDITIONAL_BATCH_BUFFER_END compare unsigned? No source says; MI_SEMAPHORE_WAIT does.
pub const CONDITIONAL_END_IS_UNSIGNED: bool = true;

/// And without Compare Semaphore? The packet's description (Intel media-driver,
/// mhw_mi_hwcmd_g8_X.h) has it that no comparison takes place then, and not what follows. A
/// condition that nobody looks at ends nothing.
pub const CONDITIONAL_END_WITHOUT_COMPARISON_ENDS: bool = false;

/// MI_BATCH_BUFFER_START of the first level in a batch of the second: hardware has one address for
/// each level and no stack, and the packet sets that of the first (gen8_facts 2.1). Where it goes
/// on is not said; the model takes the level that was started for the one that runs, so that the
/// second one is left for good.
pub const FIRST_LEVEL_START_LEAVES_SECOND_LEVEL: bool = true;

/// What an MI_ATOMIC on a dword leaves in bits 63:32 of the general register that it returns memory
/// in: zero, or what was there? No source says; 32-bit results are zero-extended elsewhere.
pub const ATOMIC_RETURNS_ZERO_ABOVE: bool = true;

/// `break` and `cont` both send their channels to the `while` of the loop (2a break, cont), where
/// those that broke off must not begin again, even if the `while` has no predicate. The manual does
/// not say how hardware tells them apart; the model marks the channels of a `break` until that
/// `while` lets them out. An UIP that leads elsewhere, behind the `while` as before Gen7, marks
/// nobody.
pub const BREAK_MARKS_ITS_CHANNELS: bool = true;

/// A `join` activates waiting channels "qualified with predicates" (2a join): those without the
/// predicate wait on at it. Channels that came along with the thread have the same instruction
/// pointer, so the model treats them alike.
pub const JOIN_KEEPS_CHANNELS_WITHOUT_PREDICATE: bool = true;

/// Channels that a branch's size leaves out: the loops of 2a if, else, halt, brd and brc go over
/// all 32 channels with the enables of the instruction, those of cont and goto over its size, with
/// the others going on. 004:2888 says that predicates of branches count for all dispatched
/// channels, whatever the size. The model counts what the size leaves out as enabled channels that
/// do not take the branch.
pub const BRANCH_SIZE_LIMITS_WHO_TAKES_IT: InTheCode = InTheCode;

/// A branch with NoMask: write enables of all channels of its size are set then, also of those that
/// wait elsewhere or were never dispatched. The model moves only channels that are where the thread
/// is; the others would lose their place.
pub const NO_MASK_BRANCHES_MOVE_ACTIVE_CHANNELS: InTheCode = InTheCode;

/// What `ret` does with the mask beside the return address. No source describes it; the channels
/// that called are those that do not wait behind the call, so that the model needs no mask: the
/// thread follows when the last channel returns.
pub const RETURN_MASK_IS_NOT_LOOKED_AT: bool = true;

/// An illegal opcode while its exception is disabled works as `nop` in hardware (G45 vol 4,
/// 12.4.1). A model that runs on through zeros helps nobody: it stops and names the instruction.
pub const ILLEGAL_OPCODES_STOP_UNLESS_ENABLED: bool = true;

/// Single steps (G45 vol 4, 12.4.5): the system routine leaves the status of the breakpoint set,
/// and "clears" Breakpoint Suppress; yet the instruction is issued with the breakpoint suppressed,
/// and the routine entered before the next one. Since the bit suppresses when set (004:3195), the
/// model takes the word for a slip: set status and set suppress bit make a step, set status alone
/// enters the routine at once.
pub const SUPPRESSED_BREAKPOINT_STEPS: bool = true;

/// Writes of dispatch and vector mask in `sr0`, and of the bit of `cr0.0` that chooses between
/// them: the masks are "used to initialize" (004:3040), so that writing them changes what is read
/// and nothing else.
pub const DISPATCH_MASK_IS_LATCHED: bool = true;

/// Writes of registers that a program can only read (`n0`, `tm0`, `ce0`) are dropped; no source
/// says more than that they are read-only.
pub const MACHINE_REGISTERS_DROP_WRITES: bool = true;

/// Levels of a surface whose alignment fields are 0, which is reserved: the fields are "ignored"
/// for surfaces that are neither sampled nor rendered to (2d p.325-326), but typed messages reach
/// levels too. The least alignment is taken.
pub const LEVELS_WITHOUT_ALIGNMENT_ALIGN_TO: u32 = 4;

/// What typed reads return outside of a surface: 0 in all channels, or 1 in an alpha that the
/// format lacks? No source says; null surfaces return 0 (003:3090).
pub const TYPED_READS_OUTSIDE_ARE_ZERO: bool = true;

/// Integers that do not fit the channels of a format, in typed writes: cut or clamped? Render
/// targets clamp (gen8_facts 9.1), and one conversion serves both.
pub const INTEGERS_CLAMP_TO_THEIR_CHANNEL: bool = true;

/// What writing an element leaves in its padding bits (X channels): no source says and no driver
/// reads them. The model writes 0, so that the same writes leave the same memory.
pub const PADDING_IS_WRITTEN_AS_ZERO: bool = true;

/// What does a thread group find in its shared local memory? No source says that hardware clears
/// it, and none that it does not. The model fills it with this, so that what a group does depends
/// on no other group.
pub const SHARED_LOCAL_MEMORY_FILL: u8 = 0;

/// Instructions that a thread executes before another one that is there at the same time has its
/// turn. Hardware runs them all at once; what one of them waits for in a loop must be done by
/// another one some time.
pub const INSTRUCTIONS_OF_A_TURN: u64 = 4096;

/// Which barrier does a group have? Hardware gives it one of the sixteen that is free. The model
/// counts them up with the groups of a walker, so that a kernel that does not pass on what it finds
/// in `r0.2` is found out.
pub const BARRIERS: u64 = 16;

/// Does a thread start whose execution mask is empty? No source says; the barrier of its group
/// counts it (INTERFACE_DESCRIPTOR_DATA, Number of Threads in GPGPU Thread Group), so the model
/// starts it.
pub const THREADS_WITHOUT_CHANNELS_START: bool = true;

/// What a walker with indirect data gives its threads: the registers that all share and those of
/// each thread both come from the indirect data, as NEO lays it out. GPGPU_WALKER says that "CURBE
/// is not being used except for cross-thread constant data", which could mean that those come from
/// the CURBE; NEO loads none.
pub const INDIRECT_DATA_REPLACES_CURBE: bool = true;

/// In which order do registers of a thread and registers that all share follow r0? No source says.
/// Kernels of NEO, which uses indirect data, find their own first; kernels of Mesa, which uses the
/// CURBE, those that all share. In memory both have what all share first.
pub const INDIRECT_DATA_OF_A_THREAD_COMES_FIRST: bool = true;

/// What does CS_INVOCATION_COUNT count? Its name in the API is invocations: the model counts the
/// live channels of all threads of a walker.
pub const CS_INVOCATIONS_ARE_CHANNELS: bool = true;

/// Does Constant URB Entry Read Offset count where a descriptor has constants for all threads of a
/// group, but none for each of them? The manual says that it is ignored if those of each thread
/// have length 0, as nothing is read then; it does not think of those for all. The model takes the
/// offset wherever something is read.
pub const READ_OFFSET_COUNTS_FOR_SHARED_CONSTANTS: bool = true;

/// Threads that scratch slots are dealt out to at most: FFTID has 10 bits in `r0.5`.
pub const MAX_FFTID: u64 = 1 << 10;

/// What does DELTAS_EQUAL of MI_PREDICATE compare? No source says. The model takes the difference
/// of the two sources and compares it with MI_PREDICATE_DATA, after the names (gen8_facts 2.4).
pub const DELTAS_ARE_OF_THE_SOURCES: bool = true;

/// Does MI_BATCH_BUFFER_END end a batch while MI_SET_PREDICATE has commands skipped? It is not
/// among those that may stand in such a range (gen8_facts 2.4); a batch that went on behind its end
/// would help nobody.
pub const BATCHES_END_WHILE_SKIPPING: bool = true;

/// Slices of the GPU: that of a GT2 (gen8_facts 2.7). MI_SET_PREDICATE can ask for it.
pub const SLICES: u32 = 1;

/// What a command does that needs privilege, in a batch without it: 2d p.198 makes it a no-op, sets
/// an error bit and goes on. No source has the list of such commands and registers for this
/// generation. The model takes accesses through the global table, and writes to registers of the
/// GPU (rings, submission ports, page table roots), each register by itself. MI_ATOMIC and
/// MI_SEMAPHORE_WAIT are no such commands: their Memory Type is ignored in a batch without
/// privilege (Intel media-driver, mhw_mi_hwcmd_g8_X.h).
pub const GLOBAL_ACCESS_NEEDS_PRIVILEGE: bool = true;

/// Which of two pixels of packed YUV gives both their chroma when they are written: no source says;
/// the first one lies where chroma is sampled (4:2:2, cosited).
pub const PIXELS_OF_PACKED_YUV_SHARE_THE_FIRST_CHROMA: bool = true;

/// Colours between the two of a block of BC1, BC2, BC3 or FXT1: to how many bits? Ends have 5 or 6
/// bits a channel, and no seed has the chapter about them (003:2977). The model widens ends to
/// bytes by repeating their highest bits, and rounds what lies between to the nearest byte, halves
/// up: so the documents of Direct3D 9 (DXT1) have it, and bytes are what the sRGB formats need.
/// Direct3D 10 allows as much as this differs from exact colours. False: rounded down.
pub const COLOURS_BETWEEN_ARE_ROUNDED: bool = true;

/// Signed blocks of BC4 and BC5 with ends of -127 and -128, which are both -1: are they equal when
/// the ends are compared? OpenGL leaves it open (ARB_texture_compression_rgtc); Direct3D converts
/// first, then compares.
pub const ENDS_OF_SIGNED_BLOCKS_ARE_CLAMPED_FIRST: bool = true;

/// Blocks of ETC1 whose second colour leaves its range have no meaning in ETC1; ETC2 gives them
/// other ways. One unit that reads both most likely reads them as ETC2. False: the second colour
/// wraps.
pub const ETC1_IS_READ_AS_ETC2: bool = true;

/// Offsets of slots and blocks that are not aligned to what is moved: G45 vol 4, 5.10 drops the
/// bits below an oword or a dword ("discard low 2 bits"), 2d only says that they must be 0 for
/// 64-bit addresses. The model drops them everywhere.
pub const LOW_OFFSET_BITS_ARE_DROPPED: bool = true;

/// Where buffers end inside a dword or a qword: is it there? G45 counts in owords, drivers rely on
/// dwords (gen8_facts 4.6). In the model what is not there wholly reads 0 and is not written, dword
/// by dword; byte scattered messages count bytes.
pub const BOUNDS_HOLD_FOR_WHOLE_ELEMENTS: bool = true;

/// Bits above 47 of the addresses of slots: 2d calls blocks at addresses that are not canonical out
/// of bounds and says nothing of slots; compilers and gen8_facts 4.6 take the bits for ignored. The
/// model ignores them.
pub const SLOT_ADDRESSES_HAVE_48_BITS: InTheCode = InTheCode;

/// Do channels guard block messages? G45 vol 4, 5.10.2 and 5.10.3 have a channel for each dword;
/// gen8_facts 4.1 infers from drivers that blocks ignore them. Drivers send blocks without a mask,
/// so that both hold; the model follows the page. Media blocks and A64 blocks are no exception but
/// for the former (5.10.4), which ignore channels by their page.
pub const CHANNELS_GUARD_BLOCKS: bool = true;

/// Block messages of a send with fewer channels than the block has dwords: what of the dwords
/// without a channel? G45 vol 4, 5.10.2 gives each dword one of 16 channels. Block messages of one
/// or eight channels are common in kernels for media, which want the whole block; the model takes
/// channels that the send does not have for enabled. So of 8 owords of a send of 8 channels, those
/// of registers 0 and 2 follow the channels and those of 1 and 3 are always moved.
pub const BLOCKS_TAKE_MISSING_CHANNELS_FOR_ENABLED: bool = true;

/// Global Offset plus the offset of a slot or block: do they wrap at 32 bits? No source says. A sum
/// that does not wrap is out of bounds of every surface instead of at its begin, where a mistake
/// would go unseen.
pub const OFFSETS_ADD_BEYOND_32_BITS: bool = true;

/// Which bits of an offset in shared local memory count? No source says; the 64 KiB of a subslice
/// need 16. Intel's OpenCL compiler sets bit 28 in every pointer to local memory, so that no valid
/// one is null, and sends them as they are (IGC 1.0.12504, kernels of hashcat for Broadwell):
/// higher bits cannot matter. What lies between the size of the group's memory and 64 KiB reads 0.
pub const LOCAL_MEMORY_OFFSET_BITS: u64 = 0xffff;

/// Does the Global Offset of a header count for shared local memory? Byte scattered messages may
/// have a header and reach it (MDC_BTS_SLM_A32); no source says whether that header is MH_BTS_GO or
/// MH_IGNORE (2d p.42, p.215). Compilers send none, or zeros. The model adds it as for surfaces.
pub const LOCAL_MEMORY_HAS_A_GLOBAL_OFFSET: bool = true;

/// The part of a header that bounds stateless accesses (Per Thread Scratch Space, 2d p.294) holds
/// for messages of data port 0 that have a header; those without one, and those of data port 1,
/// reach 4 GiB from General State Base Address on.
pub const STATELESS_WITHOUT_SIZE_REACHES_4_GIB: InTheCode = InTheCode;

/// General State Buffer Size bounds stateless accesses (2d p.462). What does 0 say, which is also
/// what a context has that never set it? No source of this generation; drivers leave it 0 and use
/// scratch space, so that the model takes it for no bound.
pub const GENERAL_STATE_SIZE_ZERO_IS_NO_BOUND: bool = true;

/// Register Pitch Control of merged media block reads: 2d p.252-254 says what it is good for and no
/// more. Each step doubles the distance of rows in registers, so that two, four or eight blocks
/// interleave.
pub const REGISTER_PITCH_DOUBLES: bool = true;

/// How does a transposed block lie in registers? No source says. The model puts the columns one
/// behind the other without gaps.
pub const TRANSPOSED_COLUMNS_ARE_ADJACENT: bool = true;

/// Slots of an atomic message that work on the same place: in which order? No source says; the
/// model takes them in ascending order, each after the one before.
pub const ATOMIC_SLOTS_GO_UPWARD: InTheCode = InTheCode;

/// Operations of float atomics, by their number: the manual has the messages (2d p.115) and no list
/// of operations. Intel's compiler sends these for messages that it names after this generation
/// (IGC, EU_GEN8_DATA_PORT_1_MESSAGE_TYPE_UNTYPED_ATOMIC_FLOAT); Mesa uses the same from Gen9 on.
/// Numbers that later hardware added are refused.
pub const FLOAT_ATOMIC_MAX: u64 = 1;
/// See [`FLOAT_ATOMIC_MAX`].
pub const FLOAT_ATOMIC_MIN: u64 = 2;
/// Compare and write; see [`FLOAT_ATOMIC_MAX`].
pub const FLOAT_ATOMIC_COMPARE: u64 = 3;

/// NaNs in float atomics: a quiet one loses against a number, a signaling one wins, and none equals
/// anything (GL_INTEL_shader_atomic_float_minmax, written for Intel's hardware). Of two NaNs of one
/// kind, and of zeros of both signs, which that text leaves open, memory keeps its own. Subnormal
/// numbers are compared as what they are.
pub const FLOAT_ATOMICS_PREFER_NUMBERS_TO_QUIET_NANS: bool = true;

/// MI_UPDATE_GTT: the facts have no layout of its dwords. Linux, for later hardware with the same
/// table entries, sends the page's address and then 64 bits for each entry (i915 gt/intel_ggtt.c,
/// gen8_ggtt_bind_ptes). Earlier manuals had entries of 32 bits, which this generation's table has
/// no more.
pub const UPDATE_GTT_ENTRIES_HAVE_64_BITS: bool = true;

/// How often all media threads have a turn before the packet behind the one that started them.
/// Hardware goes on at once; what a thread waits for may come with a later packet. Threads that
/// only take long are done by then, so that nothing depends on this but programs that race.
pub const ROUNDS_OF_A_PACKET: u64 = 256;

/// Bytes of the URB: 384 KiB, what drivers take for GT2 and GT3 (Mesa intel_device_info.c).
pub const URB_BYTES: usize = 384 << 10;

/// Bytes that a URB handle counts. Kernels take handles as they are; only a media thread that
/// spawns others computes with them, in units of registers.
pub const URB_HANDLE_BYTES: usize = 32;

/// URB atomics: no source says where the operand is and what the offset counts. The model takes the
/// first dword behind the header, and dwords.
pub const URB_ATOMICS_TAKE_DWORDS: bool = true;

/// A child thread gets r0, constants and the rest of what the URB holds for it in the order in
/// which a root thread gets its constants and its data; no source says where constants go. Dispatch
/// URB Length does not count r0: kernels write the number of its registers less one.
pub const CHILDREN_GET_CONSTANTS_BEHIND_R0: InTheCode = InTheCode;

/// How many root threads does a message that spawns a root thread let start? No source says; the
/// model takes one of those that wait for it, in their order.
pub const ROOT_MESSAGES_START_ONE_THREAD: InTheCode = InTheCode;

/// A walk of MEDIA_OBJECT_WALKER whose inner loop has no way (its units are 0): the loop goes on
/// until it leaves the block, or the whole, and never does. Where there is one position, or one
/// block, only, the manual allows 0 like any other number (2a p.500-506) and nothing is left to
/// loop over: the model takes it once. Other walks without a way are refused.
pub const LOOPS_OF_ONE_POSITION_NEED_NO_WAY: bool = true;

/// A scoreboard dependency on a position where no thread is on its way: does it hold for ever?
/// Drivers give all threads of a walk the same mask, also those at the edges, so that nobody can
/// wait for positions outside.
pub const SCOREBOARD_KNOWS_THREADS_ON_THEIR_WAY: InTheCode = InTheCode;

/// Which vertex of a quad comes first in the polygon that it becomes (2b p.5)? No source says. The
/// model takes the one that came last: drivers tell applications that quads provoke at their last
/// vertex whatever the convention (Mesa, QuadsFollowProvokingVertexConvention is off), and their
/// own conversion for the first generations did that.
pub const QUADS_START_AT_THEIR_LAST_VERTEX: bool = true;

/// Which vertex of a polygon provokes? 3DSTATE_SF has selects for strips and lists and for fans,
/// and names no polygons. OpenGL's polygons provoke at their first vertex in both conventions (4.6
/// compatibility, table 13.2).
pub const POLYGONS_PROVOKE_AT_THEIR_FIRST_VERTEX: bool = true;

/// Which points does the tessellator make, and in which order are points and primitives? The manual
/// names domains and partitionings only (2a p.231-234). Direct3D 11 prescribes positions in fixed
/// point, and Mesa carries its reference; the model takes points, order and connections from there
/// (gen8_facts 6).
pub const TESSELLATION_IS_THAT_OF_DIRECT3D: bool = true;

/// When is a buffer of the stream output full? "Overflow" is not spelt out (2a p.216). OpenGL (4.6,
/// 13.3.2) and Vulkan ask whether what is recorded would end beyond the buffer; hardware might ask
/// for room for a whole pitch. The model asks where the last piece of the last vertex ends. The two
/// differ only where a vertex ends with a hole at the end of the buffer.
pub const STREAM_OUTPUT_OVERFLOWS_BY_ITS_DATA: bool = true;

/// Pixels outside of the depth or stencil buffer: the sizes of all targets should be the same (2a
/// p.57), and no source says what happens if they are not. The model takes them as if there was no
/// test.
pub const PIXELS_OUTSIDE_OF_THE_DEPTH_BUFFER_PASS: bool = true;

/// A colour times BLENDFACTOR_ZERO: 0, also if the colour is infinite or no number? Direct3D allows
/// both; hardware need not even read it.
pub const BLEND_FACTOR_ZERO_DROPS_ITS_OPERAND: bool = true;

/// COLORCLAMP_RTFORMAT for formats of floats: does the range end with infinity or with the greatest
/// finite number? The table of ranges is in a volume that was not at hand. APIs want infinity to be
/// stored.
pub const CLAMP_TO_A_FLOAT_FORMAT_KEEPS_INFINITY: bool = true;

/// Which samples does alpha to coverage take away first? "Monotonically increases" is all that 2d
/// p.35 says. The model covers samples from the first on.
pub const ALPHA_TO_COVERAGE_FILLS_UPWARD: bool = true;

/// Does a shader that writes oMask switch alpha to coverage off, also without Pixel Shader Disables
/// Alpha To Coverage? 2d p.35 and 001 do not say. Mesa (brw_fs.cpp, emit_fb_writes) leaves the
/// alpha of source 0 out of such messages and never sets the bit, and its comment quotes a later
/// manual (Skylake) that says so of the hardware.
pub const OMASK_DISABLES_ALPHA_TO_COVERAGE: bool = true;

/// What is added to alpha times the number of samples, before it is cut, by row and column of a 2 x
/// 2 block of pixels: the pattern is not described. This one is even over the block.
pub const ALPHA_TO_COVERAGE_DITHER: [[f32; 2]; 2] = [[0.125, 0.625], [0.875, 0.375]];

/// What dither adds to a colour, in steps of its channel, by row and column: the pattern is not
/// described. This is the usual ordered one (Bayer, 4 x 4). Colours that are steps of the channel
/// stay what they are, so that nothing drifts whatever Round Disable Function Disable says.
/// Channels of 8 bits and more are not dithered.
pub const COLOR_DITHER: [[f32; 4]; 4] = [
    [-0.46875, 0.03125, -0.34375, 0.15625],
    [0.28125, -0.21875, 0.40625, -0.09375],
    [-0.28125, 0.21875, -0.40625, 0.09375],
    [0.46875, -0.03125, 0.34375, -0.15625],
];

/// A bit of a colour control surface that is set: the block is cleared (gen8_facts 8.4, without a
/// source). Drivers fill new surfaces with zeros and take them for not cleared.
pub const CLEARED_BLOCKS_ARE_ONES: bool = true;

/// The four owords of a cache line of a colour control surface, each 8 x 16 blocks: their order is
/// not described. Drivers write whole cache lines.
pub const CCS_OWORDS_GO_ACROSS_FIRST: bool = true;

/// Slices that a clear by 3DSTATE_WM_HZ_OP reaches: its rectangle has no array index, so the first
/// one. Drivers clear slice by slice, with buffers that go on behind it.
pub const CLEARS_REACH_ONE_SLICE: bool = true;

/// Vertices that do not lie in their buffer as a whole: what do their elements read? Direct3D and
/// Vulkan's robust access want zeros; hardware checks the size of the buffer, and gen8_facts 5.1
/// infers the same for all components.
pub const VERTICES_BEHIND_THE_BUFFER_ARE_ZERO: bool = true;

/// And indices behind the end of the index buffer? The same.
pub const INDICES_BEHIND_THE_BUFFER_ARE_ZERO: bool = true;

/// Fixed function identifiers in `sr0.0` of threads of the vertex, hull, domain, geometry and pixel
/// shader: no seed has their codes. Nothing but a kernel that looks at its own `sr0` can tell.
pub const FIXED_FUNCTION_IDS: [u64; 5] = [1, 2, 3, 4, 5];
/// Which primitive ID do later stages see of primitives that a tessellated patch or a geometry
/// shader made? In Direct3D 11 it is that of the patch; what a geometry shader does not write
/// itself is undefined. No source says what hardware has. In the model primitives have the number
/// of what they came from.
pub const PRIMITIVES_KEEP_THE_NUMBER_OF_WHAT_THEY_CAME_FROM: bool = true;

/// Where are the vertex handles of two objects in the payload of a geometry shader? 2a p.118 gives
/// their number of registers, which leaves two ways, and drivers have the data pushed. The model
/// puts four handles of each object into the halves of a register, as data of two objects come; the
/// alternative has those of the second object behind those of the first.
pub const DUAL_OBJECTS_SHARE_REGISTERS_OF_HANDLES: bool = true;

/// Levels of detail have 8 fraction bits; are computed ones rounded to them or cut? No source says.
/// The model rounds to the nearest, so that coordinates with small errors give the level that was
/// meant.
pub const LOD_IS_ROUNDED: bool = true;

/// Resource Min LOD (2d p.349): "the LOD Computation Pseudocode" that says what it does is in no
/// source. The model takes it for a lower bound of the level of detail, counted from level 0 as the
/// most detailed level that is present.
pub const RESOURCE_MIN_LOD_BOUNDS_LEVELS: bool = true;

/// The anisotropic filter for ratios from 1 to 2: it has two samples of the same weight
/// (003:2881-2885), and one texel between them would blur a map that lies square on the screen.
/// OpenGL's filter has one sample there (EXT_texture_filter_anisotropic). The model moves the two
/// together as the ratio becomes 1, where they are the linear filter's sample.
pub const TWO_ANISOTROPIC_SAMPLES_MEET: bool = true;

/// Are levels of detail computed for threads that have no pixels? Drivers give those a level of
/// their own, which could mean that there is none to be computed. The sampler is not told who asks:
/// the model takes differences of neighbours in messages of 8 and 16 lanes of all threads, and 0 in
/// those of two.
pub const DERIVATIVES_OF_EVERY_STAGE: bool = true;

/// A subspan of which some pixels look at another face of a cube map: which derivatives does a
/// level of detail come from? 003:2731 has differences of neighbours and says nothing of faces. The
/// model brings the neighbours' directions onto the pixel's own face, which is what OpenGL's
/// derivatives (4.6, 8.14) are; differences of directions as shaders divide them give levels half a
/// step off at the edges of what is drawn (piglit's cubemap).
pub const CUBE_LODS_ARE_ON_THE_OWN_FACE: bool = true;

/// Are border colours outside of the range of a format clamped to it? OpenGL says so, and drivers
/// leave it to hardware (gen8_facts 11).
pub const BORDER_COLORS_CLAMP_TO_THE_FORMAT: bool = true;

/// Pixels of packed YUV that have no chroma of their own: 2a p.35 says that the chroma key sees the
/// mean of the chroma to the left and to the right. Does the filter as well? The model has one
/// colour for both.
pub const CHROMA_BETWEEN_PAIRS_IS_AVERAGED: bool = true;

/// What texel is beyond the corner of a cube map? There is none, and 003:2969 admits artifacts. The
/// model gives its weight to the three others in equal parts, as OpenGL recommends. A gather, which
/// has no weights, gets the texel at the corner of the face: where the three are alike, OpenGL
/// wants the same (4.6, 8.14).
pub const CUBE_CORNERS_HAVE_THREE_TEXELS: bool = true;

/// ld outside of the surface returns 1 in the alpha of a format without alpha (003:4064); an
/// erratum of old devices had 0 for formats of 8 bits a channel. The model has 1 for all.
pub const LOADS_OUTSIDE_HAVE_ALPHA_ONE: bool = true;

/// What does ld_mcs return for a surface without a multisample control surface? What surfaces that
/// are not there return: 0. ld2dms does not look at the word then.
pub const CONTROL_WORDS_WITHOUT_A_SURFACE_ARE_ZERO: bool = true;

/// resinfo shifts width, height and depth by the level (003:4054), which makes 0 of small ones
/// where the level has a texel. Drivers take the answer for the size of the level: the model
/// returns 1 at least, for levels that there are.
pub const LEVELS_HAVE_A_TEXEL_AT_LEAST: bool = true;

/// Multisample Position Palette Index is "returned by sampleinfo" (2d p.340), in which channel is
/// in no source. The model has it in alpha.
pub const SAMPLEINFO_HAS_THE_PALETTE_INDEX: bool = true;

/// Do pixel shaders without Vector Mask Enable start with the unlit pixels of lit subspans? By the
/// letter they start with the dispatch mask, lit pixels only (004:3075, 3261). But the kernel of
/// intel-gpu-tools' rendercopy, which copies rectangles of any size exactly, works on its upper
/// eight pixels with the enables of the lower eight, and would leave holes beside edges. The model
/// starts with whole subspans, and keeps unlit pixels from writing memory by messages.
pub const PIXEL_THREADS_START_WITH_WHOLE_SUBSPANS: bool = true;

/// From where do the offsets of messages to the pixel interpolator count? Drivers mean the middle
/// of the pixel, where they have all pixel values. The model counts from the pixel's location, so
/// that an offset of 0 gives the values of the payload with Pixel Location UL_CORNER, too.
pub const INTERPOLATED_OFFSETS_START_AT_THE_PIXEL_LOCATION: bool = true;

/// Do edge flags count in strips and fans? OpenGL lets them count in lists of triangles and quads
/// and in polygons only (2.1, 2.6.2); hardware has them for strips and fans as well (2d
/// VERTEX_ELEMENT_STATE). The model has what the manual says: an edge is drawn if the vertex says
/// so with which it begins, going around the triangle.
pub const EDGE_FLAGS_HOLD_IN_STRIPS: bool = true;

/// What PS_INVOCATION_COUNT counts for each pixel that a shader runs for. Drivers divide it by four
/// on Broadwell and Haswell (Mesa's WaDividePSInvocationCountBy4; gen8_facts 2.7), so that is what
/// hardware must count.
pub const PS_INVOCATIONS_OF_A_PIXEL: u64 = 4;

/// What do the fields of 3DSTATE_PS_BLEND do? They repeat those of BLEND_STATE for render target 0
/// and say whether any target is written, so that the windower knows early what the output merger
/// will do (2a p.160). Results follow BLEND_STATE: the model does not look at the packet.
pub const PS_BLEND_IS_A_HINT: InTheCode = InTheCode;

/// Logic operations on floats and on sRGB: the manual has them for all targets (2d BLEND_STATE).
/// OpenGL says that they have no effect there, but that blending is off all the same (4.6, 17.3.9),
/// and drivers leave the bit as the application sets it. The model writes the shader's colours.
pub const LOGIC_OPERATIONS_SKIP_FLOATS_AND_SRGB: bool = true;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// All source files below a folder, in one text.
    fn sources(folder: &Path, text: &mut String) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, text);
            } else if path.extension().is_some_and(|ext| ext == "rs")
                && !path.ends_with("assumptions.rs")
            {
                text.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }

    /// Each constant that is said to make a difference is read somewhere, and the others are not.
    #[test]
    fn constants_are_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let own = fs::read_to_string(folder.join("assumptions.rs")).unwrap();
        let mut text = String::new();
        sources(&folder, &mut text);
        let constants: Vec<(&str, &str)> = own
            .lines()
            .filter_map(|line| line.strip_prefix("pub const "))
            .map(|line| line.split_once(": ").unwrap())
            .collect();
        assert!(constants.len() > 100, "{}", constants.len());
        for (name, rest) in constants {
            assert_eq!(text.contains(name), !rest.starts_with("InTheCode"), "{name}");
        }
    }
}
