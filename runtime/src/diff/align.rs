//! The longest common subsequence of two lists, by Myers' method (An O(ND) difference algorithm, 1986).

/// Differences after which lists count as unlike: memory grows with the square.
const MOST: usize = 2000;

/// Positions of the elements that the lists have in common, in order; as many as possible, and none if the lists differ
/// in more than [`MOST`] places.
pub fn common(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a_rest, b_rest) = (&a[start..], &b[start..]);
    let end = a_rest.iter().rev().zip(b_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (inner_a, inner_b) = (&a_rest[..a_rest.len() - end], &b_rest[..b_rest.len() - end]);
    let mut pairs: Vec<_> = (0..start).map(|at| (at, at)).collect();
    pairs.extend(inner(inner_a, inner_b).into_iter().map(|(x, y)| (x + start, y + start)));
    pairs.extend((0..end).rev().map(|back| (a.len() - 1 - back, b.len() - 1 - back)));
    pairs
}

/// As [`common`], without a common start or end.
fn inner(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    // `reached[k + offset]`: how far in `a` one gets on diagonal k = x - y with so many differences. Kept for each number.
    let most = (a.len() + b.len()).min(MOST);
    let offset = most as isize + 1;
    let mut reached = vec![0usize; 2 * most + 3];
    let mut kept: Vec<Vec<usize>> = Vec::new();
    for differences in 0..=most as isize {
        let band = (offset - differences - 1) as usize..(offset + differences + 2) as usize;
        kept.push(reached[band].to_vec());
        for k in (-differences..=differences).step_by(2) {
            let (below, above) = (reached[(k - 1 + offset) as usize], reached[(k + 1 + offset) as usize]);
            let down = k == -differences || (k != differences && below < above);
            let mut x = if down { above } else { below + 1 };
            let mut y = (x as isize - k) as usize;
            while x < a.len() && y < b.len() && a[x] == b[y] {
                (x, y) = (x + 1, y + 1);
            }
            reached[(k + offset) as usize] = x;
            if x >= a.len() && y >= b.len() {
                return back(&kept, a.len(), b.len());
            }
        }
    }
    Vec::new()
}

/// Goes back from the end, by what was reached before each difference.
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
    use super::common;

    /// Oracle: the table of all prefixes.
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
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..500 {
            let kinds = random(6) + 1;
            let mut list = || (0..random(20)).map(|_| random(kinds) as u32).collect::<Vec<_>>();
            let (a, b) = (list(), list());
            let pairs = common(&a, &b);
            assert_eq!(pairs.len(), longest(&a, &b), "{a:?} {b:?} {pairs:?}");
            assert!(pairs.iter().all(|(x, y)| a[*x] == b[*y]));
            assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1), "{pairs:?}");
        }
        assert!(common(&[], &[1]).is_empty());
    }
}
