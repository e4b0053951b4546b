//! What instruction-like text looks like: a table of patterns over the normal form, each with the cues it needs.
//!
//! A pattern is compiled when a text first holds all its cues. Patterns are over bytes and ASCII classes: the normal form
//! needs no more, and they compile in a fraction of the time.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::cues::Cues;
use super::reading::Kind;

struct Pattern {
    /// Each must be met by the text.
    needs: &'static [Cues],
    /// Whether a string of a program counts too: orders do, roles and answers do not.
    strings: bool,
    /// `{ai}`, `{who}` and so on stand for the words of [`WORDS`].
    source: &'static str,
    /// Whether a "not" right before the match takes it back.
    deniable: bool,
    compiled: OnceLock<Regex>,
}

impl Pattern {
    const fn new(needs: &'static [Cues], strings: bool, source: &'static str) -> Pattern {
        Pattern { needs, strings, source, deniable: false, compiled: OnceLock::new() }
    }

    const fn denied_by_not(mut self) -> Pattern {
        self.deniable = true;
        self
    }

    fn possible(&self, cues: Cues) -> bool {
        self.needs.iter().all(|need| cues.meets(*need))
    }

    fn is_match(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| {
            let mut pattern = self.source.to_owned();
            for (name, words) in WORDS {
                pattern = pattern.replace(name, words);
            }
            compile(&pattern)
        });
        let mut found = compiled.find_iter(text.as_bytes());
        found.any(|found| !(self.deniable && denied(&text[..found.start()])))
    }
}

fn denied(before: &str) -> bool {
    ["not", "n't", "never", "cannot"].iter().any(|word| before.trim_end().ends_with(word))
}

fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("the patterns of the table are tested to compile")
}

/// Whether some pattern has all its cues; with letters beyond ASCII that cannot be told yet.
pub(super) fn any_possible(cues: Cues) -> bool {
    cues.meets(Cues::FOREIGN) || PATTERNS.iter().any(|pattern| pattern.possible(cues))
}

/// Whether a text in its normal form reads like an instruction.
pub(super) fn matches(text: &str, cues: Cues, kind: Kind) -> bool {
    PATTERNS
        .iter()
        .any(|pattern| (pattern.strings || kind != Kind::String) && pattern.possible(cues) && pattern.is_match(text))
}

/// Whether a small-lettered Russian text reads like an instruction.
pub(super) fn matches_russian(text: &str, kind: Kind) -> bool {
    static ORDERS: OnceLock<Regex> = OnceLock::new();
    static ROLES: OnceLock<Regex> = OnceLock::new();
    if !RUSSIAN_CUES.iter().any(|cue| text.contains(cue)) {
        return false;
    }
    let matches = |compiled: &OnceLock<Regex>, patterns: &[&str]| {
        compiled.get_or_init(|| compile(&format!("(?:^|[^a-z]){}", any_of(patterns)))).is_match(text.as_bytes())
    };
    matches(&ORDERS, RUSSIAN_ORDERS) || (kind != Kind::String && matches(&ROLES, RUSSIAN_ROLES))
}

fn any_of(patterns: &[&str]) -> String {
    format!("(?:{})", patterns.join("|"))
}

/// The longer names first: they are replaced one after the other.
const WORDS: &[(&str, &str)] = &[
    (
        "{addressee}",
        r"(?:(?:the |any |all |every |an? |our |your |future |other |my |this )?(?:(?:automated|automatic|code|security|ai|llm|human|coding|review|downstream) )*(?:{ai}|{helper}))",
    ),
    ("{helper}", r"(?:agents?|assistants?|models?|reviewers?|bots?|linters?|hooks?|guards?|scanners?|classifiers?)"),
    (
        "{ai}",
        r"(?:ais?|llms?|language models?|chat ?bots?|claude(?: code)?|codex|copilot|chatgpt|gpt(?:-[0-9.a-z]+)?|gemini|ruleline)",
    ),
    ("{let}", r"(?:allow|approve|accept|skip|ignore|bypass|let|pass|permit|disregard|waive)"),
    (
        "{this}",
        r"(?:(?:the |any |all |every )?(?:change|edit|diff|commit|patch|pull request|pr|finding|violation|warning|file|code|write|section|block|rules?|polic(?:y|ies)|checks?|review|following|above|below)s?|this|these|that|it|them|everything|anything|all|here)",
    ),
    ("{drop}", r"(?:ignore|disregard|override|overrule|bypass|circumvent)"),
    (
        "{the}",
        r"(?:(?:the|all|any|every|each|these|those|this|that|your|you|his|its|of|were|given|previous|prior|above|earlier|preceding|following|existing|current|other|such|safety|security|project|system|review|coding|company|repository|rulebook|original|initial) )",
    ),
];

static PATTERNS: [Pattern; 19] = [
    // A note to whoever reads for an agent.
    Pattern::new(
        &[Cues::CALL, Cues::WHO],
        true,
        r"\b(?:note|message|attention|instructions?|notice|reminder|memo) (?:to|for) {addressee}\b",
    ),
    Pattern::new(
        &[Cues::GREET, Cues::WHO],
        true,
        r"\b(?:dear|hey|hello|hi|attention)[,:]? (?:to )?{addressee}(?: ?[,.!:-]| ?$| (?:please|who|that|reading|you)\b)",
    ),
    Pattern::new(&[Cues::GREET, Cues::WHO], true, r"(?:^|[.!?#/*;] ?)to {addressee}\b[^.,:]*:"),
    Pattern::new(&[Cues::GREET, Cues::WHO], true, r"\bif you(?:'re| are) (?:an? )?{ai}\b"),
    // What it must let pass.
    Pattern::new(
        &[Cues::WHO, Cues::MODAL, Cues::YIELD],
        true,
        r"\b(?:{ai}(?: {helper})?|{helper})\b[^.]*\b(?:must|should|may|can|please|shall|will|needs? to|ha(?:s|ve) to)\b (?:\w+ ){0,3}?{let}(?: (?:on |for |with )?{this}\b| ?[.!;]?$)",
    ),
    Pattern::new(
        &[Cues::WHO, Cues::MODAL, Cues::YIELD],
        true,
        r"\b{ai}\b[^.]*\b(?:must|should|may|can|please|shall|needs? to|ha(?:s|ve) to)\b (?:always |just |simply |safely )?{let}\b",
    ),
    // What it must leave out of account.
    Pattern::new(
        &[Cues::DROP, Cues::ORDERS],
        true,
        r"\b(?:{drop} {the}|skip {the}*(?:the|all|any|these|your|previous|prior|above) |forget {the}*(?:all|any|your|previous|prior|above|earlier|these) ){the}*(?:rules?|instructions?|guidelines?|directives|polic(?:y|ies)|prompts?|guardrails?|restrictions?)\b",
    )
    .denied_by_not(),
    Pattern::new(
        &[Cues::DROP, Cues::ORDERS],
        true,
        r"\b(?:(?:ignore|disregard|override|overrule) {the}+(?:checks?|guards?|hooks?|reviews?|reviewers?|linters?|constraints?|warnings? below)|(?:bypass|circumvent|skip {the}*(?:the|all|any|these|your)) {the}*(?:guards?|hooks?|reviewers?|linters?)|(?:skip|bypass|ignore) {the}*(?:checks?|reviews?|rules?) (?:for|on|in|of) (?:this|these) (?:file|change|edit|diff|commit|patch|pr|pull request|line|block|section|code|function|module)s?)\b",
    )
    .denied_by_not(),
    Pattern::new(
        &[Cues::DROP, Cues::ORDERS],
        true,
        r"\b(?:(?:ignore|disregard|forget) (?:(?:everything|anything|all) (?:above|before|you|that (?:was|is|came)|i said|written)|(?:all |any )?(?:instructions|guidelines|directives)|{the}*(?:previous|prior|above|earlier|preceding) (?:text|messages?|context|conversation))|(?:ignore|disregard|forget) the above|(?:disregard|forget) (?:\w+ ){1,5}(?:the|your|all|any|these|previous|prior) (?:\w+ ){0,2}(?:rules|instructions|guidelines|polic(?:y|ies)|prompt))\b",
    )
    .denied_by_not(),
    Pattern::new(
        &[Cues::DROP, Cues::ORDERS],
        true,
        r"(?:^|[.:;!,#*/>-] ?|please |you (?:should |must |can )?)(?:do not|don't|stop) (?:follow|obey)(?:ing)? {the}+(?:rules?|instructions?|guidelines?|directives|polic(?:y|ies)|prompts?)\b",
    ),
    // Approval that the text gives itself.
    Pattern::new(
        &[Cues::APPROVED],
        true,
        r"\b(?:pre-?approved\b|already approved\b|approved by (?:the |our |your )?(?:security|legal|compliance|privacy|owners?|maintainers?|management|admins?|reviewers?|ciso|cto|\w+ team)\b)",
    ),
    Pattern::new(
        &[Cues::APPLIES, Cues::ORDERS],
        true,
        r"\b(?:this|the|that|these|those) (?:\w+ )?(?:rules?|checks?|polic(?:y|ies)|guards?|restrictions?|hooks?) (?:does not|doesn't|do not|don't) apply(?: ?$| ?[.,:;!)-]| (?:here|there|now)\b| (?:to|in|for) (?:this|these|the following|the code below|me|us)\b)",
    ),
    Pattern::new(
        &[Cues::NEW, Cues::ORDERS],
        false,
        r"\bnew (?:system )?(?:instructions?|orders|directives|prompt) ?:",
    ),
    // Roles.
    Pattern::new(
        &[Cues::YOU, Cues::WHO],
        false,
        r"\byou(?:'re| are) (?:now |henceforth |from now on )?(?:an?|the|my|our) (?:[\w-]+,? ){0,3}?(?:assistant|classifier|agent|ai|language model|llm|chat ?bot|reviewer|bot)\b",
    ),
    Pattern::new(
        &[Cues::YOU, Cues::WHO],
        false,
        r"\b(?:as|act(?:ing)? as) an? (?:ai|llm|(?:large )?language model)\b",
    ),
    Pattern::new(
        &[Cues::LABEL],
        false,
        r"^[^a-z0-9]*(?:system|assistant|admin|developer|prompt|instructions?) ?: ?(?:you (?:must|are|should|will)|please|ignore|disregard|approve|allow|accept|skip|from now on|do not (?:flag|report|block|check|review))\b",
    ),
    Pattern::new(
        &[Cues::TAG],
        false,
        r"</?(?:system|assistant|system[-_ ]?prompt|instructions?)>|<\|(?:im_start|im_end|system|assistant)\|>|\[/?inst\]|<</?sys>>|^[^a-z0-9#]*#{2,} ?(?:system|assistant|instructions?)(?: (?:prompt|message|instructions?))? ?:?$",
    ),
    // The answer that it must give.
    Pattern::new(
        &[Cues::ANSWER],
        false,
        r"\b(?:the|your) (?:correct|right|expected|only|final) (?:answer|decision|verdict|response) (?:is|must be|should be)[ :]+(?:always )?(?:allow|allowed|approved?|yes|no|pass|passed|safe|ok|okay|true|accept|accepted|deny|benign|clean|permit|harmless)\b",
    ),
    Pattern::new(
        &[Cues::ANSWER],
        false,
        r"(?:(?:^[^a-z0-9]*|[.:!;] |please )(?:answer|respond|reply) with (?:only |just )?(?:yes|no|allow|allowed|approved?|ok|okay|true|safe|pass|json)\b)|\b(?:(?:answer|respond|reply) (?:only|always|just|exactly) (?:with|in|as)\b|(?:only|always) (?:answer|respond|reply) (?:with|in|as)\b|your (?:answer|response|reply|verdict) (?:must|should|has to) be\b|classify (?:this|it|the (?:text|change|edit|file|following|code)) (?:\w+ )?as\b|route this to\b|you must (?:always |now |only )?(?:answer|reply|respond|say|choose|approve|allow|accept)\b)",
    ),
];

const RUSSIAN_CUES: &[&str] = &[
    "игнор",
    "забуд",
    "пропус",
    "инструкц",
    "правил",
    "указан",
    "ассистент",
    "помощник",
    "ответ",
    "отвеч",
    "одобр",
    "модел",
    "рецензент",
    "ревьюер",
    "проверяющ",
    "агент",
    "согласован",
    "утвержд",
    "классифиц",
    " ии",
    "ии ",
];

const RUSSIAN_ORDERS: &[&str] = &[
    "(?:игнорируй(?:те)?|проигнорируй(?:те)?|игнорировать (?:все|эти|предыдущие|любые|данные)|забудь(?:те)?|не обращай(?:те)? внимания на|не следуй(?:те)?|обойди(?:те)?|пропусти(?:те)?|отмени(?:те)?|нарушь(?:те)?) [^.]*(?:правил|инструкц|указани|политик|ограничени|промпт|проверк|предписани)",
    "(?:забудь(?:те)?|игнорируй(?:те)?) (?:все|всё) ?(?:выше|предыдущ|остальн|что)",
    "(?:это|данное|эта|данная|эти) (?:правил|проверк|политик|ограничени)[^ ]* (?:здесь |тут |к этому файлу )?не (?:применя|действу|распространя|применим|работа)",
    "(?:уже|предварительно|заранее) (?:одобрен|согласован|утвержден)",
    "(?:одобрен|согласован|утвержден)[^ ]* (?:службой|командой|отделом|безопасност|юрист|владельц|руководств)",
    "(?:примечание|сообщение|заметка|внимание|обращение|инструкци[^ ]*|указани[^ ]*) ?(?:для|к|:|,) ?(?:всех )?(?:ии[ ,.:!]|ассистент|агент|модел|рецензент|ревьюер|проверяющ|бот|claude|codex)",
    "(?:ии|ассистент|агент|рецензент|ревьюер|проверяющ|claude|codex)[^ ]* [^.]*(?:долж|может|могут|обязан|пусть|пожалуйста)[^ ]* [^.]*(?:разреш|одобр|пропус|приня|прими|игнорир|обойти)",
    "(?:разреши|одобри|пропусти|прими)(?:те)? (?:это|эту|этот|данн)[^ ]* (?:правк|изменени|код|файл|коммит|запис)",
];

const RUSSIAN_ROLES: &[&str] = &[
    "новые (?:инструкции|указания|правила|приказы) ?:",
    "(?:ты|вы) (?:теперь |отныне |- |это )*(?:полезный |умный )?(?:ассистент|помощник|агент|модель|ии[ ,.:!]|языковая модель|классификатор|бот|рецензент)",
    "как (?:ии[ ,.:!]|языковая модель|ассистент)",
    "правильн[^ ]* (?:ответ|вердикт|решение) ?(?:-|:|это|будет|разреш|да|нет|одобр)",
    "(?:отвечай|ответь)(?:те)? (?:только|всегда)",
    "классифицируй(?:те)? (?:это|этот|данн)",
    "(?:ты должен|вы должны) (?:ответить|отвечать|выбрать|разрешить|одобрить|пропустить)",
];
