import assert from 'node:assert/strict';
import { eventTypesOf, handlerOf, ignored, projection, removalOf } from '#projection-engine/projection.ts';

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
  it('A projection handles the types that it does not ignore', () => {
    assert.deepEqual(eventTypesOf(items), ['Put', 'Cleared']);
  });

  it('A projection does nothing with an ignored type, nor with one that no stream of it has', () => {
    for (const type of ['Seen', 'Unheard', 'toString']) {
      assert.equal(handlerOf(items, type), undefined);
      assert.equal(removalOf(items, type), undefined);
    }
  });

  it('A projection that forgets an event type of its streams does not compile', () => {
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
