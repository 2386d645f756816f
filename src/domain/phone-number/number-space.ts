import { parsePhoneNumberFromString } from 'libphonenumber-js';

/**
 * What is claimed when a phone number is created: the same text for the same number in the same space. A number is
 * judged on its E.164 form where it has one, else on its raw text; `external` numbers are apart for each project.
 */
export function claimedNumber(type: string, projectId: string, number: string): string {
  const space = type === 'external' ? `external ${projectId}` : 'shared';
  return `${space}\n${e164(number) ?? number}`;
}

function e164(number: string): string | null {
  const parsed = parsePhoneNumberFromString(number, { extract: false });
  return parsed?.isPossible() ? parsed.number : null;
}
