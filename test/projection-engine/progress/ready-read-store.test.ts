import assert from 'node:assert/strict';
import { readyOnly } from '#projection-engine/progress/ready-read-store.ts';
import { noIncompleteStreams } from '#read-store/incomplete-streams.ts';
import type { ProjectionStatus, ReadStore } from '#read-store/read-store.ts';
import { StoredDocument } from '#read-store/stored-document.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

const flow = new StoredDocument('cflow001', 1, '{}', 1);

const documents: ReadStore = {
  get: async () => flow as never,
  list: async () => ({ documents: [flow as never], next: null }),
  count: async () => 1,
  status: async () => [],
  unknownEvents: async () => [],
  close: async () => undefined,
};

const statusOf = (name: string, ready: boolean): ProjectionStatus => ({
  name,
  version: 1,
  state: ready ? 'running' : 'rebuilding',
  ready,
  begunAt: 0,
  position: 1,
  failure: null,
  rebuild: null,
  incompleteStreams: noIncompleteStreams,
});

/** Projections whose status the test sets. */
class ScriptedProjections {
  readonly #listeners = new Set<(status: ReadonlyArray<ProjectionStatus>) => void>();
  #status: ReadonlyArray<ProjectionStatus>;

  constructor(status: ReadonlyArray<ProjectionStatus>) {
    this.#status = status;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  status = () => this.#status;

  onStatus = (listener: (status: ReadonlyArray<ProjectionStatus>) => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  report(status: ReadonlyArray<ProjectionStatus>): void {
    this.#status = status;
    for (const listener of this.#listeners) listener(status);
  }
}

const page = { limit: 10, maxBytes: 1_000 };

describe('readyOnly', () => {
  it('rejects reads with UnavailableError from a read model that never held the whole log or is unknown', async () => {
    const store = readyOnly(documents, new ScriptedProjections([statusOf('flows', false)]));
    for (const collection of ['flows', 'projects']) {
      await assert.rejects(store.get(collection, flow.id), UnavailableError);
      await assert.rejects(store.list(collection, {}, page), UnavailableError);
      await assert.rejects(store.count(collection, {}, 1), UnavailableError);
    }
  });

  it('serves a read model as soon as its projection reports that it is ready', async () => {
    const projector = new ScriptedProjections([statusOf('flows', true), statusOf('projects', false)]);
    const store = readyOnly(documents, projector);
    assert.equal(await store.get('flows', flow.id), flow);
    await assert.rejects(store.get('projects', flow.id), UnavailableError);
    projector.report([statusOf('flows', true), statusOf('projects', true)]);
    assert.equal(await store.get('projects', flow.id), flow);
    assert.equal((await store.list('projects', {}, page)).documents.length, 1);
    assert.equal(await store.count('projects', {}, 1), 1);
  });

  it('removes its listener when it is closed', async () => {
    const projector = new ScriptedProjections([]);
    const store = readyOnly(documents, projector);
    assert.equal(projector.listeners, 1);
    await store.close();
    assert.equal(projector.listeners, 0);
  });
});
