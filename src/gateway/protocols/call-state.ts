import type { Signature } from '#gateway/neutral/conversation.ts';
import { ownPrefix, signatureIn, signatureTextOf } from './signature-text.ts';

/** Maximum size of the state in an id: clients keep ids in logs and headers of their own. */
const maxStateBytes = 8 * 1_024;

const separator = '~';

/** Begins the state in an id. Base64url writes three bytes as four characters, whatever follows. */
export const stateMark =
  separator + Buffer.from(ownPrefix.slice(0, ownPrefix.length - (ownPrefix.length % 3))).toString('base64url');

/**
 * The id with a state, for a client whose protocol has no member for it: clients echo ids. A state that is too large is
 * left out.
 */
export function idWithState(id: string, state: Signature | null): string {
  if (state === null || Buffer.byteLength(state.value) > maxStateBytes) return id;
  return `${id}${separator}${Buffer.from(signatureTextOf(state)).toString('base64url')}`;
}

/** Every reader of an id begins here, so that no provider gets the state in it. */
export function readCallId(echoed: string): { readonly id: string; readonly state: Signature | null } {
  const at = echoed.lastIndexOf(separator);
  const state = at === -1 ? null : signatureIn(Buffer.from(echoed.slice(at + 1), 'base64url').toString());
  return state === null ? { id: echoed, state } : { id: echoed.slice(0, at), state };
}
