//! Alignment of two lists: their longest common subsequence, by Myers' method (An O(ND) difference
//! algorithm, 1986), and the pairing of their elements: equal ones first, then those of the same
//! kind.

use std::collections::HashMap;

/// Largest number of differences for Myers' method, whose memory grows with the square of it. Lists
/// with more differences are cut into parts.
const MOST: usize = 2000;

/// Largest recursion depth for cutting lists into parts, at elements that occur once in each list.
const MAX_CUTS: u32 = 32;

/// Index of an element in the first list and in the second list. For an element of only one list,
/// the other index is `None`.
pub type Pair = (Option<usize>, Option<usize>);

/// Pairs the elements of two lists: first those with the same number in `contents`, then between
/// them those with the same number in `kinds`. Both parameters hold a number for each element of
/// the first list and of the second list.
pub fn pairs(contents: (&[u32], &[u32]), kinds: (&[u32], &[u32])) -> Vec<Pair> {
    let (mut x, mut y) = (0, 0);
    let mut out = Vec::with_capacity(contents.0.len().max(contents.1.len()));
    let ends = (contents.0.len(), contents.1.len());
    for (to_x, to_y) in common(contents.0, contents.1).into_iter().chain([ends]) {
        let between = common(&kinds.0[x..to_x], &kinds.1[y..to_y]);
        let between: Vec<_> =
            between.into_iter().map(|(at_x, at_y)| (x + at_x, y + at_y)).collect();
        for (pair_x, pair_y) in between.into_iter().chain([(to_x, to_y)]) {
            out.extend((x..pair_x).map(|at| (Some(at), None)));
            out.extend((y..pair_y).map(|at| (None, Some(at))));
            (x, y) = (pair_x, pair_y);
            if x < contents.0.len() && y < contents.1.len() {
                out.push((Some(x), Some(y)));
                (x, y) = (x + 1, y + 1);
            }
        }
    }
    out
}

/// Positions of the elements that the lists have in common, in order; as many as possible. If the
/// lists have more than 2,000 differences, the result may have fewer elements than possible.
pub fn common(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    cut(a, b, MAX_CUTS)
}

/// As [`common`]; lists are cut at most `cuts` times.
fn cut(a: &[u32], b: &[u32], cuts: u32) -> Vec<(usize, usize)> {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a_rest, b_rest) = (&a[start..], &b[start..]);
    let end = a_rest.iter().rev().zip(b_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (inner_a, inner_b) = (&a_rest[..a_rest.len() - end], &b_rest[..b_rest.len() - end]);
    let mut pairs: Vec<_> = (0..start).map(|at| (at, at)).collect();
    let between = inner(inner_a, inner_b).unwrap_or_else(|| parts(inner_a, inner_b, cuts));
    pairs.extend(between.into_iter().map(|(x, y)| (x + start, y + start)));
    pairs.extend((0..end).rev().map(|back| (a.len() - 1 - back, b.len() - 1 - back)));
    pairs
}

/// Cuts the lists at elements that occur exactly once in each (their longest sequence in the same
/// order). Returns these elements and the common elements of the parts between them. Returns
/// nothing if there are no such elements or `cuts` is 0.
fn parts(a: &[u32], b: &[u32], cuts: u32) -> Vec<(usize, usize)> {
    let Some(cuts) = cuts.checked_sub(1) else { return Vec::new() };
    // By element: its count and its last position, for each of the two lists.
    let mut places: HashMap<u32, [(u32, usize); 2]> = HashMap::new();
    for (side, list) in [a, b].into_iter().enumerate() {
        for (at, element) in list.iter().enumerate() {
            let place = &mut places.entry(*element).or_default()[side];
            *place = (place.0 + 1, at);
        }
    }
    let single = places.into_values().filter(|[one, two]| one.0 == 1 && two.0 == 1);
    let mut single: Vec<(usize, usize)> = single.map(|[one, two]| (one.1, two.1)).collect();
    single.sort_unstable();
    let anchors = rising(&single);
    if anchors.is_empty() {
        return Vec::new();
    }
    let (mut x, mut y) = (0, 0);
    let mut out = Vec::new();
    for (to_x, to_y) in anchors {
        out.extend(
            cut(&a[x..to_x], &b[y..to_y], cuts)
                .into_iter()
                .map(|(at_x, at_y)| (x + at_x, y + at_y)),
        );
        out.push((to_x, to_y));
        (x, y) = (to_x + 1, to_y + 1);
    }
    out.extend(cut(&a[x..], &b[y..], cuts).into_iter().map(|(at_x, at_y)| (x + at_x, y + at_y)));
    out
}

/// The longest subsequence of the list in which the second numbers rise too (patience sorting).
fn rising(list: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `ends`: for each length, the last element of the best run of that length. `before`: for each
    // element, the previous one in its run.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    for (at, (_, y)) in list.iter().enumerate() {
        let length = ends.partition_point(|end| list[*end].1 < *y);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        run.push(list[at]);
        next = before[at];
    }
    run.reverse();
    run
}

/// As [`common`], for lists without a common start or end. `None` if they have more than [`MOST`]
/// differences.
fn inner(a: &[u32], b: &[u32]) -> Option<Vec<(usize, usize)>> {
    if a.is_empty() || b.is_empty() {
        return Some(Vec::new());
    }
    // `reached[k + offset]`: the furthest position in `a` on diagonal k = x - y with the current
    // number of differences. `kept` stores a copy for each number of differences.
    let most = (a.len() + b.len()).min(MOST);
    let offset = most as isize + 1;
    let mut reached = vec![0usize; 2 * most + 3];
    let mut kept: Vec<Vec<usize>> = Vec::new();
    for differences in 0..=most as isize {
        let band = (offset - differences - 1) as usize..(offset + differences + 2) as usize;
        kept.push(reached[band].to_vec());
        for k in (-differences..=differences).step_by(2) {
            let (below, above) =
                (reached[(k - 1 + offset) as usize], reached[(k + 1 + offset) as usize]);
            let down = k == -differences || (k != differences && below < above);
            let mut x = if down { above } else { below + 1 };
            let mut y = (x as isize - k) as usize;
            while x < a.len() && y < b.len() && a[x] == b[y] {
                (x, y) = (x + 1, y + 1);
            }
            reached[(k + offset) as usize] = x;
            if x >= a.len() && y >= b.len() {
                return Some(back(&kept, a.len(), b.len()));
            }
        }
    }
    None
}

/// Traces the path back from the end of both lists, with the positions reached before each
/// difference. Returns the common elements on the path.
fn back(kept: &[Vec<usize>], a: usize, b: usize) -> Vec<(usize, usize)> {
    let (mut x, mut y) = (a as isize, b as isize);
    let mut pairs = Vec::new();
    for (differences, before) in kept.iter().enumerate().rev() {
        let differences = differences as isize;
        let at = |k: isize| before[(k + differences + 1) as usize] as isize;
        let k = x - y;
        let down = k == -differences || (k != differences && at(k - 1) < at(k + 1));
        let previous = if down { k + 1 } else { k - 1 };
        let (from_x, from_y) =
            if differences == 0 { (0, 0) } else { (at(previous), at(previous) - previous) };
        while x > from_x && y > from_y {
            (x, y) = (x - 1, y - 1);
            pairs.push((x as usize, y as usize));
        }
        (x, y) = (from_x, from_y);
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::{common, pairs};
    use genxml_testkit::Random;

    /// The length of the longest common subsequence. Oracle: dynamic programming over all prefixes.
    fn longest(a: &[u32], b: &[u32]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    #[test]
    fn as_long_as_can_be() {
        let mut random = Random::new(1);
        for _ in 0..500 {
            let kinds = random.below(6) + 1;
            let mut list =
                || (0..random.below(20)).map(|_| random.below(kinds) as u32).collect::<Vec<_>>();
            let (a, b) = (list(), list());
            let pairs = common(&a, &b);
            assert_eq!(pairs.len(), longest(&a, &b), "{a:?} {b:?} {pairs:?}");
            assert!(pairs.iter().all(|(x, y)| a[*x] == b[*y]));
            assert!(
                pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1),
                "{pairs:?}"
            );
        }
        assert!(common(&[], &[1]).is_empty());
    }

    /// Lists with many differences are still paired at their equal elements.
    #[test]
    fn long_lists_that_are_unlike() {
        let a: Vec<u32> = (0..20_000).collect();
        let b: Vec<u32> =
            a.iter().map(|one| if one % 4 == 0 { one + 100_000 } else { *one }).collect();
        let pairs = common(&a, &b);
        assert_eq!(pairs.len(), 15_000);
        assert!(pairs.iter().all(|(x, y)| x == y));
        // Without elements that occur once nothing is found, but the search ends quickly.
        let (c, d) = ([1, 2, 3].repeat(4000), [3, 2, 2, 4].repeat(4000));
        assert!(common(&c, &d).iter().all(|(x, y)| c[*x] == d[*y]));
    }

    #[test]
    fn elements_of_a_kind_between_the_same_ones() {
        // Contents 1 and 9 are in both lists. Between them, the elements of kind 5 are paired.
        let found = pairs((&[1, 2, 9], &[1, 3, 4, 9]), (&[0, 5, 0], &[0, 6, 5, 0]));
        let both = |x, y| (Some(x), Some(y));
        assert_eq!(found, [both(0, 0), (None, Some(1)), both(1, 2), both(2, 3)]);
        assert_eq!(pairs((&[], &[7]), (&[], &[7])), [(None, Some(0))]);
    }
}
