import fc from 'fast-check';
import type { Json } from '#shared/json/json.ts';

/**
 * Makes JSON values as a request can hold them, without a member named `__proto__`: `fast-json-patch` writes a patch with such
 * a member, but applies it to the prototype.
 */
export function patchableJson(maxDepth: number): fc.Arbitrary<Json> {
  return fc
    .jsonValue({ maxDepth })
    .map((made) => JSON.stringify(made))
    .filter((text) => !text.includes('__proto__'))
    .map((text) => JSON.parse(text) as Json);
}
