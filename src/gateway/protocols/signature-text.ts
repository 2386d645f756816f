import type { Signature } from '#gateway/neutral/conversation.ts';

/** Begins a signature that the gateway has written. */
export const ownPrefix = 'switchyard:';

const form = /^switchyard:([^:]+):([01]):(.*)$/s;

/**
 * The text of a signature for a client whose protocol has one text for it, such as `encrypted_content` of Responses,
 * with the name of what can read it. So it goes back to that alone.
 */
export function signatureTextOf({ of, value, isRedacted }: Signature): string {
  return `${ownPrefix}${encodeURIComponent(of)}:${isRedacted ? 1 : 0}:${value}`;
}

/** The signature; null for one that the gateway has not written. */
export function signatureIn(text: string): Signature | null {
  const [, of, redacted, value] = form.exec(text) ?? [];
  const name = of === undefined ? null : decoded(of);
  if (name === null || value === undefined) return null;
  return { of: name, value, isRedacted: redacted === '1' };
}

/** The name; null for one that the gateway has not written. */
function decoded(name: string): string | null {
  try {
    return decodeURIComponent(name);
  } catch {
    return null;
  }
}
