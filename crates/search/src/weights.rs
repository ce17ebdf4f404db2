//! The numbers of the ranking.
//!
//! They were fitted on author-written trigger requests over 2,077 public skills, by a listwise loss that gives every repository
//! its say, and judged on repositories that the fit had not seen: see docs/routing.md, which also says what was tried and
//! gave nothing.

/// How quickly a word's count is saturated, and how much a long skill is held back.
pub(crate) const WORD_SATURATION: f32 = 0.8;
pub(crate) const WORD_LENGTH: f32 = 0.3;

/// The same for pieces, which stand for short texts.
pub(crate) const PIECE_SATURATION: f32 = 1.2;
pub(crate) const PIECE_LENGTH: f32 = 0.75;

/// Pieces that a larger share of all skills has are passed over: it costs nothing at 0.3, a point of MRR at 0.1.
pub(crate) const PIECE_SHARE: f32 = 0.3;

/// What a pair of hiragana counts beside other pairs.
pub(crate) const ENDING: f32 = 0.3;

/// What a function word counts where a request has nothing else.
pub(crate) const FUNCTION: f32 = 0.1;

/// What a word counts that a request did not say, but whose short or long form it did.
pub(crate) const LEARNED: f32 = 0.5;

/// The parts of a score.
pub(crate) const WORDS: f32 = 0.145;
pub(crate) const PASSAGE: f32 = 0.19;
pub(crate) const PIECES: f32 = 0.039;
pub(crate) const COVERED: f32 = 2.95;
pub(crate) const COVERED_BY_HEAD: f32 = 2.95;
