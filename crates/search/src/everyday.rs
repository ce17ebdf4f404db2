//! Words that skills use whatever they are about. They are content words, and tell one skill from another all the same as
//! little as function words do.
//!
//! Rarity finds them by itself among a hundred skills. Among five it cannot, since there every word is rare; hence the lists.

use crate::term::Term;
use crate::words::words;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Words with which a description says when a skill is to be used, not for what.
const WRAPPING: &str = "across also always ask based cover etc include involve invoke mention must provide relate request require \
    say skill specific support task trigger user via within without work";

/// Words that stand in the text of at least a sixth of 2,039 public skills outside their code, and their like.
const EVERYDAY: &str = "above access act action active add advanced against agent already always analysis answer anti api apply \
    approach architecture area artifact ask assistant audience auto available avoid back background based bash \
    basic become before behavior below best between block both break brief build bullet button call capture \
    care carry case change check checklist choose claim claude clean clear cli close code collect column com \
    combine come command comment common compare complete comprehensive concept concern concrete condition \
    config configuration confirm consider consideration consistent contain content context control copy core \
    correct cost could count cover create critical cross current custom data date day decide decision deep \
    default define deliver depend describe description design detail detect different direct directory \
    discover display doc document documentation domain don down draft during early edge edit effect either \
    element else end enough ensure entire entry environment error etc evidence exact example exclude execute \
    execution exist expect expert explain explicit external extra extract fact fail failure false fast feature \
    fetch few field figure file fill final find first fit fix flag flow focus folder follow form format found \
    four framework free fresh full function future gap gather general generate goal good group guide guideline \
    handle handler happen hard header heading helper here high history hold host http https idea identify \
    image immediate implement implementation important improve include index info inform information initial \
    inline input insert inside install instance instead instruction integration intent interface internal \
    issue item json judge keep key kind label language large last later layer lead learn least leave left less \
    level library light limit line link list live load local log logic long look loop low main major \
    management manager manual map mapping mark markdown match matter maximum may mean medium mention message \
    metadata method might minimum minor minute missing mode model move multi multiple must name natural \
    necessary never next non none normal notable note number object often old once one open operation option \
    optional order organize original otherwise outcome output outside overall overview owner page pair \
    paragraph parameter parse part pass path pattern per perform performance phase phrase pick piece place \
    placeholder plan platform point position possible practice pre prefer prefix prepare present preserve \
    prevent previous primary principle print prior priority problem proceed process produce product production \
    project prompt propose provide purpose put python quality question quick quote range rather raw reach read \
    ready real reason receive recommend record recurring reduce refer reference relate relevant remain \
    remember remove repeat replace report request require requirement research resource respond response rest \
    result return review right risk role root rule run safe sample save scan scope score script search second \
    section security see select self send sentence separate server service session set setup several share \
    short sign signal similar simple since single size skill skip small solution something sometime source \
    space specific specify split stage standard start state statement status stay step stop store strategy \
    string strong structure style sub subject success suggest suite summary support surface system table take \
    target task team template term test text theme third three time title together tone tool toolkit top topic \
    total track trigger true try turn two type typical under understand unique unit unknown unless until \
    update usage user valid validate value various verify version via view warning weak week whether whole \
    within without word work workflow world write wrong year yourself zero";

/// The words of a list, as the index knows them.
fn terms(list: &str) -> HashSet<Term> {
    let mut terms = HashSet::new();
    words(list, |word| {
        terms.insert(word.term);
    });
    terms
}

/// The words that only wrap a trigger.
pub(crate) fn wrapping() -> &'static HashSet<Term> {
    static TERMS: LazyLock<HashSet<Term>> = LazyLock::new(|| terms(WRAPPING));
    &TERMS
}

/// The words of every second text.
pub(crate) fn everyday() -> &'static HashSet<Term> {
    static TERMS: LazyLock<HashSet<Term>> = LazyLock::new(|| terms(EVERYDAY));
    &TERMS
}

#[cfg(test)]
mod tests {
    use super::{everyday, wrapping};
    use crate::words::words;

    fn check(text: &str, is_everyday: bool) {
        let known = everyday();
        words(text, |word| assert_eq!(known.contains(&word.term), is_everyday, "{}", word.written));
    }

    #[test]
    fn forms_of_an_everyday_word_are_everyday_and_the_words_of_a_trade_are_not() {
        check("Outputs checking generated reviews explicitly", true);
        check("invoice postgres podcast accessibility", false);
    }

    #[test]
    fn what_wraps_a_trigger_is_told_from_what_it_is_about() {
        let known = wrapping();
        let mut left = Vec::new();
        words("user asks mentions invoices", |word| {
            left.extend((!known.contains(&word.term)).then_some(word.written));
        });
        assert_eq!(left, ["invoices"]);
    }
}
