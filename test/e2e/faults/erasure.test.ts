import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { customer } from '#domain/organization/organization.ts';
import { newEvent } from '#domain/shared/event.ts';
import { verifyChain } from '#event-store/hash-chain.ts';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { rebuildProjection } from '#test/e2e/support/rebuild-projection.ts';
import { readLog } from '#test/e2e/support/stores.ts';
import { itInManyRounds, long } from '#test/support/run/long.ts';
import type { Client } from '#test/support/service/client.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import { poll, startService, type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';

const path = '/v1/partner/customers';
const person = { name: 'Wilhelmina Quixote-Zebedee', clientEmail: 'wilhelmina@quixote-zebedee.example' };
/** The forms in which a file could hold the texts: two spellings, in UTF-8 and UTF-16, in base64 and in hex. */
const traces = ['Quixote', 'quixote', 'Wilhelmina', 'wilhelmina'].flatMap((text) => [
  Buffer.from(text),
  Buffer.from(text, 'utf16le'),
]);
const encoded = [person.name, person.clientEmail].flatMap((text) => [
  Buffer.from(Buffer.from(text).toString('base64').slice(0, -4)),
  Buffer.from(Buffer.from(text).toString('hex')),
]);

/** Returns the files under a folder that contain any of these bytes. */
function holding(folder: string, wanted: ReadonlyArray<Buffer>): ReadonlyArray<string> {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const file = join(folder, name);
    // Sockets and folders have no contents.
    if (!statSync(file).isFile()) return false;
    const bytes = readFileSync(file);
    return wanted.some((each) => bytes.includes(each));
  });
}

/** Reads a customer's key from the file; null when it is destroyed. */
function keyOf(dataDir: string, subject: string): Buffer | null {
  const database = new DatabaseSync(join(dataDir, 'subject-keys.db'), { readOnly: true });
  try {
    const row = database.prepare('SELECT secret FROM subjectKeys WHERE subject = ?').get(subject);
    const secret = Buffer.from((row?.secret as Uint8Array | undefined) ?? []);
    return secret.some((byte) => byte !== 0) ? secret : null;
  } finally {
    database.close();
  }
}

const create = async (client: Client, headers = {}) =>
  expectStatus(await client.post<{ organizationId: string }>(path, person, headers), 201).organizationId;
const nameOf = async (client: Client, id: string) =>
  expectStatus(await client.get<{ name: string }>(`${path}/${id}`), 200).name;

describe('erasure of personal data', function () {
  this.timeout(180_000);

  let folder: TemporaryFolder;
  let service: ServiceInProcess;

  beforeEach(async () => {
    folder = temporaryFolder();
    service = await composeService({ dataDir: folder.path, environment: { LOG_LEVEL: 'trace' } });
  });
  afterEach(async () => {
    await service.stop();
    folder.remove();
  });

  const restart = async () => {
    service = await composeService({ dataDir: folder.path });
  };

  it('leaves no name, address or key in any file or log', async () => {
    const doomed = await create(service.client, { 'idempotency-key': 'doomed' });
    const kept = await create(service.client);
    // Refused input must not be stored or logged either.
    await service.client.post(path, { ...person, name: '' });
    await service.client.post(path, { ...person, clientEmail: 'wilhelmina at quixote' });
    expectStatus(await service.client.post('/v1/projections/customers/rebuild'), 200);
    await service.stop();
    const key = keyOf(folder.path, doomed);
    assert.ok(key !== null && holding(folder.path, [key]).length > 0);
    await restart();
    assert.equal(await nameOf(service.client, doomed), person.name);

    expectStatus(await service.client.remove(`${path}/${doomed}/personal-data`), 200);
    assert.deepEqual(holding(folder.path, [key]), [], 'the key is in a file while the service runs');
    assert.deepEqual(holding(folder.path, [...traces, ...encoded]), []);
    await service.stop();
    assert.deepEqual(holding(folder.path, [key]), [], 'the key is in a file of the service that has stopped');
    assert.deepEqual(holding(folder.path, [...traces, ...encoded]), []);
    assert.doesNotMatch(service.log, /quixote|wilhelmina/i);
    assert.equal(keyOf(folder.path, doomed), null);
    assert.notEqual(keyOf(folder.path, kept), null);
    assert.equal(verifyChain(await readLog(folder.path)), null);

    await restart();
    for (const projection of ['customers', 'organizations']) await rebuildProjection(service.client, projection);
    assert.deepEqual(
      [await nameOf(service.client, doomed), await nameOf(service.client, kept)],
      ['erased', person.name],
    );
  });

  it(`completes an erasure at the next start when only its event was stored ${long}`, async () => {
    const id = await create(service.client);
    await service.stop();
    const key = keyOf(folder.path, id);
    assert.ok(key !== null);
    await recordErasure(folder.path, id);
    assert.notEqual(keyOf(folder.path, id), null);
    await restart();
    const gone = await poll(async () => holding(folder.path, [key]).length === 0, 20_000);
    assert.ok(gone, 'the key is still there');
    assert.equal(await nameOf(service.client, id), 'erased');
    await service.stop();
    assert.equal(keyOf(folder.path, id), null);
  });

  itInManyRounds('completes an erasure after kill -9 at a random moment', 12, async (rounds) => {
    await service.stop();
    let killed = await startService({ dataDir: folder.path });
    try {
      for (let round = 0; round < rounds; round += 1) {
        const id = await create(killed.client);
        const answer = killed.client.remove(`${path}/${id}/personal-data`).catch(() => null);
        await sleep(Math.random() * 8);
        await killed.kill();
        const status = (await answer)?.status;
        killed = await startService({ dataDir: folder.path });
        const recorded = (await nameOf(killed.client, id)) === 'erased';
        if (status === 200) assert.ok(recorded, 'an acknowledged erasure is lost');
        const finished = !recorded || (await poll(async () => keyOf(folder.path, id) === null, 20_000));
        assert.ok(finished, `round ${round}: recorded, but the key is there`);
      }
    } finally {
      await killed.kill();
    }
  });
});

/** Appends the event of an erasure without destroying the key, as a node does that is killed in between. */
async function recordErasure(dataDir: string, id: string): Promise<void> {
  const store = await openSqliteEventStore({ file: join(dataDir, 'events.db') });
  try {
    const origin = { actor: { keyId: 'k', keyType: 'admin' }, requestId: 'r', correlationId: 'r', causationId: 'r' };
    const handled = await new StreamWriter({ store }).write({
      entity: customer,
      id,
      origin,
      decide: () => E.right({ events: [newEvent('PersonalDataErased', { id })], tenant: null }),
    });
    assert.ok(E.isRight(handled));
  } finally {
    await store.close();
  }
}
