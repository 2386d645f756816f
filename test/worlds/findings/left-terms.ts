import type { SimulatedTime } from '../simulated-time.ts';
import type { CallFate } from '../weather.ts';

const message = 'Work has not ended 10 s after its term';
/** For how long a call that does not go well may be unanswered. */
const lastsMs: Partial<Record<CallFate, number>> = { refused: 0, 'answered late': 14_000, 'never answered': 60_000 };
const othersLastMs = 5_000;
/** What waits for a call continues within this time after its end. */
const restMs = 1_500;

/** Finds terms whose work was left although it waited for no store: it would wait without an end. */
export class LeftTerms {
  readonly #time: SimulatedTime;
  #badUntil = 0;
  readonly problems: string[] = [];

  constructor(time: SimulatedTime) {
    this.#time = time;
  }

  /** Notes a call that does not go well. */
  hadFault(fate: CallFate): void {
    this.#lasts(lastsMs[fate] ?? othersLastMs);
  }

  /** Notes that nothing runs on a node for a time. */
  isFrozenFor(ms: number): void {
    this.#lasts(ms);
  }

  onLine(node: string, line: string, { lease }: Readonly<Record<string, unknown>>): void {
    if (!line.startsWith(message) || this.#time.now <= this.#badUntil) return;
    this.problems.push(`${node} has left its term of ${lease}, whose work waited for no store`);
  }

  #lasts(ms: number): void {
    this.#badUntil = Math.max(this.#badUntil, this.#time.now + ms + restMs);
  }
}
