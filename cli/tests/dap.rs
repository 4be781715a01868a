//! `genx debug --dap` with a client that sends the requests of an editor.

use crate::common::{demo_capture, fill_capture, finish, genx};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use genx::demo::Name;
use genxml_eu::gen8::eu_registers::ControlRegister;
use genxml_testkit::corpus;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::tempdir;

/// A client.
struct Client {
    child: Child,
    out: Box<dyn Write>,
    input: Box<dyn BufRead>,
    seq: u64,
    /// Events that were received before a response.
    events: Vec<Value>,
}

impl Client {
    fn start() -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_genx"))
            .args(["debug", "--dap"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("genx starts");
        let out = Box::new(child.stdin.take().unwrap());
        let input = Box::new(BufReader::new(child.stdout.take().unwrap()));
        Client { child, out, input, seq: 0, events: Vec::new() }
    }

    fn raw(&mut self, text: &str) {
        write!(self.out, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.out.flush().unwrap();
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.input.read_line(&mut line).unwrap() > 0, "the adapter ended");
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(bytes) => length = bytes.parse().unwrap(),
                None if line.trim_end().is_empty() => break,
                None => panic!("not a header: {line:?}"),
            }
        }
        let mut bytes = vec![0; length];
        self.input.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Sends a request and returns the response; events go to the list.
    fn send(&mut self, command: &str, arguments: Value) -> Value {
        self.seq += 1;
        let request = json!({
            "seq": self.seq, "type": "request", "command": command, "arguments": arguments,
        });
        self.raw(&request.to_string());
        loop {
            let message = self.read();
            if message["type"] == "event" {
                self.events.push(message);
                continue;
            }
            assert_eq!(message["request_seq"], self.seq, "{message}");
            assert_eq!(message["command"], command, "{message}");
            return message;
        }
    }

    /// The body of the response to a request that succeeds.
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let response = self.send(command, arguments);
        assert_eq!(response["success"], true, "{response}");
        response["body"].clone()
    }

    /// The message of the error of a request.
    fn refused(&mut self, command: &str, arguments: Value) -> String {
        let response = self.send(command, arguments);
        assert_eq!(response["success"], false, "{response}");
        response["message"].as_str().unwrap().to_owned()
    }

    /// The body of the next event with a name.
    fn event(&mut self, name: &str) -> Value {
        if let Some(at) = self.events.iter().position(|event| event["event"] == name) {
            return self.events.remove(at)["body"].clone();
        }
        loop {
            let message = self.read();
            if message["event"] == name {
                return message["body"].clone();
            }
            self.events.push(message);
        }
    }

    /// Launches a program that stops at function breakpoints.
    fn launch(&mut self, program: &Path, functions: &[&str]) {
        let capabilities = self.ask("initialize", json!({ "adapterID": "genx" }));
        for name in
            ["supportsStepBack", "supportsDataBreakpoints", "supportsInstructionBreakpoints"]
        {
            assert_eq!(capabilities[name], true, "{name}");
        }
        self.event("initialized");
        let list: Vec<Value> = functions.iter().map(|name| json!({ "name": name })).collect();
        let set = self.ask("setFunctionBreakpoints", json!({ "breakpoints": list }));
        for answer in set["breakpoints"].as_array().unwrap() {
            assert_eq!(answer["verified"], true, "{answer}");
        }
        self.ask("setExceptionBreakpoints", json!({ "filters": ["fault"] }));
        self.ask("launch", json!({ "program": program }));
        self.ask("configurationDone", json!({}));
    }

    /// Continues with a request, and returns the body of the event of the next stop.
    fn resume(&mut self, command: &str) -> Value {
        self.ask(command, json!({ "threadId": 1 }));
        self.event("stopped")
    }

    /// The frames of the stack.
    fn frames(&mut self) -> Vec<Value> {
        let body = self.ask("stackTrace", json!({ "threadId": 1 }));
        body["stackFrames"].as_array().unwrap().clone()
    }

    /// The values of the variables of a scope, by name.
    fn scope(&mut self, frame: u64, name: &str) -> BTreeMap<String, String> {
        let scopes = self.ask("scopes", json!({ "frameId": frame }));
        let scope = scopes["scopes"].as_array().unwrap().iter().find(|scope| scope["name"] == name);
        let reference =
            scope.unwrap_or_else(|| panic!("{name} in {scopes}"))["variablesReference"].clone();
        self.variables(&reference)
    }

    fn variables(&mut self, reference: &Value) -> BTreeMap<String, String> {
        let body = self.ask("variables", json!({ "variablesReference": reference }));
        let list = body["variables"].as_array().unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        list.iter().map(|it| (text(&it["name"]), text(&it["value"]))).collect()
    }

    /// All general registers as dwords, and the flags.
    fn registers(&mut self) -> (Vec<u32>, BTreeMap<String, String>) {
        let names = self.scope(0, "Registers :ud");
        let hex = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
        let dwords =
            (0..128).flat_map(|n| names[&format!("r{n}")].split(' ').map(hex).collect::<Vec<_>>());
        let dwords = dwords.collect();
        (dwords, self.scope(0, "Flags"))
    }

    /// Ends the session, and checks that the adapter ends without an error.
    fn end(mut self) {
        self.ask("disconnect", json!({}));
        drop(self.out);
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0));
    }
}

/// The value of a general register after an instruction, by the trace of `genx eu run`.
fn check_write(write: &Value, registers: &[u32], flags: &BTreeMap<String, String>) {
    let (name, bits) = (write["register"].as_str().unwrap(), write["bits"].as_str().unwrap());
    let bits = u64::from_str_radix(bits.trim_start_matches("0x"), 16).unwrap();
    if let Some(flag) = flags.get(name) {
        assert_eq!(flag, &format!("{bits:#x}"), "{write}");
        return;
    }
    let Some(name) = name.strip_prefix('r') else { return };
    let (number, element) = name.split_once('.').unwrap();
    let size = match write["type"].as_str().unwrap() {
        "ub" | "b" => 1,
        "uw" | "w" | "hf" => 2,
        "ud" | "d" | "f" => 4,
        _ => 8,
    };
    let at = 32 * number.parse::<usize>().unwrap() + size * element.parse::<usize>().unwrap();
    let bytes: Vec<u8> = registers.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    let found = (0..size).fold(0, |all, n| all | u64::from(bytes[at + n]) << (8 * n));
    assert_eq!(found, bits, "{write}");
}

/// The trace of `genx eu run` for the kernel of the thread, which is at its start, with the registers
/// of the thread.
fn alone(client: &mut Client, kernel: &str, registers: &[u32]) -> Vec<Value> {
    let body =
        client.ask("disassemble", json!({ "memoryReference": kernel, "instructionCount": 2000 }));
    let list = body["instructions"].as_array().unwrap();
    let address = |value: &Value| {
        u64::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
    };
    let base = address(&list[0]["address"]);
    let last = list.iter().rfind(|it| it["presentationHint"] != "invalid").unwrap();
    let count = address(&last["address"]) + 16 - base;
    let body = client.ask("readMemory", json!({ "memoryReference": kernel, "count": count }));
    let kernel = STANDARD.decode(body["data"].as_str().unwrap()).unwrap();
    assert_eq!(kernel.len() as u64, count);
    let directory = tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let bytes: Vec<u8> = registers.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    std::fs::write(path("kernel.bin"), &kernel).unwrap();
    std::fs::write(path("grf.bin"), &bytes).unwrap();
    let (kernel, grf) = (path("kernel.bin"), path("grf.bin"));
    // The channels that the thread starts with.
    let mut dword = |name: &str| {
        let body = client.ask("evaluate", json!({ "expression": name, "frameId": 0 }));
        let text = body["result"].as_str().unwrap();
        text.split(' ').next().unwrap().parse::<u32>().unwrap()
    };
    let control = dword("cr0.0");
    let by_vector = ControlRegister::unpack_lossy(&[control, 0, 0, 0]).vector_mask_enable;
    let mask = format!("{:#x}", dword(if by_vector { "sr0.3" } else { "sr0.2" }));
    let args = ["eu", "run", &kernel, "--grf-file", &grf, "--mask", &mask, "--trace", "--json"];
    let (code, out, err) = finish(genx(args));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let run: Value = serde_json::from_str(&out).unwrap();
    run["trace"].as_array().unwrap().clone()
}

/// Stops at a pixel, steps to the end of the thread, back to its start, and forward again. Oracle:
/// `genx eu run --trace` of the same kernel with the same registers, up to the first message with a
/// response; there is no memory in that run. Returns the number of compared instructions.
fn step_through(program: &Path, pixel: &str) -> usize {
    let mut client = Client::start();
    client.launch(program, &[&format!("pixel {pixel}")]);
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "function breakpoint", "{stopped}");
    assert_eq!(stopped["hitBreakpointIds"], json!([1]));

    // The kernel and the registers at the start of the thread.
    let thread = client.scope(0, "Thread");
    assert_eq!(thread["ip"], "0x0");
    assert!(thread["pixel"].starts_with(pixel), "{thread:?}");
    let first = client.registers();
    let trace = alone(&mut client, &thread["kernel"], &first.0);

    // Forward.
    let mut seen = vec![(thread["ip"].clone(), first)];
    let mut compared = 0;
    let mut same = true;
    for entry in &trace {
        let text = entry["assembly"].as_str().unwrap();
        let ip = &seen[compared].0;
        assert_eq!(ip, entry["offset"].as_str().unwrap(), "{text}");
        if text.contains("{EOT}") {
            break;
        }
        let stopped = client.resume("next");
        assert_eq!(stopped["reason"], "step", "{stopped}");
        let thread = client.scope(0, "Thread");
        let registers = client.registers();
        same &= !text.contains("send");
        if !same {
            break;
        }
        for write in entry["writes"].as_array().unwrap() {
            check_write(write, &registers.0, &registers.1);
        }
        seen.push((thread["ip"].clone(), registers));
        compared += 1;
    }
    if !same {
        client.resume("stepBack");
    }
    // Back, and forward again.
    for (ip, registers) in seen.iter().rev().skip(1) {
        client.resume("stepBack");
        assert_eq!(&client.scope(0, "Thread")["ip"], ip);
        assert_eq!(&client.registers(), registers, "{ip}");
    }
    for (ip, registers) in &seen[1..] {
        client.resume("next");
        assert_eq!(&client.scope(0, "Thread")["ip"], ip);
        assert_eq!(&client.registers(), registers, "{ip}");
    }
    // A breakpoint at a line stops there, before the end.
    let (ip, registers) = &seen[0];
    while &client.scope(0, "Thread")["ip"] != ip {
        client.resume("stepBack");
    }
    let frames = client.frames();
    let reference = frames[0]["source"]["sourceReference"].clone();
    let text = client.ask("source", json!({ "sourceReference": reference }))["content"].clone();
    let line = frames[0]["line"].as_u64().unwrap() + 1;
    assert!(text.as_str().unwrap().lines().count() as u64 >= line);
    let lines = json!({
        "source": { "sourceReference": reference }, "breakpoints": [{ "line": line }],
    });
    let set = client.ask("setBreakpoints", lines);
    assert_eq!(set["breakpoints"][0]["verified"], true, "{set}");
    let stopped = client.resume("continue");
    assert_eq!(stopped["reason"], "breakpoint", "{stopped}");
    assert_eq!(client.frames()[0]["line"], set["breakpoints"][0]["line"]);
    let stopped = client.resume("reverseContinue");
    assert_eq!(stopped["reason"], "function breakpoint", "{stopped}");
    assert_eq!(&client.registers(), registers);
    client.end();
    compared
}

/// A pixel of the demo `triangle`: the shader interpolates three colours, so four instructions run
/// before the message that ends the thread.
#[test]
fn a_pixel_shader_of_a_demo() {
    let capture = tempdir().unwrap();
    demo_capture(Name::Triangle, capture.path());
    assert_eq!(step_through(capture.path(), "256,256"), 4);
}

/// Pixel shaders of a test of IGT and of drivers for OpenGL and Vulkan, with compact instructions
/// and flags.
#[test]
fn pixel_shaders_of_real_captures() {
    let Some(folder) = corpus::folder() else { return };
    for (input, pixel, instructions) in [
        ("images/igt_render_copy", "256,256", 4),
        ("drivers/pg_gs_clip", "40,40", 5),
        ("drivers/pg_depthstencil", "50,50", 4),
        ("aub/vk_triangle.aub.xz", "40,30", 1),
    ] {
        assert_eq!(step_through(&folder.join(input), pixel), instructions, "{input}");
    }
}

/// A recorded session of another client: `DebugClient` of @vscode/debugadapter-testsupport 1.68.0,
/// Microsoft's client for tests of adapters. It sets a breakpoint at a pixel, steps forward and
/// back, and reads registers. Each line of the file has a message; `CAPTURE` is the path of the demo
/// `triangle`. The adapter must answer in the same way.
#[test]
fn a_recorded_client() {
    let capture = tempdir().unwrap();
    demo_capture(Name::Triangle, capture.path());
    let path = capture.path().to_str().unwrap();
    let mut client = Client::start();
    let session = include_str!("dap_session.jsonl").replace("CAPTURE", path);
    for (number, line) in session.lines().enumerate() {
        let entry: Value = serde_json::from_str(line).unwrap();
        match entry["from"].as_str().unwrap() {
            "client" => client.raw(&entry["message"].to_string()),
            _ => assert_eq!(client.read(), entry["message"], "line {}", number + 1),
        }
    }
    drop(client.out);
    assert_eq!(client.child.wait().unwrap().code(), Some(0));
}

/// Packets, draws, data, conditions and the end of the run.
#[test]
fn packets_and_memory() {
    let capture = tempdir().unwrap();
    fill_capture(capture.path(), |_| ());
    let mut client = Client::start();
    client.launch(capture.path(), &["packet GPGPU_*"]);
    client.event("stopped");
    let frames = client.frames();
    assert!(frames[0]["name"].as_str().unwrap().contains("GPGPU_WALKER"), "{frames:?}");
    let packet = client.scope(0, "Packet");
    assert!(packet.iter().any(|(name, _)| name.contains("Thread Group ID X Dimension")));
    let result = client.ask("evaluate", json!({ "expression": "dw0 >> 29", "frameId": 0 }));
    assert_eq!(result["result"], "3");
    // The first group writes the pixels 0 to 7 of the first line.
    let target = json!({ "name": "0x1000000", "asAddress": true, "bytes": 4 });
    let info = client.ask("dataBreakpointInfo", target);
    let data = json!({ "breakpoints": [{ "dataId": info["dataId"] }] });
    client.ask("setDataBreakpoints", data);
    let stopped = client.resume("continue");
    assert_eq!(stopped["reason"], "data breakpoint", "{stopped}");
    let thread = client.scope(0, "Thread");
    assert_eq!(thread["group"], "0,0,0");
    let pixel = client.ask("readMemory", json!({ "memoryReference": "0x1000000", "count": 4 }));
    let expected = genx::demo::fill::pixel(0, 0);
    assert_eq!(STANDARD.decode(pixel["data"].as_str().unwrap()).unwrap(), expected);
    client.ask("setDataBreakpoints", json!({ "breakpoints": [] }));
    // A thread group, by a condition on its registers: r0.1 is X, r0.6 is Y.
    let function = json!({ "name": "kernel", "condition": "r0.1 == 3 && r0.6 == 2" });
    client.ask("setFunctionBreakpoints", json!({ "breakpoints": [function] }));
    client.resume("continue");
    assert_eq!(client.scope(0, "Thread")["group"], "3,2,0");
    // The hit with this number.
    let function = json!({ "name": "kernel", "hitCondition": "2" });
    client.ask("setFunctionBreakpoints", json!({ "breakpoints": [function] }));
    client.resume("continue");
    assert_eq!(client.scope(0, "Thread")["group"], "5,2,0");
    client.ask("setFunctionBreakpoints", json!({ "breakpoints": [] }));
    let stopped = client.resume("continue");
    assert_eq!(stopped["reason"], "end", "{stopped}");
    let stopped = client.resume("stepBack");
    assert_eq!(stopped["reason"], "step");
    assert!(client.frames()[0]["name"].as_str().unwrap().contains("MI_BATCH_BUFFER_END"));
    client.resume("continue");
    client.ask("continue", json!({ "threadId": 1 }));
    client.event("terminated");
    client.end();
}

/// A long run can be paused. Messages that arrive during a run are answered, and the run continues.
#[test]
fn a_pause() {
    let Some(folder) = corpus::folder() else { return };
    let mut client = Client::start();
    // 129 million instructions.
    client.launch(&folder.join("drivers/pg_xfb"), &[]);
    let threads = client.ask("threads", json!({}));
    assert_eq!(threads["threads"][0]["id"], 1);
    let set =
        client.ask("setFunctionBreakpoints", json!({ "breakpoints": [{ "name": "draw 999" }] }));
    assert_eq!(set["breakpoints"][0]["verified"], true);
    assert!(client.events.is_empty(), "{:?}", client.events);
    client.ask("pause", json!({ "threadId": 1 }));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "pause", "{stopped}");
    assert!(client.frames().len() > 2);
    client.end();
}

/// What a client may send at a wrong time, and what is not a message.
#[test]
fn refusals() {
    let capture = tempdir().unwrap();
    demo_capture(Name::Triangle, capture.path());
    let mut client = Client::start();
    client.raw("{ not json");
    let response = client.read();
    assert_eq!(response["success"], false);
    assert!(response["message"].as_str().unwrap().contains("not JSON"), "{response}");
    client.raw("[1, 2]");
    assert_eq!(client.read()["success"], false);
    assert!(client.refused("frobnicate", json!({})).contains("not supported"));
    assert!(client.refused("stackTrace", json!({})).contains("does not run"));
    assert!(client.refused("launch", json!({})).contains("program"));
    assert!(client.refused("launch", json!({ "program": "/nowhere" })).contains("no such file"));
    client.launch(capture.path(), &["draw 1"]);
    client.event("stopped");
    for (command, arguments, part) in [
        ("variables", json!({ "variablesReference": 77 }), "no variable"),
        ("variables", json!({ "variablesReference": "x" }), "must be a number"),
        ("variables", json!({ "variablesReference": 100 }), "no thread"),
        ("source", json!({ "sourceReference": 9 }), "no source 9"),
        ("readMemory", json!({ "memoryReference": "x", "count": 4 }), "not a number"),
        ("readMemory", json!({ "memoryReference": "0x0" }), "count"),
        ("readMemory", json!({ "memoryReference": "0x0", "count": 1u64 << 60 }), "more than"),
        ("disassemble", json!({ "memoryReference": "0" }), "instructionCount"),
        ("evaluate", json!({ "expression": "r1.0" }), "no thread"),
        ("evaluate", json!({ "expression": "1 +" }), "column"),
        ("setExceptionBreakpoints", json!({}), "filters"),
    ] {
        let message = client.refused(command, arguments);
        assert!(message.contains(part), "{command}: {message}");
    }
    // A breakpoint that cannot be set is reported, and does not stop.
    let list =
        json!({ "breakpoints": [{ "name": "pixel x" }, { "name": "draw", "condition": "(" }] });
    let set = client.ask("setFunctionBreakpoints", list);
    for answer in set["breakpoints"].as_array().unwrap() {
        assert_eq!(answer["verified"], false, "{answer}");
        assert!(!answer["message"].as_str().unwrap().is_empty());
    }
    // Memory that is not mapped.
    let body = client.ask("readMemory", json!({ "memoryReference": "0x0", "count": 8 }));
    assert_eq!(body["unreadableBytes"], 8);
    // The console executes commands of the debugger.
    let console = json!({ "expression": "info breakpoints", "context": "repl" });
    assert!(client.ask("evaluate", console)["result"].as_str().unwrap().contains("no breakpoints"));
    let console = json!({ "expression": "step 2", "context": "repl" });
    client.ask("evaluate", console);
    client.event("stopped");
    assert_eq!(client.scope(0, "Thread")["ip"], "0x10");
    client.end();

    // The header of the next message cannot be found after this.
    let mut client = Client::start();
    client.out.write_all(b"hello\r\n").unwrap();
    client.out.flush().unwrap();
    let response = client.read();
    assert!(response["message"].as_str().unwrap().contains("Content-Length"), "{response}");
    assert_eq!(client.child.wait().unwrap().code(), Some(0));
}

/// The same session over a port.
#[test]
fn a_port() {
    let capture = tempdir().unwrap();
    demo_capture(Name::Triangle, capture.path());
    let mut child = Command::new(env!("CARGO_BIN_EXE_genx"))
        .args(["debug", "--dap", "--dap-port", "0", "--syntax", "mesa"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().rsplit(' ').next().unwrap();
    let stream = TcpStream::connect(address).unwrap();
    let input = Box::new(BufReader::new(stream.try_clone().unwrap()));
    let mut client = Client { child, out: Box::new(stream), input, seq: 0, events: Vec::new() };
    client.launch(capture.path(), &["kernel"]);
    client.event("stopped");
    let reference = client.frames()[0]["source"]["sourceReference"].clone();
    let text = client.ask("source", json!({ "sourceReference": reference }))["content"].clone();
    assert!(text.as_str().unwrap().contains("mov(8)"), "Mesa's language: {text}");
    client.end();
}
