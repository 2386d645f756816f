import type { ValuePlace } from '#gateway/framing/json-members.ts';
import { isNamed, type JsonListener } from '#shared/json/json-scanner.ts';

interface Read {
  isAssistant: boolean;
  hasResult: boolean;
  blocks: number;
  startsWithThought: boolean;
}

const nothing: Readonly<Read> = { isAssistant: false, hasResult: false, blocks: 0, startsWithThought: false };

/**
 * Finds whether the last message has results for a turn that does not start with a thought, while a scanner reads the
 * messages of a request, which are on level 2. Anthropic refuses such a turn if the model is to think with a budget
 * (https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking#preserving-thinking-blocks). It comes from a
 * conversation that began at another model.
 */
export class CalledTurn implements JsonListener {
  readonly maxLevel = 5;
  readonly #bytes: Buffer;
  #before: Read = { ...nothing };
  #last: Read = { ...nothing };
  /** The member that is read: of a message, and of a block of its content. */
  #member: 'role' | 'content' | null = null;
  #isType = false;
  #start = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get lacksThought(): boolean {
    const { isAssistant, blocks, startsWithThought } = this.#before;
    return this.#last.hasResult && isAssistant && blocks > 0 && !startsWithThought;
  }

  begin(level: number, start: number, nameStart: number, nameEnd: number): void {
    this.#start = start;
    if (level < 3) this.#beginMessage(level);
    else if (level === 3) this.#member = this.#memberAt(nameStart, nameEnd);
    else if (level === 4 && this.#member === 'content') this.#last.blocks += 1;
    else if (level === 5) this.#isType = nameStart !== -1 && isNamed(this.#bytes, nameStart, nameEnd, 'type');
  }

  end(level: number, end: number): void {
    const place = { valueStart: this.#start, end };
    if (level === 3 && this.#member === 'role') this.#last.isAssistant = this.#is(place, 'assistant');
    if (level !== 5 || !this.#isType || this.#member !== 'content') return;
    this.#last.hasResult ||= this.#is(place, 'tool_result');
    if (this.#last.blocks === 1)
      this.#last.startsWithThought = this.#is(place, 'thinking') || this.#is(place, 'redacted_thinking');
  }

  /** Begins a message. If `messages` occurs twice, the last one counts, as for JSON.parse. */
  #beginMessage(level: number): void {
    this.#before = level === 1 ? { ...nothing } : this.#last;
    this.#last = { ...nothing };
    this.#member = null;
  }

  #memberAt(start: number, end: number): 'role' | 'content' | null {
    if (start === -1) return null;
    if (isNamed(this.#bytes, start, end, 'role')) return 'role';
    return isNamed(this.#bytes, start, end, 'content') ? 'content' : null;
  }

  #is({ valueStart, end }: ValuePlace, name: string): boolean {
    return isNamed(this.#bytes, valueStart, end, name);
  }
}
