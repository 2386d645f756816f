import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { SealedText } from '#domain/shared/personal-data.ts';

const nonceBytes = 12;
const tagBytes = 16;
/** Number of bytes that sealing adds to a text before it is written in Base64. */
export const sealingBytes = nonceBytes + tagBytes;

/** What a sealed text is bound to. It cannot be opened in another place. */
export interface TextPlace {
  readonly subject: string;
  readonly field: string;
}

/** The keys that are in use, as the cipher takes them: making one of its bytes takes longer than sealing a short text. */
const keyObjects = new WeakMap<Uint8Array, KeyObject>();

function keyObjectOf(key: Uint8Array): KeyObject {
  const known = keyObjects.get(key) ?? createSecretKey(key);
  keyObjects.set(key, known);
  return known;
}

/** Neither part contains a line break, so different places have different bytes. */
function bytesOf({ subject, field }: TextPlace): Buffer {
  return Buffer.from(`${subject}\n${field}`);
}

/** Encrypts the text with AES-256-GCM. */
export function sealText(key: Uint8Array, place: TextPlace, text: string): SealedText {
  const nonce = randomBytes(nonceBytes);
  const options = { authTagLength: tagBytes };
  const cipher = createCipheriv('aes-256-gcm', keyObjectOf(key), nonce, options).setAAD(bytesOf(place));
  const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return { ciphertext: Buffer.concat(parts).toString('base64url') };
}

/** Decrypts the text; null if the key cannot open it in this place. */
export function openText(key: Uint8Array, place: TextPlace, sealed: SealedText): string | null {
  return openBytes(key, place, sealed)?.toString('utf8') ?? null;
}

/** Does what `openText` does, for the bytes of the text in UTF-8. */
export function openBytes(key: Uint8Array, place: TextPlace, { ciphertext }: SealedText): Buffer | null {
  const bytes = Buffer.from(ciphertext, 'base64url');
  const nonce = bytes.subarray(0, nonceBytes);
  const options = { authTagLength: tagBytes };
  try {
    const decipher = createDecipheriv('aes-256-gcm', keyObjectOf(key), nonce, options).setAAD(bytesOf(place));
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    const opened = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
    decipher.final();
    return opened;
  } catch {
    return null;
  }
}
