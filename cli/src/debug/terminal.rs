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
use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal};

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
    Pipe,
    Nothing,
}

/// The debugger with commands as text.
pub struct Terminal {
    scripted: VecDeque<String>,
    input: Input,
    session: Session,
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
            Input::Pipe
        };
        let session = Session::new(args.syntax.into());
        Ok(Terminal { scripted, input, session, last: String::new(), failed: false })
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
            Input::Pipe => {
                let mut line = String::new();
                match io::stdin().lock().read_line(&mut line) {
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

impl Controller for Terminal {
    fn stopped(&mut self, stop: &Stop<'_>, breakpoints: &mut Breakpoints) -> Command {
        if let Some(command) = self.session.arrive(stop) {
            return command;
        }
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
