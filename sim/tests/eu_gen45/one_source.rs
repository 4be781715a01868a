//! The specification has the tables of the 8-byte forms twice: for the decoder, which shares the
//! formats of Gen8, and among the layouts of G45. Both must have the same rows.

use genxml::gen45::eu_compaction as layouts;
use genxml_eu::gen8::eu_gen45 as formats;

#[test]
fn tables_of_compaction() {
    for index in 0..32 {
        let pairs = [
            (
                layouts::ControlIndex::from_bits(index).expansion(),
                formats::ControlIndexGen45::from_bits(index).expansion(),
            ),
            (
                layouts::DataTypeIndex::from_bits(index).expansion(),
                formats::DataTypeIndexGen45::from_bits(index).expansion(),
            ),
            (
                layouts::SubRegIndex::from_bits(index).expansion(),
                formats::SubRegIndexGen45::from_bits(index).expansion(),
            ),
            (
                layouts::SrcIndex::from_bits(index).expansion(),
                formats::SrcIndexGen45::from_bits(index).expansion(),
            ),
        ];
        for (table, (one, other)) in pairs.into_iter().enumerate() {
            assert!(one.is_some() && one == other, "table {table}, row {index}: {one:?} {other:?}");
        }
    }
}
