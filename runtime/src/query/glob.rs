//! Patterns of names.

use std::fmt;

/// A pattern for names: `*` matches any text, `?` any character; case is ignored.
///
/// ```
/// use genxml::query::Glob;
/// let states = Glob::new("3dstate_*");
/// assert!(states.matches("3DSTATE_PS") && !states.matches("MI_NOOP"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// A pattern; every text is valid.
    pub fn new(pattern: &str) -> Glob {
        Glob(pattern.to_owned())
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if the pattern has a `*` or `?`, so that it can match more than one name.
    pub fn is_wild(&self) -> bool {
        self.0.contains(['*', '?'])
    }

    /// True if the pattern matches all of `name`.
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut p, mut n) = (0, 0);
        // The last star: the position after it in the pattern, and the end of the text that it
        // matches so far.
        let mut star: Option<(usize, usize)> = None;
        while n < name.len() {
            match (pattern.get(p), star) {
                (Some(b'*'), _) => {
                    star = Some((p + 1, n));
                    p += 1;
                }
                (Some(one), _) if *one == b'?' || one.eq_ignore_ascii_case(&name[n]) => {
                    (p, n) = (p + 1, n + 1);
                }
                (_, Some((after, until))) => {
                    star = Some((after, until + 1));
                    (p, n) = (after, until + 1);
                }
                _ => return false,
            }
        }
        pattern[p..].iter().all(|rest| *rest == b'*')
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;
    use genxml_testkit::Random;

    /// Oracle: the definition, by trying every split.
    fn by_definition(pattern: &[u8], name: &[u8]) -> bool {
        match pattern {
            [] => name.is_empty(),
            [b'*', rest @ ..] => (0..=name.len()).any(|at| by_definition(rest, &name[at..])),
            [b'?', rest @ ..] => !name.is_empty() && by_definition(rest, &name[1..]),
            [one, rest @ ..] => {
                name.first().is_some_and(|first| first.eq_ignore_ascii_case(one))
                    && by_definition(rest, &name[1..])
            }
        }
    }

    #[test]
    fn as_the_definition_says() {
        let mut random = Random::new(1);
        let (mut yes, mut no) = (0, 0);
        for _ in 0..20_000 {
            let pattern: String =
                (0..random.below(6)).map(|_| ['a', 'B', '*', '?'][random.index(4)]).collect();
            let name: String = (0..random.below(7)).map(|_| ['A', 'b'][random.index(2)]).collect();
            let expected = by_definition(pattern.as_bytes(), name.as_bytes());
            assert_eq!(Glob::new(&pattern).matches(&name), expected, "{pattern} {name}");
            *(if expected { &mut yes } else { &mut no }) += 1;
        }
        assert!(yes > 1000 && no > 1000);
    }
}
