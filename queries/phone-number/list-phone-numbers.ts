import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { cuid } from '#domain/codecs.ts';
import { examples } from '#domain/examples.ts';
import { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { get } from '#operations/operation.ts';
import { listPage, nextCursorOutput, pageInput } from '#operations/paging.ts';
import { query } from '#operations/query.ts';
import { type PhoneNumberDocument, phoneNumbers } from '#projections/phone-numbers.ts';
import { type ProjectDocument, projects } from '#projections/projects.ts';

const Input = t.intersection([t.type({ projectId: cuid }), t.partial(pageInput)]);
const Output = t.intersection([t.type({ phoneNumbers: t.readonlyArray(PhoneNumberRecord) }), nextCursorOutput]);

export const listPhoneNumbers = query<t.TypeOf<typeof Input>, ProjectDocument, t.TypeOf<typeof Output>>({
  name: 'list_phone_numbers',
  summary: "List a project's phone numbers",
  group: 'Phone numbers',
  http: get('/v1/projects/:projectId/phone-numbers'),
  scope: 'phone-numbers:read',
  input: Input,
  output: Output,
  failures: ['project-not-found'],
  example: { output: { phoneNumbers: [examples.phoneNumber] } },
  reads: [phoneNumbers.name, projects.name],
  subject: { collection: projects.name, parameter: 'projectId', notFound: 'project-not-found' },
  paged: true,
  answer: async ({ input, subject, documents }) =>
    E.right(
      await listPage(documents, {
        collection: phoneNumbers.name,
        where: { projectId: subject.id },
        input,
        name: 'phoneNumbers',
        item: ({ value }: { value: PhoneNumberDocument }) => value.record,
      }),
    ),
});
