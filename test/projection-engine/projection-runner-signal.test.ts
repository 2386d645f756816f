import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProjectionRunner, startProjectionRunner } from '#projection-engine/projection-runner.ts';
import type { ReadStoreWriter } from '#read-store/read-store.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually, InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { caughtUp, flowsAndVersions, history } from './hosting/flows-and-versions.ts';

const never = () => new Promise<never>(() => undefined);

describe('projection runner with a signal', () => {
  let folder: string;
  let writer: ReadStoreWriter;
  let events: InMemoryEventStore;
  let ending: AbortController;
  let calls: number;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'projection-runner-'));
    writer = openSqliteReadStoreWriter(join(folder, 'read.db'), assert.fail);
    events = new InMemoryEventStore();
    events.append(...history(30));
    ending = new AbortController();
    calls = 0;
  });
  afterEach(async () => {
    await writer.close();
    await rm(folder, { recursive: true });
  });

  const quiet = () => undefined;
  const log = { info: quiet, warn: quiet, error: quiet };
  const start = (store: ReadStoreWriter, from: Pick<InMemoryEventStore, 'subscribe' | 'lastPosition'> = events) =>
    startProjectionRunner({ projections: flowsAndVersions, events: from, store, log, signal: ending.signal });
  /** A writer of which one method does something else. */
  const withOther = (name: keyof ReadStoreWriter, other: () => Promise<never>) =>
    new Proxy(writer, {
      get(target, method) {
        const member: unknown = Reflect.get(target, method, target);
        if (typeof member !== 'function') return member;
        if (method !== name) return member.bind(target);
        return () => {
          calls += 1;
          return other();
        };
      },
    });
  const endsWhenAborted = async (starting: Promise<ProjectionRunner>) => {
    await eventually('the store is asked', () => calls > 0);
    ending.abort();
    const runner = await starting;
    await runner.finished;
    await runner.close();
  };

  for (const method of ['dropOthers', 'operatorState', 'generations', 'begin', 'saveStatus'] as const) {
    it(`ends while it starts on a store that never answers ${method}`, async () => {
      await endsWhenAborted(start(withOther(method, never)));
    });

    it(`ends while it starts on a store for which ${method} is unavailable`, async () => {
      await endsWhenAborted(start(withOther(method, () => Promise.reject(new UnavailableError('It is down.')))));
    });
  }

  it('ends while it starts on a log that never answers, and asks for nothing more', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const silent = {
      subscribe: events.subscribe.bind(events),
      lastPosition: () => {
        calls += 1;
        return promise;
      },
    };
    await endsWhenAborted(
      start(
        withOther('dropOthers', () => assert.fail('It was asked.')),
        silent,
      ),
    );
    resolve(3);
    await promise;
    assert.equal(calls, 1);
  });

  it('ends before it has asked for anything when the signal has aborted before', async () => {
    ending.abort();
    const runner = await start(withOther('dropOthers', () => assert.fail('It was asked.')));
    await runner.finished;
  });

  it('stores where it stands when it is aborted later, as when it is closed', async () => {
    const runner = await start(writer);
    await caughtUp(runner, events);
    ending.abort();
    await runner.finished;
    const { current } = await writer.generations('flows');
    assert.deepEqual([current?.complete, current?.checkpoint], [true, await events.lastPosition()]);
  });

  it('throws what no retry mends', async () => {
    await assert.rejects(start(withOther('generations', () => Promise.reject(new TypeError('A bug.')))), TypeError);
  });
});
