import * as E from 'fp-ts/lib/Either.js';
import { describeEvent } from '#application/history/describe-event.ts';
import { EventDataReader } from '#application/history/event-data-reader.ts';
import { foldEvent } from '#application/history/folded-stream.ts';
import type { OperationResult } from '#application/operations/operation-request.ts';
import type { NextEvents, StreamState } from '#application/streams/stream-state.ts';
import type { StreamWriteResult } from '#application/streams/stream-turns.ts';
import type { StreamWriter } from '#application/streams/stream-writer.ts';
import type { EndpointPlaces } from '#application/webhooks/endpoint-places.ts';
import { historyOfStream } from '#domain/histories.ts';
import type { PlannedEvent } from '#domain/history/record.ts';
import type { Entity } from '#domain/shared/entity.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { DataAt } from '#domain/shared/text-reference.ts';
import { defaultMaxAppendBytes, type RecordedEvent } from '#event-store/event-store.ts';
import type { PersonalTexts } from '#personal-data/personal-data.ts';
import type { Json } from '#shared/json/json.ts';
import type { Claims } from './claims.ts';
import type { AnyCommand } from './command.ts';

/**
 * Stages 9 and 10 of a dry run: checks what a write would claim, and makes its events. Claims and appends nothing.
 * @throws UnavailableError
 */
export async function planWrite(
  { writer, claims, endpointPlaces, maxAppendBytes = defaultMaxAppendBytes }: PlanDependencies,
  { command, id, input, before }: PlannedWrite,
  next: NextEvents<unknown>,
): Promise<E.Either<Failure, StreamWriteResult<unknown>>> {
  const { entity, creates, endpointPlace } = command;
  const planned =
    next.events.length === 0
      ? E.right({ stream: before, events: [] })
      : await writer.planWrite(entity, id, before, next, maxAppendBytes);
  if (E.isLeft(planned)) return planned;
  const claimed = creates?.claims;
  const taken = claimed === undefined ? null : await claims.check(claimed.claim, claimed.values(input), id);
  if (taken !== null) return E.left(taken);
  const takesPlace = endpointPlace === 'taken' && next.tenant !== null;
  const full = takesPlace ? await endpointPlaces.refusalOf(next.tenant) : null;
  return full === null ? planned : E.left(full);
}

interface PlanDependencies {
  readonly writer: Pick<StreamWriter, 'planWrite'>;
  readonly claims: Pick<Claims, 'check'>;
  readonly endpointPlaces: Pick<EndpointPlaces, 'refusalOf'>;
  readonly maxAppendBytes?: number;
}

interface PlannedWrite {
  readonly command: AnyCommand;
  readonly id: string;
  readonly input: never;
  readonly before: StreamState<unknown>;
}

/** Describes the events as histories do. @throws UnavailableError */
export async function describePlannedEvents<State, Events>(
  entity: Entity<State, Events>,
  before: StreamState<State>,
  events: ReadonlyArray<RecordedEvent>,
  dataAt: DataAt,
  personalTexts: PersonalTexts,
): Promise<ReadonlyArray<PlannedEvent>> {
  const history = historyOfStream(events[0]?.stream ?? '');
  if (history === null) return [];
  const data = new EventDataReader(dataAt);
  const described: PlannedEvent[] = [];
  const { state, revision, resourceRevision, time } = before;
  let folded = { state, revision, resourceRevision, time, bytes: 0 };
  for (const event of events) {
    const after = foldEvent(entity, folded, event);
    const subject = history.personalSubject?.(after.state) ?? null;
    const open = await personalTexts.readerOf(subject === null ? [] : [subject]);
    const entry = await describeEvent(
      history,
      { event, before: folded, after },
      { data, open, findKeyName: async () => null },
    );
    if (entry !== null) described.push({ type: entry.type, summary: entry.summary, changes: entry.changes });
    folded = after;
  }
  return described;
}

/** The result of a dry run. @param body the answer that the command would have */
export function dryRunResult({ output }: AnyCommand, events: ReadonlyArray<PlannedEvent>, body: Json): OperationResult {
  const answer = output === null ? null : body;
  return { status: 200, body: { dryRun: true, events: events as unknown as Json, answer } };
}
