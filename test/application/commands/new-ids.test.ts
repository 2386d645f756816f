import assert from 'node:assert/strict';
import { deriveNewIds, RandomIds } from '#application/commands/new-values.ts';
import { isCuid } from '#domain/codecs/id.ts';
import { parentId } from '#domain/shared/entity.ts';
import { itInRounds } from '#test/support/run/long.ts';

const forms = { id: /^c[0-9a-z]{23}$/, secondId: /^c[0-9a-z]{23}$/, suffix: /^[0-9a-z]{8}$/ };

describe('RandomIds and deriveNewIds', () => {
  it('makes ids and suffixes that match the id format', () => {
    for (let round = 0; round < 200; round += 1) {
      for (const ids of [new RandomIds(), deriveNewIds(`seed ${round}`)]) {
        assert.match(ids.id, forms.id);
        assert.match(ids.secondId, forms.secondId);
        assert.match(ids.suffix, forms.suffix);
        assert.ok(isCuid(ids.id + ids.suffix));
        assert.equal(parentId(ids.id + ids.suffix), ids.id);
      }
    }
  });

  it('returns the same ids each time they are read', () => {
    const ids = new RandomIds();
    assert.deepEqual([ids.id, ids.secondId, ids.suffix], [ids.id, ids.secondId, ids.suffix]);
  });

  itInRounds('makes different ids in each call', { few: 200, many: 1_000 }, (calls) => {
    const made = Array.from({ length: calls }, () => new RandomIds()).flatMap((ids) => [
      ids.id,
      ids.secondId,
      ids.suffix,
    ]);
    assert.equal(new Set(made).size, 3 * calls);
  });

  it('derives the same ids from the same seed', () => {
    const of = ({ id, secondId, suffix }: ReturnType<typeof deriveNewIds>) => [id, secondId, suffix];
    assert.deepEqual(of(deriveNewIds('one')), of(deriveNewIds('one')));
    assert.equal(new Set([...of(deriveNewIds('one')), ...of(deriveNewIds('two'))]).size, 6);
  });
});
