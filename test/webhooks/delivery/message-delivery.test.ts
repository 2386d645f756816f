import assert from 'node:assert/strict';
import { StreamHistory } from '#application/history/stream-history.ts';
import type { EventStore } from '#event-store/event-store.ts';
import { UnreadableEventError } from '#event-store/recorded-event.ts';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import { Admission } from '#exchange/admission.ts';
import { currentOwner } from '#shared/async/fair-queue.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { ids } from '#test/support/events/tenants.ts';
import { webhookSecret } from '#test/support/harness/command-harness.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { type DeliveryTarget, MessageDelivery } from '#webhooks/delivery/message-delivery.ts';
import type { WebhookRequest } from '#webhooks/delivery/webhook-sender.ts';
import type { Message } from '#webhooks/state/delivery-state.ts';
import { DeliveringNode } from './delivering-node.ts';

const endless = new AbortController().signal;
const data = { url: 'https://example.com/hooks', secrets: [{ secret: { ciphertext: 'sealed' }, validUntil: null }] };
const target = (owner: string = ids.project, current: DeliveryTarget['current'] = () => data): DeliveryTarget => ({
  id: ids.webhookEndpoint,
  owner,
  current,
});

describe('MessageDelivery', () => {
  const node = new DeliveringNode();
  let message: Message;
  let eventId: string;
  /** Replaces the reads of the event store. */
  let read: EventStore['read'];
  let sent: WebhookRequest[];
  /** Ends the requests that wait for their answers. */
  let answer: () => void;
  let answered: Promise<void>;
  let logged: string[];
  let delivery: MessageDelivery;
  let reads: number;
  before(async () => {
    await node.begin();
    await node.createFlow();
    const { id, position, stream, revision, type } = node.store.log.at(-1) ?? assert.fail();
    message = { position, stream, revision, type };
    eventId = id;
  });
  beforeEach(() => {
    read = (...place) => node.store.read(...place);
    sent = [];
    logged = [];
    reads = 0;
    ({ promise: answered, resolve: answer } = Promise.withResolvers<void>());
    const log = (level: string) => (_: object, text: string) => void logged.push(`${level}: ${text}`);
    const counted: EventStore['read'] = (...place) => {
      reads += 1;
      return read(...place);
    };
    delivery = new MessageDelivery({
      reads: { history: new StreamHistory({ read: counted }), personalReader: async () => () => webhookSecret },
      sender: {
        send: async (request) => {
          sent.push(request);
          await answered;
          return { status: 204, error: null, receiverRequest: null };
        },
      },
      admission: new Admission({ limits: { slots: { 'webhook try': { maxSlots: 40, maxSlotsOfOwner: 10 } } } }),
      log: { error: log('error'), warn: log('warn') },
    });
  });

  it('reads and makes a message as work of its owner', async () => {
    const owners = new Set<string>();
    read = (...place) => {
      owners.add(currentOwner());
      return node.store.read(...place);
    };
    answer();
    await delivery.deliver(target('cproject01'), message, endless);
    assert.deepEqual([...owners], ['cproject01']);
  });

  it('sends the entry of the event under the event’s id', async () => {
    answer();
    const tried = await delivery.deliver(target(), message, endless);
    assert.deepEqual([tried.kind, 'eventId' in tried && tried.eventId], ['delivered', eventId]);
    assert.equal(sent[0]?.headers['webhook-id'], eventId);
    assert.equal(JSON.parse(sent[0]?.body ?? '').position, message.position);
  });

  it('counts a message that cannot be made as a failed try, and says why', async () => {
    const { position, stream, revision, type } = message;
    const unreadable = new UnreadableEventError({ position, stream, revision, id: eventId, type }, new SyntaxError());
    const failures = [unreadable, new TypeError('a bug')];
    for (const failure of failures) {
      let isBroken = true;
      read = async (...place) => {
        // A bug is not in the read, but it ends the making at the same place.
        if (isBroken || failure === unreadable) {
          isBroken = false;
          throw failure;
        }
        return node.store.read(...place);
      };
      const made = { kind: 'failed', eventId, status: null, error: 'message-not-made', durationMs: 0 };
      assert.deepEqual(await delivery.deliver(target(), message, endless), made);
    }
    assert.deepEqual(sent, []);
    const line = 'error: A webhook message could not be made, which counts as a failed try';
    assert.deepEqual(logged, [line, line]);
  });

  it('drops a message whose event is not in its stream any more, and says so', async () => {
    const { stream, revision } = message;
    read = async () => {
      const gap = { stream, expectedRevision: revision, foundRevision: null };
      throw new UnreadableStreamError(gap, 'it was deleted');
    };
    assert.deepEqual(await delivery.deliver(target(), message, endless), { kind: 'dropped' });
    assert.equal(logged.length, 1);
  });

  it('counts nothing while a store is unavailable', async () => {
    read = async () => {
      throw new UnavailableError('The event store is unavailable.');
    };
    assert.deepEqual(await delivery.deliver(target(), message, endless), { kind: 'postponed' });
    assert.deepEqual(logged, ['warn: A webhook message cannot be made now; the node tries again']);
  });

  it('gives an owner a bounded part of the tries at the same time, and free ones to owners in turn', async () => {
    const ofFirst = Array.from({ length: 100 }, () => delivery.deliver(target('first'), message, endless));
    await eventually(() => sent.length === 10, 'ten of the first owner are sent');
    const ofOthers = ['second', 'third', 'fourth', 'fifth'].map((owner) =>
      Array.from({ length: 10 }, () => delivery.deliver(target(owner), message, endless)),
    );
    await eventually(() => sent.length === 40, 'three other owners have ten each');
    answer();
    const tried = await Promise.all([...ofFirst, ...ofOthers.flat()]);
    assert.ok(tried.every(({ kind }) => kind === 'delivered'));
    assert.equal(sent.length, 140);
  });

  it('looks at the endpoint when its turn comes, and sends nothing if the message is not wanted then', async () => {
    const running = Array.from({ length: 10 }, () => delivery.deliver(target(), message, endless));
    let isWanted = true;
    const waiting = delivery.deliver(
      target(ids.project, () => (isWanted ? data : null)),
      message,
      endless,
    );
    await eventually(() => sent.length === 10, 'ten are sent');
    isWanted = false;
    answer();
    assert.deepEqual(await waiting, { kind: 'postponed' });
    await Promise.all(running);
    assert.equal(sent.length, 10);
  });

  it('ends all tries after the signal has aborted, also those whose requests do not end', async () => {
    const aborting = new AbortController();
    const tries = Array.from({ length: 30 }, () => delivery.deliver(target(), message, aborting.signal));
    await eventually(() => sent.length === 10, 'ten are sent');
    aborting.abort();
    const kinds = (await Promise.all(tries)).map(({ kind }) => kind);
    assert.equal(kinds.filter((kind) => kind === 'postponed').length, 30);
    assert.equal(sent.length, 10);
  });

  it('sends nothing when the term ends while the message is made', async () => {
    let isHeld = true;
    read = async (...place) => {
      isHeld = false;
      return node.store.read(...place);
    };
    const tried = await delivery.deliver(
      target(ids.project, () => (isHeld ? data : null)),
      message,
      endless,
    );
    assert.deepEqual([tried, sent.length], [{ kind: 'postponed' }, 0]);
  });

  it('makes an entry once for the endpoints that ask together, and again for those that ask later', async () => {
    answer();
    const owners = ['first', 'second', 'third', 'fourth', 'fifth'];
    await Promise.all(owners.map((owner) => delivery.deliver(target(owner), message, endless)));
    const ofTogether = reads;
    await delivery.deliver(target(), message, endless);
    // The name of the key, which the first entry has read, is remembered.
    assert.equal(reads, 2 * ofTogether - 1);
    assert.equal(sent.length, 6);
  });
});
