import { hash } from 'node:crypto';

/**
 * The id as a provider accepts it: as it is, or one that is derived from it if the provider would refuse it. A call and
 * its result get the same one, on any node and in any later turn.
 */
export type TakenCallId = (id: string) => string;

const refused = /[^a-zA-Z0-9_-]|^$/;

/** Anthropic takes ids of `^[a-zA-Z0-9_-]+$` alone. */
export const callIdForMessages: TakenCallId = (id) => (refused.test(id) ? derived('toolu', id) : id);

/** OpenAI takes ids of at most 40 characters in chats. */
export const callIdForChat: TakenCallId = (id) => (id.length > 40 ? derived('call', id) : id);

/** OpenAI's maximum in Responses. */
export const maxCallIdCharacters = 64;

export const callIdForResponses: TakenCallId = (id) => (id.length > maxCallIdCharacters ? derived('call', id) : id);

/** Any id, for what passes as it came. */
export const anyCallId: TakenCallId = (id) => id;

function derived(prefix: string, id: string): string {
  return `${prefix}_${hash('sha256', id).slice(0, 24)}`;
}
