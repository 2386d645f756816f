import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import {
  type AsOfInput,
  asOfInput,
  type Moment,
  type PastReadName,
  type PastReads,
  type PastRecord,
  pastReadNames,
  stateAsOf,
} from '#application/history/as-of.ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { flow } from '#domain/flow/flow.ts';
import { flowHistory } from '#domain/flow/history.ts';
import { FlowRecord, type FlowVersionRecord } from '#domain/flow/record.ts';
import type { Failure } from '#domain/shared/failure.ts';
import { type FlowVersionDocument, flowVersions } from '#projections/flow-versions.ts';
import { type FlowDocument, flows } from '#projections/flows.ts';
import { withJsonSchema } from '#shared/codecs/json-schema.ts';
import { EncodedJson } from '#shared/json/json.ts';

const Include = withJsonSchema(t.literal('activeVersion'), {
  type: 'string',
  const: 'activeVersion',
  description: 'Adds `activeVersion`: the record of the active version, or null',
});

interface Input extends AsOfInput {
  readonly flowId: string;
  readonly include?: 'activeVersion';
}

export const getFlow = query<Input, FlowDocument, FlowRecord, 'versions', PastReadName>({
  about: { name: 'get_flow', summary: 'Read a flow', group: 'Flows', example: { output: FlowRecord.example } },
  http: get('/v1/flows/:flowId'),
  access: {
    scope: 'flows:read',
    subject: { collection: flows, parameter: 'flowId', notFound: 'flow-not-found', past: flow },
  },
  input: t.intersection([t.type({ flowId: cuid }), t.partial({ ...asOfInput, include: Include })]),
  output: FlowRecord,
  failures: ['flow-not-found'],
  reads: { versions: flowVersions },
  services: pastReadNames,
  hasRevision: true,
  answer: async ({ input: { flowId, asOf, include }, subject }, sources) => {
    if (asOf !== undefined) return flowAsOf(sources, flowId, asOf, include !== undefined);
    const { record } = subject;
    const { revision, activeVersionId } = subject.head;
    if (include === undefined) return E.right({ body: record, revision });
    if (activeVersionId === null) return E.right({ body: withActiveVersion(record, 'null'), revision });
    const version = await sources.read.versions.get<FlowVersionDocument>(activeVersionId, 'fresh');
    // Another version has become active since the flow was read: the answer is the flow as it was read.
    if (version?.head.claims !== flowId) return flowAsOf(sources, flowId, { revision }, true);
    return E.right({ body: withActiveVersion(record, version.record.text), revision });
  },
});

/** Adds the version as text: its schema may be large, and nothing here reads it. */
function withActiveVersion({ text }: EncodedJson<FlowRecord>, version: string): EncodedJson<FlowRecord> {
  return new EncodedJson(`${text.slice(0, -1)},"activeVersion":${version}}`);
}

const past = { history: flowHistory, entity: flow, notFound: 'flow-not-found' } as const;

async function flowAsOf(
  reads: PastReads,
  flowId: string,
  moment: Moment,
  withVersion: boolean,
): Promise<E.Either<Failure, PastRecord<FlowRecord>>> {
  const found = await stateAsOf(reads, past, flowId, moment);
  if (E.isLeft(found)) return found;
  const { state, revision, read } = found.right;
  const record = (await read({ kind: 'flow', id: flowId })) as unknown as FlowRecord;
  if (!withVersion) return E.right({ body: record, revision });
  const id = state?.activeVersionId ?? null;
  const activeVersion = id === null ? null : ((await read({ kind: 'flow-version', id })) as unknown);
  return E.right({ body: { ...record, activeVersion: activeVersion as FlowVersionRecord | null }, revision });
}
