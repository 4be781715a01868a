//! Rules that a program adds to those of the manual.

use super::names::{Containers, Named};
use super::rules::Rules;
use genxml_core::reflect::{Container, Enumeration};
use genxml_core::rule::{Base, Cond, FieldRef, GroupRef, Last, Rule, Severity};
use genxml_syntax::condition::{self, Place, Scope};
use genxml_syntax::suggest;
use std::fmt;
use std::ops::Range;

/// A rule to add to the rules of the manual.
///
/// The members are the attributes of a `rule` element in `spec-xml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewRule<'a> {
    /// Name of the packet, structure, register, EU instruction or message, as the manual spells it.
    pub container: &'a str,
    /// Identifier, without spaces and `*`. No other rule has it.
    pub id: &'a str,
    /// How bad a violation is.
    pub severity: Severity,
    /// The condition that must hold, in the language of `spec-xml/SCHEMA.md`.
    pub require: &'a str,
    /// The problem if the condition does not hold.
    pub message: &'a str,
    /// Where the rule comes from; may be empty.
    pub source: &'a str,
}

impl<'a> NewRule<'a> {
    /// A rule of severity error without a source.
    pub const fn new(
        container: &'a str,
        id: &'a str,
        require: &'a str,
        message: &'a str,
    ) -> NewRule<'a> {
        NewRule { container, id, severity: Severity::Error, require, message, source: "" }
    }
}

/// A member of [`NewRule`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulePart {
    /// The name of the container.
    Container,
    /// The identifier.
    Id,
    /// The condition.
    Require,
    /// The message.
    Message,
}

/// Why a rule cannot be added.
#[derive(Clone, PartialEq, Eq)]
pub struct RuleError {
    /// The part of the rule that is wrong.
    pub part: RulePart,
    /// The text of this part.
    pub text: String,
    /// The position of the error in the text, as a range of bytes.
    pub range: Range<usize>,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub hint: String,
}

genxml_core::debug_as_display!(RuleError);

impl RuleError {
    /// An error about the whole text.
    fn new(part: RulePart, text: &str, problem: String, hint: impl Into<String>) -> RuleError {
        let (text, hint) = (text.to_owned(), hint.into());
        RuleError { part, range: 0..text.len(), text, problem, hint }
    }

    /// The position of the error in the text, counted in characters from 1.
    pub fn character(&self) -> usize {
        let before = |(at, _): &(usize, char)| *at < self.range.start;
        1 + self.text.char_indices().take_while(before).count()
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)?;
        if self.part == RulePart::Require {
            write!(f, " (character {} of `{}`)", self.character(), self.text)?;
        }
        write!(f, "; {}", self.hint)
    }
}

impl std::error::Error for RuleError {}

/// A condition with the names of the tables.
type Parsed = condition::Cond<Named, &'static Enumeration>;

/// A rule without errors.
pub(super) struct Ready<'a> {
    rule: NewRule<'a>,
    container: &'static Container,
    require: Parsed,
}

impl Rules {
    /// Adds a rule. It is then checked, listed and found like the rules of the manual, and
    /// [`set`](Self::set) changes its level.
    ///
    /// ```
    /// use genxml::check::{self, NewRule, Rules};
    /// use genxml::engine::EngineId;
    ///
    /// let mut rules = Rules::gen8();
    /// rules.add(&NewRule::new(
    ///     "PIPE_CONTROL",
    ///     "OURS-STALL",
    ///     "[Command Streamer Stall Enable] || [Post Sync Operation] == 'No Write'",
    ///     "our driver stalls before each write of PIPE_CONTROL",
    /// ))?;
    ///
    /// let write = [0x7a000004, 1 << 14, 0x1000, 0, 0, 0];
    /// let mut found = Vec::new();
    /// check::raw(EngineId::Render, 0, &write, &rules, &mut |finding| found.push(finding.rule.id));
    /// assert!(found.contains(&"OURS-STALL"));
    ///
    /// let wrong = NewRule::new("PIPE_CONTROL", "OURS-2", "[Post Sync Operatoin] == 0", "...");
    /// assert_eq!(
    ///     rules.add(&wrong).unwrap_err().to_string(),
    ///     "no field `Post Sync Operatoin` here (character 1 of `[Post Sync Operatoin] == 0`); \
    ///      did you mean `Post Sync Operation`?"
    /// );
    /// # Ok::<(), check::RuleError>(())
    /// ```
    ///
    /// # Conditions
    /// The operators are `||`, `&&`, `!`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `&`, `+`, `-`, `*`, `/`
    /// and `%`, with the precedence of C, but `&` before comparisons. Numbers are decimal or `0x`.
    /// The value of a field is its stored bits. If the manual stores a number minus one, the value
    /// is the number minus one. An address in bits 31:6 is in units of 64 bytes.
    ///
    /// | in a condition | meaning |
    /// |---|---|
    /// | `[Field]` | a field of the container |
    /// | `NAME`, `'Name'` | a named value of the field on the other side of the comparison |
    /// | `x in {A, B, 3..5}` | `x` is one of these values |
    /// | `[Struct Field.Inner]` | a field of a nested structure |
    /// | `[Group[2].Field]` | a field of one element of a group |
    /// | `[PACKET.Field]`, `[REGISTER.Field]` | the value in the last earlier packet of this name, or in the last earlier write of the register |
    /// | `last(PACKET)`, `last(PACKET, condition)` | the sequence number of the last earlier packet of this name, or of the last one for which the condition is true; 0 if there is none. Compare it with another `last` |
    /// | `all(Group, condition)`, `any(Group, condition)` | true if the condition holds for all elements of a group, or for at least one |
    /// | `count(Group)` | the number of elements of a group |
    /// | `sum(Group, value)`, `unique(Group, value)` | the sum over the elements; true if no two elements have the same value |
    ///
    /// If a value is not in the dump, a condition that depends on it gives no finding. A rule of an
    /// EU instruction or message uses only fields of its container. Structures that describe headers
    /// and payloads of messages (`MH_*`, `MHC_*`, `MACD_*`) are in registers, so their rules never
    /// give a finding.
    ///
    /// The memory of an added rule is never freed: findings refer to rules by `&'static`.
    ///
    /// # Errors
    /// If the container is unknown, if the id is malformed or another rule has it, if the message is
    /// empty, or if the condition is malformed or names something that does not exist. The rules are
    /// then unchanged.
    pub fn add(&mut self, rule: &NewRule<'_>) -> Result<&'static Rule, RuleError> {
        let ready = self.ready(rule, 0)?;
        let added = self.insert(ready);
        self.find_inside();
        Ok(added)
    }

    /// Parses a rule. `pending` is the number of searches for earlier packets in rules that will be
    /// added before it.
    pub(super) fn ready<'a>(
        &self,
        rule: &NewRule<'a>,
        pending: usize,
    ) -> Result<Ready<'a>, RuleError> {
        let NewRule { container: name, id, require, message, .. } = *rule;
        let fail = |part, text: &str, problem: String, hint: &str| {
            Err(RuleError::new(part, text, problem, hint))
        };
        let malformed = |c: char| c == '*' || c.is_whitespace();
        if id.is_empty() || id.contains(malformed) {
            let problem = format!("`{id}` is no id of a rule: it is empty, or has a space or `*`");
            return fail(RulePart::Id, id, problem, "write a word, such as OURS-STALL");
        }
        if self.is_taken(id) {
            let problem = format!("there is a rule `{id}` already");
            return fail(RulePart::Id, id, problem, "choose another id");
        }
        if message.trim().is_empty() {
            let problem = format!("rule `{id}` has no message");
            let hint = "the message says what is wrong if the condition does not hold";
            return fail(RulePart::Message, message, problem, hint);
        }
        let (names, container, place) = self.container(name)?;
        let named = Named { container, index: None };
        let scope = Scope::of(names, named, place);
        let require = condition::parse(require, names, scope).map_err(|error| {
            let advice = || {
                format!(
                    "genx spec show {name} lists fields and values; the documentation of genxml::check::Rules::add has the grammar"
                )
            };
            RuleError {
                part: RulePart::Require,
                text: require.to_owned(),
                range: error.range,
                problem: error.message,
                hint: error.hint.unwrap_or_else(advice),
            }
        })?;
        if self.lasts.len() + pending + searches(&require) > usize::from(u16::MAX) {
            let problem = "the rules have too many calls of `last`".to_owned();
            return fail(RulePart::Require, rule.require, problem, "remove rules that use it");
        }
        Ok(Ready { rule: *rule, container, require })
    }

    /// True if a rule has this id.
    fn is_taken(&self, id: &str) -> bool {
        let general = Rules::of_fields().iter().chain(Rules::of_draws());
        general.chain(self.all().map(|(_, rule)| rule)).any(|rule| rule.id == id)
    }

    /// The container with this name, the containers that its conditions can name, and the kind of
    /// its conditions.
    pub(super) fn container(
        &self,
        name: &str,
    ) -> Result<(Containers, &'static Container, Place), RuleError> {
        let lists = [(self.containers(), Place::Rule), (self.kernels(), Place::LoneRule)];
        for (list, place) in lists {
            if let Some(container) = list.iter().find(|container| container.name == name) {
                return Ok((Containers(list), container, place));
            }
        }
        let known = || self.containers().iter().chain(self.kernels()).map(|known| known.name);
        let hint = suggest::hint(name, known()).unwrap_or_else(|| {
            "genx spec list prints all packets, structures, registers and messages".to_owned()
        });
        let problem = format!("there is no packet, structure, register or message `{name}`");
        Err(RuleError::new(RulePart::Container, name, problem, hint))
    }

    /// Adds a rule without errors. [`find_inside`](Self::find_inside) must follow.
    pub(super) fn insert(&mut self, ready: Ready<'_>) -> &'static Rule {
        let Ready { rule, container, require } = ready;
        let mut statics = Statics { first: self.lasts.len(), lasts: Vec::new() };
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let made: &'static Rule = leak(Rule {
            id: leak_text(rule.id.to_owned()),
            severity: rule.severity,
            require: statics.cond(require),
            text: leak_text(one_line(rule.require)),
            message: leak_text(one_line(rule.message)),
            source: leak_text(one_line(rule.source)),
        });
        self.put(container, made, &statics.lasts);
        made
    }
}

impl Ready<'_> {
    /// The identifier.
    pub fn id(&self) -> &str {
        self.rule.id
    }

    /// Number of searches for earlier packets in the condition.
    pub fn searches(&self) -> usize {
        searches(&self.require)
    }
}

fn searches(cond: &Parsed) -> usize {
    match cond {
        condition::Cond::Number(_)
        | condition::Cond::Field(_)
        | condition::Cond::Index
        | condition::Cond::Role(_) => 0,
        condition::Cond::Not(inner)
        | condition::Cond::In(inner, _)
        | condition::Cond::Bits(inner, _) => searches(inner),
        condition::Cond::Binary(_, left, right) => searches(left) + searches(right),
        condition::Cond::Last(..) => 1,
        condition::Cond::Over(_, _, body) => body.as_deref().map_or(0, searches),
    }
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn leak_text(text: String) -> &'static str {
    text.leak()
}

/// Converts parsed conditions to those of the rules engine.
struct Statics {
    /// Index of the first search.
    first: usize,
    lasts: Vec<&'static Last>,
}

impl Statics {
    fn leaked(&mut self, cond: Parsed) -> &'static Cond {
        leak(self.cond(cond))
    }

    fn cond(&mut self, cond: Parsed) -> Cond {
        match cond {
            condition::Cond::Number(value) => Cond::Number(value),
            condition::Cond::Field(field) => Cond::Field(FieldRef {
                base: base(field.base),
                name: leak_text(field.name),
                start: field.start,
                end: field.end,
                list: field.list,
            }),
            condition::Cond::Not(inner) => Cond::Not(self.leaked(*inner)),
            condition::Cond::Binary(op, left, right) => {
                Cond::Binary(op, self.leaked(*left), self.leaked(*right))
            }
            condition::Cond::In(inner, ranges) => Cond::In(self.leaked(*inner), ranges.leak()),
            condition::Cond::Bits(inner, list) => Cond::Bits(self.leaked(*inner), list),
            condition::Cond::Last(packet, condition) => {
                let condition = condition.map(|condition| self.leaked(*condition));
                self.lasts.push(leak(Last { packet: index(packet), condition }));
                Cond::Last((self.first + self.lasts.len() - 1) as u16)
            }
            condition::Cond::Over(what, group, body) => {
                let body = body.map_or(leak(Cond::Index), |body| self.leaked(*body));
                let group = GroupRef {
                    base: base(group.base),
                    name: leak_text(group.name),
                    start: group.start,
                    bits: group.bits,
                    count: group.count,
                };
                Cond::Over(what, group, body)
            }
            condition::Cond::Index => Cond::Index,
            condition::Cond::Role(role) => Cond::Role(role),
        }
    }
}

/// The index of a container that a condition names. Every container that is found by its name has
/// one; a container without an index is unknown to the rules engine.
fn index(named: Named) -> u16 {
    named.index.unwrap_or(u16::MAX)
}

fn base(base: condition::Base<Named>) -> Base {
    match base {
        // The parser limits the depth to far fewer levels.
        condition::Base::Own(levels) => Base::Own(levels.min(u8::MAX.into()) as u8),
        condition::Base::State(named) => Base::State(index(named)),
    }
}
