import { blobStoreContract } from '#test/contract/blob-store.ts';
import { deliveryLogContract } from '#test/contract/delivery-log.ts';
import { eventStoreContract } from '#test/contract/event-store.ts';
import { logTailContract } from '#test/contract/log-tail.ts';
import { type OpenReadStore, readStoreContract } from '#test/contract/read-store.ts';
import { streamRemovalContract } from '#test/contract/stream-removal.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { checkpointing } from '#test/support/service/mongodb-read-store.ts';
import { LogServer } from './log-server.ts';
import { SharedBlobs } from './shared-blobs.ts';
import { SharedDeliveries } from './shared-deliveries.ts';
import { SharedDocuments } from './shared-documents.ts';
import { SharedLog } from './shared-log.ts';

// What a world is built on passes the contracts of the real stores.

async function openLog() {
  const server = new LogServer();
  const opened = new SharedLog(server);
  let store = opened;
  return {
    store,
    hideBefore: async (stream: string, revision: number) => server.removeBefore(stream, revision),
    reopen: async () => {
      await store.close();
      store = opened.connect();
      return store;
    },
    destroy: () => store.close(),
  };
}

eventStoreContract('a world', openLog);
logTailContract('a world', openLog);
streamRemovalContract('a world', openLog);

function openDocuments(documents = new SharedDocuments(), records = new InMemoryRecordStore()): OpenReadStore {
  const reader = documents.reader(records);
  const writer = checkpointing(documents.writer(records, 0));
  const dispose = async () => {
    await reader.close();
    await writer.close();
  };
  return { reader, writer, dispose, reopen: () => dispose().then(() => openDocuments(documents, records)) };
}

readStoreContract('a world', async () => openDocuments(), 2_500);
blobStoreContract('a world', async () => {
  const blobs = new SharedBlobs();
  return { store: blobs, reopen: async () => blobs.connect(), dispose: async () => undefined };
});
deliveryLogContract('a world', async () => ({ log: new SharedDeliveries(), dispose: async () => undefined }));
