//! What a client says before it has begun: only requests come through.
//!
//! A conversation begins with `initialize`, or with the first request that carries its own metadata. The SDK ends the connection over
//! whatever else comes before that. But the older revision lets notifications be sent at any time, and a client that asked
//! `server/discover` may take that back; whoever sends one too early loses the notification, not the server.

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetMeta, ProtocolVersion};
use rmcp::transport::Transport;

/// A connection at whose beginning only requests are heard.
pub(super) struct Threshold<T> {
    connection: T,
    has_begun: bool,
}

impl<T> Threshold<T> {
    pub(super) fn new(connection: T) -> Self {
        Self { connection, has_begun: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Threshold<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: rmcp::service::TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.connection.send(item)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.connection.receive().await?;
            match &message {
                _ if self.has_begun => return Some(message),
                ClientJsonRpcMessage::Request(request) => {
                    self.has_begun = begins(&request.request);
                    return Some(message);
                }
                // Nobody was asked anything yet, so an answer is to nothing, and there is nothing to be noted.
                _ => {}
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.connection.close()
    }
}

/// Whether the SDK takes this request for the beginning.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty(),
    }
}
