import { join } from 'node:path';
import { openSqliteCallLog } from '#usage/call-log/call-log.sqlite.ts';
import type { CallLog } from '#usage/call-log/call-log.ts';
import type { SmallStoresPlace } from './open-records.ts';

/** Opens the records of the gateway's calls. @throws StartupError */
export async function openCallLog(place: SmallStoresPlace): Promise<CallLog> {
  if (place.kind === 'embedded') {
    const { dataDir, writer } = place;
    return openSqliteCallLog({ file: join(dataDir, 'gateway-calls.db'), writer });
  }
  const { openMongoDbCallLog } = await import('#usage/call-log/call-log.mongodb.ts');
  return openMongoDbCallLog({ connection: place.connection });
}
