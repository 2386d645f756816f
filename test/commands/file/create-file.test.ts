import { createFile } from '#commands/file/create-file.ts';
import type { Json } from '#shared/json/json.ts';
import { fileCreated } from '#test/support/events/file-events.ts';
import { callerOf, ids, newIds } from '#test/support/events/tenants.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const uploaded = {
  blobId: 'file-blob-1',
  filename: 'questions.jsonl',
  contentType: 'application/jsonl',
  bytes: 120,
  sha256: 'ab'.repeat(32),
};

describe('create_file', () => {
  const id = `file-${newIds.id}`;

  it('creates a file in the project of the key', () => {
    givenHistory()
      .when(createFile, { file: uploaded, purpose: 'batch' }, { caller: callerOf('project') })
      .then(fileCreated({ id, projectId: ids.project }));
  });

  it('records when a file expires, from an hour to thirty days after its creation', () => {
    const expiring = (seconds: Json) => ({
      file: uploaded,
      purpose: 'batch',
      expires_after: { anchor: 'created_at', seconds },
    });
    const created = fileCreated({ id, expiresAfterSeconds: 3_600 });
    givenHistory().when(createFile, expiring(3_600)).then(created);
    for (const seconds of [3_599, 2_592_001, '3600', null]) {
      givenHistory().when(createFile, expiring(seconds)).then('invalid-input');
    }
  });

  it('requires a file and a purpose', () => {
    givenHistory().when(createFile, { purpose: 'batch' }).then('invalid-input');
    givenHistory().when(createFile, { file: uploaded }).then('invalid-input');
    givenHistory().when(createFile, { file: uploaded, purpose: '' }).then('invalid-input');
  });
});
