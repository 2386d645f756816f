import assert from 'node:assert/strict';
import fc from 'fast-check';
import { newEvent } from '#domain/shared/event.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { DocumentBuffer } from '#projection-engine/documents/document-buffer.ts';
import type { AnyProjection } from '#projection-engine/projection.ts';
import { type AgentProfileDocument, agentProfiles } from '#projections/agent-profiles.ts';
import { instanceFigures } from '#projections/figures/instance-figures.ts';
import { type FlowVersionDocument, flowVersions } from '#projections/flow-versions.ts';
import { type PhoneNumberDocument, phoneNumbers } from '#projections/phone-numbers.ts';
import { keepNewestClaims } from '#read-store/newest-claims.ts';
import type { DocumentWrite } from '#read-store/read-store.ts';
import { StoredDocument } from '#read-store/stored-document.ts';
import { defaultMoved, profileCreated, profileRevised } from '#test/support/events/agent-profile-events.ts';
import { flowCreated, profileAssigned, versionActivated, versionCreated } from '#test/support/events/flow-events.ts';
import { activeInstance, ended, upgradeRequested } from '#test/support/events/instance-events.ts';
import { phoneNumberCreated } from '#test/support/events/phone-number-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { type ExampleEvent, recorded } from '#test/support/harness/recorded-events.ts';
import { itInRounds } from '#test/support/run/long.ts';

/** The documents of one projection in a store without transactions, which may stop after any write. */
class WritesOneByOne {
  readonly #projection: AnyProjection;
  readonly #stored = new Map<string, StoredDocument>();

  constructor(projection: AnyProjection) {
    this.#projection = projection;
  }

  /** Returns the writes of a batch, in their order. Nothing is stored yet. */
  writesOf(events: ReadonlyArray<RecordedEvent>): ReadonlyArray<DocumentWrite> {
    const unlimited = { maxDocuments: Number.MAX_SAFE_INTEGER, maxBytes: Number.MAX_SAFE_INTEGER };
    const buffer = new DocumentBuffer(this.#projection, unlimited);
    for (const event of events) {
      const keys = buffer.keys(event);
      for (const key of keys) if (!buffer.knows(key)) buffer.remember(key, this.#folded(key));
      buffer.apply(event, keys);
    }
    return buffer.writes();
  }

  apply(write: DocumentWrite): void {
    assert.ok(write.kind !== 'delete-where');
    const { id, position } = write;
    if (position < (this.#stored.get(id)?.position ?? 0)) return;
    if (write.kind === 'delete') this.#stored.delete(id);
    else this.#stored.set(id, new StoredDocument(id, write.order, write.body, position));
  }

  /** The documents as a list shows them. */
  shown<Value extends object>(): ReadonlyArray<Value> {
    const { disclaim } = this.#projection;
    assert.ok(disclaim !== undefined);
    return keepNewestClaims([...this.#stored.values()], disclaim).map(({ value }) => value as Value);
  }

  texts(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#stored].toSorted().map(([id, { text }]) => [id, text]));
  }

  #folded(id: string) {
    const stored = this.#stored.get(id);
    return stored === undefined ? null : { ...stored, value: stored.value, bytes: stored.text.length };
  }
}

const numbers = [0, 1, 2, 3];
const choices = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 }), fc.nat({ max: 3 })), { maxLength: 30 });
const batchSizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 40, maxLength: 40 });

function recordedInOrder(events: ReadonlyArray<ExampleEvent>): ReadonlyArray<RecordedEvent> {
  return recorded('of-one-project', events);
}

function* batchesOf(events: ReadonlyArray<RecordedEvent>, sizes: ReadonlyArray<number>) {
  let from = 0;
  for (const size of sizes) {
    if (from >= events.length) return;
    yield events.slice(from, from + size);
    from += size;
  }
}

function split<Item>(items: ReadonlyArray<Item>, isFirst: () => boolean): [Item[], Item[]] {
  const parts: [Item[], Item[]] = [[], []];
  for (const item of items) parts[isFirst() ? 0 : 1].push(item);
  return parts;
}

/** A flow whose versions are activated and tagged. */
function versionEvents(chosen: ReadonlyArray<readonly [number, number, number]>): ReadonlyArray<ExampleEvent> {
  const events: ExampleEvent[] = [...numbers.map((number) => versionCreated(number)), versionActivated(0, null)];
  let active = 0;
  for (const [kind, number] of chosen) {
    const { id, flowId } = versionCreated(number).data;
    if (kind === 0) events.push({ type: 'FlowVersionTagged', data: { id, flowId, tag: `t${events.length}` } });
    else if (number !== active) {
      events.push(versionActivated(number, active));
      active = number;
    }
  }
  return events;
}

const profileOf = (number: number) => `${ids.project}profile${number}`;
const flowOf = (number: number) => `${ids.flow}${number}`;

/** Agent profiles between which the default and flows move. */
function profileEvents(chosen: ReadonlyArray<readonly [number, number, number]>): ReadonlyArray<ExampleEvent> {
  const events: ExampleEvent[] = numbers.map((number) => profileCreated({ id: profileOf(number) }));
  events.push(defaultMoved(profileOf(0), null));
  for (const number of numbers) events.push(flowCreated({ id: flowOf(number), agentProfileId: profileOf(number) }));
  let holder = 0;
  const profiles = [...numbers];
  for (const [kind, flow, number] of chosen) {
    const before = profiles[flow] ?? 0;
    if (kind === 0) events.push(profileRevised({ id: profileOf(number), name: `n${events.length}` }));
    else if (kind === 1 && number !== holder) {
      events.push(defaultMoved(profileOf(number), profileOf(holder)));
      holder = number;
    } else if (kind > 1 && number !== before) {
      events.push(profileAssigned(profileOf(number), profileOf(before), null, flowOf(flow)));
      profiles[flow] = number;
    }
  }
  return events;
}

/** Phone numbers that are released and taken again, each time by another document. */
function phoneNumberEventsOf(chosen: ReadonlyArray<readonly [number, number, number]>): ReadonlyArray<ExampleEvent> {
  const events: ExampleEvent[] = [];
  const holders = new Map<number, string>();
  for (const [kind, number] of chosen) {
    const holder = holders.get(number);
    if (holder === undefined) {
      const id = `${ids.number}${events.length}`;
      events.push(phoneNumberCreated({ id, number: `+1555010${number}` }));
      holders.set(number, id);
    } else if (kind === 0) events.push(newEvent('PhoneNumberRenamed', { id: holder, name: `n${events.length}` }));
    else {
      events.push(newEvent('PhoneNumberDeleted', { id: holder }));
      holders.delete(number);
    }
  }
  return events;
}

const few = { few: 150, many: 5000 };

describe('a list between any two writes of a batch', () => {
  itInRounds('shows exactly one active version of a flow', few, (numRuns) => {
    fc.assert(
      fc.property(choices, batchSizes, (chosen, sizes) => {
        const store = new WritesOneByOne(flowVersions);
        const [first = [], ...later] = batchesOf(recordedInOrder(versionEvents(chosen)), [5, ...sizes]);
        for (const write of store.writesOf(first)) store.apply(write);
        for (const batch of later) {
          for (const write of store.writesOf(batch)) {
            store.apply(write);
            const active = store.shown<FlowVersionDocument>().filter(({ record }) => record.isActive);
            assert.equal(active.length, 1);
          }
        }
      }),
      { numRuns },
    );
  });

  itInRounds('shows exactly one default agent profile, and no flow under two', few, (numRuns) => {
    fc.assert(
      fc.property(choices, batchSizes, (chosen, sizes) => {
        const store = new WritesOneByOne(agentProfiles);
        const [first = [], ...later] = batchesOf(recordedInOrder(profileEvents(chosen)), [9, ...sizes]);
        for (const write of store.writesOf(first)) store.apply(write);
        for (const batch of later) {
          for (const write of store.writesOf(batch)) {
            store.apply(write);
            const shown = store.shown<AgentProfileDocument>().map(({ record }) => record);
            assert.equal(shown.filter(({ isDefault }) => isDefault).length, 1);
            const flowIds = shown.flatMap((profile) => profile.flowIds);
            assert.equal(new Set(flowIds).size, flowIds.length);
          }
        }
      }),
      { numRuns },
    );
  });

  itInRounds('shows no phone number twice, in whatever order the writes are stored', few, (numRuns) => {
    fc.assert(
      fc.property(choices, batchSizes, fc.infiniteStream(fc.boolean()), (chosen, sizes, isFirst) => {
        const store = new WritesOneByOne(phoneNumbers);
        for (const batch of batchesOf(recordedInOrder(phoneNumberEventsOf(chosen)), sizes)) {
          const [first, last] = split(store.writesOf(batch), () => isFirst.next().value ?? true);
          for (const write of [...first, ...last]) {
            store.apply(write);
            const shown = store.shown<PhoneNumberDocument>().map(({ record }) => record.number);
            assert.equal(new Set(shown).size, shown.length);
          }
        }
      }),
      { numRuns },
    );
  });
});

describe('a replay after a commit that was stopped between any two writes', () => {
  it('counts each change of an instance once', () => {
    const events = recordedInOrder([...activeInstance(), upgradeRequested(2), ended(2)]);
    const whole = new WritesOneByOne(instanceFigures);
    const writes = whole.writesOf(events);
    for (const write of writes) whole.apply(write);
    for (let applied = 0; applied <= writes.length; applied += 1) {
      const stopped = new WritesOneByOne(instanceFigures);
      for (const write of stopped.writesOf(events).slice(0, applied)) stopped.apply(write);
      for (const write of stopped.writesOf(events)) stopped.apply(write);
      assert.deepEqual(stopped.texts(), whole.texts(), `stopped after ${applied} writes`);
    }
  });
});
