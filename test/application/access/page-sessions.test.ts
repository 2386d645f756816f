import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { PageSessions, tokenForm } from '#application/access/page-sessions.ts';
import { hashKey } from '#domain/api-key/secret.ts';
import type { Caller } from '#domain/shared/access.ts';
import type { RecordKind } from '#records/record-store.ts';
import { replaceClock } from '#shared/clock.ts';
import { callerOf } from '#test/support/events/tenants.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';

const hourMs = 3_600_000;
const secondMs = 1_000;

describe('PageSessions', () => {
  let records: InMemoryRecordStore;
  /** The callers of the valid secrets, by their hashes. */
  let valid: Map<string, Caller>;
  let now: number;
  let putClockBack: () => void;
  let sessions: PageSessions;
  const node = () =>
    new PageSessions({
      records,
      keys: {
        resolve: async (key) => valid.get(hashKey(key)) ?? null,
        resolveSecret: async ({ secretHash }) => valid.get(secretHash) ?? null,
      },
    });

  beforeEach(() => {
    records = new InMemoryRecordStore();
    valid = new Map([
      [hashKey('one'), callerOf('admin')],
      [hashKey('two'), callerOf('project')],
    ]);
    now = Date.UTC(2026, 0, 5);
    putClockBack = replaceClock({ time: () => now });
    sessions = node();
  });
  afterEach(() => putClockBack());

  const opened = async (key = 'one') => (await sessions.open(key)) ?? assert.fail('no session was opened');
  const holderOf = async (token: string, of = sessions) => (await of.callerOf(token, 'query'))?.keyId ?? null;
  const admin = callerOf('admin').keyId;

  it('open with a valid key, on every node, and store neither the token nor the key', async () => {
    const token = await opened();
    assert.match(token, tokenForm);
    assert.deepEqual([await holderOf(token), await holderOf(token, node())], [admin, admin]);
    const stored = JSON.stringify([...(await records.page('sessions', { limit: 10 }))]);
    assert.ok(!stored.includes(token) && !stored.includes('"one"'), stored);
  });

  it('do not open with an invalid key', async () => {
    assert.equal(await sessions.open('three'), null);
    assert.equal(await holderOf('x'.repeat(43)), null);
  });

  it('end with the secret that opened them, even if the key has another one', async () => {
    const token = await opened();
    valid.delete(hashKey('one'));
    valid.set(hashKey('rotated'), callerOf('admin'));
    assert.equal(await holderOf(token), null);
  });

  it('end after an hour without a request, and last while they are used', async () => {
    const [used, resting] = [await opened(), await opened()];
    for (let minutes = 0; minutes < 90; minutes += 30) {
      now += hourMs / 2;
      assert.equal(await holderOf(used), admin);
    }
    assert.equal(await holderOf(resting), null);
    now += hourMs - secondMs;
    assert.equal(await holderOf(used, node()), admin);
    now += hourMs;
    assert.equal(await holderOf(used, node()), null);
    assert.equal((await records.page('sessions', { limit: 10 })).size, 0);
  });

  it('end after twelve hours', async () => {
    const token = await opened();
    for (let hours = 0; hours < 11.5; hours += 0.5) {
      now += hourMs / 2;
      assert.equal(await holderOf(token), admin);
    }
    now += hourMs / 2;
    assert.equal(await holderOf(token), null);
  });

  it('end when they are signed out, within a second on other nodes', async () => {
    const token = await opened();
    const other = node();
    assert.equal(await holderOf(token, other), admin);
    await sessions.end(token);
    assert.equal(await holderOf(token), null);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    assert.equal(await holderOf(token, other), null);
    await sessions.end(token);
  });

  it('do not come back when a use is stored after their end', async () => {
    const token = await opened();
    const other = node();
    await holderOf(token, other);
    await sessions.end(token);
    now += 2 * 60_000;
    await holderOf(token, other);
    assert.equal(await holderOf(token, node()), null);
  });

  it('are at most twenty of a key: the oldest ends', async () => {
    const tokens: string[] = [];
    for (let index = 0; index < 21; index += 1) {
      now += secondMs;
      tokens.push(await opened());
    }
    const others = await opened('two');
    const fresh = node();
    const holders = await Promise.all(tokens.map((token) => holderOf(token, fresh)));
    assert.deepEqual(
      holders.map((holder) => holder !== null),
      [false, ...tokens.slice(1).map(() => true)],
    );
    assert.ok(await holderOf(others, fresh));
  });

  const storedOf = async (kind: RecordKind) => (await records.page(kind, { limit: 1_000 })).size;

  it('are twenty of a key after two hundred sign-ins at the same time on two nodes, and others keep theirs', async () => {
    const others = await opened('two');
    now += secondMs;
    records.beforePut = () => setImmediate();
    const other = node();
    const tokens = await Promise.all(
      Array.from({ length: 200 }, (_, index) => (index % 2 ? sessions : other).open('one')),
    );
    const fresh = node();
    const holders = await Promise.all(tokens.map((token) => holderOf(token ?? '', fresh)));
    assert.equal(holders.filter((holder) => holder !== null).length, 20);
    assert.deepEqual([await storedOf('sessions'), await storedOf('sessions-of-keys')], [21, 21]);
    assert.ok(await holderOf(others, fresh));
  });

  it('stay the newest when an older sign-in is slow', async () => {
    const tokens: string[] = [];
    const slow = Promise.withResolvers<void>();
    records.beforePut = () => slow.promise;
    const late = opened();
    await setImmediate();
    records.beforePut = async () => undefined;
    for (let index = 0; index < 20; index += 1) {
      now += secondMs;
      tokens.push(await opened());
    }
    slow.resolve();
    assert.equal(await holderOf(await late, node()), null);
    for (const token of tokens) assert.equal(await holderOf(token, node()), admin);
  });

  it('leave nothing in the store when they are over', async () => {
    for (let index = 0; index < 5; index += 1) await holderOf(await opened('two'));
    await records.put('sessions-of-keys', new Map([['c-of-0-4-0', [{ id: 'gone', startedAt: now }]]]));
    now += 13 * hourMs;
    for (let index = 0; index < 20; index += 1) await sessions.end(await opened());
    for (const kind of ['sessions', 'session-uses', 'sessions-of-keys'] as const)
      assert.equal(await storedOf(kind), 0, kind);
  });
});
