import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { KeyResolver, type KeyUse } from '#application/access/key-resolver.ts';
import type { AnyCommand } from '#application/commands/command.ts';
import { allKeys, apiKey, keyCutoff } from '#domain/api-key/api-key.ts';
import { storedFormOfKey } from '#domain/api-key/secret.ts';
import { scopesOfKeyType } from '#domain/shared/access.ts';
import { upcasters } from '#domain/upcasters.ts';
import { LazyEvent, UnreadableEventError, upcastWith } from '#event-store/recorded-event.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { apiKeyCreated, apiKeyRevoked, apiKeyRotated, firstSecret } from '#test/support/events/tenant-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const secondSecret = `sy_live_${'S2c'.repeat(14)}d`;
/** The time of day at which a simulation begins. */
const begin = Date.UTC(2026, 0, 1);
const at = (seconds: number) => new Date(begin + seconds * 1000).toISOString();
const longAgo = '2020-01-01T00:00:00.000Z';

/**
 * A node that resolves keys on a log which another node writes. Its read models stop where the test says, and its
 * follower has seen what the test says.
 */
class Node {
  readonly service = new Service();
  readonly follower = {
    hasBegun: true,
    seenEndAt: Number.NEGATIVE_INFINITY,
    isStoreAway: false,
    seeEnd: async () => {
      this.follow();
      return !this.follower.isStoreAway;
    },
  };
  readonly keys: KeyResolver;
  documents = new ReadModel(this.service.store.log);
  lookups = 0;
  readonly #time: SimulatedTime;
  #followed = 0;

  constructor(time: SimulatedTime) {
    this.#time = time;
    const get: ReadModel['get'] = (collection, id) => {
      this.lookups += 1;
      return this.documents.get(collection, id);
    };
    this.keys = new KeyResolver({
      writer: this.service.writer,
      follower: this.follower,
      documents: { get },
      usage: { touch: () => undefined },
    });
  }

  get seconds(): number {
    return this.#time.now / 1000;
  }

  set seconds(seconds: number) {
    this.#time.now = seconds * 1000;
  }

  /** Stops the read models: they handle no further event. */
  stop(): void {
    this.documents = new ReadModel([...this.service.store.log]);
  }

  async append(event: object, entity: AnyCommand['entity'] = apiKey, id: string = ids.key): Promise<void> {
    const handled = await this.service.writer.write({
      entity,
      id,
      origin: { actor: { keyId: 'system', keyType: 'system' }, requestId: 'r', correlationId: 'r', causationId: 'r' },
      decide: () => E.right({ events: [event as never], tenant: tenants.project }),
    });
    assert.ok(E.isRight(handled));
  }

  /** Lets the follower see all events that are stored now. */
  follow(): void {
    const { log } = this.service.store;
    this.keys.see(log.slice(this.#followed));
    this.#followed = log.length;
    this.follower.seenEndAt = this.#time.now;
  }

  cut(): void {
    this.follower.isStoreAway = true;
    this.service.store.read = () => Promise.reject(new UnavailableError('The event store is away.'));
  }

  /** Lets reads of the key's stream wait for ever. */
  hang(): void {
    const { store } = this.service;
    const read = store.read.bind(store);
    const keyStream = `apiKey-${ids.key}`;
    store.read = (stream, ...rest) => (stream === keyStream ? new Promise(() => undefined) : read(stream, ...rest));
  }

  async resolves(secret = firstSecret, use: KeyUse = 'query'): Promise<boolean> {
    return (await this.keys.resolve(secret, use)) !== null;
  }
}

describe('KeyResolver', () => {
  let time: SimulatedTime;
  let node: Node;

  afterEach(() => time[Symbol.dispose]());

  beforeEach(async () => {
    time = new SimulatedTime(new Random(1)).install();
    node = new Node(time);
    await node.append(apiKeyCreated({ scopes: null }));
    node.follow();
  });

  it('finds the holder of a key, and none for any other text', async () => {
    const caller = await node.keys.resolve(firstSecret, 'command');
    assert.deepEqual(caller, {
      keyId: ids.key,
      keyType: 'project',
      ...tenants.project,
      scopes: scopesOfKeyType.project,
      hasAllScopes: true,
    });
    assert.equal(await node.resolves(secondSecret), false);
    assert.equal(await node.resolves(''), false);
    assert.equal(await node.resolves(`sy_live_${'a'.repeat(300)}`), false);
  });

  it('gives the listed scopes of a key unchanged', async () => {
    await node.append(
      apiKeyCreated({ id: 'ckeytwo000000001', scopes: ['flows:read'], ...storedFormOfKey(secondSecret) }),
      apiKey,
      'ckeytwo000000001',
    );
    const caller = await node.keys.resolve(secondSecret, 'query');
    assert.deepEqual([caller?.scopes, caller?.hasAllScopes], [new Set(['flows:read']), false]);
  });

  it('queries no store about a known key while it has seen the end of the log within the last second', async () => {
    assert.ok(await node.resolves());
    const { length } = node.service.store.reads;
    const { lookups } = node;
    for (let count = 0; count < 1_000; count += 1) {
      node.seconds += 0.9;
      node.follow();
      assert.ok(await node.resolves());
    }
    assert.deepEqual([node.service.store.reads.length, node.lookups], [length, lookups]);
  });

  it('finds a secret from before it began to follow the log in the read model once', async () => {
    const later = new Node(time);
    await later.append(apiKeyCreated({ scopes: null }));
    assert.ok(await later.resolves());
    assert.ok(await later.resolves());
    assert.equal(later.lookups, 1);
  });

  it('reads the key’s stream once a second when it has not seen the end of the log', async () => {
    assert.ok(await node.resolves());
    node.seconds = 60;
    const before = node.service.store.reads.filter(([stream]) => stream === `apiKey-${ids.key}`).length;
    for (let count = 0; count < 100; count += 1) await node.resolves();
    await Promise.all(Array.from({ length: 100 }, () => node.resolves()));
    assert.equal(node.service.store.reads.filter(([stream]) => stream === `apiKey-${ids.key}`).length, before + 1);
  });

  it('refuses a revoked key once it has seen the event, although the read models lag', async () => {
    assert.ok(await node.resolves());
    node.stop();
    await node.append(apiKeyRevoked());
    node.follow();
    assert.equal(await node.resolves(), false);
    node.seconds = 86_400;
    assert.equal(await node.resolves(), false);
  });

  it('refuses a revoked key within a second, although read models and follower lag', async () => {
    node.stop();
    assert.ok(await node.resolves());
    await node.append(apiKeyRevoked());
    node.seconds = 1.001;
    assert.equal(await node.resolves(), false);
  });

  it('refuses a key that was revoked while its stream was read', async () => {
    const { store } = node.service;
    const read = store.read.bind(store);
    store.read = async (stream, from, limit) => {
      const events = await read(stream, from, limit);
      if (stream !== `apiKey-${ids.key}`) return events;
      store.read = read;
      await node.append(apiKeyRevoked());
      node.follow();
      return events;
    };
    assert.equal(await node.resolves(), false);
    assert.equal(await node.resolves(), false);
  });

  it('accepts a new secret immediately although the read models lag, and although it was presented before', async () => {
    node.stop();
    assert.equal(await node.resolves(secondSecret), false);
    await node.append(apiKeyRotated(secondSecret));
    assert.ok(await node.resolves(secondSecret));
  });

  it('accepts a new secret that a read model shows before the node has followed its event', async () => {
    assert.ok(await node.resolves());
    await node.append(apiKeyRotated(secondSecret, { previousValidUntil: at(600) }));
    assert.deepEqual([await node.resolves(firstSecret), await node.resolves(secondSecret)], [true, true]);
  });

  it('accepts a new secret although a read of the key from before the rotation is running', async () => {
    assert.ok(await node.resolves());
    node.seconds = 2;
    const { store } = node.service;
    const read = store.read.bind(store);
    store.read = async (...request) => {
      const events = await read(...request);
      await time.wait(300);
      return events;
    };
    const before = node.resolves();
    await time.pass(0);
    await node.append(apiKeyRotated(secondSecret));
    const after = Promise.all([node.resolves(secondSecret), node.resolves(secondSecret)]);
    await time.pass(2_000);
    assert.deepEqual([await before, await after], [true, [true, true]]);
  });

  it('accepts a new secret that a session of another node names', async () => {
    assert.ok(await node.resolves());
    await node.append(apiKeyRotated(secondSecret));
    const { secretHash } = storedFormOfKey(secondSecret);
    assert.ok(await node.keys.resolveSecret({ keyId: ids.key, secretHash }, 'query'));
  });

  it('accepts a new secret from the log while the read model cannot be read, and refuses no other one', async () => {
    node.documents.get = () => Promise.reject(new UnavailableError('The read model is being filled.'));
    await node.append(apiKeyRotated(secondSecret));
    assert.ok(await node.resolves(secondSecret));
    await assert.rejects(node.resolves(`sy_live_${'N3w'.repeat(14)}x`), UnavailableError);
  });

  it('accepts a known key while the read store cannot be used', async () => {
    node.documents.get = () => Promise.reject(new UnavailableError('The read store is away.'));
    for (const seconds of [0, 2, 1_000]) {
      node.seconds = seconds;
      assert.ok(await node.resolves());
    }
  });

  it('accepts a secret that it has forgotten when the read model shows it', async () => {
    node.seconds = 1;
    node.stop();
    await node.append(apiKeyRotated(secondSecret));
    node.follow();
    const issued = node.service.store.log.at(-1);
    assert.ok(issued);
    node.keys.see(
      Array.from({ length: 100_000 }, (_, index) => ({
        ...issued,
        stream: `apiKey-ckey${index}`,
        data: { secretHash: `hash ${index}` },
      })),
    );
    assert.equal(await node.resolves(secondSecret), false);
    node.documents = new ReadModel(node.service.store.log);
    node.seconds = 3;
    assert.ok(await node.resolves(secondSecret));
  });

  it('looks into the read model again when it began to follow the log meanwhile', async () => {
    node = new Node(time);
    node.stop();
    node.follower.hasBegun = false;
    await node.append(apiKeyCreated());
    node.follower.seeEnd = async () => {
      node.documents = new ReadModel(node.service.store.log);
      node.follower.hasBegun = true;
      return true;
    };
    assert.ok(await node.resolves());
  });

  it('reads a key once for a replaced secret that the read model still shows', async () => {
    await node.append(apiKeyRotated(secondSecret, { previousValidUntil: longAgo }));
    const asked = new Node(time);
    asked.service.store.log.push(...node.service.store.log);
    asked.follower.seenEndAt = time.now;
    assert.ok(await asked.resolves(secondSecret));
    const { length } = asked.service.store.reads;
    for (let count = 0; count < 10; count += 1) assert.equal(await asked.resolves(firstSecret), false);
    assert.equal(asked.service.store.reads.length, length + 1);
  });

  it('refuses all earlier secrets once the overlap of the newest rotation has ended', async () => {
    const third = `sy_live_${'T3d'.repeat(14)}x`;
    await node.append(apiKeyRotated(secondSecret, { previousValidUntil: at(600) }));
    await node.append(apiKeyRotated(third, { previousValidUntil: at(60) }));
    const all = async () => [
      await node.resolves(firstSecret),
      await node.resolves(secondSecret),
      await node.resolves(third),
    ];
    node.follow();
    assert.deepEqual(await all(), [true, true, true]);
    node.seconds = 60;
    assert.deepEqual(await all(), [false, false, true]);
  });

  it('refuses a key once it has expired', async () => {
    node = new Node(time);
    await node.append(apiKeyCreated({ expiresAt: at(60) }));
    node.seconds = 59.999;
    assert.ok(await node.resolves());
    node.seconds = 60;
    assert.equal(await node.resolves(), false);
    await node.append(apiKeyRotated(secondSecret, { expiresAt: at(90), previousValidUntil: longAgo }));
    node.follow();
    assert.deepEqual([await node.resolves(firstSecret), await node.resolves(secondSecret)], [false, true]);
  });

  it('refuses every secret issued before the cutoff for all keys, and no later one', async () => {
    node.seconds = 10;
    await node.append(
      apiKeyCreated({ id: 'ckeytwo000000001', ...storedFormOfKey(secondSecret) }),
      apiKey,
      'ckeytwo000000001',
    );
    node.follow();
    assert.deepEqual([await node.resolves(firstSecret), await node.resolves(secondSecret)], [true, true]);
    await node.append({ type: 'ApiKeySecretsEnded', data: { issuedBefore: at(10) } }, keyCutoff, allKeys);
    node.follow();
    assert.deepEqual([await node.resolves(firstSecret), await node.resolves(secondSecret)], [false, true]);
    node.seconds = 20;
    await node.append(apiKeyRotated(`sy_live_${'N3w'.repeat(14)}x`, { previousValidUntil: at(600) }));
    node.follow();
    assert.deepEqual(
      [await node.resolves(firstSecret), await node.resolves(`sy_live_${'N3w'.repeat(14)}x`)],
      [false, true],
    );
  });

  it('reads the cutoff for all keys from the log without having followed the event', async () => {
    await node.append({ type: 'ApiKeySecretsEnded', data: { issuedBefore: at(1) } }, keyCutoff, allKeys);
    assert.equal(await node.resolves(), false);
  });

  it('refuses only the key with an event that this release cannot read', async () => {
    await node.append(
      apiKeyCreated({ id: 'ckeytwo000000001', ...storedFormOfKey(secondSecret) }),
      apiKey,
      'ckeytwo000000001',
    );
    node.follow();
    assert.deepEqual([await node.resolves(firstSecret), await node.resolves(secondSecret)], [true, true]);
    const stored = { position: 1_000, stream: `apiKey-${ids.key}`, revision: 1, id: 'e1', data: '{}' };
    for (const type of ['ApiKeyRotated', 'ApiKeyRevoked']) {
      const event = new LazyEvent({ ...stored, type, metadata: '{"schemaVersion":99}' }, upcastWith(upcasters));
      const { store } = node.service;
      const read = store.read.bind(store);
      store.read = async (stream, from, limit) => {
        if (stream === event.stream) void event.data;
        return read(stream, from, limit);
      };
      node.keys.see([event]);
      if (type === 'ApiKeyRotated') await assert.rejects(node.resolves(firstSecret), UnreadableEventError);
      else assert.equal(await node.resolves(firstSecret), false);
      assert.ok(await node.resolves(secondSecret));
    }
  });

  describe('KeyResolver while the event store is away', () => {
    it('accepts a key that was valid in the last five minutes for gateway calls and queries, but not for commands', async () => {
      assert.ok(await node.resolves());
      node.cut();
      node.seconds = 2;
      for (const use of ['streaming', 'query'] as const) assert.ok(await node.resolves(firstSecret, use));
      await assert.rejects(node.resolves(firstSecret, 'command'), UnavailableError);
      node.seconds = 300;
      assert.ok(await node.resolves());
      node.seconds = 301;
      await assert.rejects(node.resolves(), UnavailableError);
    });

    it('does not query the store about a remembered key', async () => {
      assert.ok(await node.resolves());
      node.cut();
      const { length } = node.service.store.reads;
      node.seconds = 2;
      for (let count = 0; count < 100; count += 1) assert.ok(await node.resolves());
      assert.equal(node.service.store.reads.length, length);
    });

    it('accepts a remembered key before the store is known to be away', async () => {
      assert.ok(await node.resolves());
      node.cut();
      node.follower.isStoreAway = false;
      node.seconds = 2;
      assert.ok(await node.resolves());
    });

    it('refuses a key that it knows to be revoked', async () => {
      assert.ok(await node.resolves());
      await node.append(apiKeyRevoked());
      node.follow();
      node.cut();
      node.seconds = 2;
      assert.equal(await node.resolves(), false);
    });

    it('refuses a key whose revocation it sees while it waits for the store', async () => {
      assert.ok(await node.resolves());
      await node.append(apiKeyRevoked());
      node.hang();
      node.seconds = 2;
      const waiting = node.resolves();
      node.follow();
      await time.pass(1_000);
      assert.equal(await waiting, false);
    });

    it('reads the cutoff for all keys again if an event about it cannot be read while it waits for the store', async () => {
      await node.append({ type: 'ApiKeySecretsEnded', data: { issuedBefore: at(1) } }, keyCutoff, allKeys);
      node.follow();
      assert.equal(await node.resolves(), false);
      node.hang();
      node.seconds = 2;
      const waiting = node.resolves();
      // The cutoff has been read by then, and only the key's stream is waited for.
      await time.pass(0);
      const stored = { position: 1_000, stream: `keyCutoff-${allKeys}`, revision: 1, id: 'e1', data: '{}' };
      const metadata = '{"schemaVersion":99}';
      node.keys.see([new LazyEvent({ ...stored, type: 'ApiKeySecretsEnded', metadata }, upcastWith(upcasters))]);
      await time.pass(1_000);
      assert.equal(await waiting, false);
    });

    it('refuses a secret whose overlap has ended and a key that has expired while the store is away', async () => {
      await node.append(apiKeyRotated(secondSecret, { previousValidUntil: at(60), expiresAt: at(90) }));
      node.follow();
      assert.deepEqual([await node.resolves(firstSecret), await node.resolves(secondSecret)], [true, true]);
      node.cut();
      node.seconds = 60;
      assert.deepEqual([await node.resolves(firstSecret), await node.resolves(secondSecret)], [false, true]);
      node.seconds = 90;
      assert.equal(await node.resolves(secondSecret), false);
    });

    it('throws an UnavailableError for a new secret of a remembered key', async () => {
      assert.ok(await node.resolves());
      await node.append(apiKeyRotated(secondSecret));
      node.cut();
      node.seconds = 2;
      await assert.rejects(node.resolves(secondSecret), UnavailableError);
    });

    it('does not wait for the store for a new secret of a remembered key', async () => {
      assert.ok(await node.resolves());
      await node.append(apiKeyRotated(secondSecret));
      node.hang();
      node.follower.isStoreAway = true;
      node.seconds = 2;
      let outcome: unknown = 'waits';
      void node.resolves(secondSecret).catch((error: unknown) => {
        outcome = error;
      });
      await time.pass(0);
      assert.ok(outcome instanceof UnavailableError, String(outcome));
    });

    it('throws an UnavailableError for an unknown key', async () => {
      node.cut();
      await assert.rejects(node.resolves(secondSecret), UnavailableError);
    });
  });
});
