import { flushCompileCache } from 'node:module';
import type Koa from 'koa';
import type { Logger as PinoLogger } from 'pino';
import { createInvoke, createInvokeAs } from '#application/operations/invoke.ts';
import { createRoutes } from '#application/operations/registry.ts';
import { isDiskFull } from '#application/operations/unexpected-error.ts';
import { dashboardPath } from '#dashboard/page-paths.ts';
import type { Admission } from '#exchange/admission.ts';
import type { Plane } from '#exchange/problem.ts';
import { digestKeysRoute } from '#http/routes/digest-keys.ts';
import { sessionRoutes } from '#http/routes/session-routes.ts';
import { createApp, createMetricsApp, type RunningRequests } from '#http/server/app.ts';
import { type HttpServer, listen } from '#http/server/server.ts';
import { createStartingApp } from '#http/server/starting-app.ts';
import { collectGarbageOfStart } from '#shared/memory/collect-garbage.ts';
import type { Service } from './compose.ts';
import type { Config, Role } from './config.ts';
import { controlSocketPath, openControlSocket } from './control-socket.ts';
import { createLocalApp } from './local-app.ts';
import { readProductVersion } from './product-version.ts';
import { describeAsOf } from './read-only.ts';
import { describeStart } from './startup/describe-start.ts';

/** The part of the time to stop that is left for writing pending data, after running requests have ended. */
const flushDelayMs = 2_000;

/** They answer every request with 503 until `serve` sets their apps. */
export interface Servers {
  readonly api: HttpServer;
  /** Null if the API's address answers `/metrics` too. */
  readonly metrics: HttpServer | null;
}

/** @throws StartupError when an address cannot be listened on */
export async function bind({ host, port, metricsPort, limits: given }: Config): Promise<Servers> {
  const limits = { ...given, stopTimeoutMs: requestsStopTimeoutMs(given) };
  const app = createStartingApp();
  const api = await listen(app, { host, port }, limits);
  if (metricsPort === null) return { api, metrics: null };
  return { api, metrics: await listen(app, { host, port: metricsPort }, limits, 'HOST and METRICS_PORT') };
}

export interface Serving {
  readonly running: RunningRequests;
  /** Ends what the service has in addition to these addresses. */
  readonly endServing: () => Promise<void>;
}

export async function serve(
  config: Config,
  {
    operations,
    loadLocalOperations,
    asOf,
    models,
    keys,
    sessions,
    sessionCookie,
    readiness,
    digestKeys,
    metrics,
    admission,
    directory,
  }: Service,
  servers: Servers,
  log: PinoLogger,
): Promise<Serving> {
  const version = readProductVersion();
  const common = { readiness, version, metrics, admission, log, limits: config.limits };
  const planes = planesOf(config.roles);
  const invoke = createInvoke({
    authenticate: keys.resolve,
    authenticateSession: (token, use) => sessions.callerOf(token, use),
    admission,
    metrics,
    logger: log,
  });
  const authenticate = (key: string) => keys.resolve(key, 'query');
  const signIn = { sessions, cookie: sessionCookie, authenticate, admission, logger: log };
  const pageRoutes = planes.has('control') ? [...(await openDashboard()), ...sessionRoutes(signIn)] : [];
  const publicRoutes = [digestKeysRoute(digestKeys), ...pageRoutes];
  const running: RunningRequests = { count: 0 };
  const endpoints = planes.has('control') ? [await openMcp(config, operations, admission, metrics, log)] : [];
  const browserHome = dashboardPath;
  const servesMetrics = servers.metrics === null;
  metrics.watchConnections(servers.api.connectionFigures);
  const app = createApp({
    ...common,
    operations,
    running,
    endpoints,
    invoke,
    sessionCookie,
    planes,
    publicRoutes,
    browserHome,
    servesMetrics,
  });
  collectGarbageOfStart();
  servers.metrics?.serve(createMetricsApp(metrics));
  servers.api.serve(app);
  let endServing: Serving['endServing'] = async () => undefined;
  const socketPath = controlSocketPath(config.dataDir);
  if (socketPath !== null) {
    const createOnDemand = async () => createLocalApp({ ...common, operations: await loadLocalOperations() });
    endServing = await openControlSocketIfRoom(createOnDemand, socketPath, log);
  }
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${servers.api.port}`;
  directory.announce(url);
  const pages = planes.has('control') ? { dashboard: `${url}${dashboardPath}`, docs: `${url}/docs` } : {};
  const mode = asOf === null ? {} : { mode: `read only as of ${describeAsOf(asOf)}` };
  log.info({ url, ...pages, ...describeStart(config, version, models), ...mode }, 'listening');
  // With NODE_COMPILE_CACHE. Node itself writes the cache when a process exits, which a killed process never does.
  flushCompileCache();
  return { running, endServing };
}

/** A node of the gateway alone does not need it. */
async function openDashboard() {
  const { dashboardRoutes } = await import('#dashboard/dashboard-routes.ts');
  return dashboardRoutes();
}

/** A node of the gateway alone does not need it either. */
async function openMcp(
  { host, limits, mcpAllowedOrigins: allowedOrigins }: Config,
  operations: Service['operations'],
  admission: Admission,
  metrics: Service['metrics'],
  logger: PinoLogger,
) {
  const { createMcpEndpoint } = await import('#mcp/endpoint/mcp-endpoint.ts');
  const { maxBodyBytes, maxBodyValues, requestTimeoutMs } = limits;
  return createMcpEndpoint({
    routes: createRoutes(operations),
    invokeAs: createInvokeAs({ metrics, logger }),
    logger,
    admission,
    callers: { host, allowedOrigins },
    limits: { maxBodyBytes, maxBodyValues, arrival: { idleMs: requestTimeoutMs, totalMs: requestTimeoutMs } },
  });
}

/** The service works without its control socket: a full disk must not keep it from answering reads. */
async function openControlSocketIfRoom(
  createOnDemand: () => Promise<Koa>,
  path: string,
  log: PinoLogger,
): Promise<() => Promise<void>> {
  try {
    return await openControlSocket(createOnDemand, path);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    log.warn({ reason: String(error) }, 'the disk is full: there is no control socket for command-line tools');
    return async () => undefined;
  }
}

function requestsStopTimeoutMs({ stopTimeoutMs }: Config['limits']): number {
  return Math.max(stopTimeoutMs - flushDelayMs, Math.floor(stopTimeoutMs / 2));
}

function planesOf(roles: ReadonlySet<Role>): ReadonlySet<Plane> {
  const planes = new Set<Plane>();
  if (roles.has('control-plane')) planes.add('control');
  if (roles.has('gateway')) planes.add('gateway');
  return planes;
}
