//! The configuration's tables of models and providers as metier-model takes them.
//!
//! The catalogue reads them with lines and columns; metier-model can be used without a configuration, so neither knows the
//! other. Every field is named here: one that is added to either side does not compile until it is passed on.

use metier_catalog::{EffortConfig, ProtocolConfig, ToolCalls};
use metier_model::{Effort, ModelConfig, PriceConfig, Protocol, ProviderConfig, ToolSupport};

/// `[models.NAME]`
pub(super) fn model(read: &metier_catalog::ModelConfig) -> ModelConfig {
    let metier_catalog::ModelConfig { model, context, max_output, effort, tools, price } = read;
    let effort = effort.map(|effort| match effort {
        EffortConfig::Low => Effort::Low,
        EffortConfig::Medium => Effort::Medium,
        EffortConfig::High => Effort::High,
        EffortConfig::Tokens(tokens) => Effort::Tokens(tokens),
    });
    let tools = match tools {
        ToolCalls::Native => ToolSupport::Native,
        ToolCalls::Constrained => ToolSupport::Constrained,
    };
    ModelConfig {
        model: model.clone(),
        context: *context,
        max_output: *max_output,
        effort,
        tools,
        price: price.as_ref().map(prices),
    }
}

fn prices(read: &metier_catalog::PriceConfig) -> PriceConfig {
    let metier_catalog::PriceConfig { input, output, cache_read, cache_write } = read;
    PriceConfig {
        input: input.as_str().to_owned(),
        output: output.as_str().to_owned(),
        cache_read: cache_read.as_ref().map(|amount| amount.as_str().to_owned()),
        cache_write: cache_write.as_ref().map(|amount| amount.as_str().to_owned()),
    }
}

/// `[providers.NAME]`
pub(super) fn provider(read: &metier_catalog::ProviderConfig) -> ProviderConfig {
    let metier_catalog::ProviderConfig {
        protocol,
        base_url,
        key_env,
        headers,
        header_env,
        proxy,
        plain_http,
        connect_seconds,
        first_byte_seconds,
        between_bytes_seconds,
    } = read;
    let protocol = protocol.map(|protocol| match protocol {
        ProtocolConfig::OpenAi => Protocol::OpenAi,
        ProtocolConfig::Anthropic => Protocol::Anthropic,
        ProtocolConfig::Gemini => Protocol::Gemini,
    });
    ProviderConfig {
        protocol,
        base_url: base_url.clone(),
        key_env: key_env.clone(),
        headers: headers.clone(),
        header_env: header_env.clone(),
        proxy: proxy.clone(),
        plain_http: *plain_http,
        connect_seconds: *connect_seconds,
        first_byte_seconds: *first_byte_seconds,
        between_bytes_seconds: *between_bytes_seconds,
    }
}
