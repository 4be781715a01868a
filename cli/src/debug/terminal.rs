//! Reads the commands of the debugger: from files, options, a terminal or a pipe.

use super::args::Args;
use super::commands::{self, Outcome, Session};
use super::show;
use crate::output::{Error, Exit, bad_input, stdout};
use genxml_sim::inspect::debugger::{Breakpoints, Command, Controller, Stop};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{Context, Editor, Helper, Highlighter, Hinter, Validator};
use signal_hook::consts::SIGINT;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Completes the names of commands.
#[derive(Helper, Highlighter, Hinter, Validator)]
struct Names;

impl Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let start = line[..at].find(|c: char| !c.is_whitespace()).unwrap_or(at);
        let word = &line[start..at];
        if word.contains(char::is_whitespace) {
            return Ok((at, Vec::new()));
        }
        let names = commands::names().filter(|name| name.starts_with(word));
        Ok((start, names.map(str::to_owned).collect()))
    }
}

/// Where commands come from after those of files and options.
enum Input {
    Terminal(Box<Editor<Names, DefaultHistory>>),
    /// This reader has a buffer of its own, because the buffer of standard input is private.
    Pipe(BufReader<io::Stdin>),
    Nothing,
}

/// The debugger with commands as text.
pub struct Terminal {
    scripted: VecDeque<String>,
    input: Input,
    session: Session,
    /// Set by Ctrl-C. A second Ctrl-C before the run has stopped ends the program.
    interrupted: Arc<AtomicBool>,
    /// The last command line of a terminal; an empty line repeats it.
    last: String,
    failed: bool,
}

impl Terminal {
    /// Reads the files with commands, and opens the terminal.
    pub fn new(args: &Args) -> Result<Terminal, Error> {
        let mut scripted = VecDeque::new();
        for path in &args.commands {
            let text = crate::assembly::read_text(path)?;
            scripted.extend(text.lines().map(str::to_owned));
        }
        scripted.extend(args.evaluate.iter().cloned());
        let input = if args.batch {
            Input::Nothing
        } else if io::stdin().is_terminal() {
            let mut editor = Editor::new()
                .map_err(|error| bad_input(format!("cannot use the terminal: {error}")))?;
            editor.set_helper(Some(Names));
            Input::Terminal(Box::new(editor))
        } else {
            Input::Pipe(BufReader::new(io::stdin()))
        };
        let interrupted = Arc::new(AtomicBool::new(false));
        if !matches!(input, Input::Nothing) {
            pause_at_interrupt(&interrupted)
                .map_err(|error| bad_input(format!("cannot handle Ctrl-C: {error}")))?;
        }
        let session = Session::new(args.syntax.into());
        let last = String::new();
        Ok(Terminal { scripted, input, session, interrupted, last, failed: false })
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        if self.failed { Exit::BadInput } else { Exit::Ok }
    }

    /// The next command line, and whether it was typed at a terminal; `None` at the end.
    fn line(&mut self) -> Option<(String, bool)> {
        if let Some(line) = self.scripted.pop_front() {
            return Some((line, false));
        }
        match &mut self.input {
            Input::Nothing => None,
            Input::Pipe(pipe) => {
                let mut line = String::new();
                let waits = !pipe.buffer().contains(&b'\n');
                let read = pipe.read_line(&mut line);
                if waits {
                    // Nothing runs while the debugger waits, so a Ctrl-C then has no effect.
                    self.interrupted.store(false, Ordering::Relaxed);
                }
                match read {
                    Ok(0) => None,
                    Ok(_) => Some((line, false)),
                    Err(error) => {
                        eprintln!("genx: cannot read commands: {error}");
                        self.failed = true;
                        None
                    }
                }
            }
            Input::Terminal(editor) => loop {
                match editor.readline("(genx) ") {
                    Ok(line) if line.trim().is_empty() => return Some((self.last.clone(), true)),
                    Ok(line) => {
                        // A line that cannot be remembered can still be executed.
                        _ = editor.add_history_entry(&line);
                        self.last.clone_from(&line);
                        return Some((line, true));
                    }
                    Err(ReadlineError::Interrupted) => {}
                    Err(_) => return None,
                }
            },
        }
    }

    /// Prints text. A closed pipe is not an error; after any other error, the exit code is 2.
    fn print(&mut self, text: &str) {
        if let Err(error) = stdout(|out| out.write_all(text.as_bytes())) {
            eprintln!("genx: {}", error.text);
            self.failed = true;
        }
    }
}

/// Ctrl-C sets the flag. If the flag is set already, Ctrl-C ends the program with exit code 130.
/// Shells report this code for a program that SIGINT ended.
fn pause_at_interrupt(interrupted: &Arc<AtomicBool>) -> io::Result<()> {
    use signal_hook::flag::{register, register_conditional_shutdown};
    // Functions run in the order of registration. The shutdown must see the value that the flag had
    // before this signal.
    register_conditional_shutdown(SIGINT, 128 + SIGINT, Arc::clone(interrupted))?;
    register(SIGINT, Arc::clone(interrupted))?;
    Ok(())
}

impl Controller for Terminal {
    fn pauses(&mut self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn stopped(&mut self, stop: &Stop<'_>, breakpoints: &mut Breakpoints) -> Command {
        if let Some(command) = self.session.arrive(stop) {
            return command;
        }
        self.interrupted.store(false, Ordering::Relaxed);
        let text = show::stop(stop, self.session.syntax());
        self.print(&text);
        loop {
            let Some((line, typed)) = self.line() else { return Command::Quit };
            match self.session.execute(&line, stop, breakpoints) {
                Ok(Outcome::Print(text)) => self.print(&text),
                Ok(Outcome::Resume(command)) => return command,
                Err(problem) => {
                    // Standard output is already flushed, so this line comes after earlier text.
                    eprintln!("error: {problem}");
                    self.failed |= !typed;
                }
            }
        }
    }
}
