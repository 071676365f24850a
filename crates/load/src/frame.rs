//! Frames between the laboratory and a client process: a kind, a length, a content.

use std::io::{self, ErrorKind, Read, Write};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// To the client: what it is to do, as JSON. It prepares itself.
    Job,
    /// From the client: it is prepared; or why not, as text.
    Ready,
    /// To the client: begin. Its content is the moment on the monotonic clock.
    Go,
    /// From the client: its rounds are done. To the client: those of all are.
    CaughtUp,
    /// From the client: its notes, as JSON; its observations follow.
    Done,
    /// From the client: the observations as bytes.
    Observations,
    /// From the client: its answer to a job that is a question, as JSON.
    Answer,
}

const FRAME_KINDS: [FrameKind; 7] = [
    FrameKind::Job,
    FrameKind::Ready,
    FrameKind::Go,
    FrameKind::CaughtUp,
    FrameKind::Done,
    FrameKind::Observations,
    FrameKind::Answer,
];

pub(super) fn write(to: &mut impl Write, kind: FrameKind, content: &[u8]) -> io::Result<()> {
    let mut head = [0; 9];
    head[0] = kind as u8;
    head[1..].copy_from_slice(&(content.len() as u64).to_le_bytes());
    to.write_all(&head)?;
    to.write_all(content)
}

/// The next frame; none where the other side has ended.
pub(super) fn read(from: &mut impl Read) -> io::Result<Option<(FrameKind, Vec<u8>)>> {
    let mut head = [0; 9];
    match from.read_exact(&mut head) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let [kind, length @ ..] = head;
    let unknown = || io::Error::new(ErrorKind::InvalidData, format!("frame of kind {kind}"));
    let kind = FRAME_KINDS.get(usize::from(kind)).copied().ok_or_else(unknown)?;
    let mut content = Vec::new();
    let length = u64::from_le_bytes(length);
    let read = from.take(length).read_to_end(&mut content)? as u64;
    match read == length {
        true => Ok(Some((kind, content))),
        false => Err(ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_comes_back_and_a_cut_one_is_an_error() {
        let mut bytes = Vec::new();
        for kind in FRAME_KINDS {
            write(&mut bytes, kind, &vec![7; kind as usize * 1_000]).unwrap();
        }
        let mut rest = bytes.as_slice();
        for kind in FRAME_KINDS {
            let frame = read(&mut rest).unwrap().unwrap();
            assert_eq!(frame, (kind, vec![7; kind as usize * 1_000]));
        }
        assert_eq!(read(&mut rest).unwrap(), None);
        let mut cut = &bytes[..bytes.len() - 1];
        while let Ok(frame) = read(&mut cut) {
            assert!(frame.is_some());
        }
        assert!(read(&mut [9u8; 9].as_slice()).is_err());
    }
}
