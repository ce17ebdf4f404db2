//! A server with every byte under control: it reads requests and sends what it was told to.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use metier_model::{Answer, ChatModel, Message};
use metier_model::{Endpoint, Event, ModelError, ModelId, Protocol, Remote, Request, Timeouts, next};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What a server sends to one request.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pieces: Vec<Vec<u8>>,
    after: After,
}

/// What happens behind the last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    /// The connection waits for the next request.
    Keep,
    /// The connection is closed.
    Close,
    /// Nothing, for as long as the client stays.
    Hang,
}

impl Reply {
    /// A stream of events, in one piece.
    pub(crate) fn stream(body: &str) -> Self {
        Self::pieces([body.as_bytes()])
    }

    /// A stream of events in these pieces, each a chunk of its own.
    pub(crate) fn pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
        let mut all = vec![head.to_vec()];
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            all.push([format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat());
        }
        all.push(b"0\r\n\r\n".to_vec());
        Self { pieces: all, after: After::Keep }
    }

    /// A status with headers and a body.
    pub(crate) fn status(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        let whole = format!("HTTP/1.1 {status} Said\r\n{headers}content-length: {length}\r\n\r\n{body}");
        Self { pieces: vec![whole.into_bytes()], after: After::Keep }
    }

    /// Bytes as they are, and then the connection ends.
    pub(crate) fn raw(bytes: &[u8]) -> Self {
        Self { pieces: vec![bytes.to_vec()], after: After::Close }
    }

    /// The last chunk, which says that all has come, is never sent: the connection is cut.
    pub(crate) fn cut(mut self) -> Self {
        self.pieces.pop();
        self.after = After::Close;
        self
    }

    /// All is sent, and then the connection ends, as servers do that keep none.
    pub(crate) fn closing(mut self) -> Self {
        self.after = After::Close;
        self
    }

    /// The last chunk is never sent, and the connection stays open.
    pub(crate) fn hanging(mut self) -> Self {
        self.pieces.pop();
        self.after = After::Hang;
        self
    }

    /// Nothing is sent at all.
    pub(crate) fn silence() -> Self {
        Self { pieces: Vec::new(), after: After::Hang }
    }
}

/// A request that a server got.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct State {
    replies: Mutex<VecDeque<Reply>>,
    seen: Mutex<Vec<Seen>>,
    connections: Mutex<usize>,
    /// How many clients went away while a server was hanging.
    left: Mutex<usize>,
}

impl Server {
    /// Gives these replies, one to each request. Later requests are not answered.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state =
            Arc::new(State { replies: Mutex::new(replies.into_iter().collect()), ..State::default() });
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *shared.connections.lock().unwrap() += 1;
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { address, state, task }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        *self.state.connections.lock().unwrap()
    }

    /// Waits until a client has gone away from a server that hangs.
    pub(crate) async fn was_left(&self) {
        for _ in 0..200 {
            if *self.state.left.lock().unwrap() > 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the connection is still open");
    }

    /// Where models of this server are.
    pub(crate) fn endpoint(&self) -> Endpoint {
        let timeouts = Timeouts {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(20),
            between_bytes: Duration::from_secs(20),
        };
        Endpoint::new(&format!("http://{}/v1", self.address)).unwrap().with_timeouts(timeouts)
    }

    pub(crate) fn model(&self, protocol: Protocol) -> Remote {
        remote(protocol, self.endpoint())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) fn remote(protocol: Protocol, endpoint: Endpoint) -> Remote {
    let id: ModelId = "test/some-model".parse().unwrap();
    Remote::new(id, protocol, endpoint).unwrap()
}

async fn serve(mut stream: TcpStream, state: Arc<State>) {
    stream.set_nodelay(true).unwrap();
    let mut buffer = Vec::new();
    loop {
        let Some(seen) = request(&mut stream, &mut buffer).await else { return };
        state.seen.lock().unwrap().push(seen);
        let Some(reply) = state.replies.lock().unwrap().pop_front() else { return };
        for piece in &reply.pieces {
            if stream.write_all(piece).await.is_err() {
                return;
            }
            tokio::task::yield_now().await;
        }
        match reply.after {
            After::Keep => {}
            After::Close => return,
            After::Hang => {
                while stream.read_buf(&mut buffer).await.is_ok_and(|count| count > 0) {}
                *state.left.lock().unwrap() += 1;
                return;
            }
        }
    }
}

async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Seen> {
    let end = loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(buffer[..end].to_vec()).unwrap();
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length:").map(|text| text.trim().to_owned())
        })
        .map_or(0, |text| text.parse::<usize>().unwrap());
    while buffer.len() < end + length {
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    let body = buffer[end..end + length].to_vec();
    buffer.drain(..end + length);
    Some(Seen { head, body })
}

/// The events of an answer, and the error that ended it.
pub(crate) async fn collect(mut answer: Answer<'_>) -> (Vec<Event>, Option<ModelError>) {
    let mut events = Vec::new();
    while let Some(item) = next(&mut answer).await {
        match item {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(next(&mut answer).await.is_none(), "something came behind an error");
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

/// Asks something short.
pub(crate) async fn ask(model: &dyn ChatModel) -> (Vec<Event>, Option<ModelError>) {
    let request = hello();
    collect(model.ask(&request)).await
}

pub(crate) fn hello() -> Request {
    Request { messages: vec![Message::user("Hello.").into()], ..Request::default() }
}
