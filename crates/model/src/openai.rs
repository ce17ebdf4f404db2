//! Chat completions, as `OpenAI` began them and most servers have them.

mod body;
mod decoder;

pub(crate) use body::body;
pub(crate) use decoder::OpenAiDecoder;
