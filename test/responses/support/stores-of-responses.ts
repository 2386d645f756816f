import { join } from 'node:path';
import { Admission } from '#exchange/admission.ts';
import { openMongoDbSubjectKeys } from '#personal-data/subject-keys.mongodb.ts';
import { openSqliteSubjectKeys } from '#personal-data/subject-keys.sqlite.ts';
import { openMongoDbResponseStore } from '#responses/mongodb/mongodb-response-store.ts';
import { openSqliteResponseStore } from '#responses/sqlite/sqlite-response-store.ts';
import { StoredResponses } from '#responses/stored-responses.ts';
import { SqliteWriter } from '#sqlite/sqlite-writer.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';

/** A folder of SQLite files, or the address of a database. */
export type StoresPlace = { readonly folder: string } | { readonly url: string };

/** Stored responses that another process can open again. */
export interface OpenResponses {
  readonly responses: StoredResponses;
  readonly close: () => Promise<void>;
}

/** @param now the clock. Default: that of the machine */
export function openResponses(place: StoresPlace, now: () => number = Date.now): OpenResponses {
  const limits = { ttlDays: 30, quotaBytes: 1e9, now };
  if ('url' in place) {
    const options = { url: place.url, timeoutMs: patientTimeoutMs };
    const keys = openMongoDbSubjectKeys(options);
    const responses = new StoredResponses({
      admission: new Admission(),
      store: openMongoDbResponseStore(options),
      keys,
      ...limits,
    });
    return {
      responses,
      close: async () => {
        await responses.close();
        await keys.close();
      },
    };
  }
  const writer = new SqliteWriter({
    onFatal: (error) => {
      throw error;
    },
  });
  const keys = openSqliteSubjectKeys({ file: join(place.folder, 'keys.db'), writer });
  const store = openSqliteResponseStore({ file: join(place.folder, 'responses.db'), writer });
  const responses = new StoredResponses({ admission: new Admission(), store, keys, ...limits });
  return {
    responses,
    close: async () => {
      await responses.close();
      await keys.close();
      await writer.close();
    },
  };
}
