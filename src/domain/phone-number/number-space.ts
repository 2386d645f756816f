import { createRequire } from 'node:module';

/**
 * The claims of a new phone number: the same text for the same number in the same space. A number is compared by its
 * E.164 form if it has one, else by its normalized text; `external` numbers have a separate space for each project.
 *
 * Earlier releases compared the original text. If that gives another claim, it is taken too, so that older claims are
 * still found.
 * @returns the claims to take, in order
 */
export function claimedNumbers(type: string, projectId: string, number: string): ReadonlyArray<string> {
  const space = type === 'external' ? `external ${projectId}` : 'shared';
  const plain = plainNumber(number);
  const claims = [e164(plain) ?? plain, e164(number) ?? number];
  return [...new Set(claims)].map((claim) => `${space}\n${claim}`);
}

/** True for a number in E.164 form, as somebody wrote it. */
export function hasE164Form(number: string): boolean {
  return e164(plainNumber(number)) !== null;
}

const require = createRequire(import.meta.url);
/**
 * The library, which is loaded with the first number, because it would make a start a twentieth longer. Only `require`
 * loads synchronously.
 */
let library: typeof import('libphonenumber-js') | null = null;

function e164(number: string): string | null {
  library ??= require('libphonenumber-js') as typeof import('libphonenumber-js');
  const parsed = library.parsePhoneNumberFromString(number, { extract: false });
  return parsed?.isPossible() ? parsed.number : null;
}

/** Invisible and control characters. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/gu;
/** A number in RFC 3966, with the parameters after it. */
const telUri = /^\s*tel:([^;]*)(.*)$/is;
const globalContext = /;phone-context=(\+[^;]*)/i;

/** Simplifies compatibility characters, digits of other scripts, `tel:` and `00`. */
function plainNumber(number: string): string {
  const visible = number
    .normalize('NFKC')
    .replace(invisible, '')
    .replace(/\p{Nd}/gu, digit);
  const [, inUri, parameters = ''] = telUri.exec(visible) ?? [];
  const text = inUri === undefined ? visible : inContext(inUri.trim(), parameters);
  // The international prefix that most countries dial.
  return text.replace(/^\s*\(?\s*0[\s().-]*0[\s).-]*(?=[1-9])/, '+');
}

function inContext(number: string, parameters: string): string {
  const context = globalContext.exec(parameters)?.[1];
  return context === undefined || number.startsWith('+') ? number : `${context}${number}`;
}

/** Unicode keeps the decimal digits of a script in runs of ten, from zero. */
function digit(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(point - value - 1))) value += 1;
  return String(value % 10);
}
