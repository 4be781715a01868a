//! The video engine: the questions that the manuals leave open.

assumptions! {
    area VIDEO = "video";

    documentation PICTURES_END_WITH_THEIR_PACKETS;
        question "When is a decoded picture in memory?";
        choice "When the next picture starts, before an MI packet that may look at results, and at \
            the end of the submission. All slices of a picture are decoded together then.";
        reason "Drivers flush with MI_FLUSH_DW before anybody reads the picture \
            (digests/video.md 1.2). No source says more.";

    documentation DRIVERS_NEVER_READ_ROW_STORES;
        question "What do the row stores of the codec contain?";
        choice "Nothing: the model does not write them.";
        reason "Only the engine reads them, within a picture (digests/video.md 1.5).";

    documentation MOTION_BUFFERS_HAVE_OWN_FORMAT;
        question "What is the format of direct motion vector buffers and of VP8 segment maps?";
        choice "A format of the model that fits the smallest allocation of the drivers.";
        reason "Only the engine reads them (digests/video.md 1.6).";

    documentation INVERSE_DCT_IS_EXACT;
        question "Which inverse transform do MPEG-2 and JPEG use?";
        choice "The exact one, rounded to the nearest integer. Halves are rounded up in MPEG-2 and \
            down in JPEG.";
        reason "ISO/IEC 13818-2 annex A bounds the error and T.83 bounds it loosely; no source \
            says what the engine has (digests/video.md 1.7). For halves in JPEG, libjpeg rounds up \
            and FFmpeg down; the model follows FFmpeg, whose results the tests compare with.";

    documentation MPEG2_ROWS_BELOW_THE_PICTURE;
        question "What does a slice below Frame Height In MBs do?";
        choice "The slice is decoded if both are true: its row makes the number of rows even, and \
            the surface has room for the row before the chroma samples. The row is then part of \
            the picture.";
        reason "Frames of interlaced sequences have an even number of rows of macroblocks \
            (ISO/IEC 13818-2 6.3.3), and vectors may point to all of them. i965 states the number \
            of visible rows and sends the slices of all.";

    documentation MPEG2_BOTTOM_FIELDS_LEFT_OUT;
        question "Where do bottom fields come from if pictures 2 and 3 have no address?";
        choice "Forward from picture 0 and backward from picture 1. In a P picture, forward from \
            picture 1. If the P picture is the top field after the bottom field of the same frame, \
            forward from the frame being decoded.";
        reason "i965 sets pictures 2 and 3 only if the application does not call the frame \
            progressive. Some streams have field pictures in frames that are called progressive, \
            and they play.";

    documentation MPEG2_COLUMN_OF_A_SLICE_IS_IGNORED;
        question "Is Slice Horizontal Position added to the first address increment of a slice?";
        choice "No: the increment alone gives the column.";
        reason "Applications set it to the increment minus 1, so adding both would count twice \
            (digests/video.md 3.4).";

    documentation NUMBER_OF_OTHER_VIEWS;
        question "What is Max View IDX of MFX_AVC_IMG_STATE: maxViewIdx of H.264 H.8.2.2.3, which is \
            the number of references in other views, or the largest index?";
        choice "The number, but at least one more than the largest view order in MFD_AVC_DPB_STATE.";
        reason "The result is the same with both meanings if all references are there.";

    documentation COEFFICIENTS_ARE_IN_RASTER_ORDER;
        question "In IT mode, what do the coefficients of MFD_IT_OBJECT contain?";
        choice "What DXVA_TCoefSingle has with bConfigHostInverseScan 1: positions in raster order, \
            and values after inverse quantisation, saturation and mismatch control. The engine \
            ignores scan, matrices and quantisers.";
        reason "media-driver passes on the buffer of the application unchanged, in dwords, without \
            the scan of the macroblock (mhw_vdbox_mfx_generic.h). dxva.h describes the dwords.";

    const MPEG2_MEAN_LEVEL_OF_INTRA_BLOCKS: i32 = 1024;
        question "In IT mode of MPEG-2, is the DC coefficient of intra blocks relative to 0 or to \
            the mean level?";
        choice "To the mean level: the engine adds 1024 to the DC coefficient. This raises each \
            sample by 128.";
        reason "In DXVA the host subtracts the mean level from the DC coefficient, and the \
            accelerator adds 128 to the samples. media-driver does not change the coefficients.";

    documentation DUAL_PRIME_VECTORS_IN_IT_MODE;
        question "In IT mode of MPEG-2, where are the vectors of dual prime prediction?";
        choice "The first forward vector is that into the field of the same parity. The first \
            backward vector is that of the top field, or of a field picture, into the other \
            parity; the second backward vector is that of the bottom field.";
        reason "media-driver packs the vectors of DXVA so (codechal_decode_mpeg2.cpp \
            PackMotionVectors). In DXVA the host derives the vectors.";

    documentation DAMAGED_SLICES_STOP;
        question "What happens to macroblocks that cannot be decoded?";
        choice "AVC: the BSD object of the slice before a missing macroblock selects the method. \
            The macroblock is copied from the same position of a reference, without motion and \
            without weights. Or it gets the mean of the row above and the column to the left. \
            MPEG-2 and VC-1: it is copied from the forward reference. MPEG-2 does not do this if \
            Slice Concealment Disable is set. Without a reference, and for JPEG, it keeps the \
            samples that memory holds. MFD_ERROR_STATUS counts the missing macroblocks.";
        reason "Drivers state a method of concealment, but its result is not described \
            (digests/video.md 1.8).";

    const AVC_ROUNDING: [u32; 2] = [65536 / 3, 65536 / 6];
        question "How does the AVC encoder round levels if Round Intra Enable and Round Inter \
            Enable are 0?";
        choice "It adds a third of a step in intra and a sixth in inter macroblocks, in units of \
            1/65536.";
        reason "The encoder model of the standard has these. A stream is valid with any rounding \
            (digests/video.md 8.4).";

    const AVC_DIRECT_MOTION_IS_DERIVED: bool = false;
        question "Which motion do direct and skipped AVC macroblocks of the encoder have?";
        choice "That of the packet, not the one that decoders derive.";
        reason "The engine takes it as given (digests/video.md 8.7); drivers compute it.";

    documentation AVC_MODE_OF_INTRA_16X16;
        question "Which mode does the encoder use for an Intra_16x16 macroblock: that of MB Type, \
            or the first one of Luma Mode?";
        choice "The first one of Luma Mode.";
        reason "The engine makes the type anew from what quantisation leaves \
            (digests/video.md 8.7), so it does not need that of the packet.";

    documentation AVC_TRELLIS_IS_OFF;
        question "What does Trellis Quantization Enable do?";
        choice "Nothing.";
        reason "No source describes it. A stream is valid with any choice of levels \
            (digests/video.md 8.4).";

    documentation ENCODED_SIZES_ARE_WITHIN_LIMITS;
        question "When does the image status report a frame or macroblock that is too large?";
        choice "Never.";
        reason "Multi-pass encoding then ends after its first pass, which gives a valid stream \
            (digests/video.md 7).";

    documentation AVC_RECORDS;
        question "What do the records of decoded AVC macroblocks (Stream-Out Enable) contain?";
        choice "Their fields are those of mfxFeiDecStreamOutMBCtrl, in raster order also with MBAFF. \
            B_Skip and B_Direct_16x16 have MB Type 22 and parts of 4x4. Each 8x8 block has its \
            lists, and its references as frame stores with bit 7 set; 0 for none. The modes of four \
            8x8 intra blocks are the first four. Masks of blocks are those of MFC_AVC_PAK_OBJECT. \
            A concealed macroblock has nothing but its position.";
        reason "The manual of mfxExtFeiDecStreamOut describes the fields. Where the hardware differs \
            from it, the library and its sample have code for that: umc_va_fei.cpp \
            RemapReferences, fei_streamout_pak_repacking.cpp.";

    documentation ENCODER_RECORDS;
        question "What do the records of encoded macroblocks (Stream-Out Enable) contain?";
        choice "Quantiser, prediction and type; for AVC also the size and coded_block_pattern. No \
            limits are exceeded, and the size of the header is 0. In MPEG-2, size, type and coded \
            blocks are 0.";
        reason "Only rate control reads more (digests/video.md 8.10), which the model lacks.";

    documentation THE_LAST_SLICE_IS_PADDED_TO_THE_MINIMUM;
        question "How does an encoder reach Minimum Frame Size?";
        choice "After the last slice it writes zero words of CABAC, each with its emulation \
            prevention byte. In compatibility mode the unit is a 2-byte word. 4Kb is 4096 bytes and \
            16Kb is 16384.";
        reason "Zero words are what the standard has for this (H.264 7.3.2.8), and the enable bit is \
            named after them. The units have no more text than their names.";
}
