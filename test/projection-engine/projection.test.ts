import assert from 'node:assert/strict';
import { eventTypesOf, ignored, projection, reactionsOf } from '#projection-engine/projection.ts';

interface ItemEvents {
  readonly Put: { readonly id: string };
  readonly Seen: { readonly id: string };
  readonly Cleared: { readonly group: string };
}

const items = projection<{ readonly id: string }, ItemEvents>({
  name: 'items',
  version: 1,
  keys: ({ data }) => ('id' in data ? [data.id] : []),
  on: {
    Put: (_, { data }) => ({ id: data.id }),
    Seen: ignored,
    Cleared: { removeWhere: ({ data }) => ({ group: data.group }) },
  },
  indexes: [],
});

describe('projection', () => {
  it('handles the event types that a projection does not ignore', () => {
    assert.deepEqual(eventTypesOf(items), ['Put', 'Cleared']);
  });

  it('does nothing with an ignored event type, nor with a type that none of its streams has', () => {
    for (const type of ['Seen', 'Unheard', 'toString']) {
      assert.equal(reactionsOf(items).get(type), undefined);
    }
  });

  it('does not compile when a projection leaves out an event type of its streams', () => {
    projection<{ readonly id: string }, ItemEvents>({
      name: 'forgetful',
      version: 1,
      keys: () => [],
      // @ts-expect-error: Cleared is missing.
      on: { Put: (_, { data }) => ({ id: data.id }), Seen: ignored },
      indexes: [],
    });
  });
});
