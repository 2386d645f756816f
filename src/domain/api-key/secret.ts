import { hash } from 'node:crypto';

const shownCharacters = 12;

/** Characters of a key's text at most: what is longer is no key, and is not looked up. */
export const maxKeyCharacters = 256;

const keyPrefix = 'sy_live_';
const minRandomCharacters = 32;
/**
 * Random letters and digits have about 25 different ones among 32, random hexadecimal digits 14. Fewer than this are
 * typed by hand.
 */
const minDifferentCharacters = 8;
const lettersAndDigits = /^[A-Za-z0-9]+$/;

/** What is kept of a key's text: its SHA-256 (hex) and the prefix that is displayed. */
export function storedFormOfKey(key: string): { readonly secretHash: string; readonly prefix: string } {
  return { secretHash: hashKey(key), prefix: key.slice(0, shownCharacters) };
}

/** SHA-256 (hex) of a presented key. The texts are random and long: no salt or slow hash is called for. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/**
 * What is wrong with a key's text that a person chose, as the end of a sentence; null when it may be used. It cannot
 * tell a random text from others: it refuses what is plainly none.
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
