//! One connection: its requests in turn, each within its time.

use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::connections::{ConnectionLimits, ConnectionSlot, RequestInFlight};

/// How long a client gets to read why it is refused.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// The answer to a client above the limit.
const TOO_MANY: &str = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\n\
                        Content-Type: text/plain\r\nContent-Length: 62\r\n\r\n\
                        too many connections; close some, or raise --max-connections\r\n";

/// Answers requests until the client goes, the connection has to give way, or the server ends.
pub(crate) async fn serve(
    stream: TcpStream,
    slot: ConnectionSlot,
    router: Router,
    limits: ConnectionLimits,
    mut stopped: watch::Receiver<bool>,
) {
    // An answer of the older revision goes out in two pieces; without this the second waits until the first was acknowledged,
    // which takes 40 milliseconds. Where it cannot be set, answers are merely late.
    let _ = stream.set_nodelay(true);
    let router = TowerToHyperService::new(router);
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let in_flight = slot.request();
        let answer = router.call(request);
        async move {
            answer
                .await
                .map(|response: Response| response.map(|body| InFlight { body, _in_flight: in_flight }))
        }
    });
    let mut builder = http1::Builder::new();
    // The time for a head begins when the one before was answered, so it bounds how long a connection waits for a request, too.
    builder.timer(TokioTimer::new()).header_read_timeout(limits.head_timeout);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let mut is_stopped = false;
    loop {
        tokio::select! {
            // Whatever was wrong with it, it is over.
            _ = connection.as_mut() => return,
            () = slot.closed() => return,
            _ = stopped.wait_for(|stopped| *stopped), if !is_stopped => {
                is_stopped = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Answers that there are too many connections, and closes.
pub(crate) async fn refuse(mut stream: TcpStream) {
    let told = async {
        stream.write_all(TOO_MANY.as_bytes()).await?;
        stream.shutdown().await?;
        // What the client has sent is read, or the system would close with an error that overtakes the answer.
        let mut rest = [0; 4096];
        while stream.read(&mut rest).await? > 0 {}
        Ok::<(), std::io::Error>(())
    };
    let _ = tokio::time::timeout(REFUSAL_TIMEOUT, told).await;
}

/// The body of an answer; the request counts as being answered until its end.
struct InFlight {
    body: Body,
    _in_flight: RequestInFlight,
}

impl HttpBody for InFlight {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
