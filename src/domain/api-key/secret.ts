import { hash } from 'node:crypto';

const shownCharacters = 12;

/** A longer text than this is not a key, and is not looked up. */
export const maxKeyCharacters = 256;

const keyPrefix = 'sy_live_';
const minRandomCharacters = 32;
/**
 * Of 32 random letters and digits, about 25 differ; of random hexadecimal digits, 14. A text with fewer was probably
 * typed by hand.
 */
const minDifferentCharacters = 8;
const lettersAndDigits = /^[A-Za-z0-9]+$/;

export function looksLikeKey(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(keyPrefix) && lettersAndDigits.test(text.slice(keyPrefix.length));
}

/** The SHA-256 (hex) and the displayed prefix. */
export function storedFormOfKey(key: string): { readonly secretHash: string; readonly prefix: string } {
  return { secretHash: hashKey(key), prefix: key.slice(0, shownCharacters) };
}

/** The SHA-256 (hex). The texts are random and long, so they need no salt and no slow hash. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/**
 * The fault of a text that a person chose, as the end of a sentence; null if it may be used. It cannot prove that a
 * text is random; it refuses texts that are clearly not.
 */
export function faultOfKeyText(key: string): string | null {
  const random = key.slice(keyPrefix.length);
  if (!key.startsWith(keyPrefix) || random.length < minRandomCharacters || !lettersAndDigits.test(random))
    return `must be ${keyPrefix} and at least ${minRandomCharacters} letters and digits`;
  if (key.length > maxKeyCharacters) return `must have at most ${maxKeyCharacters} characters, has ${key.length}`;
  if (new Set(random).size < minDifferentCharacters)
    return `must be random: it has fewer than ${minDifferentCharacters} different letters and digits`;
  return null;
}
