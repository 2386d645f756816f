import { readConfig } from '#app/config.ts';
import type { EventStoreConfig } from '#app/store-config.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

/**
 * Reads the address of the event store, and no other setting of the service.
 * @param store the value of `--store`
 * @throws StartupError
 */
export function addressOf(store: string | undefined): EventStoreConfig {
  const { DATA_DIR, EVENT_STORE_URL, EVENT_STORE_STREAM_PREFIX } = process.env;
  try {
    return readConfig({ DATA_DIR, EVENT_STORE_URL: store ?? EVENT_STORE_URL, EVENT_STORE_STREAM_PREFIX }).eventStore;
  } catch (error) {
    if (store === undefined || !(error instanceof StartupError)) throw error;
    throw new StartupError(
      error.message.replaceAll('EVENT_STORE_URL=', '--store ').replaceAll('EVENT_STORE_URL', '--store'),
    );
  }
}
