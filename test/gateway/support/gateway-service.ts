import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { Writable } from 'node:stream';
import * as E from 'fp-ts/lib/Either.js';
import { createInvoke } from '#application/operations/invoke.ts';
import type { Caller } from '#domain/shared/access.ts';
import { Admission } from '#exchange/admission.ts';
import type { ByteBudget } from '#exchange/byte-budget.ts';
import { type MakeFile, makeUnnamedFile, SpoolFolder } from '#gateway/audio/spool-folder.ts';
import type { GatewayConfiguration } from '#gateway/config/configuration.ts';
import { decodeConfiguration } from '#gateway/config/decode-configuration.ts';
import { Gateway, type GatewayOptions } from '#gateway/gateway.ts';
import type { GatewayLimits } from '#gateway/gateway-call.ts';
import { gatewayOperations } from '#gateway/operations.ts';
import type { CallRecord } from '#gateway/relay/call-record.ts';
import { createMetrics } from '#http/routes/metrics.ts';
import { createApp } from '#http/server/app.ts';
import { type HttpServer, listen, type ServerLimits } from '#http/server/server.ts';
import type { StoredResponses } from '#responses/stored-responses.ts';
import { FreeSpace } from '#shared/files/free-space.ts';
import { loggerOn } from '#shared/logging/pino-logger.ts';
import { goodKey, caller as someCaller } from '#test/http/support/fake-service.ts';
import { inMemoryResponses } from '#test/support/fakes/in-memory-response-store.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { createAttemptMetrics } from '#usage/call-metrics.ts';

/** A gateway behind the real app on a real socket. */
export interface GatewayService extends HttpServer {
  readonly url: string;
  readonly gateway: Gateway;
  /** The records of calls that have ended. */
  readonly records: CallRecord[];
  readonly logged: () => string;
  readonly configure: (configuration: unknown) => void;
  /** Moves the clock of the circuits. */
  readonly letCircuitsWait: (milliseconds: number) => void;
}

export interface GatewayServiceOptions {
  readonly caller?: Partial<Caller>;
  readonly random?: () => number;
  readonly limits?: Partial<GatewayLimits>;
  /** The limits of connections. */
  readonly serverLimits?: ServerLimits;
  readonly spoolFolder?: string;
  /** Counts the bytes of uploads in files. Default: the usual limits. */
  readonly spoolBudget?: ByteBudget;
  /** Creates the files of uploads. */
  readonly makeFile?: MakeFile;
  /** Default: unlimited space. */
  readonly freeSpace?: FreeSpace;
  /** Default: the usual limits. */
  readonly admission?: Admission;
  /** How long an answer may wait for a client that reads nothing. Default: the usual time. */
  readonly maxUnreadMs?: number;
  /** Default: in memory. */
  readonly responses?: StoredResponses;
  /** Default: none. */
  readonly findFile?: GatewayOptions['findFile'];
  /** Returns the holder of a key. Default: `caller` for `goodKey`. */
  readonly authenticate?: (key: string) => Promise<Caller | null>;
  /** A wait before each look-up of a key. */
  readonly beforeKey?: () => Promise<unknown>;
}

export const usualLimits: GatewayLimits = {
  maxJsonBytes: 32 * 1024 * 1024,
  maxJsonValues: 2_000_000,
  maxAudioBytes: 100 * 1024 * 1024,
  arrival: { idleMs: 120_000, totalMs: 3_600_000 },
};

/** @throws AssertionError for a configuration that is not valid */
export function configurationOf(value: unknown): GatewayConfiguration {
  const decoded = decodeConfiguration(value, { PROVIDER_KEY: 'provider-secret' });
  return E.isRight(decoded) ? decoded.right : assert.fail(JSON.stringify(decoded.left));
}

export async function startGateway(
  configuration: unknown,
  {
    caller = {},
    random = () => 0,
    limits = {},
    serverLimits = {},
    spoolFolder = tmpdir(),
    spoolBudget = new Admission().budgets.spool,
    makeFile = makeUnnamedFile,
    freeSpace = new FreeSpace({ folders: [], minFreeBytes: 0 }),
    beforeKey = async () => null,
    admission = new Admission(),
    maxUnreadMs = 60_000,
    responses = inMemoryResponses(),
    findFile = async () => null,
    authenticate,
  }: GatewayServiceOptions = {},
): Promise<GatewayService> {
  const records: CallRecord[] = [];
  const lines: string[] = [];
  const sink = new Writable({
    write: (line, _encoding, taken) => {
      lines.push(String(line));
      taken();
    },
  });
  const log = loggerOn('info', sink);
  const metrics = createMetrics();
  const attempts = createAttemptMetrics(metrics.registry);
  let skippedMs = 0;
  const gateway = new Gateway({
    admission,
    configuration: configurationOf(configuration),
    environment: { PROVIDER_KEY: 'provider-secret' },
    usage: { record: (record) => void records.push(record) },
    attempts,
    node: 'node-1',
    log,
    random,
    circuitClock: () => performance.now() + skippedMs,
    spools: new SpoolFolder({ folder: spoolFolder, budget: spoolBudget, freeSpace, makeFile }),
    responses,
    findFile,
  });
  const holder: Caller = { ...someCaller, scopes: new Set(['gateway:read', 'gateway:write']), ...caller };
  attempts.watchTargets(() => gateway.targets());
  const app = createApp({
    operations: gatewayOperations(gateway, { ...usualLimits, ...limits }),
    invoke: createInvoke({
      authenticate: async (key) => {
        await beforeKey();
        if (authenticate !== undefined) return authenticate(key);
        return key === goodKey ? holder : null;
      },
      admission,
      metrics,
      logger: log,
    }),
    readiness: async () => [],
    version: '0.2.0',
    metrics,
    log,
    limits: { maxBodyBytes: 768 * 1024 },
    admission,
    maxUnreadMs,
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0 }, serverLimits);
  return {
    ...server,
    url: `http://127.0.0.1:${server.port}`,
    gateway,
    records,
    logged: () => lines.join(''),
    configure: (changed) => gateway.configure(configurationOf(changed)),
    letCircuitsWait: (milliseconds) => {
      skippedMs += milliseconds;
    },
    stop: async () => {
      await server.stop();
      await gateway.close();
      await responses.turns.close();
    },
  };
}

/** An answer that was read to its end. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: () => unknown;
}

const withKey = { authorization: `Bearer ${goodKey}` };

/** Sends a JSON body, as text or as a value, and reads the whole answer. */
export async function post(
  { url }: { readonly url: string },
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Received> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { ...withKey, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? new Uint8Array(Buffer.from(body)) : JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: () => JSON.parse(text) };
}

/** A client that can disconnect and that shows the bytes received so far. */
export interface LeavingClient {
  readonly leave: () => void;
  readonly received: () => string;
  /** Ends with the answer; rejects when the connection breaks. */
  readonly ended: Promise<void>;
}

export function openChat(service: { readonly port: number }, body: unknown): LeavingClient {
  return openCall(service, '/v1/chat/completions', body);
}

export function openCall({ port }: { readonly port: number }, path: string, body: unknown): LeavingClient {
  let text = '';
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const req = request(
    {
      host: '127.0.0.1',
      port,
      path,
      method: 'POST',
      headers: { ...withKey, 'content-type': 'application/json' },
      agent: false,
    },
    (res) => {
      res.setEncoding('utf8');
      res.on('data', (piece: string) => {
        text += piece;
      });
      res.once('end', resolve);
      res.once('error', reject);
    },
  );
  req.once('error', reject);
  promise.catch(() => undefined);
  req.end(JSON.stringify(body));
  return { leave: () => req.destroy(), received: () => text, ended: promise };
}

/** Sends a whole request, and disconnects before the service reads it. Resolves when the service has seen both. */
export async function sendAndLeave(
  { url }: { readonly url: string },
  path: string,
  body: Buffer,
  headers: Record<string, string>,
): Promise<void> {
  const arriving = new Promise<IncomingMessage>((resolve) => {
    const onRequest = (message: unknown) => {
      unsubscribe('http.server.request.start', onRequest);
      resolve((message as { readonly request: IncomingMessage }).request);
    };
    subscribe('http.server.request.start', onRequest);
  });
  const leaving = request(url + path, { method: 'POST', agent: false, headers: { ...withKey, ...headers } });
  leaving.on('error', () => undefined);
  leaving.end(body);
  const arrived = await arriving;
  await eventually(() => arrived.complete, 'the whole request');
  leaving.destroy();
  await eventually(() => arrived.destroyed, 'that the client has left');
}
