import { createHash, randomUUID } from 'node:crypto';
import { createId } from '@paralleldrive/cuid2';
import type { EventMetadata } from '#domain/shared/event.ts';
import { type EventStore, type EventToAppend, noStream } from '#event-store/event-store.ts';

const inFlight = 256;
/** Flows that are worked on at the same time: what follows one another in a stream lies apart in the log. */
const openFlows = 2000;

const schema = {
  nodes: Array.from({ length: 4 }, (_, index) => ({
    id: `node-${index}`,
    kind: index === 0 ? 'start' : 'say',
    text: 'How can I help you today? Please say it in a few words.',
    next: `node-${index + 1}`,
  })),
};

interface Step {
  readonly stream: string;
  readonly revision: number;
  readonly events: ReadonlyArray<EventToAppend>;
}

/**
 * Fills an empty log: of ten events some one flow created, four versions (500-byte schema), two or three activations,
 * one or two renamings and a phone number; one flow in twenty is deleted in the end.
 */
export async function writeBelievableLog(store: EventStore, events: number): Promise<void> {
  const steps = interleavedLives();
  let left = events;
  const lane = async () => {
    while (left > 0) {
      const { stream, revision, events: batch } = steps.next().value;
      left -= batch.length;
      const outcome = await store.append(stream, revision, batch)();
      if (outcome._tag === 'Left') throw new Error(`Refused: ${outcome.left.kind}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

/** The steps of many flows' lives in turn. A flow has one step under way at most: there are more flows than lanes. */
function* interleavedLives(): Generator<Step, never, void> {
  let created = 0;
  const lives = Array.from({ length: openFlows }, () => lifeOf(created++));
  for (;;) {
    for (const [index, life] of lives.entries()) {
      const step = life.next();
      if (step.done !== true) yield step.value;
      else lives[index] = lifeOf(created++);
    }
  }
}

function* lifeOf(number: number): Generator<Step, void, void> {
  const id = createId();
  const stream = `flow-${id}`;
  const projectId = `cproject${number % 500}`;
  const versionIds = Array.from({ length: 4 }, () => id + createId().slice(-8));
  const [first = '', second = '', third = '', fourth = ''] = versionIds;
  let revision = noStream;
  const step = (...events: ReadonlyArray<readonly [type: string, data: object]>): Step => {
    const before = revision;
    revision += events.length;
    return { stream, revision: before, events: events.map(([type, data]) => eventToAppend(type, data, projectId)) };
  };
  const version = (versionId: string, count: number) =>
    [
      'FlowVersionCreated',
      { id: versionId, flowId: id, version: count, tag: `v${count}`, flowSchema: schema },
    ] as const;
  const activated = (versionId: string, replacedVersionId: string | null) =>
    ['FlowVersionActivated', { id: versionId, flowId: id, replacedVersionId }] as const;
  const name = `Support line ${number}`;
  const agentProfileId = number % 3 === 0 ? `${projectId}00000001` : null;

  yield step(
    ['FlowCreated', { id, projectId, name, type: 'graph', description: null, tier: 'standard', agentProfileId }],
    version(first, 1),
    activated(first, null),
  );
  yield step(version(second, 2));
  yield step(['FlowRenamed', { id, name: `${name}, renamed` }]);
  yield phoneNumber(number, projectId, id);
  yield step(version(third, 3));
  if (number % 2 === 0) yield step(activated(third, first));
  else yield step(['FlowRenamed', { id, name: `${name}, renamed again` }]);
  yield step(version(fourth, 4));
  yield step(activated(fourth, number % 2 === 0 ? third : first));
  if (number % 20 === 0) yield step(['FlowDeleted', { id, agentProfileId }]);
}

function phoneNumber(number: number, projectId: string, flowId: string): Step {
  const id = createId();
  const digits = `+1415${String(number).padStart(7, '0')}`;
  const data = { id, projectId, type: 'platform', name: 'Main', number: digits, status: 'enabled', flowId };
  return {
    stream: `phoneNumber-${id}`,
    revision: noStream,
    events: [eventToAppend('PhoneNumberCreated', { ...data, externalPhoneFields: null }, projectId)],
  };
}

function eventToAppend(type: string, data: object, projectId: string): EventToAppend {
  const id = randomUUID();
  const metadata: EventMetadata = {
    $correlationId: id,
    $causationId: id,
    actor: { keyId: 'ckey00000001', keyType: 'project' },
    requestId: id,
    time: new Date().toISOString(),
    schemaVersion: 1,
    organizationId: 'corganization1',
    projectId,
    partnerId: null,
    prevHash: createHash('sha256').update(id).digest('hex'),
    hash: createHash('sha256').update(projectId).digest('hex'),
  };
  return { id, type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) };
}
