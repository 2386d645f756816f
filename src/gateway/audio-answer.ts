import type { AnswerHead, Answering } from './answering.ts';
import type { AttemptControl, Reception } from './attempt.ts';
import type { AttemptFailure } from './attempt-failure.ts';
import { ByteStreamAnswer } from './byte-stream-answer.ts';
import type { Tokens } from './chat-event.ts';
import type { Client } from './client.ts';
import { EventStreamAnswer } from './event-stream-answer.ts';
import { AudioMeaning } from './stream-meaning.ts';
import { WholeAnswer } from './whole-answer.ts';

/**
 * Answers of the audio operations: events are passed on one by one, JSON is held until it is whole, and what is neither
 * as the operation wants it. A provider may answer in another way than it was asked to.
 */
export class AudioAnswer implements Answering {
  readonly #events: EventStreamAnswer;
  readonly #whole: WholeAnswer;
  readonly #other: Answering;
  #chosen: Answering;

  /** @param other how to pass on what is neither JSON nor events: `bytes` as they come, or `whole` */
  constructor(client: Client, other: 'bytes' | 'whole') {
    this.#whole = new WholeAnswer({ client, mustHave: null });
    this.#events = new EventStreamAnswer({ client, meaning: () => new AudioMeaning(), whole: false, continues: false });
    this.#other = other === 'whole' ? this.#whole : new ByteStreamAnswer(client);
    this.#chosen = this.#other;
  }

  get begun(): boolean {
    return this.#chosen.begun;
  }

  get tokens(): Tokens | null {
    return this.#chosen.tokens;
  }

  get awaitsUsage(): boolean {
    return this.#chosen.awaitsUsage;
  }

  get audioSeconds(): number | null {
    return this.#whole.audioSeconds;
  }

  receive(head: AnswerHead, attempt: AttemptControl): Reception {
    const contentType = head.headers['content-type'] ?? '';
    if (/^text\/event-stream\b/i.test(contentType)) this.#chosen = this.#events;
    else if (/[/+]json\b/i.test(contentType)) this.#chosen = this.#whole;
    else this.#chosen = this.#other;
    return this.#chosen.receive(head, attempt);
  }

  continuation(): null {
    return null;
  }

  breakOff(failure: AttemptFailure): void {
    this.#chosen.breakOff(failure);
  }
}
