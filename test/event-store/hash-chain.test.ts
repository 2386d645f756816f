import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { EventMetadata } from '#domain/shared/event.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import { ChainVerifier, seal, type UnsealedMetadata, verifyChain } from '#event-store/hash-chain.ts';
import { someMetadata } from '#test/contract/event-store.ts';

const { prevHash: _prevHash, hash: _hash, ...metadata } = someMetadata;
const unsealed: UnsealedMetadata = metadata;

/** A sealed stream of events, as it would be stored. */
function sealedStream(stream: string, datas: ReadonlyArray<object>): StoredEvent[] {
  let prevHash: string | null = null;
  return datas.map((data, revision) => {
    const { event, hash } = seal(stream, revision, prevHash, { id: randomUUID(), type: 'Done', data }, unsealed);
    prevHash = hash;
    return { ...event, stream, revision };
  });
}

/** The stream with one of its events changed. */
function changed(events: StoredEvent[], index: number, change: Partial<StoredEvent>): StoredEvent[] {
  return events.map((event, at) => (at === index ? { ...event, ...change } : event));
}

/** Counts the characters of all arrays that are joined while `run` runs. */
function charactersJoined(run: () => unknown): number {
  const { join } = Array.prototype;
  let characters = 0;
  // biome-ignore lint/suspicious/noExplicitAny: arrays of anything are joined.
  Array.prototype.join = function (this: any[], separator?: string) {
    const text = join.call(this, separator);
    characters += text.length;
    return text;
  };
  try {
    run();
  } finally {
    Array.prototype.join = join;
  }
  return characters;
}

describe('seal and verifyChain', () => {
  it('seals an event with SHA-256 over its canonical JSON without the hash', () => {
    const data = { zebra: 1, ape: { y: [1, 'é'], x: null } };
    const { event, hash } = seal('flow-1', 3, 'f'.repeat(64), { id: 'id', type: 'Done', data }, unsealed);
    const whole = {
      stream: 'flow-1',
      revision: 3,
      id: 'id',
      type: 'Done',
      data,
      metadata: { ...unsealed, prevHash: 'f'.repeat(64) },
    };
    assert.equal(
      hash,
      createHash('sha256')
        .update(canonicalize(whole) ?? '')
        .digest('hex'),
    );
    assert.equal((JSON.parse(event.metadata) as EventMetadata).hash, hash);
    assert.equal((JSON.parse(event.metadata) as EventMetadata).prevHash, 'f'.repeat(64));
  });

  it('keeps the order of members in an event’s data', () => {
    const { event } = seal('flow-1', 0, null, { id: 'id', type: 'Done', data: { b: 1, a: 2 } }, unsealed);
    assert.equal(event.data, '{"b":1,"a":2}');
  });

  it('accepts the chain of one stream, of none and of several mixed', () => {
    const one = sealedStream('one', [{ a: 1 }, { a: 2 }, { a: 3 }]);
    const two = sealedStream('two', [{ b: 1 }, { b: 2 }]);
    const mixed = [...one.slice(0, 1), ...two.slice(0, 1), ...one.slice(1), ...two.slice(1)];
    assert.equal(verifyChain([]), null);
    assert.equal(verifyChain(one), null);
    assert.equal(verifyChain(mixed), null);
  });

  it('accepts members that a careless copy would lose', () => {
    const odd = { absent: undefined, ['__proto__']: { a: 1 } };
    assert.equal(verifyChain(sealedStream('odd', [odd, JSON.parse('{"__proto__": 1, "10": 1, "9": 2}')])), null);
  });

  it('refuses to seal data that RFC 8785 cannot write', () => {
    assert.throws(() => sealedStream('odd', [{ lone: '\ud800' }]));
    assert.throws(() => sealedStream('odd', [{ infinite: Number.POSITIVE_INFINITY }]));
  });

  it('finds an event whose data, type, id or metadata was changed', () => {
    const events = sealedStream('flow-1', [{ a: 1 }, { a: 2 }, { a: 3 }]);
    const original = JSON.parse(events[1]?.metadata ?? '') as EventMetadata;
    const changes: Partial<StoredEvent>[] = [
      { data: '{"a":9}' },
      { type: 'Undone' },
      { id: randomUUID() },
      { metadata: JSON.stringify({ ...original, actor: { keyId: 'other', keyType: 'admin' } }) },
      { metadata: JSON.stringify({ ...original, hash: 'f'.repeat(64) }) },
    ];
    for (const change of changes) {
      const broken = verifyChain(changed(events, 1, change));
      assert.equal(broken?.revision, 1, JSON.stringify(change));
      assert.equal(broken?.reason, 'hash-differs');
    }
  });

  it('finds the event after one that was sealed again', () => {
    const events = sealedStream('flow-1', [{ a: 1 }, { a: 2 }, { a: 3 }]);
    const forged = sealedStream('flow-1', [{ a: 1 }, { a: 'forged' }]);
    const broken = verifyChain([...forged, ...events.slice(2)]);
    assert.equal(broken?.revision, 2);
    assert.equal(broken?.reason, 'previous-hash-differs');
  });

  it('finds a missing event, and one moved from another stream', () => {
    const events = sealedStream('flow-1', [{ a: 1 }, { a: 2 }, { a: 3 }]);
    const gapOf = (log: typeof events) => {
      const { reason, revision, expectedRevision } = verifyChain(log) ?? assert.fail('no gap');
      return [reason, revision, expectedRevision];
    };
    assert.deepEqual(gapOf(events.toSpliced(1, 1)), ['events-missing', 2, 1]);
    assert.deepEqual(gapOf(events.slice(1)), ['events-missing', 1, 0]);
    assert.deepEqual(gapOf([...events, ...events.slice(1)]), ['revision-out-of-order', 1, 3]);
    assert.equal(verifyChain(changed(events, 0, { stream: 'flow-2' }))?.reason, 'hash-differs');
  });

  it('finds texts that are not JSON objects', () => {
    const events = sealedStream('flow-1', [{ a: 1 }]);
    for (const change of [{ data: 'nonsense' }, { data: '[]' }, { metadata: 'null' }])
      assert.equal(verifyChain(changed(events, 0, change))?.reason, 'unreadable');
  });

  it('finds data that RFC 8785 cannot write', () => {
    const events = sealedStream('flow-1', [{ a: 1 }]);
    for (const data of ['{"a":1e400}', '{"a":"\\ud800"}'])
      assert.equal(verifyChain(changed(events, 0, { data }))?.reason, 'unreadable');
  });

  it('finds changed data of extreme depth', () => {
    const events = sealedStream('flow-1', [{ a: 1 }]);
    const data = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    assert.equal(verifyChain(changed(events, 0, { data }))?.reason, 'hash-differs');
  });

  it('seals nested data at a cost proportional to its length and not its depth', () => {
    const levels = 200;
    const nested = (text: string) => JSON.parse(`{"a":${'["x",'.repeat(levels)}"${text}"${']'.repeat(levels)}}`);
    const joined = charactersJoined(() => sealedStream('flow-1', [nested('y'.repeat(100_000))]));
    assert.ok(joined < 500_000, `${joined} characters were joined`);
  });

  it('verifies events after a broken one against that one’s own hash', () => {
    const events = sealedStream('flow-1', [{ a: 1 }, { a: 2 }, { a: 3 }]);
    const verifier = new ChainVerifier();
    const broken = changed(events, 1, { data: '{}' }).map((event) => verifier.verify(event)?.reason ?? null);
    assert.deepEqual(broken, [null, 'hash-differs', null]);
    assert.equal(verifier.streams, 1);
  });

  it('expects no chain in usage streams', () => {
    const [event] = sealedStream('flow-1', [{ a: 1 }]);
    assert.ok(event);
    assert.equal(verifyChain([{ ...event, stream: 'usage-2026-01-05-node', revision: 7, metadata: '{}' }]), null);
    assert.equal(verifyChain([{ ...event, metadata: '{"prevHash":null}' }])?.reason, 'hash-differs');
  });
});
