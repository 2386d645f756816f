import { hash } from 'node:crypto';

const shownCharacters = 12;

/** What is kept of a key's text: its SHA-256 (hex) and the prefix that is displayed. */
export function keptOfSecret(key: string): { readonly secretHash: string; readonly prefix: string } {
  return { secretHash: hashOfSecret(key), prefix: key.slice(0, shownCharacters) };
}

/** SHA-256 (hex) of a presented key. The texts are random and long: no salt or slow hash is called for. */
export function hashOfSecret(key: string): string {
  return hash('sha256', key);
}
