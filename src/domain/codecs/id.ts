import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { textLike } from '#shared/codecs/text.ts';

const cuidPattern = /^[cC][0-9a-z]{6,}$/;

export function isCuid(value: string): boolean {
  return cuidPattern.test(value);
}

/** An id in the contract's form. */
export const cuid = withJsonSchema(textLike(cuidPattern, `must be an id that matches ${cuidPattern.source}`), {
  type: 'string',
  pattern: cuidPattern.source,
  examples: ['cm3v8k2p90000qzrm4d1x7w5b'],
});
