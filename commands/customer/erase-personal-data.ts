import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { remove } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { customer, customerOf, customerRecord } from '#domain/organization/organization.ts';
import { CustomerRecord } from '#domain/organization/record.ts';
import { newEvent } from '#domain/shared/event.ts';
import { unsealedText } from '#domain/shared/personal-data.ts';

const erasedAt = '2026-03-02T16:05:00.000Z';

export const erasePersonalData = command({
  about: {
    name: 'erase_personal_data',
    summary: "Erase a customer's name and address permanently",
    description:
      'After the answer, no stored data shows the name or the address, not even a history. The organization and its resources stay. A repetition changes nothing.',
    group: 'Partner customers',
    example: {
      output: {
        ...CustomerRecord.example,
        name: 'erased',
        clientEmail: 'erased',
        personalDataErasedAt: erasedAt,
        updatedAt: erasedAt,
      },
    },
  },
  http: remove('/v1/partner/customers/:organizationId/personal-data'),
  access: { scope: 'customers:write', subject: { entity: customer, parameter: 'organizationId' } },
  input: t.type({ organizationId: cuid }),
  output: CustomerRecord,
  failures: ['customer-not-found'],
  entity: customer,
  decide: ({ organizationId: id }, state) =>
    E.right(customerOf(state).personalDataErasedAt === null ? [newEvent('PersonalDataErased', { id })] : []),
  afterAppend: async (id, { erasePersonalData: erase }) => {
    await erase(id);
    return null;
  },
  answer: ({ state }) => customerRecord(customerOf(state), (_, text) => unsealedText(text)),
});
