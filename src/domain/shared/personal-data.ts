import * as t from 'io-ts';

/**
 * A personal text, encrypted with its subject's key (`src/subject-keys`). Events, states and documents hold it instead
 * of the text. Base64url of nonce (12 bytes), ciphertext and tag (16 bytes), AES-256-GCM.
 */
export const SealedText = t.type({ ciphertext: t.string });

export type SealedText = t.TypeOf<typeof SealedText>;

/** A text, sealed if it is personal; plain if it is not, or if it was erased. */
export type PersonalText = string | SealedText;

export const erasedText = 'erased';

/** A text that needs no key, because it is not personal or is erased. @throws Error for a sealed text */
export function unsealedText(text: PersonalText): string {
  if (typeof text !== 'string') throw new Error('a sealed text needs its key');
  return text;
}
