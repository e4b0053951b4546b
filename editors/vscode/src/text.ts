// Text that others wrote, as it may be shown: one line, bounded, nothing that an editor would interpret.
//
// The server has made its texts plain already; what is shown here does not rely on that.

/** The longest text that is shown in one piece. */
const LONGEST = 2000;

/** One line of at most `most` characters without control, direction or zero-width characters. */
export function plain(text: string, most = LONGEST): string {
  const line = text
    .slice(0, most + 1)
    .replace(/[\t\n\r\u2028\u2029]+/gu, " ")
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "\uFFFD");
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** As `plain`, for labels in which VS Code draws `$(name)` as an icon. */
export function label(text: string, most = 200): string {
  return plain(text, most).replaceAll("$(", "$ (");
}

/** As `plain`, for messages in which VS Code makes links of `[text](address)`, even such that run commands. */
export function message(text: string): string {
  return plain(text).replaceAll("](", "] (");
}

/** A number with its noun. */
export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}

/** The first block of code of a language in a Markdown text; empty where there is none. */
export function fenced(markdown: string, language: string): string {
  const [, rest = ""] = markdown.split(`\`\`\`${language}\n`);
  return rest.split("```")[0] ?? "";
}
