//! Random numbers from a fixed seed.

/// A generator of random numbers. The same seed gives the same numbers in every run, unless the
/// environment variable `GENXML_SEED` holds a number: it is added to every seed.
///
/// A test that panics prints the seeds of its generators.
#[derive(Debug)]
pub struct Random {
    numbers: fastrand::Rng,
    seed: u64,
}

impl Random {
    /// A generator that starts from a number.
    ///
    /// # Panics
    /// If `GENXML_SEED` is set and is not a number.
    pub fn new(seed: u64) -> Random {
        let added = std::env::var("GENXML_SEED").map_or(0, |text| {
            text.parse().unwrap_or_else(|_| panic!("GENXML_SEED: `{text}` is not a number"))
        });
        Random { numbers: fastrand::Rng::with_seed(seed.wrapping_add(added)), seed }
    }

    /// A generator that starts from a text, for example a container's name.
    pub fn of(text: &str) -> Random {
        // FNV-1a.
        Random::new(text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        }))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.numbers.u64(..)
    }

    /// A number below `end`.
    ///
    /// # Panics
    /// If `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.numbers.u64(0..end)
    }

    /// An index of a list of `length` elements.
    ///
    /// # Panics
    /// If `length` is 0.
    pub fn index(&mut self, length: usize) -> usize {
        self.numbers.usize(0..length)
    }

    /// True with a probability of 1 in `count`.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.index(count) == 0
    }

    /// One element of a list.
    ///
    /// # Panics
    /// If the list is empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.index(list.len())]
    }

    /// `count` random bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.numbers.fill(&mut bytes);
        bytes
    }

    /// `count` random dwords.
    pub fn dwords(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.numbers.u32(..)).collect()
    }
}

impl Drop for Random {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let added = std::env::var("GENXML_SEED");
            let added = added.map_or(String::new(), |added| format!(" with GENXML_SEED={added}"));
            eprintln!("random numbers: seed {:#x}{added}", self.seed);
        }
    }
}
