//! What holds for any texts: shared with the fuzz target `search`.

use metier_search::{Desk, Index, Key, Leaf, Lists, Ranking, Request, Segment, SkillText};

/// Skills of any text, asked for anything: ranks are the same however the skills came into the index, a score is a number, every skill is
/// given once, and reasons name places of the text.
pub(crate) fn holds(bodies: &[&str], request: &str) {
    let texts: Vec<SkillText<'_>> = bodies.iter().map(|body| text(body)).collect();
    let leaf = |at: usize| Leaf::new(Key([u8::try_from(at).unwrap_or(u8::MAX); 16]), &texts[at]);
    let all = || (0..texts.len()).map(leaf);
    let asked = Request::new(request);
    let mut desk = Desk::default();
    let at_once = Index::new(vec![Segment::new(all().collect())]);
    let expected = at_once.rank(&asked, texts.len(), &mut desk);

    // One by one, with the first of them added, buried and added again.
    let mut by_and_by = Index::new(vec![Segment::new(all().collect())]);
    by_and_by.bury(|_| true);
    for leaf in all() {
        by_and_by.push(Segment::new(vec![leaf]));
    }
    same(&by_and_by.rank(&asked, texts.len(), &mut desk), &expected);
    let merged = by_and_by.merged();
    let (bytes, lists) = merged.to_bytes();
    let back = Segment::from_bytes(&bytes, Lists::Here(lists.to_vec()));
    assert_eq!(back.as_ref(), Ok(&merged), "what was written is read");
    same(&Index::new(back.into_iter().collect()).rank(&asked, texts.len(), &mut desk), &expected);

    let mut seen = Vec::new();
    for hit in &expected.hits {
        assert!(hit.score.is_finite() && hit.score >= 0.0, "{}", hit.score);
        assert!((0.0..=1.001).contains(&hit.parts.covered), "{}", hit.parts.covered);
        seen.push(hit.key);
        seen.extend(&hit.copies);
        let text = &texts[usize::from(hit.key.0[0])];
        let reasons = at_once.reasons(&asked, text);
        assert!(reasons.words.iter().all(|reason| !reason.places.is_empty()));
        assert!(
            reasons
                .against
                .is_none_or(|against| text.body.contains(&against) || text.description.contains(&against))
        );
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count, "every skill is given once");
    assert!(expected.hits.is_sorted_by(|one, next| one.score >= next.score));
}

/// The first line is the description, what follows the body.
fn text(whole: &str) -> SkillText<'_> {
    let (description, body) = whole.split_once('\n').unwrap_or((whole, ""));
    SkillText { name: "skill", description, body, ..SkillText::default() }
}

fn same(one: &Ranking, other: &Ranking) {
    let plain = |ranking: &Ranking| {
        ranking.hits.iter().map(|hit| (hit.key, hit.score.to_bits(), hit.copies.clone())).collect::<Vec<_>>()
    };
    assert_eq!(plain(one), plain(other));
    assert_eq!(one.abstain, other.abstain);
}
