//! Words that say nothing about what a request is about.

/// Function words, and the words with which people wrap a request. Forms are as the tokenizer gives them: in lower case,
/// the apostrophe gone, before endings are taken off. Sorted, for binary search.
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
    // Every word of a skill is asked for, so the table is one of numbers, and most words are too long for it.
    word.len() <= 8 && NUMBERS.binary_search(&number(word)).is_ok()
}

/// The words as numbers, which sort as they do.
const NUMBERS: [u64; WORDS.len()] = {
    let mut numbers = [0; WORDS.len()];
    let mut at = 0;
    while at < WORDS.len() {
        numbers[at] = number(WORDS[at].as_bytes());
        at += 1;
    }
    numbers
};

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
    fn the_table_is_sorted() {
        assert!(super::WORDS.is_sorted() && super::NUMBERS.is_sorted());
        assert!(super::WORDS.iter().all(|word| word.len() <= 8));
    }

    #[test]
    fn wrapping_is_told_from_what_is_wrapped() {
        let request = "could you please help me review this contract";
        let left: Vec<_> = request.split(' ').filter(|word| !is_stop_word(word.as_bytes())).collect();
        assert_eq!(left, ["review", "contract"]);
    }
}
