import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { text } from '#domain/codecs.ts';
import type { EventOf } from '#domain/entity.ts';
import type { Failure, FailureCode } from '#domain/failure.ts';
import type { ProjectionEvents } from '#domain/projection/events.ts';
import { operatorTenant, projectionControl, unknownProjection } from '#domain/projection/projection-control.ts';
import { command, type ProjectionStanding } from '#operations/command.ts';
import { post } from '#operations/operation.ts';

/** The name of a read model, in the path. */
export const projectionName = { projection: text({ min: 1, max: 100 }) };

interface ProjectionRequest<Input extends { readonly projection: string }> {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** The last part of the path. */
  readonly verb: string;
  readonly input: t.Type<Input, unknown, unknown>;
  readonly failures: ReadonlyArray<FailureCode>;
  readonly exampleInput?: { readonly [member: string]: string };
  readonly decide: (
    input: Input,
    standing: ProjectionStanding,
  ) => E.Either<Failure, ReadonlyArray<EventOf<ProjectionEvents>>>;
}

/** An operator's request to a read model that there is: recorded, and obeyed by the runner when it meets it in the log. */
export function projectionRequest<Input extends { readonly projection: string }>(request: ProjectionRequest<Input>) {
  const { name, summary, description, verb, input, failures, exampleInput, decide } = request;
  return command({
    name,
    summary,
    description,
    group: 'Operations',
    http: post(`/v1/projections/:projection/${verb}`),
    scope: 'operations:write',
    input,
    output: t.type({ projection: text() }),
    failures: ['projection-not-found', ...failures],
    example: {
      ...(exampleInput === undefined ? {} : { input: exampleInput }),
      output: { projection: 'flows' },
    },
    entity: projectionControl,
    subject: null,
    newId: ({ projection }) => projection,
    also: ({ projection }, { lookup }) => lookup.projection(projection),
    tenant: (_, { caller }) => operatorTenant(caller),
    decide: (asked: Input, _, { also: standing }) =>
      standing === null ? E.left(unknownProjection(asked.projection)) : decide(asked, standing),
    answer: ({ input: { projection } }) => ({ projection }),
    withoutRevision: true,
  });
}
