import { openMongoDbReadStore } from '#read-store/mongodb/mongodb-read-store.ts';
import { openMongoDbReadStoreWriter } from '#read-store/mongodb/mongodb-read-store-writer.ts';
import { type OpenReadStore, readStoreContract } from '#test/contract/read-store.ts';
import { describeOnMongoDb } from '#test/support/ferretdb.ts';

describeOnMongoDb('read store on MongoDB', (server) => {
  readStoreContract('MongoDB', async () => openAt(server.newUrl()));
});

function openAt(url: string): OpenReadStore {
  const reader = openMongoDbReadStore({ url });
  const writer = openMongoDbReadStoreWriter({ url });
  const close = async () => {
    await reader.close();
    await writer.close();
  };
  return {
    reader,
    writer,
    reopen: async () => {
      await close();
      return openAt(url);
    },
    dispose: close,
  };
}
