import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import { claimGraceMilliseconds } from '#application/commands/claims.ts';
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

/** A clock so far behind that a claim made by it has only so long to be honoured. */
const clockWithGraceLeft = (milliseconds: number) => () => new Date(Date.now() - claimGraceMilliseconds + milliseconds);

async function begun(now: () => Date = () => new Date()): Promise<Service> {
  const service = new Service(undefined, { now });
  await seedProjects(service.store);
  return service;
}

/** Lets the store fail for phone numbers' own streams: what a process does that ends between its two appends. */
function endsAfterClaim(store: AppendableEventStore): void {
  store.beforeAppend = async ({ stream }) =>
    stream.startsWith('phoneNumber-') ? { kind: 'unavailable', detail: 'it ended', retryAfterSeconds: 1 } : null;
}

const works = (store: AppendableEventStore) => {
  store.beforeAppend = async () => null;
};

/** Phone numbers that were created and are there. */
async function live({ store, handler }: Service): Promise<ReadonlyArray<string>> {
  const created = store.log.filter(({ type }) => type === 'PhoneNumberCreated').map(({ data }) => String(data.id));
  const states = await Promise.all(created.map(async (id) => ({ id, ...(await handler.load(phoneNumber, id)) })));
  return states.filter(({ id, state }) => phoneNumber.isLive(state, id)).map(({ id }) => id);
}

describe('claims of phone numbers', () => {
  it('let a number be created once, however it is written, until it is deleted', async () => {
    const service = await begun();
    const { body: first } = await service.ok(createPhoneNumber, path, { body });
    const again = { body: { ...body, number: '+442071838750', type: 'partner' } };
    assert.equal(await service.refusal(createPhoneNumber, sibling, again), 'phone-number-taken');
    await service.ok(deletePhoneNumber, { phoneNumberId: String(first.id) });
    await service.ok(createPhoneNumber, sibling, again);
    assert.equal((await live(service)).length, 1);
  });

  it('keep external numbers apart from the others, and each project by itself', async () => {
    const service = await begun();
    const external = { body: { ...body, type: 'external' } };
    await service.ok(createPhoneNumber, path, { body });
    await service.ok(createPhoneNumber, path, external);
    await service.ok(createPhoneNumber, sibling, external);
    assert.equal(await service.refusal(createPhoneNumber, path, external), 'phone-number-taken');
  });

  it('are not taken by what is refused', async () => {
    const service = await begun();
    const unknownFlow = { body: { ...body, flowId: ids.flow } };
    assert.equal(await service.refusal(createPhoneNumber, path, unknownFlow), 'flow-not-found');
    assert.deepEqual(
      service.store.types().filter((type) => type === 'PhoneNumberClaimed'),
      [],
    );
  });

  it('let one of many that race win, in one process and in two', async () => {
    const service = await begun();
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

  it('hold for a creator that is between its two appends: who comes next waits for it', async () => {
    const service = await begun();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    service.store.beforeAppend = async ({ stream }) => {
      if (stream.startsWith('phoneNumber-')) await released;
      return null;
    };
    const slow = service.send(createPhoneNumber, path, { body });
    await sleep(20);
    works(service.store);
    const next = service.restarted().send(createPhoneNumber, path, { body });
    await sleep(80);
    release();
    assert.ok(E.isRight(await slow));
    const answer = await next;
    assert.equal(E.isLeft(answer) && answer.left.code, 'phone-number-taken');
  });

  it('lock nothing when their creator ended: who comes next takes over when the grace is over', async () => {
    const ended = await begun(clockWithGraceLeft(200));
    endsAfterClaim(ended.store);
    assert.equal(await ended.refusal(createPhoneNumber, path, { body }), 'unavailable');
    works(ended.store);
    const service = new Service(ended.store);
    const began = performance.now();
    const { body: created } = await service.ok(createPhoneNumber, sibling, { body });
    const waited = performance.now() - began;
    assert.ok(waited > 100 && waited < 1_500, `it waited ${waited} ms`);
    assert.deepEqual(await live(service), [created.id]);
  });

  it('are not honoured for longer because the clock of the node that claimed is ahead', async () => {
    const ended = await begun(() => new Date(Date.now() + 60 * 60 * 1000));
    endsAfterClaim(ended.store);
    assert.equal(await ended.refusal(createPhoneNumber, path, { body }), 'unavailable');
    works(ended.store);
    const service = new Service(ended.store);
    const { body: created } = await service.ok(createPhoneNumber, sibling, { body });
    assert.deepEqual(await live(service), [created.id]);
  });

  it('are waited for until the deadline of the command at most', async () => {
    const ended = await begun(() => new Date(Date.now() + 60 * 60 * 1000));
    endsAfterClaim(ended.store);
    assert.equal(await ended.refusal(createPhoneNumber, path, { body }), 'unavailable');
    works(ended.store);
    const service = new Service(ended.store, { deadlineMilliseconds: 100 });
    await assert.rejects(service.send(createPhoneNumber, sibling, { body }), UnavailableError);
    assert.deepEqual(await live(service), []);
  });

  it('are honoured for two seconds', () => {
    assert.equal(claimGraceMilliseconds, 2_000);
  });

  it('let a late creator lose, in the same process and in another', async () => {
    for (const samePlace of [true, false]) {
      const late = await begun(clockWithGraceLeft(50));
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

  it('are taken again by a creator that sends its request again', async () => {
    const ended = await begun();
    endsAfterClaim(ended.store);
    const sent = { body, idempotencyKey: 'once' };
    assert.equal(await ended.refusal(createPhoneNumber, path, sent), 'unavailable');
    works(ended.store);
    const { body: created } = await new Service(ended.store).ok(createPhoneNumber, path, sent);
    assert.equal(ended.store.types().filter((type) => type === 'PhoneNumberClaimed').length, 1);
    assert.deepEqual(await live(ended), [created.id]);
  });

  it('let a creator that sends its request again and another both be answered', async () => {
    for (const againFirst of [true, false]) {
      const ended = await begun(clockWithGraceLeft(0));
      endsAfterClaim(ended.store);
      const sent = { body, idempotencyKey: 'once' };
      assert.equal(await ended.refusal(createPhoneNumber, path, sent), 'unavailable');
      works(ended.store);
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

  it('tell a creator that was given up that the number is taken, until it is free', async () => {
    const ended = await begun(clockWithGraceLeft(0));
    endsAfterClaim(ended.store);
    const sent = { body, idempotencyKey: 'once' };
    assert.equal(await ended.refusal(createPhoneNumber, path, sent), 'unavailable');
    works(ended.store);
    const service = new Service(ended.store);
    const { body: other } = await service.ok(createPhoneNumber, sibling, { body });
    assert.equal(await service.refusal(createPhoneNumber, path, sent), 'phone-number-taken');
    assert.equal(await service.refusal(createPhoneNumber, path, sent), 'phone-number-taken');
    await service.ok(deletePhoneNumber, { phoneNumberId: String(other.id) });
    const { body: created } = await service.ok(createPhoneNumber, path, sent);
    assert.deepEqual(await live(service), [created.id]);
    assert.deepEqual((await service.ok(createPhoneNumber, path, sent)).body, created);
  });

  it('belong to who holds them', async () => {
    const service = await begun();
    await service.ok(createPhoneNumber, path, { body });
    const claim = service.store.log.find(({ type }) => type === 'PhoneNumberClaimed');
    assert.match(claim?.stream ?? '', /^phoneNumberClaim-[0-9a-f]{64}$/);
    const { organizationId, projectId, partnerId } = claim?.metadata ?? {};
    assert.deepEqual({ organizationId, projectId, partnerId }, tenants.project);
  });
});
