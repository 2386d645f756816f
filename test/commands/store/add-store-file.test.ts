import { addStoreFile } from '#commands/store/add-store-file.ts';
import { file } from '#domain/file/file.ts';
import * as fileExamples from '#test/support/events/file-events.ts';
import { storeCreated, storeFileAdded, storeFileRemoved } from '#test/support/events/store-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { type ExampleEvent, stateOf } from '#test/support/harness/recorded-events.ts';

const { fileCreated, fileDeleted, fileId } = fileExamples;
const input = { store_id: ids.store, file_id: fileId };
const inProject = { state: null, tenant: tenants.project };
const withFile = (...events: ReadonlyArray<ExampleEvent>) => ({
  related: events.length === 0 ? null : stateOf(file, ...(events as never[])),
  subject: inProject,
});

describe('add_store_file', () => {
  it('adds a file of the project to a store with its size', () => {
    givenHistory(storeCreated()).when(addStoreFile, input, withFile(fileCreated())).then(storeFileAdded(fileId));
  });

  it('records nothing for a file that the store has, and adds a removed file again', () => {
    givenHistory(storeCreated(), storeFileAdded(fileId)).when(addStoreFile, input, withFile(fileCreated())).then();
    givenHistory(storeCreated(), storeFileAdded(fileId), storeFileRemoved(fileId))
      .when(addStoreFile, input, withFile(fileCreated()))
      .then(storeFileAdded(fileId));
  });

  it('refuses a file that is unknown, deleted, expired or another project’s', () => {
    const others = [
      [],
      [fileCreated(), fileDeleted()],
      [fileCreated({ expiresAfterSeconds: 3_600 })],
      [fileCreated({ projectId: ids.sibling })],
    ];
    for (const events of others) {
      givenHistory(storeCreated())
        .when(addStoreFile, input, withFile(...events))
        .then('file-not-found');
    }
  });

  it('refuses a file that is named without the prefix of its id', () => {
    const bare = { ...input, file_id: fileId.slice('file-'.length) };
    givenHistory(storeCreated()).when(addStoreFile, bare, withFile(fileCreated())).then('file-not-found');
  });
});
