//! Allowing once what an agent was refused: what a person reads before, and what they allow (S10).
//!
//! One act is about one rule, one file and the very lines that were refused. What no person can allow from here says why:
//! self-protection, the instruction check, what could not be judged. Reads nothing; grants nothing itself.

use std::fmt::Write as _;
use std::path::PathBuf;

use hooks::review::escape;
use records::{Entry, JudgedFile, Outcome};
use rules::plain::{ID, WHY, plain};
use system::digest::bytes_of;

use crate::features::decisions::{path, stops};

/// The guards whose word nobody allows away.
const NEVER: [(&str, &str); 2] = [
    ("protection", "self-protection holds whatever a person allows"),
    ("instructions", "what the instruction check found cannot be allowed"),
];

/// One thing a person may allow: a rule in a file for the lines of one refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    /// The decision.
    pub refusal: String,
    /// The project, canonical.
    pub root: PathBuf,
    /// The file, canonical.
    pub path: PathBuf,
    /// The rule.
    pub rule: String,
    /// The rulebook.
    pub rulebook: PathBuf,
    /// The digest of its bytes.
    pub rulebook_digest: [u8; 32],
    /// The digest of the refused lines.
    pub added: [u8; 32],
}

impl Allowance {
    /// `rule no-eval in src/a.py`
    pub fn sentence(&self) -> String {
        let file = self.path.strip_prefix(&self.root).unwrap_or(&self.path);
        format!("rule {} in {}", plain(&self.rule, ID), path(file))
    }

    /// The first digits of the digest of the lines.
    pub fn short(&self) -> String {
        system::digest::hex(&self.added[..6])
    }
}

/// What may be allowed of a decision, one act each.
///
/// # Errors
/// Why nothing may, in one line.
pub fn allowances(entry: &Entry) -> Result<Vec<Allowance>, String> {
    if !matches!(entry.decision, Outcome::Deny | Outcome::Ask) {
        return Err("nothing was refused".to_owned());
    }
    let said = |name: &str| {
        let stopped = |outcome: &Outcome| matches!(outcome, Outcome::Deny | Outcome::Ask);
        entry.guards.iter().any(|(guard, outcome, _)| guard == name && stopped(outcome))
    };
    if let Some((_, why)) = NEVER.iter().find(|(name, _)| said(name)) {
        return Err((*why).to_owned());
    }
    let mut allowances: Vec<Allowance> = Vec::new();
    for file in &entry.files {
        for finding in file.findings.iter().filter(|finding| stops(finding)) {
            let Some(rule) = &finding.rule else {
                return Err(NEVER[1].1.to_owned());
            };
            let digests = finding.rulebook_digest.as_deref().and_then(bytes_of).zip(bytes_of(&file.digest));
            let Some((rulebook, (rulebook_digest, added))) = finding.rulebook.clone().zip(digests) else { continue };
            let (rule, path, root) = (rule.clone(), file.path.clone(), entry.root.clone());
            let refusal = entry.id.clone();
            let one = Allowance { refusal, root, path, rule, rulebook, rulebook_digest, added };
            if !allowances.contains(&one) {
                allowances.push(one);
            }
        }
    }
    if allowances.is_empty() {
        return Err("no rule refused it, so no rule can let it pass".to_owned());
    }
    Ok(allowances)
}

/// The text that a person reads; `may` says why nothing can be allowed from here.
pub fn review(entry: &Entry, may: Result<&[Allowance], &str>) -> String {
    let mut text = String::new();
    let agent = plain(&entry.agent, ID);
    let what = match entry.decision {
        Outcome::Deny => format!("{agent} was refused"),
        Outcome::Ask => format!("{agent} had to ask"),
        Outcome::Allow | Outcome::None => format!("{agent} was not stopped"),
    };
    let tool = if entry.tool.is_empty() { String::new() } else { format!(" with {}", plain(&entry.tool, ID)) };
    let _ = writeln!(text, "{what}{tool} in {}", path(&entry.root));
    let session = entry.session.as_deref().map_or_else(|| "unknown".to_owned(), |session| plain(session, ID));
    let _ = writeln!(text, "{}, session {session}, decision {}", plain(&entry.time, ID), plain(&entry.id, ID));
    if !entry.reason.is_empty() {
        text.push_str("\nIt was told:\n");
        for line in entry.reason.lines() {
            let _ = writeln!(text, "  {}", escape(line));
        }
    }
    for file in &entry.files {
        show_file(file, &mut text);
    }
    if let Some(command) = &entry.command {
        text.push_str("\nThe command:\n");
        for line in command.lines() {
            let _ = writeln!(text, "  {}", escape(line));
        }
    }
    text.push('\n');
    match may {
        Ok(acts) => {
            text.push_str(
                "What allowing once means: the next time an agent makes exactly this edit of this file, these lines and no\n\
                 others, within ten minutes, the rule lets it pass. Then the rule holds again. Everything else that is\n\
                 said about the edit still holds. It is recorded who allowed it.\n",
            );
            if acts.len() > 1 {
                let _ = writeln!(
                    text,
                    "\n{} rules stand against it. Each is allowed by itself; the edit passes when all are:",
                    acts.len()
                );
                for act in acts {
                    let _ = writeln!(text, "  {}", act.sentence());
                }
            }
        }
        Err(why) => {
            let _ = writeln!(text, "It cannot be allowed from here: {}.", plain(why, WHY));
        }
    }
    text
}

fn show_file(file: &JudgedFile, text: &mut String) {
    let gone = if file.deleted { " (to be deleted)" } else { "" };
    let _ = writeln!(text, "\n== {}{gone}", path(&file.path));
    for finding in &file.findings {
        let rule =
            finding.rule.as_deref().map_or("the instruction check".to_owned(), |id| format!("rule {}", plain(id, ID)));
        let effect = plain(&finding.effect, ID);
        let _ = writeln!(text, "  {effect}, line {}: {rule}: {}", finding.line, plain(&finding.what, WHY));
        if let Some(rulebook) = &finding.rulebook {
            let digest = finding.rulebook_digest.as_deref().unwrap_or_default();
            let digest: String = plain(digest, ID).chars().take(12).collect();
            let _ = writeln!(text, "    of {} ({digest})", path(rulebook));
        }
    }
    if file.added.is_empty() {
        text.push_str("  The log holds none of its lines.\n");
        return;
    }
    let digits: String = plain(&file.digest, ID).chars().take(12).collect();
    let _ = writeln!(text, "  The lines it would have added, as the log holds them ({digits}):");
    for line in &file.added {
        let _ = writeln!(text, "  {:>6} | {}", line.line, escape(&line.text));
    }
}

/// What is offered over a review: one act with the token that stands for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What the lens or menu says.
    pub title: String,
    /// The decision.
    pub refusal: String,
    /// Of the review.
    pub token: String,
}

/// The acts of a review that was shown, as they are offered.
pub fn offers(acts: &[(Allowance, String)]) -> Vec<Offer> {
    let title = |act: &Allowance| {
        if acts.len() == 1 { "Allow this once".to_owned() } else { format!("Allow this once: {}", act.sentence()) }
    };
    let offer = |(act, token): &(Allowance, String)| Offer {
        title: title(act),
        refusal: act.refusal.clone(),
        token: token.clone(),
    };
    acts.iter().map(offer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::decisions::tests::entry;

    #[test]
    fn s10_each_rule_of_each_file_is_an_act_of_its_own() {
        let mut refused = entry("3f", Outcome::Deny, "/w/src/a.py");
        let mut other = refused.files[0].clone();
        other.findings[0].rule = Some("other".into());
        let twice = other.findings[0].clone();
        other.findings.push(twice);
        let warned = records::Finding { effect: "warn".into(), rule: Some("soft".into()), ..other.findings[0].clone() };
        other.findings.push(warned);
        other.path = "/w/b.py".into();
        refused.files.push(other);
        let acts = allowances(&refused).unwrap();
        let said: Vec<String> = acts.iter().map(Allowance::sentence).collect();
        assert_eq!(said, ["rule no-eval in src/a.py", "rule other in b.py"]);
        assert_eq!((acts[0].rulebook_digest, acts[0].added), ([0xab; 32], [0xcd; 32]));
        let text = review(&refused, Ok(&acts));
        assert!(text.contains("2 rules stand against it. Each is allowed by itself"), "{text}");
        let acts: Vec<_> = acts.into_iter().map(|act| (act, "t".to_owned())).collect();
        assert_eq!(offers(&acts)[1].title, "Allow this once: rule other in b.py");
        assert_eq!(offers(&acts[..1])[0].title, "Allow this once");
    }

    #[test]
    fn s10_what_nobody_may_allow_says_why() {
        let mut protected = entry("3f", Outcome::Ask, "/w/a.py");
        protected.guards.push(("protection".into(), Outcome::Ask, 1));
        let mut instructed = entry("3f", Outcome::Ask, "/w/a.py");
        instructed.files[0].findings[0].rule = None;
        let mut unjudged = entry("3f", Outcome::Ask, "/w/a.py");
        unjudged.files[0].findings.clear();
        let mut nameless = entry("3f", Outcome::Deny, "/w/a.py");
        nameless.files[0].findings[0].rulebook_digest = Some("xyz".into());
        for (entry, why) in [
            (entry("3f", Outcome::Allow, "/w/a.py"), "nothing was refused"),
            (protected, "self-protection"),
            (instructed, "instruction check"),
            (unjudged, "no rule refused it"),
            (nameless, "no rule refused it"),
        ] {
            let said = allowances(&entry).unwrap_err();
            assert!(said.contains(why), "{said}");
            assert!(review(&entry, Err(&said)).contains(&format!("It cannot be allowed from here: {said}.")));
        }
    }

    #[test]
    fn s19_a_review_shows_whole_lines_and_no_control_characters() {
        let mut refused = entry("3f\n", Outcome::Deny, "/w/a\u{202e}.py");
        let long = "x".repeat(5000);
        refused.reason = "one\ntwo\u{1b}[2J".into();
        refused.command = Some("rm\u{7} -r\nls".into());
        refused.files[0].added[0].text = format!("{long}\u{200b}\teval(x)\u{85}");
        refused.files[0].findings[0].what = "a\nb".into();
        let text = review(&refused, Ok(&[]));
        assert!(text.contains(&format!("     2 | {long}\\u{{200b}}\\teval(x)\\u{{85}}")), "{text}");
        assert!(!text.chars().any(|it| it != '\n' && (it.is_control() || rules::plain::is_hidden(it))));
    }
}
