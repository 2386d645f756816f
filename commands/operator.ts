import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command, type Lookup, type ProjectionSummary, type StoppableStatus } from '#application/commands/command.ts';
import { type OperationEffect, post } from '#application/operations/operation.ts';
import { type OperatorRequestsState, operatorTenant } from '#domain/operator/operator-requests.ts';
import { type ProcessEvents, processControl, unknownProcess } from '#domain/operator/process-control.ts';
import { type ProjectionEvents, projectionControl, unknownProjection } from '#domain/operator/projection-control.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import { type Failure, type FailureCode, failure as refused } from '#domain/shared/failure.ts';
import { text } from '#shared/codecs/text.ts';

/** A kind of things that operators stop and start: the read models or the processes. */
interface OperatedGroup<Parameter extends string, Status, Events> {
  /** The path parameter with the name. The member of the events with the name has the same name. */
  readonly parameter: Parameter;
  /** What descriptions call one of the group. */
  readonly noun: string;
  readonly path: string;
  readonly entity: Entity<OperatorRequestsState, Events>;
  readonly status: (name: string, lookup: Lookup) => Promise<Status | null>;
  readonly unknown: (name: string) => Failure;
  readonly notStopped: FailureCode;
  readonly exampleName: string;
  readonly retried: (name: string) => EventOf<Events>;
  readonly skipped: (name: string, eventId: string) => EventOf<Events>;
  /** What the skip of an event leads to, as a sentence. */
  readonly afterSkip: string;
}

const processes: OperatedGroup<'process', StoppableStatus, ProcessEvents> = {
  parameter: 'process',
  noun: 'process',
  path: '/v1/processes',
  entity: processControl,
  status: (name, lookup) => lookup.process(name),
  unknown: unknownProcess,
  notStopped: 'process-not-stopped',
  exampleName: 'detach-phone-numbers',
  retried: (process) => newEvent('ProcessRetried', { process }),
  skipped: (process, eventId) => newEvent('ProcessEventSkipped', { process, eventId }),
  afterSkip: 'The process then does nothing about this event.',
};

const projections: OperatedGroup<'projection', ProjectionSummary, ProjectionEvents> = {
  parameter: 'projection',
  noun: 'read model',
  path: '/v1/projections',
  entity: projectionControl,
  status: (name, lookup) => lookup.projection(name),
  unknown: unknownProjection,
  notStopped: 'projection-not-stopped',
  exampleName: 'flows',
  retried: (projection) => newEvent('ProjectionRetried', { projection }),
  skipped: (projection, eventId) => newEvent('ProjectionEventSkipped', { projection, eventId }),
  afterSkip: 'The read model then does not include this event.',
};

export const rebuildProjection = operatorRequest(projections, {
  name: 'rebuild_projection',
  summary: 'Rebuild a read model',
  description: 'The current read model answers queries until the new one is complete and replaces it.',
  verb: 'rebuild',
  body: {},
  failures: ['projection-rebuilding'],
  decide: ({ name }, { rebuild }) =>
    rebuild === null
      ? E.right([newEvent('ProjectionRebuildRequested', { projection: name })])
      : E.left(refused('projection-rebuilding', 'A rebuild of it is running. See GET /v1/projections.')),
});
export const retryProjection = retryIn(projections);
export const skipProjectionEvent = skipIn(projections);
export const retryProcess = retryIn(processes);
export const skipProcessEvent = skipIn(processes);

function retryIn<Parameter extends string, Status extends StoppableStatus, Events>(
  group: OperatedGroup<Parameter, Status, Events>,
) {
  const { parameter, noun, notStopped, retried } = group;
  return operatorRequest(group, {
    name: `retry_${parameter}`,
    summary: `Let a stopped ${noun} retry its event`,
    description: 'Fix the cause first.',
    verb: 'retry',
    body: {},
    failures: [notStopped],
    decide: ({ name }, { failure }) =>
      failure === null
        ? E.left(refused(notStopped, 'It is running, so it has nothing to retry.'))
        : E.right([retried(name)]),
  });
}

function skipIn<Parameter extends string, Status extends StoppableStatus, Events>(
  group: OperatedGroup<Parameter, Status, Events>,
) {
  const { parameter, noun, path, notStopped, skipped, afterSkip } = group;
  return operatorRequest(group, {
    name: `skip_${parameter}_event`,
    summary: `Let a stopped ${noun} skip the event that stopped it`,
    description: `Name the event that GET ${path} shows. ${afterSkip}`,
    verb: 'skip',
    body: { eventId: text({ min: 1, max: 100 }) },
    failures: [notStopped],
    effect: { isDestructive: true },
    exampleInput: { eventId: '0b9c1c34-6f0e-4a55-9f3e-2d1f5a8c7e61' },
    decide: ({ name, eventId }, { failure }) =>
      failure?.eventId === eventId
        ? E.right([skipped(name, eventId)])
        : E.left(refused(notStopped, `It is not stopped at event ${eventId}. See GET ${path}.`)),
  });
}

interface OperatorRequest<Body extends t.Props, Status, Events> {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly verb: string;
  readonly body: Body;
  readonly failures: ReadonlyArray<FailureCode>;
  readonly effect?: OperationEffect;
  readonly exampleInput?: { readonly [member: string]: string };
  /** @param status of the named projection or process */
  readonly decide: (
    input: t.TypeOfProps<Body> & { readonly name: string },
    status: Status,
  ) => E.Either<Failure, ReadonlyArray<EventOf<Events>>>;
}

/** The command records the request; the runner carries it out from the log. */
function operatorRequest<Parameter extends string, Body extends t.Props, Status, Events>(
  { parameter, path, entity, status, unknown, exampleName }: OperatedGroup<Parameter, Status, Events>,
  request: OperatorRequest<Body, Status, Events>,
) {
  const { name, summary, description, verb, body, failures, effect, exampleInput, decide } = request;
  return command({
    about: {
      name,
      summary,
      description,
      group: 'Operations',
      ...(effect === undefined ? {} : { effect }),
      example: {
        ...(exampleInput === undefined ? {} : { input: exampleInput }),
        output: { [parameter]: exampleName },
      },
    },
    http: post(`${path}/:${parameter}/${verb}`),
    access: { scope: 'operations:write', subject: null },
    // TypeScript does not keep the name of a computed member in the type.
    input: t.type({ [parameter]: text({ min: 1, max: 100 }), ...body }) as unknown as t.Type<
      t.TypeOfProps<Body> & Readonly<Record<Parameter, string>>,
      unknown,
      unknown
    >,
    output: t.type({ [parameter]: text() }, `Requested${parameter[0]?.toUpperCase()}${parameter.slice(1)}`),
    failures: [entity.notFound, ...failures],
    entity,
    loadRelated: (fields, { lookup }) => status(fields[parameter], lookup),
    creates: { id: (fields) => fields[parameter], tenant: (_, { caller }) => operatorTenant(caller) },
    decide: (fields, _, { related: known }) => {
      const named = fields[parameter];
      return known === null ? E.left(unknown(named)) : decide({ ...fields, name: named }, known);
    },
    answer: ({ input: fields }) => ({ [parameter]: fields[parameter] }),
    withoutRevision: true,
  });
}
