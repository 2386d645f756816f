import assert from 'node:assert/strict';
import { createBatch } from '#commands/batch/create-batch.ts';
import { type FileState, file } from '#domain/file/file.ts';
import { checkScopes } from '#domain/shared/access.ts';
import { batchCreated } from '#test/support/events/batch-events.ts';
import { fileCreated, fileDeleted, fileId } from '#test/support/events/file-events.ts';
import { callerOf, ids, newIds } from '#test/support/events/tenants.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const input = { input_file_id: fileId, endpoint: '/v1/chat/completions', completion_window: '24h' };
const uploaded = stateOf(file, fileCreated());
const given = (file: FileState, batchesRun = true) => ({ related: { input: file, batchesRun } });

describe('create_batch', () => {
  const id = `batch_${newIds.id}`;

  it('creates a batch in the name of the key', () => {
    givenHistory().when(createBatch, input, given(uploaded)).then(batchCreated({ id }));
    const more = {
      ...input,
      metadata: { run: 'nightly' },
      output_expires_after: { anchor: 'created_at', seconds: 3_600 },
    };
    givenHistory()
      .when(createBatch, more, given(uploaded))
      .then(batchCreated({ id, metadata: { run: 'nightly' }, outputExpiresAfterSeconds: 3_600 }));
  });

  it('needs the scope of the calls that its lines make', () => {
    const scoped = (...scopes: ReadonlyArray<string>) =>
      checkScopes({ ...callerOf('project'), scopes: new Set(scopes) }, createBatch.access)?.code ?? null;
    assert.equal(scoped('batches:write', 'gateway:write'), null);
    assert.equal(scoped('batches:write', 'gateway:read'), 'scope-required');
  });

  it('refuses an input file that is named without the prefix of its id', () => {
    const bare = { ...input, input_file_id: input.input_file_id.slice('file-'.length) };
    givenHistory()
      .when(createBatch, bare, given(stateOf(file, fileCreated())))
      .then('file-not-found');
  });

  it('refuses an input file that is deleted, expired or another project’s', () => {
    const gone = stateOf(file, fileCreated(), fileDeleted());
    const expired = stateOf(file, fileCreated({ expiresAfterSeconds: 3_600 }));
    const foreign = stateOf(file, fileCreated({ projectId: ids.sibling }));
    for (const state of [null, gone, expired, foreign]) {
      givenHistory().when(createBatch, input, given(state)).then('file-not-found');
    }
  });

  it('accepts only an input file that was uploaded for a batch', () => {
    const other = stateOf(file, fileCreated({ purpose: 'user_data' }));
    givenHistory().when(createBatch, input, given(other)).then('invalid-input');
  });

  it('refuses a batch when no node runs batches', () => {
    givenHistory().when(createBatch, input, given(uploaded, false)).then('batches-not-running');
  });

  it('accepts only the known endpoints and window, and metadata within its limits', () => {
    const long = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v']));
    for (const change of [
      { endpoint: '/v1/moderations' },
      { completion_window: '48h' },
      { metadata: { a: 1 } },
      { metadata: { a: 'x'.repeat(513) } },
      { metadata: { ['x'.repeat(65)]: 'a' } },
      { metadata: long },
    ]) {
      givenHistory()
        .when(createBatch, { ...input, ...change }, given(uploaded))
        .then('invalid-input');
    }
  });
});
