import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { examples } from '#domain/examples.ts';
import { TemplateRecord } from '#domain/template/record.ts';
import type { Tenant } from '#domain/tenancy.ts';
import { get } from '#operations/operation.ts';
import { listPage, nextCursorOutput, pageInput } from '#operations/paging.ts';
import { query } from '#operations/query.ts';
import { type TemplateDocument, templates } from '#projections/templates.ts';
import { withinReach } from '../within-reach.ts';

const Input = t.partial(pageInput);
const Output = t.intersection([t.type({ templates: t.readonlyArray(TemplateRecord) }), nextCursorOutput]);

export const listTemplates = query<t.TypeOf<typeof Input>, Tenant, t.TypeOf<typeof Output>>({
  name: 'list_templates',
  summary: "List the organization's templates",
  description: "An admin key is shown every organization's.",
  group: 'Templates',
  http: get('/v1/templates'),
  scope: 'templates:read',
  input: Input,
  output: Output,
  failures: [],
  example: { output: { templates: [examples.template] } },
  reads: [templates.name],
  subject: null,
  paged: true,
  answer: async ({ input, caller, documents }) =>
    E.right(
      await listPage(documents, {
        collection: templates.name,
        where: withinReach(caller),
        input,
        name: 'templates',
        item: ({ value }: { value: TemplateDocument }) => value.record,
      }),
    ),
});
