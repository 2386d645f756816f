import { maxErrorValues, parseForeign, tooLargeJson } from '#gateway/framing/foreign-json.ts';
import { accountIds, isAccountMember, redactNamedIds } from './account-ids.ts';

const redacted = '[redacted]';

/** Minimum length of a part. Shorter values match only as whole words: they would match inside too many others. */
const leastPartLength = 8;

/** A string in valid JSON. */
const jsonString = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

const maxSpaces = 100;

/** A number that is the value of a member. A quote inside of a string has a backslash before it. */
const memberNumber = /("([a-z_]{2,40})"\s{0,100}:\s{0,100})(\d{9,20})(?![\d.e])/gi;

function redactAccountNumbers(json: string): string {
  return json.replace(memberNumber, (all, before: string, name: string, number: string) =>
    isAccountMember(name, number) ? `${before}"${redacted}"` : all,
  );
}

/** OpenAI's own members of an error: clients look for them by these names. */
const errorMembers: ReadonlySet<string> = new Set(['error', 'message', 'type', 'param', 'code']);

/**
 * Removes an operator's secrets from a provider's messages: the values of the headers that the gateway sends, and the
 * ids of accounts. It finds values as they are, escaped (JSON, percent, HTML), in Base64 of either alphabet at any
 * offset, and inside longer values (`Bearer …`).
 */
export class SecretRedactor {
  readonly #secrets: RegExp;

  /** @param values of the headers that the gateway sends to the provider */
  constructor(values: Iterable<string>) {
    const secrets = [...new Set(Array.from(values).flatMap(secretsIn))].filter((value) => value !== '');
    // The longest first, because one value may be the beginning of another.
    const patterns = secrets.toSorted((one, other) => other.length - one.length).flatMap(patternsOf);
    this.#secrets = new RegExp([...patterns, accountIds].join('|'), 'giu');
  }

  redact(text: string): string {
    return redactNamedIds(text.replace(this.#secrets, redacted), redacted);
  }

  /** Returns the same bytes if they have no secrets. In JSON only strings change, so that it stays valid. */
  redactBody(body: Buffer): Buffer {
    const text = body.toString('utf8');
    const value = parseForeign(body, maxErrorValues);
    const isRead = value !== undefined && value !== tooLargeJson;
    const clean = isRead ? this.#redactJson(text) : this.redact(text);
    return clean === text ? body : Buffer.from(clean);
  }

  #redactJson(text: string): string {
    let name = '';
    let nameEnd = 0;
    const clean = text.replace(jsonString, (literal, start: number) => {
      const end = start + literal.length;
      const value = literal.includes('\\') ? String(parseForeign(literal)) : literal.slice(1, -1);
      const isName = /^\s*:/.test(text.slice(end, end + maxSpaces));
      const isOfName = !isName && /^\s*:\s*$/.test(text.slice(nameEnd, Math.min(start, nameEnd + maxSpaces)));
      if (isName) [name, nameEnd] = [value, end];
      if (isName && errorMembers.has(value)) return literal;
      const cleanValue = isOfName && isAccountMember(name, value) ? redacted : this.redact(value);
      return cleanValue === value ? literal : JSON.stringify(cleanValue);
    });
    return redactAccountNumbers(clean);
  }
}

/** The value and the secret part in it: `Bearer <token>`, `Basic <user:password>`. */
function secretsIn(header: string): ReadonlyArray<string> {
  const value = header.trim();
  const [, scheme = '', token = ''] = /^(bearer|basic|token|apikey)\s+(\S+)$/i.exec(value) ?? [];
  if (token === '') return [value];
  if (scheme.toLowerCase() !== 'basic') return [value, token];
  const credentials = Buffer.from(token, 'base64').toString('utf8');
  return [value, token, credentials, credentials.slice(credentials.indexOf(':') + 1)];
}

function patternsOf(value: string): ReadonlyArray<string> {
  if (value.length < leastPartLength) return [`(?<![a-z0-9])${spellings(value)}(?![a-z0-9])`];
  return [spellings(value), ...base64Within(value).map(spellings)];
}

/** Base64 of the value at each of the three possible offsets. */
function base64Within(value: string): ReadonlyArray<string> {
  const bytes = Buffer.from(value);
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // The first and last characters may contain bits of the neighbouring bytes.
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
}

/** A pattern in which every character except letters and digits may be escaped. */
function spellings(text: string): string {
  return Array.from(text, (character) => (/[a-z0-9]/i.test(character) ? character : escapesOf(character))).join('');
}

function escapesOf(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).padStart(2, '0');
  const itself = `[${otherBase64(character)}]`;
  // The number of backslashes is limited, so that a long run of them costs only linear time.
  return `(?:\\\\{0,8}${itself}|%${hex}|\\\\{1,8}u00${hex}|&#x${hex};|&#${Number.parseInt(hex, 16)};)`;
}

/** A character class with the character of the other Base64 alphabet. */
function otherBase64(character: string): string {
  if (character === '+') return '+\\-';
  if (character === '/') return '\\/_';
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
