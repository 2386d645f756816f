import assert from 'node:assert/strict';
import { fileSpace } from '#projections/files/file-space.ts';
import { type FileDocument, files } from '#projections/files/files.ts';
import { fileCreated, fileDeleted, fileHeld, fileId, fileReleased } from '#test/support/events/file-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { projectStreams } from '#test/support/harness/projection-harness.ts';
import { beginning, type ExampleEvent, timeOf } from '#test/support/harness/recorded-events.ts';

const stream = fileId;
const of = (...events: ReadonlyArray<ExampleEvent>) =>
  projectStreams(files, { [stream]: events })[fileId] as FileDocument | undefined;

describe('files projection', () => {
  it('shows a file in the list of its project, in the form of OpenAI', () => {
    const { record, ...head } = of(fileCreated()) ?? assert.fail();
    assert.deepEqual(record, {
      id: fileId,
      object: 'file',
      bytes: 120,
      created_at: beginning / 1_000,
      expires_at: null,
      filename: 'questions.jsonl',
      purpose: 'batch',
      status: 'processed',
    });
    const { organizationId, projectId, partnerId, listedIn } = head;
    assert.deepEqual({ organizationId, projectId, partnerId }, tenants.project);
    assert.equal(listedIn, ids.project);
  });

  it('shows when a file expires', () => {
    const document = of(fileCreated({ expiresAfterSeconds: 7_200 })) ?? assert.fail();
    assert.equal(document.record?.expires_at, beginning / 1_000 + 7_200);
    assert.equal(document.expiresAt, timeOf(7_200));
  });

  it('keeps only the place of a deleted file', () => {
    const document = of(fileCreated({ expiresAfterSeconds: 7_200 }), fileDeleted('expired')) ?? assert.fail();
    assert.deepEqual([document.listedIn, document.record], [null, null]);
  });
});

describe('file space projection', () => {
  it('counts the bytes of a project’s files', () => {
    const other = 'file-cfiletwo00000001';
    const space = projectStreams(fileSpace, {
      [stream]: [fileCreated(), fileHeld('batch_cone0000001'), fileReleased('batch_cone0000001')],
      [other]: [fileCreated({ id: other, bytes: 7 })],
    });
    assert.deepEqual(space, { [ids.project]: { bytes: 127 } });
    assert.deepEqual(projectStreams(fileSpace, { [stream]: [fileCreated(), fileDeleted()] }), {
      [ids.project]: { bytes: 0 },
    });
  });
});
