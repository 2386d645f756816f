import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { examples } from '#domain/examples.ts';
import { instanceRecord } from '#domain/instance/answer.ts';
import { InstanceRecord } from '#domain/instance/record.ts';
import type { Tenant } from '#domain/tenancy.ts';
import { get } from '#operations/operation.ts';
import { listPage, nextCursorOutput, pageInput } from '#operations/paging.ts';
import { query } from '#operations/query.ts';
import { type InstanceDocument, instances } from '#projections/instances.ts';
import { withinReach } from '../within-reach.ts';

const Input = t.partial(pageInput);
const Output = t.intersection([t.type({ instances: t.readonlyArray(InstanceRecord) }), nextCursorOutput]);

export const listInstances = query<t.TypeOf<typeof Input>, Tenant, t.TypeOf<typeof Output>>({
  name: 'list_instances',
  summary: 'List the instances that the key reaches',
  group: 'Instances',
  http: get('/v1/instances'),
  scope: 'instances:read',
  input: Input,
  output: Output,
  failures: [],
  example: { output: { instances: [examples.instance] } },
  reads: [instances.name],
  subject: null,
  paged: true,
  answer: async ({ input, caller, documents }) =>
    E.right(
      await listPage(documents, {
        collection: instances.name,
        where: withinReach(caller),
        input,
        name: 'instances',
        item: ({ value }: { value: InstanceDocument }) => instanceRecord(value.state),
      }),
    ),
});
