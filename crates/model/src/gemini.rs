//! `streamGenerateContent`, Google's protocol.

mod body;
mod decoder;
mod schema;

pub(crate) use body::{body, path_segment};
pub(crate) use decoder::GeminiDecoder;
