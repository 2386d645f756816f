import { resolve } from 'node:path';
import { type LogLevel, logLevels } from '#http/log.ts';
import { StartFailure } from '#src/start-failure.ts';

export const roles = ['control-plane', 'gateway', 'projections'] as const;
export type Role = (typeof roles)[number];

/** An embedded store: one SQLite file. */
export interface SqliteStore {
  readonly kind: 'sqlite';
  /** Absolute. */
  readonly path: string;
}

/** What the service was told by its environment. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** The port of `/metrics`; null where it is on the common one. */
  readonly metricsPort: number | null;
  readonly roles: ReadonlySet<Role>;
  /** The folder of the embedded stores; absolute. */
  readonly dataDir: string;
  readonly eventStore: SqliteStore;
  readonly readStore: SqliteStore;
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
  /** Requests of one key in a minute at most; null for no limit. */
  readonly requestsPerMinute: number | null;
  /** The stored bytes of one append at most. */
  readonly maxAppendBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
  readonly headersMilliseconds: number;
  readonly requestMilliseconds: number;
  readonly keepAliveMilliseconds: number;
  readonly idleMilliseconds: number;
  readonly stopMilliseconds: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Decodes the environment, once. An empty value counts as unset.
 * @throws StartFailure naming the variable, what is wrong with it and an example; never its value where it is secret
 */
export function readConfig(environment: Environment): Config {
  const dataDir = resolve(given(environment, 'DATA_DIR') ?? './data');
  rejectLater(environment, 'BLOB_STORE_URL', 'uploaded files are kept in DATA_DIR');
  const port = wholeNumber(environment, 'PORT', 8080, 0, 65_535);
  const metricsPort = given(environment, 'METRICS_PORT') && wholeNumber(environment, 'METRICS_PORT', 0, 0, 65_535);
  return {
    host: given(environment, 'HOST') ?? '127.0.0.1',
    port,
    metricsPort: typeof metricsPort === 'number' && (metricsPort !== port || port === 0) ? metricsPort : null,
    roles: rolesOf(environment),
    dataDir,
    eventStore: storeOf(environment, 'EVENT_STORE_URL', resolve(dataDir, 'events.db')),
    readStore: storeOf(environment, 'READ_STORE_URL', resolve(dataDir, 'read.db')),
    bootstrapApiKey: bootstrapApiKeyOf(environment),
    gatewayConfig: given(environment, 'GATEWAY_CONFIG') ?? null,
    logLevel: logLevelOf(environment),
    limits: {
      maxBodyBytes: wholeNumber(environment, 'MAX_BODY_BYTES', 768 * 1024, 1_024, 64 * 1024 * 1024),
      requestsPerMinute:
        given(environment, 'REQUESTS_PER_MINUTE') === undefined
          ? null
          : wholeNumber(environment, 'REQUESTS_PER_MINUTE', 600, 1, 1_000_000_000),
      maxAppendBytes: wholeNumber(environment, 'MAX_APPEND_BYTES', 900 * 1024, 1_024, 64 * 1024 * 1024),
      maxHeaderBytes: wholeNumber(environment, 'MAX_HEADER_BYTES', 16 * 1024, 1_024, 1024 * 1024),
      maxConnections: wholeNumber(environment, 'MAX_CONNECTIONS', 10_000, 1, 1_000_000),
      headersMilliseconds: wholeNumber(environment, 'HEADERS_TIMEOUT_MS', 10_000, 100, 600_000),
      requestMilliseconds: wholeNumber(environment, 'REQUEST_TIMEOUT_MS', 60_000, 100, 3_600_000),
      keepAliveMilliseconds: wholeNumber(environment, 'KEEP_ALIVE_TIMEOUT_MS', 65_000, 1, 600_000),
      idleMilliseconds: wholeNumber(environment, 'IDLE_TIMEOUT_MS', 120_000, 100, 3_600_000),
      stopMilliseconds: wholeNumber(environment, 'STOP_TIMEOUT_MS', 10_000, 0, 600_000),
    },
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
  throw new StartFailure(
    `${name} must be a whole number from ${least} to ${most}, not ${quoted(value)}. Example: ${name}=${Math.max(byDefault, least)}`,
  );
}

function rolesOf(environment: Environment): ReadonlySet<Role> {
  const value = given(environment, 'ROLES') ?? roles.join(',');
  const named = value.split(',').map((role) => role.trim());
  const unknown = named.find((role) => !roles.includes(role as Role));
  if (unknown !== undefined) {
    throw new StartFailure(
      `ROLES must name some of ${roles.join(', ')}, not ${quoted(unknown)}. Example: ROLES=${roles.join(',')}`,
    );
  }
  if (!roles.every((role) => named.includes(role))) {
    throw new StartFailure(
      `ROLES cannot be split on the embedded stores, which one process owns: name all of them or leave it unset. Example: ROLES=${roles.join(',')}`,
    );
  }
  return new Set(roles);
}

function storeOf(environment: Environment, name: string, byDefault: string): SqliteStore {
  const value = given(environment, name);
  if (value === undefined) return { kind: 'sqlite', path: byDefault };
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(value)?.[1];
  if (path !== undefined) return { kind: 'sqlite', path: resolve(path) };
  const scheme = /^([a-z][a-z0-9+]*):/i.exec(value)?.[1];
  // The whole value is not shown: such an address often holds a password.
  throw new StartFailure(
    `${name} must begin with sqlite: (${scheme === undefined ? 'it names no kind of store' : `${scheme}: is not supported yet`}). Example: ${name}=sqlite:./data/${name === 'EVENT_STORE_URL' ? 'events' : 'read'}.db`,
  );
}

function rejectLater(environment: Environment, name: string, instead: string): void {
  if (given(environment, name) === undefined) return;
  throw new StartFailure(`${name} is not supported yet: leave it unset (${instead}).`);
}

function bootstrapApiKeyOf(environment: Environment): string | null {
  const value = given(environment, 'BOOTSTRAP_API_KEY');
  if (value === undefined) return null;
  if (/^sy_live_[A-Za-z0-9]{32,}$/.test(value)) return value;
  throw new StartFailure(
    'BOOTSTRAP_API_KEY must be sy_live_ and at least 32 letters and digits. Make one with: npm run keys -- generate',
  );
}

function logLevelOf(environment: Environment): LogLevel {
  const value = given(environment, 'LOG_LEVEL') ?? 'info';
  const level = logLevels.find((name) => name === value);
  if (level !== undefined) return level;
  throw new StartFailure(
    `LOG_LEVEL must be one of ${logLevels.join(', ')}, not ${quoted(value)}. Example: LOG_LEVEL=info`,
  );
}

/** A value as shown in a message: short, on one line. */
function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 60));
}
