import { textThat } from '#shared/codecs/text.ts';

const cuidPattern = /^[cC][0-9a-z]{6,}$/;

/** Whether a text has the form of an id. */
export function isCuid(value: string): boolean {
  return cuidPattern.test(value);
}

/** An id, in the contract's form. */
export const cuid = textThat(
  'cuid',
  (value) => (isCuid(value) ? null : `must be an id that matches ${cuidPattern.source}`),
  { pattern: cuidPattern.source, examples: ['cm3v8k2p90000qzrm4d1x7w5b'] },
);
