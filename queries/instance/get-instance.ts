import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/codecs.ts';
import { instanceRecord } from '#domain/instance/answer.ts';
import { InstanceDetails } from '#domain/instance/record.ts';
import { examples } from '#domain/shared/examples.ts';
import { type InstanceDocument, instances } from '#projections/instances.ts';
import { type DriftReads, driftReads, listDrift } from './shared/list-drift.ts';

const Input = t.type({ instanceId: cuid });

export const getInstance = query<t.TypeOf<typeof Input>, InstanceDocument, InstanceDetails, DriftReads>({
  name: 'get_instance',
  summary: 'Read an instance',
  description:
    '`operation` tells how far what is being done is, `lastOperation` what came of the one before, and `drifted` names ' +
    'the flows that somebody changed by hand since they were provisioned.',
  group: 'Instances',
  http: get('/v1/instances/:instanceId'),
  scope: 'instances:read',
  input: Input,
  output: InstanceDetails,
  failures: ['instance-not-found'],
  example: { output: { ...examples.instance, drifted: [] } },
  reads: driftReads,
  subject: { collection: instances, parameter: 'instanceId', notFound: 'instance-not-found' },
  hasRevision: true,
  answer: async (context) => {
    const { document, drifted } = await listDrift(context, context.subject);
    return E.right({ body: { ...instanceRecord(document.state), drifted }, revision: document.revision });
  },
});
