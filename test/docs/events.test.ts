import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeEvents } from '#cli/events/describe-events.ts';

const root = join(import.meta.dirname, '../..');

describe('docs/events.md', () => {
  it('lists every event in its present shape', () => {
    const expected = describeEvents(join(root, 'test/fixtures/records'));
    const hint = 'run npm run event-reference -- --write';
    assert.equal(readFileSync(join(root, 'docs/events.md'), 'utf8'), expected, hint);
  });
});
