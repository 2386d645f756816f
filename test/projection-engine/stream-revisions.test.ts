import assert from 'node:assert/strict';
import fc from 'fast-check';
import { StreamRevisions } from '#projection-engine/stream-revisions.ts';

describe('StreamRevisions', () => {
  it('returns the highest revision before, for any streams in any order', () => {
    const events = fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.nat(1_000_000)), { maxLength: 200 });
    fc.assert(
      fc.property(events, (noted) => {
        const revisions = new StreamRevisions(1 << 10);
        const highest = new Map<string, number>();
        for (const [stream, revision] of noted) {
          assert.equal(revisions.note(stream, revision), highest.get(stream) ?? -1);
          highest.set(stream, Math.max(revision, highest.get(stream) ?? -1));
        }
      }),
    );
  });

  it('keeps a hundred thousand streams apart', () => {
    const revisions = new StreamRevisions(1 << 17);
    const names = Array.from({ length: 100_000 }, (_, index) => `flow-c${index.toString(36).padStart(23, '0')}`);
    for (const [index, name] of names.entries()) assert.equal(revisions.note(name, index), -1);
    for (const [index, name] of names.entries()) assert.equal(revisions.note(name, index), index);
  });

  it('knows no more streams than its maximum, and keeps those that it knows', () => {
    const revisions = new StreamRevisions(2);
    assert.deepEqual([revisions.note('a', 0), revisions.note('b', 0)], [-1, -1]);
    assert.equal(revisions.note('c', 0), null);
    assert.equal(revisions.note('a', 1), 0);
  });
});
