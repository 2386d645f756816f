import { parentPort, workerData } from 'node:worker_threads';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { openReadStoreFile, ReadStoreDamagedError } from './read-store-file.ts';
import { SqliteRowStore } from './sqlite-row-store.ts';
import type { WriterAnswer, WriterFailure, WriterRequest } from './writer-thread.ts';

/** The thread that writes the read store's file while read models are filled. `writer-thread.ts` starts it. */
const database = openReadStoreFile(String(workerData));
// This connection writes page after page and reads few of them again, so half of the projector's cache is enough.
database.exec('PRAGMA cache_size = -16384');
const store = new SqliteRowStore(database);
let isLost = false;
let turn = Promise.resolve();

parentPort?.on('message', (message: WriterRequest) => {
  turn = turn.then(() => execute(message));
});
post({ kind: 'opened' });

async function execute(message: WriterRequest): Promise<void> {
  const { request, call } = message;
  try {
    const result = await callStore(message);
    post({ kind: 'done', request, result, filling: store.filling });
  } catch (error) {
    isLost ||= message.postponed;
    post({ kind: 'failed', request, failure: failureOf(error) });
  }
  if (call === 'close') parentPort?.close();
}

function callStore({ call, parameters }: WriterRequest): Promise<unknown> {
  // Later commits may build on the failed one: their checkpoints would cover events whose documents are missing.
  if (isLost && call !== 'close') throw new Error('Commits before it that were put off have failed.');
  const method = store[call] as (...given: ReadonlyArray<unknown>) => Promise<unknown>;
  return method.apply(store, [...parameters]);
}

function failureOf(error: unknown): WriterFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UnavailableError) return { kind: 'unavailable', message };
  return { kind: error instanceof ReadStoreDamagedError ? 'damaged' : 'other', message };
}

function post(message: WriterAnswer): void {
  parentPort?.postMessage(message);
}
