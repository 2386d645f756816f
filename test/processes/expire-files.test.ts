import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type { FileEvents } from '#domain/file/events.ts';
import { file } from '#domain/file/file.ts';
import type { EventOf } from '#domain/shared/entity.ts';
import { expireFiles } from '#processes/expire-files.ts';
import { fileCreated, fileHeld, fileId, fileReleased } from '#test/support/events/file-events.ts';
import { tenants } from '#test/support/events/tenants.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { processTools } from '#test/support/harness/process-tools.ts';

const origin = {
  actor: { keyId: 'ckeyadmin0000000', keyType: 'admin' },
  requestId: 'request-1',
  correlationId: 'request-1',
  causationId: 'request-1',
};

const hourMs = 3_600_000;

/** A service with a file that expires after an hour, on a clock that moves when the test or a pause moves it. */
async function serviceWithFile(...further: ReadonlyArray<EventOf<FileEvents>>) {
  const clock = { ms: Date.parse('2026-01-01T00:00:00.000Z') };
  const now = () => new Date(clock.ms);
  const service = new Service(undefined, { now });
  const append = (events: ReadonlyArray<EventOf<FileEvents>>) =>
    service.writer.write({
      entity: file,
      id: fileId,
      origin,
      decide: () => E.right({ events, tenant: tenants.project }),
    });
  await append([fileCreated({ expiresAfterSeconds: 3_600 }), ...further]);
  const [event] = service.store.log;
  assert.ok(event && expireFiles.handles(event));
  const pauses: number[] = [];
  const pauseUntil = async (time: string) => {
    pauses.push(Date.parse(time) - clock.ms);
    clock.ms = Date.parse(time);
  };
  const tools = { ...processTools(service.writer, service.documents, event), now, pauseUntil };
  return { service, clock, event, append, tools, pauses };
}

describe('expire-files', () => {
  it('removes an expired file', async () => {
    const { service, clock, event, tools, pauses } = await serviceWithFile();
    clock.ms += 2 * hourMs;
    await expireFiles.handle(event, tools);
    const removed = service.store.log.at(-1);
    assert.deepEqual([removed?.type, removed?.data.reason, pauses], ['FileDeleted', 'expired', []]);
  });

  it('waits until a file expires, and until no batch reads it', async () => {
    const { service, clock, event, append, tools, pauses } = await serviceWithFile(fileHeld('batch_cone0000001'));
    clock.ms += hourMs - 50;
    const pauseUntil = async (time: string) => {
      await tools.pauseUntil(time);
      if (pauses.length === 3) await append([fileReleased('batch_cone0000001')]);
    };
    await expireFiles.handle(event, { ...tools, pauseUntil });
    assert.deepEqual(pauses, [50, 60_000, 60_000]);
    assert.equal(service.store.log.at(-1)?.type, 'FileDeleted');
  });

  it('checks again after a day when a file expires later than that', async () => {
    const { service, clock, event, tools, pauses } = await serviceWithFile();
    clock.ms -= 30 * hourMs;
    await expireFiles.handle(event, tools);
    assert.deepEqual(pauses, [24 * hourMs, 7 * hourMs]);
    assert.equal(service.store.log.at(-1)?.type, 'FileDeleted');
  });

  it('keeps a file that does not expire', async () => {
    const { event } = await serviceWithFile();
    assert.equal(expireFiles.handles({ ...event, data: { ...event.data, expiresAfterSeconds: null } }), false);
  });
});
