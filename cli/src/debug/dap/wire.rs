//! Messages of the Debug Adapter Protocol: a header with the length, and JSON.

use serde_json::{Value, json};
use std::io::{self, BufRead, Write};
use std::sync::mpsc::Sender;

/// Longest message that is read. Clients send some kilobytes.
const MAX_LENGTH: usize = 16 << 20;

/// Longest line of a header.
const MAX_LINE: u64 = 1024;

/// What the client sent.
#[derive(Debug)]
pub enum Received {
    /// A message.
    Message(Value),
    /// A message that is not JSON. The next one can be read.
    Malformed(String),
    /// The rest of the input cannot be read.
    Broken(String),
}

/// Passes everything that the client sends to `to`, until the input ends or cannot be read.
pub fn receive(input: &mut dyn BufRead, to: &Sender<Received>) {
    loop {
        let received = match read(input) {
            Ok(None) => return,
            Ok(Some(received)) => received,
            Err(error) => Received::Broken(error.to_string()),
        };
        let last = matches!(received, Received::Broken(_));
        if to.send(received).is_err() || last {
            return;
        }
    }
}

/// Reads a message; `None` at the end of the input.
fn read(input: &mut dyn BufRead) -> io::Result<Option<Received>> {
    let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let count = io::Read::take(&mut *input, MAX_LINE).read_until(b'\n', &mut line)?;
        if count == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        match line.split_once(':') {
            _ if line.is_empty() && length.is_some() => break,
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                let bytes = value.trim().parse::<usize>().ok();
                let bytes = bytes.filter(|bytes| *bytes <= MAX_LENGTH);
                let why = || invalid(format!("`{line}`: not a length of at most {MAX_LENGTH}"));
                length = Some(bytes.ok_or_else(why)?);
            }
            // Other fields of the header have no meaning.
            Some(_) => {}
            None => {
                let why = "a message begins with a line `Content-Length: N` and an empty line";
                return Err(invalid(format!("`{line}`: {why}")));
            }
        }
    }
    let mut bytes = vec![0; length.unwrap_or(0)];
    input.read_exact(&mut bytes)?;
    Ok(Some(match serde_json::from_slice(&bytes) {
        Ok(value) => Received::Message(value),
        Err(error) => Received::Malformed(format!("the message is not JSON: {error}")),
    }))
}

/// Sends messages to the client.
pub struct Client {
    out: Box<dyn Write>,
    next: u64,
    /// True after a write failed: the client is gone.
    gone: bool,
}

impl Client {
    /// A client that reads what is written to `out`.
    pub fn new(out: Box<dyn Write>) -> Client {
        Client { out, next: 1, gone: false }
    }

    /// True if the client reads no more messages.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    fn send(&mut self, mut message: Value) {
        message["seq"] = self.next.into();
        self.next += 1;
        let text = message.to_string();
        let written = write!(self.out, "Content-Length: {}\r\n\r\n{text}", text.len());
        self.gone |= written.and_then(|()| self.out.flush()).is_err();
    }

    /// Sends an event.
    pub fn event(&mut self, name: &str, body: Value) {
        self.send(json!({ "type": "event", "event": name, "body": body }));
    }

    /// Answers a request: with a body, or with an error.
    pub fn respond(&mut self, request: &Value, answer: Result<Value, String>) {
        let seq = request["seq"].as_u64().unwrap_or(0);
        let command = request["command"].as_str().unwrap_or("");
        let mut message = json!({
            "type": "response", "request_seq": seq, "command": command, "success": answer.is_ok(),
        });
        match answer {
            Ok(body) => message["body"] = body,
            Err(text) => {
                message["message"] = text.as_str().into();
                message["body"] = json!({ "error": { "id": 1, "format": text, "showUser": true } });
            }
        }
        self.send(message);
    }
}
