import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeEvents, listEvents } from '#cli/events/describe-events.ts';

const root = join(import.meta.dirname, '../..');
const hint = 'run npm run event-reference -- --write';

describe('the reference of events', () => {
  const kinds = listEvents(join(root, 'test/fixtures/records'));
  const read = (path: string) => readFileSync(join(root, path), 'utf8');

  it('lists every event in its present shape in docs/events.md', () => {
    assert.equal(read('docs/events.md'), describeEvents(kinds), hint);
  });

  it('is the same for the page /docs/events', () => {
    assert.deepEqual(JSON.parse(read('src/http/docs/event-reference.json')), kinds, hint);
  });
});
