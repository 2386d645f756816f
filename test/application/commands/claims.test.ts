import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { claimGraceMs } from '#application/commands/claims.ts';
import { createPhoneNumber } from '#commands/phone-number/create-phone-number.ts';
import { deletePhoneNumber } from '#commands/phone-number/delete-phone-number.ts';
import { phoneNumber } from '#domain/phone-number/phone-number.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import type { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { seedProjects } from '#test/support/harness/seed.ts';

const body = { name: 'Reception', number: '+44 20 7183 8750' };
const path = { projectId: ids.project };
const sibling = { projectId: ids.sibling };

/** A clock that lags so that its claims have only this much of their grace period left. */
const clockWithGraceLeft = (milliseconds: number) => () => new Date(Date.now() - claimGraceMs + milliseconds);

async function startService(now: () => Date = () => new Date()): Promise<Service> {
  const service = new Service(undefined, { now });
  await seedProjects(service.store);
  return service;
}

/** Makes appends to phone number streams fail, as if the process ended between its two appends. */
function failAfterClaim(store: AppendableEventStore): void {
  store.beforeAppend = async ({ stream }) =>
    stream.startsWith('phoneNumber-') ? { kind: 'unavailable', detail: 'it ended', retryAfterSeconds: 1 } : null;
}

const recover = (store: AppendableEventStore) => {
  store.beforeAppend = async () => null;
};

/** The ids of phone numbers that exist. */
async function live({ store, writer }: Service): Promise<ReadonlyArray<string>> {
  const created = store.log.filter(({ type }) => type === 'PhoneNumberCreated').map(({ data }) => String(data.id));
  const states = await Promise.all(created.map(async (id) => ({ id, ...(await writer.load(phoneNumber, id)) })));
  return states.filter(({ id, state }) => phoneNumber.isLive(state, id)).map(({ id }) => id);
}

describe('claims of phone numbers', () => {
  it('lets a number be created once, in any notation, until it is deleted', async () => {
    const service = await startService();
    const { body: first } = await service.ok(createPhoneNumber, path, { body });
    const again = { body: { ...body, number: '+442071838750', type: 'partner' } };
    assert.equal(await service.refusal(createPhoneNumber, sibling, again), 'phone-number-taken');
    await service.ok(deletePhoneNumber, { phoneNumberId: String(first.id) });
    await service.ok(createPhoneNumber, sibling, again);
    assert.equal((await live(service)).length, 1);
  });

  it('separates claims of external numbers from others, and by project', async () => {
    const service = await startService();
    const external = { body: { ...body, type: 'external' } };
    await service.ok(createPhoneNumber, path, { body });
    await service.ok(createPhoneNumber, path, external);
    await service.ok(createPhoneNumber, sibling, external);
    assert.equal(await service.refusal(createPhoneNumber, path, external), 'phone-number-taken');
  });

  it('leaves no claim of a refused request', async () => {
    const service = await startService();
    const unknownFlow = { body: { ...body, flowId: ids.flow } };
    assert.equal(await service.refusal(createPhoneNumber, path, unknownFlow), 'flow-not-found');
    assert.deepEqual(
      service.store.types().filter((type) => type === 'PhoneNumberClaimed'),
      [],
    );
  });

  it('lets one of many concurrent requests claim a number, in one process and in two', async () => {
    const service = await startService();
    const services = [service, service.restarted()];
    const sent = Array.from({ length: 16 }, (_, index) =>
      (services[index % 2] ?? service).send(createPhoneNumber, index % 3 === 0 ? sibling : path, { body }),
    );
    const answers = await Promise.all(sent);
    assert.equal(answers.filter(E.isRight).length, 1);
    assert.deepEqual([...new Set(answers.map((answer) => E.isLeft(answer) && answer.left.code))].sort(), [
      false,
      'phone-number-taken',
    ]);
    assert.equal((await live(service)).length, 1);
  });

  it('makes a second creator wait for a first one that is between its two appends', async () => {
    const service = await startService();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { promise: claiming, resolve: hasClaimed } = Promise.withResolvers<void>();
    service.store.beforeAppend = async ({ stream }) => {
      if (!stream.startsWith('phoneNumber-')) return null;
      hasClaimed();
      await released;
      return null;
    };
    const slow = service.send(createPhoneNumber, path, { body });
    await claiming;
    recover(service.store);
    const next = service.restarted().send(createPhoneNumber, path, { body });
    await sleep(80);
    release();
    assert.ok(E.isRight(await slow));
    const answer = await next;
    assert.equal(E.isLeft(answer) && answer.left.code, 'phone-number-taken');
  });

  it('lets the next creator take over a claim when the grace period of an ended creator is over', async () => {
    const ended = await startService(clockWithGraceLeft(200));
    failAfterClaim(ended.store);
    assert.equal(await ended.refusal(createPhoneNumber, path, { body }), 'unavailable');
    recover(ended.store);
    const service = new Service(ended.store);
    const claim = ended.store.log.find(({ type }) => type === 'PhoneNumberClaimed') ?? assert.fail('no claim');
    const graceEnds = Date.parse(claim.metadata.time) + claimGraceMs;
    const { body: created } = await service.ok(createPhoneNumber, sibling, { body });
    // The service waits on the monotonic clock, from which this one may differ by a little.
    assert.ok(Date.now() >= graceEnds - 10, `it did not wait for ${graceEnds - Date.now()} ms`);
    assert.deepEqual(await live(service), [created.id]);
  });

  it('does not honour a claim longer when the clock of the claiming node is ahead', async () => {
    const ended = await startService(() => new Date(Date.now() + 60 * 60 * 1000));
    failAfterClaim(ended.store);
    assert.equal(await ended.refusal(createPhoneNumber, path, { body }), 'unavailable');
    recover(ended.store);
    const service = new Service(ended.store, { claimGraceMs: 100 });
    const { body: created } = await service.ok(createPhoneNumber, sibling, { body });
    assert.deepEqual(await live(service), [created.id]);
  });

  it('waits for another creator’s claim until the deadline of the command at most', async () => {
    const ended = await startService(() => new Date(Date.now() + 60 * 60 * 1000));
    failAfterClaim(ended.store);
    assert.equal(await ended.refusal(createPhoneNumber, path, { body }), 'unavailable');
    recover(ended.store);
    const service = new Service(ended.store, { deadlineMs: 100 });
    await assert.rejects(service.send(createPhoneNumber, sibling, { body }), UnavailableError);
    assert.deepEqual(await live(service), []);
  });

  it('honours a claim for two seconds', () => {
    assert.equal(claimGraceMs, 2_000);
  });

  it('makes a late creator lose its claim, in the same process and in another', async () => {
    for (const samePlace of [true, false]) {
      const late = await startService(clockWithGraceLeft(50));
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      let held = false;
      late.store.beforeAppend = async ({ stream }) => {
        if (stream.startsWith('phoneNumber-') && !held) {
          held = true;
          await released;
        }
        return null;
      };
      const slow = late.send(createPhoneNumber, path, { body });
      await sleep(60);
      const next = (samePlace ? late : new Service(late.store)).send(createPhoneNumber, sibling, { body });
      if (!samePlace) assert.ok(E.isRight(await next));
      release();
      const answers = await Promise.all([slow, next]);
      assert.equal(answers.filter(E.isRight).length, 1, JSON.stringify(answers));
      const codes = answers.flatMap((answer) => (E.isLeft(answer) ? [answer.left.code] : []));
      assert.deepEqual(codes, ['phone-number-taken']);
      assert.equal((await live(late)).length, 1);
    }
  });

  it('keeps the claim of a creator that repeats its request', async () => {
    const ended = await startService();
    failAfterClaim(ended.store);
    const sent = { body, idempotencyKey: 'once' };
    assert.equal(await ended.refusal(createPhoneNumber, path, sent), 'unavailable');
    recover(ended.store);
    const { body: created } = await new Service(ended.store).ok(createPhoneNumber, path, sent);
    assert.equal(ended.store.types().filter((type) => type === 'PhoneNumberClaimed').length, 1);
    assert.deepEqual(await live(ended), [created.id]);
  });

  it('answers both a creator that repeats its request and a competing one', async () => {
    for (const againFirst of [true, false]) {
      const ended = await startService(clockWithGraceLeft(0));
      failAfterClaim(ended.store);
      const sent = { body, idempotencyKey: 'once' };
      assert.equal(await ended.refusal(createPhoneNumber, path, sent), 'unavailable');
      recover(ended.store);
      const service = new Service(ended.store);
      const again = () => service.send(createPhoneNumber, path, sent);
      const other = () => service.send(createPhoneNumber, sibling, { body });
      const both = Promise.all(againFirst ? [again(), other()] : [other(), again()]);
      const answers = await Promise.race([both, sleep(5_000, null, { ref: false })]);
      assert.ok(answers !== null, 'they wait for each other');
      assert.equal(answers.filter(E.isRight).length, 1, JSON.stringify(answers));
      assert.equal((await live(service)).length, 1);
    }
  });

  it('refuses an abandoned creator until the number is free again', async () => {
    const ended = await startService(clockWithGraceLeft(0));
    failAfterClaim(ended.store);
    const sent = { body, idempotencyKey: 'once' };
    assert.equal(await ended.refusal(createPhoneNumber, path, sent), 'unavailable');
    recover(ended.store);
    const service = new Service(ended.store);
    const { body: other } = await service.ok(createPhoneNumber, sibling, { body });
    assert.equal(await service.refusal(createPhoneNumber, path, sent), 'phone-number-taken');
    assert.equal(await service.refusal(createPhoneNumber, path, sent), 'phone-number-taken');
    await service.ok(deletePhoneNumber, { phoneNumberId: String(other.id) });
    const { body: created } = await service.ok(createPhoneNumber, path, sent);
    assert.deepEqual(await live(service), [created.id]);
    assert.deepEqual((await service.ok(createPhoneNumber, path, sent)).body, created);
  });

  it('records a claim under the tenant of its creator', async () => {
    const service = await startService();
    await service.ok(createPhoneNumber, path, { body });
    const claim = service.store.log.find(({ type }) => type === 'PhoneNumberClaimed');
    assert.match(claim?.stream ?? '', /^phoneNumberClaim-[0-9a-f]{64}$/);
    const { organizationId, projectId, partnerId } = claim?.metadata ?? {};
    assert.deepEqual({ organizationId, projectId, partnerId }, tenants.project);
  });
});
