use std::fmt;

/// The name a skill's document was found by: `SKILL.md`, or the same letters in other cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentName([u8; 8]);

impl DocumentName {
    /// What it should be.
    pub const CANONICAL: &str = "SKILL.md";

    /// The name that it should have.
    pub const fn canonical() -> Self {
        Self(*b"SKILL.md")
    }

    pub(crate) const fn lower_case() -> Self {
        Self(*b"skill.md")
    }

    /// Reads a file's name; `None` when it is another one.
    pub fn parse(name: &[u8]) -> Option<Self> {
        let name: [u8; 8] = name.try_into().ok()?;
        name.eq_ignore_ascii_case(Self::CANONICAL.as_bytes()).then_some(Self(name))
    }

    /// Takes `name` if it is a document's name and goes before what was found so far: `SKILL.md` first, then `skill.md`,
    /// then the others in order, so that the same folder always gives the same document.
    pub(crate) fn keep_better(best: &mut Option<Self>, name: &[u8]) {
        if let Some(found) = Self::parse(name)
            && best.is_none_or(|best| found.rank() < best.rank())
        {
            *best = Some(found);
        }
    }

    fn rank(self) -> (u8, [u8; 8]) {
        let class = match self {
            name if name == Self::canonical() => 0,
            name if name == Self::lower_case() => 1,
            _ => 2,
        };
        (class, self.0)
    }

    /// True for `SKILL.md` itself; anything else loads with a warning.
    pub fn is_canonical(self) -> bool {
        self == Self::canonical()
    }

    pub(crate) const fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        // All of it is ASCII, since it equals `SKILL.md` but for the case.
        str::from_utf8(&self.0).unwrap_or(Self::CANONICAL)
    }
}

impl fmt::Display for DocumentName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_name_wins_in_whatever_order_they_come() {
        let table: &[(&[&str], Option<&str>)] = &[
            (&["skill.md", "SKILL.md"], Some("SKILL.md")),
            (&["Skill.md", "skill.md"], Some("skill.md")),
            (&["SkILL.md", "Skill.md"], Some("SkILL.md")),
            (&["SKILL.MD"], Some("SKILL.MD")),
            (&["SKILL.txt", "skill.md.bak", "SKILL"], None),
        ];
        for (names, expected) in table {
            for backwards in [false, true] {
                let mut best = None;
                let mut names = names.to_vec();
                if backwards {
                    names.reverse();
                }
                for name in &names {
                    DocumentName::keep_better(&mut best, name.as_bytes());
                }
                assert_eq!(best.as_ref().map(DocumentName::as_str), *expected, "{names:?}");
            }
        }
    }
}
