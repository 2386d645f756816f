import type { Signature } from '#gateway/neutral/conversation.ts';

/** Begins an opaque part of reasoning that the gateway has written. */
export const ownPrefix = 'switchyard:';

const form = /^switchyard:([^:]+):([01]):(.*)$/s;

/**
 * Writes an opaque part of reasoning as the `encrypted_content` of a client, with the name of what can read it: a
 * protocol, or the provider that made it. So it goes back to that one alone.
 */
export function encryptedContentOf({ of, value, isRedacted }: Signature): string {
  return `${ownPrefix}${encodeURIComponent(of)}:${isRedacted ? 1 : 0}:${value}`;
}

/** Reads an `encrypted_content` that the gateway has written; null for one of a provider. */
export function signatureIn(encryptedContent: string): Signature | null {
  const [, of, redacted, value] = form.exec(encryptedContent) ?? [];
  const name = of === undefined ? null : decoded(of);
  if (name === null || value === undefined) return null;
  return { of: name, value, isRedacted: redacted === '1' };
}

/** Decodes a name; null for one that the gateway has not written. */
function decoded(name: string): string | null {
  try {
    return decodeURIComponent(name);
  } catch {
    return null;
  }
}
