//! Why a skill fits a request, or does not: which words, where, and what is held against it.

use crate::anatomy::{Place, Reader, SkillText, take_apart};
use crate::index::Index;
use crate::lexicon::Lexicon;
use crate::request::Request;
use crate::term::Term;
use crate::words::{Load, Word};

/// Why a skill has its rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasons {
    /// Words of the request that it has, the heaviest first.
    pub words: Vec<Reason>,
    /// Words of the request that it does not have, the heaviest first.
    pub missing: Vec<String>,
    /// The sentence that says most plainly that it is not for this.
    pub against: Option<String>,
}

/// One word of the request.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// As the request writes it.
    pub word: String,
    /// How much it tells among these skills.
    pub weight: f32,
    /// Where the skill has it, in the order of their weight.
    pub places: Vec<Place>,
}

impl Index {
    /// Says why a skill has its rank. It is given its text again, since an index keeps no words.
    pub fn reasons(&self, request: &Request, skill: &SkillText<'_>) -> Reasons {
        let weights: Vec<f32> = request.words.iter().map(|asked| self.weight(asked)).collect();
        let mut finder = Finder {
            request,
            weights: &weights,
            places: vec![Vec::new(); weights.len()],
            best: None,
            open: None,
        };
        take_apart(skill, &mut Lexicon::default(), &mut finder);
        finder.close();
        let Finder { places, best, .. } = finder;
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|one, other| weights[*other].total_cmp(&weights[*one]));
        let mut reasons =
            Reasons { against: best.map(|(_, sentence)| sentence.trim().to_owned()), ..Reasons::default() };
        for at in order {
            let asked = &request.words[at];
            if places[at].is_empty() {
                if asked.load == Load::Content {
                    reasons.missing.push(asked.written.clone());
                }
                continue;
            }
            let mut places = places[at].clone();
            places.sort_unstable();
            reasons.words.push(Reason { word: asked.written.clone(), weight: weights[at], places });
        }
        reasons
    }
}

struct Finder<'a, 'r> {
    request: &'r Request,
    weights: &'r [f32],
    places: Vec<Vec<Place>>,
    /// The sentence against that meets the request best.
    best: Option<(f32, &'a str)>,
    /// The sentence against that is being read, with the words of the request that it met.
    open: Option<(&'a str, Vec<usize>)>,
}

impl Finder<'_, '_> {
    fn asked(&self, term: Term) -> Option<usize> {
        self.request.words.iter().position(|asked| asked.term == term)
    }

    fn close(&mut self) {
        if let Some((sentence, met)) = self.open.take() {
            let weight: f32 = met.iter().map(|at| self.weights[*at]).sum();
            if weight > self.best.map_or(0.0, |(most, _)| most) {
                self.best = Some((weight, sentence));
            }
        }
    }
}

impl<'a> Reader<'a> for Finder<'a, '_> {
    fn word(&mut self, place: Place, word: Word<'a>) {
        let Some(at) = self.asked(word.term) else { return };
        if !self.places[at].contains(&place) {
            self.places[at].push(place);
        }
        if place == Place::Against
            && let Some((_, met)) = &mut self.open
            && !met.contains(&at)
        {
            met.push(at);
        }
    }

    fn sentence_against(&mut self, sentence: &'a str) {
        self.close();
        self.open = Some((sentence, Vec::new()));
    }
}

#[cfg(test)]
mod tests {
    use crate::{Index, Key, Leaf, Place, Request, Segment, SkillText};

    #[test]
    fn words_places_and_what_is_held_against_it_are_told() {
        let description = "Reviews contracts. Not for tax returns.";
        let skill = SkillText {
            name: "contract-review",
            description,
            body: "Read the contract.",
            ..SkillText::default()
        };
        let other = SkillText { name: "other", description: "Something.", ..SkillText::default() };
        let leaves = vec![Leaf::new(Key([1; 16]), &skill), Leaf::new(Key([2; 16]), &other)];
        let index = Index::new(vec![Segment::new(leaves)]);
        let request = Request::new("review the contract with the tax returns of my aunt");
        let reasons = index.reasons(&request, &skill);

        let told: Vec<_> =
            reasons.words.iter().map(|reason| (reason.word.as_str(), reason.places.clone())).collect();
        assert!(told.contains(&("contract", vec![Place::Name, Place::Description, Place::Body])), "{told:?}");
        assert!(told.contains(&("tax", vec![Place::Against])), "{told:?}");
        assert_eq!(reasons.missing, ["aunt"]);
        assert_eq!(reasons.against.as_deref(), Some("tax returns."));
    }
    #[test]
    fn a_body_is_held_against_it_too() {
        let skill = SkillText {
            name: "tax",
            description: "Computes tax.",
            body: "\nNot for PDF forms.\n",
            ..SkillText::default()
        };
        let index = Index::new(vec![Segment::new(vec![Leaf::new(Key([1; 16]), &skill)])]);
        let reasons = index.reasons(&Request::new("the tax of a pdf form"), &skill);
        assert_eq!(reasons.against.as_deref(), Some("PDF forms."));
    }
}
