import assert from 'node:assert/strict';
import { openGridFsBlobStore } from '#blob-store/blob-store.gridfs.ts';
import { openMongoDbLeaseStore } from '#leases/lease-store.mongodb.ts';
import { openMongoDbSubjectKeys } from '#personal-data/subject-keys.mongodb.ts';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';
import { openMongoDbResponseStore } from '#responses/mongodb/mongodb-response-store.ts';
import { blobStoreContract } from '#test/contract/blob-store.ts';
import { blobSweepContract } from '#test/contract/blob-sweep.ts';
import { callLogContract } from '#test/contract/call-log.ts';
import { deliveryLogContract } from '#test/contract/delivery-log.ts';
import { leaseStoreContract } from '#test/contract/lease-store.ts';
import { readStoreContract } from '#test/contract/read-store.ts';
import { recordStoreContract } from '#test/contract/record-store.ts';
import { responseStoreContract } from '#test/contract/response-store.ts';
import { subjectKeysContract } from '#test/contract/subject-keys.ts';
import { patientTimeoutMs as timeoutMs } from '#test/support/run/patient-timeout.ts';
import { openCheckpointingWriter, openMongoDbReadStore } from '#test/support/service/mongodb-read-store.ts';
import { describeOnFerretDb } from '#test/support/service/mongodb-server.ts';
import { openMongoDbCallLog } from '#usage/call-log/call-log.mongodb.ts';
import { openMongoDbDeliveryLog } from '#webhooks/delivery-log.mongodb.ts';

/** FerretDB checks and writes in two steps, takes five updates in a command, and finds only single documents by an index. */
describeOnFerretDb('ports on a server without atomic updates', (server) => {
  const dispose = async () => undefined;

  describeSample(
    [
      'ends with the same documents when commits are replayed',
      'applies the writes of a batch in order',
      'never lets an older write overwrite a newer one',
      'drops collections that no projection makes',
    ],
    () =>
      readStoreContract(
        'FerretDB',
        async () => {
          const url = server.newUrl();
          const reader = openMongoDbReadStore({ url, timeoutMs });
          const writer = openCheckpointingWriter({ url, timeoutMs });
          const close = async () => {
            await reader.close();
            await writer.close();
          };
          return { reader, writer, reopen: assert.fail, dispose: close };
        },
        0,
      ),
  );

  describeSample(
    [
      'stores and removes hundreds of values together',
      'keeps the greater value when asked, in any order of writes and nodes',
      'stores one of the values that nodes create at the same time',
      'refuses every write with a token below the newest of the kind',
    ],
    () =>
      recordStoreContract('FerretDB', async () => {
        const url = server.newUrl();
        return { connect: () => openMongoDbRecordStore({ url, timeoutMs }), dispose };
      }),
  );

  describeSample(
    [
      'changes nothing with the late write of an older round',
      'renews the named terms of several leases together, and no other, and counts them',
      'lets exactly one of many nodes begin a term',
      'renews no term soon after another node has begun the next one, and never brings it back',
    ],
    () =>
      leaseStoreContract('FerretDB', () => {
        const url = server.newUrl();
        return () => openMongoDbLeaseStore({ url, timeoutMs });
      }),
  );

  describeSample(['gives the same key to all concurrent callers', 'destroys a key permanently, and no other key'], () =>
    subjectKeysContract('FerretDB', async () => {
      const url = server.newUrl();
      return {
        keys: openMongoDbSubjectKeys({ url, timeoutMs }),
        another: () => openMongoDbSubjectKeys({ url, timeoutMs }),
        dispose,
      };
    }),
  );

  describeSample(
    [
      'finishes a response that is made in the background, once',
      'removes deleted responses when no other one needs them any more',
      'erases what is stored under a subject alone, and stores nothing more under it',
      'marks the usage of one as recorded, once',
    ],
    () =>
      responseStoreContract('FerretDB', async () => ({
        store: openMongoDbResponseStore({ url: server.newUrl(), timeoutMs }),
        dispose,
      })),
  );

  describeSample(['replaces an existing blob completely', 'deletes a blob'], () =>
    blobStoreContract('FerretDB', async () => ({
      store: openGridFsBlobStore({ url: server.newUrl(), timeoutMs }),
      reopen: assert.fail,
      dispose,
    })),
  );

  describeSample(['removes only blobs older than 24 hours that no event names or that a later event released'], () =>
    blobSweepContract('FerretDB', async () => openGridFsBlobStore({ url: server.newUrl(), timeoutMs })),
  );

  describeSample(['stores a call once when it is added twice, and counts its bytes once'], () =>
    callLogContract('FerretDB', async () => ({
      log: openMongoDbCallLog({ url: server.newUrl(), timeoutMs }),
      dispose,
    })),
  );

  describeSample(['stores a try once when it is added twice'], () =>
    deliveryLogContract('FerretDB', async () => ({
      log: openMongoDbDeliveryLog({ url: server.newUrl(), timeoutMs }),
      dispose,
    })),
  );
});

/** Declares the tests of a contract that have these titles. @throws Error if one of them is missing */
function describeSample(titles: ReadonlyArray<string>, declare: () => void): void {
  describe('sample', function () {
    declare();
    const kept = keepOnly(titles, this);
    assert.equal(kept, titles.length, `The contract has ${kept} of these tests: ${titles.join(', ')}`);
  });
}

/** Removes all other tests of a suite. Returns how many it has now. */
function keepOnly(titles: ReadonlyArray<string>, suite: Mocha.Suite): number {
  suite.tests = suite.tests.filter(({ title }) => titles.includes(title));
  return suite.suites.reduce((count, inner) => count + keepOnly(titles, inner), suite.tests.length);
}
