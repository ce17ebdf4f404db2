//! Names that somebody may have meant.

/// The longest text that is compared. The work grows with the product of two lengths, and no name a person mistypes is
/// longer.
const LONGEST: usize = 64;

/// The candidates nearest to `wanted`, at most `count`, nearest first; ties in the order given. Only those near enough to
/// be a mistake: a third of the letters may differ, or one name is the beginning or a part of the other.
pub(crate) fn nearest<'a>(
    wanted: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    let wanted = fold(wanted);
    let bound = (wanted.len() / 3).max(1);
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

fn fold(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).filter(|c| *c != '_' && *c != '-').take(LONGEST).collect()
}

fn near(wanted: &[char], candidate: &[char], bound: usize) -> Option<usize> {
    if wanted.is_empty() || candidate.is_empty() {
        return None;
    }
    let distance = distance(wanted, candidate, bound);
    if distance <= bound {
        return Some(distance);
    }
    // `pdf` for `pdf-processing`: worse than any slip of the finger, better than nothing.
    let (short, long) =
        if wanted.len() < candidate.len() { (wanted, candidate) } else { (candidate, wanted) };
    let part = short.len() >= 3 && long.windows(short.len()).any(|window| window == short);
    part.then(|| bound + long.len() - short.len())
}

/// How many letters must be put in, taken out, exchanged or swapped with their neighbour; more than `bound` is `bound + 1`.
fn distance(a: &[char], b: &[char], bound: usize) -> usize {
    if a.len().abs_diff(b.len()) > bound {
        return bound + 1;
    }
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (row, from) in a.iter().enumerate() {
        let mut current = Vec::with_capacity(b.len() + 1);
        current.push(row + 1);
        for (column, to) in b.iter().enumerate() {
            let exchanged = above[column] + usize::from(from != to);
            let mut best = exchanged.min(above[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && *from == b[column - 1] && a[row - 1] == *to {
                best = best.min(before[column - 1] + 1);
            }
            current.push(best);
        }
        if current.iter().all(|cost| *cost > bound) {
            return bound + 1;
        }
        before = std::mem::replace(&mut above, current);
    }
    above[b.len()]
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
    fn the_distance_counts_a_swap_once() {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        for (a, b, expected) in [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "abcd", 1), ("abc", "xyz", 3)]
        {
            assert_eq!(distance(&letters(a), &letters(b), 5), expected, "{a} {b}");
        }
        assert_eq!(distance(&letters("aaaa"), &letters("bbbb"), 2), 3);
    }
}
