import assert from 'node:assert/strict';
import { deleteFile } from '#commands/file/delete-file.ts';
import { file, fileHeld, fileMade, fileReleased, fileRemoved } from '#domain/file/file.ts';
import * as fileExamples from '#test/support/events/file-events.ts';
import { decidedAt, givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const { fileCreated, fileDeleted, fileId } = fileExamples;
const input = { file_id: fileId };
const batchId = 'batch_cbatchone000001';

describe('delete_file', () => {
  it('deletes a file', () => {
    givenHistory(fileCreated()).when(deleteFile, input).then(fileDeleted());
  });

  it('refuses to delete a file until the last batch that reads it has released it', () => {
    const held = [fileCreated(), fileExamples.fileHeld(batchId), fileExamples.fileHeld('batch_ctwo00000001')];
    givenHistory(...held)
      .when(deleteFile, input)
      .then('file-in-use');
    const one = [...held, fileExamples.fileReleased(batchId)];
    givenHistory(...one)
      .when(deleteFile, input)
      .then('file-in-use');
    givenHistory(...one, fileExamples.fileReleased('batch_ctwo00000001'))
      .when(deleteFile, input)
      .then(fileDeleted());
  });

  it('refuses to delete an expired file, whether or not it was removed', () => {
    givenHistory(fileCreated({ expiresAfterSeconds: 3_600 }))
      .when(deleteFile, input)
      .then('file-not-found');
    givenHistory(fileCreated({ expiresAfterSeconds: 3_601 }))
      .when(deleteFile, input)
      .then(fileDeleted());
  });
});

describe('decisions on a file that a process may repeat', () => {
  const live = stateOf(file, fileCreated());
  const held = stateOf(file, fileCreated(), fileExamples.fileHeld(batchId));
  const gone = stateOf(file, fileCreated(), fileDeleted());

  it('create a file once, and never again after its deletion', () => {
    assert.deepEqual(fileMade(fileCreated().data, null), [fileCreated()]);
    for (const state of [live, gone]) assert.deepEqual(fileMade(fileCreated().data, state), []);
  });

  it('hold and release a file once', () => {
    assert.deepEqual(fileHeld(batchId, live, decidedAt), [fileExamples.fileHeld(batchId)]);
    for (const state of [null, held, gone]) assert.deepEqual(fileHeld(batchId, state, decidedAt), []);
    assert.deepEqual(fileReleased(batchId, held), [fileExamples.fileReleased(batchId)]);
    for (const state of [null, live, gone]) assert.deepEqual(fileReleased(batchId, state), []);
  });

  it('remove an expired file once, and not while a batch reads it', () => {
    assert.deepEqual(fileRemoved('expired', live), [fileDeleted('expired')]);
    for (const state of [null, held, gone]) assert.deepEqual(fileRemoved('expired', state), []);
  });
});
