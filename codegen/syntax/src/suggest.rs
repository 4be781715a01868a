//! Suggests the valid name that is nearest to a wrong one ("did you mean").

/// The candidate nearest to `word`, if any is near enough. Among equally near candidates, the one
/// with more letters at the same position (upper and lower case differ) comes first, then
/// alphabetical order decides.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 4).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate, limit), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|&(distance, candidate)| {
            let in_place = word.chars().zip(candidate.chars()).filter(|(a, b)| a == b).count();
            (distance, std::cmp::Reverse(in_place), candidate)
        })
        .map(|(_, candidate)| candidate)
}

/// The hint with the nearest candidate: ``did you mean `x`?``.
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|name| format!("did you mean `{name}`?"))
}

/// Edit distance; upper and lower case are equal. A distance above `limit` may be returned as
/// `limit + 1`.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    // A swap of two neighbouring letters counts as one edit, which needs the row before the last.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        assert_eq!(nearest("defualt", ["default", "derived"]), Some("default"));
        assert_eq!(nearest("Surface Typ", ["Surface Type", "Surface Pitch"]), Some("Surface Type"));
        assert_eq!(nearest("unit", ["int", "uint", "bool"]), Some("uint"));
        assert_eq!(nearest("pitch", ["default", "type"]), None);
        for names in [["WIDTH", "Width"], ["Width", "WIDTH"]] {
            assert_eq!(nearest("Widht", names), Some("Width"));
            assert_eq!(nearest("WIDHT", names), Some("WIDTH"));
        }
    }
}
