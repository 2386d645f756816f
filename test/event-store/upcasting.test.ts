import assert from 'node:assert/strict';
import { newestVersion, UpcastError, upcastWith } from '#event-store/recorded-event.ts';

const knownOnly = upcastWith({}, (type) => type === 'Known');

describe('upcastWith', () => {
  const upcasters = {
    Renamed: [
      (data: { title: string }) => ({ name: data.title }),
      (data: { name: string }) => ({ ...data, length: data.name.length }),
    ],
  };
  const upcast = upcastWith(upcasters);

  it('applies every upcaster from the data’s version on', () => {
    assert.deepEqual(upcast('Renamed', 1, { title: 'abc' }), { name: 'abc', length: 3 });
    assert.deepEqual(upcast('Renamed', 2, { name: 'abcd' }), { name: 'abcd', length: 4 });
  });

  it('returns data of the newest version unchanged', () => {
    const data = { name: 'abc', length: 3 };
    assert.equal(upcast('Renamed', 3, data), data);
    assert.equal(upcast('Created', 1, data), data);
  });

  it('finds the newest version of an event type', () => {
    assert.equal(newestVersion(upcasters, 'Renamed'), 3);
    assert.equal(newestVersion(upcasters, 'Created'), 1);
    assert.equal(newestVersion(upcasters, 'constructor'), 1);
  });

  it('throws for an unknown version', () => {
    for (const version of [0, 4, 1.5, Number.NaN])
      assert.throws(() => upcast('Renamed', version, { name: 'abc' }), UpcastError);
    assert.throws(() => upcast('Created', 2, {}), /Created has schema version 2; this release knows 1 to 1/);
  });

  it('throws for an unknown event type', () => {
    assert.deepEqual(knownOnly('Known', 1, {}), {});
    assert.throws(() => knownOnly('Later', 1, {}), /does not know the event type Later/);
  });
});
