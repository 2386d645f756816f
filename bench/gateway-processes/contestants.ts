import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Checkout, here } from '#bench/beside/checkout.ts';
import {
  adminKey,
  type Server,
  type ServiceServer,
  startPrintingPort,
  startProgram,
  startService,
} from '#bench/http-processes/processes.ts';
import { installPackages } from '#bench/install-packages.ts';
import { print } from '#bench/measure.ts';
import { freePort } from '#test/support/run/free-port.ts';
import { reserveCore } from './cores.ts';

/** A measured way to the upstream. */
export interface Way extends Server {
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The upstream, alone and behind each gateway. Each gateway runs on a reserved core. A yardstick that is not available
 * here is null, and the reason is printed.
 */
export interface Ways {
  readonly direct: Way;
  readonly switchyard: Way;
  readonly nginx: Way | null;
  /** Portkey on Node 20, as in its image. */
  readonly portkey: Way | null;
  /** Portkey on the Node of Switchyard. */
  readonly portkeyOnThisNode: Way | null;
  readonly stop: () => Promise<void>;
}

const toProvider = { authorization: 'Bearer provider-key' };

/** The gateways to start, beside Switchyard. */
export interface WaysOptions {
  /** Portkey takes seconds to start. */
  readonly withPortkey: boolean;
  readonly withNginx?: boolean;
  /** The version of Switchyard; default: this one. */
  readonly checkout?: Checkout;
}

/** Starts the upstream, Switchyard and the requested contestants. */
export async function startWays({ withPortkey, withNginx = true, checkout = here }: WaysOptions): Promise<Ways> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const each of stops.toReversed()) await each();
  };
  const started = async (starting: Promise<Server>, headers: Way['headers']): Promise<Way> => {
    const server = await starting;
    stops.push(server.stop);
    return { ...server, headers };
  };
  const giveOwnCore = reserveCore();
  const gateway = async (starting: Promise<Server>, headers: Way['headers']): Promise<Way> => {
    const way = await started(starting, headers);
    giveOwnCore(way.pid);
    return way;
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-gateway-'));
    stops.push(() => rm(folder, { recursive: true, force: true }));
    const direct = await started(startPrintingPort(join(import.meta.dirname, 'upstream.ts')), toProvider);
    const switchyard = await gateway(startSwitchyard(folder, direct.url, checkout), {
      authorization: `Bearer ${adminKey}`,
    });
    const nginx = withNginx ? await orNull('nginx', () => gateway(startNginx(folder, direct.url), toProvider)) : null;
    const portkeyHeaders = {
      ...toProvider,
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${direct.url}/v1`,
    };
    const portkeyOn = (node: () => string) =>
      withPortkey ? orNull('Portkey', () => gateway(startPortkey(node), portkeyHeaders)) : null;
    const portkey = await portkeyOn(node20);
    const portkeyOnThisNode = await portkeyOn(() => process.execPath);
    return { direct, switchyard, nginx, portkey, portkeyOnThisNode, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function orNull(name: string, start: () => Promise<Way>): Promise<Way | null> {
  try {
    return await start();
  } catch (error) {
    print(`${name} cannot be measured here: ${error instanceof Error ? error.message : error}`);
    return null;
  }
}

/** Starts Switchyard with keys, routing, metering and the reader of streams, which cannot be disabled. */
export async function startSwitchyard(
  folder: string,
  upstreamUrl: string,
  checkout: Checkout,
  environment: Readonly<Record<string, string>> = {},
  further: { readonly providers?: object; readonly models?: object } = {},
): Promise<ServiceServer> {
  const file = join(folder, 'gateway.json');
  const configuration = {
    providers: {
      upstream: { kind: 'openai-compatible', baseUrl: `${upstreamUrl}/v1`, apiKeyEnv: 'PROVIDER_KEY' },
      ...further.providers,
    },
    models: {
      'bench-model': {
        targets: [{ provider: 'upstream', model: 'bench-model' }],
        fallbacks: [{ provider: 'upstream', model: 'other-model' }],
        price: { inputPerMillion: 2, outputPerMillion: 8 },
      },
      ...further.models,
    },
    auto: { transcription: 'bench-model' },
  };
  await writeFile(file, JSON.stringify(configuration));
  const variables = { GATEWAY_CONFIG: file, PROVIDER_KEY: 'provider-key', ...environment };
  return startService(join(folder, 'data'), variables, checkout);
}

/** Starts Debian's nginx, configured for streams: without buffering, with kept connections to the upstream. */
async function startNginx(folder: string, upstreamUrl: string): Promise<Server> {
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  const upstream = new URL(upstreamUrl).host;
  await writeFile(
    file,
    `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx-error.log;
events { worker_connections 8192; }
http {
  access_log off;
  client_body_temp_path ${folder}/nginx-bodies;
  proxy_temp_path ${folder}/nginx-proxy;
  fastcgi_temp_path ${folder}/nginx-fastcgi;
  uwsgi_temp_path ${folder}/nginx-uwsgi;
  scgi_temp_path ${folder}/nginx-scgi;
  client_max_body_size 0;
  keepalive_requests 1000000;
  upstream provider { server ${upstream}; keepalive 1024; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port} backlog=2048;
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 600s;
    }
  }
}
`,
  );
  return startProgram(['nginx', '-e', join(folder, 'nginx-error.log'), '-c', file], `http://127.0.0.1:${port}`);
}

const yardsticks = join(import.meta.dirname, '../yardsticks');

/** The Node of Portkey's own image (`FROM node:20-alpine`), on which it is many times slower than on later versions. */
function node20(): string {
  installPackages(yardsticks, 'node-20');
  return join(yardsticks, 'node_modules/node-20/bin/node');
}

/** @param node names the Node to run it on */
async function startPortkey(node: () => string): Promise<Server> {
  installPackages(yardsticks, '@portkey-ai/gateway');
  const port = await freePort();
  const script = join(yardsticks, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  return startProgram([node(), script, `--port=${port}`, '--headless'], `http://127.0.0.1:${port}`);
}
