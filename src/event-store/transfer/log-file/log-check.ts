import { createHash } from 'node:crypto';
import type { ReadonlyChainHeads } from '#event-store/chain-heads.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import { ChainVerifier } from '#event-store/hash-chain.ts';
import { type ParsedTexts, parseTexts } from '#event-store/recorded-event.ts';
import { describeBroken, describeUndecodable, LogError } from '#event-store/transfer/log-failure.ts';

/** What the last line of a log file says about all lines between it and the first. */
export interface LogSummary {
  readonly events: number;
  /** SHA-256, in hex, over the lines of all events, each with its "\n": equal for equal logs on any engine. */
  readonly sha256: string;
}

export class LogCheck {
  readonly #chains = new ChainVerifier();
  readonly #lines = createHash('sha256');
  readonly #onBroken: ((fault: string) => void) | null;
  readonly #faultOf: (event: StoredEvent, texts: ParsedTexts) => string | null;
  #events = 0;

  /**
   * @param onBroken gets each fault, and the check continues; null to stop at the first
   * @param faultOf decodes an event and returns what is wrong with it; by default events are not decoded
   */
  constructor(
    onBroken: ((fault: string) => void) | null = null,
    faultOf: (event: StoredEvent, texts: ParsedTexts) => string | null = () => null,
  ) {
    this.#onBroken = onBroken;
    this.#faultOf = faultOf;
  }

  get events(): number {
    return this.#events;
  }

  get streams(): number {
    return this.#chains.streams;
  }

  /** The heads of the streams so far. */
  get heads(): ReadonlyChainHeads {
    return this.#chains.heads;
  }

  /** @param line with its end @throws LogError if its stream's chain is broken, or if it does not decode */
  add(event: StoredEvent, line: string | Buffer, texts: ParsedTexts = parseTexts(event)): void {
    const broken = this.#chains.verify(event, texts);
    if (broken !== null) this.#report(describeBroken(broken));
    else {
      const fault = this.#faultOf(event, texts);
      if (fault !== null) this.#report(describeUndecodable(event, fault));
    }
    this.#lines.update(line);
    this.#events += 1;
  }

  /** The summary of the events so far. */
  summary(): LogSummary {
    return { events: this.#events, sha256: this.#lines.copy().digest('hex') };
  }

  #report(fault: string): void {
    if (this.#onBroken === null) throw new LogError(fault);
    this.#onBroken(fault);
  }
}
