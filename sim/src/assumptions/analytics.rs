//! Assumptions about the video analytics functions of the media sampler.

assumptions! {
    area ANALYTICS = "analytics";

    const MASKS_OF_8X8_ARE_THIS_FAR_APART: u64 = 32;
        question "How many bytes of the table of samplers does an index stand for in the functions \
            with a mask: erode, dilate, and the filter of minimum and maximum?";
        choice "32, the size of their state.";
        reason "intel/media-driver steps by 32 bytes for each index of these states of Gen8 \
            (cm_hal_g8.cpp). intel-graphics-compiler has two units of 16 bytes for them. 2d p.258 \
            wants a multiple of 4 for all of sample_8x8.";

    documentation ANALYTICS_RETURN_ONE_CHANNEL;
        question "Which channels do the video analytics functions return?";
        choice "Green only. A header that asks for other channels, or none, is an error.";
        reason "The pictures have one channel. intel-graphics-compiler masks all channels but \
            green for each of these functions (TranslateSendMedia.cpp).";

    documentation ANALYTICS_READ_WHOLE_PIXELS;
        question "Which pixel do U and V of the video analytics functions name, and where are the \
            others?";
        choice "The pixel that contains the position, which is rounded to 1/256 of a pixel as in \
            the scaler. The others follow it in steps of one pixel. Delta U and Delta V are not \
            read. Vertical Block Number must be 0.";
        reason "intel/cm-compiler says that U and V are the normalised coordinates of pixel 0. \
            intel-graphics-compiler has no operands for the other fields and sets them to 0. So \
            both x / width and (x + 0.5) / width name pixel x.";

    const KERNELS_OF_EVEN_SIZES_REACH_RIGHT: bool = true;
        question "Which pixels does a kernel or a mask cover, relative to the pixel of the result?";
        choice "From (size - 1) / 2 pixels to the left and above on: it is centred, and with an \
            even size it has one more pixel to the right and below. `false`: one more to the left \
            and above.";
        reason "No source says.";

    const CONVOLUTION_TABLES_HAVE_ROWS: bool = true;
        question "Are the coefficients of convolve stored in rows or in columns?";
        choice "In rows: coefficient (i, j) is of row i and column j. `false`: of column i.";
        reason "2d p.393 mentions columns that contain the coefficients of rows. intel/media-driver \
            calls the 16 parts of the table rows, and copies those of its clients in this order \
            (cm_def.h, cm_hal_g8.cpp).";

    const CONVOLUTION_TURNS_ITS_KERNEL: bool = false;
        question "Does the first coefficient of convolve belong to the first or to the last pixel?";
        choice "To the first one, as in filters of pictures. `true`: to the last one, as in the \
            mathematical convolution.";
        reason "No source says.";

    documentation CONVOLUTION_SUMS;
        question "How does convolve round and clamp, and what are coefficients of 8 bits?";
        choice "The sum of pixels times coefficients in 1/4096 loses 12 bits and those of the scale \
            down value, cut towards minus infinity. The result is clamped to 16 bits with a sign, \
            for all formats. Coefficients of 8 bits are the upper halves of the stored ones.";
        reason "2d p.392 has clamp(sum[40:12] >> scale down). intel/cm-compiler says that results \
            are signed 16-bit integers (cmlangspec.rst 4.9.1). intel/media-driver clears the lower \
            halves of 8-bit coefficients (cm_hal.h).";

    documentation NUMBERS_OF_ANALYTICS_ARE_INTEGERS;
        question "What is the number of a pixel in the video analytics functions?";
        choice "The stored integer: 0 to 255 for 8 bits, also in results with 16 bits. Results with \
            8 bits of pixels with 16 bits are clamped.";
        reason "intel/cm-compiler clamps the results of both filters to 8 bits if the target has 8 \
            bits (cmlangspec.rst 4.11.1-4.11.2), which suits pictures of 8 bits only if their \
            results are 0 to 255.";

    documentation BITS_OF_ANALYTICS_BEGIN_WITH_THE_LOWEST;
        question "In which order are the pixels of Y1_UNORM, of masks, and of results with one bit?";
        choice "From left to right in bytes, and in each byte from the lowest bit on.";
        reason "No source says. So it is in monochrome surfaces of the sampler.";

    documentation MASKS_COVER_THEIR_SIZE;
        question "How do the functions with a mask use its bits?";
        choice "Bit n of row m covers the pixel n columns right of and m rows below the first pixel, \
            for all functions: dilate does not turn its mask. Bits beyond width and height do not \
            count. A mask without bits gives 1 for erode, 0 for dilate, and the bounds of the \
            format in reverse order for the filter of minimum and maximum.";
        reason "2d p.395 says that unused bits should be 0. The results of empty masks are those of \
            an operation on no operands.";

    documentation RESPONSES_OF_MASKS;
        question "What are the responses of the functions with a mask?";
        choice "Filter of minimum and maximum: for each pixel a word with the minimum and one with \
            the maximum; with 8 bits for each two pixels the two minima, then the two maxima. Erode \
            and dilate: 8 bytes for each row of pixels, of which rows of 32 pixels use the first 4. \
            MMF Mode 0 returns both extremes, 1 the maximum, 2 the minimum.";
        reason "intel/cm-compiler, cmlangspec.rst 4.9.2, 4.9.4 and its header cm_sampler.h; sizes: \
            intel-graphics-compiler, VISAKernelImpl.cpp.";

    documentation THE_BLOCK_OF_MINMAX;
        question "Of which pixels does MinMax return the extremes, and where?";
        choice "Of 16 x 8 pixels. The minimum is the first element, the maximum the second one. \
            Elements have the size of pixels.";
        reason "intel-graphics-compiler sends Sequence 1x, which is 16 x 8 pixels for the scaler, \
            for MinMax and for Centroid, which has 16 columns and 8 rows. intel/cm-compiler's \
            specification has this order of the two (cmlangspec.rst 4.9.3), as the filter has; its \
            header has the opposite one.";

    documentation MOMENTS_OF_CENTROIDS;
        question "What does Centroid return?";
        choice "For each of 16 columns the sum of row times pixel and the sum of pixels, as signed \
            dwords. Rows count from 0. Vertical Size 0 stands for 8 rows.";
        reason "intel/cm-compiler has jSum and \"Division/Sum\" for the columns 0 to 15 \
            (cmlangspec.rst 4.9.6). The second one is the divisor.";

    documentation MOMENTS_OF_BOOLEAN_CENTROIDS;
        question "What does BoolCentroid return?";
        choice "A register for each 32 columns, with the sum of columns, the sum of rows and the \
            number of set pixels in its first three dwords. Columns and rows count from 0 at the \
            pixel of U and V. Horizontal Size 0 stands for 64 columns, Vertical Size 0 for 4 rows.";
        reason "intel/cm-compiler has iSum, jSum and Sum, \"column 0 is in row 0\", in two rows of 8 \
            dwords, and the sizes (cmlangspec.rst 4.9.7).";

    documentation ANALYTICS_LEAVE_GAPS;
        question "What is in parts of a response that have no value, such as the minimum if only \
            the maximum is enabled?";
        choice "They keep their contents.";
        reason "intel/cm-compiler calls such values invalid (cmlangspec.rst 4.9.2).";
}
