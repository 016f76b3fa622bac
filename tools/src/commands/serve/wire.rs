//! Requests and answers: a line of JSON each, with bytes behind it where it names a number of them.

use std::io::{BufRead, Read as _, Write};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

/// No line of a request is as long.
const MOST_LINE: u64 = 1 << 20;
/// Nor are its bytes: L1 is smaller.
const MOST_BYTES: usize = 1 << 22;

/// The line of a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ask {
    /// What is wanted.
    #[serde(rename = "do")]
    pub(super) what: String,
    /// Of `run`: for so many cycles at most.
    #[serde(default)]
    pub(super) cycles: Option<u64>,
    /// Of `run` of a tape: for so many calls at most.
    #[serde(default)]
    pub(super) calls: Option<u64>,
    /// Of `read` and `write`: where in L1.
    #[serde(default)]
    pub(super) address: u32,
    /// Of `read`: how many bytes.
    #[serde(default)]
    pub(super) size: u32,
    /// Of `write`: how many bytes follow the line.
    #[serde(default)]
    bytes: usize,
    /// Of `registers`: options of `tilescope state`.
    #[serde(default)]
    pub(super) options: Vec<String>,
    /// Of `explain`: `json`, `text`, `html`, `sarif` or `dot`.
    #[serde(default)]
    pub(super) form: String,
}

/// A request with its bytes.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) ask: Ask,
    pub(super) bytes: Vec<u8>,
}

/// What comes back.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Value(Value),
    Bytes(Vec<u8>),
}

/// The next request; `None` when there are no more. The inner error is one that the asker is told.
pub(super) fn receive(input: &mut dyn BufRead) -> Result<Option<Result<Request>>> {
    let mut line = Vec::new();
    input.take(MOST_LINE).read_until(b'\n', &mut line).context("cannot read a request")?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        bail!("a request that does not end");
    }
    let ask: Ask = match serde_json::from_slice(&line) {
        Ok(ask) => ask,
        Err(error) => return Ok(Some(Err(anyhow::anyhow!("not a request: {error}")))),
    };
    if ask.bytes > MOST_BYTES {
        bail!("a request with {} bytes", ask.bytes);
    }
    let mut bytes = vec![0; ask.bytes];
    input.read_exact(&mut bytes).context("a request that does not end")?;
    Ok(Some(Ok(Request { ask, bytes })))
}

/// Answers, at once.
pub(super) fn send(out: &mut dyn Write, answer: &Result<Answer>) -> Result<()> {
    match answer {
        Ok(Answer::Value(value)) => writeln!(out, "{}", json!({ "ok": value }))?,
        Ok(Answer::Bytes(bytes)) => {
            writeln!(out, "{}", json!({ "bytes": bytes.len() }))?;
            out.write_all(bytes)?;
        }
        Err(error) => writeln!(out, "{}", json!({ "error": format!("{error:#}") }))?,
    }
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_follow_the_line_that_names_them() {
        let mut input =
            &b"{\"do\":\"write\",\"address\":16,\"bytes\":3}\nab\n{\"do\":\"status\"}\n"[..];
        let first = receive(&mut input).expect("read").expect("there").expect("a request");
        assert_eq!((first.ask.address, &*first.bytes), (16, &b"ab\n"[..]));
        let second = receive(&mut input).expect("read").expect("there").expect("a request");
        assert_eq!(second.ask.what, "status");
        assert!(receive(&mut input).expect("read").is_none());
    }

    #[test]
    fn mistakes_are_told_and_torn_requests_end_the_session() {
        let told = |mut line: &[u8]| receive(&mut line).expect("read").expect("there").is_err();
        assert!(told(b"{}\n") && told(b"[1]\n") && told(b"{\"do\":\"run\",\"speed\":9}\n"));
        for mut torn in [&b"{\"do\""[..], b"{\"do\":\"write\",\"bytes\":9}\nab"] {
            assert!(receive(&mut torn).is_err());
        }
        let mut huge = &b"{\"do\":\"write\",\"bytes\":99999999999}\n"[..];
        assert!(receive(&mut huge).is_err());
    }
}
