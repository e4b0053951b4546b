// How often a server that died is started again, and after which pause.

/** Within this many milliseconds crashes count together. */
const WINDOW = 3 * 60_000;
/** The pauses before each new start, in milliseconds; after that many crashes within the window no new start follows. */
const PAUSES = [0, 500, 2000, 8000] as const;

/** The crashes of a server. */
export class Crashes {
  #times: number[] = [];

  /** A crash at this time; the pause before the next start in milliseconds, or nothing when there is to be none. */
  add(now: number): number | undefined {
    this.#times = this.#times.filter((time) => now - time < WINDOW);
    this.#times.push(now);
    return PAUSES[this.#times.length - 1];
  }
}
