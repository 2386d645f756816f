import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import type { ByteLimits } from '#application/access/byte-budget.ts';
import { defaultLimitFactor, type LimitFactors } from '#application/access/limit-levels.ts';
import { defaultBodyByteLimits } from '#application/bodies/body-failures.ts';
import { faultOfKeyText } from '#domain/api-key/secret.ts';
import { defaultMaxFilledBytes } from '#domain/template/filled-size.ts';
import { defaultSpoolByteLimits } from '#gateway/audio/spool-limits.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { type LogLevel, logLevels } from '#shared/logging/logger.ts';

export const roles = ['control-plane', 'gateway', 'projections'] as const;
export type Role = (typeof roles)[number];

/** An embedded store: one SQLite file. */
export interface SqliteStore {
  readonly kind: 'sqlite';
  /** Absolute. */
  readonly path: string;
}

/** Where the log is kept. */
export type EventStoreConfig =
  | SqliteStore
  /** The address may hold a password: it is never shown. */
  | { readonly kind: 'eventstoredb'; readonly url: string };

/** Where the read models are kept. */
export type ReadStoreConfig =
  | SqliteStore
  /** The address may hold a password: it is never shown. */
  | { readonly kind: 'mongodb'; readonly url: string };

/** Where uploaded files are kept. */
export type BlobStoreConfig =
  /** The path is absolute. */
  | { readonly kind: 'folder'; readonly path: string }
  /** In MongoDB. The address may hold a password: it is never shown. */
  | { readonly kind: 'gridfs'; readonly url: string };

/** What the service was told by its environment. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** The port of `/metrics`; null where it is on the common one. */
  readonly metricsPort: number | null;
  readonly roles: ReadonlySet<Role>;
  /** This process's own folder, with the embedded stores; absolute. */
  readonly dataDir: string;
  readonly eventStore: EventStoreConfig;
  readonly readStore: ReadStoreConfig;
  readonly blobStore: BlobStoreConfig;
  /** Where uploads are spooled to; absolute. */
  readonly spoolDir: string;
  /** The first admin key on an empty store; null to make one. Never logged. */
  readonly bootstrapApiKey: string | null;
  readonly gatewayConfig: string | null;
  readonly logLevel: LogLevel;
  readonly limits: Limits;
}

/** Sizes in bytes, times in milliseconds. */
export interface Limits {
  /** A control-plane body at most. */
  readonly maxBodyBytes: number;
  /** Values in a control-plane body at most. */
  readonly maxBodyValues: number;
  /** A JSON body on the gateway at most. */
  readonly maxJsonBytes: number;
  /** Values in a JSON body on the gateway at most. */
  readonly maxGatewayValues: number;
  /** An upload of audio at most. */
  readonly maxAudioBytes: number;
  /** What bodies hold in memory at once. */
  readonly bodies: ByteLimits;
  /** What the files of spools hold at once. */
  readonly spools: ByteLimits;
  /** What must stay free on each volume that is written to; null for 1 GiB or 5% of it, whichever is smaller. */
  readonly minFreeBytes: number | null;
  /** Requests of one project in a minute at most; null for no limit. */
  readonly requestsPerMinute: number | null;
  /** How many times as many its organization and its partner have. */
  readonly limitFactors: LimitFactors;
  /** The stored bytes of one append at most. */
  readonly maxAppendBytes: number;
  /** Bytes of JSON in the filled schemas of one operation of an instance. */
  readonly maxFilledBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
  readonly headersMilliseconds: number;
  readonly requestMilliseconds: number;
  /** The body of a call to the gateway, from its beginning to its end. */
  readonly uploadMilliseconds: number;
  readonly keepAliveMilliseconds: number;
  readonly idleMilliseconds: number;
  /** How long an answer waits at most until the read models are where it asks them to be. */
  readonly showMilliseconds: number;
  readonly stopMilliseconds: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Decodes the environment, once. An empty value counts as unset.
 * @throws StartupError naming the variable, what is wrong with it and an example; never its value where it is secret
 */
export function readConfig(environment: Environment): Config {
  const dataDir = resolve(given(environment, 'DATA_DIR') ?? './data');
  const eventStore = eventStoreOf(environment, dataDir);
  const readStore = readStoreOf(environment, dataDir);
  const port = wholeNumber(environment, 'PORT', 8080, 0, 65_535);
  const requestMilliseconds = wholeNumber(environment, 'REQUEST_TIMEOUT_MS', 60_000, 100, 3_600_000);
  // Node takes no longer limit for a part of a request than for the whole.
  const metricsPort = given(environment, 'METRICS_PORT') && wholeNumber(environment, 'METRICS_PORT', 0, 0, 65_535);
  return {
    host: given(environment, 'HOST') ?? '127.0.0.1',
    port,
    metricsPort: typeof metricsPort === 'number' && (metricsPort !== port || port === 0) ? metricsPort : null,
    roles: rolesOf(environment, eventStore.kind !== 'sqlite' && readStore.kind !== 'sqlite'),
    dataDir,
    eventStore,
    readStore,
    spoolDir: resolve(given(environment, 'SPOOL_DIR') ?? tmpdir()),
    blobStore: blobStoreOf(environment, dataDir, readStore),
    bootstrapApiKey: bootstrapApiKeyOf(environment),
    gatewayConfig: given(environment, 'GATEWAY_CONFIG') ?? null,
    logLevel: logLevelOf(environment),
    limits: {
      maxBodyBytes: wholeNumber(environment, 'MAX_BODY_BYTES', 768 * 1024, 1_024, 64 * 1024 * 1024),
      maxBodyValues: wholeNumber(environment, 'MAX_BODY_VALUES', 50_000, 100, 10_000_000),
      maxJsonBytes: wholeNumber(environment, 'MAX_JSON_BYTES', 32 * 1024 * 1024, 1_024, 512 * 1024 * 1024),
      maxGatewayValues: wholeNumber(environment, 'MAX_GATEWAY_VALUES', 2_000_000, 100, 100_000_000),
      maxAudioBytes: wholeNumber(environment, 'MAX_AUDIO_BYTES', 100 * 1024 * 1024, 1_024, 4 * 1024 * 1024 * 1024),
      bodies: byteLimitsOf(environment, 'MAX_BODY_BYTES_IN_FLIGHT', defaultBodyByteLimits),
      spools: byteLimitsOf(environment, 'MAX_SPOOL_BYTES', defaultSpoolByteLimits),
      minFreeBytes:
        given(environment, 'MIN_FREE_BYTES') === undefined
          ? null
          : wholeNumber(environment, 'MIN_FREE_BYTES', 1024 * 1024 * 1024, 0, mostBytes),
      requestsPerMinute:
        given(environment, 'REQUESTS_PER_MINUTE') === undefined
          ? null
          : wholeNumber(environment, 'REQUESTS_PER_MINUTE', 600, 1, 1_000_000_000),
      limitFactors: {
        organization: wholeNumber(environment, 'ORGANIZATION_LIMIT_FACTOR', defaultLimitFactor, 1, 1_000_000),
        partner: wholeNumber(environment, 'PARTNER_LIMIT_FACTOR', defaultLimitFactor, 1, 1_000_000),
      },
      // The first start stores an event with every scope there is.
      maxAppendBytes: wholeNumber(environment, 'MAX_APPEND_BYTES', 900 * 1024, 4_096, 64 * 1024 * 1024),
      maxFilledBytes: wholeNumber(environment, 'MAX_FILLED_BYTES', defaultMaxFilledBytes, 1_024, 1024 * 1024 * 1024),
      maxHeaderBytes: wholeNumber(environment, 'MAX_HEADER_BYTES', 16 * 1024, 1_024, 1024 * 1024),
      maxConnections: wholeNumber(environment, 'MAX_CONNECTIONS', 10_000, 1, 1_000_000),
      headersMilliseconds: wholeNumber(
        environment,
        'HEADERS_TIMEOUT_MS',
        Math.min(10_000, requestMilliseconds),
        100,
        Math.min(600_000, requestMilliseconds),
      ),
      requestMilliseconds,
      uploadMilliseconds: wholeNumber(environment, 'UPLOAD_TIMEOUT_MS', 3_600_000, 100, 86_400_000),
      keepAliveMilliseconds: wholeNumber(environment, 'KEEP_ALIVE_TIMEOUT_MS', 65_000, 1, 600_000),
      idleMilliseconds: wholeNumber(environment, 'IDLE_TIMEOUT_MS', 120_000, 100, 3_600_000),
      showMilliseconds: wholeNumber(environment, 'READ_YOUR_WRITES_TIMEOUT_MS', 1_000, 0, 60_000),
      stopMilliseconds: wholeNumber(environment, 'STOP_TIMEOUT_MS', 10_000, 0, 600_000),
    },
  };
}

const mostBytes = 64 * 1024 * 1024 * 1024 * 1024;

/** A limit for the node, and one for each project under the same name with `_PER_PROJECT`. */
function byteLimitsOf(environment: Environment, name: string, byDefault: ByteLimits): ByteLimits {
  return {
    maxBytesPerProject: wholeNumber(environment, `${name}_PER_PROJECT`, byDefault.maxBytesPerProject, 1_024, mostBytes),
    maxBytes: wholeNumber(environment, name, byDefault.maxBytes, 1_024, mostBytes),
  };
}

function given(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === '' ? undefined : value;
}

function wholeNumber(environment: Environment, name: string, byDefault: number, least: number, most: number): number {
  const value = given(environment, name);
  if (value === undefined) return byDefault;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new StartupError(
    `${name} must be a whole number from ${least} to ${most}, not ${quoted(value)}. Example: ${name}=${Math.max(byDefault, least)}`,
  );
}

/** @param shared whether several processes can work on the same stores */
function rolesOf(environment: Environment, shared: boolean): ReadonlySet<Role> {
  const value = given(environment, 'ROLES') ?? roles.join(',');
  const named = value.split(',').map((role) => role.trim());
  const unknown = named.find((role) => !roles.includes(role as Role));
  if (unknown !== undefined) {
    throw new StartupError(
      `ROLES must name some of ${roles.join(', ')}, not ${quoted(unknown)}. Example: ROLES=${roles.join(',')}`,
    );
  }
  if (!shared && !roles.every((role) => named.includes(role))) {
    throw new StartupError(
      `ROLES cannot be split while a store is embedded, which one process owns: name all of them, leave it unset, or set both EVENT_STORE_URL=${eventStoreExample} and READ_STORE_URL=${readStoreExample}. Example: ROLES=${roles.join(',')}`,
    );
  }
  return new Set(named as Role[]);
}

const eventStoreExample = 'esdb://events.example:2113?tls=true';
const readStoreExample = 'mongodb://documents.example:27017/switchyard';

// The value of an address is never shown: it often holds a password.

function eventStoreOf(environment: Environment, dataDir: string): EventStoreConfig {
  const value = given(environment, 'EVENT_STORE_URL');
  const store = sqliteOf(value, resolve(dataDir, 'events.db'));
  if (store !== null) return store;
  if (value !== undefined && /^(?:esdb|kurrentdb)(?:\+discover)?:\/\/./.test(value)) {
    return { kind: 'eventstoredb', url: value };
  }
  throw new StartupError(
    `EVENT_STORE_URL must begin with sqlite:, esdb:// or esdb+discover://. Example: EVENT_STORE_URL=${eventStoreExample}`,
  );
}

function readStoreOf(environment: Environment, dataDir: string): ReadStoreConfig {
  const value = given(environment, 'READ_STORE_URL');
  const store = sqliteOf(value, resolve(dataDir, 'read.db'));
  if (store !== null) return store;
  if (value !== undefined && isMongoDb(value)) return { kind: 'mongodb', url: value };
  throw new StartupError(
    `READ_STORE_URL must begin with sqlite:, mongodb:// or mongodb+srv://. Example: READ_STORE_URL=${readStoreExample}`,
  );
}

function blobStoreOf(environment: Environment, dataDir: string, readStore: ReadStoreConfig): BlobStoreConfig {
  // What one node keeps in its folder the others do not see.
  const byDefault = readStore.kind === 'mongodb' ? 'gridfs' : `folder:${resolve(dataDir, 'blobs')}`;
  const value = given(environment, 'BLOB_STORE_URL') ?? byDefault;
  const folder = /^folder:(?:\/\/)?(.+)$/.exec(value)?.[1];
  if (folder !== undefined) return { kind: 'folder', path: resolve(folder) };
  const url = /^gridfs\+(.+)$/.exec(value)?.[1];
  if (url !== undefined && isMongoDb(url)) return { kind: 'gridfs', url };
  if (value === 'gridfs' && readStore.kind === 'mongodb') return { kind: 'gridfs', url: readStore.url };
  throw new StartupError(
    value === 'gridfs'
      ? `BLOB_STORE_URL=gridfs keeps files in READ_STORE_URL's database, which is not MongoDB: set that, or name one. Example: BLOB_STORE_URL=gridfs+${readStoreExample}`
      : 'BLOB_STORE_URL must be gridfs, or begin with folder: or gridfs+mongodb://. Example: BLOB_STORE_URL=folder:./data/blobs',
  );
}

/** Null for what is no embedded store. */
function sqliteOf(value: string | undefined, byDefault: string): SqliteStore | null {
  if (value === undefined) return { kind: 'sqlite', path: byDefault };
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(value)?.[1];
  return path === undefined ? null : { kind: 'sqlite', path: resolve(path) };
}

function isMongoDb(value: string): boolean {
  return /^mongodb(?:\+srv)?:\/\/./.test(value);
}

function bootstrapApiKeyOf(environment: Environment): string | null {
  const value = given(environment, 'BOOTSTRAP_API_KEY');
  if (value === undefined) return null;
  const fault = faultOfKeyText(value);
  if (fault === null) return value;
  throw new StartupError(`BOOTSTRAP_API_KEY ${fault}. Make one with: npm run keys -- generate`);
}

function logLevelOf(environment: Environment): LogLevel {
  const value = given(environment, 'LOG_LEVEL') ?? 'info';
  const level = logLevels.find((name) => name === value);
  if (level !== undefined) return level;
  throw new StartupError(
    `LOG_LEVEL must be one of ${logLevels.join(', ')}, not ${quoted(value)}. Example: LOG_LEVEL=info`,
  );
}

/** A value as shown in a message: short, on one line. */
function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 60));
}
