import assert from 'node:assert/strict';
import { SeenStreams } from '#process-engine/cascade.ts';

const remembers = ['FlowDeleted'];
const deleted = (id: string | number) => ({ type: 'FlowDeleted', stream: `flow-${id}` });

describe('SeenStreams', () => {
  it('knows the streams of remembered types, and no others', () => {
    const seen = new SeenStreams({ remembers }, true);
    seen.add(deleted('one'));
    seen.add({ type: 'FlowCreated', stream: 'flow-two' });
    assert.deepEqual(
      ['flow-one', 'flow-two', 'flow-three'].map((stream) => seen.has(stream)),
      [true, false, false],
    );
  });

  it('knows nothing when it did not begin at the beginning of the log', () => {
    const seen = new SeenStreams({ remembers }, false);
    seen.add(deleted('one'));
    assert.equal(seen.has('flow-one'), null);
  });

  it('forgets everything when there are too many streams to remember', () => {
    const seen = new SeenStreams({ remembers }, true);
    for (let number = 0; number < 25_000; number += 1) seen.add(deleted(number));
    assert.equal(seen.has('flow-24999'), true);
    seen.add(deleted('one more'));
    assert.equal(seen.has('flow-24999'), null);
  });
});
