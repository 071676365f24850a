//! Raw observations of a trial: CSV in zstd, so that any tool can read them
//! (`zstdcat 0001.observations.zst`). Nothing is dropped.

use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;

use crate::RecordError;
use crate::{Observation, Observations, Outcome};

const HEADER: &str = "client,request,start_ns,response_time_ns,outcome";

/// Level 3 is zstd's own default: about a fifth of the text, at hundreds of MB/s.
const COMPRESSION_LEVEL: i32 = 3;

/// Writes the observations of one trial.
///
/// # Errors
/// When the disk refuses; nothing is left behind then.
pub fn write_observations(path: &Path, observations: &Observations) -> Result<(), RecordError> {
    whole_file::write_with(path, |file| {
        let mut encoder = BufWriter::new(zstd::Encoder::new(file, COMPRESSION_LEVEL)?);
        writeln!(encoder, "{HEADER}")?;
        for one in observations.iter() {
            let Observation { client, request, start_ns, response_time_ns, outcome } = one;
            let outcome = outcome_text(outcome);
            writeln!(encoder, "{client},{request},{start_ns},{response_time_ns},{outcome}")?;
        }
        encoder.into_inner()?.finish()?;
        Ok(())
    })
    .map_err(super::file::failed(path))
}

pub fn read_observations(path: &Path) -> Result<Vec<Observation>, RecordError> {
    let io = |source| RecordError::Io { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(io)?;
    let reader = BufReader::new(zstd::Decoder::new(file).map_err(io)?);
    let mut observations = Vec::new();
    for (index, line) in reader.lines().enumerate() {
        let line = line.map_err(io)?;
        if index == 0 && line == HEADER {
            continue;
        }
        let observation = parse(&line).ok_or_else(|| RecordError::Damaged {
            path: path.to_owned(),
            message: format!("line {}: `{line}` is not an observation", index + 1),
        })?;
        observations.push(observation);
    }
    Ok(observations)
}

fn parse(line: &str) -> Option<Observation> {
    let mut fields = line.split(',');
    let observation = Observation {
        client: fields.next()?.parse().ok()?,
        request: fields.next()?.parse().ok()?,
        start_ns: fields.next()?.parse().ok()?,
        response_time_ns: fields.next()?.parse().ok()?,
        outcome: parse_outcome(fields.next()?)?,
    };
    fields.next().is_none().then_some(observation)
}

fn outcome_text(outcome: Outcome) -> String {
    match outcome {
        Outcome::Ok => "ok".to_owned(),
        Outcome::Status(status) => format!("status {status}"),
        Outcome::WrongAnswer => "wrong answer".to_owned(),
        Outcome::ConnectionFailed => "connection failed".to_owned(),
        Outcome::ConnectionLost => "connection lost".to_owned(),
        Outcome::TimedOut => "timed out".to_owned(),
        Outcome::Malformed => "malformed".to_owned(),
        Outcome::NotSent => "not sent".to_owned(),
        Outcome::Refused => "refused by the engine".to_owned(),
    }
}

fn parse_outcome(text: &str) -> Option<Outcome> {
    Some(match text {
        "ok" => Outcome::Ok,
        "wrong answer" => Outcome::WrongAnswer,
        "connection failed" => Outcome::ConnectionFailed,
        "connection lost" => Outcome::ConnectionLost,
        "timed out" => Outcome::TimedOut,
        "malformed" => Outcome::Malformed,
        "not sent" => Outcome::NotSent,
        "refused by the engine" => Outcome::Refused,
        other => Outcome::Status(other.strip_prefix("status ")?.parse().ok()?),
    })
}

/// An outcome in words, for messages.
pub fn describe(outcome: Outcome) -> String {
    outcome_text(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_comes_back_and_a_cut_file_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0001.observations.zst");
        let outcomes = [
            Outcome::Ok,
            Outcome::Status(503),
            Outcome::WrongAnswer,
            Outcome::ConnectionFailed,
            Outcome::ConnectionLost,
            Outcome::TimedOut,
            Outcome::Malformed,
            Outcome::NotSent,
            Outcome::Refused,
        ];
        let observations: Vec<_> = (0..2_000u16)
            .map(|number| Observation {
                client: number % 4,
                request: number % 9,
                start_ns: u64::from(number) * 1_000_003,
                response_time_ns: u64::from(number) * 7 + 1,
                outcome: outcomes[usize::from(number) % outcomes.len()],
            })
            .collect();
        write_observations(&path, &observations.iter().copied().collect()).unwrap();
        assert_eq!(read_observations(&path).unwrap(), observations);

        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(read_observations(&path).is_err());
    }
}
