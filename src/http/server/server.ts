import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import Koa from 'koa';
import type { BodyRate } from '#http/request/arriving-bodies.ts';
import { type ConnectionFigures, Connections, defaultBodyRate } from '#http/request/connections.ts';
import { showsTakenBytes } from '#http/response/open-answers.ts';
import { once } from '#shared/async/once.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { ClientErrors } from './client-errors.ts';

/** Limits of a server. Every one has a default. */
export interface ServerLimits {
  /** Time from the first byte to the end of the headers. Default 10 s. */
  readonly headersTimeoutMs?: number;
  /** Time from the first byte to the end of a body without limits of its own. Default 60 s. */
  readonly requestTimeoutMs?: number;
  /** How long an idle connection is kept. Default 65 s: longer than common balancers keep theirs. */
  readonly keepAliveTimeoutMs?: number;
  /** Maximum silence of a connection while a request is sent or answered. Default 120 s. */
  readonly idleTimeoutMs?: number;
  /** Maximum size of the headers of a request. Default 16 KiB. */
  readonly maxHeaderBytes?: number;
  /** Maximum number of connections at the same time; further ones are closed immediately. Default 10,000. */
  readonly maxConnections?: number;
  /** Minimum rate of bodies while more than half of the connections are taken. Default 1 KiB/s in 30 s. */
  readonly bodyRate?: BodyRate;
  /** Time limit of running requests at a stop. Default 10 s. */
  readonly stopTimeoutMs?: number;
}

export interface HttpServer {
  readonly host: string;
  readonly port: number;
  readonly connectionFigures: () => ConnectionFigures;
  /** Replaces the app for further requests. */
  readonly serve: (app: Koa) => void;
  /** Accepts no more connections, lets running requests finish within the limit, then closes everything. */
  readonly stop: () => Promise<void>;
}

const sweepIntervalMs = 25;

/**
 * @param variables the names of the variables that set the address, for an error message: `HOST and PORT`
 * @throws StartupError when the address cannot be listened on, and on a release of Node that lacks what `OpenAnswers`
 *   reads
 */
export async function listen(
  app: Koa,
  address: { readonly host: string; readonly port: number },
  limits: ServerLimits = {},
  variables = 'HOST and PORT',
): Promise<HttpServer> {
  let answer = app.callback();
  const connections = new Connections(limits.maxConnections ?? 10_000, limits.bodyRate ?? defaultBodyRate);
  let stopping = false;
  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    connections.begin(req, res);
    if (stopping) res.setHeader('Connection', 'close');
    void answer(req, res);
  };

  const server = createServer(serverOptions(limits), onRequest);
  // The client gets 100 Continue only when the body is wanted, so a refusal costs no upload.
  server.on('checkContinue', onRequest);
  const clientErrors = new ClientErrors();
  server.on('clientError', (error, socket) => void clientErrors.answer(error, socket as Socket));
  server.maxConnections = connections.maxAccepted;
  server.on('connection', (socket) => connections.add(socket));
  server.on('drop', () => connections.countDropped());
  server.setTimeout(limits.idleTimeoutMs ?? 120_000);

  await listening(server, address, variables);
  if (!showsTakenBytes(server)) {
    server.close();
    throw new StartupError(
      `Node ${process.version} does not show which bytes of an answer a client has taken: start with Node 24.`,
    );
  }
  const { port } = server.address() as AddressInfo;
  const stop = once(async () => {
    stopping = true;
    connections.close();
    await closed(server, limits.stopTimeoutMs ?? 10_000);
  });
  const serve = (next: Koa) => {
    answer = next.callback();
  };
  return { host: address.host, port, connectionFigures: () => connections.figures, serve, stop };
}

function serverOptions(limits: ServerLimits) {
  const headersTimeout = limits.headersTimeoutMs ?? 10_000;
  const requestTimeout = limits.requestTimeoutMs ?? 60_000;
  return {
    headersTimeout,
    requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeoutMs ?? 65_000,
    maxHeaderSize: limits.maxHeaderBytes ?? 16 * 1024,
    // The interval between two checks of the limits: short enough for short limits.
    connectionsCheckingInterval: Math.min(1_000, Math.ceil(Math.min(headersTimeout, requestTimeout) / 4)),
    noDelay: true,
  };
}

function listening(server: Server, { host, port }: { host: string; port: number }, variables: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new StartupError(`Cannot listen on ${host}:${port} (${reasonOf(error)}): set ${variables} to a free address.`),
      );
    });
    server.listen({ host, port }, resolve);
  });
}

function reasonOf(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return 'another program uses it';
    case 'EACCES':
      return 'not permitted';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return 'not an address of this machine';
    default:
      return error.code ?? error.message;
  }
}

async function closed(server: Server, limit: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  // A connection that was busy when the server closed becomes idle with its answer.
  const sweep = setInterval(() => server.closeIdleConnections(), sweepIntervalMs);
  const end = setTimeout(() => server.closeAllConnections(), limit);
  await promise;
  clearInterval(sweep);
  clearTimeout(end);
}

/**
 * Koa without the objects that it creates for every request (a composed chain, a listener on the response, closures).
 * Its only middleware writes directly to the response and never rejects.
 */
export class SlimKoa extends Koa {
  override callback(): ReturnType<Koa['callback']> {
    const [answer, ...others] = this.middleware;
    if (answer === undefined || others.length > 0) throw new Error('The app has one middleware: the HTTP adapter');
    const end = async () => undefined;
    return (req, res) => answer(this.createContext(req as IncomingMessage, res as ServerResponse), end);
  }
}
