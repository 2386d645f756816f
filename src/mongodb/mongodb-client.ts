import { MongoClient, type MongoClientOptions } from 'mongodb';
import { withTimeout } from '#shared/async/timed-waits.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { monitorCommands, type OnCommand } from './command-monitor.ts';
import { connectionTypeFor, type DriverConnection, type OnAnswer } from './driver-connection.ts';

const closeTimeoutMs = 2000;
const defaultMaxPoolSize = 20;
/** How long an idle connection is kept. */
const maxIdleMs = 30_000;
/** How soon the driver checks an unreachable server again for a waiting call. */
const checkAgainAfterMs = 100;
const defaultDatabase = 'switchyard';

/**
 * The driver's limit of a step of a call: finding the server, waiting for a connection, and each message of a new
 * connection. It is long, because a slow server answers several messages before a client's first call. No caller waits
 * for it.
 */
const defaultStepMs = 20_000;

export interface ClientOptions {
  /** Time limit of each step of a call. Default 20 s. */
  readonly stepMs?: number;
  /** Maximum number of connections in addition to those that monitor the servers. Default 20. */
  readonly maxPoolSize?: number;
  /** Default: the driver does not monitor commands. */
  readonly onCommand?: OnCommand;
  /** Receives each answer of the server, except those to monitors. Default: nothing does. */
  readonly onAnswer?: OnAnswer;
}

/**
 * Creates a client with the limits and guarantees that every store needs. It connects at the first call.
 * @throws StartupError for a malformed address, without secrets in the message
 */
export function clientFor(url: string, options: ClientOptions): MongoClient {
  const { onCommand } = options;
  try {
    const client = new MongoClient(url, driverOptions(options));
    if (onCommand !== undefined) monitorCommands(client, onCommand);
    return client;
  } catch (error) {
    // Other errors may quote the URL with its password. The parser's own quotes a user's name at most.
    const canQuote =
      error instanceof Error && error.name === 'MongoParseError' && !error.message.startsWith('Username');
    throw new StartupError(
      `The MongoDB URL cannot be used. ${canQuote ? `${error.message}.` : 'Check its hosts and options, and percent-encode its password.'}`,
    );
  }
}

/** The driver has `connectionType`, but its types do not show it. */
type DriverOptions = MongoClientOptions & { readonly connectionType: typeof DriverConnection };

/** Returns the database that an address names. */
export function databaseOf(url: string): string {
  const named = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1];
  return named === undefined ? defaultDatabase : decodeURIComponent(named);
}

/** @throws the driver's errors */
export function ping(client: MongoClient): Promise<unknown> {
  return client.db('admin').command({ ping: 1 });
}

/** Closes a client within 2 s. Never throws. */
export async function closeClient(client: MongoClient): Promise<void> {
  // A server that does not answer cannot end its sessions, and need not do so.
  await withTimeout(closeTimeoutMs, client.close(), undefined).catch(() => undefined);
}

function driverOptions({
  stepMs = defaultStepMs,
  maxPoolSize = defaultMaxPoolSize,
  onCommand,
  onAnswer = () => undefined,
}: ClientOptions): DriverOptions {
  return {
    appName: 'switchyard',
    maxPoolSize,
    maxIdleTimeMS: maxIdleMs,
    connectionType: connectionTypeFor(onAnswer),
    monitorCommands: onCommand !== undefined,
    // With these limits for the steps of a call, the driver's limit for a whole call has no effect.
    serverSelectionTimeoutMS: stepMs,
    connectTimeoutMS: stepMs,
    waitQueueTimeoutMS: stepMs,
    socketTimeoutMS: stepMs,
    minHeartbeatFrequencyMS: checkAgainAfterMs,
    // When a single server crashes, it loses writes that are not in its journal, and the writer does not notice.
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: stepMs },
    // A client reads its own writes.
    readPreference: 'primary',
    // Several related writes are repeated together. The driver would repeat a single one and could skip a lost one
    // before it.
    retryWrites: false,
  };
}
