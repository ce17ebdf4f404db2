//! How well the router chooses, on requests that authors wrote for their own skills.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use metier_search::{Desk, Index, Key, Leaf, Request, Segment, SkillText};

use crate::plain_bm25::PlainBm25;
use crate::routing_data::{Data, Query};

/// How much of a body the plain ranking sees.
const PLAIN_BODY: usize = 6_000;

/// Points of hit@1 above the plain ranking, hit@10, first among negatives, abstained among positives: what must hold, what is aimed at.
const LEAD: (f64, f64) = (0.06, 0.10);
const AT_10: (f64, f64) = (0.90, 0.95);
const NEGATIVES: f64 = 0.10;
const ABSTAINED: f64 = 0.05;

/// What a ranking did.
#[derive(Default)]
struct Figures {
    ranks: Vec<usize>,
    by_repository: BTreeMap<String, Vec<usize>>,
}

impl Figures {
    fn push(&mut self, query: &Query, rank: usize) {
        self.ranks.push(rank);
        self.by_repository.entry(query.repository().to_owned()).or_default().push(rank);
    }

    fn at(&self, most: usize) -> f64 {
        share(self.ranks.iter().filter(|rank| **rank <= most).count(), self.ranks.len())
    }

    #[expect(clippy::cast_precision_loss, reason = "ranks")]
    fn reciprocal(&self) -> f64 {
        self.ranks.iter().map(|rank| 1.0 / *rank as f64).sum::<f64>() / self.ranks.len().max(1) as f64
    }

    /// The mean over repositories, so that one with many requests does not decide.
    #[expect(clippy::cast_precision_loss, reason = "a few repositories")]
    fn at_by_repository(&self, most: usize) -> f64 {
        let all = self.by_repository.values();
        let sum: f64 =
            all.map(|ranks| share(ranks.iter().filter(|rank| **rank <= most).count(), ranks.len())).sum();
        sum / self.by_repository.len().max(1) as f64
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of requests")]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Measures and prints; says so where there is no data.
pub(crate) fn quality(folder: &Path) -> Result<()> {
    let Some(data) = Data::read(folder)? else {
        eprintln!("no routing data: quality is not measured");
        return Ok(());
    };
    let skills = Parsed::all(&data);
    let index = index(&skills);
    let plain = PlainBm25::new(&skills.iter().map(Parsed::plain).collect::<Vec<_>>());
    let mut desk = Desk::default();
    let same = |one: usize, other: usize| skills[one].body.trim() == skills[other].body.trim();

    let (mut ours, mut theirs, mut tasks, mut plain_tasks) =
        (Figures::default(), Figures::default(), Figures::default(), Figures::default());
    let (mut abstained, mut negatives, mut first, mut first_plain, mut first_at_all) = (0, 0, 0, 0, 0);
    for query in &data.queries {
        let Some(&gold) = data.places.get(&query.skill) else { continue };
        let ranking = index.rank(&Request::new(&query.query), skills.len(), &mut desk);
        let scores = plain.scores(&query.query);
        if !query.should_trigger {
            negatives += 1;
            let best = ranking.hits.first().is_some_and(|hit| same(place(hit.key), gold));
            first_at_all += usize::from(best);
            first += usize::from(best && ranking.abstain.is_none());
            first_plain += usize::from(best_of(&scores).is_some_and(|best| same(best, gold)));
            continue;
        }
        let at = ranking.hits.iter().position(|hit| same(place(hit.key), gold));
        let rank = at.map_or(skills.len(), |at| at + 1);
        let plain_rank = plain_rank(&scores, gold, &skills);
        if query.is_label() {
            abstained += usize::from(ranking.abstain.is_some());
            ours.push(query, rank);
            theirs.push(query, plain_rank);
        } else {
            tasks.push(query, rank);
            plain_tasks.push(query, plain_rank);
        }
    }
    println!(
        "routing: {} skills, {} requests written as triggers, {} as tasks, {negatives} near misses\n",
        skills.len(),
        ours.ranks.len(),
        tasks.ranks.len()
    );
    println!("{:<22} {:>7} {:>7} {:>7} {:>7} {:>16}", "", "hit@1", "hit@5", "hit@10", "MRR", "hit@1 by repo");
    for (name, figures) in [
        ("triggers, metier", &ours),
        ("triggers, plain BM25", &theirs),
        ("tasks, metier", &tasks),
        ("tasks, plain BM25", &plain_tasks),
    ] {
        println!(
            "{name:<22} {:>7.3} {:>7.3} {:>7.3} {:>7.3} {:>16.3}",
            figures.at(1),
            figures.at(5),
            figures.at(10),
            figures.reciprocal(),
            figures.at_by_repository(1)
        );
    }
    let (first, abstained) = (share(first, negatives), share(abstained, ours.ranks.len()));
    println!(
        "\nnear misses: the named skill first and not abstained {:.1} % (first at all {:.1} %, plain BM25 {:.1} %); \
         triggers abstained {:.1} %\n",
        first * 100.0,
        share(first_at_all, negatives) * 100.0,
        share(first_plain, negatives) * 100.0,
        abstained * 100.0
    );
    verdict("points above plain BM25 at 1", ours.at(1) - theirs.at(1), LEAD);
    verdict("hit@10", ours.at(10), AT_10);
    verdict("near misses first, below", NEGATIVES - first, (0.0, 0.0));
    verdict("triggers abstained, at most", ABSTAINED - abstained, (0.0, 0.0));
    Ok(())
}

fn verdict(what: &str, figure: f64, (limit, aim): (f64, f64)) {
    let word = if figure >= aim {
        "aim"
    } else if figure >= limit {
        "holds"
    } else {
        "MISSED"
    };
    println!("{what:<32} {figure:>7.3}  limit {limit:.2}, aim {aim:.2}  {word}");
}

/// A skill of the pool, parsed as metier parses it.
struct Parsed {
    name: String,
    title: String,
    description: String,
    when_to_use: String,
    tags: String,
    body: String,
}

impl Parsed {
    fn all(data: &Data) -> Vec<Self> {
        data.pool
            .iter()
            .map(|skill| {
                let folder = skill.path.rsplit('/').nth(1);
                let parsed = metier_skill::parse(skill.text.as_bytes(), folder);
                let Some(document) = parsed.document else { return Self::unparsed(folder, &skill.text) };
                let manifest = &document.manifest;
                Self {
                    name: manifest.name.to_string(),
                    title: manifest.title.clone().unwrap_or_default(),
                    description: manifest.description.text().to_owned(),
                    when_to_use: manifest
                        .when_to_use
                        .as_ref()
                        .map(|text| text.value.clone())
                        .unwrap_or_default(),
                    tags: manifest.more.tags.join(" "),
                    body: skill.text.get(document.body as usize..).unwrap_or_default().to_owned(),
                }
            })
            .collect()
    }

    fn unparsed(folder: Option<&str>, text: &str) -> Self {
        let (name, nothing) = (folder.unwrap_or_default().to_owned(), String::new);
        Self {
            name,
            title: nothing(),
            description: nothing(),
            when_to_use: nothing(),
            tags: nothing(),
            body: text.to_owned(),
        }
    }

    fn text(&self) -> SkillText<'_> {
        SkillText {
            name: &self.name,
            title: &self.title,
            description: &self.description,
            when_to_use: &self.when_to_use,
            tags: &self.tags,
            body: &self.body,
            scripts: "",
        }
    }

    fn plain(&self) -> String {
        let body: String = self.body.chars().take(PLAIN_BODY).collect();
        format!("{} {} {body}", self.name, self.description)
    }
}

fn key(place: usize) -> Key {
    Key((place as u128).to_be_bytes())
}

#[expect(clippy::cast_possible_truncation, reason = "places are small")]
fn place(key: Key) -> usize {
    u128::from_be_bytes(key.0) as usize
}

fn index(skills: &[Parsed]) -> Index {
    let leaves = skills.iter().enumerate().map(|(at, skill)| Leaf::new(key(at), &skill.text())).collect();
    Index::new(vec![Segment::new(leaves)])
}

fn best_of(scores: &[f64]) -> Option<usize> {
    let best =
        scores.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1).then(other.0.cmp(&one.0)))?;
    (*best.1 > 0.0).then_some(best.0)
}

/// The rank of a skill or of one with the same body; skills with one body count once.
fn plain_rank(scores: &[f64], gold: usize, skills: &[Parsed]) -> usize {
    let gold_body = skills[gold].body.trim();
    let best = (0..skills.len())
        .filter(|at| skills[*at].body.trim() == gold_body)
        .map(|at| scores[at])
        .fold(0.0, f64::max);
    if best <= 0.0 {
        return skills.len();
    }
    let above: std::collections::HashSet<&str> =
        (0..skills.len()).filter(|at| scores[*at] > best).map(|at| skills[at].body.trim()).collect();
    above.len() + 1
}
