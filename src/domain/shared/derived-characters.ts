import { hash } from 'node:crypto';

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';

/**
 * At most 32 characters `[0-9a-z]`. The same text gives the same characters, so that a repeated creation has the same
 * id.
 */
export function derivedCharacters(seed: string, length: number): string {
  const bytes = hash('sha512', seed, { outputEncoding: 'buffer' });
  let text = '';
  // Two bytes for each character, so that the remainder's bias is below 0.1%.
  for (let index = 0; index < length; index += 1) {
    const number = (bytes[2 * index] ?? 0) * 256 + (bytes[2 * index + 1] ?? 0);
    text += alphabet[number % alphabet.length];
  }
  return text;
}
