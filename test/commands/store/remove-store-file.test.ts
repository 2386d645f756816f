import { removeStoreFile } from '#commands/store/remove-store-file.ts';
import { fileId } from '#test/support/events/file-events.ts';
import { storeCreated, storeDeleted, storeFileAdded, storeFileRemoved } from '#test/support/events/store-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { store_id: ids.store, file_id: fileId };

describe('remove_store_file', () => {
  it('removes a file from the store', () => {
    givenHistory(storeCreated(), storeFileAdded(fileId)).when(removeStoreFile, input).then(storeFileRemoved(fileId));
  });

  it('refuses to remove a file that the store does not have', () => {
    for (const events of [[], [storeFileAdded(fileId), storeFileRemoved(fileId)], [storeFileAdded('file-other001')]]) {
      givenHistory(storeCreated(), ...events)
        .when(removeStoreFile, input)
        .then('file-not-found');
    }
  });

  it('refuses to remove a file from a deleted store', () => {
    givenHistory(storeCreated(), storeFileAdded(fileId), storeDeleted())
      .when(removeStoreFile, input)
      .then('file-not-found');
  });
});
