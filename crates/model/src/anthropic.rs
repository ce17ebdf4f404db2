//! Messages, Anthropic's protocol.

mod body;
mod decoder;

pub(crate) use body::body;
pub(crate) use decoder::AnthropicDecoder;
