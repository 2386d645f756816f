import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import {
  asOfInput,
  type PastReadName,
  type PastRecord,
  pastReadNames,
  recordAsOf,
} from '#application/history/as-of.ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { instanceHistory } from '#domain/instance/history.ts';
import { instance, instanceRecord } from '#domain/instance/instance.ts';
import { InstanceDetails, InstanceRecord } from '#domain/instance/record.ts';
import { type InstanceDocument, instances } from '#projections/instances.ts';
import { type DriftReads, driftReads, listDrift } from './list-drift.ts';

const Input = t.intersection([t.type({ instanceId: cuid }), t.partial(asOfInput)]);

const notFound = 'instance-not-found';

export const getInstance = query<
  t.TypeOf<typeof Input>,
  InstanceDocument,
  InstanceDetails,
  DriftReads,
  PastReadName | 'waitForPosition'
>({
  about: {
    name: 'get_instance',
    summary: 'Read an instance',
    description:
      '`operation` shows the progress of the running operation, `lastOperation` the outcome of the one before, and ' +
      '`drifted` the flows that somebody changed by hand since they were provisioned; it is null with `asOf`.',
    group: 'Instances',
    example: { output: { ...InstanceRecord.example, drifted: [] } },
  },
  http: get('/v1/instances/:instanceId'),
  access: {
    scope: 'instances:read',
    subject: { collection: instances, parameter: 'instanceId', notFound, past: instance },
  },
  input: Input,
  output: InstanceDetails,
  failures: [notFound],
  reads: driftReads,
  services: [...pastReadNames, 'waitForPosition'],
  hasRevision: true,
  changesWithinRevision: true,
  answer: async ({ input: { asOf }, subject }, sources) => {
    if (asOf !== undefined) {
      const past = { history: instanceHistory, entity: instance, kind: 'instance', notFound } as const;
      const found = await recordAsOf<InstanceRecord>(sources, past, subject.id, asOf);
      return E.map((was: PastRecord<InstanceRecord>) => ({ ...was, body: { ...was.body, drifted: null } }))(found);
    }
    const { document, drifted } = await listDrift(sources, subject);
    return E.right({ body: { ...instanceRecord(document.state), drifted }, revision: document.revision });
  },
});
