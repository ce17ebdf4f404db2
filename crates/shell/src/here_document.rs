//! Here-documents: what ends them, and how far they reach.

/// A here-document whose text begins with the next line.
#[derive(Clone, Debug)]
pub(crate) struct HereDocument {
    delimiter: String,
    /// Nothing is expanded in it.
    pub(crate) is_literal: bool,
    /// `<<-`: tabs before the last line do not count.
    is_indented: bool,
}

impl HereDocument {
    /// Reads the delimiter that follows the operator `<<` or `<<-`; `None` where no word follows.
    pub(crate) fn read(operator: &str, behind: &str) -> Option<Self> {
        let mut delimiter = String::new();
        let (mut quote, mut is_literal) = (None, false);
        let mut characters = behind.trim_start_matches([' ', '\t']).chars();
        while let Some(c) = characters.next() {
            match (quote, c) {
                (_, '\n') | (None, ' ' | '\t' | '\r' | ';' | '&' | '|' | '<' | '>' | '(' | ')') => break,
                (Some(open), _) if open == c => quote = None,
                (None, '\'' | '"') => (quote, is_literal) = (Some(c), true),
                (None | Some('"'), '\\') => {
                    is_literal = true;
                    delimiter.extend(characters.next());
                }
                _ => delimiter.push(c),
            }
        }
        let is_indented = operator.ends_with('-');
        (is_literal || !delimiter.is_empty()).then_some(Self { delimiter, is_literal, is_indented })
    }

    /// Where its text ends and where the line behind that ends, in bytes of `text`; without such a line it has all of it.
    pub(crate) fn extent(&self, text: &str) -> (usize, usize) {
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches(['\n', '\r']);
            let bare = if self.is_indented { bare.trim_start_matches('\t') } else { bare };
            if bare == self.delimiter {
                return (at, at + line.len());
            }
            at += line.len();
        }
        (at, at)
    }
}
