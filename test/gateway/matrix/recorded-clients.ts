import { type Player, Recordings } from '#test/support/recordings/player.ts';
import type { Outcome } from './exchange.ts';
import type { Begin, Conversation, ConversationOptions } from './matrix-client.ts';

/** What a client of the matrix makes of an answer, as it is recorded. */
export interface RecordedOutcome {
  readonly outcome: Outcome;
  readonly answerId: string;
}

/** Begins conversations as the SDKs have begun them. */
export function recordedClients(suite: string): Begin {
  const recordings = new Recordings(suite);
  return (_, options) => new RecordedConversation(recordings.play(options.name), options);
}

class RecordedConversation implements Conversation {
  readonly #player: Player;
  readonly #options: ConversationOptions;
  answerId = '';

  constructor(player: Player, options: ConversationOptions) {
    this.#player = player;
    this.#options = options;
  }

  ask(): Promise<Outcome> {
    return this.#step();
  }

  giveResults(): Promise<Outcome> {
    return this.#step();
  }

  async #step(): Promise<Outcome> {
    const { url, fetch } = this.#options;
    const { outcome, answerId } = await this.#player.step<RecordedOutcome>(url, fetch);
    this.answerId = answerId;
    return outcome;
  }
}
