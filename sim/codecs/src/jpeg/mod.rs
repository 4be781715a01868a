//! JPEG (ITU-T T.81): baseline sequential, Huffman coded.
