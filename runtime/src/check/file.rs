//! Files with rules: the `rule` elements of `spec-xml` inside the elements of their containers.

use super::added::{NewRule, Ready, RulePart};
use super::rules::Rules;
use genxml_core::rule::{Rule, Severity};
use genxml_syntax::xml::{self, At, Attribute, Element, Problem, ProblemKind, Span};
use serde::Deserialize;
use std::fmt;

/// Line 1, column 1: the position of an error in a file that has no elements.
const START: &str = "a file of rules starts with <rules>, then <container name=\"3DSTATE_PS\">";

/// The severities that a rule may have.
const SEVERITIES: [Severity; 3] = [Severity::Error, Severity::Warning, Severity::Workaround];

/// An error in a file of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// Line, counted from 1.
    pub line: usize,
    /// Character in the line, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub problem: String,
    /// What to do, if there is advice.
    pub hint: Option<String>,
}

/// `3:17: what is wrong; what to do`.
impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileProblem { line, column, problem, hint } = self;
        write!(f, "{line}:{column}: {problem}")?;
        hint.iter().try_for_each(|hint| write!(f, "; {hint}"))
    }
}

/// Why a file of rules cannot be read: all its errors, in the order of the file.
#[derive(Clone, PartialEq, Eq)]
pub struct FileError {
    /// The errors; at least one.
    pub problems: Vec<FileProblem>,
}

genxml_core::debug_as_display!(FileError);

/// One line for each error.
impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for FileError {}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ContainerAttributes {
    name: Option<At>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct NoAttributes {}

impl Rules {
    /// Adds the rules of a file, as [`add`](Self::add) does. The file is XML. Its `rule` elements
    /// are those of `spec-xml`, each in an element with the name of its container:
    ///
    /// ```
    /// use genxml::check::Rules;
    ///
    /// let mut rules = Rules::gen8();
    /// let added = rules.read(
    ///     r#"<rules>
    ///          <container name="3DSTATE_PS">
    ///            <rule id="OURS-PS-THREADS" severity="warning" source="our tuning guide, page 3"
    ///                  require="[Maximum Number of Threads Per PSD] &gt;= 16"
    ///                  message="the pixel shader runs with few threads"/>
    ///          </container>
    ///        </rules>"#,
    /// )?;
    /// assert_eq!(added[0].id, "OURS-PS-THREADS");
    ///
    /// let error = rules.read("<rules>\n  <container name=\"3DSTATE_BS\"/>\n</rules>").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "2:20: there is no packet, structure, register or message `3DSTATE_BS`; \
    ///      did you mean `3DSTATE_DS`?"
    /// );
    /// # Ok::<(), genxml::check::FileError>(())
    /// ```
    ///
    /// In XML, `&&` is written `&amp;&amp;` and `<` is written `&lt;`. A rule without `severity` is
    /// an error.
    ///
    /// # Errors
    /// If the text is not such a file, or if a rule cannot be added. The error has the positions of
    /// all problems, and the rules are unchanged.
    pub fn read(&mut self, text: &str) -> Result<Vec<&'static Rule>, FileError> {
        let mut problems = Vec::new();
        let root = xml::parse(0, text, START, &mut problems);
        let mut reader = Reader { rules: self, text, pending: 0, ready: Vec::new(), problems };
        if let Some(root) = &root {
            reader.root(root);
        }
        let Reader { ready, mut problems, .. } = reader;
        if !problems.is_empty() {
            problems.sort_by_key(|problem| problem.span.range.start);
            let problems = problems.into_iter().map(|problem| at_line(text, problem)).collect();
            return Err(FileError { problems });
        }
        let added = ready.into_iter().map(|ready| self.insert(ready)).collect();
        self.find_inside();
        Ok(added)
    }
}

/// Reads the elements of a file.
struct Reader<'r, 'a> {
    rules: &'r Rules,
    text: &'a str,
    /// Number of searches for earlier packets in the rules so far.
    pending: usize,
    ready: Vec<Ready<'a>>,
    problems: Vec<Problem>,
}

impl<'a> Reader<'_, 'a> {
    fn report(&mut self, span: &Span, message: String, hint: impl Into<String>) {
        let (kind, span, hint) = (ProblemKind::Malformed, span.clone(), Some(hint.into()));
        self.problems.push(Problem { kind, span, message, inside: None, hint });
    }

    /// The value of an attribute that must not be empty.
    fn required(
        &mut self,
        element: &'a Element,
        at: Option<At>,
        name: &str,
    ) -> Option<&'a Attribute> {
        let found = at.map(|at| element.at(at)).filter(|found| !found.value.trim().is_empty());
        if found.is_none() {
            let message = format!("<{}> needs the attribute `{name}`", element.name);
            self.report(&element.span, message, format!("write {name}=\"...\""));
        }
        found
    }

    /// Reports text inside the element, and elements with another name than `inner`.
    fn content(&mut self, element: &Element, inner: &str) {
        if let Some(span) = &element.text_span {
            let message = format!("text inside <{}>, which holds only elements", element.name);
            self.report(span, message, "put comments between <!-- and -->");
        }
        for child in element.children.iter().filter(|child| child.name != inner) {
            let message = format!("<{}> cannot stand inside <{}>", child.name, element.name);
            self.report(&child.name_span, message, format!("write <{inner}>"));
        }
    }

    fn root(&mut self, root: &'a Element) {
        if root.name != "rules" {
            let message = format!("<{}> is not a file of rules", root.name);
            return self.report(&root.name_span, message, START);
        }
        let NoAttributes {} = xml::attributes(root, &mut self.problems);
        self.content(root, "container");
        for container in root.children.iter().filter(|child| child.name == "container") {
            self.container(container);
        }
    }

    fn container(&mut self, element: &'a Element) {
        let attributes: ContainerAttributes = xml::attributes(element, &mut self.problems);
        self.content(element, "rule");
        let Some(name) = self.required(element, attributes.name, "name") else { return };
        if let Err(error) = self.rules.container(name.value.trim()) {
            return self.report(&name.value_span, error.problem, error.hint);
        }
        for rule in element.children.iter().filter(|child| child.name == "rule") {
            self.rule(rule, name.value.trim());
        }
    }

    fn rule(&mut self, element: &'a Element, container: &'a str) {
        let attributes: xml::RuleAttributes = xml::attributes(element, &mut self.problems);
        self.content(element, "doc");
        let severity = attributes.severity.map(|at| element.at(at));
        let named = |name: &str| SEVERITIES.into_iter().find(|severity| severity.name() == name);
        let severity = match severity {
            None => Some(Severity::Error),
            Some(attribute) => {
                let found = named(attribute.value.trim());
                if found.is_none() {
                    let message = format!("there is no severity `{}`", attribute.value.trim());
                    let hint = "write error, warning or workaround";
                    self.report(&attribute.value_span, message, hint);
                }
                found
            }
        };
        let id = self.required(element, attributes.id, "id");
        let require = self.required(element, attributes.require, "require");
        let message = self.required(element, attributes.message, "message");
        let (Some(severity), Some(id), Some(require), Some(message)) =
            (severity, id, require, message)
        else {
            return;
        };
        let rule = NewRule {
            container,
            id: id.value.trim(),
            severity,
            require: &require.value,
            message: message.value.trim(),
            source: attributes.source.map_or("", |at| element.at(at).value.trim()),
        };
        if self.ready.iter().any(|ready| ready.id() == rule.id) {
            let problem = format!("two rules of the file have the id `{}`", rule.id);
            return self.report(&id.value_span, problem, "choose another id");
        }
        match self.rules.ready(&rule, self.pending) {
            Ok(ready) => {
                self.pending += ready.searches();
                self.ready.push(ready);
            }
            Err(error) => {
                let span = match error.part {
                    RulePart::Container => element.span.clone(),
                    RulePart::Id => id.value_span.clone(),
                    RulePart::Message => message.value_span.clone(),
                    RulePart::Require => {
                        let position = |at| require.position(self.text, at);
                        let range = position(error.range.start)..position(error.range.end);
                        Span { file: 0, range }
                    }
                };
                self.report(&span, error.problem, error.hint);
            }
        }
    }
}

/// The problem with its line and column.
fn at_line(text: &str, problem: Problem) -> FileProblem {
    let Problem { span, message, hint, .. } = problem;
    let before = |(at, _): &(usize, char)| *at < span.range.start;
    let (mut line, mut column) = (1, 1);
    for (_, c) in text.char_indices().take_while(before) {
        (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
    }
    FileProblem { line, column, problem: message, hint }
}
