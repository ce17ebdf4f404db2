//! What holds for every answer, whatever a server sends. Also used by the fuzz target `answer`.

use metier_model::{DecodeError, Decoder, Event, Protocol};

/// Reads bytes in these pieces.
fn read(protocol: Protocol, pieces: &[&[u8]]) -> (Vec<Event>, Result<bool, DecodeError>) {
    let mut decoder = Decoder::new(protocol, 0);
    let mut events = Vec::new();
    for piece in pieces {
        if let Err(error) = decoder.push(piece, &mut events) {
            return (events, Err(error));
        }
    }
    let finished = decoder.finish(&mut events);
    (events, finished.map(|()| decoder.is_over()))
}

/// Events are in their order, and where the bytes are split changes nothing.
pub(crate) fn holds(protocol: Protocol, bytes: &[u8], cuts: &[usize]) {
    let (events, result) = read(protocol, &[bytes]);
    in_order(&events, result == Ok(true));

    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    let pieces: Vec<&[u8]> = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
    assert_eq!(read(protocol, &pieces), (events, result));
}

fn in_order(events: &[Event], is_whole: bool) {
    let (mut began, mut ended) = (0, 0);
    for (place, event) in events.iter().enumerate() {
        match event {
            Event::CallBegan { index, id, .. } => {
                assert_eq!((*index, ended), (began, 0), "calls begin in their order and before any ends");
                assert!(!id.is_empty(), "every call has an id");
                began += 1;
            }
            Event::CallArguments { index, fragment } => {
                assert!(
                    *index < began && ended == 0 && !fragment.is_empty(),
                    "arguments are of a call that goes on"
                );
            }
            Event::CallEnded { index } => {
                assert_eq!(*index, ended, "calls end in their order");
                ended += 1;
            }
            Event::Usage(_) => assert_eq!(place + 2, events.len(), "usage comes before the end"),
            Event::End(_) => assert_eq!(place + 1, events.len(), "nothing follows the end"),
            Event::Text(text) => assert!(!text.is_empty(), "a text says something"),
            Event::Reasoning { .. } => {}
            other => panic!("{other:?} is no part of an answer"),
        }
    }
    assert_eq!(matches!(events.last(), Some(Event::End(_))), is_whole, "an answer is whole when it ended");
    assert!(!is_whole || began == ended, "every call that began has ended");
}
