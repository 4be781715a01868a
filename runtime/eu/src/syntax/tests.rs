//! Tests of `syntax`.

use super::*;

fn unambiguous<T: Copy + PartialEq + core::fmt::Debug>(names: &Names<T>) {
    for syntax in [Syntax::Iga, Syntax::Mesa] {
        for row in names.rows {
            if let Some(word) = row.in_syntax(syntax) {
                assert_eq!(names.find(word, syntax), Some(row.meaning), "{} {word}", names.kind);
                assert_eq!(names.name(row.meaning, syntax), Some(word));
            }
        }
    }
}

/// Each spelling is read back as the meaning in its own row.
#[test]
fn words_mean_one_thing() {
    unambiguous(&TYPES);
    unambiguous(&ARFS);
    unambiguous(&CONDITIONS);
    unambiguous(&PREDICATES);
    unambiguous(&MATH);
    unambiguous(&FUNCTIONS);
    unambiguous(&OPTIONS);
}
