//! L4: `serve` survives slow and half-open clients.
