import { randomUUID } from 'node:crypto';
import { usageStreamKind } from '#domain/stream-kinds.ts';
import { dayOf, type UsageEntry, type UsageEvents } from '#domain/usage/events.ts';
import { LatencySketch, relativeAccuracy } from '#domain/usage/latency-bins.ts';
import { noTokenParts } from '#domain/usage/usage-total.ts';
import { type EventStore, noStream } from '#event-store/event-store.ts';
import { usageMetadata } from '#usage/usage-recorder.ts';

type UsageWindowData = UsageEvents['UsageRecorded'];

/** The default number of metered calls. */
export const defaultCalls = 10_000_000;
export const keys = 100;
export const models = 5;
const type = 'UsageRecorded';
const node = 'bench';
const days = 40;
const keysOfProject = 2;
const windowMs = 15 * 60_000;

/** Appends the sums of this many calls to a log, in the same streams as a node. */
export async function appendMeteredCalls(events: Pick<EventStore, 'append'>, calls: number): Promise<void> {
  const revisions = new Map<string, number>();
  for (const data of meteredWindows(calls)) {
    const stream = `${usageStreamKind}-${dayOf(data.until)}-${node}`;
    const id = randomUUID();
    const metadata = JSON.stringify(usageMetadata(id, type, data.until));
    const event = { id, type, data: JSON.stringify(data), metadata };
    const appended = await events.append(stream, revisions.get(stream) ?? noStream, [event]);
    if (appended._tag === 'Left') throw new Error(`Refused: ${appended.left.kind}`);
    revisions.set(stream, appended.right.revision);
  }
}

/**
 * Returns the sums of this many calls in the last forty days, as nodes record them: one window for each quarter of an
 * hour.
 */
export function meteredWindows(calls: number): ReadonlyArray<UsageWindowData> {
  const count = (days * 24 * 60 * 60_000) / windowMs;
  const callsOfEntry = Math.max(1, Math.round(calls / count / (keys / 5)));
  const end = Math.floor(Date.now() / windowMs) * windowMs;
  return Array.from({ length: count }, (_, index) => {
    const until = new Date(end - (count - 1 - index) * windowMs).toISOString();
    const usage = Array.from({ length: keys / 5 }, (_, part) => entry(index, part, callsOfEntry));
    return { node, from: until, until, relativeAccuracy, callsLost: 0, usage };
  });
}

function entry(window: number, part: number, calls: number): UsageEntry {
  const key = (part * 5 + (window % 5)) % keys;
  const project = Math.floor(key / keysOfProject);
  const organization = Math.floor(project / 5);
  const model = (window + part) % models;
  const sketch = new LatencySketch();
  for (let call = 0; call < Math.min(calls, 100); call += 1) sketch.add(200 + ((call * 7919 + window * 31) % 9_000));
  const totalMs = sketch.distribution();
  if (totalMs === null) throw new Error('an entry has a call');
  return {
    keyId: `ckey${String(key).padStart(8, '0')}`,
    organizationId: `corg${String(organization).padStart(8, '0')}`,
    projectId: `cproject${String(project).padStart(8, '0')}`,
    partnerId: 'cpartner00000001',
    operation: 'chat',
    model: `model-${model}`,
    target: `provider/model-${model}${window % 50 === 0 ? '-fallback' : ''}`,
    outcome: part === 0 && window % 10 === 0 ? 'failed' : 'served',
    calls,
    streamed: calls,
    attempts: calls,
    failedTries: [],
    callsWithTokens: calls,
    inputTokens: 600 * calls,
    outputTokens: 160 * calls,
    ...noTokenParts,
    characters: 0,
    audioSeconds: 0,
    cost: 0.0002 * calls,
    headersMs: null,
    firstContentMs: totalMs,
    totalMs,
  };
}
