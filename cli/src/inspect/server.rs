//! A small HTTP server for one page: only GET, only on 127.0.0.1, only below a secret path.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum bytes of a request.
const MOST_HEAD: usize = 8 << 10;
/// Maximum time to receive a request.
const MOST_TIME: Duration = Duration::from_secs(5);
/// Maximum number of requests at the same time.
const MOST_CONNECTIONS: usize = 32;

/// The browser may load only what this server sends, and sends nothing elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// An answer to a request.
#[derive(Debug)]
pub struct Answer {
    /// The status: 200, 404...
    pub status: u16,
    /// The media type of the body.
    pub media: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// An answer in plain text.
    pub fn text(status: u16, text: &str) -> Answer {
        let body = format!("{text}\n").into_bytes();
        Answer { status, media: "text/plain; charset=utf-8", body }
    }

    /// An answer with status 200.
    pub fn ok(media: &'static str, body: Vec<u8>) -> Answer {
        Answer { status: 200, media, body }
    }

    /// The status line and the headers.
    fn head(&self) -> String {
        format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\
             Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n",
            self.status,
            self.reason(),
            self.media,
            self.body.len()
        )
    }

    fn reason(&self) -> &'static str {
        match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            431 => "Request Header Fields Too Large",
            503 => "Service Unavailable",
            _ => "Error",
        }
    }
}

/// Answers a request by its path without the secret, such as `api/steps`, and its query.
pub type Handler = dyn Fn(&str, &str) -> Answer + Send + Sync;

/// The server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: String,
}

impl Server {
    /// A server on a port of 127.0.0.1; port 0 selects a free one.
    ///
    /// # Errors
    /// If the port is in use, or if the system has no random numbers.
    pub fn new(port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Server { listener, address, token })
    }

    /// The address of the page.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token)
    }

    /// Answers requests, each in a thread of its own. Returns only if the system fails.
    pub fn run(self, handler: Arc<Handler>) -> io::Error {
        let server = Arc::new(self);
        let open = Arc::new(AtomicUsize::new(0));
        loop {
            let mut stream = match server.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if is_passing(&error) => continue,
                Err(error) => return error,
            };
            let (server, handler) = (Arc::clone(&server), Arc::clone(&handler));
            let Some(slot) = Slot::new(&open) else {
                // A new connection has room for so few bytes, so this does not wait.
                let busy = Answer::text(503, "too many requests at the same time");
                let _ = stream.write_all(busy.head().as_bytes());
                let _ = stream.write_all(&busy.body);
                continue;
            };
            let work = move || {
                // The browser may have closed the connection.
                let _ = server.serve(stream, &handler);
                drop(slot);
            };
            if let Err(error) = thread::Builder::new().name("request".into()).spawn(work) {
                return error;
            }
        }
    }

    fn serve(&self, mut stream: TcpStream, handler: &Arc<Handler>) -> io::Result<()> {
        stream.set_write_timeout(Some(MOST_TIME))?;
        let answer = match read_head(&mut stream)? {
            Ok(head) => self.answer(&head, handler),
            Err(answer) => answer,
        };
        stream.write_all(answer.head().as_bytes())?;
        stream.write_all(&answer.body)?;
        stream.flush()?;
        stream.shutdown(std::net::Shutdown::Write)?;
        // Read what is left of a refused request, so that the system does not reset the connection
        // before the client has the answer.
        let mut rest = [0; 1024];
        stream.set_read_timeout(Some(Duration::from_millis(200)))?;
        for _ in 0..64 {
            if stream.read(&mut rest)? == 0 {
                break;
            }
        }
        Ok(())
    }

    fn answer(&self, head: &[u8], handler: &Arc<Handler>) -> Answer {
        let request = match Request::parse(head) {
            Ok(request) => request,
            Err(why) => return Answer::text(400, why),
        };
        // Another site can make its name point to 127.0.0.1. Its requests then have its name here.
        let port = self.address.port();
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        if !hosts.iter().any(|host| host == request.host) {
            return Answer::text(403, "this server has another name");
        }
        let mut parts = request.path.splitn(2, '/');
        if !is_equal(parts.next().unwrap_or_default(), &self.token) {
            return Answer::text(403, "the address lacks the secret that genx inspect printed");
        }
        if request.method != "GET" {
            return Answer::text(405, "only GET is supported");
        }
        match parts.next() {
            Some(path) => handler(path, request.query),
            None => Answer::text(404, "the address of the page ends with /"),
        }
    }
}

/// Errors of a connection that do not concern the next one.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

/// Compares without an early end, so that the time does not depend on the number of equal bytes.
fn is_equal(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// One of the requests that are answered at the same time.
struct Slot(Arc<AtomicUsize>);

impl Slot {
    fn new(open: &Arc<AtomicUsize>) -> Option<Slot> {
        let slot = Slot(Arc::clone(open));
        (open.fetch_add(1, Ordering::Relaxed) < MOST_CONNECTIONS).then_some(slot)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads up to the empty line after the headers. The inner error is an answer for the client.
fn read_head(stream: &mut TcpStream) -> io::Result<Result<Vec<u8>, Answer>> {
    let end = Instant::now() + MOST_TIME;
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Err(Answer::text(408, "the request takes too long")));
        }
        stream.set_read_timeout(Some(left))?;
        let count = match stream.read(&mut piece) {
            Ok(0) => return Ok(Err(Answer::text(400, "the request ends too early"))),
            Ok(count) => count,
            Err(error)
                if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
            {
                return Ok(Err(Answer::text(408, "the request takes too long")));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let start = head.len().saturating_sub(3);
        head.extend_from_slice(&piece[..count]);
        let found = head[start..].windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(at) = found.map(|at| start + at).filter(|at| *at <= MOST_HEAD) {
            head.truncate(at);
            return Ok(Ok(head));
        }
        if head.len() > MOST_HEAD {
            return Ok(Err(Answer::text(431, "the request has more than 8192 bytes")));
        }
    }
}

/// The parts of a request that count.
#[derive(Debug)]
struct Request<'a> {
    method: &'a str,
    /// Without the first slash.
    path: &'a str,
    query: &'a str,
    host: &'a str,
}

impl<'a> Request<'a> {
    /// Parses the request line and the headers.
    fn parse(head: &'a [u8]) -> Result<Request<'a>, &'static str> {
        let text = std::str::from_utf8(head).map_err(|_| "the request is not text")?;
        let mut lines = text.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let wrong = "the first line is not `GET PATH HTTP/1.1`";
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(wrong);
        };
        if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
            return Err(wrong);
        }
        let target = target.strip_prefix('/').ok_or(wrong)?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut host = None;
        for line in lines {
            let (name, value) = line.split_once(':').ok_or("a header has no colon")?;
            if name.is_empty() || name.contains(|c: char| c.is_ascii_whitespace()) {
                return Err("a header has no name, or blanks in it");
            }
            if name.eq_ignore_ascii_case("host") && host.replace(value.trim()).is_some() {
                return Err("there are two Host headers");
            }
        }
        Ok(Request { method, path, query, host: host.ok_or("there is no Host header")? })
    }
}

#[cfg(test)]
mod tests {
    use super::Request;

    #[test]
    fn requests_are_parsed_strictly() {
        let parse = |text: &str| Request::parse(text.as_bytes()).map(|r| r.path.to_owned());
        assert_eq!(parse("GET /t/a?b=1 HTTP/1.1\r\nHost: x"), Ok("t/a".into()));
        assert_eq!(parse("GET /t/a HTTP/1.1\r\nhOST:  x "), Ok("t/a".into()));
        for bad in [
            "",
            "GET",
            "GET / HTTP/1.1",
            "GET  / HTTP/1.1\r\nHost: x",
            "GET / HTTP/2\r\nHost: x",
            "GET http://x/ HTTP/1.1\r\nHost: x",
            "GET / HTTP/1.1 \r\nHost: x",
            "GET / HTTP/1.1\r\nHost: x\r\nHost: x",
            "GET / HTTP/1.1\r\nHost : x",
            "GET / HTTP/1.1\r\nHost: x\r\n folded",
        ] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
        assert!(Request::parse(b"GET /\xff HTTP/1.1\r\nHost: x").is_err());
    }
}
