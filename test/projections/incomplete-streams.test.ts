import assert from 'node:assert/strict';
import { join } from 'node:path';
import { foldInMemory } from '#projection-engine/documents/fold-in-memory.ts';
import { projections } from '#projections/table.ts';
import { readFrozenStories } from '#test/support/fixtures/document-hashes.ts';

const stories = readFrozenStories(join(import.meta.dirname, '../fixtures'));

describe('projections of streams that lack events', () => {
  for (const projection of projections)
    it(`folds the later events of every stream into ${projection.name}, whichever events are missing`, () => {
      for (const { name, events } of stories)
        for (const [index, event] of events.entries()) {
          const withoutFirst = events.slice(index);
          const withoutOne = events.toSpliced(index, 1);
          for (const left of [withoutFirst, withoutOne, [event]])
            assert.doesNotThrow(() => foldInMemory(projection, left), `${name} from ${event.type}`);
        }
    });
});
