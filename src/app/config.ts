import { randomBytes } from 'node:crypto';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { dataFiles } from '#app/files/data-files.ts';
import { defaultEndpointLimits, type EndpointLimits } from '#application/webhooks/endpoint-limits.ts';
import { type DigestKeys, publicHalf, readPublicKeys, readSigningKey } from '#digests/digest-keys.ts';
import { faultOfKeyText } from '#domain/api-key/secret.ts';
import { defaultMaxFilledBytes } from '#domain/template/filled-size.ts';
import type { ByteLimits } from '#exchange/byte-budget.ts';
import { defaultLimitFactor, type LimitFactors } from '#exchange/limit-levels.ts';
import { slotTable } from '#exchange/slot-table.ts';
import { defaultRecentTurnBytes } from '#responses/recent-turns.ts';
import type { FairPlacesLimits } from '#shared/async/fair-queue.ts';
import { checkedText } from '#shared/codecs/checked.ts';
import { flag, oneOf } from '#shared/codecs/choice.ts';
import { commaSeparated } from '#shared/codecs/list.ts';
import { text, textLike } from '#shared/codecs/text.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { type LogLevel, logLevels } from '#shared/logging/pino-logger.ts';
import { type Environment, readVariable, readVariableText, readWholeNumber } from './environment.ts';
import {
  type BlobStoreConfig,
  type EventStoreConfig,
  eventStoreExample,
  type ReadStoreConfig,
  readBlobStore,
  readEventStore,
  readReadStore,
  readStoreExample,
} from './store-config.ts';

export const roles = ['control-plane', 'gateway', 'projections'] as const;
export type Role = (typeof roles)[number];

/** The configuration, decoded from the environment. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** The port of `/metrics`; null if it is `PORT`. */
  readonly metricsPort: number | null;
  readonly roles: ReadonlySet<Role>;
  /** The service only answers reads, from read models of a past moment. */
  readonly readOnly: boolean;
  /** The absolute path of this process's folder, with the embedded stores. */
  readonly dataDir: string;
  readonly eventStore: EventStoreConfig;
  readonly readStore: ReadStoreConfig;
  readonly blobStore: BlobStoreConfig;
  /** The absolute path of the folder for spooled uploads. */
  readonly spoolDir: string;
  /** The first key of an empty store; null if the service makes one. Never logged. */
  readonly bootstrapApiKey: string | null;
  readonly gatewayConfig: string | null;
  /** Never logged. */
  readonly digestKeys: DigestKeys;
  /** The file of the key that the service makes for itself; null if an operator names a key, or wants none. */
  readonly ownDigestKeyFile: string | null;
  /** The absolute path of the folder for the copies of digests. */
  readonly digestDir: string;
  /** Minutes after midnight UTC at which the log is verified each day. */
  readonly verifyAtMinutes: number;
  /** The https address for browsers; null if it is not named. */
  readonly publicUrl: URL | null;
  /** Origins of pages that may call `/mcp`, in addition to the service's own. */
  readonly mcpAllowedOrigins: ReadonlySet<string>;
  readonly webhooks: WebhookConfig;
  readonly logLevel: LogLevel;
  readonly limits: Limits;
}

export interface WebhookConfig {
  /** Webhooks may go to private networks, also over plain HTTP. */
  readonly allowsPrivateNetworks: boolean;
  readonly timeoutMs: number;
}

/** Maximum values: sizes in bytes, times in milliseconds. */
export interface Limits {
  /** Size of a body of the control plane. */
  readonly maxBodyBytes: number;
  /** Number of values in a body of the control plane. */
  readonly maxBodyValues: number;
  /** Size of a JSON body on the gateway. */
  readonly maxJsonBytes: number;
  /** Number of values in a JSON body on the gateway. */
  readonly maxGatewayValues: number;
  readonly maxAudioBytes: number;
  readonly maxFileBytes: number;
  /** Size of all files of one project. */
  readonly filesQuotaBytes: number;
  /** Days for which a response is stored. */
  readonly responsesTtlDays: number;
  /** Size of all stored responses of one project. */
  readonly responsesQuotaBytes: number;
  readonly responsesMemoryBytes: number;
  /** Calls that this node makes for batches at the same time. */
  readonly batchCallsAtOnce: number;
  /** Memory of all bodies at the same time. */
  readonly bodies: ByteLimits;
  /** Memory of all answers that clients have not taken yet. */
  readonly answers: ByteLimits;
  /** Disk space of all spools at the same time. */
  readonly spools: ByteLimits;
  /** Free space of each volume; null for 1 GiB or 5% of the volume, whichever is smaller. */
  readonly minFreeBytes: number | null;
  readonly feeds: FairPlacesLimits;
  readonly webhookEndpoints: EndpointLimits;
  /** Requests of one project; null for no limit. */
  readonly requestsPerMinute: number | null;
  /** Limits of an organization and of a partner, as multiples of a project's limit. */
  readonly limitFactors: LimitFactors;
  /** Size of one append, as it is stored. */
  readonly maxAppendBytes: number;
  /** Size of the JSON of all filled schemas in one operation of an instance. */
  readonly maxFilledBytes: number;
  /** Connections of each client. */
  readonly mongoDbMaxPoolSize: number;
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** Time for the whole body of a gateway call. */
  readonly uploadTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Time that an answer waits for its read models. */
  readonly readYourWritesTimeoutMs: number;
  readonly stopTimeoutMs: number;
}

/**
 * Called once. An empty value counts as unset.
 * @throws StartupError naming the variable, what is wrong with it and an example; never its value where it is secret
 */
export function readConfig(environment: Environment): Config {
  const dataDir = resolve(readVariableText(environment, 'DATA_DIR') ?? './data');
  const eventStore = readEventStore(environment, dataDir);
  const readStore = readReadStore(environment, dataDir);
  const port = readWholeNumber(environment, 'PORT', 8080, 0, 65_535);
  const metricsPort = readWholeNumber(environment, 'METRICS_PORT', null, 0, 65_535, 9_100);
  return {
    host: readVariableText(environment, 'HOST') ?? '127.0.0.1',
    port,
    metricsPort: metricsPort === port && port !== 0 ? null : metricsPort,
    roles: rolesOf(environment, eventStore.kind !== 'sqlite' && readStore.kind !== 'sqlite'),
    readOnly: readVariable(environment, readOnlyVariable) === 'true',
    dataDir,
    eventStore,
    readStore,
    spoolDir: resolve(readVariableText(environment, 'SPOOL_DIR') ?? tmpdir()),
    blobStore: readBlobStore(environment, dataDir, readStore),
    bootstrapApiKey: bootstrapApiKeyOf(environment),
    gatewayConfig: readVariableText(environment, 'GATEWAY_CONFIG') ?? null,
    digestKeys: readDigestKeys(environment),
    ownDigestKeyFile: ownDigestKeyFileOf(environment, eventStore, dataDir),
    digestDir: resolve(readVariableText(environment, 'DIGEST_DIR') ?? join(dataDir, 'digests')),
    verifyAtMinutes: verifyAtMinutesOf(environment),
    publicUrl: publicUrlOf(environment),
    mcpAllowedOrigins: mcpAllowedOriginsOf(environment),
    webhooks: webhooksOf(environment),
    logLevel: logLevelOf(environment),
    limits: readLimits(environment),
  };
}

function readLimits(environment: Environment): Limits {
  const requestTimeoutMs = readWholeNumber(environment, 'REQUEST_TIMEOUT_MS', 60_000, 100, 3_600_000);
  return {
    maxBodyBytes: readWholeNumber(environment, 'MAX_BODY_BYTES', 768 * 1024, 1_024, 64 * 1024 * 1024),
    maxBodyValues: readWholeNumber(environment, 'MAX_BODY_VALUES', 50_000, 100, 10_000_000),
    maxJsonBytes: readWholeNumber(environment, 'MAX_JSON_BYTES', 32 * 1024 * 1024, 1_024, 512 * 1024 * 1024),
    maxGatewayValues: readWholeNumber(environment, 'MAX_GATEWAY_VALUES', 2_000_000, 100, 100_000_000),
    maxAudioBytes: readWholeNumber(environment, 'MAX_AUDIO_BYTES', 100 * 1024 * 1024, 1_024, 4 * 1024 * 1024 * 1024),
    maxFileBytes: readWholeNumber(environment, 'MAX_FILE_BYTES', 512 * 1024 * 1024, 1_024, maxLimitBytes),
    filesQuotaBytes: readWholeNumber(environment, 'FILES_QUOTA_BYTES', 10 * 1024 * 1024 * 1024, 0, maxLimitBytes),
    responsesTtlDays: readWholeNumber(environment, 'RESPONSES_TTL_DAYS', 30, 1, 3_650),
    responsesQuotaBytes: readWholeNumber(environment, 'RESPONSES_QUOTA_BYTES', 1024 * 1024 * 1024, 0, maxLimitBytes),
    responsesMemoryBytes: readWholeNumber(
      environment,
      'RESPONSES_MEMORY_BYTES',
      defaultRecentTurnBytes,
      0,
      maxLimitBytes,
    ),
    batchCallsAtOnce: readWholeNumber(environment, 'BATCH_CALLS_AT_ONCE', 32, 1, 10_000),
    bodies: byteLimitsOf(environment, 'MAX_BODY_BYTES_IN_FLIGHT', slotTable.bytes.body.limits),
    answers: byteLimitsOf(environment, 'MAX_ANSWER_BYTES_IN_FLIGHT', slotTable.bytes.answer.limits),
    spools: byteLimitsOf(environment, 'MAX_SPOOL_BYTES', slotTable.bytes.spool.limits),
    minFreeBytes: readWholeNumber(environment, 'MIN_FREE_BYTES', null, 0, maxLimitBytes, 1024 * 1024 * 1024),
    feeds: {
      maxPlaces: readWholeNumber(environment, 'MAX_LIVE_FEEDS', 2_000, 1, 1_000_000),
      maxPlacesOfOwner: readWholeNumber(environment, 'MAX_LIVE_FEEDS_PER_PROJECT', 1_000, 1, 1_000_000),
    },
    webhookEndpoints: {
      maxPerProject: maxEndpointsOf(environment, 'PROJECT', defaultEndpointLimits.maxPerProject),
      maxPerOrganization: maxEndpointsOf(environment, 'ORGANIZATION', defaultEndpointLimits.maxPerOrganization),
    },
    requestsPerMinute: readWholeNumber(environment, 'REQUESTS_PER_MINUTE', null, 1, 1_000_000_000, 600),
    limitFactors: {
      organization: readWholeNumber(environment, 'ORGANIZATION_LIMIT_FACTOR', defaultLimitFactor, 1, 1_000_000),
      partner: readWholeNumber(environment, 'PARTNER_LIMIT_FACTOR', defaultLimitFactor, 1, 1_000_000),
    },
    // The first start stores an event that lists every scope.
    maxAppendBytes: readWholeNumber(environment, 'MAX_APPEND_BYTES', 900 * 1024, 4_096, 64 * 1024 * 1024),
    maxFilledBytes: readWholeNumber(environment, 'MAX_FILLED_BYTES', defaultMaxFilledBytes, 1_024, 1024 * 1024 * 1024),
    mongoDbMaxPoolSize: readWholeNumber(environment, 'MONGODB_MAX_POOL_SIZE', 20, 1, 1_000),
    maxHeaderBytes: readWholeNumber(environment, 'MAX_HEADER_BYTES', 16 * 1024, 1_024, 1024 * 1024),
    maxConnections: readWholeNumber(environment, 'MAX_CONNECTIONS', 10_000, 1, 1_000_000),
    // Node refuses a limit for the headers that is longer than the limit for the request.
    headersTimeoutMs: readWholeNumber(
      environment,
      'HEADERS_TIMEOUT_MS',
      Math.min(10_000, requestTimeoutMs),
      100,
      Math.min(600_000, requestTimeoutMs),
    ),
    requestTimeoutMs,
    uploadTimeoutMs: readWholeNumber(environment, 'UPLOAD_TIMEOUT_MS', 3_600_000, 100, 86_400_000),
    keepAliveTimeoutMs: readWholeNumber(environment, 'KEEP_ALIVE_TIMEOUT_MS', 65_000, 1, 600_000),
    idleTimeoutMs: readWholeNumber(environment, 'IDLE_TIMEOUT_MS', 120_000, 100, 3_600_000),
    readYourWritesTimeoutMs: readWholeNumber(environment, 'READ_YOUR_WRITES_TIMEOUT_MS', 1_000, 0, 60_000),
    stopTimeoutMs: readWholeNumber(environment, 'STOP_TIMEOUT_MS', 10_000, 0, 600_000),
  };
}

function webhooksOf(environment: Environment): WebhookConfig {
  const name = 'WEBHOOK_ALLOW_PRIVATE_NETWORKS';
  const hint = `Example: ${name}=true`;
  return {
    allowsPrivateNetworks: readVariable(environment, { name, codec: flag, hint }) ?? false,
    timeoutMs: readWholeNumber(environment, 'WEBHOOK_TIMEOUT_MS', 15_000, 100, 60_000),
  };
}

const maxLimitBytes = 64 * 1024 * 1024 * 1024 * 1024;

function maxEndpointsOf(environment: Environment, owner: 'PROJECT' | 'ORGANIZATION', byDefault: number): number {
  return readWholeNumber(environment, `MAX_WEBHOOK_ENDPOINTS_PER_${owner}`, byDefault, 1, 100_000);
}

/** Reads the limits of the node, and under the same name with `_PER_PROJECT` those of each project. */
function byteLimitsOf(environment: Environment, name: string, byDefault: ByteLimits): ByteLimits {
  return {
    maxBytesPerProject: readWholeNumber(
      environment,
      `${name}_PER_PROJECT`,
      byDefault.maxBytesPerProject,
      1_024,
      maxLimitBytes,
    ),
    maxBytes: readWholeNumber(environment, name, byDefault.maxBytes, 1_024, maxLimitBytes),
  };
}

const readOnlyVariable = { name: 'READ_ONLY', codec: oneOf('true', 'false'), hint: 'Example: READ_ONLY=true' };

/** @param areShared several processes can use the same stores */
function rolesOf(environment: Environment, areShared: boolean): ReadonlySet<Role> {
  const hint = `Example: ROLES=${roles.join(',')}`;
  const codec = commaSeparated(oneOf(...roles));
  const named = new Set(readVariable(environment, { name: 'ROLES', codec, hint }) ?? roles);
  if (areShared || roles.every((role) => named.has(role))) return named;
  throw new StartupError(
    `ROLES cannot be split while a store is embedded, which one process owns: name all of them, leave it unset, or set both EVENT_STORE_URL=${eventStoreExample} and READ_STORE_URL=${readStoreExample}. ${hint}`,
  );
}

function bootstrapApiKeyOf(environment: Environment): string | null {
  const codec = checkedText(text(), faultOfKeyText);
  const hint = 'Make one with: npm run keys -- generate';
  return readVariable(environment, { name: 'BOOTSTRAP_API_KEY', codec, hint, isSecret: true }) ?? null;
}

/** The value of DIGEST_SIGNING_KEY without which an embedded log gets a key of its own. */
const noDigests = 'off';

/** Only one process has an embedded log, so the key can be next to it. */
function ownDigestKeyFileOf(environment: Environment, eventStore: EventStoreConfig, dataDir: string): string | null {
  const isNamed = readVariableText(environment, 'DIGEST_SIGNING_KEY') !== undefined;
  return isNamed || eventStore.kind !== 'sqlite' ? null : join(dataDir, dataFiles.digestKey);
}

function verifyAtMinutesOf(environment: Environment): number {
  const codec = textLike(/^([01]\d|2[0-3]):[0-5]\d$/);
  const hint = 'Write a time of day in UTC. Example: VERIFY_AT=03:00';
  const [hours = 0, minutes = 0] = (readVariable(environment, { name: 'VERIFY_AT', codec, hint }) ?? '03:00')
    .split(':')
    .map(Number);
  return hours * 60 + minutes;
}

/** @throws StartupError, whose message shows no part of a key */
export function readDigestKeys(environment: Environment): DigestKeys {
  const [own, old] = [
    readVariableText(environment, 'DIGEST_SIGNING_KEY'),
    readVariableText(environment, 'DIGEST_OLD_PUBLIC_KEYS'),
  ];
  const signing = own === undefined || own === noDigests ? null : readSigningKey(own, 'DIGEST_SIGNING_KEY');
  const earlier = old === undefined ? [] : readPublicKeys(old, 'DIGEST_OLD_PUBLIC_KEYS');
  return { signing, trusted: signing === null ? earlier : [publicHalf(signing), ...earlier] };
}

function publicUrlOf(environment: Environment): URL | null {
  const codec = checkedText(text(), faultOfPublicUrl);
  const hint = 'Example: PUBLIC_URL=https://switchyard.example.com';
  const url = readVariable(environment, { name: 'PUBLIC_URL', codec, hint });
  return url === undefined ? null : new URL(url);
}

function faultOfPublicUrl(given: string): string | null {
  const url = URL.canParse(given) ? new URL(given) : null;
  const isPlain = url !== null && url.protocol === 'https:' && `${url.origin}/` === url.href;
  return isPlain ? null : 'must be an https address without a path';
}

function mcpAllowedOriginsOf(environment: Environment): ReadonlySet<string> {
  const codec = commaSeparated(checkedText(text(), faultOfOrigin));
  const hint = 'Example: MCP_ALLOWED_ORIGINS=https://app.example.com';
  return new Set(readVariable(environment, { name: 'MCP_ALLOWED_ORIGINS', codec, hint }) ?? []);
}

/** An origin as browsers send it has only scheme, host and port. */
function faultOfOrigin(origin: string): string | null {
  const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin;
  return isOrigin ? null : 'must be a list of origins without a path, with commas between';
}

function logLevelOf(environment: Environment): LogLevel {
  const codec = oneOf(...logLevels);
  return readVariable(environment, { name: 'LOG_LEVEL', codec, hint: 'Example: LOG_LEVEL=info' }) ?? 'info';
}

/** Unique on all machines. Leases and log lines show it. */
export function createNodeName(): string {
  return `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
}
