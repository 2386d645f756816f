import { isDeepStrictEqual } from 'node:util';
import type { ChatState } from './chat-state.ts';
import { type Body, listOf, type Rule, rule } from './strict-provider.ts';

/** What a provider of chats said with calls of tools, whose state it wants back. */
export class ChatMemory {
  readonly #state: ChatState;
  readonly #messages = new Map<unknown, Body>();
  /** Refuses a request without the state of these messages, or with that of another provider. */
  readonly rule: Rule;

  constructor(state: ChatState) {
    this.#state = state;
    this.rule = rule(state.page, ({ messages }) => this.#faultOf(listOf(messages)));
  }

  /** The number of messages. */
  get size(): number {
    return this.#messages.size;
  }

  /** @param message of a whole answer */
  remember(message: Body): void {
    const [call] = listOf(message.tool_calls);
    if (call !== undefined) this.#messages.set(call.id, message);
  }

  #faultOf(messages: ReadonlyArray<Body>): string | null {
    const first = this.#state.isOfAllTurns ? 0 : lastQuestion(messages);
    for (const [place, message] of messages.entries()) {
      const [call] = listOf(message.tool_calls);
      if (call === undefined) continue;
      const own = this.#messages.get(call.id);
      if (own === undefined && this.#hasState(message)) return `messages.${place}: has state of another provider`;
      if (own !== undefined && !isDeepStrictEqual(idsIn(message), idsIn(own)))
        return `messages.${place}: has other ids`;
      const isComplete = own !== undefined && this.#state.isReturned(message, own);
      if (place >= first && !isComplete) return this.#state.complaint(message, place);
    }
    return null;
  }

  #hasState(message: Body): boolean {
    const { members } = this.#state;
    const calls = listOf(message.tool_calls);
    return (
      members.message.some((name) => name in message) || calls.some((call) => members.call.some((name) => name in call))
    );
  }
}

/** Where the user's last text is. */
export function lastQuestion(messages: ReadonlyArray<Body>): number {
  return messages.findLastIndex(({ role }) => role === 'user');
}

function idsIn(message: Body): ReadonlyArray<unknown> {
  return listOf(message.tool_calls).map(({ id }) => id);
}
