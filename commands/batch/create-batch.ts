import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { batch, lineScope, newBatchId } from '#domain/batch/batch.ts';
import { BatchEndpoint, type BatchEvents } from '#domain/batch/events.ts';
import { BatchMetadata, BatchRecord } from '#domain/batch/record.ts';
import { type FileState, file, fileHeld, isFileThere } from '#domain/file/file.ts';
import { ExpiresAfter, FileRecord } from '#domain/file/record.ts';
import { notFound } from '#domain/shared/access.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { clock } from '#shared/clock.ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

/** What the decision needs from other streams. */
interface Related {
  readonly input: FileState;
  readonly batchesRun: boolean;
}

export const createBatch = command({
  about: {
    name: 'create_batch',
    summary: 'Create a batch',
    description:
      'Each line of the input file is one call of the endpoint, to the model that it names. The answers are written to an output file and an error file.',
    group: 'Batches',
    example: {
      input: {
        input_file_id: FileRecord.example.id,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
        metadata: BatchRecord.example.metadata,
      },
      output: BatchRecord.example,
    },
  },
  plane: 'gateway',
  http: post('/v1/batches'),
  access: {
    scope: 'batches:write', // Its lines are calls of the gateway.
    alsoScope: lineScope,
    subject: null,
  },
  input: t.intersection([
    t.type({ input_file_id: text({ min: 1 }), endpoint: BatchEndpoint, completion_window: oneOf('24h') }),
    t.partial({ metadata: nullable(BatchMetadata), output_expires_after: nullable(ExpiresAfter) }),
  ]),
  output: BatchRecord,
  failures: ['file-not-found', 'batches-not-running'],
  entity: batch,
  loadRelated: async ({ input_file_id }, { load, lookup }): Promise<Related> => ({
    input: (await load(file, input_file_id)).state,
    batchesRun: await lookup.batchesRun(),
  }),
  creates: {
    id: (_, newIds) => newBatchId(newIds.id),
    isIdUsed: (state) => state !== null,
    tenant: (_, { caller: { organizationId, projectId, partnerId } }) => ({ organizationId, projectId, partnerId }),
  },
  decide: (
    { input_file_id, endpoint, completion_window, metadata = null, output_expires_after },
    state,
    { caller: { keyId, projectId }, newIds, related: { input, batchesRun }, time },
  ) => {
    if (state !== null) return E.right([]);
    const isInProject = isFileThere(input, time) && input.projectId === projectId;
    if (!isInProject || input.id !== input_file_id) {
      return E.left(notFound('file-not-found', JSON.stringify(input_file_id.slice(0, 100))));
    }
    if (!input.isBatchInput) return E.left(wrongPurpose);
    if (!batchesRun) return E.left(notRunning);
    return E.right([
      newEvent('BatchCreated', {
        id: newBatchId(newIds.id),
        projectId,
        keyId,
        inputFileId: input_file_id,
        inputBlobId: input.blobId,
        inputBytes: input.bytes,
        endpoint,
        completionWindow: completion_window,
        metadata,
        outputExpiresAfterSeconds: output_expires_after?.seconds ?? null,
      } satisfies BatchEvents['BatchCreated']),
    ]);
  }, // From now on the file cannot be deleted. The batch checks the file again when it begins.
  afterAppend: async (id, { load, append }) => {
    const { state } = await load(batch, id);
    if (state === null) return null;
    const time = new Date(clock.time()).toISOString();
    await append({
      entity: file,
      id: state.facts.input_file_id,
      decide: ({ state: input }) => E.right({ events: state.hasEnded ? [] : fileHeld(id, input, time), tenant: null }),
    });
    return null;
  },
  answer: async ({ state, dataAt }) => {
    if (state === null) throw new Error('an answer about a batch needs one');
    const { metadata } = (await dataAt(0)) as unknown as BatchEvents['BatchCreated'];
    return { ...state.facts, errors: null, metadata };
  },
});

const wrongPurpose = invalidInput([{ pointer: '/input_file_id', message: 'must be a file with the purpose "batch"' }]);

const notRunning = failure(
  'batches-not-running',
  'No node runs batches now. A node runs them if it has the role projections and serves the gateway or has a GATEWAY_CONFIG.',
  { retryAfterSeconds: 5 },
);
