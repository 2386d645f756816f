import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { StoreRecord, store, storeMade, storeRecord } from '#domain/store/store.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

export const createStore = command({
  about: {
    name: 'create_store',
    summary: 'Create a knowledge store',
    description: "The store belongs to the key's project.",
    group: 'Stores',
    example: { input: { name: 'House rules', description: 'What guests ask most' }, output: StoreRecord.example },
  },
  plane: 'gateway',
  http: post('/v1/stores'),
  access: { scope: 'stores:write', subject: null },
  input: t.intersection([t.type({ name: text({ min: 1 }) }), t.partial({ description: nullable(text()) })]),
  output: StoreRecord,
  failures: [],
  entity: store,
  creates: {
    id: (_, newIds) => newIds.id,
    isIdUsed: (state) => state !== null,
    tenant: (_, { caller: { organizationId, projectId, partnerId } }) => ({ organizationId, projectId, partnerId }),
  },
  decide: ({ name, description = null }, state, { caller: { projectId }, newIds: { id } }) =>
    E.right(storeMade({ id, projectId, name, description }, state)),
  answer: ({ state, dataAt }) => storeRecord(state, dataAt),
});
