//! Memory, URB and size of the GPU: the questions that the manuals leave open.

assumptions! {
    area MEMORY = "memory";

    const DIRECTORY_ENTRIES_MAP_LARGE_PAGES: bool = true;
        question "Does a page directory entry with bit 7 set map a page of 2 MiB?";
        choice "Yes.";
        reason "No driver for Broadwell sets the bit (gen8_facts 1.1). It has this meaning in \
            every page table of the family.";

    const DIRECTORY_ENTRIES_MAKE_64K_PAGES: bool = false;
        question "Does bit 11 of a page directory entry select pages of 64 KiB, with one table \
            entry in sixteen?";
        choice "No, the bit is ignored.";
        reason "gen8_facts 1.1 describes the bit for later generations only. Linux keeps it clear \
            on this one.";

    const SLICES: u32 = 1;
        question "How many slices does the GPU have? MI_SET_PREDICATE can test the number.";
        choice "One.";
        reason "This is the number of a GT2 (gen8_facts 2.7).";

    const URB_BYTES: usize = 384 << 10;
        question "How large is the URB?";
        choice "384 KiB.";
        reason "Drivers use this size for GT2 and GT3 (Mesa, intel_device_info.c).";

    const URB_HANDLE_BYTES: usize = 32;
        question "How many bytes does one step of a URB handle cover?";
        choice "32, the size of a register.";
        reason "Most kernels pass handles on unchanged. Only a media thread that spawns other \
            threads computes with them, in units of registers.";

    const URB_LINE_BYTES: usize = 64;
        question "How much do MI_LOAD_URB_MEM and MI_STORE_URB_MEM copy, and what does their URB \
            Address count?";
        choice "They copy 64 bytes. The address counts units of 64 bytes from the start of the \
            URB.";
        reason "No source says. The memory address has the alignment of 64 bytes, and 13 bits of \
            such units cover 512 KiB, the largest URB of Haswell. Other readings of the field are \
            dwords, which cover 32 KiB, and units of 128 bytes, which cover as much as the address \
            of MI_URB_CLEAR.";

    documentation URB_ATOMICS_TAKE_DWORDS;
        question "Where is the operand of a URB atomic message, and in which unit is its offset?";
        choice "The operand is the first dword after the header. The offset counts dwords.";
        reason "No source says.";

    documentation URB_ATOMICS_NEED_NO_STORAGE;
        question "What is the space for that MI_URB_ATOMIC_ALLOC sets aside?";
        choice "It has no effect: atomic messages access the entries of their handles.";
        reason "Only the names of the packet's fields are known (Mesa's gen8.xml). No source says \
            which messages use the space.";
}
