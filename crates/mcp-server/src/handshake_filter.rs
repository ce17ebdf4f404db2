//! Drops messages that arrive before the handshake, except requests.
//!
//! A connection begins with `initialize`, or with the first request that carries its own metadata. The SDK closes the connection on any
//! other message before that. But the older revision allows notifications at any time, and a client may cancel its `server/discover`. With
//! this filter such a client loses the notification and not the connection.

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta, ProtocolVersion};
use rmcp::transport::Transport;

/// A transport that only passes requests until the handshake.
pub(crate) struct HandshakeFilter<T> {
    transport: T,
    has_begun: bool,
}

impl<T> HandshakeFilter<T> {
    pub(crate) fn new(transport: T) -> Self {
        Self { transport, has_begun: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for HandshakeFilter<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: rmcp::service::TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.transport.receive().await?;
            match &message {
                _ if self.has_begun => return Some(message),
                ClientJsonRpcMessage::Request(request) => {
                    self.has_begun = begins(&request.request);
                    return Some(message);
                }
                // The server has sent no request yet, so a response has no receiver and a notification no meaning.
                _ => {}
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}

/// Whether the SDK treats this request as the start of the connection.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty(),
    }
}
