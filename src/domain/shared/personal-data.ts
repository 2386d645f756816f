import * as t from 'io-ts';

/**
 * A text of a person's, encrypted with the key of whom it is about (`src/subject-keys`): what events, states and
 * documents hold in its place. Base64url of nonce (12 bytes), ciphertext and tag (16 bytes), AES-256-GCM.
 */
export const SealedText = t.type({ ciphertext: t.string });

export type SealedText = t.TypeOf<typeof SealedText>;

/** A text that may be personal: sealed if it is; plain if it is not, or was erased. */
export type PersonalText = string | SealedText;

/** What is shown in the place of a text that was erased. */
export const erasedText = 'erased';

/** Returns a text that needs no key, because it is not personal or was erased. @throws Error for a sealed text */
export function openText(text: PersonalText): string {
  if (typeof text !== 'string') throw new Error('a sealed text needs its key');
  return text;
}
