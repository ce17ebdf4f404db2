//! Names that somebody may have meant.

/// The longest text that is compared. The work grows with the product of two lengths, and no name a person mistypes is
/// longer.
const MAX_COMPARED: usize = 64;

/// The candidates nearest to `wanted`, at most `count`, nearest first; ties in the order given. Only those near enough to
/// be a mistake: a third of the letters may differ, or one name is the beginning or a part of the other.
pub(crate) fn nearest<'a>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    let wanted = fold(wanted);
    let bound = (wanted.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates {
        let folded = fold(candidate);
        let Some(distance) = near(&wanted, &folded, bound) else { continue };
        let at = found.partition_point(|(known, _)| *known <= distance);
        if at < count && !found.iter().any(|(_, known)| *known == candidate) {
            found.insert(at, (distance, candidate));
            found.truncate(count);
        }
    }
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).filter(|c| *c != '_' && *c != '-').take(MAX_COMPARED).collect()
}

fn near(wanted: &str, candidate: &str, bound: usize) -> Option<usize> {
    if wanted.is_empty() || candidate.is_empty() {
        return None;
    }
    let lengths = [wanted, candidate].map(|text| text.chars().count());
    let longer = lengths[0].abs_diff(lengths[1]);
    // Names that are too far apart in length need no comparison: there may be ten thousand of them.
    let distance = if longer > bound { longer } else { strsim::osa_distance(wanted, candidate) };
    if distance <= bound {
        return Some(distance);
    }
    // `pdf` for `pdf-processing`: worse than any slip of the finger, better than nothing.
    let (short, long) = if lengths[0] < lengths[1] { (wanted, candidate) } else { (candidate, wanted) };
    let part = lengths[0].min(lengths[1]) >= 3 && long.contains(short);
    part.then_some(bound + longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_finger_are_found() {
        let names = ["deploy", "deploy-web", "review-pr", "pdf-processing", "Deploy", "x"];
        let table: &[(&str, &[&str])] = &[
            ("deplyo", &["deploy", "Deploy"]),
            ("DEPLOY", &["deploy", "Deploy", "deploy-web"]),
            ("review_pr", &["review-pr"]),
            ("reviewpr", &["review-pr"]),
            ("pdf", &["pdf-processing"]),
            ("zzzzzz", &[]),
            ("", &[]),
        ];
        for (wanted, expected) in table {
            assert_eq!(&nearest(wanted, names, 3), expected, "{wanted}");
        }
    }

    #[test]
    fn a_swap_of_two_letters_counts_once() {
        for (a, b, expected) in [
            ("abc", "abc", Some(0)),
            ("abc", "acb", Some(1)),
            ("abc", "abcd", Some(1)),
            ("aaaa", "bbbb", None),
        ] {
            assert_eq!(near(a, b, 1), expected, "{a} {b}");
        }
    }
}
