//! Words that say nothing about what a request is about.

/// Function words, and the words with which people wrap a request. Forms are as the tokenizer gives them: in lower case,
/// the apostrophe gone, before endings are taken off. Sorted, for whoever reads them.
const WORDS: [&str; 186] = [
    "a", "about", "actually", "after", "again", "all", "also", "am", "an", "and", "another", "any", "are",
    "arent", "as", "at", "be", "because", "been", "before", "being", "but", "by", "can", "cant", "could",
    "d", "did", "didnt", "do", "does", "doesnt", "doing", "done", "dont", "each", "even", "every", "for",
    "from", "get", "gets", "getting", "give", "go", "going", "got", "had", "has", "have", "having", "he",
    "hello", "help", "her", "here", "hers", "hey", "hi", "him", "his", "hmm", "how", "i", "id", "if", "ill",
    "im", "in", "into", "is", "isnt", "it", "its", "ive", "just", "know", "let", "lets", "like", "ll", "m",
    "make", "many", "maybe", "me", "mine", "more", "most", "much", "my", "need", "needs", "new", "no", "not",
    "now", "of", "ok", "okay", "on", "only", "or", "other", "our", "ours", "out", "over", "own", "please",
    "pls", "plz", "re", "really", "s", "same", "she", "should", "show", "so", "some", "still", "such",
    "sure", "t", "tell", "than", "thank", "thanks", "that", "thats", "the", "their", "them", "then", "there",
    "these", "they", "theyre", "thing", "things", "think", "this", "those", "through", "to", "too", "uh",
    "um", "up", "us", "use", "used", "using", "ve", "very", "want", "wants", "was", "way", "we", "were",
    "weve", "what", "whats", "when", "where", "which", "while", "who", "whom", "whose", "why", "will",
    "with", "wont", "would", "yes", "you", "youd", "youll", "your", "youre", "yours", "youve", "yup",
];

/// Whether a word in lower case is one of them.
pub(crate) fn is_stop_word(word: &[u8]) -> bool {
    // Every word of a library is asked for: a look at one or two slots, and most words are too long even for that.
    if word.len() > 8 {
        return false;
    }
    let number = number(word);
    let mut at = slot(number);
    while SLOTS[at] != 0 {
        if SLOTS[at] == number {
            return true;
        }
        at = (at + 1) % SLOTS.len();
    }
    false
}

/// The words as numbers, each in its slot or the next free one behind it. Two of three slots are free, so that a search ends soon.
const SLOTS: [u64; 512] = {
    let mut slots = [0; 512];
    let mut word = 0;
    while word < WORDS.len() {
        let number = number(WORDS[word].as_bytes());
        let mut at = slot(number);
        while slots[at] != 0 {
            at = (at + 1) % slots.len();
        }
        slots[at] = number;
        word += 1;
    }
    slots
};

/// Where a number belongs: the upper nine bits of a product with the golden ratio.
const fn slot(number: u64) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize
}

/// Up to eight bytes as a number, the first byte the heaviest.
const fn number(word: &[u8]) -> u64 {
    let (mut number, mut at) = (0, 0);
    while at < 8 {
        let byte = if at < word.len() { word[at] } else { 0 };
        number = number << 8 | byte as u64;
        at += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::is_stop_word;

    #[test]
    fn every_word_of_the_table_is_found_and_none_is_there_twice() {
        assert!(super::WORDS.is_sorted() && super::WORDS.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(super::WORDS.iter().all(|word| word.len() <= 8 && is_stop_word(word.as_bytes())));
        assert!(!is_stop_word(b"") && !is_stop_word(b"contract"));
    }

    #[test]
    fn wrapping_is_told_from_what_is_wrapped() {
        let request = "could you please help me review this contract";
        let left: Vec<_> = request.split(' ').filter(|word| !is_stop_word(word.as_bytes())).collect();
        assert_eq!(left, ["review", "contract"]);
    }
}
