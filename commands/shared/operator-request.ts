import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command, type Lookup } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import type { OperationEffect } from '#application/operations/operation-effect.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import type { Failure, FailureCode } from '#domain/shared/failure.ts';
import { type OperatorRequestsState, operatorTenant } from '#domain/shared/operator-requests.ts';
import { text } from '#shared/codecs/text.ts';

/** The group of things that an operator's request is about: the projections or the processes. */
export interface OperatorRequestOptions<Parameter extends string, Status, Events> {
  /** The parameter of the name in paths, and the member of the events with the name. */
  readonly parameter: Parameter;
  /** The path of the list. */
  readonly path: string;
  readonly entity: Entity<OperatorRequestsState, Events>;
  readonly status: (name: string, lookup: Lookup) => Promise<Status | null>;
  readonly unknown: (name: string) => Failure;
  readonly exampleName: string;
}

interface OperatorRequest<Input, Status, Events> {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** The last part of the path. */
  readonly verb: string;
  readonly input: t.Type<Input, unknown, unknown>;
  readonly failures: ReadonlyArray<FailureCode>;
  readonly effect?: OperationEffect;
  readonly exampleInput?: { readonly [member: string]: string };
  readonly decide: (input: Input, status: Status) => E.Either<Failure, ReadonlyArray<EventOf<Events>>>;
}

/** The name of the projection or process, in the path. */
export const operatedName = text({ min: 1, max: 100 });

/** The id of the event to skip, in the body. */
export const skippedEventId = text({ min: 1, max: 100 });

/** Defines an operator's request to a named runner. The command records it; the runner carries it out from the log. */
export function operatorRequest<
  Parameter extends string,
  Input extends Readonly<Record<Parameter, string>>,
  Status,
  Events,
>(
  { parameter, path, entity, status, unknown, exampleName }: OperatorRequestOptions<Parameter, Status, Events>,
  request: OperatorRequest<Input, Status, Events>,
) {
  const { name, summary, description, verb, input, failures, effect, exampleInput, decide } = request;
  return command({
    name,
    summary,
    description,
    group: 'Operations',
    http: post(`${path}/:${parameter}/${verb}`),
    scope: 'operations:write',
    input,
    output: t.type({ [parameter]: text() }, `Requested${parameter[0]?.toUpperCase()}${parameter.slice(1)}`),
    failures: [entity.notFound, ...failures],
    ...(effect === undefined ? {} : { effect }),
    example: {
      ...(exampleInput === undefined ? {} : { input: exampleInput }),
      output: { [parameter]: exampleName },
    },
    entity,
    subject: null,
    newId: (fields) => fields[parameter],
    loadRelated: (fields, { lookup }) => status(fields[parameter], lookup),
    tenant: (_, { caller }) => operatorTenant(caller),
    decide: (fields: Input, _, { related: known }) =>
      known === null ? E.left(unknown(fields[parameter])) : decide(fields, known),
    answer: ({ input: fields }) => ({ [parameter]: fields[parameter] }),
    withoutRevision: true,
  });
}
