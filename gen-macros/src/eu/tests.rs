//! Tests of `eu`.

use super::in_order;

#[test]
fn lines_that_go_back_are_ignored() {
    assert_eq!(in_order(&[]), []);
    assert_eq!(in_order(&[3, 3, 4]), [Some(3), Some(3), Some(4)]);
    assert_eq!(in_order(&[3, 9, 3, 4, 1, 4]), [Some(3), None, Some(3), Some(4), None, Some(4)]);
}
