import { MongoClient, type MongoClientOptions } from 'mongodb';
import { withTimeout } from '#shared/async/with-timeout.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

const closeTimeoutMs = 2000;
const maxConnections = 16;
/** How soon after a check of an unreachable server the driver checks again for a call that waits for it. */
const checkAgainAfterMs = 100;
const defaultDatabase = 'switchyard';

/**
 * A client with the limits and guarantees that every store here needs. It connects at the first call.
 * @param timeoutMs of each step of a call
 * @throws StartupError if the address is malformed, with nothing secret of it in its message
 */
export function clientFor(url: string, timeoutMs: number): MongoClient {
  try {
    return new MongoClient(url, optionsWith(timeoutMs));
  } catch (error) {
    // Others may quote the URL, password and all; the parser's own, at most a user's name.
    const canQuote =
      error instanceof Error && error.name === 'MongoParseError' && !error.message.startsWith('Username');
    throw new StartupError(
      `The MongoDB URL cannot be used. ${canQuote ? `${error.message}.` : 'Check its hosts and options, and percent-encode its password.'}`,
    );
  }
}

/** The database that an address names. */
export function databaseOf(url: string): string {
  const named = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1];
  return named === undefined ? defaultDatabase : decodeURIComponent(named);
}

/** Asks the server for as little as there is. @throws the driver's errors */
export function ping(client: MongoClient): Promise<unknown> {
  return client.db('admin').command({ ping: 1 });
}

/** Closes a client; 2 s at most, and never throws. */
export async function closeClient(client: MongoClient): Promise<void> {
  // A server that does not answer cannot end its sessions, and need not.
  await withTimeout(closeTimeoutMs, client.close(), undefined).catch(() => undefined);
}

function optionsWith(timeoutMs: number): MongoClientOptions {
  return {
    appName: 'switchyard',
    maxPoolSize: maxConnections,
    // The driver's one limit for a whole call, `timeoutMS`, has no effect any more: these bound the steps of it.
    serverSelectionTimeoutMS: timeoutMs,
    connectTimeoutMS: timeoutMs,
    waitQueueTimeoutMS: timeoutMs,
    socketTimeoutMS: timeoutMs,
    minHeartbeatFrequencyMS: checkAgainAfterMs,
    // A server alone loses what it had not written to its journal when it dies; whoever wrote it does not know.
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: timeoutMs },
    // Whoever has written reads what was written.
    readPreference: 'primary',
    // What follows from several writes is sent again as a whole; a single one by itself could pass over a lost one.
    retryWrites: false,
  };
}
