import { randomUUID } from 'node:crypto';
import { createId } from '@paralleldrive/cuid2';
import { type EventStore, type EventToAppend, noStream } from '#event-store/event-store.ts';
import { seal, type UnsealedMetadata } from '#event-store/hash-chain.ts';

const inFlight = 256;
/** The number of concurrent flows, so that successive events of a stream are apart in the log. */
const openFlows = 2000;

const schema = {
  nodes: Array.from({ length: 4 }, (_, index) => ({
    id: `node-${index}`,
    kind: index === 0 ? 'start' : 'say',
    text: 'How can I help you today? Please say it in a few words.',
    next: `node-${index + 1}`,
  })),
};

const usualProjects = 500;

interface Step {
  readonly stream: string;
  readonly revision: number;
  readonly events: ReadonlyArray<EventToAppend>;
}

/**
 * Fills an empty log. Ten events hold about one created flow, four versions (500-byte schema), two or three
 * activations, one or two renamings and a phone number. One flow in twenty is deleted at the end.
 * @param kind `settled`: processes have nothing to react to, because no flow has a profile and none is deleted
 * @param projects the number of projects that the log begins with, each created by an event; without it, the flows belong
 *   to 500 projects that no event has created
 */
export async function writeRealisticLog(
  store: EventStore,
  events: number,
  kind: 'lively' | 'settled' = 'lively',
  projects = 0,
): Promise<void> {
  const steps = stepsOfLog(kind === 'settled', projects);
  let left = events;
  const worker = async () => {
    while (left > 0) {
      const { stream, revision, events: batch } = steps.next().value;
      left -= batch.length;
      const outcome = await store.append(stream, revision, batch);
      if (outcome._tag === 'Left') throw new Error(`Refused: ${outcome.left.kind}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

function* stepsOfLog(isSettled: boolean, projects: number): Generator<Step, never, void> {
  for (let number = 0; number < projects; number += 1) yield newProject(number);
  return yield* interleavedSteps(isSettled, projects || usualProjects);
}

function newProject(number: number): Step {
  const id = projectIdOf(number);
  const stream = `project-${id}`;
  const data = { id, organizationId: 'corganization1', name: `Project ${number}` };
  return { stream, revision: noStream, events: [sealerOf(stream, id)('ProjectCreated', data)] };
}

function projectIdOf(number: number): string {
  return `cproject${number}`;
}

/**
 * Yields the steps of many flows in turn. A flow has at most one running step, because there are more flows than
 * workers.
 */
function* interleavedSteps(isSettled: boolean, projects: number): Generator<Step, never, void> {
  let created = 0;
  const flows = Array.from({ length: openFlows }, () => stepsOfFlow(created++, isSettled, projects));
  for (;;) {
    for (const [index, flow] of flows.entries()) {
      const step = flow.next();
      if (step.done !== true) yield step.value;
      else flows[index] = stepsOfFlow(created++, isSettled, projects);
    }
  }
}

function* stepsOfFlow(number: number, isSettled: boolean, projects: number): Generator<Step, void, void> {
  const id = createId();
  const stream = `flow-${id}`;
  const projectId = projectIdOf(number % projects);
  const versionIds = Array.from({ length: 4 }, () => id + createId().slice(-8));
  const [first = '', second = '', third = '', fourth = ''] = versionIds;
  const sealNext = sealerOf(stream, projectId);
  let revision = noStream;
  const step = (...events: ReadonlyArray<readonly [type: string, data: object]>): Step => {
    const before = revision;
    revision += events.length;
    return { stream, revision: before, events: events.map(([type, data]) => sealNext(type, data)) };
  };
  const version = (versionId: string, count: number) =>
    [
      'FlowVersionCreated',
      { id: versionId, flowId: id, version: count, tag: `v${count}`, flowSchema: schema },
    ] as const;
  const activated = (versionId: string, replacedVersionId: string | null) =>
    ['FlowVersionActivated', { id: versionId, flowId: id, replacedVersionId }] as const;
  const name = `Support line ${number}`;
  const agentProfileId = !isSettled && number % 3 === 0 ? `${projectId}00000001` : null;

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
  if (!isSettled && number % 20 === 0) yield step(['FlowDeleted', { id, agentProfileId }]);
}

function phoneNumber(number: number, projectId: string, flowId: string): Step {
  const id = createId();
  const digits = `+1415${String(number).padStart(7, '0')}`;
  const data = { id, projectId, type: 'platform', name: 'Main', number: digits, status: 'enabled', flowId };
  const stream = `phoneNumber-${id}`;
  const sealNext = sealerOf(stream, projectId);
  return {
    stream,
    revision: noStream,
    events: [sealNext('PhoneNumberCreated', { ...data, externalPhoneFields: null })],
  };
}

/** Seals the events of a stream, one after the other. */
function sealerOf(stream: string, projectId: string): (type: string, data: object) => EventToAppend {
  let revision = noStream;
  let prevHash: string | null = null;
  return (type, data) => {
    const id = randomUUID();
    revision += 1;
    const sealed = seal(stream, revision, prevHash, { id, type, data }, metadataOf(id, projectId));
    prevHash = sealed.hash;
    return sealed.event;
  };
}

function metadataOf(id: string, projectId: string): UnsealedMetadata {
  return {
    $correlationId: id,
    $causationId: id,
    actor: { keyId: 'ckey00000001', keyType: 'project' },
    requestId: id,
    time: new Date().toISOString(),
    schemaVersion: 1,
    organizationId: 'corganization1',
    projectId,
    partnerId: null,
  };
}
