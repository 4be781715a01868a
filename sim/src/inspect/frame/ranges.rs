//! Sets of addresses.

use std::collections::BTreeMap;

/// A set of addresses, stored as ranges that neither overlap nor touch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranges {
    /// The end of each range, which is exclusive, by its start.
    ends: BTreeMap<u64, u64>,
    /// Number of addresses.
    bytes: u64,
}

impl Ranges {
    /// Adds the addresses from `start` up to, and not including, `end`.
    pub fn add(&mut self, mut start: u64, mut end: u64) {
        if start >= end {
            return;
        }
        if let Some((&first, &last)) = self.ends.range(..=start).next_back()
            && last >= start
        {
            if last >= end {
                return;
            }
            start = first;
        }
        while let Some((&first, &last)) = self.ends.range(start..=end).next() {
            self.ends.remove(&first);
            self.bytes -= last - first;
            end = end.max(last);
        }
        self.ends.insert(start, end);
        self.bytes += end - start;
    }

    /// Number of addresses.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The ranges in order: start and end, which is exclusive.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ends.iter().map(|(start, end)| (*start, *end))
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;
    use genxml_testkit::Random;

    #[test]
    fn neighbours_are_joined() {
        let mut ranges = Ranges::default();
        for (start, end) in [(10, 20), (30, 40), (20, 25), (5, 5), (50, 60), (24, 30), (52, 58)] {
            ranges.add(start, end);
        }
        assert_eq!(ranges.iter().collect::<Vec<_>>(), [(10, 40), (50, 60)]);
        assert_eq!(ranges.bytes(), 40);
    }

    /// Oracle: an array of flags.
    #[test]
    fn any_order() {
        let mut random = Random::new(7);
        for _ in 0..200 {
            let (mut ranges, mut flags) = (Ranges::default(), [false; 70]);
            for _ in 0..random.bits() % 30 {
                let start = random.bits() as usize % 64;
                let end = start + random.bits() as usize % 6;
                ranges.add(start as u64, end as u64);
                flags[start..end].fill(true);
            }
            let mut found = [false; 70];
            for (start, end) in ranges.iter() {
                assert!(
                    start < end
                        && !found[..end as usize + 1].iter().skip(start as usize).any(|f| *f)
                );
                assert!(start == 0 || !found[start as usize - 1], "the ranges touch");
                found[start as usize..end as usize].fill(true);
            }
            assert_eq!(found, flags);
            assert_eq!(ranges.bytes(), flags.iter().filter(|flag| **flag).count() as u64);
        }
    }
}
