//! The session with a client.
//!
//! A second thread receives messages. The session answers them only while the run is stopped. If a
//! message arrives during a run, the run pauses, the session answers, and the run continues.

use super::breakpoints::{self, Sets};
use super::sources::Sources;
use super::wire::{Client, Received, receive};
use super::{read, values};
use crate::debug::args::Args;
use crate::debug::commands::{Outcome, Session};
use crate::debug::{program, show};
use crate::output::{Error, Exit, bad_input};
use genxml_eu::syntax::Syntax;
use genxml_sim::inspect::debugger::{
    Breakpoints, Command, Controller, Expression, Moment, Reason, Stop,
};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// The only thread that clients see: the GPU, at the position of the run.
const THREAD: u64 = 1;

/// Serves a client until it ends the session.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let (to, received) = channel();
    let client = match args.dap_port {
        None => {
            thread::spawn(move || receive(&mut io::stdin().lock(), &to));
            Client::new(Box::new(io::stdout()))
        }
        Some(port) => {
            let listens = |error: io::Error| bad_input(format!("127.0.0.1:{port}: {error}"));
            let listener = TcpListener::bind(("127.0.0.1", port)).map_err(listens)?;
            let address = listener.local_addr().map_err(listens)?;
            eprintln!("genx: waits for a client at {address}");
            let (stream, _) = listener.accept().map_err(listens)?;
            let input = stream.try_clone().map_err(listens)?;
            thread::spawn(move || receive(&mut BufReader::new(input), &to));
            Client::new(Box::new(stream))
        }
    };
    let mut server = Server {
        client,
        received,
        waiting: VecDeque::new(),
        program: args.input.clone(),
        work_limit: args.work_limit,
        launched: false,
        configured: false,
        ended: false,
        stop_on_entry: false,
        session: Session::new(args.syntax.into()),
        sources: Sources::default(),
        sets: Sets::default(),
        running: Command::Continue,
    };
    let Some((path, breakpoints)) = server.configure() else { return Ok(Exit::Ok) };
    let result = program::debug(&path, server.work_limit, breakpoints, &mut server);
    server.finish(result)
}

/// A session with a client.
struct Server {
    client: Client,
    received: Receiver<Received>,
    /// Messages that were received during a run.
    waiting: VecDeque<Received>,
    program: Option<PathBuf>,
    work_limit: Option<u64>,
    launched: bool,
    configured: bool,
    /// True after `disconnect`, or if the client is gone. After `terminate`, the session still
    /// answers requests until `disconnect`.
    ended: bool,
    stop_on_entry: bool,
    session: Session,
    sources: Sources,
    sets: Sets,
    /// The command that runs.
    running: Command,
}

/// The answer to a request: the body, and how the run continues after the response.
type Answer = Result<(Value, Option<Command>), String>;

fn body(body: Value) -> Answer {
    Ok((body, None))
}

impl Server {
    /// The next message; `None` if the client is gone.
    fn next(&mut self) -> Option<Value> {
        loop {
            let received = self.waiting.pop_front().or_else(|| self.received.recv().ok());
            if self.client.is_gone() {
                return None;
            }
            match received? {
                Received::Message(message) if message["type"] == "request" => return Some(message),
                Received::Message(message) => {
                    let why = "only messages of type `request` are understood".to_owned();
                    self.client.respond(&message, Err(why));
                }
                Received::Malformed(why) => self.client.respond(&Value::Null, Err(why)),
                Received::Broken(why) => {
                    self.client.respond(&Value::Null, Err(why));
                    return None;
                }
            }
        }
    }

    /// Answers requests until the program may start; `None` if the session ends before.
    fn configure(&mut self) -> Option<(PathBuf, Breakpoints)> {
        let mut breakpoints = Breakpoints::default();
        while !self.ended {
            let request = self.next()?;
            self.answer(&request, None, &mut breakpoints);
            if self.launched && self.configured {
                let program = self.program.clone()?;
                return Some((program, breakpoints));
            }
        }
        None
    }

    /// Reports the end of the run to the client.
    fn finish(mut self, result: Result<(), Error>) -> Result<Exit, Error> {
        let exit = match &result {
            Ok(()) => Exit::Ok,
            Err(error) => {
                let output = format!("{}\n", error.text);
                self.client.event("output", json!({ "category": "stderr", "output": output }));
                error.exit
            }
        };
        self.client.event("exited", json!({ "exitCode": exit as u8 }));
        self.client.event("terminated", json!({}));
        let mut breakpoints = Breakpoints::default();
        while !self.ended
            && let Some(request) = self.next()
        {
            self.answer(&request, None, &mut breakpoints);
        }
        result.map(|()| exit)
    }

    /// Answers a request. Returns how the run continues.
    fn answer(
        &mut self,
        request: &Value,
        stop: Option<&Stop<'_>>,
        breakpoints: &mut Breakpoints,
    ) -> Option<Command> {
        let answer = self.execute(request, stop, breakpoints);
        let (answer, command) = match answer {
            Ok((body, command)) => (Ok(body), command),
            Err(error) => (Err(error), None),
        };
        let initialized = request["command"] == "initialize" && answer.is_ok();
        self.client.respond(request, answer);
        if initialized {
            self.client.event("initialized", json!({}));
        }
        command
    }

    fn execute(
        &mut self,
        request: &Value,
        stop: Option<&Stop<'_>>,
        breakpoints: &mut Breakpoints,
    ) -> Answer {
        let arguments = &request["arguments"];
        let command = request["command"].as_str().ok_or("the request has no command")?;
        let stopped = || stop.ok_or_else(|| "the program does not run".to_owned());
        let integer = |name: &str| {
            let value = arguments[name].as_u64();
            value.ok_or_else(|| format!("{command}: `{name}` must be a number from 0 on"))
        };
        match command {
            "initialize" => body(capabilities()),
            "launch" => self.launch(arguments),
            "configurationDone" => {
                self.configured = true;
                body(json!({}))
            }
            "setBreakpoints" => body(self.sets.lines(arguments, &self.sources, breakpoints)?),
            "setFunctionBreakpoints" => body(self.sets.functions(arguments, stop, breakpoints)?),
            "setInstructionBreakpoints" => body(self.sets.instructions(arguments, breakpoints)?),
            "setDataBreakpoints" => body(self.sets.data(arguments, breakpoints)?),
            "setExceptionBreakpoints" => {
                let filters = arguments["filters"].as_array();
                let filters = filters.ok_or("setExceptionBreakpoints: `filters` must be a list")?;
                breakpoints.faults = filters.iter().any(|filter| filter == "fault");
                body(json!({}))
            }
            "dataBreakpointInfo" => body(breakpoints::data_info(arguments, stop)?),
            "threads" => body(json!({ "threads": [{ "id": THREAD, "name": "GPU" }] })),
            "stackTrace" => body(self.stack(arguments, stopped()?)),
            "scopes" => body(values::scopes(stopped()?, integer("frameId")?)),
            "variables" => {
                let list = values::variables(stopped()?, integer("variablesReference")?)?;
                let from = arguments["start"].as_u64().map_or(0, |start| start as usize);
                let count = arguments["count"].as_u64().filter(|count| *count > 0);
                let count = count.map_or(usize::MAX, |count| count as usize);
                let list: Vec<Value> = list.into_iter().skip(from).take(count).collect();
                body(json!({ "variables": list }))
            }
            "source" => {
                let nested = arguments["source"]["sourceReference"].as_u64();
                let reference = nested.map_or_else(|| integer("sourceReference"), Ok)?;
                let text = self.sources.text(reference)?;
                body(json!({ "content": text, "mimeType": "text/x-asm" }))
            }
            "evaluate" => self.evaluate(arguments, stopped()?, breakpoints),
            "disassemble" => body(read::disassemble(arguments, stopped()?, self.session.syntax())?),
            "readMemory" => body(read::memory(arguments, stopped()?)?),
            "continue" | "reverseContinue" | "next" | "stepIn" | "stepOut" | "stepBack"
            | "restart" => self.resume(command, stopped()?),
            // The run is stopped while requests are answered.
            "pause" => body(json!({})),
            "disconnect" | "terminate" => {
                self.ended = command == "disconnect";
                Ok((json!({}), Some(Command::Quit)))
            }
            _ => Err(format!("the request `{command}` is not supported")),
        }
    }

    fn launch(&mut self, arguments: &Value) -> Answer {
        if let Some(program) = arguments["program"].as_str() {
            self.program = Some(program.into());
        }
        let Some(program) = &self.program else {
            return Err("launch: `program` must be the path of a capture or AUB file".to_owned());
        };
        if !program.exists() {
            return Err(format!("launch: {}: no such file or folder", program.display()));
        }
        self.session = Session::new(match arguments["syntax"].as_str() {
            Some("mesa") => Syntax::Mesa,
            Some("iga") => Syntax::Iga,
            Some(other) => return Err(format!("launch: `syntax` is `{other}`; use iga or mesa")),
            None => self.session.syntax(),
        });
        self.stop_on_entry = arguments["stopOnEntry"].as_bool().unwrap_or(false);
        if let Some(units) = arguments["workLimit"].as_u64() {
            self.work_limit = Some(units.max(1));
        }
        self.launched = true;
        body(json!({}))
    }

    fn stack(&mut self, arguments: &Value, stop: &Stop<'_>) -> Value {
        let names = show::frames(stop);
        let total = names.len();
        let here = self.sources.here(stop, self.session.syntax()).ok();
        let frames = names.into_iter().enumerate().map(|(index, name)| {
            let mut frame = json!({ "id": index, "name": name, "line": 0, "column": 0 });
            if index == 0
                && let (Some((source, line)), Some(thread)) = (&here, &stop.thread)
            {
                frame["source"] = source.clone();
                frame["line"] = (*line).into();
                frame["column"] = 1.into();
                let address = thread.kernel.wrapping_add(thread.ip.into());
                frame["instructionPointerReference"] = format!("{address:#x}").into();
            } else {
                frame["presentationHint"] = "label".into();
            }
            frame
        });
        let from = arguments["startFrame"].as_u64().unwrap_or(0) as usize;
        let levels = arguments["levels"].as_u64().filter(|levels| *levels > 0);
        let levels = levels.map_or(usize::MAX, |levels| levels as usize);
        let frames: Vec<Value> = frames.skip(from).take(levels).collect();
        json!({ "stackFrames": frames, "totalFrames": total })
    }

    /// Evaluates an expression; in the console also a command of the debugger.
    fn evaluate(
        &mut self,
        arguments: &Value,
        stop: &Stop<'_>,
        breakpoints: &mut Breakpoints,
    ) -> Answer {
        let text = arguments["expression"].as_str();
        let text = text.ok_or("evaluate: `expression` must be text")?;
        let result = |text: &str| json!({ "result": text, "variablesReference": 0 });
        let evaluated = Expression::parse(text)
            .and_then(|expression| expression.print(stop, self.session.channel(stop)));
        if arguments["context"] != "repl" {
            return body(result(&evaluated?));
        }
        match evaluated {
            Ok(text) => body(result(&text)),
            Err(_) => match self.session.execute(text, stop, breakpoints)? {
                Outcome::Print(text) => body(result(text.trim_end())),
                Outcome::Resume(command) => {
                    self.running = command;
                    Ok((result(""), Some(command)))
                }
            },
        }
    }

    fn resume(&mut self, command: &str, stop: &Stop<'_>) -> Answer {
        let thread = stop.thread.is_some();
        let command = match command {
            // After the end, there is nothing to continue: the session ends.
            "continue" if stop.moment == Moment::End => Command::Quit,
            "continue" => Command::Continue,
            "reverseContinue" => Command::ContinueBack,
            "next" if thread => Command::Step,
            "next" => Command::StepPacket,
            "stepIn" => Command::Step,
            "stepOut" if thread => Command::Finish,
            "stepOut" => Command::StepPacket,
            "stepBack" => Command::StepBack,
            _ => Command::GoTo(Moment::Packet(1)),
        };
        self.running = command;
        Ok((json!({ "allThreadsContinued": true }), Some(command)))
    }

    /// Reports a stop to the client.
    fn report(&mut self, stop: &Stop<'_>) {
        let numbers: Vec<u32> = (stop.reasons.iter())
            .filter_map(|reason| match reason {
                Reason::Breakpoint(number)
                | Reason::Watchpoint { number, .. }
                | Reason::BadCondition { number, .. } => Some(*number),
                _ => None,
            })
            .collect();
        let word = match stop.reasons.first() {
            Some(Reason::Start) => "entry",
            Some(Reason::Breakpoint(number)) => self.sets.kind(*number),
            Some(Reason::BadCondition { .. }) => "breakpoint",
            Some(Reason::Watchpoint { .. }) => "data breakpoint",
            Some(Reason::Fault(_) | Reason::Broken(_)) => "exception",
            Some(Reason::Pause) => "pause",
            Some(Reason::Beginning) => "beginning",
            Some(Reason::End) => "end",
            Some(Reason::Step) | None => "step",
        };
        let words: Vec<String> = stop.reasons.iter().filter_map(show::reason).collect();
        let mut event = json!({
            "reason": word,
            "threadId": THREAD,
            "allThreadsStopped": true,
            "hitBreakpointIds": numbers,
        });
        if !words.is_empty() {
            event["description"] = words.join("\n").into();
            event["text"] = words.join("\n").into();
        }
        self.client.event("stopped", event);
    }
}

impl Controller for Server {
    fn stopped(&mut self, stop: &Stop<'_>, breakpoints: &mut Breakpoints) -> Command {
        if self.ended {
            return Command::Quit;
        }
        if let Some(command) = self.session.arrive(stop) {
            return command;
        }
        match stop.reasons[..] {
            [Reason::Start] if !self.stop_on_entry => return Command::Continue,
            // Messages arrived during the run. It stops only if one of them asks for it.
            [Reason::Pause] => {
                let mut pauses = false;
                while !self.waiting.is_empty() {
                    let Some(request) = self.next() else { return Command::Quit };
                    pauses |= request["command"] == "pause";
                    if let Some(command) = self.answer(&request, Some(stop), breakpoints) {
                        return command;
                    }
                }
                if !pauses {
                    return self.running;
                }
            }
            _ => {}
        }
        self.report(stop);
        loop {
            let Some(request) = self.next() else {
                self.ended = true;
                return Command::Quit;
            };
            if let Some(command) = self.answer(&request, Some(stop), breakpoints) {
                return command;
            }
        }
    }

    fn pauses(&mut self) -> bool {
        self.waiting.extend(self.received.try_iter());
        !self.waiting.is_empty()
    }
}

/// What the debugger can do.
fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsRestartRequest": true,
        "supportsDataBreakpoints": true,
        "supportsDataBreakpointBytes": true,
        "supportsDisassembleRequest": true,
        "supportsReadMemoryRequest": true,
        "supportsInstructionBreakpoints": true,
        "supportsSteppingGranularity": false,
        "supportsTerminateRequest": true,
        "supportsDelayedStackTraceLoading": true,
        "exceptionBreakpointFilters": [{
            "filter": "fault",
            "label": "GPU faults",
            "description": "Stop before a packet or instruction that causes a fault",
            "default": true,
        }],
    })
}
