import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { isItemReference, readResponsesRequest } from '#gateway/protocols/openai-responses/responses-request.ts';

async function referencesIn(...items: ReadonlyArray<string>) {
  const body = `{"model":"m","input":[${items.map((item) => `{"id":"x","type":"image_generation_call",${item}}`)}]}`;
  const read = await readResponsesRequest(Buffer.from(body), 1_000);
  assert.ok(E.isRight(read));
  return read.right.items.map(isItemReference);
}

describe('an item of a request of Responses', () => {
  it('names a stored one if it has no content, and not otherwise', async () => {
    const empty = ['"status":"completed"', '"result":null', '"result":""', '"result":[]', '"result":{}'];
    assert.deepEqual(await referencesIn(...empty), [true, true, true, true, true]);
    assert.deepEqual(await referencesIn('"result":"x"', '"result":[1]', '"result":{"a":1}'), [false, false, false]);
  });

  it('has the content of the last of its members with the same name, as its provider reads it', async () => {
    const emptied = [
      '"result":"x","result":null',
      '"result":["x"],"r\\u0065sult":[]',
      '"a":{"b":1},"result":1,"a":"","result":""',
    ];
    assert.deepEqual(await referencesIn(...emptied), [true, true, true]);
    const filled = [
      '"result":null,"result":"x"',
      '"result":"x","other":null',
      '"result":"x","result":null,"result":"y"',
    ];
    assert.deepEqual(await referencesIn(...filled), [false, false, false]);
  });
});
