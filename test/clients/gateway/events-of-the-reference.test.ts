import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { familiesThatNeverCome, sourceOfEvent } from '../../gateway/responses/events-of-the-reference.ts';

const declarations = join(import.meta.dirname, '../node_modules/openai/resources/responses/responses.d.ts');

describe('the events of the reference of Responses', () => {
  it('are each produced by an answer, or the table says why not', () => {
    const types = knownTypes();
    assert.ok(types.length > 50);
    for (const type of types)
      assert.ok(
        type in sourceOfEvent || familiesThatNeverCome.some(([pattern]) => pattern.test(type)),
        `${type} is not in the table`,
      );
    for (const type of Object.keys(sourceOfEvent)) assert.ok(types.includes(type), `${type} is not in the reference`);
  });
});

/** The types of events that OpenAI’s client declares. */
function knownTypes(): ReadonlyArray<string> {
  const text = readFileSync(declarations, 'utf8');
  const union = /type ResponseStreamEvent = ([^;]+);/.exec(text)?.[1]?.split(' | ') ?? assert.fail();
  return union.map((name) => {
    const [, type] = new RegExp(`interface ${name} \\{[^]*?\\n    type: '([^']+)'`).exec(text) ?? [];
    return type ?? assert.fail(`${name} has no type`);
  });
}
