import { randomInt } from 'node:crypto';
import type { NewApiKey } from './command.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const secretLength = 43;

/** A new API key's text: `sy_live_` and 43 random letters and digits (256 bits). */
export function generateKey(): string {
  let secret = '';
  for (let index = 0; index < secretLength; index += 1) secret += alphabet[randomInt(alphabet.length)];
  return `sy_live_${secret}`;
}

/** A key's text, made when it is first asked for: few commands need one. */
export function createNewApiKey(): NewApiKey {
  let made: string | undefined;
  return {
    get key() {
      made ??= generateKey();
      return made;
    },
  };
}
