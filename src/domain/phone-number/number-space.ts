import { createRequire } from 'node:module';

/**
 * What is claimed when a phone number is created: the same text for the same number in the same space. A number is
 * judged on its E.164 form where it has one, else on its text, however either is spelled; `external` numbers are apart
 * for each project.
 *
 * Earlier releases judged the text as it was given. Where that made another claim it is taken too, so that what they
 * claimed is still found.
 * @returns the claims to take, in order
 */
export function claimedNumbers(type: string, projectId: string, number: string): ReadonlyArray<string> {
  const space = type === 'external' ? `external ${projectId}` : 'shared';
  const plain = plainNumber(number);
  const claims = [e164(plain) ?? plain, e164(number) ?? number];
  return [...new Set(claims)].map((claim) => `${space}\n${claim}`);
}

const require = createRequire(import.meta.url);
/** Loaded with the first number: a start would take a twentieth longer with it, and CommonJS alone loads at once. */
let library: typeof import('libphonenumber-js') | null = null;

function e164(number: string): string | null {
  library ??= require('libphonenumber-js') as typeof import('libphonenumber-js');
  const parsed = library.parsePhoneNumberFromString(number, { extract: false });
  return parsed?.isPossible() ? parsed.number : null;
}

/** What cannot be seen, and what only controls how text is shown. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/gu;
/** RFC 3966: the parameters behind a number. */
const telUri = /^\s*tel:([^;]*)(.*)$/is;
const globalContext = /;phone-context=(\+[^;]*)/i;

/** A number without what hides how it is spelled: compatible characters, digits of other scripts, `tel:`, `00`. */
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

/** The ASCII digit of a decimal digit: Unicode keeps those of a script in runs of ten, from zero. */
function digit(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(point - value - 1))) value += 1;
  return String(value % 10);
}
